package api

import (
	"context"
	"strings"

	"ubl"
	"ubl/transport/envelope"
)

// forward has a message repeat another one, which its room tells the caller, and carry its files.
// A room's refusal goes along: if the message was forwarded under this key before, that is the
// answer.
func (a *API) forward(ctx context.Context, cmd *ubl.SendMessage, name string) error {
	from, id, _ := strings.Cut(name, "/")
	f := &ubl.Forward{MessageRef: ubl.MessageRef{RoomID: ubl.RoomID(from), MsgID: ubl.MessageID(id)}}
	if !f.RoomID.Valid() || !f.MsgID.Valid() {
		return invalid("body.forward", "expected a message as r:ROOM/m:ID")
	}
	if _, err := envelope.CallerOf(ctx).Enter(ctx); err != nil {
		return err
	}
	cmd.Forward = f
	var err error
	f.Copy, err = ubl.Ask[*ubl.MessageCopy](ctx, a.Asker, room(ctx, f.RoomID), ubl.CopyMessage{Who: caller(ctx), MsgID: f.MsgID})
	switch code := ubl.CodeOf(err); code {
	case "":
	case ubl.CodeNotFound, ubl.CodeNotAMember, ubl.CodeForbidden, ubl.CodeConflict:
		f.Refused, f.Why = code, "the message can't be forwarded: "+ubl.AsError(err).Message
		return nil
	default:
		return err
	}
	for _, file := range f.Copy.Attachments { // before a collection finds that nobody refers to it
		if err := a.Blobs.Keep(ctx, caller(ctx).TenantID, file.SHA256, ""); err != nil {
			return err
		}
	}
	return nil
}

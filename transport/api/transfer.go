package api

import (
	"cmp"
	"context"
	"encoding/json"

	"ubl"
	"ubl/transport/envelope"
)

type transferInput struct {
	SourcePath
	Body struct {
		Keyed
		To         ubl.ContainerID `json:"to" pattern:"^[wkrt]:[A-Za-z0-9._-]{1,128}$" doc:"A container; a room for what the caller brings themselves; the tenant for a membership." example:"k:travel"`
		Amount     int64           `json:"amount,omitempty" minimum:"1" maximum:"1125899906842624" doc:"Credits, out of a container of values." example:"100"`
		DocumentID ubl.DocumentID  `json:"document_id,omitempty" pattern:"^d:[A-Za-z0-9._-]{1,128}$" doc:"A document, out of a container of objects." example:"d:0199a1b2"`
		Title      string          `json:"title,omitempty" minLength:"1" maxLength:"256" doc:"With content: a document that the caller brings, or what passes through a transient container, which keeps nothing." example:"Budget 2027"`
		Content    string          `json:"content,omitempty" maxLength:"1000000" doc:"Without a title a message, which goes into a room." example:"The budget is approved."`
		Email      string          `json:"email,omitempty" minLength:"3" maxLength:"254" doc:"Whose a membership is to be, out of t:ubl_core." example:"bob@acme.com"`
		Role       ubl.Role        `json:"role,omitempty" enum:"owner,member" doc:"With email: member if it isn't given."`
	}
}

func (a *API) transfer(ctx context.Context, in *transferInput) (any, error) {
	b := &in.Body
	if in.Source == string(ubl.CoreTenant) {
		return a.admit(ctx, in)
	}
	if b.Email != "" || b.Role != "" {
		return nil, invalid("body", "a membership comes from t:ubl_core")
	}
	if ubl.UserID(in.Source).Valid() {
		return a.bring(ctx, in)
	}
	if !b.To.Valid() {
		return nil, invalid("body.to", "expected a container: into a room goes what people bring themselves")
	}
	things := 0
	for _, given := range []bool{b.Amount > 0, b.DocumentID != "", b.Title != ""} {
		if given {
			things++
		}
	}
	if things != 1 || b.Content != "" && b.Title == "" {
		return nil, invalid("body", "expected an amount, a document_id, or a title with content")
	}
	return ubl.Ask[*ubl.TransferResult](ctx, a.Asker, container(ctx, ubl.ContainerID(in.Source)),
		ubl.Transfer{Request: envelope.Command(ctx, b.Key), To: b.To, Amount: b.Amount,
			DocumentID: b.DocumentID, Title: b.Title, Content: b.Content})
}

// brought is what somebody has transferred themselves. A copy of it stays with them.
type brought struct {
	From       ubl.UserID      `json:"from"`
	To         ubl.ContainerID `json:"to"`
	Op         ubl.Operation   `json:"op"`
	MessageID  ubl.MessageID   `json:"message_id,omitempty"`
	DocumentID ubl.DocumentID  `json:"document_id,omitempty"`
	Receipt    ubl.Receipt     `json:"receipt"`
}

// bring is a transfer from a person: sending a message is one into a room, creating a document
// one into a container. The act is that of the tool which does the same, so the tenant is asked
// about both tools.
func (a *API) bring(ctx context.Context, in *transferInput) (any, error) {
	b, who := &in.Body, caller(ctx)
	into := ubl.RoomID(b.To).Valid()
	switch {
	case ubl.UserID(in.Source) != who.UserID:
		return nil, ubl.Errorf(ubl.CodeForbidden, "nobody transfers what is somebody else's")
	case b.Amount > 0 || b.DocumentID != "" || into != (b.Title == ""):
		return nil, invalid("body", "expected content into a room, or a title with content into a container")
	}
	to, err := placeOf(ctx, b.To)
	if err == nil {
		_, err = ubl.Ask[*ubl.Container](ctx, a.Asker, to, ubl.GetContainer{Who: who})
	}
	if err != nil {
		return nil, err
	}
	out := brought{From: who.UserID, To: b.To, Op: ubl.OpCopy}
	if into {
		out.MessageID, out.Receipt, err = a.bringMessage(actingAs(ctx, ubl.DidSend), to, b.Key, b.Content)
		return out, err
	}
	made, err := ubl.Ask[*ubl.DocumentResult](actingAs(ctx, ubl.DidDocumentCreate), a.Asker, to,
		ubl.CreateDocument{Request: envelope.Command(ctx, b.Key), Title: b.Title, Content: b.Content})
	if err != nil {
		return nil, err
	}
	out.DocumentID, out.Receipt = made.Document.DocumentID, made.Receipt
	return out, nil
}

// admitted is a membership on its way: it is its person's when they accept the invitation.
type admitted struct {
	From         ubl.TenantID     `json:"from"`
	To           ubl.ContainerID  `json:"to"`
	Op           ubl.Operation    `json:"op"`
	InvitationID ubl.InvitationID `json:"invitation_id"`
	Link         *string          `json:"link"`
}

// admit is a transfer of a membership from the System into the caller's tenant. The act is an
// invitation, so it is asked about, confirmed and counted as one.
func (a *API) admit(ctx context.Context, in *transferInput) (any, error) {
	b := &in.Body
	if b.Email == "" || ubl.TenantID(b.To) != caller(ctx).TenantID || b.Amount > 0 || b.DocumentID != "" || b.Title != "" || b.Content != "" {
		return nil, invalid("body", "expected the caller's tenant and the email of whom the membership is for")
	}
	if err := confirmed(ctx); err != nil {
		return nil, err
	}
	if err := envelope.CallerOf(ctx).Count(ubl.Creations); err != nil {
		return nil, err
	}
	if _, err := envelope.CallerOf(ctx).Enter(ctx); err != nil { // with the tool that was named
		return nil, err
	}
	made, err := a.drawInvitation(actingAs(ctx, ubl.DidInvitationCreate), b.Key, b.Email, cmp.Or(b.Role, ubl.RoleMember), usualTTL)
	if err != nil {
		return nil, err
	}
	return admitted{From: ubl.CoreTenant, To: b.To, Op: ubl.OpTransfer, InvitationID: made.Invitation.ID, Link: made.Link}, nil
}

func (a *API) bringMessage(ctx context.Context, to ubl.Name, key, text string) (ubl.MessageID, ubl.Receipt, error) {
	var m ubl.Message
	sent, err := ubl.Ask[*ubl.Sent](ctx, a.Asker, to, ubl.SendMessage{Request: envelope.Command(ctx, key), Text: text})
	if err == nil {
		err = json.Unmarshal(sent.Message, &m)
	}
	return m.MsgID, m.Receipt, err
}

// actingAs has the caller at the door again, with the tool of another act.
func actingAs(ctx context.Context, did ubl.Did) context.Context {
	return envelope.WithCaller(ctx, envelope.CallerOf(ctx).Part(string(did)))
}

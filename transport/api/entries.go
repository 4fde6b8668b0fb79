package api

import (
	"context"
	"encoding/json"

	"ubl"
	"ubl/transport/envelope"
)

// EntryPath names an entry of a room's timeline in a path.
type EntryPath struct {
	RoomPath
	EntryID ubl.MessageID `path:"entryId" pattern:"^m:[A-Za-z0-9._-]{1,256}$" doc:"The id of an entry, which for a message is its msg_id." example:"m:0199a1b2"`
}

type entryAnswer struct {
	Entry json.RawMessage `json:"entry"`
}

// enter asks a room to append an entry, and answers with it.
func (a *API) enter(ctx context.Context, room ubl.RoomID, c ubl.PostEntry) (any, error) {
	p, err := ubl.Ask[*ubl.Posted](ctx, a.Asker, ubl.RoomName(c.Who.TenantID, room), c)
	if err != nil {
		return nil, err
	}
	return entryAnswer{p.Entry}, nil
}

type postEntryInput struct {
	RoomPath
	Body struct {
		Keyed
		Imported
		ReplyTo ubl.MessageID `json:"reply_to,omitempty" pattern:"^m:[A-Za-z0-9._-]{1,256}$" doc:"Another message of the same room." example:"m:0199a1b2"`
		Thread  ubl.MessageID `json:"thread,omitempty" pattern:"^m:[A-Za-z0-9._-]{1,256}$" doc:"The message that began the thread that this one belongs to." example:"m:0199a1b2"`
		Content typedBody     `json:"body"`
		Files   []string      `json:"attachments,omitempty" maxItems:"10" nullable:"false" doc:"Files: upload_ids, or ROOM/FILE to send on." example:"[\"r:general/f:1\"]"`
	}
}

// typedBody is what an entry says, in a form of whoever reads it.
type typedBody struct {
	ContentType string         `json:"content_type" minLength:"3" maxLength:"128" doc:"A media type without parameters, such as application/vnd.ubl.text+json." example:"application/vnd.ubl.text+json"`
	JSON        map[string]any `json:"json,omitempty" doc:"The body, where content_type ends in +json."`
	Bytes       []byte         `json:"bytes,omitempty" doc:"The body in base64, for every other content_type." example:"aGVsbG8="`
}

// content is the body as an entry has it. Numbers have passed through float64, as in any
// canonical JSON.
func (in typedBody) content() (ubl.TypedBody, error) {
	c := ubl.TypedBody{Type: in.ContentType, Bytes: in.Bytes}
	if in.JSON == nil {
		return c, nil
	}
	var err error
	if c.JSON, err = json.Marshal(in.JSON); err != nil {
		err = invalid("body.body.json", "not JSON that can be hashed")
	}
	return c, err
}

func (a *API) postEntry(ctx context.Context, in *postEntryInput) (any, error) {
	body, err := in.Body.Content.content()
	if err != nil {
		return nil, err
	}
	files, err := a.attachments(ctx, in.RoomID, in.Body.Files)
	if err != nil {
		return nil, err
	}
	return a.enter(ctx, in.RoomID, ubl.PostEntry{
		Attachments: files,
		Request:     envelope.Command(ctx, in.Body.Key), Type: ubl.EntryMessage, ReplyTo: in.Body.ReplyTo, Thread: in.Body.Thread, Body: body,
		ImportedFrom: in.Body.origin(),
	})
}

type editInput struct {
	EntryPath
	Body struct {
		Keyed
		Imported
		Text    string     `json:"text,omitempty" minLength:"1" maxLength:"8000" doc:"What the message says now: at most 8,000 bytes of UTF-8." example:"We meet at ten, not at nine."`
		Content *typedBody `json:"body,omitempty" doc:"The same for a message with a typed body; in the place of text."`
		Keeps   []string   `json:"attachments,omitempty" maxItems:"10" nullable:"false" pattern:"^f:[A-Za-z0-9._-]{1,128}$" doc:"The file_ids that it keeps, if not all." example:"[\"f:0199a1b2\"]"`
	}
}

func (a *API) editMessage(ctx context.Context, in *editInput) (any, error) {
	body := ubl.TextContent(in.Body.Text)
	if in.Body.Content != nil {
		if in.Body.Text != "" {
			return nil, invalid("body.body", "not together with text")
		}
		var err error
		if body, err = in.Body.Content.content(); err != nil {
			return nil, err
		}
	}
	var keeps *ubl.KeptFiles
	if in.Body.Keeps != nil {
		keeps = new(ubl.KeptFiles)
		for _, id := range in.Body.Keeps {
			keeps.Files = append(keeps.Files, ubl.FileID(id))
		}
	}
	return a.enter(ctx, in.RoomID, ubl.PostEntry{
		Keeps:   keeps,
		Request: envelope.Command(ctx, in.Body.Key), Type: ubl.EntryEdit, Target: in.EntryID, Body: body, ImportedFrom: in.Body.origin(),
	})
}

type reactInput struct {
	EntryPath
	Body struct {
		Keyed
		Imported
		Reaction string `json:"reaction" minLength:"1" maxLength:"32" doc:"An emoji, or a short word." example:"👍"`
	}
}

func (a *API) react(ctx context.Context, in *reactInput) (any, error) {
	return a.enter(ctx, in.RoomID, ubl.PostEntry{
		Request: envelope.Command(ctx, in.Body.Key), Type: ubl.EntryReaction, Target: in.EntryID, Body: ubl.ReactionContent(in.Body.Reaction), ImportedFrom: in.Body.origin(),
	})
}

type redactInput struct {
	EntryPath
	Body *struct {
		KeyBody
		Reason string `json:"reason,omitempty" maxLength:"1000" doc:"Why, for those who read the room." example:"It named a customer."`
	}
}

func (a *API) redact(ctx context.Context, in *redactInput) (any, error) {
	c := ubl.PostEntry{Request: envelope.Command(ctx, ""), Type: ubl.EntryRedaction, Target: in.EntryID}
	reason := ""
	if in.Body != nil {
		c.Request, reason = envelope.Command(ctx, in.Body.Key), in.Body.Reason
	}
	c.Body = ubl.RedactionContent(reason)
	if err := a.mayRedact(ctx, &in.EntryPath); err != nil {
		return nil, err
	}
	return a.enter(ctx, in.RoomID, c)
}

// mayRedact refuses a session that isn't fresh and would take away for good what somebody
// else has said. One's own is everyday, and so is a reaction that is taken back. Who said
// it is read for such a session alone.
func (a *API) mayRedact(ctx context.Context, in *EntryPath) error {
	stale := confirmed(ctx)
	if stale == nil {
		return nil
	}
	_, e, err := a.entry(ctx, in, false)
	if err == nil && e.AuthorID != caller(ctx).UserID {
		err = stale
	}
	return err
}

type pinInput struct {
	EntryPath
	Body struct {
		Keyed
		Imported
		Pinned bool `json:"pinned" doc:"false takes the pin away."`
	}
}

func (a *API) pin(ctx context.Context, in *pinInput) (any, error) {
	return a.enter(ctx, in.RoomID, ubl.PostEntry{
		Request: envelope.Command(ctx, in.Body.Key), Type: ubl.EntryPin, Target: in.EntryID, Body: ubl.PinContent(in.Body.Pinned), ImportedFrom: in.Body.origin(),
	})
}

type entriesInput struct {
	RoomPath
	Cursor int64 `query:"cursor" minimum:"1" doc:"Reads entries with room_seq below it; without one, the newest."`
	From   int64 `query:"from" minimum:"1" doc:"Reads forward instead: entries with this room_seq and above." example:"41"`
	Limit  int   `query:"limit" minimum:"1" maximum:"200" default:"50" doc:"At most so many on a page."`
}

type entriesAnswer struct {
	Entries    []json.RawMessage `json:"entries"`
	NextCursor *int64            `json:"next_cursor"`
}

func (a *API) readEntries(ctx context.Context, in *entriesInput) (any, error) {
	cmd := ubl.ReadHistory{Who: caller(ctx), Before: in.Cursor, Limit: in.Limit, Entries: true, Now: true}
	if in.From > 0 {
		if in.Cursor > 0 {
			return nil, invalid("query.from", "not together with cursor")
		}
		after := in.From - 1
		cmd.After = &after
	}
	page, err := ubl.Ask[*ubl.HistoryPage](ctx, a.Asker, ubl.RoomName(cmd.Who.TenantID, in.RoomID), cmd)
	if err != nil {
		return nil, err
	}
	out := entriesAnswer{Entries: list(page.Entries), NextCursor: page.NextCursor}
	if cmd.After != nil {
		out.NextCursor = nil
		if next := page.LastSeq + 1; page.LastSeq > 0 && page.LastSeq < page.Head.LastSeq {
			out.NextCursor = &next
		}
	}
	return out, nil
}

func (a *API) getEntry(ctx context.Context, in *EntryPath) (any, error) {
	stored, _, err := a.entry(ctx, in, false)
	if err != nil {
		return nil, err
	}
	return entryAnswer{stored}, nil
}

// entry reads one entry, as it is stored and decoded, and where it was forwarded from; now has it
// say what became of it.
func (a *API) entry(ctx context.Context, in *EntryPath, now bool) (json.RawMessage, *ubl.Entry, error) {
	unknown := ubl.Errorf(ubl.CodeNotFound, "there is no such entry in this room")
	seq, ok := in.EntryID.Seq()
	if !ok || seq < 1 {
		return nil, nil, unknown
	}
	after, who := seq-1, caller(ctx)
	page, err := ubl.Ask[*ubl.HistoryPage](ctx, a.Asker, ubl.RoomName(who.TenantID, in.RoomID),
		ubl.ReadHistory{Who: who, After: &after, Limit: 1, Entries: true, Now: now, Sources: true})
	if err != nil {
		return nil, nil, err
	}
	var e ubl.Entry
	if page.FirstSeq != seq || json.Unmarshal(page.Entries[0], &e) != nil || e.ID != in.EntryID {
		return nil, nil, unknown
	}
	return page.Entries[0], &e, nil
}

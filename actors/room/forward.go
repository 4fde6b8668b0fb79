package room

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"

	"ubl"
	"ubl/actors"
)

// A message is forwarded in two steps, so that its words are as true as its room is. That room
// tells who may read it what the message says by now (copyMessage), and the room that it goes to
// keeps the copy as any send. Where it came from stays beside the copy, in the stored form alone:
// readers of the one room may be strangers to the other, and are told nothing but author and time.
// Who may read the message there too is told where it is (withSources).

// copyMessage tells who may read a message what is repeated of it.
func (r *Room) copyMessage(t *actors.Turn, c ubl.CopyMessage) {
	err := r.State.shows("messenger.history", c.Who)
	if err == nil && r.State.Policy.Keeps() > 0 {
		err = ubl.Errorf(ubl.CodeConflict, "messages of that room disappear")
	}
	head, ctx := r.State.head(), t.Context()
	t.Read(err, func(context.Context) (any, error) { return r.copyOf(ctx, head, c.MsgID) })
}

// copyOf is what is repeated of a message.
func (r *Room) copyOf(ctx context.Context, head ubl.Head, id ubl.MessageID) (*ubl.MessageCopy, error) {
	seq, ok := id.Seq()
	if !ok || seq < head.AvailableFrom || seq > head.LastSeq {
		return nil, errNoMessage()
	}
	var found *ubl.MessageCopy
	err := r.Read.View(ctx, r.group, func(snap ubl.Snapshot) error {
		e, _, err := r.entryAt(snap, seq)
		if err != nil {
			return err
		}
		if err := mayForward(e, id); err != nil {
			return err
		}
		m, err := r.reads(snap, head, seq)
		if err != nil || m == nil {
			return cmp.Or(err, errNoMessage())
		}
		files, err := readFiles(snap, r.id, seq)
		if err != nil {
			return err
		}
		found = &ubl.MessageCopy{Forwarded: wordsOf(e), Text: e.Forwarded.Words(m.text)}
		if files != nil {
			found.Attachments = withoutIDs(files.Files)
		}
		return nil
	})
	if err == nil && found.Text == "" && len(found.Attachments) == 0 { // an edit of another type, or a comment alone
		err = errNotText()
	}
	return found, err
}

// mayForward refuses what isn't a message of text that is still there.
func mayForward(e *ubl.Entry, id ubl.MessageID) error {
	switch {
	case e == nil || e.ID != id:
		return errNoMessage()
	case e.Redacted != nil:
		return ubl.Errorf(ubl.CodeConflict, "it was redacted")
	case e.Type != ubl.EntryMessage || e.Body == nil || e.Body.Type != ubl.ContentText:
		return errNotText()
	}
	return nil
}

func errNoMessage() error {
	return ubl.Errorf(ubl.CodeNotFound, "there is no such message in that room")
}

func errNotText() error {
	return ubl.Errorf(ubl.CodeConflict, "it isn't a message of text or files that the server can read")
}

// wordsOf says whose words a message has: those who wrote them first, here or elsewhere.
func wordsOf(e *ubl.Entry) ubl.Forwarded {
	switch {
	case e.Forwarded != nil:
		f := *e.Forwarded
		f.Comment = 0
		return f
	case e.ImportedFrom != nil:
		return ubl.Forwarded{At: e.ImportedFrom.At, AuthorID: e.ImportedFrom.AuthorID, AuthorName: e.ImportedFrom.AuthorName}
	}
	return ubl.Forwarded{At: e.SentAt, AuthorID: e.AuthorID}
}

func withoutIDs(list []ubl.Attachment) []ubl.Attachment {
	files := make([]ubl.Attachment, len(list))
	for i, f := range list {
		f.FileID = ""
		files[i] = f
	}
	return files
}

// copied puts what is repeated under what its sender says of it.
func (c *sending) copied() error {
	f := c.Forward
	switch {
	case f == nil:
		return nil
	case f.Copy == nil && f.Refused == "":
		return ubl.Errorf(ubl.CodeValidation, "nothing is there to be forwarded")
	case f.Copy == nil:
		return ubl.Errorf(f.Refused, "%s", f.Why)
	case len(c.Attachments) > 0:
		return ubl.Errorf(ubl.CodeValidation, "a forwarded message carries its own files alone")
	case c.Text != "":
		if err := ubl.CheckText(c.Text, ubl.MaxMessageBytes); err != nil {
			return err
		}
	}
	c.forwarded, c.Text = f.Copy.Under(c.Text, f.Copy.Text)
	return nil
}

// source is the message that is repeated, nil for none.
func (c *sending) source() *ubl.MessageRef {
	if c.Forward == nil {
		return nil
	}
	return &c.Forward.MessageRef
}

// withSources has forwarded entries of a page tell where from, if the reader may read that.
func (r *Room) withSources(ctx context.Context, c ubl.ReadHistory, entries []stored, p *ubl.HistoryPage) error {
	if !c.Sources {
		return nil
	}
	for i, v := range entries {
		raw, _ := v.forwarded()
		if raw == nil || p.Entries == nil || p.Entries[i] == nil {
			continue
		}
		var source ubl.MessageRef
		var e ubl.Entry
		if err := errors.Join(json.Unmarshal(raw, &source), json.Unmarshal(p.Entries[i], &e)); err != nil {
			return ubl.Damaged("entry %d of %s can't be read", p.FirstSeq+int64(i), r.id)
		}
		if !r.mayRead(ctx, c.Who, source) {
			continue
		}
		e.Source = &source
		p.Entries[i] = e.Encode()
	}
	return nil
}

// mayRead reports whether somebody may read a message elsewhere, and it is there still. A room
// that can't be asked now tells nobody.
func (r *Room) mayRead(ctx context.Context, who ubl.Identity, m ubl.MessageRef) bool {
	seq, ok := m.MsgID.Seq()
	if !ok {
		return false
	}
	after := seq - 1
	page, err := ubl.Ask[*ubl.HistoryPage](ctx, r.Ask, ubl.RoomName(r.tenant, m.RoomID), ubl.ReadHistory{Who: who, After: &after, Limit: 1, Entries: true})
	if err != nil || page.FirstSeq != seq {
		return false
	}
	var e ubl.Entry
	return json.Unmarshal(page.Entries[0], &e) == nil && e.ID == m.MsgID && e.Redacted == nil
}

package room

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"slices"
	"time"

	"ubl"
	"ubl/actors"
	"ubl/actors/agreement"
	"ubl/actors/reading"
)

// indexEvery is how long the index waits after a message, so that it takes in many at once. It
// then rests as long again to see whether many write.
const indexEvery = time.Second / 2

// messageCursors are the index's own cursors, which it keeps with what it has indexed.
type messageCursors struct{ ubl.MessageSearcher }

// Cursor implements [actors.Cursors].
func (c messageCursors) Cursor(ctx context.Context, g ubl.Group) (int64, error) {
	return c.MessageCursor(ctx, g)
}

// Keep implements [actors.Cursors].
func (c messageCursors) Keep(ctx context.Context, g ubl.Group, seq int64) error {
	return c.KeepMessages(ctx, g, seq)
}

// following is what the index of messages asks of the ledger: the acts that change what is
// found.
func following(search ubl.MessageSearcher) *actors.Follow {
	return &actors.Follow{
		Name: "messages", Local: "tail|messages", Every: indexEvery, Cursors: messageCursors{search},
		Rest: func(g ubl.Group) time.Duration { return search.RestOfMessages(g) },
		Dids: []ubl.Did{
			ubl.DidSend, ubl.DidPollCreate, ubl.DidFormCreate, ubl.DidEdit, ubl.DidReact, ubl.DidRedact, ubl.DidRoomTrim,
			ubl.DidRoomLeave, ubl.DidRoomRemove, // the last one to go seals what was said
			ubl.DidRoomJoin, ubl.DidRoomInvite, ubl.DidAgreementHeir, // a room without people isn't indexed again
		},
		Subject: roomOf, Bare: true,
	}
}

// roomOf is the room that an act was in: its effects name it. No quote in a text stands there
// without a backslash.
func roomOf(e actors.Entry) string {
	_, behind, _ := bytes.Cut(e.Effect, []byte(`"room_id":"`))
	id, _, _ := bytes.Cut(behind, []byte{'"'})
	return string(id)
}

// Indexing registers what keeps the index of a tenant's messages up to date: it follows the
// tenant's ledger, and has each room that is named there index what has changed.
func Indexing(read ubl.Reader, search ubl.MessageSearcher) actors.Family {
	return actors.Deliverer(read, following(search), func(env actors.Env) func(context.Context, string, []actors.Entry) error {
		return func(ctx context.Context, subject string, _ []actors.Entry) error {
			of := env.Name.Group()
			if err := refill(ctx, read, env.Ask, of, search); err != nil || subject == "" {
				return err
			}
			_, err := env.Ask.Ask(ctx, ubl.RoomName(of.Tenant, ubl.RoomID(subject)), indexMessages{search})
			return err
		}
	})
}

// refill has each room indexed in the background, where the index was made again: the rooms
// that say nothing more would stay away from it.
func refill(ctx context.Context, read ubl.Reader, ask ubl.Asker, of ubl.Group, search ubl.MessageSearcher) error {
	whole, err := search.Whole(ctx, of)
	if err != nil || whole {
		return err
	}
	search.Refill(of, func(ctx context.Context) (int64, error) {
		rooms, upTo, err := roomsWithMembers(ctx, read, of)
		for _, id := range rooms {
			if _, bad := ask.Ask(ctx, ubl.RoomName(of.Tenant, id), indexMessages{search}); bad != nil {
				err = errors.Join(err, bad) // the others are indexed all the same
			}
			if ctx.Err() != nil {
				break
			}
		}
		return upTo, err
	})
	return nil
}

// roomsWithMembers are those in which somebody can find something, and how far the ledger was
// then.
func roomsWithMembers(ctx context.Context, read ubl.Reader, of ubl.Group) (rooms []ubl.RoomID, upTo int64, err error) {
	var bad error
	err = read.View(ctx, of, func(snap ubl.Snapshot) error {
		head, err := snap.Head()
		if err != nil {
			return err
		}
		upTo = head.Seq
		from, to := agreement.MemberIndexAll()
		return snap.Ascend(from, to, func(_, v []byte) bool {
			var entry agreement.RoomIndex
			bad = json.Unmarshal(v, &entry)
			rooms = append(rooms, entry.Room.RoomID)
			return bad == nil
		})
	})
	slices.Sort(rooms)
	return slices.Compact(rooms), upTo, errors.Join(err, bad)
}

// indexMessages has an index take in what has changed so far. Only this node asks it.
type indexMessages struct{ into ubl.MessageSearcher }

// Cost is 0: nothing is stored.
func (indexMessages) Cost() int { return 0 }

func (r *Room) indexMessages(t *actors.Turn, c indexMessages) {
	ctx, head := t.Context(), r.State.head()
	t.Later(func() (any, error) {
		return nil, c.into.IndexMessages(ctx, r.group, r.id, func(ctx context.Context, after ubl.RoomMark, fn func(ubl.MessageChange) error) (bool, error) {
			return r.tellMessages(ctx, head, after, fn)
		})
	})
}

// tellMessages tells what has changed behind a mark, up to a head.
func (r *Room) tellMessages(ctx context.Context, head ubl.Head, after ubl.RoomMark, fn func(ubl.MessageChange) error) (known bool, err error) {
	ctx = ubl.WithReading(ctx, r.group) // all of it was committed before
	if known, err := r.led(ctx, head, after); err != nil || !known {
		return false, err
	}
	for seq := after.From; seq < head.AvailableFrom && seq <= after.N; seq++ {
		if err := fn(ubl.MessageChange{RoomMark: ubl.RoomMark{Mark: after.Mark, From: seq + 1}, Seq: seq, Gone: true}); err != nil {
			return true, err
		}
	}
	for next := max(after.N+1, head.AvailableFrom); next <= head.LastSeq; next += maxPage {
		page, err := r.changesFrom(ctx, head, next)
		for _, c := range page {
			if err == nil {
				err = fn(c)
			}
		}
		if err != nil {
			return true, err
		}
	}
	return true, nil
}

// led reports whether the room's history leads through a mark.
func (r *Room) led(ctx context.Context, head ubl.Head, after ubl.RoomMark) (known bool, err error) {
	if after.N > head.LastSeq || after.N < head.AvailableFrom { // of what is gone nobody knows better
		return after.N <= head.LastSeq, nil
	}
	err = r.Read.View(ctx, r.group, func(snap ubl.Snapshot) error {
		e, _, err := r.entryAt(snap, after.N)
		known = e == nil || e.Receipt.CID == after.CID // retention may have been faster
		return err
	})
	return known, err
}

// entryAt reads an entry; nil for one that retention has taken away.
func (r *Room) entryAt(snap ubl.Snapshot, seq int64) (*ubl.Entry, stored, error) {
	v, err := keptAt(snap, r.id, seq)
	if err != nil || v == nil {
		return nil, nil, err
	}
	if !v.known() {
		return nil, nil, ubl.Damaged("entry %d of %s is stored in a form that this program doesn't know", seq, r.id)
	}
	e, err := v.entry()
	return e, v, err
}

// changesFrom reads a page of entries from one on, and what they change.
func (r *Room) changesFrom(ctx context.Context, head ubl.Head, from int64) (page []ubl.MessageChange, err error) {
	err = r.Read.View(ctx, r.group, func(snap ubl.Snapshot) error {
		page = page[:0]
		for seq := from; seq <= min(head.LastSeq, from+maxPage-1); seq++ {
			e, _, err := r.entryAt(snap, seq)
			if err != nil {
				return err
			}
			if e == nil {
				continue
			}
			c, err := r.changeBy(snap, head, e)
			if err != nil {
				return err
			}
			c.RoomMark = ubl.RoomMark{Mark: ubl.Mark{N: seq, CID: e.Receipt.CID}, From: head.AvailableFrom}
			page = append(page, c)
		}
		return nil
	})
	return page, err
}

// changeBy is what an entry changes of what is found.
func (r *Room) changeBy(snap ubl.Snapshot, head ubl.Head, e *ubl.Entry) (c ubl.MessageChange, err error) {
	about := int64(0)
	if e.Target != nil {
		about, _ = e.Target.Seq()
	}
	reaction, gone := int64(0), false
	switch e.Type {
	case ubl.EntryMessage:
		about = e.RoomSeq
	case ubl.EntryEdit:
	case ubl.EntryReaction:
		if reaction = e.RoomSeq; e.Redacted != nil {
			return c, nil
		}
	case ubl.EntryRedaction:
		t, _, err := r.entryAt(snap, about)
		if err != nil || t == nil {
			return c, err
		}
		if t.Type == ubl.EntryReaction {
			reaction, gone = t.RoomSeq, true
		}
		if t.Type != ubl.EntryMessage && t.Target != nil {
			about, _ = t.Target.Seq()
		}
	default:
		return c, nil
	}
	if about == 0 {
		return c, nil
	}
	m, err := r.reads(snap, head, about)
	if err != nil {
		return c, err
	}
	if m == nil {
		return ubl.MessageChange{Seq: about, Gone: true}, nil
	}
	return ubl.MessageChange{
		Seq: about, AuthorID: m.entry.AuthorID, SentAt: m.entry.SentAt, Order: m.entry.Receipt.Seq,
		Text: m.text, Files: m.files, Reaction: reaction, ReactionGone: gone,
	}, nil
}

// current is a message as it reads now.
type current struct {
	entry  *ubl.Entry
	text   string
	edited bool
	files  bool
}

// reads reads a message with its newest text; nil for one that is gone, for what the system
// says, and for any other entry.
func (r *Room) reads(snap ubl.Snapshot, head ubl.Head, seq int64) (*current, error) {
	if seq < head.AvailableFrom || seq > head.LastSeq {
		return nil, nil
	}
	e, v, err := r.entryAt(snap, seq)
	if err != nil || e == nil || e.Redacted != nil || e.Type != ubl.EntryMessage || e.Body == nil || e.Body.Type == ubl.ContentSystem {
		return nil, err
	}
	m := &current{entry: e, files: ubl.HasAttachments(v.json())}
	m.text, _ = e.Body.Text()
	if poll := e.Body.Poll(); poll != nil {
		m.text = poll.Text()
	}
	if form := e.Body.Form(); form != nil {
		m.text = form.Words()
	}
	var bad error
	err = snap.Descend(aboutKey(r.id, seq, 0), aboutKey(r.id, seq, -1), func(k, about []byte) bool {
		if !isEdit(about) {
			return true
		}
		edit, _, err := r.entryAt(snap, reading.NumberOf(k))
		if bad = err; bad != nil || edit == nil || edit.Redacted != nil || edit.Body == nil {
			return bad == nil // the one before counts
		}
		m.text, m.edited = "", true
		m.text, _ = edit.Body.Text()
		return false
	})
	return m, cmp.Or(err, bad)
}

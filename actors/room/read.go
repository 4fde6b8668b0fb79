package room

import (
	"context"
	"encoding/json"
	"errors"
	"slices"

	"ubl"
	"ubl/actors"
	"ubl/actors/agreement"
	"ubl/actors/reading"
)

// maxPage is the most entries of one page.
const maxPage = 200

// history answers a page of the timeline: from memory where it lies there,
// else from the store on the asker's goroutine.
func (r *Room) history(t *actors.Turn, c ubl.ReadHistory) {
	if err := r.State.mayRead(c); err != nil {
		t.Fail(err)
		return
	}
	first, last := r.pageBounds(c)
	head := r.State.head()
	ctx := t.Context()
	if posts, ok := r.State.recent.pick(first, last); ok {
		t.Later(func() (any, error) {
			entries := make([]stored, len(posts))
			for i, p := range posts {
				entries[i] = p.stored
			}
			return r.page(ctx, c, entries, first, head)
		})
		return
	}
	t.Later(func() (any, error) {
		entries, err := readEntries(ctx, r.Read, r.group, r.id, first, last)
		if err != nil {
			return nil, err
		}
		if int64(len(entries)) < last-first+1 { // trimmed since the turn: what is left is its end
			first = last - int64(len(entries)) + 1
		}
		return r.page(ctx, c, entries, first, head)
	})
}

// page is the answer to who reads a part of the timeline, with what became of it where that is
// asked for.
func (r *Room) page(ctx context.Context, c ubl.ReadHistory, entries []stored, first int64, head ubl.Head) (*ubl.HistoryPage, error) {
	if c.Own {
		return ownPage(c.Who.UserID, entries, first)
	}
	p, err := pageOf(c, entries, first, head)
	if err == nil {
		err = r.now(ctx, c, p)
	}
	if err == nil {
		err = r.withSources(ctx, c, entries, p)
	}
	return p, err
}

// pageOf is the answer to who reads a part of the timeline.
func pageOf(c ubl.ReadHistory, entries []stored, first int64, head ubl.Head) (_ *ubl.HistoryPage, err error) {
	p := &ubl.HistoryPage{Head: head}
	if len(entries) == 0 {
		return p, nil
	}
	p.FirstSeq, p.LastSeq = first, first+int64(len(entries))-1
	if first > head.AvailableFrom {
		p.NextCursor = &first
	}
	p.Messages = make([]json.RawMessage, len(entries))
	for i, v := range entries {
		if p.Messages[i] = v.message(); p.Messages[i] != nil && !c.Entries {
			continue
		}
		if p.Entries == nil {
			p.Entries = make([]json.RawMessage, len(entries))
		}
		if p.Entries[i], err = v.encoded(); err != nil {
			return nil, err
		}
	}
	return p, nil
}

// pageBounds is the first and last room_seq asked for, cut to what is kept;
// last < first for an empty page.
func (r *Room) pageBounds(c ubl.ReadHistory) (first, last int64) {
	limit := int64(min(max(c.Limit, 1), maxPage))
	head := r.State.head()
	if c.After != nil {
		first = max(min(*c.After, head.LastSeq)+1, head.AvailableFrom)
		return first, min(head.LastSeq, first+limit-1)
	}
	last = head.LastSeq
	if c.Before > 0 {
		last = min(last, c.Before-1)
	}
	return max(last-limit+1, head.AvailableFrom), last
}

// readEntries reads entries first to last of those that retention keeps. One
// that is missing otherwise is damage.
func readEntries(ctx context.Context, read ubl.Reader, g ubl.Group, id ubl.RoomID, first, last int64) ([]stored, error) {
	var entries []stored
	err := read.View(ctx, g, func(snap ubl.Snapshot) error {
		next := first
		missing := false
		err := snap.Ascend(messageKey(id, first), messageKey(id, last+1), func(k, v []byte) bool {
			if len(entries) == 0 {
				next = reading.NumberOf(k)
			}
			if missing = reading.NumberOf(k) != next; missing {
				return false
			}
			next++
			entries = append(entries, slices.Clone(v))
			return true
		})
		if err != nil {
			return err
		}
		if missing || len(entries) > 0 && next <= last {
			return errMissing(id, next)
		}
		from := last + 1
		if len(entries) > 0 {
			from = next - int64(len(entries))
		}
		return checkTrimmed(snap, id, first, from)
	})
	return entries, err
}

// checkTrimmed sees that retention has removed what lies from first to before from.
func checkTrimmed(snap ubl.Snapshot, id ubl.RoomID, first, from int64) error {
	if from <= first {
		return nil
	}
	kept, err := availableFrom(snap, id)
	if err == nil && kept < from {
		err = errMissing(id, max(first, kept))
	}
	return err
}

// availableFrom is what the newest trimming left, 1 where there was none.
func availableFrom(snap ubl.Snapshot, id ubl.RoomID) (int64, error) {
	from := int64(1)
	var bad error
	err := snap.Descend(eventKey(id, 0), eventKey(id, -1), func(_, v []byte) bool {
		var e event
		if bad = json.Unmarshal(v, &e); bad == nil && e.Did == ubl.DidRoomTrim {
			from = e.AvailableFrom
		}
		return bad == nil && e.Did != ubl.DidRoomTrim
	})
	return from, errors.Join(err, bad)
}

// keptAt reads an entry; nil for one that retention has taken away. One that is missing otherwise
// is damage.
func keptAt(snap ubl.Snapshot, id ubl.RoomID, seq int64) (stored, error) {
	v, err := snap.Get(messageKey(id, seq))
	if err != nil || v != nil {
		return v, err
	}
	return nil, checkTrimmed(snap, id, seq, seq+1)
}

func errMissing(id ubl.RoomID, seq int64) error {
	return ubl.Damaged("message %d of %s is missing", seq, id)
}

// replied finds the message that another one is an answer to, as its argument says. The
// number inside the id says where to look.
func (r *Room) replied(t *actors.Turn, id ubl.MessageID, argument string) (*post, error) {
	unknown := ubl.Errorf(ubl.CodeValidation, "%s is not a message of this room", argument)
	seq, ok := id.Seq()
	if !ok || seq < r.State.head().AvailableFrom || seq > r.State.Head.LastSeq {
		return nil, unknown
	}
	if posts, ok := r.State.recent.pick(seq, seq); ok {
		if posts[0].id != id {
			return nil, unknown
		}
		return posts[0], nil
	}
	entries, err := readEntries(t.Context(), r.Read, r.group, r.id, seq, seq)
	if err != nil {
		return nil, err
	}
	if len(entries) == 0 {
		return nil, unknown
	}
	b, err := entries[0].brief()
	if err != nil || b.id() != id {
		return nil, unknown
	}
	return b.post(entries[0]), nil
}

// checkReply refuses a reply to a message that the room doesn't hold.
func (r *Room) checkReply(t *actors.Turn, id ubl.MessageID) error {
	if id == "" {
		return nil
	}
	_, err := r.replied(t, id, "reply_to")
	return err
}

// agreement answers members with the Agreement and its history.
func (r *Room) agreement(t *actors.Turn, c ubl.GetAgreement) {
	err := r.State.shows("agreement.get", c.Who)
	if err == nil {
		err = r.State.own(c.Agreement)
	}
	now := r.State.past()
	agreement.Show(t, c, err, &r.State,
		func(ctx context.Context) (*State, *event, error) { return r.then(ctx, c.AsOf, now) },
		func(s *State) (ubl.Agreement, agreement.History, error) {
			return s.Agreement.Share(), r.changes(s.Events), nil
		})
}

// changes is the Agreement's history up to an event.
func (r *Room) changes(last int64) agreement.History {
	return func(ctx context.Context, after int64, fn func(ubl.Change) error) error {
		return r.Events().Each(ctx, after+1, last, func(e event) error {
			if !e.step() {
				return nil
			}
			return fn(e.Change(e.Member))
		})
	}
}

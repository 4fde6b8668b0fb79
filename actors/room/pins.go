package room

import (
	"context"
	"errors"
	"slices"

	"ubl"
	"ubl/actors"
	"ubl/actors/reading"
)

// The messages that are pinned have no index of their own: the index v, which leads from a message
// to what is about it, is read from its end. A page looks at so many of its records at most, so
// that a room with a million reactions and one pin is read in many short pages.
const (
	maxPinPage  = 100
	maxPinsRead = 20_000
)

// pins answers a page of the messages that are pinned.
func (r *Room) pins(t *actors.Turn, c ubl.ListPins) {
	err := r.State.shows("messenger.history", c.Who)
	head := r.State.head()
	ctx := t.Context()
	t.Read(err, func(context.Context) (any, error) { return r.pinPage(ctx, c, head, maxPinsRead) })
}

// pinPage reads a page, and at most so many records, to the end of a message.
func (r *Room) pinPage(ctx context.Context, c ubl.ListPins, head ubl.Head, most int) (*ubl.PinPage, error) {
	before := head.LastSeq + 1
	if c.Before > 0 {
		before = min(before, c.Before)
	}
	if before <= head.AvailableFrom {
		return &ubl.PinPage{}, nil
	}
	limit := min(max(c.Limit, 1), maxPinPage)
	page := &ubl.PinPage{}
	var list []stored
	var became map[int64]*ubl.Became
	err := r.Read.View(ctx, r.group, func(snap ubl.Snapshot) error {
		var seqs []int64
		var err error
		if seqs, page.NextCursor, err = r.pinned(snap, head.AvailableFrom, before, limit, most); err != nil {
			return err
		}
		list = list[:0]
		for _, n := range seqs {
			v, bad := keptAt(snap, r.id, n)
			if err = errors.Join(err, bad); err == nil && v != nil && !v.redacted() {
				list = append(list, slices.Clone(v))
			}
		}
		if err == nil {
			became, err = r.becameOf(snap, c.Who.UserID, seqs)
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	for _, v := range list {
		e, err := v.encoded()
		if err == nil {
			e, err = entryNow(e, became)
		}
		if err != nil {
			return nil, err
		}
		page.Entries = append(page.Entries, e)
	}
	return page, nil
}

// pinned are the numbers of messages from one to before another whose newest pin holds, and the
// number before which the next page goes on. Of what is about one message, the newest comes first.
func (r *Room) pinned(snap ubl.Snapshot, from, before int64, limit, most int) (seqs []int64, next *int64, err error) {
	var target int64
	var read int
	var decided bool
	err = snap.Descend(aboutKey(r.id, from, 0), aboutKey(r.id, before-1, -1), func(k, v []byte) bool {
		if n := reading.NumberOf(k[:len(k)-8]); n != target {
			if len(seqs) == limit || read >= most {
				next = &target
				return false
			}
			target, decided = n, false
		}
		read++
		if !decided && len(v) == 2 && v[0] == aboutPin {
			decided = true
			if v[1] == 1 {
				seqs = append(seqs, target)
			}
		}
		return true
	})
	return seqs, next, err
}

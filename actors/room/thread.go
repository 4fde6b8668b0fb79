package room

import (
	"cmp"
	"context"
	"encoding/binary"
	"errors"
	"slices"

	"ubl"
	"ubl/actors"
	"ubl/actors/reading"
)

// A thread is the answers to one message of the timeline. They are entries like any, with the
// message that began it in them, and an index leads from that to each.

// maxFollowers bounds for how many people an answer in a thread is.
const maxFollowers = 100

// threadKey is the key T room 0 root n: entry n is an answer in the thread that root began. Its
// value is the author's id. n < 0 is the end of those of one thread.
func threadKey(r ubl.RoomID, root, n int64) []byte {
	b := reading.Numbered('T', r, root)
	if n < 0 {
		return append(b, 0xff)
	}
	return binary.BigEndian.AppendUint64(b, uint64(n))
}

// followed is a thread that is in memory, so that an answer reads what is new of it alone.
type followed struct {
	root   int64
	author ubl.UserID   // of the root
	people []ubl.UserID // who answered up to an entry, who answered last first
	upTo   int64
}

// maxFollowed is how many threads are in memory of a room.
const maxFollowed = 32

// follow sees that a thread can begin with a message, or has, and finds who takes part.
func (r *Room) follow(t *actors.Turn, root ubl.MessageID) ([]ubl.UserID, error) {
	if root == "" {
		return nil, nil
	}
	thread, err := r.begun(t, root)
	if err != nil {
		return nil, err
	}
	if err := r.catchUp(t.Context(), thread); err != nil {
		return nil, err
	}
	people := append([]ubl.UserID{thread.author}, thread.people...)
	for _, p := range r.State.recent.posts { // what isn't durable yet is among these
		if p.seq > thread.upTo && p.thread == root {
			people = append(people, p.author)
		}
	}
	slices.Sort(people)
	return slices.Compact(people), nil
}

// begun is a thread that began with a message, or can.
func (r *Room) begun(t *actors.Turn, root ubl.MessageID) (*followed, error) {
	if known := r.threads[root]; known != nil && known.root >= r.State.head().AvailableFrom {
		return known, nil
	}
	first, err := r.replied(t, root, "thread")
	switch {
	case err != nil:
		return nil, err
	case first.thread != "":
		return nil, ubl.Errorf(ubl.CodeConflict, "this message is in a thread itself, which %s began", first.thread)
	case !first.said:
		return nil, ubl.Errorf(ubl.CodeConflict, "a thread begins with a message")
	case r.threads == nil, len(r.threads) == maxFollowed:
		r.threads = make(map[ubl.MessageID]*followed)
	}
	thread := &followed{root: first.seq, author: first.author}
	r.threads[root] = thread
	return thread, nil
}

// catchUp reads the answers that have become durable since.
func (r *Room) catchUp(ctx context.Context, thread *followed) error {
	var people []ubl.UserID
	upTo := thread.upTo
	err := r.Read.View(ctx, r.group, func(snap ubl.Snapshot) error {
		people = nil
		return snap.Descend(threadKey(r.id, thread.root, thread.upTo+1), threadKey(r.id, thread.root, -1), func(k, v []byte) bool {
			upTo = max(upTo, reading.NumberOf(k))
			if user := ubl.UserID(v); !slices.Contains(people, user) {
				people = append(people, user)
			}
			return len(people) < maxFollowers
		})
	})
	if err != nil || len(people) == 0 {
		return err
	}
	for _, user := range thread.people {
		if !slices.Contains(people, user) {
			people = append(people, user)
		}
	}
	thread.people, thread.upTo = people[:min(len(people), maxFollowers)], upTo
	return nil
}

// maxThreadPage is the most answers of one page.
const maxThreadPage = 200

// thread answers a page of a thread.
func (r *Room) thread(t *actors.Turn, c ubl.ReadThread) {
	err := r.State.shows("messenger.history", c.Who)
	head := r.State.head()
	ctx := t.Context()
	t.Read(err, func(context.Context) (any, error) { return r.threadPage(ctx, c, head) })
}

func (r *Room) threadPage(ctx context.Context, c ubl.ReadThread, head ubl.Head) (*ubl.ThreadPage, error) {
	unknown := ubl.Errorf(ubl.CodeNotFound, "there is no such message in this room")
	root, ok := c.Root.Seq()
	if !ok || root < head.AvailableFrom || root > head.LastSeq {
		return nil, unknown
	}
	limit := min(max(c.Limit, 1), maxThreadPage)
	page := &ubl.ThreadPage{}
	var list []stored
	var became map[int64]*ubl.Became
	err := r.Read.View(ctx, r.group, func(snap ubl.Snapshot) error {
		first, err := keptAt(snap, r.id, root)
		if err != nil || first == nil {
			return cmp.Or(err, error(unknown))
		}
		list = append(list[:0], slices.Clone(first))
		page.Replies, page.NextCursor = 0, nil
		var seqs []int64
		err = snap.Ascend(threadKey(r.id, root, 0), threadKey(r.id, root, -1), func(k, _ []byte) bool {
			page.Replies++
			if n := reading.NumberOf(k); n > c.After && len(seqs) <= limit {
				seqs = append(seqs, n)
			}
			return true
		})
		if len(seqs) > limit {
			seqs = seqs[:limit]
			page.NextCursor = &seqs[limit-1]
		}
		for _, n := range seqs {
			v, bad := keptAt(snap, r.id, n)
			if err = errors.Join(err, bad); err == nil && v != nil {
				list = append(list, slices.Clone(v))
			}
		}
		if err == nil {
			became, err = r.becameOf(snap, c.Who.UserID, append([]int64{root}, seqs...))
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	b, err := list[0].brief()
	if err != nil || b.id() != c.Root {
		return nil, cmp.Or(err, error(unknown))
	}
	for i, v := range list {
		e, err := v.encoded()
		if err == nil {
			e, err = entryNow(e, became)
		}
		if err != nil {
			return nil, err
		}
		if i == 0 {
			page.Root = e
		} else {
			page.Entries = append(page.Entries, e)
		}
	}
	return page, nil
}

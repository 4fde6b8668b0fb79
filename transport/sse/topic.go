package sse

import (
	"context"

	"ubl"
)

// topic is what the feeds of a Room and of a LedgerShard differ in.
type topic interface {
	name() ubl.Name
	// head asks for the position of the newest durable event.
	head(ctx context.Context) (int64, error)
	// take puts a publication into the ring.
	take(r *ring, p *ubl.Publication)
}

// roomTopic counts in room_seq.
type roomTopic struct {
	asker ubl.Asker
	told  tellings
	room  ubl.Name
}

func (t roomTopic) name() ubl.Name { return t.room }

func (t roomTopic) head(ctx context.Context) (int64, error) {
	h, err := ubl.Ask[ubl.Head](ctx, t.asker, t.room, ubl.RoomHead{})
	return h.LastSeq, err
}

// take restarts the ring where an entry is missing before this publication,
// and leaves out what the ring has been told already. Events without a seq
// stand before the next entry.
func (t roomTopic) take(r *ring, p *ubl.Publication) {
	first := firstRoomSeq(p)
	if first != 0 && first <= r.last {
		return // late: a head told of it, and history has it
	}
	if first > r.last+1 {
		r.restart(first - 1)
	}
	var frame []byte
	for i := range p.Events {
		ev := &p.Events[i]
		switch {
		case !t.told.shown(ev.Kind):
		case ev.RoomSeq == 0:
			frame = appendFrame(frame[:0], "", noID, ev)
			r.add(entry{pos: r.last + 1, after: r.last, room: ev.RoomID}, frame)
		default:
			if ev.Redacts {
				r.restart(r.last)
			}
			frame = appendFrame(frame[:0], "", ev.RoomSeq, ev)
			r.add(entry{pos: ev.RoomSeq, after: ev.RoomSeq, room: ev.RoomID}, frame)
			r.last = ev.RoomSeq
		}
	}
}

func firstRoomSeq(p *ubl.Publication) int64 {
	for i := range p.Events {
		if seq := p.Events[i].RoomSeq; seq != 0 {
			return seq
		}
	}
	return 0
}

// ledgerTopic counts in ledger seqs: every commit of the tenant is a step,
// whether it has events or not.
type ledgerTopic struct {
	asker  ubl.Asker
	ledger ubl.Name
	told   tellings
}

func (t ledgerTopic) name() ubl.Name { return t.ledger }

func (t ledgerTopic) head(ctx context.Context) (int64, error) {
	h, err := ubl.Ask[ubl.LedgerHead](ctx, t.asker, t.ledger, ubl.GetLedgerHead{})
	return h.Seq, err
}

// take restarts the ring where a commit is missing before this one, and leaves
// out what the ring has been told already.
func (t ledgerTopic) take(r *ring, p *ubl.Publication) {
	if p.First > r.last+1 {
		r.restart(p.First - 1)
	}
	var frame []byte
	for i := range p.Events {
		ev := &p.Events[i]
		if !t.told.shown(ev.Kind) || ev.LedgerSeq <= r.last {
			continue
		}
		if ev.Redacts {
			r.restart(ev.LedgerSeq - 1)
		}
		e := entry{pos: ev.LedgerSeq, after: ev.LedgerSeq, room: ev.RoomID}
		id := ev.LedgerSeq
		if !t.bearsID(p.Events, i) {
			e.after, id = ev.LedgerSeq-1, noID
		}
		frame = appendFrame(frame[:0], ledgerID, id, ev)
		r.add(e, frame)
	}
	r.last = max(r.last, p.Last)
}

// bearsID reports whether the event carries its act's position: of several
// events of one act the last does, else a client that drops between them
// would lose the rest.
func (t ledgerTopic) bearsID(events []ubl.Event, i int) bool {
	if !t.told.again(events[i].Kind) {
		return false
	}
	for _, later := range events[i+1:] {
		if t.told.shown(later.Kind) && t.told.again(later.Kind) && later.LedgerSeq == events[i].LedgerSeq {
			return false
		}
	}
	return true
}

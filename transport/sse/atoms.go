package sse

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"

	"ubl"
)

// atomsPage is how many atoms a tenant stream reads at a time: at most half of
// them are entries.
const atomsPage = 128

// opAppend is the effect of an act that put an entry into a room.
const opAppend = "room.append"

// atom is what a stream needs of an atom.
type atom struct {
	Kind   string     `json:"kind"`
	Did    ubl.Did    `json:"did"`
	Status ubl.Status `json:"status"`
	When   ubl.Time   `json:"when"`
	This   struct {
		RoomID ubl.RoomID `json:"room_id"`
	} `json:"this"`
	Effects []struct {
		Op      string     `json:"op"`
		RoomID  ubl.RoomID `json:"room_id"`
		RoomSeq int64      `json:"room_seq"`
	} `json:"effects"`
}

// effectIn is one of an atom's effects, as it stands there.
func effectIn(raw json.RawMessage, i int) (json.RawMessage, error) {
	var a struct {
		Effects []json.RawMessage `json:"effects"`
	}
	if err := json.Unmarshal(raw, &a); err != nil {
		return nil, err
	}
	return a.Effects[i], nil
}

// told is an event found in the ledger, at its act's position.
type told struct {
	pos     int64
	room    ubl.RoomID
	roomSeq int64 // of an entry; 0 for all else
	at      ubl.Time
	public  *ubl.Event // what everyone hears of; nil for what happened in a room
}

// replay rebuilds the events behind a page of atoms: the ledger says in which
// order they happened, the rooms hold what they said. The caller's rooms are
// read after the page, so that they are never older than it.
func (s *tenantSource) replay(ctx context.Context, pos int64) (replay, error) {
	page, err := ubl.Ask[*ubl.AtomPage](ctx, s.asker, s.topic().name(),
		ubl.ReadAtoms{From: pos + 1, Limit: atomsPage})
	if err != nil {
		return replay{}, err
	}
	if err := s.list(ctx); err != nil {
		return replay{}, err
	}
	events, last, err := s.find(page, pos)
	if err != nil {
		return replay{}, err
	}
	pages, err := s.fetch(ctx, events)
	if err != nil {
		return replay{}, err
	}
	out := replay{pos: last}
	for i, e := range events {
		id := e.pos
		if i+1 < len(events) && events[i+1].pos == e.pos {
			id = noID // as live: the last event of an act bears its position
		}
		if err := s.render(&out, e, id, pages); err != nil {
			return replay{}, err
		}
	}
	return out, nil
}

// find picks the events of the caller's rooms out of a page, and says up to
// where it looked. An act at the page's end is left for the next page where
// its effect isn't here yet.
func (s *tenantSource) find(page *ubl.AtomPage, pos int64) (events []told, last int64, err error) {
	last = pos
	for i, raw := range page.Atoms {
		seq := page.From + int64(i)
		var a atom
		if err := json.Unmarshal(raw, &a); err != nil {
			return nil, pos, fmt.Errorf("couldn't read atom %d: %w", seq, err)
		}
		isAction := ubl.IsAction(a.Kind)
		if isAction && i > 0 && i == len(page.Atoms)-1 {
			break
		}
		last = seq
		if _, mine := s.summary(a.This.RoomID); mine && isAction && a.Did == ubl.DidRoomCreate && a.Status == ubl.StatusExecuted {
			events = append(events, told{pos: seq + 1, room: a.This.RoomID, at: a.When})
		}
		for i, e := range a.Effects {
			if _, mine := s.summary(e.RoomID); mine && e.Op == opAppend {
				events = append(events, told{pos: seq, room: e.RoomID, roomSeq: e.RoomSeq})
			}
			if slices.Contains(s.public, e.Op) && s.sees("") {
				payload, err := effectIn(raw, i)
				if err != nil {
					return nil, pos, fmt.Errorf("couldn't read the effect of atom %d: %w", seq, err)
				}
				events = append(events, told{pos: seq, public: &ubl.Event{Kind: e.Op, TenantID: s.who.TenantID, TS: a.When, Payload: payload}})
			}
		}
	}
	return events, last, nil
}

// fetch reads the entries, one page a room: a room's entries follow each
// other in the ledger as they do in the room.
func (s *tenantSource) fetch(ctx context.Context, events []told) (map[ubl.RoomID]*ubl.HistoryPage, error) {
	type span struct{ first, last int64 }
	spans := make(map[ubl.RoomID]span)
	for _, e := range events {
		if e.roomSeq == 0 {
			continue
		}
		at, ok := spans[e.room]
		if !ok {
			at.first = e.roomSeq
		}
		at.last = e.roomSeq
		spans[e.room] = at
	}
	out := make(map[ubl.RoomID]*ubl.HistoryPage, len(spans))
	for room, at := range spans {
		after := at.first - 1
		page, err := ubl.Ask[*ubl.HistoryPage](ctx, s.asker, ubl.RoomName(s.who.TenantID, room),
			ubl.ReadHistory{Who: s.who, After: &after, Limit: int(at.last - after)})
		if refused(err) {
			continue // they have just left it; the feed or the next page says so
		}
		if err != nil {
			return nil, err
		}
		out[room] = page
	}
	return out, nil
}

func refused(err error) bool {
	code := ubl.CodeOf(err)
	return slices.Contains([]ubl.Code{ubl.CodeNotAMember, ubl.CodeForbidden, ubl.CodeNotFound}, code)
}

// render adds one event. An entry that retention took is told once a room, as
// a gap.
func (s *tenantSource) render(out *replay, e told, id int64, rooms map[ubl.RoomID]*ubl.HistoryPage) error {
	tenant := s.who.TenantID
	if e.public != nil {
		out.add(ledgerID, id, e.public)
		return nil
	}
	if e.roomSeq == 0 {
		room, ok := s.summary(e.room)
		if ok {
			out.add(ledgerID, id, &ubl.Event{
				Kind: ubl.EventRoomCreated, TenantID: tenant, RoomID: e.room, TS: e.at, Payload: ubl.RoomCreatedPayload(room),
			})
		}
		return nil
	}
	page, ok := rooms[e.room]
	if !ok {
		return nil
	}
	if i := e.roomSeq - page.FirstSeq; i >= 0 && i < int64(len(page.Messages)) {
		ev, err := entryEvent(tenant, e.room, page, int(i))
		if err == nil {
			out.add(ledgerID, id, ev)
		}
		return err
	}
	from := page.KeptFrom()
	if e.roomSeq >= from {
		return ubl.Errorf(ubl.CodeUnavailable, "a room is behind its ledger")
	}
	if s.gaps[e.room] < from {
		s.gaps[e.room] = from
		out.add(ledgerID, id, gapEvent(tenant, e.room, s.now(), e.roomSeq, from))
	}
	return nil
}

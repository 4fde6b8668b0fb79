package sse

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"ubl"
)

// atomsPage is how many atoms a tenant stream reads at a time: at most half of
// them are entries.
const atomsPage = 128

// tellings are what streams tell of: by the ops of effects, and by the kinds of events.
type tellings struct{ ops, kinds map[string]ubl.Told }

func tellingsOf(told []ubl.Told) tellings {
	out := tellings{ops: make(map[string]ubl.Told, len(told)), kinds: make(map[string]ubl.Told, len(told))}
	for _, t := range told {
		if t.Op != "" {
			out.ops[t.Op] = t
		}
		if !t.Itself() {
			out.kinds[t.Op] = t
		}
		for _, kind := range t.Kinds {
			out.kinds[kind] = t
		}
	}
	return out
}

// shown reports whether all who may hear of an event are shown it; others steer streams, or are
// for one person.
func (t tellings) shown(kind string) bool {
	told, ok := t.kinds[kind]
	return ok && !told.Own
}

// own reports whether an event is for the person that it is about.
func (t tellings) own(kind string) bool { return t.kinds[kind].Own }

// again reports whether the ledger leads to an event of the kind once more.
func (t tellings) again(kind string) bool { return t.kinds[kind].Op != "" }

// atom is what a stream needs of an atom. Actions have no effects.
type atom struct {
	Kind    string            `json:"kind"`
	When    ubl.Time          `json:"when"`
	Effects []json.RawMessage `json:"effects"`
}

// found is an effect in the ledger of which the stream is to tell, at its act's position.
type found struct {
	pos    int64
	at     ubl.Time
	told   ubl.Told
	room   ubl.RoomID // "" for what everyone hears of
	entry  int64      // of an entry of the room; 0 for all else
	effect json.RawMessage
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

// find picks what the caller hears of out of a page, and says up to where it looked. An act at
// the page's end is left for the next page where its effect isn't here yet.
func (s *tenantSource) find(page *ubl.AtomPage, pos int64) (events []found, last int64, err error) {
	last = pos
	for i, raw := range page.Atoms {
		seq := page.From + int64(i)
		var a atom
		if err := json.Unmarshal(raw, &a); err != nil {
			return nil, pos, fmt.Errorf("couldn't read atom %d: %w", seq, err)
		}
		if ubl.IsAction(a.Kind) && i > 0 && i == len(page.Atoms)-1 {
			break
		}
		last = seq
		for _, effect := range a.Effects {
			e, ok, err := s.told.of(effect)
			if err != nil {
				return nil, pos, fmt.Errorf("couldn't read an effect of atom %d: %w", seq, err)
			}
			if ok && s.sees(e.room) {
				e.pos, e.at = seq, a.When
				events = append(events, e)
			}
		}
	}
	return events, last, nil
}

// of reads an effect as far as it is told; ok is false where it isn't.
func (t tellings) of(effect json.RawMessage) (e found, ok bool, err error) {
	var is struct {
		Op string `json:"op"`
	}
	if err := json.Unmarshal(effect, &is); err != nil {
		return e, false, err
	}
	e.effect = effect
	if e.told, ok = t.ops[is.Op]; !ok || e.told.In == "" {
		return e, ok, nil
	}
	var members map[string]json.RawMessage
	if err := json.Unmarshal(effect, &members); err != nil {
		return e, false, err
	}
	for name, into := range map[string]any{e.told.In: &e.room, e.told.Entry: &e.entry} {
		if raw, has := members[name]; has {
			err = errors.Join(err, json.Unmarshal(raw, into))
		}
	}
	return e, e.room != "", err
}

// fetch reads the entries, one page a room: a room's entries follow each
// other in the ledger as they do in the room.
func (s *tenantSource) fetch(ctx context.Context, events []found) (map[ubl.RoomID]*ubl.HistoryPage, error) {
	type span struct{ first, last int64 }
	spans := make(map[ubl.RoomID]span)
	for _, e := range events {
		if e.entry == 0 {
			continue
		}
		at, ok := spans[e.room]
		if !ok {
			at.first = e.entry
		}
		at.last = e.entry
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
func (s *tenantSource) render(out *replay, e found, id int64, rooms map[ubl.RoomID]*ubl.HistoryPage) error {
	tenant := s.who.TenantID
	if e.entry == 0 {
		ev := &ubl.Event{Kind: e.told.Op, TenantID: tenant, RoomID: e.room, TS: e.at, Payload: e.effect}
		if e.told.Payload != nil {
			room, ok := s.summary(e.room)
			if !ok {
				return nil
			}
			ev.Kind, ev.Payload = e.told.Kinds[0], e.told.Payload(room)
		}
		out.add(ledgerID, id, ev)
		return nil
	}
	page, ok := rooms[e.room]
	if !ok {
		return nil
	}
	if i := e.entry - page.FirstSeq; i >= 0 && i < int64(len(page.Messages)) {
		ev, err := entryEvent(tenant, e.room, page, int(i))
		if err == nil {
			out.add(ledgerID, id, ev)
		}
		return err
	}
	from := page.KeptFrom()
	if e.entry >= from {
		return ubl.Errorf(ubl.CodeUnavailable, "a room is behind its ledger")
	}
	if s.gaps[e.room] < from {
		s.gaps[e.room] = from
		out.add(ledgerID, id, gapEvent(tenant, e.room, s.now(), e.entry, from))
	}
	return nil
}

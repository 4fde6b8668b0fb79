package sse

import (
	"context"
	"net/http"
	"sync"
	"time"

	"ubl"
	"ubl/transport/envelope"
)

// Tenant serves GET /api/events: what happens in all rooms of the caller, in
// the order of the tenant's ledger. Last-Event-ID, else the parameter cursor,
// goes on after an id that this stream gave out; without either only what is
// new is sent. A resumed stream repeats message.created and room.created; which rooms
// were lost meanwhile the list of rooms tells.
func (h *Hub) Tenant(w http.ResponseWriter, r *http.Request) {
	caller, err := callerOf(r, envelope.ToolStream)
	if err != nil {
		envelope.WriteError(w, r, err)
		return
	}
	from, err := cursorOf(r, "cursor", ledgerID)
	if err != nil {
		envelope.WriteError(w, r, err)
		return
	}
	h.serve(w, r, caller, from, &tenantSource{
		asker: h.asker, now: h.now, who: caller.Identity, told: h.told, gaps: make(map[ubl.RoomID]int64),
	})
}

// tenantSource is a member's view of their rooms, and of what everyone in the tenant
// hears of.
type tenantSource struct {
	asker  ubl.Asker
	now    func() time.Time
	who    ubl.Identity
	told   tellings
	gaps   map[ubl.RoomID]int64 // what room.gap has told of a room as kept
	newest int64                // the last id that idle sent

	mu      sync.Mutex
	rooms   map[ubl.RoomID]ubl.RoomSummary // of which the caller is a member now
	changes int                            // counts learn
	own     replay                         // room.left of what the caller has lost, and room.read, still to be sent
}

func (s *tenantSource) topic() topic {
	return ledgerTopic{asker: s.asker, ledger: ubl.LedgerName(s.who.TenantID), told: s.told}
}

// start begins at the head, or after from. A cursor beyond the head, of a
// server restored since, begins at the head too, and the client gets an id
// that is right again.
func (s *tenantSource) start(ctx context.Context, from *int64) (begin, error) {
	if err := s.list(ctx); err != nil {
		return begin{}, err
	}
	head, err := s.topic().head(ctx)
	switch {
	case err != nil:
		return begin{}, err
	case from == nil, *from > head:
		s.newest = head
		return begin{pos: head, first: idFrame(ledgerID, head)}, nil
	}
	s.newest = *from
	return begin{pos: *from, behind: *from < head}, nil
}

func (s *tenantSource) check(ctx context.Context, _ ubl.Role) error { return s.list(ctx) }

// list reads the caller's rooms anew. An answer that a change overtook may be
// older than it, and is asked for again.
func (s *tenantSource) list(ctx context.Context) error {
	for range 5 {
		s.mu.Lock()
		before := s.changes
		s.mu.Unlock()
		list, err := ubl.Ask[[]ubl.RoomEntry](ctx, s.asker, ubl.TenantName(s.who.TenantID), ubl.ListRooms{Who: s.who, Hidden: true})
		if err != nil {
			return err
		}
		rooms := make(map[ubl.RoomID]ubl.RoomSummary, len(list))
		for _, e := range list {
			if e.Member {
				rooms[e.RoomID] = e.RoomSummary
			}
		}
		if s.replace(rooms, before) {
			return nil
		}
	}
	return ubl.Errorf(ubl.CodeUnavailable, "the caller's rooms change faster than they can be listed")
}

func (s *tenantSource) replace(rooms map[ubl.RoomID]ubl.RoomSummary, before int) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.changes != before {
		return false
	}
	for room := range s.rooms {
		if _, still := rooms[room]; !still {
			s.lose(room, ubl.TimeOf(s.now())) // its publication was missed
		}
	}
	s.rooms = rooms
	return true
}

func (s *tenantSource) passing() bool { return false }

// learn keeps the rooms up to date. Who leaves the tenant, which is no room,
// leaves the stream. An agent hears nothing of a room that its mandate leaves out.
func (s *tenantSource) learn(ev *ubl.Event) bool {
	if ev.RoomID != "" && !s.who.Mandate.Includes(string(ev.RoomID)) {
		return true
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.told.own(ev.Kind) {
		s.own.add(ledgerID, noID, ev)
		return true
	}
	s.changes++
	switch {
	case ev.Kind != ubl.EventMemberLeft && s.rooms != nil:
		if _, known := s.rooms[ev.RoomID]; !known {
			s.rooms[ev.RoomID] = ubl.RoomSummary{RoomID: ev.RoomID}
		}
	case ev.Kind == ubl.EventMemberLeft:
		s.lose(ev.RoomID, ev.TS)
		return ev.RoomID != ""
	}
	return true
}

// lose takes a room from the caller, who is to be told where they have known of it. The
// caller of lose has the lock.
func (s *tenantSource) lose(room ubl.RoomID, at ubl.Time) {
	if _, known := s.rooms[room]; !known {
		return
	}
	delete(s.rooms, room)
	s.own.add(ledgerID, noID, &ubl.Event{
		Kind: ubl.EventRoomLeft, TenantID: s.who.TenantID, RoomID: room, TS: at, Payload: ubl.RoomLeftPayload(s.who.UserID),
	})
}

// aside takes what is to be told of lost rooms, and of what the caller has read or set elsewhere.
func (s *tenantSource) aside() replay {
	s.mu.Lock()
	defer s.mu.Unlock()
	out := s.own
	s.own = replay{}
	return out
}

// sees is true of what happens in no room: everyone in the tenant hears of that, but for
// agents that are there for some places alone.
func (s *tenantSource) sees(room ubl.RoomID) bool {
	if room == "" {
		return !s.who.Mandate.Placed()
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	_, ok := s.rooms[room]
	return ok
}

// idle moves the client's last id along with the ledger, so that one who
// returns to quiet rooms needn't page through everybody else's acts.
func (s *tenantSource) idle(pos int64) []byte {
	if pos <= s.newest {
		return []byte(keepaliveFrame)
	}
	s.newest = pos
	return append(idFrame(ledgerID, pos), keepaliveFrame...)
}

// summary is the entry of a room in the caller's list.
func (s *tenantSource) summary(room ubl.RoomID) (ubl.RoomSummary, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	r, ok := s.rooms[room]
	return r, ok
}

package sse

import (
	"context"
	"net/http"
	"net/url"
	"time"

	"github.com/go-chi/chi/v5"

	"ubl"
	"ubl/transport/envelope"
)

const (
	firstPage = 50
	maxPage   = 200
	// pageBytes is what a page of history should hold at most, about: a
	// listener keeps one while it writes it.
	pageBytes = 256 << 10
)

// Room serves GET /api/events/rooms/{roomId}. Last-Event-ID, else from_seq,
// says after which room_seq to begin; 0 replays everything that is kept, and
// without either only what is new is sent. only=typing leaves out all but who is writing.
func (h *Hub) Room(w http.ResponseWriter, r *http.Request) {
	caller, err := callerOf(r, envelope.ToolStream)
	if err != nil {
		envelope.WriteError(w, r, err)
		return
	}
	room, err := roomOf(r)
	if err != nil {
		envelope.WriteError(w, r, err)
		return
	}
	typing := r.URL.RawQuery == onlyTyping
	var from *int64
	if !typing {
		if from, err = cursorOf(r, "from_seq", ""); err != nil {
			envelope.WriteError(w, r, err)
			return
		}
	}
	h.serve(w, r, caller, from, &roomSource{
		asker: h.asker, now: h.now, who: caller.Identity, told: h.told, room: room, limit: firstPage, typing: typing,
	})
}

// onlyTyping is the query of who has the room's messages from elsewhere, as from the stream of
// all rooms. Such a stream has no place in the room, so it can't be resumed.
const onlyTyping = "only=typing"

// roomOf reads the room's id from the path, where ":" may come as "%3A", or r: be missing. The
// router gives the raw path only where it differs from the decoded one.
func roomOf(r *http.Request) (ubl.RoomID, error) {
	id := chi.URLParam(r, "roomId")
	var err error
	if r.URL.RawPath != "" {
		id, err = url.PathUnescape(id)
	}
	if room := ubl.RoomID(envelope.Prefixed("r:", id)); err == nil && room.Valid() {
		return room, nil
	}
	return "", ubl.Errorf(ubl.CodeValidation, "the room id is not of the form r:name")
}

// roomSource is a member's view of one room.
type roomSource struct {
	asker ubl.Asker
	now   func() time.Time
	who   ubl.Identity
	told  tellings
	room  ubl.RoomID
	limit int // of the next page
	// typing leaves out all but who is writing.
	typing bool
}

func (s *roomSource) name() ubl.Name { return ubl.RoomName(s.who.TenantID, s.room) }

func (s *roomSource) topic() topic { return roomTopic{asker: s.asker, told: s.told, room: s.name()} }

// start begins at the head, or after from. A cursor beyond the head comes from
// a server whose newest messages were lost in a restore: refusing it would
// leave an EventSource dead, so the client is told where the room is now.
func (s *roomSource) start(ctx context.Context, from *int64) (begin, error) {
	room, err := ubl.Ask[*ubl.Room](ctx, s.asker, s.name(), ubl.GetRoom{Who: s.who})
	switch {
	case err != nil:
		return begin{}, err
	case s.typing:
		return begin{pos: room.LastSeq}, nil
	case from == nil:
		return begin{pos: room.LastSeq, first: idFrame("", room.LastSeq)}, nil
	case *from > room.LastSeq:
		gap := s.gap(*from+1, room.LastSeq+1)
		return begin{pos: room.LastSeq, first: appendFrame(nil, "", room.LastSeq, gap)}, nil
	}
	return begin{pos: *from, behind: *from < room.LastSeq}, nil
}

func (s *roomSource) check(ctx context.Context, _ ubl.Role) error {
	_, err := ubl.Ask[*ubl.Room](ctx, s.asker, s.name(), ubl.GetRoom{Who: s.who})
	return err
}

func (s *roomSource) learn(ev *ubl.Event) bool { return ev.Kind != ubl.EventMemberLeft }

func (s *roomSource) sees(ubl.RoomID) bool { return true }

func (s *roomSource) passing() bool { return s.typing }

func (s *roomSource) aside() replay { return replay{} }

func (s *roomSource) idle(int64) []byte { return []byte(keepaliveFrame) }

func (s *roomSource) replay(ctx context.Context, pos int64) (replay, error) {
	page, err := ubl.Ask[*ubl.HistoryPage](ctx, s.asker, s.name(),
		ubl.ReadHistory{Who: s.who, After: &pos, Limit: s.limit})
	if err != nil {
		return replay{}, err
	}
	out := replay{pos: pos}
	if gone := page.KeptFrom(); gone > pos+1 {
		out.add("", gone-1, s.gap(pos+1, gone))
		out.pos = gone - 1
	}
	size := 0
	for i := range page.Messages {
		ev, err := entryEvent(s.who.TenantID, s.room, page, i)
		if err != nil {
			return replay{}, err
		}
		out.add("", ev.RoomSeq, ev)
		out.pos = ev.RoomSeq
		size += len(ev.Payload)
	}
	s.adapt(size)
	return out, nil
}

func (s *roomSource) adapt(size int) {
	if size > pageBytes {
		s.limit = max(1, s.limit/2)
	} else if size < pageBytes/2 {
		s.limit = min(maxPage, s.limit*2)
	}
}

func (s *roomSource) gap(from, available int64) *ubl.Event {
	return gapEvent(s.who.TenantID, s.room, s.now(), from, available)
}

func gapEvent(t ubl.TenantID, r ubl.RoomID, now time.Time, from, available int64) *ubl.Event {
	return &ubl.Event{
		Kind: ubl.EventGap, TenantID: t, RoomID: r, TS: ubl.TimeOf(now), Payload: ubl.GapPayload(from, available),
	}
}

package sse

import (
	"cmp"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"ubl"
)

// maxMoments is of how many people a follow knows what they do just now.
const maxMoments = 64

// moments are what the people of a room do just now, the newest of each, and who is in its call,
// which is nobody's in particular: of what passes nobody wants to hear the history. They stand beside the ring, so they push nothing out of
// it, have no id and are never replayed.
type moments struct {
	newest atomic.Int64 // number of the newest, so that who has heard all takes no lock

	mu sync.Mutex
	of map[ubl.UserID]moment
}

// holding is for how long what passes holds, by its kind.
var holding = map[string]time.Duration{ubl.EventRoomTyping: ubl.TypingFor, ubl.EventRoomCall: ubl.CallLease}

type moment struct {
	n     int64
	ends  time.Time // by this node's clock
	frame []byte
}

// take keeps what is told, of each person the newest, for as long as it holds.
func (m *moments) take(events []ubl.Event, now time.Time) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.of == nil {
		m.of = map[ubl.UserID]moment{}
	}
	m.forget(now)
	for i := range events {
		ev := &events[i]
		_, known := m.of[ev.UserID]
		holds := holding[ev.Kind]
		if holds == 0 || !known && ev.UserID != "" && len(m.of) >= maxMoments {
			continue
		}
		n := m.newest.Load() + 1
		m.of[ev.UserID] = moment{n, now.Add(holds), appendFrame(nil, "", noID, ev)}
		m.newest.Store(n)
	}
}

// forget drops what no longer holds.
func (m *moments) forget(now time.Time) {
	for user, is := range m.of {
		if !now.Before(is.ends) {
			delete(m.of, user)
		}
	}
}

// after are the frames of what still holds and was told after number n, in that order, and the
// number to go on from.
func (m *moments) after(n int64, now time.Time) (frames [][]byte, newest int64) {
	if m.newest.Load() == n {
		return nil, n
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.forget(now)
	var list []moment
	for _, is := range m.of {
		if is.n > n {
			list = append(list, is)
		}
	}
	slices.SortFunc(list, func(a, b moment) int { return cmp.Compare(a.n, b.n) })
	for _, is := range list {
		frames = append(frames, is.frame)
	}
	return frames, m.newest.Load()
}

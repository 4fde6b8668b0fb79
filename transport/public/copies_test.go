package public

import (
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"ubl"
	"ubl/panics"
)

const rulesPath = handbook + "/documents/" + rules

// TestCopies: what was read is there for all who come after, and its container is asked once a
// second whether that is still right.
func TestCopies(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		house := newHouse()
		h := serve(t, house)
		for range 100 {
			get(h, rulesPath)
			get(h, handbook)
		}
		house.wasAsked(t, "within a second")
		time.Sleep(lease)
		for range 100 {
			get(h, rulesPath)
			get(h, handbook)
		}
		house.wasAsked(t, "after it", "LookPublic")
		get(h, rulesPath+"?version=1")
		house.wasAsked(t, "another version", "ReadPublic")
		ended := h.Ended()
		if ended["cached"] != 401 || ended["checked"] != 1 || ended["fetched"] != 5 || h.Bytes() == 0 {
			t.Errorf("counted %v, %d bytes", ended, h.Bytes())
		}
	})
}

// TestChangeIsSeenAtOnce where it is told, and when the lease ends where it isn't.
func TestChangeIsSeenAtOnce(t *testing.T) {
	for _, told := range []bool{true, false} {
		synctest.Test(t, func(t *testing.T) {
			house := newHouse()
			h := serve(t, house)
			tag := get(h, rulesPath).Header().Get("Etag")
			house.change("t:acme|k:handbook", told, func(s *shown) { s.docs[rules] = append(s.docs[rules], "Be kindest.") })
			if !told {
				if w := get(h, rulesPath); w.Header().Get("Etag") != tag {
					t.Errorf("what nobody was told of shows")
				}
				time.Sleep(lease)
			}
			w := get(h, rulesPath, "If-None-Match", tag)
			if w.Code != http.StatusOK || !strings.Contains(w.Body.String(), "kindest") {
				t.Errorf("told %t: answered %d %s", told, w.Code, w.Body)
			}
			house.wasAsked(t, "after a change", "LookPublic", "ReadPublic")
		})
	}
}

// TestNoLongerPublic: what is shown to nobody any more is gone with the next read, and comes
// back with the one after it is shown again.
func TestNoLongerPublic(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		house := newHouse()
		h := serve(t, house)
		const at = "t:acme|k:handbook"
		was := house.shown[at]
		for range 3 {
			house.change(at, true, func(*shown) { delete(house.shown, at) })
			for _, path := range []string{handbook, rulesPath, handbook + "/documents"} {
				if w := get(h, path); w.Code != http.StatusNotFound {
					t.Errorf("%s is answered %d after its end", path, w.Code)
				}
			}
			house.asked = nil
			for range 10 {
				get(h, rulesPath)
			}
			house.wasAsked(t, "what is gone")
			house.mu.Lock()
			house.shown[at] = was
			house.mu.Unlock()
			house.change(at, true, func(*shown) {})
			if w := get(h, rulesPath); w.Code != http.StatusOK {
				t.Errorf("shown again it is answered %d", w.Code)
			}
		}
	})
}

// TestChangeWhileAsked: an answer that was on its way when something changed counts for who
// asked before alone.
func TestChangeWhileAsked(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		house := newHouse()
		h := serve(t, house)
		time.Sleep(lease)
		house.held = make(chan struct{})
		var early string
		go func() { early = get(h, rulesPath+"?version=1").Body.String() }()
		synctest.Wait() // the container has said what it is
		house.change("t:acme|k:handbook", true, func(s *shown) { s.docs[rules][0] = "Be brief." })
		held := house.held
		house.held = nil
		if late := get(h, rulesPath+"?version=1").Body.String(); !strings.Contains(late, "brief") {
			t.Errorf("who came after the change gets %s", late)
		}
		close(held)
		synctest.Wait()
		if !strings.Contains(early, "kind") {
			t.Errorf("who came before it gets %s", early)
		}
		if again := get(h, rulesPath+"?version=1").Body.String(); !strings.Contains(again, "brief") {
			t.Errorf("and then others get %s", again)
		}
	})
}

// TestMissedPublication: where the way to the ledger was made anew, nothing
// counts that was known. Commits of others change nothing.
func TestMissedPublication(t *testing.T) {
	const of = ubl.Name("t:acme|k:handbook")
	for name, test := range map[string]struct {
		happens func(*house)
		asks    []string
	}{
		"another container": {func(h *house) {
			h.commit(of, ubl.Event{Kind: ubl.EventContainerChanged, Payload: ubl.ContainerPayload("k:other")})
		}, nil},
		"a message":      {func(h *house) { h.commit(of, ubl.Event{Kind: ubl.EventMessageCreated, RoomID: "r:general"}) }, nil},
		"another tenant": {func(h *house) { h.commit("t:other|k:handbook") }, nil},
		"all of the tenant": {func(h *house) {
			h.commit(of, ubl.Event{Kind: ubl.EventContainerChanged, Payload: ubl.ContainerPayload("")})
		}, []string{"LookPublic"}},
		"the way made anew": {func(h *house) {
			for _, sink := range h.sinks[of.Group().Ledger()] {
				sink(ubl.Publication{})
			}
		}, []string{"LookPublic"}},
	} {
		synctest.Test(t, func(t *testing.T) {
			house := newHouse()
			h := serve(t, house)
			test.happens(house)
			get(h, rulesPath)
			house.wasAsked(t, name, test.asks...)
		})
	}
}

// TestManyAtOnce: who wants the same at the same time asks once.
func TestManyAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		house := newHouse()
		h := serve(t, house)
		house.held = make(chan struct{})
		var all sync.WaitGroup
		for range 50 {
			all.Go(func() {
				if w := get(h, rulesPath+"?version=1"); w.Code != http.StatusOK {
					t.Errorf("answered %d", w.Code)
				}
			})
		}
		synctest.Wait()
		close(house.held)
		all.Wait()
		house.wasAsked(t, "fifty at once", "ReadPublic")
	})
}

// TestSearchesLeaveRoom: however many of a tenant's searches wait, all else that is public is read meanwhile, and other
// tenants are searched.
func TestSearchesLeaveRoom(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		house := newHouse()
		house.shown["t:other|k:handbook"] = &shown{events: 1, docs: map[ubl.DocumentID][]string{rules: {"Be kind."}}}
		h := serve(t, house)
		house.held = make(chan struct{})
		var all sync.WaitGroup
		for i := range 2 * maxAsking {
			path := handbook + "/search?q="
			if i%2 == 0 {
				path = handbook + "/api/v1/search?q="
			}
			all.Go(func() { get(h, fmt.Sprint(path, i)) })
		}
		synctest.Wait()
		held := house.held
		house.held = nil
		begun := time.Now()
		for _, path := range []string{rulesPath + "?version=1", "/public/t:other/k:handbook/search?q=kind", "/public/t:other/k:handbook/api/v1/search?q=kind"} {
			if w := get(h, path); w.Code != http.StatusOK || time.Since(begun) > 0 {
				t.Errorf("%s is answered %d after %v", path, w.Code, time.Since(begun))
			}
		}
		close(held)
		all.Wait()
	})
}

// TestNamesThatLeadNowhere take no room from copies, however many there are, and are asked for
// once a second.
func TestNamesThatLeadNowhere(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		house := newHouse()
		h := serve(t, house)
		before := h.Bytes()
		for i := range 2 * maxAbsent {
			h.look(t.Context(), place{tenant: "t:acme", container: ubl.ContainerID(fmt.Sprint("k:no", i))}, func() error { return nil })
		}
		if n := h.copies.absent.EstimatedSize(); n > maxAbsent || h.Bytes() != before || house.listeners() != 1 {
			t.Errorf("%d absences, %d bytes of copies where there were %d, %d listeners", n, h.Bytes(), before, house.listeners())
		}
		house.asked = nil
		for range 10 {
			get(h, "/public/t:acme/k:nothing")
		}
		house.wasAsked(t, "ten times in a second", "LookPublic")
		house.mu.Lock()
		house.shown["t:acme|k:nothing"] = &shown{}
		house.mu.Unlock()
		time.Sleep(lease)
		if w := get(h, "/public/t:acme/k:nothing"); w.Code != http.StatusOK {
			t.Errorf("what was made a second ago is answered %d", w.Code)
		}
	})
}

// TestPagesBehindNothing: a page behind a document that isn't there is answered, and not kept:
// there would be one for each id that somebody can think of.
func TestPagesBehindNothing(t *testing.T) {
	house := newHouse()
	h := serve(t, house)
	before := h.Bytes()
	for i := range 10 {
		if w := get(h, fmt.Sprintf("%s/documents?cursor=d:no%d", handbook, i)); w.Code != http.StatusOK {
			t.Errorf("answered %d", w.Code)
		}
	}
	if h.Bytes() != before {
		t.Errorf("%d bytes of copies where there were %d", h.Bytes(), before)
	}
}

// TestTooMuchToKeep: copies stay within their bytes.
func TestTooMuchToKeep(t *testing.T) {
	house := newHouse()
	long := strings.Repeat("x", 1<<20)
	for i := range 2 * maxBytes >> 20 {
		house.shown["t:acme|k:handbook"].docs[ubl.DocumentID(fmt.Sprint("d:", i))] = []string{long}
	}
	h := serve(t, house)
	for i := range 2 * maxBytes >> 20 {
		if w := get(h, fmt.Sprint(handbook, "/documents/d:", i)); w.Code != http.StatusOK {
			t.Fatalf("answered %d", w.Code)
		}
	}
	if h.Bytes() > maxBytes {
		t.Errorf("%d bytes of copies", h.Bytes())
	}
}

// TestShelvesAreBounded: the container that was asked about longest ago gives its place up.
func TestShelvesAreBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		house := newHouse()
		for i := range maxShelves + 10 {
			house.shown[ubl.Name(fmt.Sprintf("t:%d|k:x", i))] = &shown{events: 1}
		}
		h := New(Options{Asker: house, Feed: house})
		for i := range maxShelves + 10 {
			for range 2 {
				get(h, fmt.Sprintf("/public/t:%d/k:x", i))
			}
			time.Sleep(time.Millisecond)
		}
		if house.listeners() != maxShelves || h.shelves.count != maxShelves {
			t.Errorf("%d tenants are listened to, %d shelves", house.listeners(), h.shelves.count)
		}
		if h.shelves.of(place{tenant: "t:0", container: "k:x"}) != nil {
			t.Error("the oldest is still there")
		}
		if w := get(h, "/public/t:0/k:x"); w.Code != http.StatusOK {
			t.Errorf("it is answered %d", w.Code)
		}
		get(h, "/public/t:1/k:x")
		if h.shelves.of(place{tenant: "t:0", container: "k:x"}) == nil {
			t.Error("who comes drops who came just before")
		}
		h.Close()
		if house.listeners() != 0 {
			t.Errorf("%d are still listened to", house.listeners())
		}
	})
}

// TestContainerCannotBeAsked: then nobody knows whether it is still public.
func TestContainerCannotBeAsked(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		house := newHouse()
		h := serve(t, house)
		house.failed = ubl.Errorf(ubl.CodeUnavailable, "no leader").Later(2 * time.Second)
		if w := get(h, rulesPath); w.Code != http.StatusOK {
			t.Errorf("within its lease a copy is answered %d", w.Code)
		}
		time.Sleep(lease)
		for _, path := range []string{rulesPath, handbook + "/documents/d:other"} {
			w := get(h, path)
			if w.Code != http.StatusServiceUnavailable || w.Header().Get("Retry-After") != "2" || w.Header().Get("Cache-Control") != "no-store" {
				t.Errorf("%s: answered %d, %v", path, w.Code, w.Header())
			}
		}
		house.failed, house.held = nil, make(chan struct{}) // and now it says nothing at all
		if w := get(h, rulesPath); w.Code < 500 {
			t.Errorf("a silent container is answered for with %d", w.Code)
		}
	})
}

// TestPanicStaysWithItsQuestion: who waits for it is told, and the next one asks again.
func TestPanicStaysWithItsQuestion(t *testing.T) {
	house := newHouse()
	h := serve(t, house)
	h.Asker, h.Panics = nil, panics.New(nil)
	if w := get(h, rulesPath+"?version=1"); w.Code != http.StatusInternalServerError || h.Panics.Caught() != 1 {
		t.Errorf("answered %d, %d panics", w.Code, h.Panics.Caught())
	}
	h.Asker = house
	if w := get(h, rulesPath+"?version=1"); w.Code != http.StatusOK {
		t.Errorf("then answered %d", w.Code)
	}
}

package portal_test

import (
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"ubl"
	"ubl/portal"
)

// TestDownWhenAdded: a server that comes up a moment after it was added is used a
// moment later, and until then it is said when.
func TestDownWhenAdded(t *testing.T) { inBubble(t, downWhenAdded) }

func downWhenAdded(t *testing.T, w *world) {
	var up atomic.Bool
	address := w.network.Start(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if up.Load() {
			misbehave(nil)(w, r)
			return
		}
		http.Error(w, "down", http.StatusBadGateway)
	}))
	began := ubl.TimeOf(w.house.Clock.Now())
	w.add(ubl.Server{ServerID: "ev", URL: address}, "")
	s := w.await("ev", func(s *ubl.Server) bool { return !s.Connecting })
	if s.Status != ubl.ServerDown || s.Problem == "" || s.DownSince == nil || s.NextTry == nil {
		t.Fatalf("the server is %+v", s)
	}
	if wait := s.NextTry.Std().Sub(began.Std()); wait < 2*time.Second || wait > 10*time.Second {
		t.Errorf("it is tried again after %v", wait)
	}
	up.Store(true)
	w.pass(time.Second)
	if got := w.await("ev", func(s *ubl.Server) bool { return !s.Connecting }); got.Status != ubl.ServerDown {
		t.Error("it was tried before its time")
	}
	w.pass(3 * time.Second)
	got := w.await("ev", func(s *ubl.Server) bool { return s.Status == ubl.ServerUp })
	if got.DownSince != nil || got.NextTry != nil || got.Tools != 1 {
		t.Errorf("the server that is up again is %+v", got)
	}
}

// TestDownForLong: a server that stays down is tried with longer and longer waits, all
// of which leave one act a day; a node that leads meanwhile goes on with that.
func TestDownForLong(t *testing.T) { inBubble(t, downForLong) }

func downForLong(t *testing.T, w *world) {
	var asked atomic.Int32
	w.add(ubl.Server{ServerID: "ev", URL: w.network.Start(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked.Add(1)
		http.Error(w, "down", http.StatusBadGateway)
	}))}, "")
	first := w.await("ev", func(s *ubl.Server) bool { return !s.Connecting })
	tried := func(after time.Duration) {
		t.Helper()
		before := asked.Load()
		if w.pass(after); asked.Load() == before {
			t.Errorf("it isn't tried again after %v", after)
		}
	}
	for _, step := range []time.Duration{4 * time.Second, 8 * time.Second, 16 * time.Second, time.Hour, 2 * time.Hour} {
		tried(step)
	}
	last := w.await("ev", func(s *ubl.Server) bool { return true })
	if *last.SyncedAt != *first.SyncedAt || *last.DownSince != *first.DownSince {
		t.Errorf("the same failure again is another act: %v, then %v", first.SyncedAt, last.SyncedAt)
	}
	other := w.node(allowHTTP)
	portal.DialWith(other, w.network.Dial)
	w.leads(other)
	w.house.Restart()
	tried(10 * time.Minute)
	tried(24 * time.Hour)
	again := w.await("ev", func(s *ubl.Server) bool { return *s.SyncedAt != *first.SyncedAt })
	if *again.DownSince != *first.DownSince {
		t.Error("it was down since then")
	}
}

// TestTimetable: waits double from two seconds to five minutes, an hour after a day;
// servers that go down together are tried apart.
func TestTimetable(t *testing.T) {
	const since = ubl.Time(1_700_000_000_000)
	waits := func(server string) (out []time.Duration) {
		for at := since; len(out) < 400; {
			next := ubl.NextTry("t:example.com", server, since, at)
			out = append(out, next.Std().Sub(at.Std()))
			at = next
		}
		return out
	}
	a, b := waits("a"), waits("b")
	for n, wait := range a {
		want := min(2*time.Second<<min(n, 20), 5*time.Minute)
		if n > 390 {
			want = time.Hour / 2 // between two tries that are late by different times
		}
		if wait < want || wait > 2*time.Hour || n < 200 && wait > want*3/2 {
			t.Errorf("wait %d is %v, want %v or up to half more", n, wait, want)
		}
	}
	if strings.Compare(a[3].String(), b[3].String()) == 0 && a[4] == b[4] {
		t.Error("two servers have the same timetable")
	}
	if got := ubl.NextTry("t:example.com", "a", since, since.Add(10*365*24*time.Hour)); got.Std().Sub(since.Add(10*365*24*time.Hour).Std()) > 2*time.Hour {
		t.Errorf("after ten years it is tried at %v", got)
	}
}

package upgrade

import (
	"net/http"
	"net/http/httptest"
	"slices"
	"sync"
	"testing"
	"time"

	"ubl"
	"ubl/actors"
	"ubl/test/counter"
	"ubl/test/harness"
)

// TestWhatWaitsFromBefore: when a version stopped that kept no wait of outbounds, a counter
// had an alarm, another one's web hook had failed twice, and a third one's for good. The alarm
// is fired once, and the hooks are called with the keys that they were called with before.
func TestWhatWaitsFromBefore(t *testing.T) {
	const late, dead = "c:ce7906717e6f686db5079a6a0e4eac6bd01535309bff057920312444112a4ee8",
		"c:2f57d80e6d5241403ae578be9742692bdc13798c8d7612e6209ba42ad80d58bd"
	var mu sync.Mutex
	var keys []string
	called := func(want ...string) {
		t.Helper()
		mu.Lock()
		defer mu.Unlock()
		if !slices.Equal(keys, want) {
			t.Errorf("the hook was called with %q, want %q", keys, want)
		}
	}
	hook := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		mu.Lock()
		defer mu.Unlock()
		keys = append(keys, r.Header.Get("Idempotency-Key"))
	}))
	defer hook.Close()
	t.Setenv("UBL_COUNTER_HOOK", hook.URL)
	store := new(wrapped)
	h := harness.Open(t, harness.Options{
		Dir: harness.Restore(t, "testdata/waiting/data.tar.gz"), From: time.Date(2026, 1, 13, 18, 34, 58, 0, time.UTC),
		Wrap: store.wrap, Families: []actors.Family{counter.Family(store)},
	})
	ana := harness.User("ana@waiting.example")
	at := func(id counter.ID) ubl.Name { return ubl.Name(string(ana.TenantID) + "|" + string(id)) }
	stand := func(id counter.ID, want int64) {
		t.Helper()
		if got := harness.Must[counter.Counter](h, at(id), counter.Get{Who: ana}); got.Value != want {
			t.Errorf("%s stands at %d, want %d", id, got.Value, want)
		}
	}
	letters := func() []ubl.DeadLetter {
		return harness.Must[[]ubl.DeadLetter](h, ubl.LedgerName(ana.TenantID), ubl.ListDeadLetters{})
	}
	h.Alarms()
	called()
	h.Clock.Add(4 * time.Second) // the pause behind two attempts
	h.Alarms()
	called(late)
	left := letters()
	if len(left) != 1 || left[0].Kind != ubl.DeadOutbound || left[0].Attempts != 20 || left[0].Code != ubl.CodeUnavailable {
		t.Fatalf("the dead letters are %+v", left)
	}
	_, err := h.Ask(t.Context(), at("n:dead"), ubl.Redrive{Request: h.Request(ana), Owner: true, Letter: left[0].Key})
	if err != nil {
		t.Fatal(err)
	}
	h.Alarms()
	called(late, dead)
	stand("n:visits", 2)
	h.Clock.Add(time.Hour)
	h.Alarms()
	for range 2 { // nothing is left to do
		stand("n:visits", 0)
		stand("n:calls", 1)
		stand("n:dead", 3)
		called(late, dead)
		if left := letters(); len(left) > 0 {
			t.Errorf("the dead letters are %+v", left)
		}
		h.VerifyLedger(ana.TenantID)
		h.Restart()
		h.Clock.Add(72 * time.Hour)
		h.Alarms()
	}
}

// wrapped reads from the store that a house has at the time.
type wrapped struct{ ubl.Store }

func (w *wrapped) wrap(s ubl.Store) ubl.Store {
	w.Store = s
	return s
}

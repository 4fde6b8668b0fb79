//go:build powerloss

package powerloss

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"
	"time"

	"ubl"
	"ubl/actors"
	"ubl/test/counter"
	"ubl/test/harness"
)

// addition is one to a counter, and what was answered.
type addition struct {
	counter.Add
	at    ubl.Name
	acked *counter.Counter
}

// hook is a web hook that knows a repetition by its key.
type hook struct {
	*httptest.Server
	mu    sync.Mutex
	heard map[string]string // by key
}

// newHook is that of counters which are opened from now on. It has heard some already.
func newHook(t *testing.T, heard map[string]string) *hook {
	h := &hook{heard: maps.Clone(heard)}
	h.Server = httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		h.mu.Lock()
		defer h.mu.Unlock()
		h.heard[r.Header.Get("Idempotency-Key")] = string(body)
	}))
	t.Cleanup(h.Close)
	t.Setenv("UBL_COUNTER_HOOK", h.URL)
	return h
}

func (h *hook) keys() map[string]string {
	h.mu.Lock()
	defer h.mu.Unlock()
	return maps.Clone(h.heard)
}

// openCounters is a house with the trial family.
func openCounters(t *testing.T, opts harness.Options) *harness.House {
	read := &struct{ ubl.Reader }{}
	opts.Wrap = func(s ubl.Store) ubl.Store { read.Reader = s; return s }
	opts.Families = []actors.Family{counter.Family(read)}
	return harness.Open(t, opts)
}

// countersCut is a power cut: what the disk held, when, and what had come of it.
type countersCut struct {
	dir   string
	when  time.Time
	acked map[int]counter.Counter
	heard map[string]string
}

// TestCountersOverPowerLoss: counters are added to, go back to nothing by alarms and call a web
// hook while the power goes at random syncs. A house over what a cut left has what was
// acknowledged, and an intent for each call that was made. In the end each addition is there
// once, each alarm has had its effect once, and each intent was called with its key.
func TestCountersOverPowerLoss(t *testing.T) {
	r := newRig(t, 9)
	r.quiet = true
	heard := newHook(t, map[string]string{})
	h := openCounters(t, harness.Options{Dir: r.dir, Storage: r.options()})
	ana := harness.User("ana@example.com")
	h.Enter(ana)
	var mu sync.Mutex // of what was acknowledged
	var all []*addition
	for i := range 72 {
		a := &addition{at: ubl.Name(string(ana.TenantID) + "|n:sum"), Add: counter.Add{Request: h.Request(ana), By: int64(i + 1), Call: i%2 == 0}}
		if i%4 == 1 {
			a.at, a.After = ubl.Name(fmt.Sprint(ana.TenantID, "|n:back-", i)), time.Second
		}
		all = append(all, a)
	}
	var cuts []countersCut
	r.mu.Lock()
	r.fail = func(n int, _ string) error { // the commit of this sync is not settled yet
		if n%7 == 0 && len(cuts) < 12 || r.random.IntN(6) == 0 && len(cuts) < 8 {
			c := countersCut{when: h.Clock.Now(), acked: make(map[int]counter.Counter), heard: heard.keys()}
			mu.Lock()
			for i, a := range all {
				if a.acked != nil {
					c.acked[i] = *a.acked
				}
			}
			mu.Unlock()
			var err error
			if c.dir, err = r.layOut(r.someOf(r.current())); err != nil {
				t.Error(err)
			}
			cuts = append(cuts, c)
		}
		return nil
	}
	r.mu.Unlock()
	for round := range 3 {
		var writers sync.WaitGroup
		for w := range 8 {
			writers.Go(func() {
				for i := 24*round + w; i < 24*(round+1); i += 8 {
					answer, err := ubl.Ask[counter.Counter](context.Background(), h, all[i].at, all[i].Add)
					if err != nil {
						t.Error(err)
						return
					}
					mu.Lock()
					all[i].acked = &answer
					mu.Unlock()
				}
			})
		}
		writers.Wait()
		h.Clock.Add(2 * time.Second)
		h.Alarms()
	}
	h.Close()
	if len(cuts) < 5 {
		t.Fatalf("only %d power cuts", len(cuts))
	}
	for i, c := range cuts {
		t.Run(fmt.Sprint("cut ", i), func(t *testing.T) { c.check(t, ana, all) })
	}
}

// check opens a house over what a cut left, adds again what is not known to have been, and lets
// time pass.
func (c *countersCut) check(t *testing.T, ana ubl.Identity, all []*addition) {
	heard := newHook(t, c.heard)
	h := openCounters(t, harness.Options{Dir: c.dir, From: c.when})
	h.Enter(ana)
	for key, body := range c.heard {
		if _, there := counterActs(t, h, ana)["counter.call "+key]; !there {
			t.Errorf("the hook was called with %s, and the disk has no intent", body)
		}
	}
	sum := int64(0)
	for i, a := range all {
		answer := harness.Must[counter.Counter](h, a.at, a.Add)
		if was, ok := c.acked[i]; ok && was != answer {
			t.Errorf("an addition was acknowledged as %+v, its retry is answered %+v", was, answer)
		}
		if a.After == 0 {
			sum += a.By
		}
	}
	for range 3 { // leases of attempts before the cut
		h.Clock.Add(30 * time.Second)
		h.Alarms()
	}
	acts := counterActs(t, h, ana)
	times := make(map[string]int)
	called := heard.keys()
	for act, closed := range acts {
		var did, cid string
		_, _ = fmt.Sscan(act, &did, &cid)
		times[did]++
		if !closed {
			t.Errorf("%s has no effect", act)
		}
		if did == "counter.call" && called[cid] == "" {
			t.Errorf("%s was never called", act)
		}
	}
	if want := len(all) / 4; times["counter.add"] != len(all) || times["counter.reset"] != want || times["counter.call"] != len(all)/2 || len(called) != len(all)/2 {
		t.Errorf("the ledger has %v, the hook was called under %d keys", times, len(called))
	}
	for _, a := range all {
		want := sum
		if a.After > 0 {
			want = 0
		}
		if got := harness.Must[counter.Counter](h, a.at, counter.Get{Who: ana}); got.Value != want {
			t.Errorf("%s has come to %d, want %d", a.at, got.Value, want)
		}
	}
	h.VerifyLedger(ana.TenantID)
}

// counterActs are those of counters in the ledger, each by its name and cid, and whether it has
// its effect.
func counterActs(t *testing.T, h *harness.House, who ubl.Identity) map[string]bool {
	t.Helper()
	acts, names := make(map[string]bool), make(map[string]string)
	for from := int64(1); ; {
		page := harness.Must[*ubl.AtomPage](h, ubl.LedgerName(who.TenantID), ubl.ReadAtoms{From: from, Limit: 500})
		for _, raw := range page.Atoms {
			var a struct {
				Did, CID string
				Ref      string `json:"ref_action_cid"`
			}
			if err := json.Unmarshal(raw, &a); err != nil {
				t.Fatal(err)
			}
			switch name := names[a.Ref]; {
			case name != "":
				if acts[name] {
					t.Errorf("%s has two effects", name)
				}
				acts[name] = true
			case len(a.Did) > 8 && a.Did[:8] == "counter.":
				names[a.CID] = a.Did + " " + a.CID
				acts[names[a.CID]] = false
			}
		}
		if from += int64(len(page.Atoms)); len(page.Atoms) == 0 || from > page.Head.Seq {
			return acts
		}
	}
}

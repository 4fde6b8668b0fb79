package actors_test

import (
	"math"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"ubl"
	"ubl/actors"
	"ubl/test/harness"
)

// TestOneTimeForATurn: all that a turn decides happens at one time, though the clock goes on.
func TestOneTimeForATurn(t *testing.T) {
	begin, readings := time.Date(2026, 1, 7, 12, 0, 0, 0, time.UTC), atomic.Int64{}
	h, store, ana := openKind(t, counterKind(), func() time.Time {
		return begin.Add(time.Duration(readings.Add(1)) * time.Millisecond)
	})
	made := harness.Must[*counted](h, counterAt, add{Request: h.Request(ana), By: 2}) // opens it in the same turn
	founding := found{h.Request(ana), "t:example.com|counter:2"}
	founded := harness.Must[*counted](h, counterAt, founding)
	times := map[string][]ubl.Time{}
	for local, of := range map[string]string{"counter:1": "add", "counter:2": "found"} {
		at := actors.Events[counterEvent]{Read: store, Group: counterAt.Group(), Key: func(n int64) []byte { return counterKey(local, n) }, Newest: 1}
		err := at.Each(t.Context(), 1, math.MaxInt64, func(e counterEvent) error {
			if local == "counter:1" && e.N > 2 {
				of = "found"
			}
			times[of] = append(times[of], e.At)
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	for of, receipt := range map[string]ubl.Receipt{"add": made.Receipt, "found": founded.Receipt} {
		for _, at := range times[of] {
			if at != receipt.Time || len(times[of]) < 2 {
				t.Errorf("%s: its events are of %v, its receipt of %v", of, times[of], receipt.Time)
			}
		}
	}
	if made.Receipt.Time == founded.Receipt.Time {
		t.Error("two turns have one time")
	}
}

// TestKeysAreTheirOwn: one key is another one of another author, and with another act.
func TestKeysAreTheirOwn(t *testing.T) {
	h, _, ana := openCounter(t)
	bob := harness.User("bob@example.com")
	h.Enter(bob)
	hers := h.Request(ana)
	his := hers
	his.Who = bob
	want := int64(0)
	for range 2 {
		for i, cmd := range []add{{Request: hers, By: 8}, {Request: his, By: 8}, {Request: hers, By: -2}} {
			if got := harness.Must[*counted](h, counterAt, cmd).Total; got != []int64{8, 16, 14}[i] {
				t.Errorf("%s adds %d up to %d", cmd.Who.Email, cmd.By, got)
			}
		}
		if want = harness.Must[counterState](h, counterAt, get{}).Total; want != 14 {
			t.Errorf("the total is %d", want)
		}
		h.Reload()
	}
}

// TestKindFoundsUnderItsRecord: the act that founds another actor names the hash of the record that
// authorises it, which only the founder keeps.
func TestKindFoundsUnderItsRecord(t *testing.T) {
	const hash = "g:0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"
	kind := counterKind()
	kind.Record = func(*counterState, ubl.AgreementID) string { return hash }
	h, _, ana := openKind(t, kind, nil)
	receipt := harness.Must[*counted](h, counterAt, found{h.Request(ana), "t:example.com|counter:2"}).Receipt
	page := harness.Must[*ubl.AtomPage](h, ubl.LedgerName(ana.TenantID), ubl.ReadAtoms{From: receipt.Seq, Limit: 1})
	if atom := string(page.Atoms[0]); !strings.Contains(atom, `"agreement_hash":"`+hash+`"`) {
		t.Errorf("the founding is %s", atom)
	}
}

// TestAnswersWait: no answer goes out before the commit that its decision could have seen is durable,
// of a read neither, nor before every listener has been handed what the commit tells.
func TestAnswersWait(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h, store, ana := openCounter(t)
		defer h.Close()
		harness.Must[*counted](h, counterAt, add{Request: h.Request(ana), By: 2})
		var answered atomic.Int32
		told := 0
		var asking sync.WaitGroup
		defer h.Subscribe(ubl.LedgerName(ana.TenantID), func(ubl.Publication) {
			synctest.Wait() // all that can go on without this listener has gone on
			told++
			if n := answered.Load(); n > 0 {
				t.Errorf("%d answers went out before the listener had been told", n)
			}
		})()
		release := make(chan struct{})
		store.next(func(b *ubl.Batch, settled func(error)) {
			go func() {
				<-release
				store.Store.Submit(b, settled)
			}()
		})
		ask := func(cmd ubl.Command) {
			if _, err := h.Ask(t.Context(), counterAt, cmd); err != nil {
				t.Error(err)
			}
			answered.Add(1)
		}
		asking.Go(func() { ask(add{Request: h.Request(ana), By: 4}) })
		synctest.Wait()
		asking.Go(func() { ask(get{}) }) // sees what isn't durable
		synctest.Wait()
		if n := answered.Load(); n > 0 {
			t.Errorf("%d answers went out before the commit was durable", n)
		}
		close(release)
		asking.Wait()
		if answered.Load() != 2 || told != 1 {
			t.Errorf("%d answers, %d commits told of", answered.Load(), told)
		}
	})
}

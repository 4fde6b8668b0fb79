package actors_test

import (
	"testing"

	"ubl"
	"ubl/actors"
	"ubl/test/harness"
)

type (
	// found has a counter make another one in its own commit. Answers *counted.
	found struct {
		ubl.Request
		Name ubl.Name
	}
	// addThen has something follow what was added.
	addThen struct {
		add
		then func(int64) (any, error)
	}
	// knows asks whether what would be added was already. Answers bool.
	knows struct{ add }
)

func (found) Cost() int { return ubl.ActCost }

// decideFound has this counter count the other one's first event, and another event
// behind it.
func decideFound(_ *counterState, c found, at actors.Moment) (*actors.Plan[counterEvent], error) {
	first := &actors.Plan[counterEvent]{Event: counterEvent{Delta: 100, Total: 100}}
	return &actors.Plan[counterEvent]{
		Founding: counterKind().Found(c.Name, didOpen, c.Request, at.Now, first),
		Event:    counterEvent{Delta: 1, Total: 1},
		Also:     &actors.Plan[counterEvent]{Act: actors.Act{Did: "counter.up"}, Event: counterEvent{Delta: 1}},
	}, nil
}

// TestKindFounds: an actor makes another one in its own commit, and its event has the
// receipt of the other's first act, at a retry too.
func TestKindFounds(t *testing.T) {
	h, store, ana := openCounter(t)
	harness.Must[*counted](h, counterAt, add{Request: h.Request(ana), By: 2})
	before := harness.Must[ubl.LedgerHead](h, ubl.LedgerName(ana.TenantID), ubl.GetLedgerHead{}).Seq
	cmd := found{h.Request(ana), "t:example.com|counter:2"}
	made := harness.Must[*counted](h, counterAt, cmd)
	events := func(local string, n int64) counterEvent {
		at := actors.Events[counterEvent]{Read: store, Group: counterAt.Group(), Key: func(n int64) []byte { return counterKey(local, n) }, Newest: 1}
		page, err := at.Page(t.Context(), n, 1)
		if err != nil || len(page) != 1 {
			t.Fatalf("event %d of %s: %v", n, local, err)
		}
		return page[0]
	}
	mine, theirs := events("counter:1", 3), events("counter:2", 1)
	if mine.Stamp.Did != didOpen || mine.Receipt != theirs.Receipt || mine.Receipt != made.Receipt || mine.Receipt.Seq != before+1 || theirs.Delta != 100 {
		t.Errorf("one has the event %+v, the other %+v; answered is %+v", mine, theirs, made)
	}
	for range 2 {
		if again := harness.Must[*counted](h, counterAt, cmd); *again != *made {
			t.Errorf("a retry is answered %+v, first %+v", again, made)
		}
		one := harness.Must[counterState](h, counterAt, get{})
		other := harness.Must[counterState](h, cmd.Name, get{})
		if one.Events != 4 || one.Total != 4 || other.Events != 1 || other.Total != 100 || !other.Open {
			t.Errorf("one knows %+v, the other %+v", one, other)
		}
		h.Restart()
	}
	after := harness.Must[ubl.LedgerHead](h, ubl.LedgerName(ana.TenantID), ubl.GetLedgerHead{}).Seq
	if after != before+4 { // two acts
		t.Errorf("the ledger has grown from %d to %d", before, after)
	}
	h.VerifyLedger(ana.TenantID)
}

// TestKindGuests: the same id with the same key is another author in another tenant.
func TestKindGuests(t *testing.T) {
	h, _, ana := openCounter(t)
	first := add{Request: h.Request(ana), By: 2}
	bob, eve := first, first
	bob.Who.TenantID, eve.Who.TenantID = "t:bobs.example", "t:eves.example"
	for range 2 {
		for i, cmd := range []add{first, bob, eve} {
			if got := harness.Must[*counted](h, counterAt, cmd); got.Total != int64(2*(i+1)) {
				t.Errorf("author %d adds up to %d", i, got.Total)
			}
		}
		h.Reload()
	}
	other := eve
	other.By++
	h.Refused(ubl.CodeIdempotencyConflict, counterAt, other)
}

// TestKindThen: what follows a command gets its answer, as of a retry too, and no refusal;
// and a retry is known before it is asked.
func TestKindThen(t *testing.T) {
	h, _, ana := openCounter(t)
	cmd := addThen{add: add{Request: h.Request(ana), By: 3}}
	asked := 0
	cmd.then = func(total int64) (any, error) { asked++; return total * 10, nil }
	known := func(want bool, c add) {
		t.Helper()
		if got := harness.Must[bool](h, counterAt, knows{c}); got != want {
			t.Errorf("it is known before: %v", got)
		}
	}
	known(false, cmd.add)
	for range 3 {
		if got := harness.Must[int64](h, counterAt, cmd); got != 30 {
			t.Errorf("then is answered %d", got)
		}
		known(true, cmd.add)
		h.Reload()
	}
	other := cmd
	other.By++
	known(true, other.add)
	h.Refused(ubl.CodeIdempotencyConflict, counterAt, other)
	h.Refused(ubl.CodeConflict, counterAt, addThen{add{Request: h.Request(ana), By: -9}, cmd.then})
	if asked != 3 {
		t.Errorf("it was asked %d times what follows", asked)
	}
	cmd.then = func(int64) (any, error) { return nil, ubl.Errorf(ubl.CodeUnavailable, "not now") }
	h.Refused(ubl.CodeUnavailable, counterAt, cmd)
}

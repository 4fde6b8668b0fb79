package actors_test

import (
	"context"
	"encoding/json"
	"fmt"
	"testing"

	"ubl"
	"ubl/test/harness"
)

// TestOwnCalls: rows of our own tools leave no atoms, count with the others, and
// come once however often they are told.
func TestOwnCalls(t *testing.T) {
	p := openFiles(t)
	sent := harness.Must[*ubl.Sent](p.House, ubl.RoomName(p.ana.TenantID, ubl.GeneralRoom), ubl.SendMessage{Request: p.Request(p.bob), Text: "hello"})
	var m ubl.Message
	if err := json.Unmarshal(sent.Message, &m); err != nil {
		t.Fatal(err)
	}
	with := p.own(p.bob)
	with.Receipt = &m.Receipt // the act's own
	before := p.head()
	c := ubl.LogCalls{Request: p.Request(ubl.Platform()), Calls: []*ubl.Call{with, p.own(p.ana)}}
	p.nothing(c)
	p.nothing(c)
	p.nothing(ubl.LogCalls{Request: p.Request(ubl.Platform())})
	if after := p.head(); after != before {
		t.Errorf("rows left %d atoms", after-before)
	}
	p.Restart()
	p.nothing(c)
	ask[*ubl.CallTicket](p, p.call(p.bob))
	rows := p.log(p.ana, true)
	if len(rows) != 3 || rows[0].N != 3 || rows[2].Server != ubl.OwnServer || *rows[2].Receipt != m.Receipt || rows[1].Receipt != nil {
		t.Errorf("the log is %s", must(json.Marshal(rows)))
	}
	c.Calls[0].DurationMS++
	p.refuse(ubl.CodeIdempotencyConflict, c)
	for what, spoil := range map[string]func(*ubl.Call){
		"one of another's":   func(r *ubl.Call) { r.Server = "files" },
		"one of a model":     func(r *ubl.Call) { r.Server, r.Status = ubl.ModelServer, "denied" },
		"one under way":      func(r *ubl.Call) { r.Status = "intended" },
		"one of no tool":     func(r *ubl.Call) { r.Capability = "" },
		"one of nobody":      func(r *ubl.Call) { r.UserID = "" },
		"one of no request":  func(r *ubl.Call) { r.RequestID = "" },
		"one of no act":      func(r *ubl.Call) { r.Did = "\n" },
		"one that took -1ms": func(r *ubl.Call) { r.DurationMS = -1 },
	} {
		row := p.own(p.bob)
		spoil(row)
		if _, err := p.Ask(context.Background(), p.name, ubl.LogCalls{Request: p.Request(ubl.Platform()), Calls: []*ubl.Call{row}}); ubl.CodeOf(err) != ubl.CodeValidation {
			t.Errorf("%s: %v", what, err)
		}
	}
	p.refuse(ubl.CodeValidation, ubl.LogCalls{Request: p.Request(ubl.Platform()), Calls: []*ubl.Call{nil}})
	denied := p.own(p.bob) // by the Tenant, before the portal was asked
	denied.Server, denied.Capability, denied.Did, denied.Status, denied.Code = "files", "files.read", ubl.DidPortalCall, "denied", ubl.CodeForbidden
	p.nothing(ubl.LogCalls{Request: p.Request(ubl.Platform()), Calls: []*ubl.Call{denied}})
	if row := p.log(p.bob, false)[0]; row.Server != "files" || row.Status != "denied" {
		t.Errorf("a refusal of the Tenant is logged as %+v", row)
	}
	p.refuse(ubl.CodeTooLarge, ubl.LogCalls{Request: p.Request(ubl.Platform()), Calls: make([]*ubl.Call, 1001)})
	p.VerifyLedger(p.ana.TenantID)
}

// TestReadCalls: owners page through everything, others through their own, and those of agents that they keep.
func TestReadCalls(t *testing.T) {
	p := openPortal(t)
	var rows []*ubl.Call
	for i := range 5000 {
		row := p.own(p.ana)
		if i%500 == 0 {
			row = p.own(p.bob)
		}
		if rows = append(rows, row); len(rows) == 1000 {
			p.nothing(ubl.LogCalls{Request: p.Request(ubl.Platform()), Calls: rows})
			rows = nil
		}
	}
	read := func(c ubl.ReadCalls) (ns []int64, pages int) {
		for {
			page := ask[*ubl.CallPage](p, c)
			pages++
			for _, row := range page.Calls {
				ns = append(ns, row.N)
			}
			if page.Next == nil {
				return ns, pages
			}
			c.Before = *page.Next
		}
	}
	all, pages := read(ubl.ReadCalls{Who: p.ana, Owner: true, Limit: 1000})
	if len(all) != 5000 || all[0] != 5000 || all[4999] != 1 || pages != 25 {
		t.Errorf("an owner reads %d rows on %d pages, from %d to %d", len(all), pages, all[0], all[len(all)-1])
	}
	mine, pages := read(ubl.ReadCalls{Who: p.bob, Limit: 3})
	if fmt.Sprint(mine) != "[4501 4001 3501 3001 2501 2001 1501 1001 501 1]" || pages > 8 {
		t.Errorf("a member reads %v on %d pages", mine, pages)
	}
	kept, _ := read(ubl.ReadCalls{Who: p.bob, Keeps: []ubl.UserID{p.ana.UserID}, Limit: 1000})
	if len(kept) != 5000 {
		t.Errorf("who keeps an agent reads %d rows", len(kept))
	}
	if few := ask[*ubl.CallPage](p, ubl.ReadCalls{Who: p.ana, Owner: true}); len(few.Calls) != 50 || *few.Next != 4951 {
		t.Errorf("a page without a limit has %d rows", len(few.Calls))
	}
	if none := ask[*ubl.CallPage](p, ubl.ReadCalls{Who: p.ana, Owner: true, Before: 1}); len(none.Calls) != 0 || none.Next != nil {
		t.Errorf("before the first row there are %v", none.Calls)
	}
}

// TestLogIsKeptInBounds: the newest 100,000 rows stay, and those of calls that
// are still under way.
func TestLogIsKeptInBounds(t *testing.T) {
	p := openFiles(t)
	ended := p.call(p.bob)
	ask[*ubl.CallTicket](p, ended)
	ask[*ubl.Call](p, ubl.EndCall{Request: p.Request(p.bob), N: 1})
	open := ask[*ubl.CallTicket](p, p.call(p.bob))
	fill := func(thousands int) {
		for range thousands {
			rows := make([]*ubl.Call, 1000)
			for i := range rows {
				rows[i] = p.own(p.ana)
			}
			p.nothing(ubl.LogCalls{Request: p.Request(ubl.Platform()), Calls: rows})
		}
	}
	oldest := func() int64 {
		for before := int64(2); ; before++ { // it is among the first few thousand
			if page := ask[*ubl.CallPage](p, ubl.ReadCalls{Who: p.ana, Owner: true, Before: before, Limit: 1}); len(page.Calls) == 1 {
				return page.Calls[0].N
			}
		}
	}
	fill(101)
	if got := oldest(); got != open.N {
		t.Errorf("the log begins with %d, want the open call %d", got, open.N)
	}
	// Its key still counts: never a second call.
	again := ask[*ubl.CallTicket](p, ended)
	if e := ubl.AsError(again.Repeated()); again.N != 1 || e.Code != ubl.CodeConflict || fmt.Sprint(e.Details) != "map[n:1]" {
		t.Errorf("a key without its row is answered %+v, %v", again, e.Details)
	}
	p.Reload()
	if row := ask[*ubl.Call](p, ubl.EndCall{Request: p.Request(p.bob), N: open.N}); row.Status != "ok" {
		t.Errorf("the open call ended as %+v", row)
	}
	fill(2) // two go for each that comes, until there are no more than are kept
	if got := oldest(); got != 103_002-100_000+1 {
		t.Errorf("of 103,002 rows the log keeps those from %d", got)
	}
	p.Reload()
	fill(1)
	if got := oldest(); got != 104_002-100_000+1 {
		t.Errorf("of 104,002 rows the log keeps those from %d", got)
	}
}

package actors_test

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"ubl"
	"ubl/test/harness"
)

// call begins a call of files.read.
func (p *portals) call(who ubl.Identity) ubl.BeginCall {
	return ubl.BeginCall{
		Request: p.Request(who), Did: ubl.DidPortalCall, Agreement: ubl.ToolAgreement("files.read"), Server: "files",
		Capability: "files.read", InputHash: ubl.BodyHash([]byte(`{}`)), Deadline: p.now().Add(time.Minute),
	}
}

// model begins a completion that may use as many tokens.
func (p *portals) model(who ubl.Identity, tokens int64) ubl.BeginCall {
	return ubl.BeginCall{
		Request: p.Request(who), Did: ubl.DidComplete, Agreement: "a:workspace:w:general", Server: ubl.ModelServer,
		Capability: string(ubl.DidComplete), InputHash: ubl.BodyHash([]byte(`{}`)), Deadline: p.now().Add(time.Minute),
		Model: true, Tokens: tokens, This: ubl.Fields{ubl.Str("workspace_id", "w:general")},
	}
}

// log reads the newest rows as who, an owner or not.
func (p *portals) log(who ubl.Identity, owner bool) []*ubl.Call {
	p.t.Helper()
	return ask[*ubl.CallPage](p, ubl.ReadCalls{Who: who, Owner: owner, Limit: 200}).Calls
}

// open opens a portal with a server that has tools.
func openFiles(t *testing.T) *portals {
	p := openPortal(t)
	p.add("files", ubl.AuthNone)
	p.syncs("files", "read", "1", "write", "1")
	return p
}

// TestCallOnRecord: the intent is in the ledger before the call is made, its
// effect after; both lead to each other, and to the row of the log.
func TestCallOnRecord(t *testing.T) {
	p := openFiles(t)
	begin := p.call(p.bob)
	begin.Parent = "req:parent"
	ticket := ask[*ubl.CallTicket](p, begin)
	if ticket.N != 1 || ticket.Again || ticket.Status != "intended" || ticket.Receipt.Seq != p.head() {
		t.Fatalf("the ticket is %+v, the ledger ends at %d", ticket, p.head())
	}
	if row := p.log(p.bob, false)[0]; row.Status != "intended" || *row.Receipt != ticket.Receipt || row.Parent != "req:parent" {
		t.Errorf("a call under way is logged as %+v", row)
	}
	p.add("other", ubl.AuthNone) // the ledger goes on meanwhile
	p.Clock.Add(1500 * time.Millisecond)
	end := ubl.EndCall{
		Request: p.Request(p.bob), N: ticket.N, OutputHash: ubl.BodyHash([]byte(`"out"`)), DurationMS: 1500,
		Effect: ubl.Fields{ubl.Int("bytes", 5)},
	}
	row := ask[*ubl.Call](p, end)
	if row.Status != "ok" || row.DurationMS != 1500 || row.Code != "" || *row.Receipt != ticket.Receipt {
		t.Errorf("the call ended as %+v", row)
	}
	for _, when := range []string{"live", "loaded anew"} {
		for _, seq := range []int64{ticket.Receipt.Seq, p.head()} { // the action's and the effect's
			pair := harness.Must[*ubl.ReceiptPair](p.House, ubl.LedgerName(p.ana.TenantID), ubl.GetReceipt{Seq: seq})
			if pair.Seq != ticket.Receipt.Seq || len(pair.Atoms) != 2 {
				t.Fatalf("%s, the receipt of %d is that of %d with %d atoms", when, seq, pair.Seq, len(pair.Atoms))
			}
			action, effect := atomOf(t, pair.Atoms[0]), atomOf(t, pair.Atoms[1])
			if action.Status != "intended" || action.This["definition_hash"] != p.tool("files.read").Hash || action.Trace.Parent != "req:parent" {
				t.Errorf("%s, the action is %+v", when, action)
			}
			if effect.Outcome != "ok" || effect.Effects[0]["output_hash"] != end.OutputHash || effect.Effects[0]["bytes"] != 5.0 || effect.Pointers["call"] != 1.0 {
				t.Errorf("%s, the effect is %+v", when, effect)
			}
		}
		if got := p.log(p.bob, false)[0]; fmt.Sprint(*got.Receipt, got.Status) != fmt.Sprint(ticket.Receipt, "ok") {
			t.Errorf("%s, the row is %+v", when, got)
		}
		p.Reload()
	}
	p.VerifyLedger(p.ana.TenantID)
}

// TestRefusalsOnRecord: a call that may not be made leaves a denied action and a
// row, and its caller gets the error.
func TestRefusalsOnRecord(t *testing.T) {
	p := openFiles(t)
	p.add("off", ubl.AuthNone)
	p.syncs("off", "read", "1")
	yes := true
	ask[*ubl.Server](p, ubl.UpdateServer{Request: p.Request(p.ana), Owner: true, ServerID: "off", Patch: ubl.ServerPatch{Disabled: &yes}})
	p.syncs("files", "read", "1", "write", "2")
	p.syncs("files", "read", "1", "write", "2", "gone", "1")
	p.syncs("files", "read", "1", "write", "2")
	ask[*ubl.Budget](p, ubl.SetBudget{Request: p.Request(p.ana), Owner: true, TokensPerDay: 100})
	other := func(server, tool string) ubl.BeginCall {
		c := p.call(p.bob)
		c.Server, c.Capability = server, tool
		return c
	}
	for _, test := range []struct {
		what string
		cmd  ubl.BeginCall
		code ubl.Code
	}{
		{"an unknown server", other("none", "none.read"), ubl.CodeUnknownTool},
		{"a disabled server", other("off", "off.read"), ubl.CodeForbidden},
		{"an unknown tool", other("files", "files.none"), ubl.CodeUnknownTool},
		{"another server's tool", other("files", "off.read"), ubl.CodeUnknownTool},
		{"a tool that is gone", other("files", "files.gone"), ubl.CodeUnknownTool},
		{"a tool whose definition is held", other("files", "files.write"), ubl.CodeForbidden},
		{"a model beyond the budget", p.model(p.bob, 101), ubl.CodeRateLimited},
	} {
		before := p.head()
		p.refuse(test.code, test.cmd)
		atoms := p.atoms(before + 1)
		if len(atoms) != 2 {
			t.Fatalf("%s left %d atoms", test.what, len(atoms))
		}
		action, effect := atomOf(t, atoms[0]), atomOf(t, atoms[1])
		if action.Status != "denied" || action.This["capability"] != test.cmd.Capability || action.AgreementID != string(test.cmd.Agreement) {
			t.Errorf("%s: the action is %+v", test.what, action)
		}
		if effect.Outcome != "error" || effect.Error == nil || effect.Error.Code != string(test.code) || len(effect.Effects) != 0 {
			t.Errorf("%s: the effect is %+v", test.what, effect)
		}
		row := p.log(p.ana, true)[0]
		if row.Status != "denied" || row.Code != test.code || row.UserID != p.bob.UserID || row.Receipt.Seq != before+1 || row.RequestID != test.cmd.ID {
			t.Errorf("%s: the row is %+v", test.what, row)
		}
	}
	if closed := ask[int](p, ubl.CloseCalls{Request: p.Request(ubl.Platform()), All: true}); closed != 0 {
		t.Errorf("%d refused calls were open", closed)
	}
	p.VerifyLedger(p.ana.TenantID)
}

// TestCallsThatCantBe are refused without a record: code was wrong, not a caller.
func TestCallsThatCantBe(t *testing.T) {
	p := openFiles(t)
	before := p.head()
	for what, spoil := range map[string]func(*ubl.BeginCall){
		"an act inside":           func(c *ubl.BeginCall) { c.Did = ubl.DidSend },
		"no Agreement":            func(c *ubl.BeginCall) { c.Agreement = "" },
		"no server":               func(c *ubl.BeginCall) { c.Server = "" },
		"no tool":                 func(c *ubl.BeginCall) { c.Capability = "" },
		"no input":                func(c *ubl.BeginCall) { c.InputHash = "" },
		"a parent that is none":   func(c *ubl.BeginCall) { c.Parent = "x" },
		"an attempt that is none": func(c *ubl.BeginCall) { c.Attempt = "x" },
		"a deadline in the past":  func(c *ubl.BeginCall) { c.Deadline = p.now() },
		"a deadline far away":     func(c *ubl.BeginCall) { c.Deadline = p.now().Add(2 * time.Hour) },
		"tokens of a tool":        func(c *ubl.BeginCall) { c.Tokens = 1 },
		"a model elsewhere":       func(c *ubl.BeginCall) { c.Model, c.Tokens = true, 1 },
		"a model without a bound": func(c *ubl.BeginCall) { *c = p.model(p.bob, 0) },
		"a model in disguise":     func(c *ubl.BeginCall) { *c = p.model(p.bob, 1); c.Model = false },
		"a member of our name":    func(c *ubl.BeginCall) { c.This = ubl.Fields{ubl.Str("server", "x")} },
		"our own member":          func(c *ubl.BeginCall) { c.This = ubl.Fields{ubl.Int("call", 7)} },
		"a member that is no JSON": func(c *ubl.BeginCall) {
			c.This = ubl.Fields{ubl.Str("text", "\xff")}
		},
	} {
		c := p.call(p.bob)
		spoil(&c)
		if _, err := p.Ask(context.Background(), p.name, c); ubl.CodeOf(err) != ubl.CodeValidation {
			t.Errorf("%s: %v", what, err)
		}
	}
	large := p.call(p.bob)
	large.This = ubl.Fields{ubl.Str("text", strings.Repeat("x", 9000))}
	p.refuse(ubl.CodeTooLarge, large)
	if after := p.head(); after != before {
		t.Errorf("%d atoms were left", after-before)
	}
	ticket := ask[*ubl.CallTicket](p, p.call(p.bob))
	for what, spoil := range map[string]func(*ubl.EndCall){
		"a code outside the table": func(c *ubl.EndCall) { c.Code = "oops" },
		"an output that is none":   func(c *ubl.EndCall) { c.OutputHash = "x" },
		"less than nothing used":   func(c *ubl.EndCall) { c.Usage = &ubl.Usage{PromptTokens: -1} },
		"more than can be counted": func(c *ubl.EndCall) { c.Usage = &ubl.Usage{CostMicros: 1 << 50} },
		"a member of our name":     func(c *ubl.EndCall) { c.Effect = ubl.Fields{ubl.Str("op", "x")} },
	} {
		c := ubl.EndCall{Request: p.Request(p.bob), N: ticket.N}
		spoil(&c)
		if _, err := p.Ask(context.Background(), p.name, c); ubl.CodeOf(err) != ubl.CodeValidation {
			t.Errorf("%s: %v", what, err)
		}
	}
	if row := p.log(p.bob, false)[0]; row.Status != "intended" {
		t.Errorf("the call is %s", row.Status)
	}
	// An effect isn't lost for the name that a provider gives its model.
	odd := ubl.EndCall{Request: p.Request(p.bob), N: ticket.N, Usage: &ubl.Usage{Model: strings.Repeat("é", 70) + "\xff", Provider: "a \x00"}}
	if row := ask[*ubl.Call](p, odd); row.Usage.Model != strings.Repeat("é", 64) || row.Usage.Provider != "a \x00" {
		t.Errorf("the usage is %+v", row.Usage)
	}
	p.VerifyLedger(p.ana.TenantID)
}

// TestCallsBeginOnce: a key begins one call. Who uses it again learns that it has
// begun, and how far it is.
func TestCallsBeginOnce(t *testing.T) {
	p := openFiles(t)
	begin := p.call(p.bob)
	first := ask[*ubl.CallTicket](p, begin)
	again := func(when, status string) {
		t.Helper()
		p.Clock.Add(time.Second)
		retry := begin
		retry.Deadline = p.now().Add(time.Minute) // a retry has one of its own
		got := ask[*ubl.CallTicket](p, retry)
		if want := (ubl.CallTicket{N: first.N, Receipt: first.Receipt, Again: true, Status: status}); *got != want {
			t.Errorf("%s, the ticket is %+v, want %+v", when, got, want)
		}
	}
	again("under way", "intended")
	p.Restart()
	again("after a restart", "intended")
	ask[*ubl.Call](p, ubl.EndCall{Request: p.Request(p.bob), N: first.N, Code: ubl.CodeTooLarge, Message: "the answer was too large"})
	again("when it has ended", "error")
	p.Reload()
	again("loaded anew", "error")
	changed := begin
	changed.InputHash = ubl.BodyHash([]byte(`{"path":"/"}`))
	p.refuse(ubl.CodeIdempotencyConflict, changed)
	if rows := p.log(p.bob, false); len(rows) != 1 {
		t.Errorf("one call has %d rows", len(rows))
	}
	// A refusal keeps no key: what was refused may be allowed later.
	p.syncs("files", "read", "2", "write", "1")
	refused := p.call(p.bob)
	p.refuse(ubl.CodeForbidden, refused)
	p.syncs("files", "read", "1", "write", "1")
	if ticket := ask[*ubl.CallTicket](p, refused); ticket.Again {
		t.Error("a call that was refused has begun before")
	}
}

// TestAttempts: a node that asks again, since it didn't hear the answer, may make the
// call; everyone else learns that it has begun. A refusal is on record once for each
// attempt.
func TestAttempts(t *testing.T) {
	p := openFiles(t)
	begin := p.call(p.bob)
	begin.Attempt = "req:attempt-1"
	first := ask[*ubl.CallTicket](p, begin)
	other, nameless := begin, begin
	other.Attempt, nameless.Attempt = "req:attempt-2", ""
	again := *first
	again.Again = true
	for _, when := range []string{"live", "loaded anew"} {
		for what, c := range map[string]struct {
			cmd  ubl.BeginCall
			want ubl.CallTicket
		}{"the same": {begin, *first}, "another": {other, again}, "none": {nameless, again}} {
			if got := ask[*ubl.CallTicket](p, c.cmd); *got != c.want {
				t.Errorf("%s, %s attempt is answered %+v, want %+v", when, what, got, c.want)
			}
		}
		p.Reload()
	}
	ask[int](p, ubl.CloseCalls{Request: p.Request(ubl.Platform()), All: true})
	if got := ask[*ubl.CallTicket](p, begin); !got.Again || got.Status != "error" {
		t.Errorf("an attempt whose call was closed meanwhile is answered %+v", got)
	}

	before := p.head()
	refused := p.call(p.bob)
	refused.Capability, refused.Attempt = "files.none", "req:attempt-3"
	for range 2 {
		p.refuse(ubl.CodeUnknownTool, refused)
		p.Reload()
	}
	if grown := p.head() - before; grown != 2 {
		t.Errorf("a refusal that was asked for twice left %d atoms", grown)
	}
	refused.Attempt = "req:attempt-4"
	p.refuse(ubl.CodeUnknownTool, refused)
	if grown := p.head() - before; grown != 4 {
		t.Errorf("two refused attempts left %d atoms", grown)
	}
	p.syncs("files", "read", "1", "none", "1")
	if got := ask[*ubl.CallTicket](p, refused); got.Again { // what refused it is gone
		t.Errorf("an attempt that was refused is answered %+v", got)
	}
	p.VerifyLedger(p.ana.TenantID)
}

// TestCallsEndOnce: the first end counts, and only who began a call ends it.
func TestCallsEndOnce(t *testing.T) {
	p := openFiles(t)
	ticket := ask[*ubl.CallTicket](p, p.call(p.bob))
	end := ubl.EndCall{Request: p.Request(p.bob), N: ticket.N, Code: ubl.CodeUnavailable, Message: "no answer", DurationMS: 10}
	other := end
	other.Request = p.Request(p.ana)
	p.refuse(ubl.CodeNotFound, other)
	ended := ask[*ubl.Call](p, end)
	before := p.head()
	late := ubl.EndCall{Request: p.Request(p.bob), N: ticket.N, OutputHash: ubl.BodyHash(nil), DurationMS: 99}
	for _, c := range []ubl.EndCall{end, late, end} {
		got := ask[*ubl.Call](p, c)
		if fmt.Sprint(got.Status, got.Code, got.DurationMS, *got.Receipt) != fmt.Sprint(ended.Status, ended.Code, ended.DurationMS, *ended.Receipt) {
			t.Errorf("a later end is answered %+v, the first %+v", got, ended)
		}
		p.Reload()
	}
	p.refuse(ubl.CodeNotFound, other)
	for _, n := range []int64{-1, 0, 2} {
		p.refuse(ubl.CodeNotFound, ubl.EndCall{Request: p.Request(p.bob), N: n})
	}
	if after := p.head(); after != before {
		t.Errorf("later ends left %d atoms", after-before)
	}
}

// TestCallFeed: who watches the ledger is told each row as it is written, and
// that tools have changed.
func TestCallFeed(t *testing.T) {
	p := openPortal(t)
	var mu sync.Mutex
	var told []string
	var row ubl.Call
	defer p.Subscribe(ubl.LedgerName(p.ana.TenantID), func(pub ubl.Publication) {
		mu.Lock()
		defer mu.Unlock()
		for _, e := range pub.Events {
			switch e.Kind {
			case ubl.EventToolsChanged:
				told = append(told, "tools")
			case ubl.EventPortalCall:
				row = ubl.Call{}
				if err := json.Unmarshal(e.Payload, &row); err != nil {
					t.Error(err)
				}
				if canonical, err := ubl.Canonical(e.Payload); err != nil || string(canonical) != string(e.Payload) {
					t.Errorf("the payload is not canonical: %s", e.Payload)
				}
				told = append(told, fmt.Sprint(row.N, row.Status))
				if e.UserID != row.UserID || e.LedgerSeq != pub.Last {
					t.Errorf("the event %+v tells of the row %+v in %d", e, row, pub.Last)
				}
			}
		}
	})()
	p.add("files", ubl.AuthNone)
	p.syncs("files", "read", "1")
	p.syncs("files", "read", "1") // nothing new
	p.syncs("files", "read", "2")
	p.refuse(ubl.CodeForbidden, p.call(p.bob))
	ask[*ubl.PortalTool](p, ubl.ApproveTool{Request: p.Request(p.ana), Owner: true, Tool: "files.read", Hash: p.tool("files.read").HeldHash})
	ask[*ubl.CallTicket](p, p.call(p.bob))
	ask[*ubl.Call](p, ubl.EndCall{Request: p.Request(p.bob), N: 2})
	p.nothing(ubl.LogCalls{Request: p.Request(ubl.Platform()), Calls: []*ubl.Call{p.own(p.bob), p.own(p.ana)}})
	update := func(patch ubl.ServerPatch) {
		ask[*ubl.Server](p, ubl.UpdateServer{Request: p.Request(p.ana), Owner: true, ServerID: "files", Patch: patch})
	}
	update(ubl.ServerPatch{Secret: []byte("new")}) // sessions with the old one are over
	address := "https://files.example/other"
	update(ubl.ServerPatch{URL: &address})
	ask[*ubl.Server](p, ubl.RemoveServer{Request: p.Request(p.ana), Owner: true, ServerID: "files"})
	mu.Lock()
	defer mu.Unlock()
	want := "[tools tools tools 1denied tools 2intended 2ok 3ok 4ok tools tools tools]"
	if got := fmt.Sprint(told); got != want {
		t.Errorf("told %s, want %s", got, want)
	}
}

// own is a call of one of our own tools.
func (p *portals) own(who ubl.Identity) *ubl.Call {
	return &ubl.Call{
		At: p.now(), Did: ubl.DidSend, Capability: string(ubl.DidSend), UserID: who.UserID, Status: "ok", DurationMS: 3, RequestID: "req:own-1",
	}
}

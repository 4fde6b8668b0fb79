package actors_test

import (
	"context"
	"testing"

	"ubl"
	"ubl/test/harness"
)

// TestPortalActsAtEveryCrashPoint: every act of the portal that has a key. A retry
// settles it, a second one is answered alike, and the ledger has grown by what one
// act leaves.
func TestPortalActsAtEveryCrashPoint(t *testing.T) {
	for point, fault := range crashPoints() {
		t.Run(point, func(t *testing.T) {
			p := openPortal(t)
			name := "Documents"
			tools := func(v string) []ubl.ToolDefinition {
				return []ubl.ToolDefinition{{Name: "read", Definition: []byte(`{"v":"` + v + `"}`)}}
			}
			for _, act := range []struct {
				cmd   ubl.Command
				atoms int64
			}{
				{ubl.AddServer{Request: p.Request(p.ana), Owner: true, Secret: []byte("x"), Server: ubl.Server{
					ServerID: "files", Name: "Files", URL: "https://files.example", Auth: ubl.AuthUser}}, 2},
				{ubl.UpdateServer{Request: p.Request(p.ana), Owner: true, ServerID: "files", Patch: ubl.ServerPatch{Name: &name}}, 2},
				{ubl.RecordSync{Request: p.Request(ubl.Platform()), ServerID: "files", Tools: tools("1")}, 2},
				{ubl.RecordSync{Request: p.Request(ubl.Platform()), ServerID: "files", Tools: tools("2")}, 2},
				{ubl.ApproveTool{Request: p.Request(p.ana), Owner: true, Tool: "files.read", Hash: ubl.BodyHash(tools("2")[0].Definition)}, 2},
				{ubl.SaveGrant{Request: p.Request(p.bob), ServerID: "files", Sealed: []byte("x")}, 2},
				{ubl.SetBudget{Request: p.Request(p.ana), Owner: true, TokensPerDay: 10}, 2},
				{ubl.LogCalls{Request: p.Request(ubl.Platform()), Calls: []*ubl.Call{p.own(p.bob), p.own(p.bob)}}, 0},
				{ubl.RemoveServer{Request: p.Request(p.ana), Owner: true, ServerID: "files"}, 2},
			} {
				before := p.head()
				p.setFault(fault(p.valve))
				p.refuse(ubl.CodeUnavailable, act.cmd)
				p.setFault(nil)
				settled, again := answerText(t, p.House, p.name, act.cmd), answerText(t, p.House, p.name, act.cmd)
				if settled != again {
					t.Errorf("%T: the first retry is answered\n%s, the second\n%s", act.cmd, settled, again)
				}
				if grown := p.head() - before; grown != act.atoms {
					t.Errorf("%T left %d atoms, want %d", act.cmd, grown, act.atoms)
				}
			}
			if rows := p.log(p.ana, true); len(rows) != 2 {
				t.Errorf("%d rows are logged, want 2", len(rows))
			}
			p.VerifyLedger(p.ana.TenantID)
		})
	}
}

// TestCallsAtEveryCrashPoint: a crash at each step of a call. Whatever was
// committed, every intent gets exactly one effect, from its node or from the sweep,
// and a row that says the same.
func TestCallsAtEveryCrashPoint(t *testing.T) {
	for point, fault := range crashPoints() {
		t.Run(point, func(t *testing.T) {
			p := openFiles(t)
			broken := func(cmd ubl.Command) error {
				p.setFault(fault(p.valve))
				defer p.setFault(nil)
				_, err := p.Ask(context.Background(), p.name, cmd)
				return err
			}
			sweep := ubl.CloseCalls{Request: p.Request(ubl.Platform()), All: true}

			// The intent, in one attempt: its node asks again, and may make the call.
			begin := p.call(p.bob)
			begin.Attempt = "req:attempt-1"
			before := p.head()
			if err := broken(begin); ubl.CodeOf(err) != ubl.CodeUnavailable {
				t.Fatalf("the intent was answered %v", err)
			}
			if ticket := ask[*ubl.CallTicket](p, begin); ticket.Again || p.head() != before+1 {
				t.Errorf("asked again, the intent is answered %+v and left %d atoms", ticket, p.head()-before)
			}
			ask[int](p, ubl.CloseCalls{Request: p.Request(ubl.Platform()), All: true})

			// The intent: its node is gone, and made no call.
			lost := p.call(p.bob)
			if err := broken(lost); ubl.CodeOf(err) != ubl.CodeUnavailable {
				t.Fatalf("the intent was answered %v", err)
			}
			closed := ask[int](p, sweep)
			persisted := point == "after persisting, before the answer"
			if (closed == 1) != persisted {
				t.Errorf("%d intents were open", closed)
			}
			if ticket := ask[*ubl.CallTicket](p, lost); ticket.Again != persisted {
				t.Errorf("a retry of the intent is answered %+v", ticket)
			}
			ask[int](p, sweep)

			// The refusal.
			refused := p.call(p.bob)
			refused.Capability, refused.Attempt = "files.none", "req:attempt-2"
			before = p.head()
			if err := broken(refused); ubl.CodeOf(err) != ubl.CodeUnavailable {
				t.Errorf("the refusal was answered %v", err)
			}
			p.refuse(ubl.CodeUnknownTool, refused)
			if grown := p.head() - before; grown != 2 {
				t.Errorf("one refusal left %d atoms", grown)
			}

			// The effect: its node tells it again, or is gone.
			for _, alive := range []bool{true, false} {
				ticket := ask[*ubl.CallTicket](p, p.call(p.bob))
				end := ubl.EndCall{Request: p.Request(p.bob), N: ticket.N, OutputHash: ubl.BodyHash(nil)}
				if err := broken(end); (err == nil) != persisted {
					t.Errorf("the effect was answered %v", err)
				}
				want := "ok"
				if !alive {
					if !persisted {
						want = "error"
					}
					ask[int](p, sweep)
				}
				if row := ask[*ubl.Call](p, end); row.Status != want {
					t.Errorf("the call ended as %s, want %s", row.Status, want)
				}
			}

			// The sweep.
			ask[*ubl.CallTicket](p, p.call(p.bob))
			_ = broken(sweep)
			ask[int](p, sweep)

			p.Restart()
			for _, row := range p.log(p.ana, true) {
				pair := harness.Must[*ubl.ReceiptPair](p.House, ubl.LedgerName(p.ana.TenantID), ubl.GetReceipt{Seq: row.Receipt.Seq})
				if row.Status == "intended" || len(pair.Atoms) != 2 {
					t.Errorf("row %d is %s, and its receipt has %d atoms", row.N, row.Status, len(pair.Atoms))
				} else if effect := atomOf(t, pair.Atoms[1]); (effect.Outcome == "ok") != (row.Status == "ok") {
					t.Errorf("row %d is %s, and its effect %s", row.N, row.Status, effect.Outcome)
				}
			}
			p.VerifyLedger(p.ana.TenantID)
		})
	}
}

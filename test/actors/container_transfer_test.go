package actors_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"ubl"
	"ubl/test/harness"
)

// deedKind is a kind that the product doesn't know: things of which there is one
// each, which owners hand on. It is a configuration and nothing else.
var deedKind = ubl.Kind{
	Name: "deed", Agreement: "deed_agreement", Did: ubl.DidContainerCreate,
	Physics: ubl.Physics{Fungibility: ubl.Strict, Topology: ubl.Objects, Permeability: ubl.Gated, Execution: ubl.Disabled},
}

// market has containers of all sorts, each with something inside where that can be.
type market struct {
	*yard
	at   map[string]ubl.Name
	docs map[string]ubl.DocumentID // "Plan v2: two", where documents are kept
}

// openMarket opens it, or the containers of some names alone.
func openMarket(t *testing.T, h *harness.House, names ...string) *market {
	m := &market{yard: openYard(t, h), at: map[string]ubl.Name{}, docs: map[string]ubl.DocumentID{}}
	for _, c := range []struct{ name, kind, physics string }{
		{"workspace", "workspace", ""}, {"office", "workspace", ""},
		{"deed", "deed", ""}, {"vault", "deed", ""},
		{"wire", "container", "transient/links/open/disabled"}, {"line", "container", "transient/links/open/disabled"},
		{"archive", "workspace", "versioned/objects/sealed/disabled"},
		{"wallet", "wallet", ""}, {"purse", "wallet", ""}, {"escrow", "wallet", "strict/values/sealed/disabled"},
	} {
		if len(names) == 0 || slices.Contains(names, c.name) {
			m.at[c.name] = m.found(c.kind, c.name, c.physics)
		}
	}
	for _, name := range []string{"workspace", "deed"} {
		if m.at[name] == "" {
			continue
		}
		m.docs[name] = m.write(m.at[name], "Plan", "one")
		two := "two"
		harness.Must[*ubl.DocumentResult](h, m.at[name], ubl.UpdateDocument{Request: h.Request(m.ana), DocumentID: m.docs[name], Content: &two})
	}
	if m.at["wallet"] != "" {
		m.issue(m.at["wallet"], 100)
	}
	return m
}

// send is the transfer of what a container has: 30 credits, its document, or a text
// that passes through.
func (m *market) send(from, to string) ubl.Transfer {
	c := ubl.Transfer{Request: m.Request(m.ana), To: id(m.at[to])}
	switch from {
	case "wallet", "purse", "escrow":
		c.Amount = 30
	case "wire", "line":
		c.Title, c.Content = "Plan", "two"
	default:
		c.DocumentID = m.docs[from]
	}
	return c
}

// holds says what a container has: credits, or its documents.
func (m *market) holds(name string) string {
	m.t.Helper()
	c := m.look(m.at[name])
	if c.InTransit != 0 {
		m.t.Errorf("%d credits of %s are in transit", c.InTransit, name)
	}
	if c.Physics.Topology == ubl.Values {
		return fmt.Sprint(c.Balance)
	}
	words := strings.Split(m.tell(m.at[name], ubl.ListDocuments{Request: m.Request(m.ana)}), ", ")
	slices.Sort(words) // ids are drawn at random, and so is their order
	return strings.Join(words, ", ")
}

// TestTransfers: what a transfer does follows from the physics of both sides. Each
// row is a market of its own.
func TestTransfers(t *testing.T) {
	for _, test := range []struct {
		from, to string
		op       ubl.Operation // "" where it is refused with the code
		refused  ubl.Code
		left     string // at the source
		arrived  string // at the target
		atoms    int64
	}{
		{"workspace", "office", ubl.OpCopy, "", "Plan v2", "Plan v1", 4},
		{"workspace", "deed", ubl.OpCopy, "", "Plan v2", "Plan v1, Plan v2", 4},
		{"workspace", "vault", ubl.OpCopy, "", "Plan v2", "Plan v1", 4},
		{"workspace", "wire", ubl.OpCopy, "", "Plan v2", "nothing", 4},
		{"deed", "vault", ubl.OpTransfer, "", "nothing", "Plan v3", 4},
		{"wire", "office", ubl.OpPass, "", "nothing", "Plan v1", 4},
		{"wire", "line", ubl.OpPass, "", "nothing", "nothing", 4},
		{"wallet", "purse", ubl.OpTransfer, "", "70", "30", 4},

		{"deed", "office", "", ubl.CodeForbidden, "Plan v2", "nothing", 4},       // would duplicate it
		{"deed", "wire", "", ubl.CodeForbidden, "Plan v2", "nothing", 4},         // would destroy it
		{"wire", "vault", "", ubl.CodeForbidden, "nothing", "nothing", 4},        // would mint it
		{"wallet", "office", "", ubl.CodeForbidden, "100", "nothing", 4},         // credits are no document
		{"workspace", "purse", "", ubl.CodeForbidden, "Plan v2", "0", 4},         // a document is no credits
		{"workspace", "archive", "", ubl.CodeForbidden, "Plan v2", "nothing", 4}, // sealed
		{"wallet", "escrow", "", ubl.CodeForbidden, "100", "0", 4},               // sealed
		{"escrow", "wallet", "", ubl.CodeForbidden, "0", "100", 0},               // sealed: refused before anything
		{"archive", "office", "", ubl.CodeForbidden, "nothing", "nothing", 0},    // sealed: refused before anything
	} {
		t.Run(test.from+" to "+test.to, func(t *testing.T) {
			m := openMarket(t, harness.Open(t, harness.Options{Kinds: []ubl.Kind{deedKind}}), test.from, test.to)
			before := m.head()
			answer, err := m.Ask(t.Context(), m.at[test.from], m.send(test.from, test.to))
			if got := ubl.CodeOf(err); got != test.refused {
				t.Fatalf("answered %v, want %q", err, test.refused)
			}
			if atoms := m.head() - before; atoms != test.atoms {
				t.Errorf("%d atoms, want %d", atoms, test.atoms)
			}
			if r, ok := answer.(*ubl.TransferResult); ok {
				m.checkResult(r, test.from, test.to, test.op)
			}
			for range 2 {
				if got := m.holds(test.from); got != test.left {
					t.Errorf("the source holds %s, want %s", got, test.left)
				}
				if got := m.holds(test.to); got != test.arrived {
					t.Errorf("the target holds %s, want %s", got, test.arrived)
				}
				m.Reload()
			}
			m.checkLedger()
		})
	}
}

// checkResult holds the answer against what the target has.
func (m *market) checkResult(r *ubl.TransferResult, from, to string, op ubl.Operation) {
	m.t.Helper()
	if r.Op != op || r.From != id(m.at[from]) || r.To != id(m.at[to]) || !r.TransferID.Valid() || r.Receipt.Seq == 0 {
		m.t.Errorf("the result is %+v", r)
	}
	strict := op == ubl.OpTransfer && r.Amount == 0 && r.DocumentID != ""
	if strict != (r.DocumentID != "" && r.DocumentID == m.docs[from]) {
		m.t.Errorf("the document is %s at the target and was %s: only what moves stays itself", r.DocumentID, m.docs[from])
	}
	if r.DocumentID == "" {
		return
	}
	d := harness.Must[*ubl.DocumentResult](m.House, m.at[to], ubl.GetDocument{Request: m.Request(m.ana), DocumentID: r.DocumentID}).Document
	if d.Content != "two" || d.WorkspaceID != r.To || d.ContentHash != d.Salt.CommitText("content", "two") {
		m.t.Errorf("the target has %+v", d)
	}
}

// TestRefusedBeforeAnything: what can be seen at once leaves no trace.
func TestRefusedBeforeAnything(t *testing.T) {
	m := openMarket(t, harness.Open(t, harness.Options{Kinds: []ubl.Kind{deedKind}}))
	deleted := m.write(m.at["workspace"], "gone", "")
	harness.Must[*ubl.DocumentResult](m.House, m.at["workspace"], ubl.DeleteDocument{Request: m.Request(m.ana), DocumentID: deleted})
	plan := m.docs["workspace"]
	before := m.head()
	for _, test := range []struct {
		what, from string
		cmd        ubl.Transfer
		want       ubl.Code
	}{
		{"to itself", "workspace", ubl.Transfer{To: "w:workspace", DocumentID: plan}, "validation_error"},
		{"to what is no container", "workspace", ubl.Transfer{To: "r:general", DocumentID: plan}, "validation_error"},
		{"to one that never was", "workspace", ubl.Transfer{To: "w:never", DocumentID: plan}, "not_found"},
		{"a document that never was", "workspace", ubl.Transfer{To: "w:office", DocumentID: "d:never"}, "not_found"},
		{"a deleted document", "workspace", ubl.Transfer{To: "w:office", DocumentID: deleted}, "not_found"},
		{"nothing", "workspace", ubl.Transfer{To: "w:office"}, "not_found"},
		{"a text of its own", "workspace", ubl.Transfer{To: "w:office", DocumentID: plan, Title: "x"}, "validation_error"},
		{"credits of a workspace", "workspace", ubl.Transfer{To: "k:purse", Amount: 1}, "validation_error"},
		{"a document of a wallet", "wallet", ubl.Transfer{To: "w:office", Amount: 1, DocumentID: plan}, "validation_error"},
		{"no credits", "wallet", ubl.Transfer{To: "k:purse"}, "validation_error"},
		{"less than none", "wallet", ubl.Transfer{To: "k:purse", Amount: -5}, "validation_error"},
		{"more than can be", "wallet", ubl.Transfer{To: "k:purse", Amount: ubl.MaxCredits + 1}, "validation_error"},
		{"more than there are", "wallet", ubl.Transfer{To: "k:purse", Amount: 101}, "conflict"},
		{"of an empty wallet", "purse", ubl.Transfer{To: "k:wallet", Amount: 1}, "conflict"},
		{"a document through a wire", "wire", ubl.Transfer{To: "w:office", DocumentID: plan}, "validation_error"},
		{"no title through a wire", "wire", ubl.Transfer{To: "w:office", Content: "x"}, "validation_error"},
	} {
		test.cmd.Request = m.Request(m.ana)
		if got := m.tell(m.at[test.from], test.cmd); got != string(test.want) {
			t.Errorf("%s: %s, want %s", test.what, got, test.want)
		}
	}
	if after := m.head(); after != before {
		t.Errorf("%d atoms were left", after-before)
	}
}

// TestStrictThereAndBack: a strict document stays itself wherever it is. Where it
// was it can't be seen, and back again it has its old versions.
func TestStrictThereAndBack(t *testing.T) {
	m := openMarket(t, harness.Open(t, harness.Options{Kinds: []ubl.Kind{deedKind}}))
	d := m.docs["deed"]
	there := func(name string) string {
		m.Reload()
		return m.tell(m.at[name], ubl.GetDocument{Request: m.Request(m.ana), DocumentID: d}) + ", " +
			m.tell(m.at[name], ubl.GetDocument{Request: m.Request(m.ana), DocumentID: d, Version: 1}) + "; " +
			m.tell(m.at[name], ubl.ListVersions{Request: m.Request(m.ana), DocumentID: d}) + "; " +
			m.tell(m.at[name], ubl.SearchDocuments{Request: m.Request(m.ana), DocumentQuery: ubl.DocumentQuery{Query: "plan"}})
	}
	move := func(from, to string) {
		t.Helper()
		harness.Must[*ubl.TransferResult](m.House, m.at[from], ubl.Transfer{Request: m.Request(m.ana), To: id(m.at[to]), DocumentID: d})
	}
	for i, step := range []struct {
		do          func()
		deed, vault string
	}{
		{func() {}, "Plan v2: two, Plan v1: one; Plan v1, Plan v2; Plan v2", "none, none; not_found; nothing"},
		{func() { move("deed", "vault") }, "none, none; not_found; nothing", "Plan v3: two, none; Plan v3; Plan v3"},
		{func() { move("vault", "deed") }, "Plan v4: two, Plan v1: one; Plan v1, Plan v2, Plan v4; Plan v4", "none, none; not_found; nothing"},
	} {
		step.do()
		if got := there("deed"); got != step.deed {
			t.Errorf("step %d: at the deed %s, want %s", i, got, step.deed)
		}
		if got := there("vault"); got != step.vault {
			t.Errorf("step %d: in the vault %s, want %s", i, got, step.vault)
		}
	}
	m.checkLedger()
}

// TestWhoWroteWhen: each version says who made it and when, and who made the first;
// a copy is its carrier's, what moves stays its maker's.
func TestWhoWroteWhen(t *testing.T) {
	m := openMarket(t, harness.Open(t, harness.Options{Kinds: []ubl.Kind{deedKind}}))
	m.add(m.at["deed"], m.bob, ubl.RoleOwner)
	m.add(m.at["vault"], m.bob, ubl.RoleOwner)
	for _, shared := range []string{"workspace", "office"} {
		m.add(m.at[shared], m.bob, ubl.RoleMember)
	}
	made := ubl.TimeOf(m.Clock.Now())
	by := func(from, to string, doc ubl.DocumentID) *ubl.Document {
		t.Helper()
		m.Clock.Add(time.Hour)
		title := "bob's"
		harness.Must[*ubl.DocumentResult](m.House, m.at[from], ubl.UpdateDocument{Request: m.Request(m.bob), DocumentID: doc, Title: &title})
		m.Clock.Add(time.Hour)
		r := harness.Must[*ubl.TransferResult](m.House, m.at[from], ubl.Transfer{Request: m.Request(m.bob), To: id(m.at[to]), DocumentID: doc})
		return harness.Must[*ubl.DocumentResult](m.House, m.at[to], ubl.GetDocument{Request: m.Request(m.ana), DocumentID: r.DocumentID}).Document
	}
	d := by("workspace", "office", m.docs["workspace"])
	now := ubl.TimeOf(m.Clock.Now())
	if d.CreatedBy != m.bob.UserID || d.CreatedAt != now || d.UpdatedBy != m.bob.UserID || d.UpdatedAt != now {
		t.Errorf("the copy is %+v", d)
	}
	list := harness.Must[*ubl.DocumentList](m.House, m.at["workspace"], ubl.ListVersions{Request: m.Request(m.ana), DocumentID: m.docs["workspace"]}).Documents
	if d := list[2]; d.CreatedBy != m.ana.UserID || d.CreatedAt != made || d.UpdatedBy != m.bob.UserID || d.UpdatedAt != made.Add(time.Hour) {
		t.Errorf("the newest version is %+v", d)
	}
	if d := list[1]; d.UpdatedBy != m.ana.UserID || d.UpdatedAt != made {
		t.Errorf("the one before is %+v", d)
	}
	d = by("deed", "vault", m.docs["deed"])
	if d.CreatedBy != m.ana.UserID || d.CreatedAt != made || d.UpdatedBy != m.bob.UserID || d.UpdatedAt != ubl.TimeOf(m.Clock.Now()) {
		t.Errorf("what moved is %+v", d)
	}
}

// TestTransferOnRecord: the action of a transfer is intended, its effect comes
// later and names it, and a receipt finds both from either.
func TestTransferOnRecord(t *testing.T) {
	m := openMarket(t, harness.Open(t, harness.Options{Kinds: []ubl.Kind{deedKind}}))
	before := m.head()
	r := harness.Must[*ubl.TransferResult](m.House, m.at["wallet"], m.send("wallet", "purse"))
	m.Refused(ubl.CodeForbidden, m.at["wallet"], m.send("wallet", "escrow"))
	var story []string
	var refs []string
	m.eachAtom(before, func(atom json.RawMessage) {
		var a struct {
			Kind, Did, Status, Outcome string
			CID                        string `json:"cid"`
			Ref                        string `json:"ref_action_cid"`
			Error                      *struct{ Code string }
		}
		if err := json.Unmarshal(atom, &a); err != nil {
			t.Fatal(err)
		}
		line := a.Did + " " + a.Status
		if ubl.IsEffect(a.Kind) {
			line = "effect " + a.Outcome
			refs = append(refs, a.Ref)
		}
		if a.Error != nil {
			line += " " + a.Error.Code
		}
		story = append(story, line)
	})
	want := []string{
		"container.transfer intended", "container.receive executed", "effect ok", "effect ok",
		"container.transfer intended", "container.receive denied", "effect error forbidden", "effect error forbidden",
	}
	for i := range want {
		if i >= len(story) || story[i] != want[i] {
			t.Fatalf("the ledger tells %q, want %q", story, want)
		}
	}
	if refs[1] != r.Receipt.CID {
		t.Error("the effect doesn't name the action of the answer's receipt")
	}
	for _, seq := range []int64{before + 1, before + 4} {
		pair := harness.Must[*ubl.ReceiptPair](m.House, ubl.LedgerName(m.ana.TenantID), ubl.GetReceipt{Seq: seq})
		if pair.Seq != r.Receipt.Seq || len(pair.Atoms) != 2 {
			t.Errorf("the receipt of %d is that of %d with %d atoms", seq, pair.Seq, len(pair.Atoms))
		}
	}
}

// TestCreditsHaveBounds: no balance goes beyond the most there may be, counting
// what may come back.
func TestCreditsHaveBounds(t *testing.T) {
	h, v := openValved(t)
	m := openMarket(t, h)
	m.issue(m.at["purse"], ubl.MaxCredits)
	tenant := ubl.TenantName(m.ana.TenantID)
	issue := func(to ubl.ContainerID, amount int64) ubl.Command {
		return ubl.IssueCredits{Request: m.Request(m.ana), To: to, Amount: amount}
	}
	m.Refused(ubl.CodeConflict, tenant, issue("k:purse", 1))
	m.Refused(ubl.CodeConflict, m.at["wallet"], m.send("wallet", "purse"))
	m.Refused(ubl.CodeValidation, tenant, issue("k:wallet", 0))
	m.Refused(ubl.CodeForbidden, tenant, ubl.IssueCredits{Request: m.Request(m.bob), To: "k:wallet", Amount: 1})
	if got := m.holds("wallet"); got != "100" {
		t.Errorf("the wallet holds %s", got)
	}

	crashAt(v, 2, crashPoints()["before persisting"](v))
	m.Refused(ubl.CodeUnavailable, m.at["purse"], m.send("purse", "wallet")) // departed
	v.setFault(nil)
	if got := m.look(m.at["purse"]); got.Balance != ubl.MaxCredits-30 || got.InTransit != 30 {
		t.Errorf("the purse has %d and %d in transit", got.Balance, got.InTransit)
	}
	m.Refused(ubl.CodeConflict, tenant, issue("k:purse", 1)) // they may come back
	m.sweep()
	harness.Must[*ubl.Balance](h, tenant, issue("k:purse", 30))
	if got := m.holds("wallet"); got != "130" {
		t.Errorf("the wallet holds %s", got)
	}
}

package actors_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"ubl"
	"ubl/actors"
	"ubl/test/harness"
)

// listed is what a caller sees of the tenant's containers, "" for all kinds.
func (y *yard) listed(who ubl.Identity, kind string) string {
	y.t.Helper()
	list := harness.Must[*ubl.ContainerList](y.House, ubl.TenantName(who.TenantID), ubl.ListContainers{Request: y.Request(who), Kind: kind})
	if list.Receipt != nil {
		y.t.Error("a look that wasn't asked to be receipted has a receipt")
	}
	ids := []string{}
	for _, c := range list.Containers {
		ids = append(ids, string(c.ContainerID))
	}
	return strings.Join(ids, " ")
}

// TestGeneralWorkspace: every tenant begins with w:general, which whoever caused
// the tenant owns and every member writes in; the platform's own tenant too.
func TestGeneralWorkspace(t *testing.T) {
	y := openYard(t, harness.Open(t, harness.Options{}))
	y.Enter(ubl.Platform())
	for _, owner := range []ubl.Identity{y.ana, y.eve, ubl.Platform()} {
		general := ubl.ContainerName(owner.TenantID, ubl.GeneralWorkspace)
		view := harness.Must[*ubl.AgreementView](y.House, general, ubl.GetAgreement{Who: owner})
		if view.ID != "a:workspace:w:general" || len(view.Members) != 1 || view.Members[0].UserID != owner.UserID || view.Members[0].Role != ubl.RoleOwner {
			t.Errorf("%s: the Agreement is %+v", owner.TenantID, view)
		}
		if got := y.listed(owner, ""); got != "w:general" {
			t.Errorf("%s: the containers are %q", owner.TenantID, got)
		}
		y.VerifyLedger(owner.TenantID)
	}
	harness.Must[*ubl.DocumentResult](y.House, ubl.ContainerName(y.ana.TenantID, ubl.GeneralWorkspace),
		ubl.CreateDocument{Request: y.Request(y.bob), Title: "plan"})
	y.Refused(ubl.CodeConflict, ubl.TenantName(y.ana.TenantID), ubl.CreateContainer{Request: y.Request(y.ana), Kind: "workspace", Name: "General"})
}

// TestMakingContainers: kinds, names and physics, and what is made of them.
func TestMakingContainers(t *testing.T) {
	box := ubl.Kind{Name: "box", Agreement: "box_agreement", Physics: *physics("strict/objects/gated/disabled"), Did: ubl.DidContainerCreate}
	y := openYard(t, harness.Open(t, harness.Options{Kinds: []ubl.Kind{box}}))
	tenant := ubl.TenantName(y.ana.TenantID)
	link := physics("transient/links/open/disabled")
	for _, test := range []struct {
		kind, name string
		as         *ubl.Physics
		want       string // the id and its physics, or the refusal
	}{
		{"workspace", " Plans 2026 ", nil, "w:plans-2026 versioned/objects/collaborative/sandboxed"},
		{"workspace", "plans 2026", nil, "conflict"},
		{"workspace", "Private", physics("versioned/objects/gated/sandboxed"), "w:private versioned/objects/gated/sandboxed"},
		{"wallet", "Plans 2026", nil, "k:plans-2026 strict/values/gated/disabled"},
		{"container", "plans 2026", link, "conflict"}, // other kinds share k:
		{"container", "Links", link, "k:links transient/links/open/disabled"},
		{"container", "No physics", nil, "validation_error"},
		{"container", "Odd physics", physics("strict/values/open/disabled"), "validation_error"},
		{"wallet", "No values", physics("/objects/gated/disabled"), "validation_error"},
		{"box", "Treasure", nil, "k:treasure strict/objects/gated/disabled"}, // a kind by configuration alone
		{"workspace", "会議", nil, string(ubl.ContainerSlug(ubl.WorkspaceKind(), "会議")) + " versioned/objects/collaborative/sandboxed"},
		{"workspace", " ", nil, "validation_error"},
		{"workspace", strings.Repeat("x", 129), nil, "validation_error"},
		{"", "x", nil, "validation_error"},
		{"realm", "x", nil, "validation_error"},
	} {
		answer, err := y.Ask(context.Background(), tenant, ubl.CreateContainer{Request: y.Request(y.bob), Kind: test.kind, Name: test.name, Physics: test.as})
		got := string(ubl.CodeOf(err))
		if err == nil {
			c := answer.(*ubl.ContainerMade).Container
			got = fmt.Sprint(c.ContainerID, " ", c.Physics)
			seen := harness.Must[*ubl.Container](y.House, ubl.ContainerName(y.ana.TenantID, c.ContainerID), ubl.GetContainer{Who: y.bob})
			if seen.ContainerSummary != c || !seen.Member {
				t.Errorf("%s %q: the Tenant made %+v, and there is %+v", test.kind, test.name, c, seen)
			}
		}
		if got != test.want {
			t.Errorf("%s %q: %s, want %s", test.kind, test.name, got, test.want)
		}
	}
	y.Refused(ubl.CodeForbidden, tenant, ubl.CreateContainer{Request: y.Request(y.eve), Kind: "workspace", Name: "mine"})
	y.checkLedger()
}

// TestContainerKeys: a key makes one container, whatever happened since; the
// answer is the one given first.
func TestContainerKeys(t *testing.T) {
	y := openYard(t, harness.Open(t, harness.Options{}))
	tenant := ubl.TenantName(y.ana.TenantID)
	create := ubl.CreateContainer{Request: y.Request(y.bob), Kind: "wallet", Name: "purse"}
	first := harness.Must[*ubl.ContainerMade](y.House, tenant, create)
	if atom := harness.Must[*ubl.ReceiptPair](y.House, ubl.LedgerName(y.ana.TenantID), ubl.GetReceipt{Seq: first.Receipt.Seq}).Atoms[0]; !bytes.Contains(atom, []byte(first.Receipt.CID)) ||
		!bytes.Contains(atom, []byte(`"did":"container.create"`)) {
		t.Errorf("the receipt leads to %s", atom)
	}
	for range 2 {
		sameJSON(t, "a retry", harness.Must[*ubl.ContainerMade](y.House, tenant, create), first)
		other := create
		other.Physics = physics("strict/values/sealed/disabled")
		y.Refused(ubl.CodeIdempotencyConflict, tenant, other)
		y.Restart()
	}
	y.checkLedger()
}

// TestWhoSeesContainers: those that let all members in are listed for all of
// them, others for their entries; nobody sees another tenant's.
func TestWhoSeesContainers(t *testing.T) {
	y := openYard(t, harness.Open(t, harness.Options{}))
	y.found("workspace", "shared", "versioned/objects/open/sandboxed")
	y.found("workspace", "ours", "")
	y.found("container", "wide", "transient/links/open/disabled")
	y.found("workspace", "vault", "versioned/objects/sealed/disabled")
	gated, private := y.found("wallet", "purse", ""), y.found("workspace", "private", "versioned/objects/gated/sandboxed")
	y.add(gated, y.bob, ubl.RoleMember)
	y.add(private, y.bob, ubl.RoleOwner)
	for _, loaded := range []string{"live", "loaded anew"} {
		for _, test := range []struct {
			who        ubl.Identity
			kind, want string
		}{
			{y.ana, "", "k:purse k:wide w:general w:ours w:private w:shared w:vault"},
			{y.bob, "", "k:purse k:wide w:general w:private w:shared"},
			{y.cem, "", "k:wide w:general w:shared"},
			{y.eve, "", "w:general"},
			{y.bob, "workspace", "w:general w:private w:shared"},
			{y.bob, "wallet", "k:purse"},
			{y.bob, "nothing", ""},
		} {
			if got := y.listed(test.who, test.kind); got != test.want {
				t.Errorf("%s: %s sees %q, want %q", loaded, test.who.Email, got, test.want)
			}
		}
		y.Reload()
	}
	harness.Must[*ubl.Member](y.House, private, ubl.RemoveMember{Request: y.Request(y.bob), UserID: y.bob.UserID})
	if got := y.listed(y.bob, "workspace"); got != "w:general w:shared" {
		t.Errorf("after leaving, bob sees %q", got)
	}
	tenant := ubl.TenantName(y.ana.TenantID)
	y.Refused(ubl.CodeForbidden, tenant, ubl.ListContainers{Request: y.Request(y.eve)})
	y.Refused(ubl.CodeForbidden, tenant, ubl.ListContainers{Request: y.Request(y.eve), Receipted: true})
}

// TestLookingIsReceipted: a receipted list is an act under the TenantLicense, as
// often as it is asked; after the license has ended only the other goes on.
func TestLookingIsReceipted(t *testing.T) {
	w := openTools(t, harness.Options{})
	for _, kind := range []string{"", "workspace", "no such kind"} {
		head := w.head()
		look := ubl.ListContainers{Request: w.Request(w.bob), Kind: kind, Receipted: true}
		for n := range int64(2) {
			list := harness.Must[*ubl.ContainerList](w.House, w.tenant, look)
			if list.Receipt == nil || list.Receipt.Seq != head+1+2*n {
				t.Fatalf("kind %q: the receipt is %+v, the head was %d", kind, list.Receipt, head)
			}
		}
		atoms := w.since(head)
		if len(atoms) != 4 || atoms[2].Did != "office.workspace.list" || atoms[2].AgreementID != string(ubl.TenantAgreement(w.ana.TenantID)) ||
			atoms[2].This["tenant_id"] != string(w.ana.TenantID) || (atoms[2].This["kind"] == "workspace") != (kind == "workspace") || atoms[3].Outcome != "ok" {
			t.Errorf("kind %q: the atoms are %+v", kind, atoms)
		}
	}
	harness.Must[*ubl.AgreementView](w.House, w.tenant, ubl.EndAgreement{Request: w.Request(w.ana)})
	w.Refused(ubl.CodeForbidden, w.tenant, ubl.ListContainers{Request: w.Request(w.bob), Receipted: true})
	w.Refused(ubl.CodeForbidden, w.tenant, ubl.CreateContainer{Request: w.Request(w.ana), Kind: "workspace", Name: "late"})
	if list := harness.Must[*ubl.ContainerList](w.House, w.tenant, ubl.ListContainers{Request: w.Request(w.bob)}); len(list.Containers) != 1 {
		t.Errorf("after the end the list is %+v", list)
	}
	w.checkLedger()
}

// TestIssuingCredits: who makes credits, where they may go, and that a key makes
// them once.
func TestIssuingCredits(t *testing.T) {
	y := openYard(t, harness.Open(t, harness.Options{}))
	purse, sealed := y.found("wallet", "purse", ""), y.found("wallet", "sealed", "strict/values/sealed/disabled")
	shelf := y.found("workspace", "shelf", "")
	tenant := ubl.TenantName(y.ana.TenantID)
	for _, test := range []struct {
		what   string
		who    ubl.Identity
		to     ubl.ContainerID
		amount int64
		want   string
	}{
		{"an owner", y.ana, id(purse), 40, "40"},
		{"again", y.ana, id(purse), 2, "42"},
		{"a member", y.bob, id(purse), 1, "forbidden"},
		{"a stranger", y.eve, id(purse), 1, "forbidden"},
		{"nothing", y.ana, id(purse), 0, "validation_error"},
		{"less than nothing", y.ana, id(purse), -1, "validation_error"},
		{"more than fits a number", y.ana, id(purse), ubl.MaxCredits + 1, "validation_error"},
		{"into what is sealed", y.ana, id(sealed), 1, "forbidden"},
		{"into a workspace", y.ana, id(shelf), 1, "not_found"},
		{"into nothing", y.ana, "k:nowhere", 1, "not_found"},
		{"into a room", y.ana, "r:general", 1, "not_found"},
	} {
		if got := y.tell(tenant, ubl.IssueCredits{Request: y.Request(test.who), To: test.to, Amount: test.amount}); got != test.want {
			t.Errorf("%s: %s, want %s", test.what, got, test.want)
		}
	}
	issue := ubl.IssueCredits{Request: y.Request(y.ana), To: id(purse), Amount: 8}
	first := harness.Must[*ubl.Balance](y.House, tenant, issue)
	for range 2 {
		sameJSON(t, "a retry", harness.Must[*ubl.Balance](y.House, tenant, issue), first)
		y.Restart()
	}
	other := issue
	other.Amount++
	y.Refused(ubl.CodeIdempotencyConflict, tenant, other)
	if got := y.look(purse).Balance; got != 50 {
		t.Errorf("the purse holds %d, want 50", got)
	}
	harness.Must[*ubl.AgreementView](y.House, tenant, ubl.EndAgreement{Request: y.Request(y.ana)})
	y.Refused(ubl.CodeForbidden, tenant, ubl.IssueCredits{Request: y.Request(y.ana), To: id(purse), Amount: 1})
	y.checkLedger()
}

// TestCreditsAreIssuedOnce: wherever the commit fails, a retry of the key settles
// it, and the credits are there once.
func TestCreditsAreIssuedOnce(t *testing.T) {
	for point, fault := range crashPoints() {
		t.Run(point, func(t *testing.T) {
			h, v := openWithValve(t, actors.Limits{})
			y := openYard(t, h)
			purse, tenant := y.found("wallet", "purse", ""), ubl.TenantName(y.ana.TenantID)
			issue := ubl.IssueCredits{Request: h.Request(y.ana), To: id(purse), Amount: 7}
			v.setFault(fault(v))
			if _, err := h.Ask(context.Background(), tenant, issue); err != nil && ubl.CodeOf(err) != ubl.CodeUnavailable {
				t.Errorf("while commits fail: %v", err)
			}
			v.setFault(nil)
			settled := harness.Must[*ubl.Balance](h, tenant, issue)
			sameJSON(t, "a second retry", harness.Must[*ubl.Balance](h, tenant, issue), settled)
			if got := y.look(purse).Balance; got != 7 || settled.Balance != 7 {
				t.Errorf("the purse holds %d, and the answer says %d; want 7", got, settled.Balance)
			}
			y.checkLedger()
		})
	}
}

// TestShutOutOfContainers: who is shut out of the tenant leaves its containers;
// where the server dies in between, the sweep finishes that.
func TestShutOutOfContainers(t *testing.T) {
	h, v := openWithValve(t, actors.Limits{})
	y := openYard(t, h)
	purse, shelf := y.found("wallet", "purse", ""), y.found("workspace", "shelf", "")
	tenant := ubl.TenantName(y.ana.TenantID)
	own := harness.Must[*ubl.ContainerMade](h, tenant, ubl.CreateContainer{Request: h.Request(y.bob), Kind: "wallet", Name: "bob's"})
	bobs := ubl.ContainerName(y.ana.TenantID, own.Container.ContainerID)
	harness.Must[*ubl.Member](h, bobs, ubl.AddMember{Request: h.Request(y.bob), Member: ubl.Member{UserID: y.cem.UserID, Email: y.cem.Email, Role: ubl.RoleMember}})
	y.add(purse, y.bob, ubl.RoleMember)
	y.add(shelf, y.bob, ubl.RoleMember)

	v.setFault(func(b *ubl.Batch, settled func(error)) bool {
		if !holds(b, `"did":"container.remove"`) {
			return false
		}
		go settled(errors.New("the power went"))
		return true
	})
	h.Refused(ubl.CodeUnavailable, tenant, ubl.RemoveTenantMember{Request: h.Request(y.ana), UserID: y.bob.UserID})
	v.setFault(nil)
	h.Restart()
	members := func(of ubl.Name, as ubl.Identity) string {
		var said []string
		for _, m := range harness.Must[*ubl.AgreementView](h, of, ubl.GetAgreement{Who: as}).Members {
			said = append(said, m.Email+" "+string(m.Role))
		}
		return strings.Join(said, ", ")
	}
	if got := members(purse, y.ana); !strings.Contains(got, y.bob.Email) {
		t.Fatalf("bob is gone before the sweep: %s", got)
	}
	harness.Must[int](h, tenant, ubl.SweepRooms{Request: h.Request(ubl.Platform())})
	for of, want := range map[ubl.Name]string{purse: "ana@example.com owner", shelf: "ana@example.com owner"} {
		if got := members(of, y.ana); got != want {
			t.Errorf("%s has %s, want %s", of, got, want)
		}
	}
	if got := members(bobs, y.cem); got != "cem@example.com owner" { // its heir
		t.Errorf("what was bob's has %s", got)
	}
	y.checkLedger()
}

// holds reports whether an atom of the batch contains the text.
func holds(b *ubl.Batch, text string) bool {
	for _, a := range b.Atoms {
		if bytes.Contains(a, []byte(text)) {
			return true
		}
	}
	return false
}

// TestSweepCarriesTransfersOn: a transfer that the server died in the middle of
// is finished by the source's sweep, without its caller.
func TestSweepCarriesTransfersOn(t *testing.T) {
	for _, step := range []string{`"did":"container.receive"`, `"op":"transfer.arrived"`} {
		t.Run(step, func(t *testing.T) {
			h, v := openWithValve(t, actors.Limits{})
			y := openYard(t, h)
			from, to := y.found("wallet", "from", ""), y.found("wallet", "to", "")
			y.issue(from, 10)
			failed := false
			v.setFault(func(b *ubl.Batch, settled func(error)) bool {
				if !holds(b, step) {
					return false
				}
				failed = true
				go settled(errors.New("the power went"))
				return true
			})
			h.Refused(ubl.CodeUnavailable, from, ubl.Transfer{Request: h.Request(y.ana), To: id(to), Amount: 4})
			v.setFault(nil)
			if !failed {
				t.Fatal("no commit has this step")
			}
			h.Restart()
			if c := y.look(from); c.Balance != 6 || c.InTransit != 4 {
				t.Fatalf("after the crash the source has %d and %d in transit", c.Balance, c.InTransit)
			}
			y.sweep()
			if a, b := y.look(from), y.look(to); a.Balance != 6 || a.InTransit != 0 || b.Balance != 4 {
				t.Errorf("after the sweep the source has %d and %d in transit, the target %d", a.Balance, a.InTransit, b.Balance)
			}
			y.checkLedger()
		})
	}
}

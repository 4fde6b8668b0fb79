package actors_test

import (
	"encoding/json"
	"strings"
	"testing"

	"ubl"
	"ubl/actors/container"
	"ubl/test/harness"
)

// whoMay is the table of who may do what: the columns are an owner, another entry
// of the Agreement, someone of the tenant who is none, and someone of another
// tenant. "-" is not_found: the container might as well not exist.
const whoMay = `
                               owner      member     neighbour  stranger
open            look           ok         ok         ok         -
open            write          ok         ok         ok         -
open            carry out      ok         ok         ok         -
open            bring in       ok         ok         ok         -
open            invite         ok         forbidden  forbidden  -
collaborative   look           ok         ok         -          -
collaborative   write          ok         ok         -          -
collaborative   carry out      ok         ok         -          -
collaborative   bring in       ok         ok         -          -
collaborative   invite         ok         forbidden  -          -
gated           look           ok         ok         -          -
gated           write          ok         ok         -          -
gated           carry out      ok         forbidden  -          -
gated           bring in       ok         ok         -          -
gated           invite         ok         forbidden  -          -
sealed          look           ok         ok         -          -
sealed          write          forbidden  forbidden  -          -
sealed          carry out      forbidden  forbidden  -          -
sealed          bring in       forbidden  forbidden  -          -
sealed          invite         ok         forbidden  -          -
wallet          look           ok         ok         -          -
wallet          spend          ok         forbidden  -          -
wallet          give           ok         ok         ok         -
wallet          invite         ok         forbidden  -          -
sealed_wallet   look           ok         ok         -          -
sealed_wallet   spend          forbidden  forbidden  -          -
sealed_wallet   give           forbidden  forbidden  forbidden  -
`

// TestWhoMay asks for every cell of the table.
func TestWhoMay(t *testing.T) {
	y := openYard(t, harness.Open(t, harness.Options{}))
	people := []ubl.Identity{y.ana, y.bob, y.cem, y.eve}
	places := map[string]ubl.Name{
		"open":          y.found("workspace", "open", "versioned/objects/open/sandboxed"),
		"collaborative": y.found("workspace", "collaborative", ""),
		"gated":         y.found("workspace", "gated", "versioned/objects/gated/sandboxed"),
		"sealed":        y.found("workspace", "sealed", "versioned/objects/sealed/sandboxed"),
		"wallet":        y.found("wallet", "wallet", ""),
		"sealed_wallet": y.found("wallet", "sealed wallet", "strict/values/sealed/disabled"),
	}
	for _, at := range places {
		y.add(at, y.bob, ubl.RoleMember)
	}
	y.issue(places["wallet"], 1000)
	lines := strings.Split(strings.TrimSpace(whoMay), "\n")
	for _, line := range lines[1:] {
		place, do, cells := strings.TrimSpace(line[:16]), strings.TrimSpace(line[16:31]), strings.Fields(line[31:])
		for i, who := range people {
			want := strings.Replace(cells[i], "-", "not_found", 1)
			if got := y.does(who, do, places[place]); got != want {
				t.Errorf("%s, %s, %s: %s, want %s", place, do, who.Email, got, want)
			}
		}
	}
}

// does tries something in a container, and says what came of it.
func (y *yard) does(who ubl.Identity, do string, at ubl.Name) string {
	y.t.Helper()
	req := y.Request(who)
	switch do {
	case "look":
		got := y.tell(at, ubl.GetContainer{Who: who})
		for _, same := range []ubl.Command{
			ubl.GetAgreement{Who: who}, ubl.ListDocuments{Request: y.Request(who)}, ubl.Authorize{Request: y.Request(who), Op: ubl.OpRead},
			ubl.SearchDocuments{Request: y.Request(who), DocumentQuery: ubl.DocumentQuery{Query: "x"}}, ubl.GetDocument{Request: y.Request(who), DocumentID: "d:x"},
		} {
			told := y.tell(at, same)
			if refused := told == "not_found"; refused != (got == "not_found") {
				y.t.Errorf("%s looks at %s: %s, but %T: %s", who.Email, at, got, same, told)
			}
		}
		return got
	case "write":
		got := y.tell(at, ubl.CreateDocument{Request: req, Title: "x"})
		return strings.Replace(got, "x v1", "ok", 1)
	case "carry out":
		doc := ubl.DocumentID("d:none")
		if made := y.tell(at, ubl.CreateDocument{Request: y.Request(y.ana), Title: "x"}); made == "x v1" {
			doc = y.write(at, "mine", "text")
		}
		return y.tell(at, ubl.Transfer{Request: req, To: ubl.GeneralWorkspace, DocumentID: doc})
	case "bring in":
		from := ubl.ContainerName(who.TenantID, ubl.GeneralWorkspace)
		gift := harness.Must[*ubl.DocumentResult](y.House, from, ubl.CreateDocument{Request: y.Request(who), Title: "gift"})
		return y.tell(from, ubl.Transfer{Request: req, To: id(at), DocumentID: gift.Document.DocumentID})
	case "invite":
		m := ubl.Member{UserID: ubl.UserID("u:new-" + req.Key[len("req:"):]), Email: "new@example.com", Role: ubl.RoleMember}
		return y.tell(at, ubl.AddMember{Request: req, Member: m})
	case "spend":
		return y.tell(at, ubl.Transfer{Request: req, To: id(y.till()), Amount: 1})
	case "give":
		if who.TenantID != y.ana.TenantID {
			return strings.Replace(y.tell(at, container.Credit{Request: req, Amount: 1}), "1", "ok", 1)
		}
		return y.tell(y.purse(who), ubl.Transfer{Request: req, To: id(at), Amount: 1})
	}
	y.t.Fatalf("nobody knows how to %s", do)
	return ""
}

// till is a wallet that anyone may pay into.
func (y *yard) till() ubl.Name {
	till := ubl.ContainerName(y.ana.TenantID, "k:till")
	if y.tell(till, ubl.GetContainer{Who: y.ana}) == "not_found" {
		y.found("wallet", "till", "")
	}
	return till
}

// purse is a new wallet with some credits, of which someone is an owner.
func (y *yard) purse(who ubl.Identity) ubl.Name {
	purse := y.found("wallet", "purse "+y.Request(who).Key, "")
	if who.UserID != y.ana.UserID {
		y.add(purse, who, ubl.RoleOwner)
	}
	y.issue(purse, 10)
	return purse
}

// TestPrivateNamesAreNotGuessed: what a stranger to a private container is
// answered, and what it leaves in the ledger, is the same as for one that never was.
func TestPrivateNamesAreNotGuessed(t *testing.T) {
	y := openYard(t, harness.Open(t, harness.Options{}))
	private := y.found("workspace", "secret plans", "versioned/objects/gated/sandboxed")
	general := ubl.ContainerName(y.ana.TenantID, ubl.GeneralWorkspace)
	never := ubl.ContainerName(y.ana.TenantID, "w:never")
	doc, purse := y.write(general, "gift", "text"), y.purse(y.cem)
	y.tell(general, ubl.ListDocuments{Request: y.Request(y.cem)}) // who joins it, which leaves atoms once
	ask := func(to ubl.Name, cmd ubl.Command) (said string, atoms int64) {
		before := y.head()
		_, err := y.Ask(t.Context(), to, cmd)
		e := ubl.AsError(err)
		return string(e.Code) + " " + e.Message, y.head() - before
	}
	for _, cmd := range []func(of ubl.Name) (ubl.Name, ubl.Command){
		func(of ubl.Name) (ubl.Name, ubl.Command) { return of, ubl.GetContainer{Who: y.cem} },
		func(of ubl.Name) (ubl.Name, ubl.Command) { return of, ubl.GetAgreement{Who: y.cem} },
		func(of ubl.Name) (ubl.Name, ubl.Command) { return of, ubl.ListDocuments{Request: y.Request(y.cem)} },
		func(of ubl.Name) (ubl.Name, ubl.Command) { return of, ubl.EndAgreement{Request: y.Request(y.cem)} },
		func(of ubl.Name) (ubl.Name, ubl.Command) {
			return of, ubl.CreateDocument{Request: y.Request(y.cem), Title: ""}
		},
		func(of ubl.Name) (ubl.Name, ubl.Command) {
			return of, ubl.RemoveMember{Request: y.Request(y.cem), UserID: y.cem.UserID}
		},
		func(of ubl.Name) (ubl.Name, ubl.Command) {
			return general, ubl.Transfer{Request: y.Request(y.cem), To: id(of), DocumentID: doc}
		},
		func(of ubl.Name) (ubl.Name, ubl.Command) {
			return purse, ubl.Transfer{Request: y.Request(y.cem), To: id(of), Amount: 1}
		},
	} {
		to, secret := cmd(private)
		said, atoms := ask(to, secret)
		to, nothing := cmd(never)
		if wanted, none := ask(to, nothing); said != wanted || atoms != none || atoms != 0 {
			t.Errorf("%T: %q and %d atoms of a private container, %q and %d of none", secret, said, atoms, wanted, none)
		}
	}
}

// TestAfterTheEnd: an ended Agreement refuses every act; reading goes on under the
// TenantLicense.
func TestAfterTheEnd(t *testing.T) {
	y := openYard(t, harness.Open(t, harness.Options{}))
	w := y.found("workspace", "plans", "")
	doc := y.write(w, "Plan", "dig")
	y.add(w, y.bob, ubl.RoleOwner)
	view := harness.Must[*ubl.AgreementView](y.House, w, ubl.EndAgreement{Request: y.Request(y.ana)})
	if view.Status != ubl.AgreementEnded || len(view.Members) != 2 {
		t.Errorf("the ended Agreement: %+v", view)
	}
	title := "x"
	for _, refused := range []ubl.Command{
		ubl.CreateDocument{Request: y.Request(y.ana), Title: "x"},
		ubl.UpdateDocument{Request: y.Request(y.ana), DocumentID: doc, Title: &title},
		ubl.DeleteDocument{Request: y.Request(y.ana), DocumentID: doc},
		ubl.Transfer{Request: y.Request(y.ana), To: ubl.GeneralWorkspace, DocumentID: doc},
		ubl.AddMember{Request: y.Request(y.ana), Member: ubl.Member{UserID: y.cem.UserID, Role: ubl.RoleMember}},
		ubl.RemoveMember{Request: y.Request(y.bob), UserID: y.bob.UserID},
		ubl.EndAgreement{Request: y.Request(y.ana)},
		ubl.Authorize{Request: y.Request(y.ana), Op: ubl.OpWrite},
	} {
		if got := y.tell(w, refused); got != "forbidden" {
			t.Errorf("%T: %s", refused, got)
		}
	}
	general := ubl.ContainerName(y.ana.TenantID, ubl.GeneralWorkspace)
	gift := ubl.Transfer{Request: y.Request(y.ana), To: id(w), DocumentID: y.write(general, "gift", "")}
	before := y.head()
	if got := y.tell(general, gift); got != "forbidden" {
		t.Errorf("a gift to it: %s", got)
	}
	if got, want := y.agreements(before), "a:workspace:w:general "+string(ubl.TenantAgreement(y.ana.TenantID)); got != want {
		t.Errorf("the gift and its refusal are under %s, want %s", got, want)
	}
	if got := harness.Must[ubl.AgreementID](y.House, w, ubl.Authorize{Request: y.Request(y.bob), Op: ubl.OpRead}); got != ubl.TenantAgreement(y.ana.TenantID) {
		t.Errorf("reading is authorised by %s", got)
	}
	for _, read := range []ubl.Command{
		ubl.GetDocument{Request: y.Request(y.bob), DocumentID: doc}, ubl.ListDocuments{Request: y.Request(y.bob)},
		ubl.ListVersions{Request: y.Request(y.bob), DocumentID: doc}, ubl.SearchDocuments{Request: y.Request(y.bob), DocumentQuery: ubl.DocumentQuery{Query: "dig"}},
	} {
		before := y.head()
		if got := y.tell(w, read); !strings.HasPrefix(got, "Plan v1") {
			t.Errorf("%T: %s", read, got)
		}
		if got := y.agreements(before); got != string(ubl.TenantAgreement(y.ana.TenantID)) {
			t.Errorf("%T is under %s", read, got)
		}
	}
	y.checkLedger()
}

// agreements are those of the actions after a seq.
func (y *yard) agreements(after int64) string {
	y.t.Helper()
	var of []string
	y.eachAtom(after, func(atom json.RawMessage) {
		var a struct {
			Kind      string `json:"kind"`
			Agreement string `json:"agreement_id"`
		}
		if err := json.Unmarshal(atom, &a); err != nil {
			y.t.Fatal(err)
		}
		if ubl.IsAction(a.Kind) {
			of = append(of, a.Agreement)
		}
	})
	return strings.Join(of, " ")
}

// TestContainerMembership is a room's, with an index for the Tenant.
func TestContainerMembership(t *testing.T) {
	y := openYard(t, harness.Open(t, harness.Options{}))
	w := y.found("workspace", "private", "versioned/objects/gated/sandboxed")
	member := func(who ubl.Identity, role ubl.Role) ubl.Member {
		return ubl.Member{UserID: who.UserID, Email: who.Email, Role: role}
	}
	sees := func(who ubl.Identity) (seen bool) {
		list := harness.Must[*ubl.ContainerList](y.House, ubl.TenantName(who.TenantID), ubl.ListContainers{Request: y.Request(who)})
		for _, c := range list.Containers {
			seen = seen || c.ContainerID == id(w)
		}
		return seen
	}
	for i, step := range []struct {
		cmd  ubl.Command
		want string
		bob  bool // sees it then
	}{
		{ubl.AddMember{Request: y.Request(y.ana), Member: member(y.bob, "king")}, "validation_error", false},
		{ubl.AddMember{Request: y.Request(y.ana), Member: member(y.bob, ubl.RoleMember)}, "ok", true},
		{ubl.AddMember{Request: y.Request(y.ana), Member: member(y.bob, ubl.RoleOwner)}, "conflict", true},
		{ubl.SetMember{Request: y.Request(y.bob), UserID: y.bob.UserID, Role: ubl.RoleOwner}, "forbidden", true},
		{ubl.SetMember{Request: y.Request(y.ana), UserID: y.ana.UserID, Role: ubl.RoleMember}, "conflict", true},
		{ubl.SetMember{Request: y.Request(y.ana), UserID: y.cem.UserID, Role: ubl.RoleMember}, "not_found", true},
		{ubl.SetMember{Request: y.Request(y.ana), UserID: y.bob.UserID, Role: "king"}, "validation_error", true},
		{ubl.RemoveMember{Request: y.Request(y.ana), UserID: y.ana.UserID}, "conflict", true}, // the last owner
		{ubl.RemoveMember{Request: y.Request(y.ana), UserID: y.cem.UserID}, "not_found", true},
		{ubl.RemoveMember{Request: y.Request(y.bob), UserID: y.bob.UserID}, "ok", false},
		{ubl.RemoveMember{Request: y.Request(y.bob), UserID: y.bob.UserID}, "not_found", false},
		{ubl.AddMember{Request: y.Request(y.ana), Member: member(y.bob, ubl.RoleMember)}, "ok", true},
		{ubl.SetMember{Request: y.Request(y.ana), UserID: y.bob.UserID, Role: ubl.RoleOwner}, "ok", true},
		{ubl.SetMember{Request: y.Request(y.bob), UserID: y.ana.UserID, Role: ubl.RoleMember}, "ok", true},
		{ubl.RemoveMember{Request: y.Request(y.bob), UserID: y.ana.UserID}, "ok", true},
		{ubl.GetContainer{Who: y.ana}, "not_found", true},
	} {
		if got := y.tell(w, step.cmd); got != step.want {
			t.Errorf("step %d, %T: %s, want %s", i, step.cmd, got, step.want)
		}
		if got := sees(y.bob); got != step.bob {
			t.Errorf("step %d, %T: bob sees the container: %v", i, step.cmd, got)
		}
	}
	view := harness.Must[*ubl.AgreementView](y.House, w, ubl.GetAgreement{Who: y.bob})
	var history []string
	for _, c := range view.History {
		history = append(history, string(c.Did))
	}
	want := "office.workspace.create container.invite container.leave container.invite container.member.update container.member.update container.remove"
	if got := strings.Join(history, " "); got != want {
		t.Errorf("the history is %s", got)
	}
	if *view.Physics != *physics("versioned/objects/gated/sandboxed") || view.Type != ubl.WorkspaceAgreementType || view.ID != "a:workspace:w:private" {
		t.Errorf("the Agreement is %+v", view.Agreement)
	}
	y.checkLedger()
}

// TestExpelledOwnerOfAContainer: a container whose only owner is shut out of the
// tenant passes to its oldest entry.
func TestExpelledOwnerOfAContainer(t *testing.T) {
	y := openYard(t, harness.Open(t, harness.Options{}))
	tenant := ubl.TenantName(y.ana.TenantID)
	made := harness.Must[*ubl.ContainerMade](y.House, tenant, ubl.CreateContainer{Request: y.Request(y.bob), Kind: "wallet", Name: "bob's"})
	purse := ubl.ContainerName(y.ana.TenantID, made.Container.ContainerID)
	harness.Must[*ubl.Member](y.House, purse, ubl.AddMember{Request: y.Request(y.bob), Member: ubl.Member{UserID: y.ana.UserID, Email: y.ana.Email, Role: ubl.RoleMember}})
	harness.Must[*ubl.Member](y.House, tenant, ubl.RemoveTenantMember{Request: y.Request(y.ana), UserID: y.bob.UserID})
	for range 2 {
		view := harness.Must[*ubl.AgreementView](y.House, purse, ubl.GetAgreement{Who: y.ana})
		if len(view.Members) != 1 || view.Members[0].UserID != y.ana.UserID || view.Members[0].Role != ubl.RoleOwner {
			t.Errorf("its entries are %+v", view.Members)
		}
		y.Reload()
	}
}

package ubl

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
)

// acme are people as an Agreement of t:acme.com sees them.
var acme = map[string]Identity{
	"owner": {UserID: "u:ana", TenantID: "t:acme.com"}, "member": {UserID: "u:bob", TenantID: "t:acme.com", Groups: []string{"staff"}},
	"neighbour": {UserID: "u:cem", TenantID: "t:acme.com", Groups: []string{"staff"}}, "stranger": {UserID: "u:ana", TenantID: "t:else.org"}, "anonymous": {},
}

func agreed(permits ...Permit) *Agreement {
	return &Agreement{
		ID: "a:room:r:plans", Type: RoomGovernance, TenantID: "t:acme.com", Status: AgreementInForce,
		Terms: &Terms{Form: TermsForm, Accept: AcceptProposer, Permits: permits},
		Members: map[UserID]Member{
			"u:ana": {UserID: "u:ana", Name: "Ana", Email: "ana@acme.com", Role: RoleOwner, Since: 1000},
			"u:bob": {UserID: "u:bob", Role: RoleMember, IsService: true, Unproven: true, Since: 2000},
		},
	}
}

// TestTermsPermit asks for each way to say to whom, and each way to say what.
func TestTermsPermit(t *testing.T) {
	for _, at := range []struct {
		did string
		to  []string
		act Did
		who string // who may
	}{
		{"messenger.send", []string{ToOwners}, DidSend, "owner"},
		{"messenger.send", []string{ToEntries}, DidSend, "member owner"},
		{"messenger.send", []string{ToTenant}, DidSend, "member neighbour owner"},
		{"messenger.send", []string{ToAnyone}, DidSend, "anonymous member neighbour owner stranger"},
		{"messenger.send", []string{"u:ana"}, DidSend, "owner"},
		{"messenger.send", []string{"u:cem"}, DidSend, ""}, // no entry of the Agreement
		{"messenger.send", []string{ToGroup + "staff"}, DidSend, "member"},
		{"messenger.send", []string{ToGroup + "staff", ToOwners}, DidSend, "member owner"},
		{"messenger.*", []string{ToEntries}, DidSend, "member owner"},
		{"*", []string{ToEntries}, DidSend, "member owner"},
		{"messenger.sen", []string{ToEntries}, DidSend, ""},
		{"room.*", []string{ToEntries}, DidSend, ""},
		{"room.*", []string{ToOwners}, DidRoomLeave, "member owner"}, // every entry's right
		{"room.*", []string{ToOwners}, "agreement.get", "member owner"},
		{"room.*", []string{ToOwners}, "messenger.history", "member owner"},
		{"room.*", []string{ToOwners}, DidAgreementAccept, "member owner"},
	} {
		a := agreed(Permit{Did: at.did, To: at.to})
		var may []string
		for name, who := range acme {
			switch CodeOf(a.Permits(at.act, who, CodeNotAMember)) {
			case "":
				may = append(may, name)
			case CodeNotAMember, CodeForbidden:
			default:
				t.Errorf("%v: %s gets %v", at, name, a.Permits(at.act, who, CodeNotAMember))
			}
		}
		slices.Sort(may)
		if got := strings.Join(may, " "); got != at.who {
			t.Errorf("%s to %v lets %q do %s, want %q", at.did, at.to, got, at.act, at.who)
		}
	}
	ended := agreed(Permit{Did: "*", To: []string{ToAnyone}})
	ended.Status = AgreementEnded
	if err := ended.Permits(DidSend, acme["owner"], CodeNotAMember); CodeOf(err) != CodeForbidden {
		t.Errorf("after its end: %v", err)
	}
	if err := ended.Shows("room.get", ended.Standing(acme["owner"]), CodeNotAMember); err != nil {
		t.Errorf("nobody looks after the end: %v", err)
	}
}

// TestTermsCheck refuses what no terms can say, and names the place.
func TestTermsCheck(t *testing.T) {
	good := func() Terms {
		return Terms{
			Form: TermsForm, Accept: AcceptOwners, From: 1, Until: 2, Obligations: []string{"Keep it.\nAll of it."},
			Permits: []Permit{{"*", []string{ToOwners}}, {"messenger.history", []string{ToEntries, "u:bob", ToGroup + "staff"}}},
			Limits:  []Limit{{Did: "messenger.send", PerMinute: 60}, {Did: "office.document.*", Bytes: 1000, Together: true}},
		}
	}
	if all := good(); all.Check() != nil {
		t.Fatalf("good terms: %v %v", all.Check(), AsError(all.Check()).Details)
	}
	for place, spoil := range map[string]func(*Terms){
		"form":              func(t *Terms) { t.Form = "terms.v2" },
		"accept":            func(t *Terms) { t.Accept = "king" },
		"until":             func(t *Terms) { t.From = 2 },
		"permits":           func(t *Terms) { t.Permits[0].Did = "room.*" }, // nobody proposes others ever after
		"permits.did":       func(t *Terms) { t.Permits[1].Did = "messenger.shout" },
		"permits.to":        func(t *Terms) { t.Permits[1].To = []string{"king"} },
		"limits.did":        func(t *Terms) { t.Limits[0].Did = "" },
		"limits.per_minute": func(t *Terms) { t.Limits[0].PerMinute = MaxPerMinute + 1 },
		"limits.bytes":      func(t *Terms) { t.Limits[1].Bytes = -1 },
		"limits":            func(t *Terms) { t.Limits[0].PerMinute = 0 },
		"size": func(t *Terms) {
			for range 40 {
				t.Permits = append(t.Permits, Permit{"office.*", slices.Repeat([]string{ToGroup + strings.Repeat("g", 128)}, 20)})
			}
		},
		"obligations": func(t *Terms) { t.Obligations[0] = "\x07" },
	} {
		terms := good()
		spoil(&terms)
		if _, named := AsError(terms.Check()).Details["terms."+place]; !named {
			t.Errorf("%s: %v %v", place, terms.Check(), AsError(terms.Check()).Details)
		}
	}
}

// TestTermsBound: content that is too large, and moments outside.
func TestTermsBound(t *testing.T) {
	terms := &Terms{From: 10, Until: 20, Limits: []Limit{{Did: "messenger.*", Bytes: 5}, {Did: "office.*", PerMinute: 3}}}
	for _, at := range []struct {
		did   Did
		bytes int
		fits  bool
	}{{DidSend, 5, true}, {DidSend, 6, false}, {DidDocumentCreate, 6, true}} {
		if err := terms.Fits(at.did, at.bytes); (err == nil) != at.fits || err != nil && CodeOf(err) != CodeTooLarge {
			t.Errorf("%v: %v", at, err)
		}
	}
	sending := &Terms{Limits: []Limit{{Did: string(DidSend), Bytes: 5}}}
	for did, fits := range map[Did]bool{DidSend: false, DidEdit: false, DidPollCreate: false, DidFormCreate: false, DidReact: true} {
		if err := sending.Fits(did, 6); (err == nil) != fits {
			t.Errorf("%s beside a limit of messages: %v", did, err)
		}
	}
	for now, runs := range map[Time]bool{9: false, 10: true, 19: true, 20: false} {
		if err := terms.Running(now); (err == nil) != runs {
			t.Errorf("at %d: %v", now, err)
		}
	}
	if l := terms.LimitsOf(DidDocumentGet); len(l) != 1 || l[0].PerMinute != 3 {
		t.Errorf("the limits of a read are %v", l)
	}
}

// TestAgreementHash: who reads a record computes its hash from what is served, as the comment
// of Hash says. What is for reading only changes nothing, everything else does.
func TestAgreementHash(t *testing.T) {
	physics, at := RoomPhysics(), Time(3000)
	full := func() *Agreement {
		a := agreed(Permit{Did: "messenger.*", To: []string{ToEntries}})
		a.CreatedAt, a.CreatedBy, a.EndedAt, a.SealedAt, a.NamedHeir, a.Physics = 1000, "u:ana", &at, &at, "u:bob", &physics
		a.Mandate, a.Salt = &Mandate{Tools: []string{"messenger.*"}, PerMinute: 60}, Salt{7}
		a.Terms.Until, a.Terms.Obligations = at, []string{"<b> \u2028"}
		return a
	}
	for _, a := range []*Agreement{full(), agreed(), {ID: "a:tool:x", Type: ToolAccessType, TenantID: "t:acme.com", Status: AgreementInForce}} {
		served, err := json.Marshal(a.View(nil))
		if err != nil {
			t.Fatal(err)
		}
		var record map[string]any
		if err := json.Unmarshal(served, &record); err != nil {
			t.Fatal(err)
		}
		if record["hash"] != a.Hash() {
			t.Errorf("%s is served with the hash %v, which is %s", a.ID, record["hash"], a.Hash())
		}
		keep(record, "created_at", "created_by", "ended_at", "heir", "id", "mandate", "members", "physics", "salt", "sealed_at", "status", "tenant_id", "terms", "type")
		for _, m := range record["members"].([]any) {
			keep(m.(map[string]any), "is_service", "role", "since", "user_id")
		}
		left, err := json.Marshal(record)
		if err == nil {
			left, err = Canonical(left)
		}
		if got := prefixedHash("g:", left); err != nil || got != a.Hash() {
			t.Errorf("%s: computed %s, the hash is %s: %v\n%s", a.ID, got, a.Hash(), err, left)
		}
	}
	entry := func(change func(*Member)) func(*Agreement) {
		return func(a *Agreement) {
			m := a.Members["u:ana"]
			change(&m)
			a.Members["u:ana"] = m
		}
	}
	for what, change := range map[string]func(*Agreement){
		"a name":      entry(func(m *Member) { m.Name, m.Alike = "Anna", true }),
		"an address":  entry(func(m *Member) { m.Email, m.Unproven, m.InvitedBy = "anna@acme.com", true, "u:bob" }),
		"a proposal":  func(a *Agreement) { a.Proposal = &Proposal{} },
		"its step":    func(a *Agreement) { a.Amended = 7 },
		"!a role":     entry(func(m *Member) { m.Role = RoleMember }),
		"!an entry":   func(a *Agreement) { delete(a.Members, "u:bob") },
		"!a permit":   func(a *Agreement) { a.Terms.Permits[0].To = []string{ToOwners} },
		"!the status": func(a *Agreement) { a.Status = AgreementEnded },
		"!the salt":   func(a *Agreement) { a.Salt = Salt{8} },
		"!no salt":    func(a *Agreement) { a.Salt = Salt{} },
		"!the heir":   func(a *Agreement) { a.NamedHeir = "" },
		"!physics":    func(a *Agreement) { a.Physics = &Physics{} },
		"!a sealing":  func(a *Agreement) { a.SealedAt = nil },
		"!its end":    func(a *Agreement) { a.EndedAt = nil },
	} {
		a := full()
		if change(a); (a.Hash() != full().Hash()) != strings.HasPrefix(what, "!") {
			t.Errorf("%s: the hash is %s, before %s", what, a.Hash(), full().Hash())
		}
	}
}

func keep(record map[string]any, names ...string) {
	maps.DeleteFunc(record, func(name string, _ any) bool { return !slices.Contains(names, name) })
}

// BenchmarkAgreementHash: a record is hashed once for each change of it.
func BenchmarkAgreementHash(b *testing.B) {
	for _, n := range []int{10, 1000, 10_000} {
		a := agreed(Permit{Did: "messenger.*", To: []string{ToEntries}})
		for i := range n {
			id := UserID(fmt.Sprintf("u:member-%d@example.com", i))
			a.Members[id] = Member{UserID: id, Role: RoleMember, Since: 1000}
		}
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			for b.Loop() {
				a.Hash()
			}
		})
	}
}

// BenchmarkPermit: every act asks, and every use of a tool that names a thousand people.
func BenchmarkPermit(b *testing.B) {
	record := &ToolAccess{Tool: "files.read", Allowed: true}
	for i := range MaxToolUsers {
		record.Users = append(record.Users, UserID(fmt.Sprintf("u:member-%d@example.com", i)))
	}
	terms, who := record.Terms(), Stance{Who: Identity{UserID: "u:nobody"}, Role: RoleMember, Inside: true}
	b.ReportAllocs()
	for b.Loop() {
		if terms.Permit("files.read", who) {
			b.Fatal("nobody is among them")
		}
	}
}

package actors_test

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"ubl"
	"ubl/test/harness"
)

// TestToolAccessRecord is the life of a record: written by owners, changed,
// listed with the receipts of its acts, ended for good.
func TestToolAccessRecord(t *testing.T) {
	w := openTools(t, harness.Options{})
	first := ubl.SetToolAccess{Request: w.Request(w.ana), Tool: "files.read", Allowed: true,
		Users: []ubl.UserID{w.ana.UserID, w.bob.UserID, w.ana.UserID}, Groups: []string{"ops", "art <b> é"}, PerMinute: 60}
	w.Refused(ubl.CodeForbidden, w.tenant, ubl.SetToolAccess{Request: w.Request(w.bob), Tool: "files.read", Allowed: true})
	head := w.head()
	made := harness.Must[*ubl.ToolAccess](w.House, w.tenant, first)
	atoms := w.since(head)
	if len(atoms) != 2 || made.Receipt.CID != atoms[0].CID || made.Receipt.Seq != head+1 {
		t.Fatalf("the receipt is %+v, the atoms %+v", made.Receipt, atoms)
	}
	if a := atoms[0]; a.Did != "tool.access" || a.AgreementID != string(ubl.TenantAgreement(w.ana.TenantID)) ||
		a.This["agreement_id"] != "a:tool:files.read" || a.This["users"] != 2.0 || a.This["groups"] != 2.0 || a.This["allowed"] != true {
		t.Errorf("the action is %+v", a)
	}
	terms, err := ubl.Canonical([]byte(fmt.Sprintf(`{"tool":"files.read","allowed":true,"users":[%q,%q],"groups":["art <b> é","ops"],"per_minute":60}`,
		min(w.ana.UserID, w.bob.UserID), max(w.ana.UserID, w.bob.UserID))))
	if err != nil || atoms[0].This["terms_hash"] != ubl.BodyHash(terms) {
		t.Errorf("the hash is not that of %s (%v)", terms, err)
	}

	second := w.set(ubl.SetToolAccess{Tool: "a.first", Allowed: false})
	w.Clock.Add(time.Minute)
	changed := w.set(ubl.SetToolAccess{Tool: "files.read", Allowed: true, PerMinute: 5})
	again := harness.Must[*ubl.ToolAccess](w.House, w.tenant, first) // answered as then
	sameJSON(t, "a retry", again, made)
	first.PerMinute++
	w.Refused(ubl.CodeIdempotencyConflict, w.tenant, first)

	list := func() []*ubl.ToolAccess {
		return harness.Must[[]*ubl.ToolAccess](w.House, w.tenant, ubl.ListToolAccess{Who: w.bob})
	}
	sameJSON(t, "the list", list(), []*ubl.ToolAccess{second, changed})
	sameJSON(t, "the platform's list", harness.Must[[]*ubl.ToolAccess](w.House, w.tenant, ubl.ListToolAccess{Who: ubl.Platform()}), list())
	w.Refused(ubl.CodeForbidden, w.tenant, ubl.ListToolAccess{Who: w.eve})
	if changed.Users == nil || changed.Groups == nil {
		t.Error("a list of nobody is null")
	}

	record := ubl.ToolAgreement("files.read")
	w.Refused(ubl.CodeForbidden, w.tenant, ubl.EndAgreement{Request: w.Request(w.bob), Agreement: record})
	w.Refused(ubl.CodeNotFound, w.tenant, ubl.EndAgreement{Request: w.Request(w.ana), Agreement: ubl.ToolAgreement("files.write")})
	w.Refused(ubl.CodeNotFound, w.tenant, ubl.EndAgreement{Request: w.Request(w.ana), Agreement: "a:room:r:general"})
	end := ubl.EndAgreement{Request: w.Request(w.ana), Agreement: record}
	ended := harness.Must[*ubl.AgreementView](w.House, w.tenant, end)
	if ended.ID != record || ended.Status != ubl.AgreementEnded || ended.Type != ubl.ToolAccessType || ended.Physics != nil {
		t.Errorf("the ended record is %+v", ended)
	}
	for _, loaded := range []string{"live", "loaded anew"} {
		sameJSON(t, loaded+": the end's retry", harness.Must[*ubl.AgreementView](w.House, w.tenant, end), ended)
		if got := w.use(w.bob, "files.read", false); got != ubl.CodeForbidden {
			t.Errorf("%s: a tool whose record has ended is answered %q", loaded, got)
		}
		w.Refused(ubl.CodeForbidden, w.tenant, ubl.SetToolAccess{Request: w.Request(w.ana), Tool: "files.read", Allowed: true})
		w.Refused(ubl.CodeForbidden, w.tenant, ubl.EndAgreement{Request: w.Request(w.ana), Agreement: record})
		if l := list(); len(l) != 2 || l[1].Allowed || l[1].PerMinute != 5 || l[1].Receipt.Seq <= changed.Receipt.Seq {
			t.Errorf("%s: the list shows %+v", loaded, l[1])
		}
		view := harness.Must[*ubl.AgreementView](w.House, w.tenant, ubl.GetAgreement{Who: w.bob, Agreement: record})
		var dids []string
		for _, step := range view.History {
			dids = append(dids, string(step.Did))
		}
		if !slices.Equal(dids, []string{"tool.access", "tool.access", "agreement.end"}) || view.History[0].Receipt != made.Receipt {
			t.Errorf("%s: the history is %+v", loaded, view.History)
		}
		for _, id := range []ubl.AgreementID{"", ubl.TenantAgreement(w.ana.TenantID)} {
			license := harness.Must[*ubl.AgreementView](w.House, w.tenant, ubl.GetAgreement{Who: w.bob, Agreement: id})
			if license.Type != ubl.TenantLicense || license.Status != ubl.AgreementInForce || len(license.History) != 3 {
				t.Errorf("%s: the TenantLicense is %+v", loaded, license)
			}
		}
		w.Refused(ubl.CodeNotFound, w.tenant, ubl.GetAgreement{Who: w.bob, Agreement: ubl.ToolAgreement("files.write")})
		w.Refused(ubl.CodeNotFound, w.tenant, ubl.GetAgreement{Who: w.bob, Agreement: "a:tenant:t:elsewhere.org"})
		w.Reload()
	}
	w.checkLedger()
}

func sameJSON(t *testing.T, what string, got, want any) {
	t.Helper()
	g, _ := json.Marshal(got)
	if w, _ := json.Marshal(want); string(g) != string(w) {
		t.Errorf("%s is\n%s, want\n%s", what, g, w)
	}
}

// TestBadToolAccess: terms that can't be change nothing.
func TestBadToolAccess(t *testing.T) {
	w := openTools(t, harness.Options{})
	users := make([]ubl.UserID, ubl.MaxToolUsers+1)
	for i := range users {
		users[i] = ubl.UserID(fmt.Sprint("u:", i))
	}
	groups := strings.Split(strings.Repeat("g,", ubl.MaxToolGroups)+"g", ",")
	for i := range groups {
		groups[i] += fmt.Sprint(i)
	}
	head := w.head()
	for _, test := range []struct {
		what string
		cmd  ubl.SetToolAccess
		want ubl.Code
	}{
		{"no name", ubl.SetToolAccess{}, ubl.CodeValidation},
		{"a blank in the name", ubl.SetToolAccess{Tool: "a b"}, ubl.CodeValidation},
		{"a name too long", ubl.SetToolAccess{Tool: strings.Repeat("x", ubl.MaxToolName+1)}, ubl.CodeValidation},
		{"a user of another form", ubl.SetToolAccess{Tool: "a", Users: []ubl.UserID{"r:general"}}, ubl.CodeValidation},
		{"too many users", ubl.SetToolAccess{Tool: "a", Users: users}, ubl.CodeValidation},
		{"an empty group", ubl.SetToolAccess{Tool: "a", Groups: []string{""}}, ubl.CodeValidation},
		{"a group of broken text", ubl.SetToolAccess{Tool: "a", Groups: []string{"\xff"}}, ubl.CodeValidation},
		{"a group with a line in it", ubl.SetToolAccess{Tool: "a", Groups: []string{"a\nb"}}, ubl.CodeValidation},
		{"too many groups", ubl.SetToolAccess{Tool: "a", Groups: groups}, ubl.CodeValidation},
		{"a limit below none", ubl.SetToolAccess{Tool: "a", PerMinute: -1}, ubl.CodeValidation},
		{"a limit too high", ubl.SetToolAccess{Tool: "a", PerMinute: ubl.MaxPerMinute + 1}, ubl.CodeValidation},
		{"the way back", ubl.SetToolAccess{Tool: "tool.access"}, ubl.CodeConflict},
	} {
		test.cmd.Request = w.Request(w.ana)
		if _, err := w.Ask(context.Background(), w.tenant, test.cmd); ubl.CodeOf(err) != test.want {
			t.Errorf("%s: %v, want %s", test.what, err, test.want)
		}
	}
	if w.head() != head {
		t.Error("a refused record left atoms")
	}
	w.set(ubl.SetToolAccess{Tool: "a", Users: []ubl.UserID{w.ana.UserID}, Groups: groups[1:], PerMinute: ubl.MaxPerMinute})
}

// TestToolRecordsAreBounded: a tenant has so many records, which name so many users and
// groups together, and strangers none. What is there can always be shortened and closed,
// also about who has left.
func TestToolRecordsAreBounded(t *testing.T) {
	w := openTools(t, harness.Options{Quota: func(limit string, have int) error {
		if limit == ubl.QuotaTools && have >= 101 {
			return ubl.Errorf(ubl.CodeRateLimited, "enough")
		}
		return nil
	}})
	groups := make([]string, ubl.MaxToolGroups)
	for i := range groups {
		groups[i] = fmt.Sprint("g", i)
	}
	refused := func(code ubl.Code, c ubl.SetToolAccess) {
		t.Helper()
		c.Request = w.Request(w.ana)
		w.Refused(code, w.tenant, c)
	}
	refused(ubl.CodeValidation, ubl.SetToolAccess{Tool: "a", Allowed: true, Users: []ubl.UserID{"u:stranger"}})
	w.set(ubl.SetToolAccess{Tool: "a", Allowed: true, Users: []ubl.UserID{w.bob.UserID}})
	for i := range 99 {
		w.set(ubl.SetToolAccess{Tool: fmt.Sprint("files.t", i), Allowed: true, Groups: groups})
	}
	refused(ubl.CodeConflict, ubl.SetToolAccess{Tool: "files.last", Allowed: true, Groups: groups})
	w.set(ubl.SetToolAccess{Tool: "files.last", Allowed: true, Groups: groups[1:]})
	refused(ubl.CodeConflict, ubl.SetToolAccess{Tool: "files.last", Allowed: true, Groups: groups})
	w.set(ubl.SetToolAccess{Tool: "files.last", Groups: groups[1:]})
	w.set(ubl.SetToolAccess{Tool: "files.last", Groups: groups[2:]})
	refused(ubl.CodeRateLimited, ubl.SetToolAccess{Tool: "one.more", Allowed: true})

	harness.Must[*ubl.Member](w.House, w.tenant, ubl.RemoveTenantMember{Request: w.Request(w.ana), UserID: w.bob.UserID})
	w.set(ubl.SetToolAccess{Tool: "a", Users: []ubl.UserID{w.bob.UserID}})
	refused(ubl.CodeValidation, ubl.SetToolAccess{Tool: "files.t0", Allowed: true, Users: []ubl.UserID{w.bob.UserID}})

	list := func(c ubl.ListToolAccess) []*ubl.ToolAccess {
		c.Who = w.ana
		return harness.Must[[]*ubl.ToolAccess](w.House, w.tenant, c)
	}
	if all, some := list(ubl.ListToolAccess{Brief: true}), list(ubl.ListToolAccess{Only: []string{"none", "files.t7", "a"}}); len(all) != 101 ||
		all[0].AgreementID != "a:tool:a" || all[0].Users != nil || len(some) != 2 || some[1].Tool != "files.t7" || len(some[1].Groups) != 100 {
		t.Errorf("%d brief records, from %+v; of some %+v", len(all), all[0], some)
	}
}

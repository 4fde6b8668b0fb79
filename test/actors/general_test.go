package actors_test

import (
	"strings"
	"testing"

	"ubl"
	"ubl/test/harness"
)

// TestGeneralIsJoined: a member of the tenant joins w:general with their first act
// there, in one commit; who left or was removed stays out, and is shown no list of it.
func TestGeneralIsJoined(t *testing.T) {
	y := openYard(t, harness.Open(t, harness.Options{}))
	general := ubl.ContainerName(y.ana.TenantID, ubl.GeneralWorkspace)
	if got := y.entries(general, y.ana); got != "ana owner" {
		t.Fatalf("at first it has %s", got)
	}
	if c := harness.Must[*ubl.Container](y.House, general, ubl.GetContainer{Who: y.bob}); c.Member {
		t.Error("a look at the configuration has made bob a member")
	}
	before := y.head()
	if got := y.tell(general, ubl.CreateDocument{Request: y.Request(y.bob), Title: "first"}); got != "first v1" {
		t.Fatalf("bob's first document: %s", got)
	}
	if got, want := y.agreements(before), string(ubl.TenantAgreement(y.ana.TenantID))+" a:workspace:w:general"; got != want {
		t.Errorf("under %s, want %s", got, want)
	}
	y.Refused(ubl.CodeValidation, general, ubl.CreateDocument{Request: y.Request(y.cem)}) // he is in all the same
	for range 2 {
		if got := y.entries(general, y.ana); got != "ana owner, bob member, cem member" {
			t.Errorf("it has %s", got)
		}
		y.Reload()
	}
	for who, by := range map[string]ubl.Identity{"bob left": y.bob, "cem was removed": y.ana} {
		user := y.cem
		if strings.HasPrefix(who, "bob") {
			user = y.bob
		}
		harness.Must[*ubl.Member](y.House, general, ubl.RemoveMember{Request: y.Request(by), UserID: user.UserID})
		for range 2 {
			if got := y.tell(general, ubl.ListDocuments{Request: y.Request(user)}); got != "not_found" {
				t.Errorf("%s, and is answered %s", who, got)
			}
			if got := y.listed(user, "workspace"); got != "" {
				t.Errorf("%s, and sees %q", who, got)
			}
			y.Reload()
		}
	}
	y.Refused(ubl.CodeNotFound, general, ubl.ListDocuments{Request: y.Request(y.eve)})
	y.checkLedger()
}

// TestStandingOfActs: who acts in an open container does so under its own Agreement, which
// lets in the whole tenant, with an entry or without. Nothing runs in what is public.
func TestStandingOfActs(t *testing.T) {
	y := openYard(t, harness.Open(t, harness.Options{}))
	wide := y.found("workspace", "wide", "versioned/objects/open/sandboxed")
	before := y.head()
	y.tell(wide, ubl.CreateDocument{Request: y.Request(y.cem), Title: "x"})
	y.tell(wide, ubl.ListDocuments{Request: y.Request(y.cem)})
	if got, want := y.agreements(before), "a:workspace:w:wide a:workspace:w:wide"; got != want {
		t.Errorf("cem acts under %s, want %s", got, want)
	}
	if got := harness.Must[ubl.AgreementID](y.House, wide, ubl.Authorize{Request: y.Request(y.cem), Op: ubl.OpExecute}); got != "a:workspace:w:wide" {
		t.Errorf("cem runs things under %s", got)
	}
	before = y.head()
	y.tell(wide, ubl.CreateDocument{Request: y.Request(y.ana), Title: "x"})
	if got := y.agreements(before); got != "a:workspace:w:wide" {
		t.Errorf("ana acts under %s", got)
	}
	y.Refused(ubl.CodeValidation, ubl.TenantName(y.ana.TenantID), ubl.CreateContainer{
		Request: y.Request(y.ana), Kind: "workspace", Name: "all", Physics: physics("versioned/objects/public/sandboxed")})
	y.checkLedger()
}

// TestGeneralFirstFile: whose first act in the general workspace is to put a file joins with the
// question whether they may, which comes before its content.
func TestGeneralFirstFile(t *testing.T) {
	y := openYard(t, harness.Open(t, harness.Options{}))
	general := ubl.ContainerName(y.ana.TenantID, ubl.GeneralWorkspace)
	if _, err := y.Ask(t.Context(), general, ubl.PrepareFile{Request: y.Request(y.bob), Name: "a.txt", Type: "text/plain", Bytes: 1}); err != nil {
		t.Error(err)
	}
}

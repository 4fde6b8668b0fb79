package auth

import (
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/descope/virtualwebauthn"
	"github.com/oauth2-proxy/mockoidc"

	"ubl"
	"ubl/test/harness"
)

// doorway is a house with a provider, and an owner who invites.
type doorway struct {
	*desk
	p    *idp
	boss ubl.Identity
}

func openDoorway(t *testing.T) *doorway {
	t.Helper()
	p := startIDP(t, "", nil)
	d := &doorway{desk: openOIDC(t, p), p: p}
	d.boss = d.person("boss@corp.example")
	return d
}

// guest is the browser of whoever accepted an invitation of the address.
func (d *doorway) guest(t *testing.T, email string) *visitor {
	t.Helper()
	c, path, err := d.NewInvitation("t:corp.example", email)
	if err != nil {
		t.Fatal(err)
	}
	c.Request, c.Role, c.TTL = d.house.Request(d.boss), ubl.RoleMember, time.Hour
	harness.Must[*ubl.Invitation](d.house, "t:corp.example", c)
	v := d.visitor(t)
	if w := v.post(path, "", asForm); w.Code != http.StatusSeeOther {
		t.Fatalf("accepting is answered %d %s", w.Code, w.Body)
	}
	return v
}

// atProvider signs a browser in there, to prove its address where that is said.
func (d *doorway) atProvider(t *testing.T, v *visitor, prove, subject, email string) (code int, body string) {
	t.Helper()
	w := v.send(http.MethodGet, "/auth/oidc/"+idOf(d.p)+"/start?prove="+prove, "", fromSite("same-origin"))
	if w.Code != http.StatusFound {
		return w.Code, w.Body.String()
	}
	way, err := url.Parse(w.Header().Get("Location"))
	if err != nil {
		t.Fatal(err)
	}
	back := d.p.at(t, way, &mockoidc.MockUser{Subject: subject, Email: email, EmailVerified: true})
	w = v.open(back.RequestURI())
	return w.Code, w.Body.String()
}

func (d *doorway) member(t *testing.T, id ubl.UserID) ubl.Member {
	t.Helper()
	return *harness.Must[*ubl.Member](d.house, "t:corp.example", ubl.FindMember{Who: d.boss, UserID: id})
}

// TestLinkMakesNobodySomebody: an owner who opens the link made for the boss of all is
// neither them nor in their way. The real one signs in to an id of their own.
func TestLinkMakesNobodySomebody(t *testing.T) {
	d := openDoorway(t)
	posing := d.guest(t, "ceo@corp.example").session()
	if !posing.Unproven || posing.UserID == ubl.UserIDFor(LocalIssuer, "ceo@corp.example", false) {
		t.Fatalf("the link makes %+v", posing)
	}
	real := d.visitor(t)
	if code, body := d.atProvider(t, real, "", "ceo", "ceo@corp.example"); code != http.StatusSeeOther {
		t.Fatalf("the real one is answered %d %s", code, body)
	}
	who := real.session()
	if who.UserID == posing.UserID || who.Unproven || who.TenantID != "t:corp.example" {
		t.Errorf("the real one is %+v", who)
	}
	if byToken := d.comes(t, "ceo@corp.example"); byToken.UserID == posing.UserID || byToken.Unproven {
		t.Errorf("by a token of this node they are %+v", byToken)
	}
	if m := d.member(t, posing.UserID); !m.Unproven {
		t.Errorf("the one who posed is %+v", m)
	}
	if found := harness.Must[*ubl.Member](d.house, "t:corp.example", ubl.FindMember{Who: d.boss, Email: "ceo@corp.example"}); found.Unproven {
		t.Errorf("the address leads to %+v", found)
	}
	if !strings.Contains(d.atoms(t), `"who":{"email":"ceo@corp.example","is_service":false,"unproven":true,"user_id":"`+string(posing.UserID)+`"}`) {
		t.Error("the ledger doesn't say that the address is unproven")
	}
	d.house.VerifyLedger("t:corp.example")
}

func (d *doorway) atoms(t *testing.T) string {
	t.Helper()
	var all strings.Builder
	for _, atom := range harness.Must[*ubl.AtomPage](d.house, ubl.LedgerName("t:corp.example"), ubl.ReadAtoms{From: 1, Limit: 500}).Atoms {
		all.Write(atom)
	}
	return all.String()
}

// TestProve: who came by a link and is verified by a provider keeps their id, and comes
// in by the provider from then on. What was begun by the link alone is over.
func TestProve(t *testing.T) {
	d := openDoorway(t)
	v := d.guest(t, "eve@gmail.com")
	was, phone, stale := v.session(), newDevice(virtualwebauthn.KeyTypeEC2), v.with(func(*visitor) {})
	v.register(phone, "phone")
	if code, body := d.atProvider(t, v, "1", "eve", "Eve@gmail.com"); code != http.StatusSeeOther {
		t.Fatalf("proving is answered %d %s", code, body)
	}
	who := v.session()
	if who.UserID != was.UserID || who.TenantID != was.TenantID || who.Unproven || who.Issuer != d.p.Issuer() {
		t.Errorf("eve is %+v", who)
	}
	if m := d.member(t, was.UserID); m.Unproven || m.Email != "eve@gmail.com" {
		t.Errorf("her entry is %+v", m)
	}
	if got := stale.session(); got.UserID != "" {
		t.Errorf("the session before is still %+v", got)
	}
	if w := d.visitor(t).finishLogin(phone.sign(t, d.visitor(t).beginLogin())); w.Code == http.StatusOK {
		t.Errorf("the passkey from before is answered %d %s", w.Code, w.Body)
	}
	d.house.Reload()
	again := d.visitor(t)
	if code, body := d.atProvider(t, again, "", "eve", "eve@gmail.com"); code != http.StatusSeeOther || again.session().UserID != was.UserID {
		t.Errorf("eve comes back: %d %s as %+v", code, body, again.session())
	}
	if code, _ := d.atProvider(t, again, "1", "eve", "eve@gmail.com"); code != http.StatusConflict {
		t.Errorf("proving again is answered %d", code)
	}
	harness.Must[*ubl.Member](d.house, "t:corp.example", ubl.RemoveTenantMember{Request: d.house.Request(d.boss), UserID: was.UserID})
	out := d.visitor(t)
	if code, body := d.atProvider(t, out, "", "eve", "eve@gmail.com"); code != http.StatusSeeOther || out.session().TenantID == "t:corp.example" {
		t.Errorf("shut out, eve is answered %d %s as %+v", code, body, out.session())
	}
	d.house.VerifyLedger("t:corp.example")
	d.house.VerifyLedger(ubl.CoreTenant)
}

// TestNothingProven: the attacks on the proof change nothing.
func TestNothingProven(t *testing.T) {
	for name, try := range map[string]func(*doorway, *visitor) int{
		"by another address": func(d *doorway, v *visitor) int {
			code, _ := d.atProvider(t, v, "1", "mal", "mal@gmail.com")
			return code
		},
		"by an address that isn't verified": func(d *doorway, v *visitor) int {
			way := v.send(http.MethodGet, "/auth/oidc/"+idOf(d.p)+"/start?prove=1", "", fromSite("same-origin")).Header().Get("Location")
			u, _ := url.Parse(way)
			back := d.p.at(t, u, &mockoidc.MockUser{Subject: "eve", Email: "eve@gmail.com"})
			return v.open(back.RequestURI()).Code
		},
		"by a sign-in that wasn't begun for it": func(d *doorway, v *visitor) int {
			code, _ := d.atProvider(t, v, "", "eve", "eve@gmail.com")
			return code
		},
		"from another site's page": func(d *doorway, v *visitor) int {
			return v.send(http.MethodGet, "/auth/oidc/"+idOf(d.p)+"/start?prove=1", "", fromSite("cross-site")).Code
		},
		"without a session": func(d *doorway, v *visitor) int {
			code, _ := d.atProvider(t, d.visitor(t), "1", "eve", "eve@gmail.com")
			return code
		},
		"where a proven member has the address": func(d *doorway, v *visitor) int {
			eve := localPerson("t:corp.example", "eve@gmail.com")
			d.house.Enter(eve)
			code, _ := d.atProvider(t, v, "1", "eve", "eve@gmail.com")
			return code
		},
		"by who was shut out meanwhile": func(d *doorway, v *visitor) int {
			way := v.send(http.MethodGet, "/auth/oidc/"+idOf(d.p)+"/start?prove=1", "", fromSite("same-origin")).Header().Get("Location")
			harness.Must[*ubl.Member](d.house, "t:corp.example", ubl.RemoveTenantMember{Request: d.house.Request(d.boss), UserID: v.session().UserID})
			u, _ := url.Parse(way)
			back := d.p.at(t, u, &mockoidc.MockUser{Subject: "eve", Email: "eve@gmail.com", EmailVerified: true})
			return v.open(back.RequestURI()).Code
		},
	} {
		t.Run(name, func(t *testing.T) {
			d := openDoorway(t)
			v := d.guest(t, "eve@gmail.com")
			id := v.session().UserID
			code := try(d, v)
			if code == http.StatusSeeOther && name != "by a sign-in that wasn't begun for it" {
				t.Errorf("answered %d", code)
			}
			members := harness.Must[[]ubl.Member](d.house, "t:corp.example", ubl.ListMembers{Who: d.boss})
			for _, m := range members {
				if m.UserID == id && !m.Unproven {
					t.Errorf("proven: %+v", m)
				}
			}
		})
	}
	d := openDoorway(t)
	who := d.guest(t, "eve@gmail.com").session()
	verified := harness.User("eve@gmail.com")
	d.house.Refused(ubl.CodeForbidden, "t:corp.example", ubl.ProveMember{Request: d.house.Request(d.boss), Member: who, Verified: verified})
	d.house.Refused(ubl.CodeForbidden, ubl.TenantName(ubl.CoreTenant), ubl.KeepHome{Request: d.house.Request(who), Verified: verified, Home: ubl.Home{TenantID: "t:corp.example", UserID: d.boss.UserID}})
	forged := who
	forged.UserID = d.boss.UserID
	d.house.Refused(ubl.CodeForbidden, "t:corp.example", ubl.ProveMember{Request: d.house.Request(ubl.Platform()), Member: forged, Verified: verified})
}

// TestLostEntryDoesNotJoin: an unproven session is no way to join, and founds nothing.
func TestLostEntryDoesNotJoin(t *testing.T) {
	d := openDoorway(t)
	for _, tenant := range []ubl.TenantID{"t:corp.example", "t:new.example"} {
		who := ubl.Invited(tenant, "i:lost", "eve@gmail.com")
		d.house.Refused(ubl.CodeForbidden, ubl.TenantName(tenant), ubl.Enter{Request: d.house.Request(who), Act: true})
	}
}

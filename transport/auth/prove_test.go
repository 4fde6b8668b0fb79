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
	p := startIDP(t, nil)
	d := &doorway{desk: openOIDC(t, p), p: p}
	d.boss = d.person("boss@corp.example")
	return d
}

// guest is the browser of whoever accepted an invitation of the address.
func (d *doorway) guest(t *testing.T, email string) *visitor {
	t.Helper()
	return d.guestOf(t, d.boss, email)
}

// guestOf is guest in the tenant of that owner.
func (d *doorway) guestOf(t *testing.T, owner ubl.Identity, email string) *visitor {
	t.Helper()
	c, path, err := d.NewInvitation(owner.TenantID, email)
	if err != nil {
		t.Fatal(err)
	}
	c.Request, c.Role, c.TTL = d.house.Request(owner), ubl.RoleMember, time.Hour
	harness.Must[*ubl.Invitation](d.house, ubl.TenantName(owner.TenantID), c)
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

// TestInvitationDrawsNobodyAway: a stranger who invites a member of another tenant gets
// neither their sign-ins nor their address, whether or not they are in that tenant yet.
func TestInvitationDrawsNobodyAway(t *testing.T) {
	for name, member := range map[string]bool{"a member": true, "somebody of the domain who never came": false} {
		t.Run(name, func(t *testing.T) {
			d := openDoorway(t)
			if member {
				d.atProvider(t, d.visitor(t), "", "vic", "vic@corp.example")
			}
			mallory := d.comes(t, "mallory@evil.example")
			v := d.guestOf(t, mallory, "vic@corp.example")
			if code, body := d.atProvider(t, v, "1", "vic", "vic@corp.example"); code != http.StatusConflict || !strings.Contains(body, "has claimed the domain of your address") {
				t.Errorf("proving is answered %d %s", code, body)
			}
			if who := v.session(); who.TenantID != mallory.TenantID || !who.Unproven {
				t.Errorf("by the link vic is %+v", who)
			}
			again := d.visitor(t)
			d.atProvider(t, again, "", "vic", "vic@corp.example")
			if who := again.session(); who.TenantID != "t:corp.example" || who.Unproven {
				t.Errorf("vic signs in as %+v", who)
			}
		})
	}
}

// TestCapturedBefore: who was drawn away by a version that let an invitation do so is back
// with the next sign-in, by the tenant that has claimed their domain.
func TestCapturedBefore(t *testing.T) {
	d := openDoorway(t)
	mallory := d.comes(t, "mallory@evil.example")
	d.atProvider(t, d.visitor(t), "", "vic", "vic@corp.example")
	v := d.guestOf(t, mallory, "vic@corp.example")
	member, verified := v.session(), ubl.Identity{
		UserID: ubl.UserIDFor(d.p.Issuer(), "vic", true), Email: "vic@corp.example", EmailDomain: "corp.example", Groups: []string{}, Issuer: d.p.Issuer(), Subject: "vic",
	}
	at := ubl.Home{TenantID: mallory.TenantID, UserID: member.UserID}
	if _, err := d.asker.Ask(t.Context(), ubl.TenantName(ubl.CoreTenant), ubl.KeepHome{Request: d.house.Request(ubl.Platform()), Verified: verified, Home: at}); err != nil {
		t.Fatal(err)
	}
	harness.Must[*ubl.Member](d.house, ubl.TenantName(mallory.TenantID), ubl.ProveMember{Request: d.house.Request(ubl.Platform()), Member: member, Verified: verified})
	again := d.visitor(t)
	if code, body := d.atProvider(t, again, "", "vic", "vic@corp.example"); code != http.StatusSeeOther || again.session().TenantID != "t:corp.example" {
		t.Errorf("vic is answered %d %s as %+v", code, body, again.session())
	}
}

// TestAskedToMove: who has a tenant without a claim of their domain chooses, and nothing
// moves before they have.
func TestAskedToMove(t *testing.T) {
	d := openDoorway(t)
	own := d.visitor(t)
	d.atProvider(t, own, "", "eve", "eve@gmail.com")
	home := own.session().TenantID
	v := d.guest(t, "eve@gmail.com")
	code, body := d.atProvider(t, v, "1", "eve", "eve@gmail.com")
	key := keyOn(body)
	if code != http.StatusOK || key == "" || !strings.Contains(body, shortTenant(home)) || !strings.Contains(body, "corp.example") {
		t.Fatalf("proving is answered %d %s", code, body)
	}
	stay := d.visitor(t)
	d.atProvider(t, stay, "", "eve", "eve@gmail.com")
	if got := stay.session().TenantID; got != home || !v.session().Unproven {
		t.Errorf("before she chose eve is in %s, and %+v", got, v.session())
	}
	for what, w := range map[string]int{
		"another browser": d.visitor(t).post(movePath, "key="+key, asForm).Code,
		"another key":     v.post(movePath, "key=x", asForm).Code,
		"another site":    v.send(http.MethodPost, movePath, "key="+key, asForm, fromSite("cross-site")).Code,
	} {
		if w != http.StatusBadRequest && w != http.StatusForbidden {
			t.Errorf("%s is answered %d", what, w)
		}
	}
	_, body = d.atProvider(t, v, "1", "eve", "eve@gmail.com")
	if w := v.post(movePath, "key="+keyOn(body), asForm); w.Code != http.StatusSeeOther {
		t.Fatalf("moving is answered %d %s", w.Code, w.Body)
	}
	who := v.session()
	if who.TenantID != "t:corp.example" || who.Unproven {
		t.Errorf("eve has moved as %+v", who)
	}
	harness.Must[*ubl.Member](d.house, "t:corp.example", ubl.RemoveTenantMember{Request: d.house.Request(who), UserID: who.UserID})
	back := d.visitor(t)
	d.atProvider(t, back, "", "eve", "eve@gmail.com")
	if got := back.session().TenantID; got != home {
		t.Errorf("having left, eve is in %s", got)
	}
}

// keyOn is the key of the form on a page, "" for none.
func keyOn(page string) string {
	_, rest, _ := strings.Cut(page, `name="key" value="`)
	key, _, _ := strings.Cut(rest, `"`)
	return key
}

// TestInvitationSaysWhatEnds: the page names the session that accepting ends.
func TestInvitationSaysWhatEnds(t *testing.T) {
	d := openDoorway(t)
	mallory := d.comes(t, "mallory@evil.example")
	c, path, err := d.NewInvitation(mallory.TenantID, "vic@corp.example")
	if err != nil {
		t.Fatal(err)
	}
	c.Request, c.Role, c.TTL = d.house.Request(mallory), ubl.RoleMember, time.Hour
	harness.Must[*ubl.Invitation](d.house, ubl.TenantName(mallory.TenantID), c)
	vic := d.visitor(t).signedIn(d.person("vic@corp.example"))
	if page := vic.open(path).Body.String(); !strings.Contains(page, "signed in here as vic@corp.example in <b>corp.example</b>") || !strings.Contains(page, "ends that session") {
		t.Errorf("the page says %s", page)
	}
	if page := d.visitor(t).open(path).Body.String(); strings.Contains(page, "ends that session") {
		t.Errorf("to nobody it says %s", page)
	}
}

// TestAcceptingAgainAfterRemoval: the form that was sent gives a removed person no session.
func TestAcceptingAgainAfterRemoval(t *testing.T) {
	d := openDoorway(t)
	c, path, err := d.NewInvitation("t:corp.example", "eve@gmail.com")
	if err != nil {
		t.Fatal(err)
	}
	c.Request, c.Role, c.TTL = d.house.Request(d.boss), ubl.RoleMember, time.Hour
	harness.Must[*ubl.Invitation](d.house, "t:corp.example", c)
	const form = "key=00112233445566778899aabbccddeeff"
	v := d.visitor(t)
	v.post(path, form, asForm)
	harness.Must[*ubl.Member](d.house, "t:corp.example", ubl.RemoveTenantMember{Request: d.house.Request(d.boss), UserID: v.session().UserID})
	again := d.visitor(t)
	if w := again.post(path, form, asForm); w.Code != http.StatusNotFound || len(again.jar) != 0 {
		t.Errorf("accepting again is answered %d, with the cookies %v", w.Code, again.jar)
	}
}

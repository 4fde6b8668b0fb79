package auth

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/descope/virtualwebauthn"

	"ubl"
	"ubl/test/harness"
)

// device is an authenticator that nobody here wrote, with one passkey.
type device struct {
	virtualwebauthn.Authenticator
	key virtualwebauthn.Credential
	rp  virtualwebauthn.RelyingParty
}

func newDevice(kind virtualwebauthn.KeyType) *device {
	key := virtualwebauthn.NewCredential(kind)
	for kind == virtualwebauthn.KeyTypeEC2 && len(key.Key.AttestationData()) < ec2KeySize {
		key = virtualwebauthn.NewCredential(kind)
	}
	return &device{
		Authenticator: virtualwebauthn.NewAuthenticator(), key: key,
		rp: virtualwebauthn.RelyingParty{ID: "localhost", Name: "UBL", Origin: deskOrigin},
	}
}

// ec2KeySize is that of a P-256 key in COSE, in bytes. The device's library leaves
// out zeros at the beginning of a coordinate, which no real device does.
const ec2KeySize = 77

// make answers the options of a registration.
func (d *device) make(t testing.TB, options string) string {
	t.Helper()
	o, err := virtualwebauthn.ParseAttestationOptions(options)
	if err != nil {
		t.Fatal(err)
	}
	d.Options.UserHandle = []byte(o.UserID)
	return virtualwebauthn.CreateAttestationResponse(d.rp, d.Authenticator, d.key, *o)
}

// sign answers the options of a sign-in, and counts.
func (d *device) sign(t testing.TB, options string) string {
	t.Helper()
	o, err := virtualwebauthn.ParseAssertionOptions(options)
	if err != nil {
		t.Fatal(err)
	}
	d.key.Counter++
	return virtualwebauthn.CreateAssertionResponse(d.rp, d.Authenticator, d.key, *o)
}

func made(name, credential string) string {
	quoted, _ := json.Marshal(name)
	return fmt.Sprintf(`{"name":%s,"credential":%s}`, quoted, credential)
}

// register makes a passkey in the browser of somebody who is signed in.
func (v *visitor) register(d *device, name string) ubl.Passkey {
	v.t.Helper()
	begun := v.post("/auth/passkeys/register/begin", "")
	if begun.Code != http.StatusOK {
		v.t.Fatalf("begun: %d %s", begun.Code, begun.Body)
	}
	w := v.post("/auth/passkeys/register/finish", made(name, d.make(v.t, begun.Body.String())))
	if w.Code != http.StatusCreated {
		v.t.Fatalf("finished: %d %s", w.Code, w.Body)
	}
	var answer struct{ Passkey ubl.Passkey }
	if err := json.Unmarshal(w.Body.Bytes(), &answer); err != nil {
		v.t.Fatal(err)
	}
	return answer.Passkey
}

// beginLogin asks for the options of a sign-in.
func (v *visitor) beginLogin() string {
	v.t.Helper()
	w := v.post("/auth/passkeys/login/begin", "")
	if w.Code != http.StatusOK {
		v.t.Fatalf("begun: %d %s", w.Code, w.Body)
	}
	return w.Body.String()
}

func (v *visitor) finishLogin(answer string) *httptest.ResponseRecorder {
	return v.post("/auth/passkeys/login/finish", answer)
}

// TestPasskey: made by somebody who is signed in, it signs them in elsewhere, on
// another node, as exactly who they were. Each step is receipted.
func TestPasskey(t *testing.T) {
	for _, kind := range []virtualwebauthn.KeyType{virtualwebauthn.KeyTypeEC2, virtualwebauthn.KeyTypeRSA} {
		d := openDesk(t)
		ann := d.person("ann@corp.example")
		ann.Groups = []string{"staff"}
		phone := newDevice(kind)
		laptop := d.visitor(t).signedIn(ann)
		before := d.head()
		key := laptop.register(phone, "My phone")
		if key.Name != "My phone" || key.LastUsedAt != nil || !key.ID.Valid() {
			t.Errorf("registered %+v", key)
		}

		d.house.Clock.Add(time.Minute)
		browser := d.visitor(t)
		options := browser.beginLogin()
		browser.at = d.another(t)
		w := browser.finishLogin(phone.sign(t, options))
		if w.Code != http.StatusOK || w.Body.String() != fmt.Sprintf(`{"user_id":%q,"email":"ann@corp.example","tenant_id":"t:corp.example"}`, ann.UserID) {
			t.Fatalf("finished: %d %s", w.Code, w.Body)
		}
		without := ann
		without.Groups = nil // only a provider says them
		if got := browser.session(); fmt.Sprintf("%+v", got) != fmt.Sprintf("%+v", without) {
			t.Errorf("signed in as %+v, want %+v", got, without)
		}
		if got := d.acts(t, before); !slices.Equal(got, []string{"passkey.register", "passkey.use", "platform.token.create"}) {
			t.Errorf("tenant 0 has on record %q", got)
		}
		own := harness.Must[*ubl.Passkeys](d.house, ubl.TenantName(ubl.CoreTenant), ubl.ListPasskeys{Who: ann}).List
		if len(own) != 1 || own[0].LastUsedAt == nil || own[0].SignCount != 1 || len(own[0].Handle) != ubl.PasskeyHandle {
			t.Errorf("ann has %+v", own)
		}
		if n := browser.ceremonies() + laptop.ceremonies(); n != 0 {
			t.Errorf("%d cookies of ceremonies are left", n)
		}
	}
}

// TestPasskeyOptions: what browsers are asked for.
func TestPasskeyOptions(t *testing.T) {
	d := openDesk(t, func(o *Options) { o.PublicURL = "https://Ubl.Example:8443/" })
	d.origin = "https://ubl.example:8443"
	v := d.visitor(t).signedIn(d.person("ann@corp.example"))
	phone := newDevice(virtualwebauthn.KeyTypeEC2)
	phone.rp = virtualwebauthn.RelyingParty{ID: "ubl.example", Origin: d.origin}
	v.register(phone, "My phone")

	type options struct {
		PublicKey struct {
			Challenge              string
			RPID                   string `json:"rpId"`
			RP                     struct{ ID string }
			User                   struct{ ID, Name string }
			UserVerification       string
			AllowCredentials       []any
			ExcludeCredentials     []struct{ ID string }
			Attestation            string
			AuthenticatorSelection struct{ ResidentKey, UserVerification string }
		}
	}
	var login, making options
	if err := json.Unmarshal([]byte(v.beginLogin()), &login); err != nil {
		t.Fatal(err)
	}
	if o := login.PublicKey; o.RPID != "ubl.example" || o.UserVerification != "required" || len(o.AllowCredentials) > 0 || len(o.Challenge) != 43 {
		t.Errorf("a sign-in asks for %+v", o)
	}
	if err := json.Unmarshal(v.post("/auth/passkeys/register/begin", "").Body.Bytes(), &making); err != nil {
		t.Fatal(err)
	}
	o := making.PublicKey
	if o.RP.ID != "ubl.example" || o.User.Name != "ann@corp.example" || len(o.User.ID) != 43 || o.Attestation != "none" || len(o.ExcludeCredentials) != 1 ||
		o.AuthenticatorSelection.ResidentKey != "required" || o.AuthenticatorSelection.UserVerification != "required" {
		t.Errorf("a registration asks for %+v", o)
	}
	for name := range v.jar {
		if !strings.HasPrefix(name, "__Host-ubl") {
			t.Errorf("the cookie %s can be set by a neighbour", name)
		}
	}
}

// TestBadSignIns is what is refused though somebody has a passkey here: nobody is
// signed in, and nothing receipted.
func TestBadSignIns(t *testing.T) {
	d := openDesk(t)
	ann, bob := d.person("ann@corp.example"), d.person("bob@corp.example")
	phone, other := newDevice(virtualwebauthn.KeyTypeEC2), newDevice(virtualwebauthn.KeyTypeEC2)
	d.visitor(t).signedIn(ann).register(phone, "Ann's")
	d.visitor(t).signedIn(bob).register(other, "Bob's")
	d.house.Clock.Add(time.Minute)
	before := d.head()

	same := func(*visitor) {}
	const refused, bad = ubl.CodeUnauthorized, ubl.CodeValidation
	for _, test := range []struct {
		what    string
		device  func(*device)         // how the device differs that signs
		browser func(*visitor)        // what happens to the browser in between
		answer  func(s string) string // and to the answer
		want    ubl.Code
	}{
		{"a page elsewhere", func(p *device) { p.rp.Origin = "https://evil.example" }, same, nil, refused},
		{"another port", func(p *device) { p.rp.Origin = "http://localhost:9090" }, same, nil, refused},
		{"another scheme", func(p *device) { p.rp.Origin = "https://localhost:8080" }, same, nil, refused},
		{"another relying party", func(p *device) { p.rp.ID = "evil.example" }, same, nil, refused},
		{"nobody there", func(p *device) { p.Options.UserNotPresent = true }, same, nil, refused},
		{"whoever holds it", func(p *device) { p.Options.UserNotVerified = true }, same, nil, refused},
		{"another's handle", func(p *device) { p.Options.UserHandle = other.Options.UserHandle }, same, nil, refused},
		{"no handle", func(p *device) { p.Options.UserHandle = nil }, same, nil, refused},
		{"another's key under this id", func(p *device) { p.key.Key = other.key.Key }, same, nil, refused},
		{"a key that is not known", func(p *device) { p.key = virtualwebauthn.NewCredential(virtualwebauthn.KeyTypeEC2) }, same, nil, refused},
		{"a device that is now backed up", func(p *device) { p.Options.BackupEligible = true }, same, nil, refused},
		{"another answer's signature", nil, same, resigned, refused},
		{"an answer that says more", nil, same, func(s string) string { return strings.Replace(s, `"type":"public-key"`, `"type":"other"`, 1) }, refused},
		{"half an answer", nil, same, func(s string) string { return s[:len(s)/2] }, bad},
		{"an empty one", nil, same, func(string) string { return "{}" }, refused},
		{"too late", nil, func(v *visitor) { d.house.Clock.Add(passkeyTime) }, nil, bad},
		{"without the cookie", nil, func(v *visitor) { clear(v.jar) }, nil, bad},
		{"a spoiled cookie", nil, func(v *visitor) { v.spoil(garbled) }, nil, bad},
		{"a cut cookie", nil, func(v *visitor) { v.spoil(func(s string) string { return s[:8] }) }, nil, bad},
		{"a cookie of another ceremony", nil, func(v *visitor) { v.swap(d.visitor(t)) }, nil, bad},
		{"a cookie of another key", nil, func(v *visitor) { v.swap(openDesk(t).visitor(t)) }, nil, bad},
	} {
		t.Run(test.what, func(t *testing.T) {
			p, v := *phone, d.visitor(t)
			options := v.beginLogin()
			if test.device != nil {
				test.device(&p)
			}
			answer := p.sign(t, options)
			if test.answer != nil {
				answer = test.answer(answer)
			}
			test.browser(v)
			w := v.finishLogin(answer)
			if code, message := saidNo(w); code != test.want || strings.Contains(message, "evil") {
				t.Errorf("answered %d %s, want %s", w.Code, w.Body, test.want)
			}
			if who := v.session(); who.UserID != "" {
				t.Errorf("signed in as %+v", who)
			}
		})
	}
	if got := d.acts(t, before); len(got) > 0 {
		t.Errorf("on record: %q", got)
	}
	v := d.visitor(t)
	if w := v.finishLogin(phone.sign(t, v.beginLogin())); w.Code != http.StatusOK {
		t.Errorf("and yet the passkey is good: %d %s", w.Code, w.Body)
	}
}

// resigned is an answer with bits of its signature flipped.
func resigned(answer string) string {
	const member = `"signature":"`
	at := strings.Index(answer, member) + len(member) + 20
	flipped := byte('A')
	if answer[at] == 'A' {
		flipped = 'B'
	}
	return answer[:at] + string(flipped) + answer[at+1:]
}

// spoil changes the value of every cookie.
func (v *visitor) spoil(change func(string) string) {
	for name, value := range v.jar {
		v.jar[name] = change(value)
	}
}

// garbled is a text with another first letter.
func garbled(s string) string {
	if s[0] == 'A' {
		return "B" + s[1:]
	}
	return "A" + s[1:]
}

// swap puts the value of a cookie that another browser got into this one's.
func (v *visitor) swap(from *visitor) {
	from.beginLogin()
	for name := range v.jar {
		for _, value := range from.jar {
			v.jar[name] = value
		}
	}
}

// TestReplay: a challenge signs in once, on whatever node, also for who has kept
// the cookie.
func TestReplay(t *testing.T) {
	d := openDesk(t)
	phone := newDevice(virtualwebauthn.KeyTypeEC2)
	d.visitor(t).signedIn(d.person("ann@corp.example")).register(phone, "Ann's")
	v := d.visitor(t)
	answer := phone.sign(t, v.beginLogin())
	thief := v.with(func(v *visitor) { v.at = d.another(t) })
	if w := v.finishLogin(answer); w.Code != http.StatusOK {
		t.Fatalf("%d %s", w.Code, w.Body)
	}
	before := d.head()
	for range 2 {
		if code, _ := saidNo(thief.with(func(*visitor) {}).finishLogin(answer)); code != ubl.CodeUnauthorized {
			t.Errorf("the second time: %q", code)
		}
	}
	if code, _ := saidNo(v.finishLogin(answer)); code != ubl.CodeValidation {
		t.Errorf("the same browser again: %q", code)
	}
	if got := d.acts(t, before); len(got) > 0 {
		t.Errorf("on record: %q", got)
	}
}

// TestClonedPasskey: a count that goes back is refused, on record.
func TestClonedPasskey(t *testing.T) {
	d := openDesk(t)
	phone := newDevice(virtualwebauthn.KeyTypeEC2)
	d.visitor(t).signedIn(d.person("ann@corp.example")).register(phone, "Ann's")
	clone := *phone
	for range 3 {
		v := d.visitor(t)
		if w := v.finishLogin(phone.sign(t, v.beginLogin())); w.Code != http.StatusOK {
			t.Fatalf("%d %s", w.Code, w.Body)
		}
	}
	before := d.head()
	v := d.visitor(t)
	if code, _ := saidNo(v.finishLogin(clone.sign(t, v.beginLogin()))); code != ubl.CodeForbidden || v.session().UserID != "" {
		t.Errorf("the copy is answered %q", code)
	}
	if got := d.acts(t, before); !slices.Equal(got, []string{"passkey.use denied"}) {
		t.Errorf("on record: %q", got)
	}
}

// TestShutOut: who was removed from the tenant, or whose passkey was, gets no
// session. The passkey goes with its owner: let in again, they register another.
func TestShutOut(t *testing.T) {
	d := openDesk(t)
	owner, bob := d.person("owner@corp.example"), d.person("bob@corp.example")
	core, tenant := ubl.TenantName(ubl.CoreTenant), ubl.TenantName(bob.TenantID)
	phone := newDevice(virtualwebauthn.KeyTypeEC2)
	key := d.visitor(t).signedIn(bob).register(phone, "Bob's")
	try := func() ubl.Code {
		v := d.visitor(t)
		w := v.finishLogin(phone.sign(t, v.beginLogin()))
		if code, _ := saidNo(w); code != "" {
			if v.session().UserID != "" {
				t.Error("refused, and signed in")
			}
			return code
		}
		return ""
	}
	if got := try(); got != "" {
		t.Errorf("at first: %q", got)
	}
	harness.Must[*ubl.Member](d.house, tenant, ubl.RemoveTenantMember{Request: d.house.Request(owner), UserID: bob.UserID})
	before := d.head()
	if got := try(); got != ubl.CodeUnauthorized {
		t.Errorf("removed from the tenant: %q", got)
	}
	if got := d.acts(t, before); len(got) > 0 {
		t.Errorf("on record: %q", got)
	}
	harness.Must[*ubl.Member](d.house, tenant, ubl.SetTenantMember{Request: d.house.Request(owner), UserID: bob.UserID, Role: ubl.RoleMember})
	if got := try(); got != ubl.CodeUnauthorized {
		t.Errorf("let in again: %q", got)
	}
	key = d.visitor(t).signedIn(bob).register(phone, "Bob's again")
	if got := try(); got != "" {
		t.Errorf("with another passkey: %q", got)
	}
	harness.Must[*ubl.Passkey](d.house, core, ubl.RemovePasskey{Request: d.house.Request(bob), PasskeyID: key.ID})
	if got := try(); got != ubl.CodeUnauthorized {
		t.Errorf("the passkey removed: %q", got)
	}
}

// TestOperatorsOnce: who is no operator any longer doesn't get into tenant 0 with a
// passkey from then.
func TestOperatorsOnce(t *testing.T) {
	d := openDesk(t)
	operators := d.another(t, func(o *Options) { o.Operators = []string{"root@ops.example"} })
	root := localPerson(ubl.CoreTenant, "root@ops.example")
	d.house.Enter(root)
	phone := newDevice(virtualwebauthn.KeyTypeEC2)
	operators.visitor(t).signedIn(root).register(phone, "Root's")
	v := operators.visitor(t)
	if w := v.finishLogin(phone.sign(t, v.beginLogin())); w.Code != http.StatusOK || v.session().TenantID != ubl.CoreTenant {
		t.Errorf("an operator: %d %s", w.Code, w.Body)
	}
	before := d.head()
	v = d.visitor(t)
	if code, _ := saidNo(v.finishLogin(phone.sign(t, v.beginLogin()))); code != ubl.CodeForbidden || v.session().UserID != "" {
		t.Errorf("once an operator: %q", code)
	}
	if got := d.acts(t, before); len(got) > 0 {
		t.Errorf("on record: %q", got)
	}
}

// TestManyTabs: ceremonies don't get in each other's way, and don't pile up.
func TestManyTabs(t *testing.T) {
	d := openDesk(t)
	phone := newDevice(virtualwebauthn.KeyTypeEC2)
	d.visitor(t).signedIn(d.person("ann@corp.example")).register(phone, "Ann's")
	v := d.visitor(t)
	first, second := v.beginLogin(), v.beginLogin()
	for _, options := range []string{first, second} {
		if w := v.finishLogin(phone.sign(t, options)); w.Code != http.StatusOK {
			t.Errorf("%d %s", w.Code, w.Body)
		}
	}
	for range 5 * maxCeremonies {
		v.beginLogin()
		if n := v.ceremonies(); n > maxCeremonies {
			t.Fatalf("%d ceremonies are under way: %v", n, slices.Collect(maps.Keys(v.jar)))
		}
	}
	if w := v.finishLogin(phone.sign(t, v.beginLogin())); w.Code != http.StatusOK {
		t.Errorf("the newest: %d %s", w.Code, w.Body)
	}
}

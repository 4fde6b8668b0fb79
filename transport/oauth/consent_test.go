package oauth_test

import (
	"crypto/rand"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"ubl"
	"ubl/test/harness"
	"ubl/transport/auth"
	"ubl/transport/envelope"
)

func authSpec(w *world, email string) auth.TokenSpec {
	return auth.TokenSpec{Email: email, TTL: time.Hour, Now: w.Clock.Now(), Random: rand.Reader}
}

func (w *world) agents() []ubl.ServiceToken {
	w.t.Helper()
	who := harness.User("ana@acme.com")
	who.UserID = ubl.UserIDFor(ubl.LocalIssuer, "ana@acme.com", false)
	return harness.Must[[]ubl.ServiceToken](w.House, ubl.TenantName("t:acme.com"), ubl.ListServiceTokens{Who: who})
}

// TestUsualSetsAreNotKept: who leaves the sets as the page suggests them, whose agent is shown the list
// that anybody is. Other sets are kept, to be listed.
func TestUsualSetsAreNotKept(t *testing.T) {
	w := newWorld(t)
	ana := w.person("ana@acme.com")
	for chosen, kept := range map[string]string{"messenger": "", "office": "office", "messenger office": "messenger office"} {
		q := asks(w.client())
		_, form := ana.page(q)
		before := w.agents()
		ana.post("/oauth/consent", with(allows(form), url.Values{"set": strings.Fields(chosen)})).location(t)
		made := slices.DeleteFunc(w.agents(), func(a ubl.ServiceToken) bool {
			return slices.ContainsFunc(before, func(b ubl.ServiceToken) bool { return b.ClientID == a.ClientID })
		})
		if len(made) != 1 || strings.Join(made[0].Mandate.Sets, " ") != kept || len(made[0].Mandate.Tools) == 0 {
			t.Errorf("with %s chosen there is %+v", chosen, made)
		}
	}
}

// TestAllow: the agent has the mandate that was chosen, is in the place, and does there what it
// may, and nothing else.
func TestAllow(t *testing.T) {
	w := newWorld(t)
	ana := w.person("ana@acme.com")
	q := asks(w.client())
	_, form := ana.page(q)
	a := ana.post("/oauth/consent", with(allows(form), url.Values{"days": {"7"}, "per_minute": {"5"}, "set": {"messenger", "office", "unheard"}, "place": {"r:general", "r:nowhere"}}))
	at, got := a.location(t)
	if a.status != http.StatusSeeOther || at != back || got.Get("state") != "xyz & co" || got.Get("iss") != here {
		t.Fatalf("consent = %d to %s with %v", a.status, at, got)
	}
	if a.header.Get("Referrer-Policy") != "no-referrer" || a.header.Get("Cache-Control") != "no-store" {
		t.Errorf("the way back is told: %v", a.header)
	}
	list := w.agents()
	if len(list) != 1 {
		t.Fatalf("the agents are %+v", list)
	}
	made := list[0]
	if made.Name != "Robot" || made.ExpiresAt.Std().Sub(w.Clock.Now()) != 7*24*time.Hour || made.Resource != resource || strings.Join(made.Mandate.Tools, " ") != "messenger.* office.*" ||
		strings.Join(made.Mandate.Places, " ") != "r:general" || made.Mandate.PerMinute != 5 || made.Mandate.ReadOnly {
		t.Errorf("the agent is %+v with %+v", made, made.Mandate)
	}
	tok := w.tokens(redeems(q.Get("client_id"), got.Get("code")))
	if tok.Type != "Bearer" || tok.Expires != 3600 || tok.Scope != "mcp" {
		t.Errorf("the tokens are %+v", tok)
	}
	if a := w.calls("/mcp", tok.Access, "messenger.send", hello); a.status != http.StatusOK || !strings.Contains(a.body, `"receipt"`) {
		t.Errorf("sending = %d %s", a.status, a.body)
	}
	if a := w.calls("/mcp", tok.Access, "room.create", `{"name":"Mine"}`); !strings.Contains(a.body, "mandate") {
		t.Errorf("what the mandate doesn't name = %d %s", a.status, a.body)
	}
	w.VerifyLedger("t:acme.com")
}

// TestAllowEverywhere and read alone.
func TestAllowEverywhere(t *testing.T) {
	w := newWorld(t)
	ana := w.person("ana@acme.com")
	q := asks(w.client())
	_, form := ana.page(q)
	a := ana.post("/oauth/consent", with(allows(form), url.Values{"where": {"everywhere"}, "read_only": {"yes"}}))
	_, got := a.location(t)
	tok := w.tokens(redeems(q.Get("client_id"), got.Get("code")))
	if m := w.agents()[0].Mandate; len(m.Places) != 0 || !m.ReadOnly {
		t.Errorf("the mandate is %+v", m)
	}
	if a := w.calls("/mcp", tok.Access, "messenger.list_rooms", `{}`); !strings.Contains(a.body, "r:general") {
		t.Errorf("reading = %d %s", a.status, a.body)
	}
	if a := w.calls("/mcp", tok.Access, "messenger.send", hello); !strings.Contains(a.body, "forbidden") {
		t.Errorf("sending = %d %s", a.status, a.body)
	}
}

// TestALongState comes back whole: clients keep in it what they will have to know.
func TestALongState(t *testing.T) {
	w := newWorld(t)
	state := strings.Repeat(`&"<é`, 800) // 4,000 bytes
	_, form := w.person("ana@acme.com").page(with(asks(w.client()), url.Values{"state": {state}}))
	_, got := w.person("ana@acme.com").post("/oauth/consent", url.Values{"form": {form}, "answer": {"deny"}}).location(t)
	if got.Get("state") != state {
		t.Errorf("the state comes back as %q", got.Get("state"))
	}
}

// TestDeny: the client hears of it, and nothing was made.
func TestDeny(t *testing.T) {
	w := newWorld(t)
	ana := w.person("ana@acme.com")
	_, form := ana.page(asks(w.client()))
	a := ana.post("/oauth/consent", url.Values{"form": {form}, "answer": {"deny"}})
	if at, got := a.location(t); at != back || got.Get("error") != "access_denied" || got.Get("state") != "xyz & co" || got.Get("iss") != here {
		t.Errorf("no is told %s with %v", at, got)
	}
	if list := w.agents(); len(list) != 0 {
		t.Errorf("the agents are %+v", list)
	}
}

// TestFormsThatCountForNothing: none of them makes an agent or leads anywhere.
func TestFormsThatCountForNothing(t *testing.T) {
	w := newWorld(t)
	ana, bob, eve := w.person("ana@acme.com"), w.person("bob@acme.com"), w.person("eve@other.com")
	client := w.client()
	_, form := ana.page(asks(client))
	_, later := ana.page(asks(client))
	for name, c := range map[string]struct {
		ask    func() answer
		status int
	}{
		"another site's page": {func() answer {
			r := ana.request("POST", "/oauth/consent", allows(form))
			r.Header.Set("Sec-Fetch-Site", "cross-site")
			r.Header.Set("Origin", "https://evil.example")
			return ana.do(r)
		}, 403},
		"another site's, of an old browser": {func() answer {
			r := ana.request("POST", "/oauth/consent", allows(form))
			r.Header.Del("Sec-Fetch-Site")
			r.Header.Set("Origin", "https://evil.example")
			return ana.do(r)
		}, 403},
		"no proof of a page": {func() answer {
			r := ana.request("POST", "/oauth/consent", allows(form))
			r.Header.Del("Sec-Fetch-Site")
			return ana.do(r)
		}, 403},
		"nobody's session":         {func() answer { return w.stranger().post("/oauth/consent", allows(form)) }, 403},
		"a colleague's session":    {func() answer { return bob.post("/oauth/consent", allows(form)) }, 403},
		"another tenant's session": {func() answer { return eve.post("/oauth/consent", allows(form)) }, 403},
		"no form":                  {func() answer { return ana.post("/oauth/consent", with(allows(form), url.Values{"form": nil})) }, 400},
		"two forms":                {func() answer { return ana.post("/oauth/consent", with(allows(form), url.Values{"form": {form, form}})) }, 400},
		"a changed form":           {func() answer { return ana.post("/oauth/consent", allows("A"+form)) }, 400},
		"a client id as form":      {func() answer { return ana.post("/oauth/consent", allows(client)) }, 400},
		"a program's": {func() answer {
			token, _, err := w.key.Sign(authSpec(w, "ana@acme.com"))
			must(t, err)
			r := w.stranger().request("POST", "/oauth/consent", allows(form))
			r.Header.Set("Authorization", "Bearer "+token)
			return w.send(r)
		}, 403},
	} {
		if a := c.ask(); a.status != c.status || a.header.Get("Location") != "" || !strings.Contains(a.body, "Nothing is connected") && a.header.Get("Content-Type") != "application/json" {
			t.Errorf("%s: %d to %q: %s", name, a.status, a.header.Get("Location"), a.body)
		}
	}
	if list := w.agents(); len(list) != 0 {
		t.Fatalf("the agents are %+v", list)
	}
	if a := ana.post("/oauth/consent", allows(form)); a.status != http.StatusSeeOther {
		t.Fatalf("the form itself = %d %s", a.status, a.body)
	}
	for _, again := range []url.Values{allows(form), with(allows(form), url.Values{"where": {"everywhere"}})} {
		if a := ana.post("/oauth/consent", again); a.status != http.StatusConflict || a.header.Get("Location") != "" {
			t.Errorf("the form once more: %d to %q: %s", a.status, a.header.Get("Location"), a.body)
		}
	}
	if list := w.agents(); len(list) != 1 || list[0].Mandate.Places[0] != "r:general" {
		t.Errorf("the agents are %+v", list)
	}
	w.Clock.Add(61 * time.Minute)
	if a := ana.post("/oauth/consent", allows(later)); a.status != http.StatusBadRequest || !strings.Contains(a.body, "too long") {
		t.Errorf("a form of an hour ago: %d %s", a.status, a.body)
	}
}

// TestAllowWantsAFreshProof: what was chosen stays, and counts once the person has confirmed.
func TestAllowWantsAFreshProof(t *testing.T) {
	w := newWorld(t)
	ana := w.person("ana@acme.com")
	w.Clock.Add(envelope.FreshFor)
	page, form := ana.page(asks(w.client()))
	if !strings.Contains(page.body, `href="/ui/confirm"`) {
		t.Errorf("the page asks for no proof: %s", page.body)
	}
	chosen := with(allows(form), url.Values{"set": {"office"}, "days": {"3"}, "name": {"Mine"}})
	a := ana.post("/oauth/consent", chosen)
	if a.status != http.StatusForbidden || !strings.Contains(a.body, `href="/ui/confirm"`) || len(w.agents()) != 0 {
		t.Fatalf("without a fresh proof: %d %s", a.status, a.body)
	}
	// Signing in once more is the surest proof: another session, of the same person.
	ana.cookies = w.person("ana@acme.com").cookies
	a = ana.post("/oauth/consent", chosen)
	m := formValue.FindStringSubmatch(a.body)
	if a.status != http.StatusOK || m == nil || len(w.agents()) != 0 {
		t.Fatalf("in another session: %d %s", a.status, a.body)
	}
	for _, kept := range []string{`value="Mine"`, `value="3"`, `value="office" checked`, `value="r:general" checked`} {
		if !strings.Contains(a.body, kept) {
			t.Errorf("the page forgets %s: %s", kept, a.body)
		}
	}
	if a := ana.post("/oauth/consent", with(chosen, url.Values{"form": {m[1]}})); a.status != http.StatusSeeOther || len(w.agents()) != 1 {
		t.Errorf("confirmed: %d %s", a.status, a.body)
	}
	if a := ana.get("/oauth/authorize?" + asks(w.client()).Encode()); strings.Contains(a.body, "/ui/confirm") {
		t.Error("a fresh session is asked for a proof")
	}
}

// TestChoicesThatAreNone are told on the page, which keeps the rest.
func TestChoicesThatAreNone(t *testing.T) {
	w := newWorld(t)
	ana := w.person("ana@acme.com")
	client := w.client()
	for name, c := range map[string]struct {
		change url.Values
		says   string
	}{
		"no answer":        {url.Values{"answer": nil}, "Allow or Deny"},
		"no name":          {url.Values{"name": {" "}}, "The name"},
		"an address":       {url.Values{"name": {"bob@acme.com"}}, "The name"},
		"nothing to do":    {url.Values{"set": nil}, "what it may do"},
		"sets of nobody":   {url.Values{"set": {"admin"}}, "what it may do"},
		"nowhere":          {url.Values{"place": nil}, "at least one room"},
		"another's room":   {url.Values{"place": {"r:secret"}}, "at least one room"},
		"no place chosen":  {url.Values{"where": nil, "place": nil}, "at least one room"},
		"no days":          {url.Values{"days": {"0"}}, "Days"},
		"for ever":         {url.Values{"days": {"367"}}, "Days"},
		"days in words":    {url.Values{"days": {"many"}}, "Days"},
		"no calls":         {url.Values{"per_minute": {"0"}}, "Calls a minute"},
		"calls below zero": {url.Values{"per_minute": {"-1"}}, "Calls a minute"},
		"asked sometimes":  {url.Values{"confirm": {"sometimes"}}, "asked first"},
		"endless calls":    {url.Values{"per_minute": {"10001"}}, "Calls a minute"},
	} {
		_, form := ana.page(asks(client))
		a := ana.post("/oauth/consent", with(allows(form), c.change))
		if a.status != http.StatusBadRequest || !strings.Contains(a.body, c.says) || !formValue.MatchString(a.body) {
			t.Errorf("%s: %d %s", name, a.status, a.body)
		}
	}
	if list := w.agents(); len(list) != 0 {
		t.Errorf("the agents are %+v", list)
	}
}

// TestAllowAsked: the person is asked before each use, so that a client that can't ask is refused.
func TestAllowAsked(t *testing.T) {
	w := newWorld(t)
	ana := w.person("ana@acme.com")
	q := asks(w.client())
	_, form := ana.page(q)
	a := ana.post("/oauth/consent", with(allows(form), url.Values{"confirm": {"always"}}))
	_, got := a.location(t)
	tok := w.tokens(redeems(q.Get("client_id"), got.Get("code")))
	if m := w.agents()[0].Mandate; m.Confirm != ubl.ConfirmAlways {
		t.Errorf("the mandate is %+v", m)
	}
	if a := w.calls("/mcp", tok.Access, "messenger.send", hello); strings.Contains(a.body, `"receipt"`) || !strings.Contains(a.body, "asked") {
		t.Errorf("sending unasked = %d %s", a.status, a.body)
	}
}

// TestWhatThePersonMayNotDo: a member who owns no room connects an agent all the same, and
// reads where they couldn't add it.
func TestWhatThePersonMayNotDo(t *testing.T) {
	w := newWorld(t)
	w.person("ana@acme.com") // founds the tenant
	bob := w.person("bob@acme.com")
	q := asks(w.client())
	_, form := bob.page(q)
	a := bob.post("/oauth/consent", allows(form))
	if a.status != http.StatusOK || !strings.Contains(a.body, "Robot is connected") || !strings.Contains(a.body, "general") || !strings.Contains(a.body, `href="`+back+`?code=`) {
		t.Fatalf("bob's agent: %d %s", a.status, a.body)
	}
	if list := w.agents(); len(list) != 1 {
		t.Errorf("the agents are %+v", list)
	}
}

// TestPrograms: one with a scheme of its own is opened by a button.
func TestPrograms(t *testing.T) {
	w := newWorld(t)
	ana := w.person("ana@acme.com")
	const opens = "cursor://anysphere.cursor-mcp/oauth/callback"
	client := w.register(map[string]any{"redirect_uris": []string{opens}})["client_id"].(string)
	_, form := ana.page(with(asks(client), url.Values{"redirect_uri": {opens}}))
	a := ana.post("/oauth/consent", allows(form))
	if a.status != http.StatusOK || a.header.Get("Location") != "" || !strings.Contains(a.body, `href="`+opens+`?code=`) {
		t.Errorf("consent = %d %s", a.status, a.body)
	}
}

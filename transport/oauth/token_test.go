package oauth_test

import (
	"crypto/rand"
	"encoding/base64"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"

	"ubl/transport/oauth"
)

// TestCodesThatAreRefused leave the code as it is: who doesn't know its verifier must not use it up.
func TestCodesThatAreRefused(t *testing.T) {
	w := newWorld(t)
	ana, client := w.person("ana@acme.com"), w.client()
	code := ana.code(asks(client))
	good := redeems(client, code)
	first := w.tokens(redeems(client, ana.code(asks(client))))
	_, form := ana.page(asks(client))
	for name, c := range map[string]struct {
		change url.Values
		code   string
	}{
		"no code":              {url.Values{"code": nil}, "invalid_request"},
		"no verifier":          {url.Values{"code_verifier": nil}, "invalid_request"},
		"two codes":            {url.Values{"code": {code, code}}, "invalid_request"},
		"another verifier":     {url.Values{"code_verifier": {verifier + "x"}}, "invalid_grant"},
		"the challenge itself": {url.Values{"code_verifier": {challenge(verifier)}}, "invalid_grant"},
		"another redirect":     {url.Values{"redirect_uri": {"http://127.0.0.1:7778/callback"}}, "invalid_grant"},
		"another client":       {url.Values{"client_id": {w.client2()}}, "invalid_grant"},
		"another resource":     {url.Values{"resource": {here + "/portal/mcp"}}, "invalid_target"},
		"a changed code":       {url.Values{"code": {"A" + code}}, "invalid_grant"},
		"a form as code":       {url.Values{"code": {form}}, "invalid_grant"},
		"a client as code":     {url.Values{"code": {client}}, "invalid_grant"},
		"a refresh token":      {url.Values{"code": {first.Refresh}}, "invalid_grant"},
		"an access token":      {url.Values{"code": {first.Access}}, "invalid_grant"},
		"another grant":        {url.Values{"grant_type": {"password"}}, "unsupported_grant_type"},
		"no grant":             {url.Values{"grant_type": nil}, "unsupported_grant_type"},
	} {
		t.Run(name, func(t *testing.T) {
			w.asksFor("/oauth/token", with(good, c.change)).refused(t, http.StatusBadRequest, c.code)
		})
	}
	for name, change := range map[string]url.Values{"no client": {"client_id": nil}, "a client of nobody": {"client_id": {"evil"}}, "a client's secret": {"client_secret": {"x"}}} {
		t.Run(name, func(t *testing.T) {
			w.asksFor("/oauth/token", with(good, change)).refused(t, http.StatusUnauthorized, "invalid_client")
		})
	}
	w.asksFor("/oauth/token", good, "Content-Type", "application/json").refused(t, http.StatusBadRequest, "invalid_request")
	w.tokens(good)
}

// TestACodeWithoutItsRedirect: clients of OAuth 2.1 don't say it again. The verifier shows whose the code is.
func TestACodeWithoutItsRedirect(t *testing.T) {
	w := newWorld(t)
	client := w.client()
	w.tokens(with(redeems(client, w.person("ana@acme.com").code(asks(client))), url.Values{"redirect_uri": nil}))
}

// client2 is another client than the usual one.
func (w *world) client2() string {
	w.t.Helper()
	return w.register(map[string]any{"client_name": "Another"})["client_id"].(string)
}

func TestACodeOfAMinuteAgo(t *testing.T) {
	w := newWorld(t)
	client := w.client()
	code := w.person("ana@acme.com").code(asks(client))
	w.Clock.Add(time.Minute)
	w.asksFor("/oauth/token", redeems(client, code)).refused(t, http.StatusBadRequest, "invalid_grant")
	tok := w.person("ana@acme.com").tokens(w, client)
	if a := w.calls("/mcp", tok.Access, "user.whoami", `{}`); a.status != http.StatusOK {
		t.Errorf("the next try = %d %s", a.status, a.body)
	}
}

// TestACodeTwiceMuchLater: it still says that somebody has a copy.
func TestACodeTwiceMuchLater(t *testing.T) {
	w := newWorld(t)
	client := w.client()
	code := w.person("ana@acme.com").code(asks(client))
	tok := w.tokens(redeems(client, code))
	w.Clock.Add(30 * time.Minute)
	w.asksFor("/oauth/token", with(redeems(client, code), url.Values{"code_verifier": {verifier + "x"}})).refused(t, http.StatusBadRequest, "invalid_grant")
	if a := w.calls("/mcp", tok.Access, "user.whoami", `{}`); a.status != http.StatusOK {
		t.Errorf("after a code without its verifier = %d %s", a.status, a.body)
	}
	w.asksFor("/oauth/token", redeems(client, code)).refused(t, http.StatusBadRequest, "invalid_grant")
	if a := w.calls("/mcp", tok.Access, "user.whoami", `{}`); a.status != http.StatusUnauthorized {
		t.Errorf("after a code that came twice = %d %s", a.status, a.body)
	}
}

// TestACodeTwice ends the agent: one of the two who had it is a thief. A client's own request id
// makes no difference.
func TestACodeTwice(t *testing.T) {
	w := newWorld(t)
	client := w.client()
	code := w.person("ana@acme.com").code(asks(client))
	once := []string{"X-Request-Id", "req:aaaaaaaa-aaaa-4aaa-8aaa-aaaaaaaaaaaa", "Idempotency-Key", "mine"}
	a := w.asksFor("/oauth/token", redeems(client, code), once...)
	if a.status != http.StatusOK {
		t.Fatalf("the code = %d %s", a.status, a.body)
	}
	tok := w.person("ana@acme.com").tokens(w, client)
	w.asksFor("/oauth/token", redeems(client, code), once...).refused(t, http.StatusBadRequest, "invalid_grant")
	ended := 0
	for _, agent := range w.agents() {
		if agent.RevokedAt != nil {
			ended++
		}
	}
	if ended != 1 {
		t.Errorf("%d agents have ended", ended)
	}
	if a := w.calls("/mcp", tok.Access, "user.whoami", `{}`); a.status != http.StatusOK {
		t.Errorf("the other agent = %d %s", a.status, a.body)
	}
	w.VerifyLedger("t:acme.com")
}

// tokens have the person let a client in.
func (p *person) tokens(w *world, client string) tokens {
	w.t.Helper()
	return w.tokens(redeems(client, p.code(asks(client))))
}

// TestRefresh: each token serves once, one that comes again ends the agent and all of its tokens.
func TestRefresh(t *testing.T) {
	w := newWorld(t)
	client := w.client()
	first := w.person("ana@acme.com").tokens(w, client)
	for name, c := range map[string]struct {
		change url.Values
		status int
		code   string
	}{
		"none":             {url.Values{"refresh_token": nil}, 400, "invalid_request"},
		"a changed one":    {url.Values{"refresh_token": {"A" + first.Refresh}}, 400, "invalid_grant"},
		"an access token":  {url.Values{"refresh_token": {first.Access}}, 400, "invalid_grant"},
		"a client id":      {url.Values{"refresh_token": {client}}, 400, "invalid_grant"},
		"another client":   {url.Values{"client_id": {w.client2()}}, 400, "invalid_grant"},
		"no client":        {url.Values{"client_id": nil}, 401, "invalid_client"},
		"another resource": {url.Values{"resource": {here + "/portal/mcp"}}, 400, "invalid_target"},
	} {
		t.Run(name, func(t *testing.T) {
			w.asksFor("/oauth/token", with(refreshes(client, first.Refresh), c.change)).refused(t, c.status, c.code)
		})
	}
	second := w.tokens(refreshes(client, first.Refresh))
	third := w.tokens(with(refreshes(client, second.Refresh), url.Values{"resource": {resource}, "scope": {"mcp"}}))
	if first.Refresh == second.Refresh || second.Refresh == third.Refresh {
		t.Error("refresh tokens don't change")
	}
	w.Clock.Add(oauth.AccessTTL - time.Second)
	if a := w.calls("/mcp", third.Access, "messenger.send", hello); !strings.Contains(a.body, `"receipt"`) {
		t.Errorf("after refreshing = %d %s", a.status, a.body)
	}
	w.Clock.Add(time.Second)
	if a := w.calls("/mcp", third.Access, "messenger.send", hello); a.status != http.StatusUnauthorized {
		t.Errorf("after its hour = %d %s", a.status, a.body)
	}
	fourth := w.tokens(refreshes(client, third.Refresh))
	w.asksFor("/oauth/token", refreshes(client, first.Refresh)).refused(t, http.StatusBadRequest, "invalid_grant")
	w.asksFor("/oauth/token", refreshes(client, fourth.Refresh)).refused(t, http.StatusBadRequest, "invalid_grant")
	a := w.calls("/mcp", fourth.Access, "messenger.send", hello)
	if a.status != http.StatusUnauthorized || !strings.Contains(a.header.Get("WWW-Authenticate"), `resource_metadata="https://ubl.example/.well-known/oauth-protected-resource/mcp"`) {
		t.Errorf("after a token that came twice = %d %v %s", a.status, a.header, a.body)
	}
	w.VerifyLedger("t:acme.com")
}

// TestRefreshesAtOnce are one client's, which several of its calls make with the same token: on any
// nodes, also while the key rotates, all get the same next one, and whichever is kept serves. The token
// that they were made with is a stolen one a minute later.
func TestRefreshesAtOnce(t *testing.T) {
	w := newWorld(t)
	client := w.client()
	first := w.person("ana@acme.com").tokens(w, client)
	nodes := []http.Handler{w.handler}
	for range 2 {
		w.node()
		nodes = append(nodes, w.handler)
	}
	atOnce := func(shown []string) (answers []tokens) {
		t.Helper()
		answers = make([]tokens, len(nodes)*len(shown))
		var all sync.WaitGroup
		for i := range answers {
			all.Go(func() {
				body := refreshes(client, shown[i%len(shown)]).Encode()
				r := httptest.NewRequestWithContext(t.Context(), "POST", here+"/oauth/token", strings.NewReader(body))
				r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
				rec := httptest.NewRecorder()
				nodes[i/len(shown)].ServeHTTP(rec, r)
				if err := json.Unmarshal(rec.Body.Bytes(), &answers[i]); err != nil || rec.Code != http.StatusOK {
					t.Errorf("refresh %d = %d %s", i, rec.Code, rec.Body)
				}
			})
		}
		all.Wait()
		return answers
	}
	answers := atOnce([]string{first.Refresh, first.Refresh})
	for _, a := range answers {
		if a.Refresh != answers[0].Refresh || a.Refresh == first.Refresh {
			t.Error("the same token is followed by two")
		}
	}
	rotated, err := w.key.Rotate(rand.Reader, w.Clock.Now(), time.Hour)
	must(t, err)
	w.key = rotated
	w.node()
	nodes = append(nodes, w.handler)
	answers = append(answers, w.tokens(refreshes(client, first.Refresh))) // stamped by the new key
	var shown []string
	for _, a := range answers {
		if a := w.calls("/mcp", a.Access, "messenger.send", hello); !strings.Contains(a.body, `"receipt"`) {
			t.Errorf("after refreshing at once = %d %s", a.status, a.body)
		}
		shown = append(shown, a.Refresh)
	}
	next := atOnce(shown)
	w.Clock.Add(time.Minute)
	w.asksFor("/oauth/token", refreshes(client, shown[0])).refused(t, http.StatusBadRequest, "invalid_grant")
	if a := w.calls("/mcp", next[0].Access, "user.whoami", `{}`); a.status != http.StatusUnauthorized {
		t.Errorf("after a former token of a minute ago = %d %s", a.status, a.body)
	}
	w.VerifyLedger("t:acme.com")
}

// TestATokenOfTwoBefore ends the agent within the minute, too: who has the next one has used it.
func TestATokenOfTwoBefore(t *testing.T) {
	w := newWorld(t)
	client := w.client()
	first := w.person("ana@acme.com").tokens(w, client)
	second := w.tokens(refreshes(client, first.Refresh))
	third := w.tokens(refreshes(client, second.Refresh))
	w.asksFor("/oauth/token", refreshes(client, first.Refresh)).refused(t, http.StatusBadRequest, "invalid_grant")
	w.asksFor("/oauth/token", refreshes(client, third.Refresh)).refused(t, http.StatusBadRequest, "invalid_grant")
}

// TestTheGrantEnds with the days that the person gave it: no token holds longer.
func TestTheGrantEnds(t *testing.T) {
	w := newWorld(t)
	ana, client := w.person("ana@acme.com"), w.client()
	_, form := ana.page(asks(client))
	_, got := ana.post("/oauth/consent", with(allows(form), url.Values{"days": {"1"}})).location(t)
	tok := w.tokens(redeems(client, got.Get("code")))
	w.Clock.Add(24*time.Hour - time.Minute)
	last := w.tokens(refreshes(client, tok.Refresh))
	if last.Expires != 60 {
		t.Errorf("the last token holds for %d s", last.Expires)
	}
	w.Clock.Add(time.Minute)
	if a := w.calls("/mcp", last.Access, "user.whoami", `{}`); a.status != http.StatusUnauthorized {
		t.Errorf("after the end = %d %s", a.status, a.body)
	}
	w.asksFor("/oauth/token", refreshes(client, last.Refresh)).refused(t, http.StatusBadRequest, "invalid_grant")
}

// TestAQueryIsNoOtherServer: a client that chooses its tools by a query has a token for the server.
func TestAQueryIsNoOtherServer(t *testing.T) {
	w := newWorld(t)
	client := w.client()
	code := w.person("ana@acme.com").code(with(asks(client), url.Values{"resource": {resource + "?sets=messenger"}}))
	tok := w.tokens(with(redeems(client, code), url.Values{"resource": {resource + "?sets=messenger"}}))
	for _, path := range []string{"/mcp?sets=messenger", "/mcp"} {
		if a := w.calls(path, tok.Access, "messenger.send", hello); !strings.Contains(a.body, `"receipt"`) {
			t.Errorf("%s = %d %s", path, a.status, a.body)
		}
	}
	w.tokens(with(refreshes(client, tok.Refresh), url.Values{"resource": {resource + "?sets=messenger"}}))
}

// TestAnyNodeGoesOn: each step is another node's, which has heard of none before, and the key rotates
// in between.
func TestAnyNodeGoesOn(t *testing.T) {
	w := newWorld(t)
	client := w.client()
	next := func() {
		rotated, err := w.key.Rotate(rand.Reader, w.Clock.Now(), time.Hour)
		must(t, err)
		w.key = rotated
		w.node()
	}
	ana := w.person("ana@acme.com")
	next()
	_, form := ana.page(asks(client))
	next()
	_, got := ana.post("/oauth/consent", allows(form)).location(t)
	next()
	tok := w.tokens(redeems(client, got.Get("code")))
	next()
	if a := w.calls("/mcp", tok.Access, "messenger.send", hello); !strings.Contains(a.body, `"receipt"`) {
		t.Errorf("another node = %d %s", a.status, a.body)
	}
	second := w.tokens(refreshes(client, tok.Refresh))
	next()
	w.Clock.Add(2 * time.Minute)
	w.tokens(refreshes(client, second.Refresh))
	next()
	w.asksFor("/oauth/token", refreshes(client, tok.Refresh)).refused(t, http.StatusBadRequest, "invalid_grant")
	next()
	if a := w.calls("/mcp", second.Access, "user.whoami", `{}`); a.status != http.StatusUnauthorized {
		t.Errorf("after a token that came twice = %d %s", a.status, a.body)
	}
}

// TestAccessIsForOnePlace: the token is good at its MCP server and nowhere else.
func TestAccessIsForOnePlace(t *testing.T) {
	w := newWorld(t)
	ana, client := w.person("ana@acme.com"), w.client()
	tok := ana.tokens(w, client)
	for _, path := range []string{"/portal/mcp", "/api/whoami", "/api/rooms", "/oauth/authorize?" + asks(client).Encode()} {
		r := w.stranger().request("GET", path, nil)
		r.Header.Set("Authorization", "Bearer "+tok.Access)
		if a := w.send(r); a.status != http.StatusUnauthorized && a.status != http.StatusForbidden && !strings.HasPrefix(a.header.Get("Location"), "/ui/sign-in?") {
			t.Errorf("%s = %d %s", path, a.status, a.body)
		}
	}
	r := w.stranger().request("GET", "/api/whoami", nil)
	r.AddCookie(&http.Cookie{Name: "__Host-ubl", Value: tok.Access})
	if a := w.send(r); a.status != http.StatusUnauthorized {
		t.Errorf("as a cookie = %d %s", a.status, a.body)
	}
	if a := w.calls("/mcp", tok.Refresh, "user.whoami", `{}`); a.status != http.StatusUnauthorized {
		t.Errorf("a refresh token = %d %s", a.status, a.body)
	}
	platform, _, err := w.key.Sign(authSpec(w, "ana@acme.com"))
	must(t, err)
	if a := w.calls("/mcp", platform, "messenger.list_rooms", `{}`); a.status != http.StatusOK {
		t.Errorf("a platform token = %d %s", a.status, a.body)
	}
}

// TestRevoke: either token ends the agent, for its own client.
func TestRevoke(t *testing.T) {
	w := newWorld(t)
	ana, client := w.person("ana@acme.com"), w.client()
	for name, pick := range map[string]func(tokens) string{
		"access": func(t tokens) string { return t.Access }, "refresh": func(t tokens) string { return t.Refresh },
	} {
		t.Run(name, func(t *testing.T) {
			tok := ana.tokens(w, client)
			q := url.Values{"client_id": {client}, "token": {pick(tok)}}
			w.asksFor("/oauth/revoke", with(q, url.Values{"client_id": {w.client2()}})).refused(t, http.StatusBadRequest, "invalid_grant")
			w.asksFor("/oauth/revoke", with(q, url.Values{"client_id": nil})).refused(t, http.StatusUnauthorized, "invalid_client")
			w.asksFor("/oauth/revoke", with(q, url.Values{"token": nil})).refused(t, http.StatusBadRequest, "invalid_request")
			for _, foreign := range []string{"x", client, tok.Access + "x"} {
				if a := w.asksFor("/oauth/revoke", with(q, url.Values{"token": {foreign}})); a.status != http.StatusOK {
					t.Errorf("a token of nobody = %d %s", a.status, a.body)
				}
			}
			if a := w.calls("/mcp", tok.Access, "user.whoami", `{}`); a.status != http.StatusOK {
				t.Fatalf("before = %d %s", a.status, a.body)
			}
			for range 2 {
				if a := w.asksFor("/oauth/revoke", q); a.status != http.StatusOK || a.body != "" {
					t.Errorf("revoking = %d %s", a.status, a.body)
				}
			}
			if a := w.calls("/mcp", tok.Access, "user.whoami", `{}`); a.status != http.StatusUnauthorized {
				t.Errorf("after = %d %s", a.status, a.body)
			}
			w.asksFor("/oauth/token", refreshes(client, tok.Refresh)).refused(t, http.StatusBadRequest, "invalid_grant")
		})
	}
}

// TestClientsWithASecret prove it, in the header or in the form.
func TestClientsWithASecret(t *testing.T) {
	w := newWorld(t)
	ana := w.person("ana@acme.com")
	for _, how := range []string{"client_secret_basic", "client_secret_post", ""} {
		t.Run(how, func(t *testing.T) {
			change := map[string]any{"token_endpoint_auth_method": how}
			made := w.register(change)
			client, secret := made["client_id"].(string), made["client_secret"].(string)
			if expires, ok := made["client_secret_expires_at"].(float64); !ok || expires != 0 || how == "" && made["token_endpoint_auth_method"] != "client_secret_basic" {
				t.Errorf("registered as %v", made)
			}
			code := ana.code(asks(client))
			q := redeems(client, code)
			basic := func(secret string) string {
				return "Basic " + base64.StdEncoding.EncodeToString([]byte(url.QueryEscape(client)+":"+url.QueryEscape(secret)))
			}
			other := w.register(change)["client_secret"].(string)
			w.Clock.Add(time.Second)
			if later := w.register(change)["client_secret"].(string); later == secret || other != secret { // the same client in the same moment
				t.Error("two clients have one secret")
			} else {
				w.asksFor("/oauth/token", with(q, url.Values{"client_secret": {later}})).refused(t, http.StatusUnauthorized, "invalid_client")
			}
			w.asksFor("/oauth/token", q).refused(t, http.StatusUnauthorized, "invalid_client")
			w.asksFor("/oauth/token", q, "Authorization", basic("x")).refused(t, http.StatusUnauthorized, "invalid_client")
			w.asksFor("/oauth/token", with(q, url.Values{"client_id": {w.client2()}}), "Authorization", basic(secret)).refused(t, http.StatusUnauthorized, "invalid_client")
			w.asksFor("/oauth/token", with(q, url.Values{"client_secret": {secret}}), "Authorization", basic(secret)).refused(t, http.StatusBadRequest, "invalid_request")
			if how == "client_secret_post" {
				w.tokens(with(q, url.Values{"client_secret": {secret}}))
				return
			}
			if a := w.asksFor("/oauth/token", with(q, url.Values{"client_id": nil}), "Authorization", basic(secret)); a.status != http.StatusOK {
				t.Errorf("by header = %d %s", a.status, a.body)
			}
		})
	}
}

package oauth_test

import (
	"net/http"
	"net/url"
	"strings"
	"testing"
)

// TestNobodyIsSentAnywhere: where client or redirect are wrong, the person hears of it on a page
// without a way to the place that was named.
func TestNobodyIsSentAnywhere(t *testing.T) {
	w := newWorld(t)
	ana, good := w.person("ana@acme.com"), asks(w.client())
	other := w.register(map[string]any{"redirect_uris": []string{"https://other.example/cb", "cursor://anysphere.cursor-mcp/cb", "http://localhost:9/cb?a=1"}})["client_id"].(string)
	for name, change := range map[string]url.Values{
		"no client":                          {"client_id": nil},
		"a client of nobody":                 {"client_id": {"evil"}},
		"a client that was changed":          {"client_id": {"x" + good.Get("client_id")}},
		"another server's form as client":    {"client_id": {strings.Replace(good.Get("client_id"), ".", ".AAAA", 1)}},
		"two clients":                        {"client_id": {good.Get("client_id"), other}},
		"no redirect":                        {"redirect_uri": nil},
		"two redirects":                      {"redirect_uri": {back, "https://evil.example/"}},
		"another's redirect":                 {"redirect_uri": {"https://evil.example/callback"}},
		"another path on this machine":       {"redirect_uri": {"http://127.0.0.1:7777/callback/../evil"}},
		"a longer path":                      {"redirect_uri": {back + "/evil"}},
		"a query":                            {"redirect_uri": {back + "?next=https://evil.example"}},
		"a user":                             {"redirect_uri": {"http://127.0.0.1:7777@evil.example/callback"}},
		"a fragment":                         {"redirect_uri": {back + "#x"}},
		"another name of this machine":       {"redirect_uri": {"http://localhost:7777/callback"}},
		"https on this machine":              {"redirect_uri": {"https://127.0.0.1:7777/callback"}},
		"a script":                           {"redirect_uri": {"javascript:alert(1)//callback"}},
		"a client's own port of the web":     {"client_id": {other}, "redirect_uri": {"https://other.example:8443/cb"}},
		"a client's own in other letters":    {"client_id": {other}, "redirect_uri": {"https://other.example/CB"}},
		"a client's own with a dot":          {"client_id": {other}, "redirect_uri": {"https://other.example./cb"}},
		"a program's scheme, another path":   {"client_id": {other}, "redirect_uri": {"cursor://anysphere.cursor-mcp/evil"}},
		"this machine with another query":    {"client_id": {other}, "redirect_uri": {"http://localhost:9/cb?a=2"}},
		"this machine, the host in its path": {"client_id": {other}, "redirect_uri": {"http://localhost:9.evil.example/cb?a=1"}},
	} {
		a := ana.get("/oauth/authorize?" + with(good, change).Encode())
		if a.status != http.StatusBadRequest || a.header.Get("Location") != "" || strings.Contains(a.body, "evil") || !strings.Contains(a.body, "Nothing is connected") {
			t.Errorf("%s: %d, to %q: %s", name, a.status, a.header.Get("Location"), a.body)
		}
	}
	for name, q := range map[string]url.Values{
		"another port of this machine": with(good, url.Values{"redirect_uri": {"http://127.0.0.1:1/callback"}}),
		"no port":                      with(good, url.Values{"redirect_uri": {"http://127.0.0.1/callback"}}),
		"one of several":               with(good, url.Values{"client_id": {other}, "redirect_uri": {"https://other.example/cb"}}),
		"a program's scheme":           with(good, url.Values{"client_id": {other}, "redirect_uri": {"cursor://anysphere.cursor-mcp/cb"}}),
		"a query of its own":           with(good, url.Values{"client_id": {other}, "redirect_uri": {"http://localhost:1234/cb?a=1"}}),
	} {
		if a := ana.get("/oauth/authorize?" + q.Encode()); a.status != http.StatusOK || !strings.Contains(a.body, "Allow") {
			t.Errorf("%s: %d %s", name, a.status, a.body)
		}
	}
}

// TestTheClientHears: what else is wrong goes back to it, by itself to this machine, and else by a
// button, since anybody can register a page.
func TestTheClientHears(t *testing.T) {
	w := newWorld(t)
	local, web := w.client(), w.register(map[string]any{"redirect_uris": []string{"https://client.example/cb"}})["client_id"].(string)
	for name, c := range map[string]struct {
		change url.Values
		code   string
	}{
		"no type":                {url.Values{"response_type": nil}, "unsupported_response_type"},
		"the implicit flow":      {url.Values{"response_type": {"token"}}, "unsupported_response_type"},
		"the code in a fragment": {url.Values{"response_mode": {"fragment"}}, "invalid_request"},
		"no PKCE":                {url.Values{"code_challenge": nil, "code_challenge_method": nil}, "invalid_request"},
		"PKCE of the plain kind": {url.Values{"code_challenge_method": {"plain"}}, "invalid_request"},
		"PKCE of no said kind":   {url.Values{"code_challenge_method": nil}, "invalid_request"},
		"a short challenge":      {url.Values{"code_challenge": {"abc"}}, "invalid_request"},
		"two challenges":         {url.Values{"code_challenge": {challenge("a"), challenge("b")}}, "invalid_request"},
		"a request by reference": {url.Values{"request_uri": {"https://evil.example/"}}, "request_not_supported"},
		"no resource":            {url.Values{"resource": nil}, "invalid_target"},
		"another server":         {url.Values{"resource": {"https://other.example/mcp"}}, "invalid_target"},
		"this server over http":  {url.Values{"resource": {"http://ubl.example/mcp"}}, "invalid_target"},
		"another port":           {url.Values{"resource": {"https://ubl.example:444/mcp"}}, "invalid_target"},
		"the API":                {url.Values{"resource": {here + "/api"}}, "invalid_target"},
		"the whole server":       {url.Values{"resource": {here}}, "invalid_target"},
		"a resource's fragment":  {url.Values{"resource": {resource + "#x"}}, "invalid_target"},
		"an encoded path":        {url.Values{"resource": {here + "/%6dcp"}}, "invalid_target"},
		"a user of the server":   {url.Values{"resource": {"https://ana@ubl.example/mcp"}}, "invalid_target"},
		"two resources":          {url.Values{"resource": {resource, here + "/portal/mcp"}}, "invalid_target"},
		"too long a state":       {url.Values{"state": {strings.Repeat("s", 5000)}}, "invalid_request"},
	} {
		q := with(asks(local), c.change)
		a := w.stranger().get("/oauth/authorize?" + q.Encode())
		at, got := a.location(t)
		state := "xyz & co"
		if len(q.Get("state")) > 4096 {
			state = ""
		}
		if a.status != http.StatusFound || at != back || got.Get("error") != c.code || got.Get("error_description") == "" || got.Get("state") != state || got.Get("iss") != here || got.Has("code") {
			t.Errorf("%s: %d to %s with %v, want %s", name, a.status, at, got, c.code)
		}
		a = w.stranger().get("/oauth/authorize?" + with(with(asks(web), url.Values{"redirect_uri": {"https://client.example/cb"}}), c.change).Encode())
		if a.status != http.StatusBadRequest || a.header.Get("Location") != "" || !strings.Contains(a.body, `href="https://client.example/cb?error=`+c.code) {
			t.Errorf("%s, of a page: %d to %q: %s", name, a.status, a.header.Get("Location"), a.body)
		}
	}
}

// TestWhoIsAsked: who isn't signed in does that first; whom another site has sent goes on by
// themselves; programs are asked nothing.
func TestWhoIsAsked(t *testing.T) {
	w := newWorld(t)
	q := asks(w.client())
	path := "/oauth/authorize?" + q.Encode()
	a := w.stranger().get(path)
	if at, got := a.location(t); a.status != http.StatusSeeOther || at != "/ui/sign-in" || got.Get("next") != path {
		t.Errorf("a stranger is led to %s with %v", at, got)
	}
	ana := w.person("ana@acme.com")
	for _, site := range []string{"cross-site", "same-site", ""} {
		r := ana.request("GET", path, nil)
		r.Header.Del("Sec-Fetch-Site")
		if site != "" {
			r.Header.Set("Sec-Fetch-Site", site)
		}
		a := ana.do(r)
		if a.status != http.StatusOK || strings.Contains(a.body, "ana@acme.com") || strings.Contains(a.body, "<form") || !strings.Contains(a.body, ">Continue</a>") || !strings.Contains(a.body, "Harbour Robot") {
			t.Errorf("from a page of %q: %d %s", site, a.status, a.body)
		}
	}
	token, _, err := w.key.Sign(authSpec(w, "ana@acme.com"))
	must(t, err)
	r := w.stranger().request("GET", path, nil)
	r.Header.Set("Authorization", "Bearer "+token)
	if a := w.send(r); a.status != http.StatusForbidden || strings.Contains(a.body, "<form") {
		t.Errorf("a program: %d %s", a.status, a.body)
	}

	page, _ := ana.page(q)
	for _, want := range []string{"Harbour Robot", "nobody has checked who made it", "a program on this computer", "ana@acme.com", "acme.com", `value="r:general"`, "Read and send messages", `name="read_only"`, `name="per_minute"`, `value="30"`} {
		if !strings.Contains(page.body, want) {
			t.Errorf("the page doesn't say %q: %s", want, page.body)
		}
	}
	policy := page.header.Get("Content-Security-Policy")
	if !strings.Contains(policy, "frame-ancestors 'none'") || !strings.Contains(policy, "default-src 'none'") || !strings.Contains(policy, "form-action 'self' http://127.0.0.1:7777;") || strings.Contains(page.body, "<script") {
		t.Errorf("the page's policy is %s", policy)
	}
	if page.header.Get("Cache-Control") != "no-store" {
		t.Error("the page may be kept")
	}
	for _, narrow := range []string{"/portal/mcp/weather/readonly", "/portal/mcp?sets=weather&readonly=true"} {
		long, _ := ana.page(with(q, url.Values{"resource": {here + narrow}}))
		if strings.Contains(long.body, `name="read_only" value="yes" checked`) {
			continue
		}
		t.Errorf("a read-only server suggests more: %s", long.body)
	}
}

// TestWhereItIsKnown: without a public URL the server is what it was called, and people sign in
// where links lead to.
func TestWhereItIsKnown(t *testing.T) {
	w := newWorldAt(t, "")
	ask := func(host, path string) answer {
		r, err := http.NewRequest("GET", "http://"+host+path, nil)
		must(t, err)
		r.RemoteAddr = "127.0.0.1:1"
		return w.send(r)
	}
	for host, authorize := range map[string]string{
		"127.0.0.1:8080": "http://localhost:8080", "localhost:8080": "http://localhost:8080", "[::1]:8080": "http://localhost:8080",
		"ubl.lan:8080": "http://ubl.lan:8080", "127.0.0.1:9999": "http://127.0.0.1:9999",
	} {
		for _, path := range []string{"", "/mcp", "/portal/mcp/messenger"} {
			a := ask(host, "/.well-known/oauth-authorization-server"+path)
			want := `{"issuer":"http://` + host + `","authorization_endpoint":"` + authorize + `/oauth/authorize","token_endpoint":"http://` + host + `/oauth/token",`
			if a.status != http.StatusOK || !strings.HasPrefix(a.body, want) || a.header.Get("Access-Control-Allow-Origin") != "*" {
				t.Errorf("metadata%s of %s = %d %s", path, host, a.status, a.body)
			}
		}
	}
	for _, want := range []string{`"code_challenge_methods_supported":["S256"]`, `"client_id_metadata_document_supported":true`, `"registration_endpoint":"`, `"revocation_endpoint":"`, `"authorization_response_iss_parameter_supported":true`, `"response_types_supported":["code"]`} {
		if a := ask("localhost:8080", "/.well-known/oauth-authorization-server"); !strings.Contains(a.body, want) {
			t.Errorf("metadata lack %s: %s", want, a.body)
		}
	}
	for _, path := range []string{"/.well-known/openid-configuration", "/.well-known/openid-configuration/mcp", "/.well-known/oauth-authorization-server/api", "/.well-known/oauth-authorization-server/"} {
		if a := ask("localhost:8080", path); a.status != http.StatusNotFound {
			t.Errorf("%s = %d %s", path, a.status, a.body)
		}
	}
	client := w.client()
	for resource, want := range map[string]string{ // asked at localhost:8080
		"http://127.0.0.1:8080/mcp": "", "http://localhost:8080/mcp": "", "http://[::1]:8080/portal/mcp": "",
		"http://127.0.0.1:8081/mcp": "invalid_target", "http://evil.example:8080/mcp": "invalid_target", "https://localhost:8080/mcp": "invalid_target",
	} {
		a := ask("localhost:8080", "/oauth/authorize?"+with(asks(client), url.Values{"resource": {resource}}).Encode())
		if _, got := a.location(t); got.Get("error") != want {
			t.Errorf("resource %s = %d %v", resource, a.status, got)
		}
	}
}

// TestMethods: who asks a page by a method that it hasn't is told which it has.
func TestMethods(t *testing.T) {
	w := newWorld(t)
	for path, has := range map[string]string{"/oauth/authorize": "GET, OPTIONS", "/oauth/consent": "OPTIONS, POST"} {
		for _, method := range []string{"GET", "HEAD", "POST", "DELETE", "OPTIONS"} {
			want := http.StatusMethodNotAllowed
			switch {
			case method == "OPTIONS":
				want = http.StatusNoContent
			case strings.Contains(has, method):
				continue
			}
			a := w.stranger().do(w.stranger().request(method, path, nil))
			if a.status != want || a.header.Get("Allow") != has || strings.Contains(a.body, "GET and HEAD") {
				t.Errorf("%s %s: %d, which allows %s: %s", method, path, a.status, a.header.Get("Allow"), a.body)
			}
		}
	}
}

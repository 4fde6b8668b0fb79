package oauth_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"

	"ubl"
)

// TestRegister: what a client may be.
func TestRegister(t *testing.T) {
	w := newWorld(t)
	for name, c := range map[string]struct {
		change map[string]any
		code   string
	}{
		"no redirect":                    {map[string]any{"redirect_uris": nil}, "invalid_redirect_uri"},
		"too many":                       {map[string]any{"redirect_uris": strings.Split(strings.Repeat(back+" ", 11), " ")[:11]}, "invalid_redirect_uri"},
		"http elsewhere":                 {map[string]any{"redirect_uris": []string{"http://client.example/cb"}}, "invalid_redirect_uri"},
		"http to a private net":          {map[string]any{"redirect_uris": []string{"http://10.0.0.1/cb"}}, "invalid_redirect_uri"},
		"a name like localhost":          {map[string]any{"redirect_uris": []string{"http://localhost.evil.example/cb"}}, "invalid_redirect_uri"},
		"a fragment":                     {map[string]any{"redirect_uris": []string{"https://client.example/cb#x"}}, "invalid_redirect_uri"},
		"an empty fragment":              {map[string]any{"redirect_uris": []string{"https://client.example/cb#"}}, "invalid_redirect_uri"},
		"a user":                         {map[string]any{"redirect_uris": []string{"https://a:b@client.example/cb"}}, "invalid_redirect_uri"},
		"a blank":                        {map[string]any{"redirect_uris": []string{"https://client.example/c b"}}, "invalid_redirect_uri"},
		"a line":                         {map[string]any{"redirect_uris": []string{"https://client.example/\nLocation:x"}}, "invalid_redirect_uri"},
		"a script":                       {map[string]any{"redirect_uris": []string{"javascript:alert(1)"}}, "invalid_redirect_uri"},
		"a script in capitals":           {map[string]any{"redirect_uris": []string{"JavaScript://x/%0aalert(1)"}}, "invalid_redirect_uri"},
		"data":                           {map[string]any{"redirect_uris": []string{"data:text/html,x"}}, "invalid_redirect_uri"},
		"a file":                         {map[string]any{"redirect_uris": []string{"file:///etc/passwd"}}, "invalid_redirect_uri"},
		"a program of the system":        {map[string]any{"redirect_uris": []string{"ms-msdt:/id"}}, "invalid_redirect_uri"},
		"a relative one":                 {map[string]any{"redirect_uris": []string{"/callback"}}, "invalid_redirect_uri"},
		"a policy in the host":           {map[string]any{"redirect_uris": []string{"https://client.example;script-src/cb"}}, "invalid_redirect_uri"},
		"a wildcard":                     {map[string]any{"redirect_uris": []string{"https://*.example/cb"}}, "invalid_redirect_uri"},
		"a quote in the host":            {map[string]any{"redirect_uris": []string{"https://'self'/cb"}}, "invalid_redirect_uri"},
		"a comma in the host":            {map[string]any{"redirect_uris": []string{"https://a,b.example/cb"}}, "invalid_redirect_uri"},
		"a host in per cent":             {map[string]any{"redirect_uris": []string{"https://client%3bx.example/cb"}}, "invalid_redirect_uri"},
		"no port":                        {map[string]any{"redirect_uris": []string{"https://client.example:/cb"}}, "invalid_redirect_uri"},
		"port 0":                         {map[string]any{"redirect_uris": []string{"https://client.example:0/cb"}}, "invalid_redirect_uri"},
		"a port too high":                {map[string]any{"redirect_uris": []string{"http://127.0.0.1:65536/cb"}}, "invalid_redirect_uri"},
		"a zone":                         {map[string]any{"redirect_uris": []string{"https://[fe80::1%25eth0]/cb"}}, "invalid_redirect_uri"},
		"a scheme that anybody may have": {map[string]any{"redirect_uris": []string{"settings:/cb"}}, "invalid_redirect_uri"},
		"a scheme of a system's":         {map[string]any{"redirect_uris": []string{"x-apple.systempreferences:/cb"}}, "invalid_redirect_uri"},
		"a scheme that ends in a dot":    {map[string]any{"redirect_uris": []string{"example.:/cb"}}, "invalid_redirect_uri"},
		"one bad of two":                 {map[string]any{"redirect_uris": []string{back, "http://client.example/cb"}}, "invalid_redirect_uri"},
		"a long one":                     {map[string]any{"redirect_uris": []string{"https://client.example/" + strings.Repeat("a", 600)}}, "invalid_redirect_uri"},
		"signed by its own key":          {map[string]any{"token_endpoint_auth_method": "private_key_jwt"}, "invalid_client_metadata"},
		"without a code":                 {map[string]any{"grant_types": []string{"client_credentials"}}, "invalid_client_metadata"},
		"implicit":                       {map[string]any{"response_types": []string{"token"}}, "invalid_client_metadata"},
		"a list as name":                 {map[string]any{"client_name": []string{"x"}}, "invalid_client_metadata"},
		"too much":                       {map[string]any{"software_statement": strings.Repeat("x", 17<<10)}, "invalid_client_metadata"},
	} {
		t.Run(name, func(t *testing.T) { w.registers(c.change).refused(t, http.StatusBadRequest, c.code) })
	}
	made := w.register(map[string]any{"client_name": "Claude\u202e <b>", "client_uri": "https://x.example", "redirect_uris": []string{"https://client.example/cb", "http://[::1]:1/cb", "vscode://vendor.ext/cb", "com.example.app:/cb", "https://client.example:8443/cb", "https://[2001:db8::1]:443/cb"}})
	if made["client_name"] != "Claude <b>" || made["token_endpoint_auth_method"] != "none" || made["client_secret"] != nil || made["scope"] != "mcp" {
		t.Errorf("registered as %v", made)
	}
	page, _ := w.person("ana@acme.com").page(with(asks(made["client_id"].(string)), url.Values{"redirect_uri": {"http://[::1]:9/cb"}}))
	if !strings.Contains(page.body, "Claude &lt;b&gt;") || strings.Contains(page.body, "<b>Claude <b>") {
		t.Errorf("the page is %s", page.body)
	}
	w.counted = ubl.Errorf(ubl.CodeRateLimited, "too many").Later(time.Minute)
	a := w.registers(nil)
	if a.refused(t, http.StatusTooManyRequests, "temporarily_unavailable"); a.header.Get("Retry-After") != "60" {
		t.Errorf("too many = %v", a.header)
	}
}

// TestRegisterWritesNothing: whatever strangers ask, no ledger hears of it.
func TestRegisterWritesNothing(t *testing.T) {
	w := newWorld(t)
	head := func() int64 {
		h, err := ubl.Ask[ubl.LedgerHead](t.Context(), w.House, ubl.LedgerName(ubl.CoreTenant), ubl.GetLedgerHead{})
		must(t, err)
		return h.Seq
	}
	before := head()
	client := w.client()
	w.stranger().get("/oauth/authorize?" + asks(client).Encode())
	w.asksFor("/oauth/token", redeems(client, "x"))
	w.asksFor("/oauth/revoke", url.Values{"client_id": {client}, "token": {"x"}})
	if after := head(); after != before {
		t.Errorf("the ledger went from %d to %d", before, after)
	}
}

// TestAnyPageMayAsk: what programs ask is open to pages of any origin, the rest isn't.
func TestAnyPageMayAsk(t *testing.T) {
	w := newWorld(t)
	for path, open := range map[string]bool{"/oauth/token": true, "/oauth/register": true, "/oauth/revoke": true, "/.well-known/oauth-authorization-server": true, "/oauth/consent": false, "/oauth/authorize": false} {
		r := httptest.NewRequestWithContext(t.Context(), "OPTIONS", here+path, nil)
		r.Header.Set("Origin", "https://inspector.example")
		r.Header.Set("Access-Control-Request-Method", "POST")
		r.Header.Set("Access-Control-Request-Headers", "content-type, mcp-protocol-version")
		a := w.send(r)
		if got := a.header.Get("Access-Control-Allow-Origin") == "*" && a.status == http.StatusNoContent; got != open || a.header.Get("Access-Control-Allow-Credentials") != "" {
			t.Errorf("%s = %d %v", path, a.status, a.header)
		}
	}
}

const document = "https://example.com/oauth/client.json"

// TestDocuments: a client that is known by the address of its document.
func TestDocuments(t *testing.T) {
	w := newWorld(t)
	ana := w.person("ana@acme.com")
	good := map[string]any{"client_id": document, "client_name": "Harbour Robot", "redirect_uris": []string{back, "https://example.com/cb"}, "token_endpoint_auth_method": "none"}
	serve := func(doc any, headers ...string) {
		w.documents = func(rw http.ResponseWriter, r *http.Request) {
			rw.Header().Set("Content-Type", "application/json")
			for i := 0; i < len(headers); i += 2 {
				rw.Header().Set(headers[i], headers[i+1])
			}
			if text, ok := doc.(string); ok {
				fmt.Fprint(rw, text)
				return
			}
			_ = json.NewEncoder(rw).Encode(doc)
		}
	}
	but := func(name string, value any) map[string]any {
		out := map[string]any{name: value}
		for n, v := range good {
			if n != name {
				out[n] = v
			}
		}
		return out
	}
	refused := func(name, id string) {
		t.Helper()
		a := ana.get("/oauth/authorize?" + with(asks(document), url.Values{"client_id": {id}}).Encode())
		if a.status != http.StatusBadRequest || !strings.Contains(a.body, "Nothing is connected") || a.header.Get("Location") != "" {
			t.Errorf("%s: %d %s", name, a.status, a.body)
		}
	}
	for name, doc := range map[string]any{
		"of another client":     but("client_id", "https://example.com/other.json"),
		"of no client":          but("client_id", nil),
		"without redirects":     but("redirect_uris", nil),
		"with a bad redirect":   but("redirect_uris", []string{"http://evil.example/"}),
		"with a secret":         but("token_endpoint_auth_method", "client_secret_post"),
		"with a key of its own": but("token_endpoint_auth_method", "private_key_jwt"),
		"no JSON":               "<html>",
		"too large":             but("client_uri", strings.Repeat("x", 17<<10)),
	} {
		serve(doc)
		refused("a document "+name, document)
	}
	serve(good, "Content-Type", "text/html")
	refused("a page", document)
	w.documents = func(rw http.ResponseWriter, r *http.Request) {
		http.Redirect(rw, r, "https://example.com/elsewhere", http.StatusFound)
	}
	refused("a redirect", document)
	w.documents = func(rw http.ResponseWriter, r *http.Request) { http.Error(rw, "{}", 500) }
	refused("an error", document)
	w.documents = func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) }
	refused("a line that breaks", document)
	asked := 0
	w.documents = func(http.ResponseWriter, *http.Request) { asked++ }
	for _, id := range []string{"https://example.com", "https://example.com/", "https://example.com/a/../b", "https://example.com/a?x=1", "https://example.com/a?", "https://example.com/a#x", "https://a@example.com/b", "https:///a", "http://example.com/a", "https://10.0.0.1/a", "https://169.254.169.254/a", "https://[::1]/a", "https://example.com:0/a", "https://example.com/" + strings.Repeat("a", 600)} {
		refused(id, id)
	}
	w.counted = ubl.Errorf(ubl.CodeRateLimited, "too many")
	if a := ana.get("/oauth/authorize?" + asks(document).Encode()); a.status != http.StatusTooManyRequests || asked > 0 {
		t.Errorf("too many = %d, %d asked", a.status, asked)
	}
	w.counted = nil

	serve(good, "Cache-Control", "max-age=120")
	page, _ := ana.page(asks(document))
	if !strings.Contains(page.body, "from <b>example.com</b>") || !strings.Contains(page.body, "any program here could have asked in the name of example.com") || strings.Contains(page.body, "Anybody can use this name") {
		t.Errorf("the page is %s", page.body)
	}
	own, _ := ana.page(with(asks(document), url.Values{"redirect_uri": {"https://example.com/cb"}}))
	if strings.Contains(own.body, `class="warning"`) {
		t.Errorf("the page of a client at its own host is %s", own.body)
	}
	tok := ana.tokens(w, document)
	if a := w.calls("/mcp", tok.Access, "messenger.send", hello); !strings.Contains(a.body, `"receipt"`) {
		t.Errorf("sending = %d %s", a.status, a.body)
	}
	if client := w.agents()[0].Client; client != document {
		t.Errorf("the agent's client is %s", client)
	}
	w.asksFor("/oauth/token", with(refreshes(document, tok.Refresh), url.Values{"client_secret": {"x"}})).refused(t, http.StatusUnauthorized, "invalid_client")
	w.documents = func(http.ResponseWriter, *http.Request) { asked++ }
	w.tokens(refreshes(document, tok.Refresh))
	ana.page(asks(document))
	if asked > 0 {
		t.Errorf("a document that may be kept was fetched %d times", asked)
	}
	w.Clock.Add(2 * time.Minute)
	if refused("a document that is gone", document); asked != 1 {
		t.Errorf("an old document was fetched %d times", asked)
	}
}

// TestOneAddressTakesNotAllTurns: while documents are slow, who asks from one address for many
// leaves turns to others.
func TestOneAddressTakesNotAllTurns(t *testing.T) {
	w := newWorld(t)
	asked, goOn := make(chan bool, 8), make(chan bool)
	w.documents = func(http.ResponseWriter, *http.Request) { asked <- true; <-goOn }
	var wait sync.WaitGroup
	looks := func(from string, n int) int {
		r := httptest.NewRequestWithContext(t.Context(), "GET", here+"/oauth/authorize?"+with(asks(document), url.Values{"client_id": {fmt.Sprint(document, "/", from, n)}}).Encode(), nil)
		r.RemoteAddr = from
		return w.send(r).status
	}
	for _, from := range []string{"192.0.2.1:1", "192.0.2.2:1", "192.0.2.3:1", "192.0.2.4:1"} {
		for n := range 2 {
			wait.Go(func() { looks(from, n) })
			<-asked
		}
		if status := looks(from, 2); status != http.StatusServiceUnavailable {
			t.Errorf("the third from %s is answered %d", from, status)
		}
	}
	if status := looks("192.0.2.5:1", 0); status != http.StatusServiceUnavailable {
		t.Errorf("the ninth is answered %d", status)
	}
	close(goOn)
	wait.Wait()
	if status := looks("192.0.2.5:1", 0); status != http.StatusBadRequest {
		t.Errorf("with free turns = %d", status)
	}
}

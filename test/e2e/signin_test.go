package e2e

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"regexp"
	"strings"
	"testing"
	"time"
)

// signInLink is the link that serve printed. It leads to a name, not an address.
func (n *node) signInLink(t *testing.T) string {
	t.Helper()
	link := regexp.MustCompile(`http://localhost:\d+/signin/[0-9a-f]{32}`)
	for deadline := time.Now().Add(time.Minute); time.Now().Before(deadline); time.Sleep(5 * time.Millisecond) {
		if url := link.FindString(n.log.String()); url != "" {
			return url
		}
	}
	t.Fatal("serve printed no link")
	return ""
}

// visitor is a browser, as far as cookies are concerned. It stays where it is led
// away from.
type visitor struct {
	*http.Client
	t *testing.T
}

func newVisitor(t *testing.T) visitor {
	jar, err := cookiejar.New(nil)
	must(t, err)
	return visitor{&http.Client{
		Jar: jar, Transport: ownPage{}, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}, t}
}

// ownPage sends requests as a browser does for the server's own pages.
type ownPage struct{}

func (ownPage) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	r.Header.Set("Sec-Fetch-Site", "same-origin")
	return http.DefaultTransport.RoundTrip(r)
}

// ask sends a request and wants a status.
func (v visitor) ask(method, url string, want int) string {
	v.t.Helper()
	req, err := http.NewRequest(method, url, nil)
	must(v.t, err)
	resp, err := v.Do(req)
	must(v.t, err)
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	must(v.t, err)
	if resp.StatusCode != want {
		v.t.Errorf("%s %s is answered %d, want %d: %s", method, req.URL.Path, resp.StatusCode, want, body)
	}
	return string(body)
}

// TestSignInLink: the link that serve prints begins one session, and only for who
// confirms; link and session are receipted in tenant 0. Signing out ends it, on
// the server too.
func TestSignInLink(t *testing.T) {
	n := newNode(t, "--owner", "ana@link.example", "--operator", "op@ops.example")
	link := n.signInLink(t)
	at, _, _ := strings.Cut(link, "/signin/")
	v := newVisitor(t)
	v.ask("POST", at+"/signin/"+strings.Repeat("0", 32), http.StatusNotFound)
	for range 2 { // a preview doesn't use it up
		if !strings.Contains(v.ask("GET", link, http.StatusOK), "ana@link.example") {
			t.Error("the page doesn't say for whom it is")
		}
	}
	v.ask("GET", at+"/api/whoami", http.StatusUnauthorized)
	v.ask("POST", link, http.StatusSeeOther)
	other := newVisitor(t)
	other.ask("POST", link, http.StatusNotFound)
	other.ask("GET", link, http.StatusNotFound)

	var who struct {
		Tenant string `json:"tenant_id"`
		Role   string `json:"role"`
	}
	must(t, json.Unmarshal([]byte(v.ask("GET", at+"/api/whoami", http.StatusOK)), &who))
	if who.Tenant != "t:link.example" || who.Role != "owner" {
		t.Errorf("the session is of %+v", who)
	}
	if list := v.ask("GET", at+"/api/tokens", http.StatusOK); !strings.Contains(list, `"method":"link"`) || !strings.Contains(list, `"current":true`) {
		t.Errorf("the list of tokens is %s", list)
	}
	stolen := newVisitor(t)
	server, err := url.Parse(at)
	must(t, err)
	stolen.Jar.SetCookies(server, v.Jar.Cookies(server))
	stolen.ask("GET", at+"/api/rooms", http.StatusOK)
	v.ask("POST", at+"/mcp", http.StatusUnauthorized) // cookies don't count there
	v.ask("POST", at+"/auth/signout", http.StatusNoContent)
	v.ask("GET", at+"/api/whoami", http.StatusUnauthorized)
	stolen.ask("GET", at+"/api/rooms", http.StatusUnauthorized)

	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	var atoms struct {
		Atoms []struct {
			Did  string         `json:"did"`
			This map[string]any `json:"this"`
		} `json:"atoms"`
	}
	must(t, n.client(n.token("op@ops.example")).do(ctx, "GET", "/api/atoms?from=1&limit=500", "", nil, &atoms))
	var acts []string
	for _, a := range atoms.Atoms {
		if a.This["tenant_id"] == "t:link.example" {
			acts = append(acts, a.Did)
		}
	}
	if got := strings.Join(acts, " "); got != "platform.link.create platform.token.create platform.token.revoke" {
		t.Errorf("tenant 0 has receipts of %s", got)
	}
}

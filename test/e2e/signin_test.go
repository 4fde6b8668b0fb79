package e2e

import (
	"context"
	"io"
	"net/http"
	"regexp"
	"strings"
	"testing"
	"time"
)

// TestSignInLink: the link that serve prints gives its owner a token once, and
// only to who confirms; the token is receipted in tenant 0.
func TestSignInLink(t *testing.T) {
	n := newNode(t, "--owner", "ana@link.example", "--operator", "op@ops.example")
	link := regexp.MustCompile(`http://\S+/signin/[0-9a-f]{32}`)
	var url string
	for deadline := time.Now().Add(10 * time.Second); url == "" && time.Now().Before(deadline); time.Sleep(5 * time.Millisecond) {
		url = link.FindString(n.log.String())
	}
	if url == "" {
		t.Fatal("serve printed no link")
	}
	page := func(method, url string, want int) string {
		t.Helper()
		req, err := http.NewRequest(method, url, nil)
		must(t, err)
		resp, err := http.DefaultClient.Do(req)
		must(t, err)
		defer resp.Body.Close()
		body, err := io.ReadAll(resp.Body)
		must(t, err)
		if resp.StatusCode != want {
			t.Errorf("%s is answered %d, want %d: %s", method, resp.StatusCode, want, body)
		}
		if method == "GET" && strings.Contains(string(body), "UBL_TOKEN") {
			t.Error("opening the link gave a token")
		}
		return string(body)
	}
	page("POST", strings.TrimRight(url, "0123456789abcdef")+strings.Repeat("0", 32), http.StatusNotFound)
	for range 2 { // a preview doesn't use it up
		if !strings.Contains(page("GET", url, http.StatusOK), "ana@link.example") {
			t.Error("the page doesn't say for whom it is")
		}
	}
	confirmed := page("POST", url, http.StatusOK)
	_, rest, _ := strings.Cut(confirmed, "UBL_TOKEN=")
	token, _, _ := strings.Cut(rest, "<")
	page("POST", url, http.StatusNotFound)
	page("GET", url, http.StatusNotFound)

	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	op := n.client(n.token("op@ops.example"))
	var who struct {
		Tenant string `json:"tenant_id"`
		Role   string `json:"role"`
	}
	must(t, n.client(token).do(ctx, "GET", "/api/whoami", "", nil, &who))
	if who.Tenant != "t:link.example" || who.Role != "owner" {
		t.Errorf("the token is for %+v", who)
	}
	var atoms struct {
		Atoms []struct {
			Did  string         `json:"did"`
			This map[string]any `json:"this"`
		} `json:"atoms"`
	}
	must(t, op.do(ctx, "GET", "/api/atoms?from=1&limit=500", "", nil, &atoms))
	receipted := false
	for _, a := range atoms.Atoms {
		receipted = receipted || a.Did == "platform.token.create" && a.This["tenant_id"] == "t:link.example"
	}
	if !receipted {
		t.Error("the link's token has no receipt in tenant 0")
	}
}

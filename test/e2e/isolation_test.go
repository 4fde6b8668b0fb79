package e2e

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"regexp"
	"strings"
	"testing"
)

// TestTenantIsolation: to a member of another tenant, what a tenant has looks
// exactly like what nobody has.
func TestTenantIsolation(t *testing.T) {
	n := newNode(t)
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	ana, eve := n.client(n.token("ana@ours.example")), n.client(n.token("eve@theirs.example"))
	must(t, eve.do(ctx, "GET", "/api/whoami", "", nil, nil))
	must(t, ana.do(ctx, "POST", "/api/rooms", "", map[string]any{"name": "secret"}, nil))
	for i := range 20 { // our ledger is longer than theirs
		must(t, ana.do(ctx, "POST", "/api/rooms/r:secret/messages", "", text(fmt.Sprint("secret ", i)), nil))
	}
	var made struct {
		Token struct {
			ClientID string `json:"client_id"`
		} `json:"service_token"`
	}
	must(t, ana.do(ctx, "POST", "/api/service-tokens", "", map[string]any{"name": "bot"}, &made))
	sent := invite(ctx, t, ana, "", "guest@else.example").Invitation.ID
	var who struct {
		Identity struct {
			UserID string `json:"user_id"`
		} `json:"identity"`
	}
	must(t, ana.do(ctx, "GET", "/api/whoami", "", nil, &who))
	anaID := who.Identity.UserID

	nobody := "u:" + strings.Repeat("0", 32)
	nothing := strings.Repeat("0", 32) + ".t:ours.example"
	for _, r := range []struct{ method, ours, nobodys, body string }{
		{"GET", "/api/rooms/r:secret", "/api/rooms/r:none", ""},
		{"GET", "/api/rooms/r:secret/history", "/api/rooms/r:none/history", ""},
		{"GET", "/api/rooms/r:secret/members", "/api/rooms/r:none/members", ""},
		{"POST", "/api/rooms/r:secret/messages", "/api/rooms/r:none/messages", `{"type":"text","body":{"text":"hi"}}`},
		{"POST", "/api/rooms/r:secret/join", "/api/rooms/r:none/join", ""},
		{"POST", "/api/rooms/r:secret/leave", "/api/rooms/r:none/leave", ""},
		{"POST", "/api/rooms/r:secret/members", "/api/rooms/r:none/members", `{"email":"eve@theirs.example"}`},
		{"PATCH", "/api/rooms/r:secret/policy", "/api/rooms/r:none/policy", `{"retention_days":1}`},
		{"GET", "/api/events/rooms/r:secret", "/api/events/rooms/r:none", ""},
		{"GET", "/api/agreements/a:room:r:secret", "/api/agreements/a:room:r:none", ""},
		{"GET", "/api/agreements/a:tenant:t:ours.example", "/api/agreements/a:tenant:t:none", ""},
		{"POST", "/api/agreements/a:room:r:secret/end", "/api/agreements/a:room:r:none/end", ""},
		{"POST", "/api/agreements/a:tenant:t:ours.example/end", "/api/agreements/a:tenant:t:none/end", ""},
		{"GET", "/api/receipts/40", "/api/receipts/4000", ""},
		{"DELETE", "/api/service-tokens/" + made.Token.ClientID, "/api/service-tokens/" + nothing, ""},
		{"DELETE", "/api/invitations/" + sent, "/api/invitations/i:none", ""},
		{"PATCH", "/api/tenant/members/" + anaID, "/api/tenant/members/" + nobody, `{"role":"member"}`},
		{"DELETE", "/api/tenant/members/" + anaID, "/api/tenant/members/" + nobody, ""},
		{"DELETE", "/api/rooms/r:general/members/" + anaID, "/api/rooms/r:general/members/" + nobody, ""},
	} {
		t.Run(r.method+" "+r.ours, func(t *testing.T) {
			status, theirs := plain(ctx, t, eve, r.method, r.ours, r.body)
			_, none := plain(ctx, t, eve, r.method, r.nobodys, r.body)
			if status != http.StatusNotFound || theirs != none {
				t.Errorf("what is ours is answered\n%d %s\nwhat is nobody's\n%s", status, theirs, none)
			}
		})
	}
	if _, rooms := plain(ctx, t, eve, "GET", "/api/rooms?details=1", ""); strings.Contains(rooms, "secret") {
		t.Error("another tenant's rooms are listed")
	}
	if _, atoms := plain(ctx, t, eve, "GET", "/api/atoms?limit=500", ""); strings.Contains(atoms, "ours.example") {
		t.Error("another tenant's atoms are readable")
	}
	if _, export := plain(ctx, t, eve, "GET", "/api/export", ""); strings.Contains(export, "ours.example") {
		t.Error("another tenant's ledger is exported")
	}
}

var perRequest = regexp.MustCompile(`"(request_id|server_time)":"[^"]*"`)

// plain is the answer as text, without what differs from request to request.
func plain(ctx context.Context, t *testing.T, c *client, method, path, body string) (int, string) {
	t.Helper()
	req, err := http.NewRequestWithContext(ctx, method, c.base+path, strings.NewReader(body))
	must(t, err)
	req.Header.Set("Authorization", "Bearer "+c.token)
	if body != "" {
		req.Header.Set("Content-Type", "application/json")
	}
	resp, err := c.http.Do(req)
	must(t, err)
	defer resp.Body.Close()
	data, err := io.ReadAll(resp.Body)
	must(t, err)
	return resp.StatusCode, perRequest.ReplaceAllString(string(data), "")
}

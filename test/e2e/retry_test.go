package e2e

import (
	"context"
	"encoding/json"
	"errors"
	"maps"
	"net/http"
	"reflect"
	"testing"
)

// once is what is shown in an act's first answer alone.
var once = map[string]string{"token.create": "client_secret", "tenant.invitation.create": "link"}

// TestRetries sends every request that changes something again: at once, and
// after the process was killed. The same key gives the same outcome, and the
// ledger doesn't grow; another body under the key is 409.
func TestRetries(t *testing.T) {
	n := newNode(t)
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	ana, bob := n.client(n.token("ana@retry.example")), n.client(n.token("bob@retry.example"))
	var who struct {
		Identity struct {
			UserID string `json:"user_id"`
		} `json:"identity"`
	}
	must(t, ana.do(ctx, "GET", "/api/whoami", "", nil, nil))
	must(t, bob.do(ctx, "GET", "/api/whoami", "", nil, &who))
	bobID := who.Identity.UserID
	var token map[string]any
	must(t, ana.do(ctx, "POST", "/api/service-tokens", "to-be-revoked", map[string]any{"name": "old"}, &token))
	doomed := token["service_token"].(map[string]any)["client_id"].(string)
	unsent := "/api/invitations/" + invite(ctx, t, ana, "to-be-taken-back", "fay@else.example").Invitation.ID

	type object = map[string]any
	for _, r := range []struct {
		name, method, path string
		body, other        object
		by                 *client
	}{
		{"room.create", "POST", "/api/rooms", object{"name": "plans"}, object{"name": "other plans"}, ana},
		{"messenger.send", "POST", "/api/rooms/r:plans/messages", object{"type": "text", "body": object{"text": "a"}}, object{"type": "text", "body": object{"text": "b"}}, ana},
		{"room.invite", "POST", "/api/rooms/r:plans/members", object{"user_id": bobID}, object{"user_id": bobID, "role": "owner"}, ana},
		{"room.member.update", "PATCH", "/api/rooms/r:plans/members/" + bobID, object{"role": "owner"}, object{"role": "member"}, ana},
		{"room.update", "PATCH", "/api/rooms/r:plans/policy", object{"join": "tenant"}, object{"join": "invite"}, ana},
		{"room.remove", "DELETE", "/api/rooms/r:plans/members/" + bobID, nil, nil, ana},
		{"room.join", "POST", "/api/rooms/r:plans/join", nil, nil, bob},
		{"room.leave", "POST", "/api/rooms/r:plans/leave", nil, nil, bob},
		{"tenant.update", "PATCH", "/api/tenant/defaults", object{"retention_days": 7}, object{"retention_days": 8}, ana},
		{"tenant.member.update", "PATCH", "/api/tenant/members/" + bobID, object{"role": "owner"}, object{"role": "member"}, ana},
		{"token.create", "POST", "/api/service-tokens", object{"name": "bot"}, object{"name": "robot"}, ana},
		{"token.revoke", "DELETE", "/api/service-tokens/" + doomed, nil, nil, ana},
		{"tenant.invitation.create", "POST", "/api/invitations", object{"email": "eve@else.example"}, object{"email": "eve@else.example", "role": "owner"}, ana},
		{"tenant.invitation.revoke", "DELETE", unsent, nil, nil, ana},
		{"tenant.domain.claim", "POST", "/api/domains", object{"domain": "corp.example"}, object{"domain": "other.example"}, ana},
		{"tenant.domain.release", "DELETE", "/api/domains/corp.example", nil, nil, ana},
		{"agreement.end", "POST", "/api/agreements/a:room:r:plans/end", nil, nil, ana},
		{"tenant.member.remove", "DELETE", "/api/tenant/members/" + bobID, nil, nil, ana},
	} {
		t.Run(r.name, func(t *testing.T) {
			key := "key-of-" + r.name
			send := func() object {
				t.Helper()
				var in any
				if r.body != nil {
					in = r.body
				}
				var out object
				must(t, r.by.persist(ctx, r.method, r.path, key, in, &out))
				for _, perRequest := range []string{"request_id", "server_time"} {
					delete(out, perRequest)
				}
				return out
			}
			first, head := send(), ledgerHead(ctx, t, ana)
			if secret, ok := once[r.name]; ok {
				if first[secret] == nil {
					t.Error("the first answer has no secret")
				}
				first = maps.Clone(first)
				first[secret] = nil
			}
			same := func(when string) {
				t.Helper()
				if again := send(); !reflect.DeepEqual(again, first) {
					t.Errorf("%s the retry is answered\n%v, first\n%v", when, again, first)
				}
				if now := ledgerHead(ctx, t, ana); now != head {
					t.Errorf("%s the retry left receipts: head %v, was %v", when, now, head)
				}
			}
			same("at once")
			n.kill()
			n.start()
			same("after a kill")
			if r.other == nil {
				return
			}
			err := r.by.persist(ctx, r.method, r.path, key, r.other, nil)
			var status *errStatus
			if !errors.As(err, &status) || status.status != http.StatusConflict {
				t.Errorf("another body under the key: %v, want 409", err)
			}
			if now := ledgerHead(ctx, t, ana); now != head {
				t.Error("another body under the key changed something")
			}
		})
	}
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// ledgerHead is the tenant's head as JSON text.
func ledgerHead(ctx context.Context, t *testing.T, c *client) string {
	t.Helper()
	var head struct {
		Seq  int64  `json:"seq"`
		Hash string `json:"head_hash"`
	}
	must(t, c.persist(ctx, "GET", "/api/ledger/head", "", nil, &head))
	text, err := json.Marshal(head)
	must(t, err)
	return string(text)
}

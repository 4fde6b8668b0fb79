package api

import (
	"encoding/json"
	"testing"
	"time"
)

// TestCallServers: whoever is in a call has a credential of their own, as coturn makes it
// (use-auth-secret): the base64 of the HMAC-SHA1 of the username by the secret. Nobody is told the
// secret.
func TestCallServers(t *testing.T) {
	at := time.Unix(1_800_000_000, 0)
	for name, c := range map[string]struct {
		servers CallServers
		want    string
	}{
		"none":      {CallServers{Secret: "unused"}, `[]`},
		"no secret": {CallServers{URLs: []string{"stun:stun.example.com"}}, `[{"urls":["stun:stun.example.com"]}]`},
		"a secret": {
			CallServers{URLs: []string{"turn:turn.example.com"}, Secret: "north"},
			`[{"urls":["turn:turn.example.com"],"username":"1800021600:u:ana","credential":"qtPZIQpiBYpVXuAHqoEy+7GkprU="}]`,
		},
	} {
		got, err := json.Marshal(c.servers.For("u:ana", at))
		if err != nil || string(got) != c.want {
			t.Errorf("%s: %s, want %s (%v)", name, got, c.want, err)
		}
	}
}

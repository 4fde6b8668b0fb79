package main

import (
	"strings"
	"testing"
)

// TestCallFlags: what isn't the URL of a STUN or TURN server is refused before anything is touched.
func TestCallFlags(t *testing.T) {
	for _, servers := range [][]string{nil, {"stun:stun.example.com"}, {"turn:turn.example.com:3478?transport=udp", "turns:turn.example.com:443"}, {"turn:192.0.2.7:3478"}, {"stun:[2001:db8::1]", "turn:[2001:db8::1]:3478"}} {
		f := callFlags{CallServer: servers}
		if err := f.check(); err != nil {
			t.Errorf("%q is refused: %v", servers, err)
		}
	}
	for _, server := range []string{"", "stun:", "turn.example.com", "https://turn.example.com", "turn:turn.example.com/x", "turn:u@turn.example.com", "turn:turn.example.com?transport=smoke",
		"turn:turn.example.com:0", "turn:turn.example.com:65536", "turn:turn.example.com:turn", "turn:turn.example.com:", "turn:turn.example.com:3478:1", "stun:[2001:db8::1", "stun:2001:db8::1", "stun:a b.example.com"} {
		f := callFlags{CallServer: []string{server}}
		if f.check() == nil {
			t.Errorf("%q is taken", server)
		}
	}
	password := callFlags{CallServer: []string{"turn:ana:hunter2@turn.example.com"}}
	if err := password.check(); err == nil || strings.Contains(err.Error(), "hunter2") {
		t.Errorf("a server with a password is answered %v", err)
	}
	secret := callFlags{CallServer: []string{"stun:stun.example.com"}, TURNSecretFile: "secret"}
	if secret.check() == nil {
		t.Error("a secret without a TURN server is taken")
	}
}

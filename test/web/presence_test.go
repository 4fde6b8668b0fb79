package web

import "testing"

// TestWhoIsOnline: who has the app open is online for the others, and what works for people
// never says so.
func TestWhoIsOnline(t *testing.T) {
	needAxe(t)
	s := oneNode(t)
	ana, bob := newcomer(t, s, desktop), guest(t, s, phone, "bob@elsewhere.example")
	bob.visit("/ui/")
	bob.find("link", "general…")
	var there struct{ Present []struct{} }
	ana.until("the server knows that both are there", func() bool {
		s.client(owner).ask("GET", "/api/tenant/presence", nil, &there)
		return len(there.Present) == 2
	})
	ana.visit("/ui/members")
	ana.sees("bob@elsewhere.example", "online")
	ana.examine("members")
}

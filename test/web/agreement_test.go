package web

import "testing"

// TestAgreementScreen: an owner of a room reads what its Agreement permits, proposes what
// everybody takes on, and from then on has the other owners accept what is next.
func TestAgreementScreen(t *testing.T) {
	needAxe(t)
	onBothScreens(t, func(t *testing.T, v view) {
		s := oneNode(t)
		p := newcomer(t, s, v)
		c := s.client(owner)
		eve := guest(t, s, v, "eve@elsewhere.example")
		c.ask("POST", "/api/rooms", map[string]string{"name": "Crew"}, nil)
		c.ask("POST", "/api/rooms/r:crew/members", map[string]string{"user_id": memberOf(c, "eve@elsewhere.example"), "role": "owner"}, nil)

		p.visit("/ui/rooms/r:crew/members")
		p.find("button", "Save the heir") // what owners see comes last, and moves the link
		p.press("link", "What it permits, and how it came to be")
		p.sees("may read and write messages", "Nobody besides who proposes them", "added somebody to a room")
		p.fill("What everybody takes on", "Write plainly.")
		p.press("radio", "All owners")
		p.press("button", "Propose these terms")
		p.sees("The new terms are in force", "Who must accept other terms", "Write plainly.")
		p.examine("agreement-terms")

		p.fill("What everybody takes on", "Keep it here.")
		p.press("button", "Propose these terms")
		p.sees("Waiting for 1 person", "They aren’t in force yet", "Keep it here.")
		p.lacks("button", "Accept these terms")
		p.examine("agreement-proposed")

		eve.visit("/ui/agreements/a:room:r:crew")
		eve.sees("Keep it here.")
		eve.press("button", "Accept these terms")
		eve.sees("The terms are accepted", "accepted terms of an Agreement")
		eve.lacks("button", "Accept these terms")

		eve.press("button", "End the Agreement")
		eve.press("button", "End it")
		eve.sees("ended", "ended an Agreement")
		eve.lacks("button", "Propose these terms")
	})
}

package web

import (
	"fmt"
	"testing"
)

// TestAgreementScreen: an owner of a room reads what its Agreement permits, proposes what
// everybody takes on, and from then on has the other owners accept what is next.
func TestAgreementScreen(t *testing.T) {
	needAxe(t)
	onScreen(t, desktop, func(t *testing.T, v view) {
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
		p.press("DisclosureTriangle", "Who may do what, and limits")
		p.press("button", "Let somebody do something")
		p.selects("may", "pin messages")
		p.press("button", "Add a limit")
		p.selects("To", "write messages")
		p.fill("Times a minute", "30")
		p.examine("agreement-permits")
		p.press("button", "Propose these terms")
		p.sees("The new terms are in force", "write messages: 30 a minute of each", "pin messages")

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

// selects chooses an option of the last list with a label: the others are of lines before it.
func (p *person) selects(label, option string) {
	p.t.Helper()
	p.until(fmt.Sprintf("%q can be chosen as %q", option, label), func() bool {
		return eval[bool](p, fmt.Sprintf(`(() => {
			const list = [...document.querySelectorAll('.term select')].filter((s) => s.labels[0].textContent === %q).at(-1);
			const option = [...(list?.options ?? [])].find((o) => o.text === %q);
			if (!option) return false;
			list.value = option.value;
			list.dispatchEvent(new Event('change', { bubbles: true }));
			return true;
		})()`, label, option))
	})
}

// TestTenantAgreementScreen: owners read what the organisation's Agreement permits, permit more, and can end it.
func TestTenantAgreementScreen(t *testing.T) {
	needAxe(t)
	onScreen(t, phone, func(t *testing.T, v view) {
		s := oneNode(t)
		p := newcomer(t, s, v)
		p.visit("/ui/tenant")
		p.sees("Given by the server’s operator", "Nothing is sealed") // which move the link
		p.press("link", "What it permits, and how it came to be")
		p.press("DisclosureTriangle", "Who may do what, and limits")
		p.press("button", "Let somebody do something")
		p.selects("Who", "Members")
		p.selects("may", "make webhooks")
		p.examine("tenant-permits")
		p.press("button", "Propose these terms")
		p.sees("The new terms are in force", "make webhooks")

		p.press("button", "End the Agreement")
		p.sees("End the whole organisation?")
		p.examine("tenant-end")
		p.press("button", "End the organisation")
		p.sees("ended an Agreement")
		p.lacks("button", "End the Agreement")
	})
}

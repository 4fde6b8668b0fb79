package web

import (
	"strconv"
	"testing"

	"ubl/test/nameserver"
)

// TestTenantScreens: an owner claims a mail domain, which a record in DNS proves,
// confirms one whose owner was demoted, and gives a sealed room to an heir; an owner of a room or workspace names one beforehand,
// and others see whom.
func TestTenantScreens(t *testing.T) {
	needAxe(t)
	onScreen(t, desktop, func(t *testing.T, v view) {
		ns, err := nameserver.Start(nil)
		must(t, err)
		t.Cleanup(ns.Close)
		s := oneNode(t, "--dns-server", ns.Addr)
		p := newcomer(t, s, v)
		c, bo := s.client(owner), s.client("bo@harbour.example")
		bo.ask("POST", "/api/rooms", map[string]string{"name": "Moorings"}, nil)
		bo.send("r:moorings", "For nobody else.")
		c.ask("POST", "/api/rooms", map[string]string{"name": "Crew"}, nil)

		c.ask("POST", "/api/workspaces", map[string]string{"name": "Charts"}, nil)
		for what, path := range map[string]string{"room": "/ui/rooms/r:crew/members", "workspace": "/ui/workspaces/w:charts/members"} {
			p.visit(path)
			p.sees("Nobody is named to own this " + what)
			p.pick("Who follows the owners", memberOf(c, "bo@harbour.example"))
			p.press("button", "Save the heir")
			p.sees("bo owns this " + what + " once its last owner is gone")
			p.examine(what + "-heir")
		}
		eve := guest(t, s, v, "eve@elsewhere.example")
		c.ask("POST", "/api/containers/w:charts/members", map[string]string{"user_id": memberOf(c, "eve@elsewhere.example")}, nil)
		eve.visit("/ui/workspaces/w:charts/members")
		eve.sees("bo owns this workspace once its last owner is gone")
		eve.lacks("button", "Save the heir")

		p.visit("/ui/tenant")
		p.sees("Nothing is sealed")
		p.press("button", "Claim a domain")
		p.fill("Mail domain", "Crew.Example")
		p.press("button", "Claim")
		p.sees("_ubl-challenge.crew.example", "ubl-domain-verification=")
		p.watch.expect("is answered 409")
		p.press("button", "Check now")
		p.sees("isn't there yet")
		c.ask("DELETE", "/api/tenant/members/"+memberOf(c, "bo@harbour.example"), nil, nil)
		for what, path := range map[string]string{"room": "/ui/rooms/r:crew/members", "workspace": "/ui/workspaces/w:charts/members"} {
			p.visit(path)
			p.sees("bo (left) is named to own this " + what)
		}
		p.visit("/ui/workspaces/w:charts")
		p.find("heading", "Charts")
		p.visit("/ui/tenant")
		p.sees("r:moorings")
		p.examine("tenant")

		publish := func(domain string) {
			var answer struct {
				Domains []struct {
					Domain string
					Record struct{ Name, Value string }
				}
			}
			c.ask("GET", "/api/domains", nil, &answer)
			for _, d := range answer.Domains {
				if d.Domain == domain {
					must(t, ns.Set(d.Record.Name, "TXT "+strconv.Quote(d.Record.Value)))
				}
			}
		}
		publish("crew.example")
		p.press("button", "Check now")
		p.sees("crew.example is verified")
		p.lacks("button", "Check now")

		cy := s.client("cy@harbour.example")
		cy.ask("GET", "/api/whoami", nil, nil)
		cys := "/api/tenant/members/" + memberOf(c, "cy@harbour.example")
		c.ask("PATCH", cys, map[string]string{"role": "owner"}, nil)
		cy.ask("POST", "/api/domains", map[string]string{"domain": "cys.example"}, nil)
		publish("cys.example")
		cy.ask("POST", "/api/domains/cys.example/verify", nil, nil)
		c.ask("PATCH", cys, map[string]string{"role": "member"}, nil)
		p.visit("/ui/tenant")
		p.sees("nobody new joins by it")
		p.examine("unconfirmed-domain")
		p.press("button", "Confirm")
		p.sees("cys.example is verified")
		p.lacks("button", "Confirm")

		p.press("button", "Release crew.example")
		p.sees("Members stay.")
		p.press("button", "Release")
		p.lacks("button", "Release crew.example")

		p.press("button", "Name an heir")
		p.pick("Heir", memberOf(c, owner))
		p.examine("name-an-heir")
		p.press("button", "Name the heir")
		p.sees("Moorings has an owner again", "Nothing is sealed")
	})
}

// memberOf is the id of a member.
func memberOf(c *client, email string) string {
	c.t.Helper()
	var answer struct {
		Members []struct {
			UserID string `json:"user_id"`
			Email  string `json:"email"`
		}
	}
	c.ask("GET", "/api/tenant/members", nil, &answer)
	for _, m := range answer.Members {
		if m.Email == email {
			return m.UserID
		}
	}
	c.t.Fatalf("%s is no member", email)
	return ""
}

// pick chooses among the options of a select, by value.
func (p *person) pick(label, value string) {
	p.t.Helper()
	p.focus("combobox", label)
	eval[bool](p, apply(`(value) => { const e = document.activeElement; e.value = value; return e.dispatchEvent(new Event('change', { bubbles: true })); }`, value))
}

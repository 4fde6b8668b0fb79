package web

import (
	"fmt"
	"testing"
)

// TestFormerAuthors: a browser that has never met who left calls them by their name
// wherever it shows an author, and says that they have left. It learns no address.
func TestFormerAuthors(t *testing.T) {
	onScreen(t, desktop, func(t *testing.T, v view) {
		s := oneNode(t)
		c, bo := s.client(owner), s.client("bo@harbour.example")
		for _, who := range []*client{c, bo} {
			who.ask("GET", "/api/whoami", nil, nil)
		}
		bo.ask("PATCH", "/api/tenant/members/"+c.idOf("bo@harbour.example"), map[string]string{"name": "Bo Lindqvist"}, nil)
		said := bo.send(general, "The tide turns at nine.")
		answer := c.reply(general, said.MsgID, "So we sail at ten.")
		parting := bo.reply(general, answer.MsgID, "Fair winds.")
		c.ask("DELETE", "/api/tenant/members/"+c.idOf("bo@harbour.example"), nil, nil)

		p := newcomer(t, s, v)
		p.find("link", "general…")
		p.sees("Bo Lindqvist (left): Fair winds.")
		p.shot("former-rooms")
		p.press("link", "general…")
		p.hears("Fair winds.")
		p.sees("Bo Lindqvist (left)") // quoted
		p.shot("former-room")
		p.press("button", fmt.Sprintf("Receipt %d", parting.Receipt.Seq))
		p.sees("Checked in part", "Which message it replies to isn’t in the receipt", "Bo Lindqvist\nleft")
		p.shot("former-details")
		p.visit("/ui/ledger")
		p.sees("Bo Lindqvist (left)")
		p.misses("bo@harbour.example")
		p.shot("former-ledger")
	})
}

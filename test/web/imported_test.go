package web

import (
	"strings"
	"testing"
)

// TestImported: what an owner has imported says beside their name whose it was first, and when.
func TestImported(t *testing.T) {
	needAxe(t)
	onScreen(t, phone, func(t *testing.T, v view) {
		s := oneNode(t)
		p := newcomer(t, s, v)
		c := s.client(owner)
		was := map[string]any{"tenant_id": "t:pier.example", "seq": 12, "cid": "c:" + strings.Repeat("0", 64), "author_id": "u:" + strings.Repeat("ab", 16), "at": "2025-03-03T12:00:00.000Z"}
		body := map[string]any{"content_type": "application/vnd.ubl.text+json", "json": map[string]string{"text": "Is the crane free?"}}
		c.ask("POST", "/api/rooms/r:general/entries", map[string]any{"body": body, "imported_from": was}, nil)
		was["author_name"] = "Mia"
		c.ask("POST", "/api/rooms/r:general/entries", map[string]any{"body": body, "imported_from": was}, nil)
		c.ask("POST", "/api/workspaces/w:general/documents", map[string]any{"title": "Cranes", "content": "Both are old.", "imported_from": was}, nil)
		p.enter("general")
		p.sees("(imported, was Mia, Mar 3, 2025)", "(imported, was abababab…abab, Mar 3, 2025)")
		p.examine("imported-messages")
		p.visit("/ui/workspaces/w:general")
		p.sees("(imported, was Mia, Mar 3, 2025)")
		p.examine("imported-documents")
		p.press("link", "Cranes…")
		p.sees("by ana (imported, was Mia, Mar 3, 2025)")
		p.examine("imported-document")
	})
}

package web

import (
	"testing"

	"github.com/chromedp/chromedp/kb"
)

// TestForward: ana forwards a message to bob by its menu, with a comment. Bob sees both, whose words
// they are, and gets to where they were written.
func TestForward(t *testing.T) {
	needAxe(t)
	onScreen(t, phone, func(t *testing.T, v view) {
		s := oneNode(t)
		c := s.client(owner)
		c.send(general, "High water at 18:40.")
		ana, bob := newcomer(t, s, v), guest(t, s, desktop, "bob@elsewhere.example")
		ana.enter("general")
		ana.hears("High water at 18:40.")
		ana.focus("article", "You…")
		ana.key(kb.Enter)
		ana.press("menuitem", "Forward")
		ana.find("dialog", "Forward this message")
		ana.fillRole("combobox", "To which room, or to whom?", "bob")
		ana.find("option", "bob…")
		ana.key(kb.Enter)
		ana.find("button", "Not to bob")
		ana.fill("What you say about it (may be empty)", "Mind the tide")
		ana.examine("talk-forward")
		ana.press("button", "Forward")
		ana.sees("Forwarded to bob")

		bob.visit("/ui/")
		bob.press("link", "ana…")
		bob.hears("Mind the tide")
		bob.sees("Forwarded, written by ana", "High water at 18:40.")
		bob.examine("talk-forwarded")
		bob.press("button", "Forwarded, written by ana")
		bob.find("log", "Messages in general")
	})
}

// TestDisappear: ana has a room's messages disappear after 8 hours, by the room's rules. Bob, who owns
// nothing there, sees it above the conversation and in it.
func TestDisappear(t *testing.T) {
	needAxe(t)
	onScreen(t, phone, func(t *testing.T, v view) {
		s := oneNode(t)
		ana, bob := newcomer(t, s, v), guest(t, s, desktop, "bob@elsewhere.example")
		bob.enter("general")
		ana.visit("/ui/rooms/r:general/members")
		ana.pick("Messages disappear", "8")
		ana.press("button", "Save the rules")
		ana.sees("The rules are changed")
		ana.visit("/ui/rooms/r:general/members") // what is read anew after a change would undo the choice
		ana.pick("Messages disappear", "other")
		ana.find("textbox", "Hours")
		ana.examine("room-disappear")
		bob.sees("Messages disappear after 8 hours", "From now on messages disappear after 8 hours")
		bob.examine("talk-disappear")
		bob.visit("/ui/rooms/r:general/members")
		bob.sees("After 8 hours")
		s.client(owner).ask("PATCH", "/api/rooms/r:general/policy", map[string]int{"retention_days": 0}, nil)
		bob.enter("general")
		bob.sees("From now on messages stay")
	})
}

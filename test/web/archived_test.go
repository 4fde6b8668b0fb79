package web

import (
	"fmt"
	"slices"
	"testing"

	"github.com/chromedp/chromedp/kb"
)

// crew makes a room with bob in it as a plain member.
func crew(t *testing.T, s *server, v view) (c *client, ana, bob *person) {
	t.Helper()
	c, ana, bob = s.client(owner), newcomer(t, s, v), guest(t, s, desktop, "bob@elsewhere.example")
	c.named("Ana Ortiz")
	c.ask("POST", "/api/rooms", map[string]string{"name": "Crew"}, nil)
	c.ask("POST", "/api/rooms/r:crew/members", map[string]string{"user_id": c.idOf("bob@elsewhere.example")}, nil)
	return c, ana, bob
}

// lacksAll wants none of some controls of a role to be there.
func (p *person) lacksAll(role string, names ...string) {
	p.t.Helper()
	for _, name := range names {
		p.lacks(role, name)
	}
}

// TestArchivedRoom: an owner archives a room from its menu. It stands apart then, folded away, says who
// archived it, can be read with its receipts, and offers nothing that would change it.
func TestArchivedRoom(t *testing.T) {
	needAxe(t)
	onScreen(t, phone, func(t *testing.T, v view) {
		c, ana, bob := crew(t, oneNode(t), v)
		said := c.send("r:crew", "The launch is over.")
		bob.enter("Crew")
		bob.find("textbox", "Message to Crew")
		other := bob.anotherTab()
		other.visit("/ui/")
		other.holds("link", "Crew…")
		other.find("button", "Members and settings")
		other.lacks("button", "Archive") // a member archives nothing

		ana.visit("/ui/")
		ana.holds("link", "Crew…")
		ana.press("button", "Archive")
		ana.find("dialog", "Archive “Crew”?")
		ana.examine("archive-asks")
		ana.press("button", "Archive the room")
		ana.sees("“Crew” is archived")
		ana.lacks("link", "Crew…")
		bob.lacks("textbox", "Message to Crew")
		bob.sees("Ana Ortiz archived this room on", "nobody writes here any more")

		ana.press("button", "Archived…")
		ana.find("link", "Crew…")
		ana.examine("rooms-archived")
		ana.press("link", "Crew…")
		ana.sees("You archived this room on")
		ana.hears("The launch is over.")
		ana.examine("room-archived")
		offered := ana.offered("The launch is over.")
		for _, item := range []string{"Reply", "Reply in thread", "React", "Edit", "Pin for everyone"} {
			if slices.Contains(offered, item) {
				t.Errorf("a message of an archived room offers %q", item)
			}
		}
		ana.key(kb.Escape)
		ana.press("button", fmt.Sprintf("Receipt %d", said.Receipt.Seq))
		ana.sees("Verified by this browser", "ended")
		ana.press("button", "Close")

		ana.press("button", "Members and settings")
		ana.sees("This room is archived", "Ana Ortiz", "Messages disappear")
		ana.lacksAll("button", "Change name and topic", "Save the rules", "Save the heir", "Leave the room", "Change bob")
		ana.lacks("textbox", "Name, address or id")
		ana.examine("room-archived-members")
	})
}

// TestAnnouncementRoom: where owners and moderators write, the others are told so before they write,
// and by whom. They answer in threads where the rules say so, and write once they are moderators.
func TestAnnouncementRoom(t *testing.T) {
	needAxe(t)
	onScreen(t, desktop, func(t *testing.T, v view) {
		s := oneNode(t)
		c, bob := s.client(owner), guest(t, s, v, "bob@elsewhere.example")
		c.named("Ana Ortiz")
		c.ask("POST", "/api/rooms", map[string]string{"name": "Crew"}, nil)
		c.ask("POST", "/api/rooms/r:crew/members", map[string]string{"user_id": c.idOf("bob@elsewhere.example")}, nil)
		posting := func(rule string) { c.ask("PATCH", "/api/rooms/r:crew/policy", map[string]string{"posting": rule}, nil) }
		posting("threads")
		c.send("r:crew", "We sail on Thursday.")

		bob.enter("Crew")
		bob.sees("Only owners and moderators write here: Ana Ortiz.", "choose “Reply in thread” at a message")
		bob.lacks("textbox", "Message to Crew")
		bob.examine("room-announcements")
		if offered := bob.offered("We sail on Thursday."); slices.Contains(offered, "Reply") || !slices.Contains(offered, "React") {
			t.Errorf("an announcement offers %q", offered)
		}
		bob.press("menuitem", "Reply in thread")
		bob.answers("At which hour?")
		bob.hears("At which hour?")

		posting("moderators")
		bob.reload()
		bob.sees("Only owners and moderators write here: Ana Ortiz.")
		bob.lacks("textbox", "Reply in this thread")
		bob.misses("choose “Reply in thread” at a message")

		bob.visit("/ui/rooms/r:crew")
		bob.sees("Only owners and moderators write here")
		c.ask("PATCH", "/api/rooms/r:crew/members/"+c.idOf("bob@elsewhere.example"), map[string]string{"role": "moderator"}, nil)
		bob.find("textbox", "Message to Crew")
		bob.say("Crew", "At six.")
		bob.hears("At six.")
	})
}

// TestDeleteOthers: who owns or moderates a room is offered to delete what others wrote, and sees
// whose it is; a member isn't.
func TestDeleteOthers(t *testing.T) {
	onScreen(t, desktop, func(t *testing.T, v view) {
		_, ana, bob := crew(t, oneNode(t), v)
		bob.enter("Crew")
		ana.enter("Crew")
		ana.say("Crew", "Keep it friendly.")
		bob.hears("Keep it friendly.")
		bob.say("Crew", "Never!")
		if offered := bob.offered("Keep it friendly."); slices.ContainsFunc(offered, func(item string) bool { return item == "Delete" || item == "Delete Ana Ortiz’s message" }) {
			t.Errorf("a member is offered %q", offered)
		}
		ana.hears("Never!")
		ana.chooses("Never!", "Delete bob’s message")
		ana.find("dialog", "Delete bob’s message?")
		ana.sees("Its place says that you deleted it")
		ana.shot("delete-others")
		ana.press("button", "Delete")
		ana.sees("deleted by you")
		bob.sees("deleted by Ana Ortiz")
	})
}

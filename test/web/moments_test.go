package web

import (
	"fmt"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
)

// moment is a state of the app that no address leads to, and how one comes to it.
type moment struct {
	name string
	come func()
}

// TestDialogs looks as closely as TestScreens does at what opens above the screens.
func TestDialogs(t *testing.T) {
	needAxe(t)
	onScreen(t, phone, func(t *testing.T, v view) {
		s := oneNode(t)
		p := newcomer(t, s, v)
		furnish(t, s)
		m := s.client(owner).send(general, "We launch on Tuesday at nine, with the tide.")
		menu := func() {
			p.focus("article", p.find("article", "You…").name)
			p.key("\r")
			p.find("menuitem", "Reply")
		}
		for _, at := range []moment{
			{"details", func() {
				p.enter("general")
				p.press("button", fmt.Sprintf("Receipt %d", m.Receipt.Seq))
				p.sees("Verified by this browser")
			}},
			{"message-menu", func() { p.press("button", "Close"); menu() }},
			{"reply", func() { p.press("menuitem", "Reply"); p.sees("Reply to yourself") }},
			{"invite", func() {
				p.visit("/ui/members")
				p.press("button", "Invite somebody")
				p.fill("Their mail address", "jo@elsewhere.example")
			}},
			{"invitation-link", func() { p.press("button", "Make the link"); p.sees("The invitation is ready") }},
			{"member-menu", func() {
				p.visit("/ui/members")
				p.press("button", "What to do with bo")
				p.find("menuitem", "Remove")
			}},
			{"rename", func() { p.press("menuitem", "Change the name"); p.find("dialog", "Name of the member") }},
			{"new-workspace", func() {
				p.visit("/ui/workspaces")
				p.press("button", "New workspace")
				p.choose("Only its members")
			}},
			{"connect-agent", func() {
				p.visit("/ui/agents")
				p.press("button", "Connect an agent")
				p.fill("Name of the agent", "lighthouse")
				p.press("switch", "general (room)")
			}},
			{"agents-token", func() { p.press("button", "Make a token"); p.find("dialog", "Connect lighthouse") }},
			{"agents-token-link", func() { p.choose("VS Code"); p.sees("Add to VS Code") }},
			{"agents-sign-in", func() { p.choose("By signing in"); p.choose("Codex"); p.sees("codex mcp add") }},
			{"agent-change", func() {
				p.press("button", "Done")
				p.press("button", "I have it")
				p.press("link", "lighthouse…")
				p.press("button", "Change what it may do")
				p.find("dialog", "What lighthouse may do")
			}},
			{"call-details", func() {
				p.visit("/ui/tools")
				p.press("button", "office.document.list…")
				p.find("dialog", "office.document.list")
			}},
			{"add-passkey", func() {
				p.visit("/ui/settings")
				p.press("button", "Add")
				p.find("dialog", "Add a passkey")
			}},
			{"question", func() {
				p.visit("/ui/more")
				p.press("button", "Sign out")
				p.find("dialog", "Sign out?")
			}},
		} {
			at.come()
			p.examine(at.name)
		}
	})
}

// TestMoments looks at what screens become as things happen: with and without a network,
// found and not found, refused, in conflict, changed on the way.
func TestMoments(t *testing.T) {
	needAxe(t)
	onScreen(t, phone, func(t *testing.T, v view) {
		app := appFolder(t)
		s := behindFront(t, "--web-dir", app)
		p := newcomer(t, s, v)
		document := ""
		for _, at := range furnish(t, s) {
			if at.name == "document" {
				document = at.path
			}
		}
		c := s.direct().client(owner)
		bo := s.direct().client("bo@harbour.example")
		bo.ask("POST", "/api/rooms", map[string]string{"name": "Regatta"}, nil)
		bo.ask("PATCH", "/api/rooms/r:regatta/policy", map[string]string{"join": "tenant"}, nil)
		p.watch.expect(`is answered (409|413)`)
		for _, at := range []moment{
			{"join-room", func() { p.visit("/ui/rooms/r:regatta"); p.find("button", "Join the room") }},
			{"found", func() { p.visit("/ui/workspaces/w:general?q=tide"); p.find("list", "Documents found") }},
			{"nothing-found", func() { p.visit("/ui/workspaces/w:general?q=submarine"); p.sees("Nothing found") }},
			{"conflict", func() {
				p.visit(document)
				p.press("button", "Edit")
				p.fill("Text", "We launch on Friday.")
				c.ask("PATCH", "/api"+strings.Replace(strings.TrimPrefix(document, "/ui"), "w:general/", "w:general/documents/", 1),
					map[string]any{"content": "We launch on Thursday.", "if_version": 2}, nil)
				p.press("button", "Save")
				p.sees("saved version 3")
			}},
			{"ledger-verified", func() { p.press("button", "Take theirs"); p.verifies("The chain holds") }},
			{"folded-list", func() {
				p.visit("/ui/")
				p.press("button", "Direct messages")
				p.find("button", "Direct messages 1")
			}},
			{"room-menu", func() {
				p.holds("link", "Launch plans…")
				p.find("button", "Take out of favourites")
			}},
			{"edit-about", func() {
				p.visit("/ui/rooms/r:launch-plans/members")
				p.press("button", "Change name and topic")
				p.find("dialog", "Change name and topic")
			}},
			{"search-from", func() {
				p.visit("/ui/search?q=moorings")
				p.press("button", "From whom")
				p.focus("combobox", "Name or address")
				p.key("bo")
				p.find("option", "bo…")
			}},
			{"search-found", func() { p.key(kb.Enter); p.find("button", "No longer: From bo") }},
			{"offline", func() {
				p.visit("/ui/rooms/r:launch-plans")
				p.hears("We launch on Monday at nine. The plan is in the workspace.")
				p.offline()
				p.sees("No network")
				p.say("Launch plans", "See you there, all of you!")
				p.sees("See you there, all of you!")
			}},
			{"search-offline", func() { p.moves("/ui/search?q=launch"); p.sees("This is what is kept on this device") }},
			{"failed-message", func() { // the rule has changed while one couldn't know
				c.ask("PATCH", "/api/rooms/r:launch-plans/policy", map[string]int{"max_message_bytes": 10}, nil)
				p.moves("/ui/rooms/r:launch-plans")
				p.online()
				p.sees("Not sent: it is too long for this room")
			}},
			{"failed-message-in-list", func() { p.visit("/ui/"); p.sees("Not sent: See you there") }},
			{"update", func() {
				p.installed()
				renew(t, app)
				eval[chromedp.Void](p, `void navigator.serviceWorker.getRegistration().then((r) => r.update())`)
				p.sees("A new version is ready")
			}},
			{"ledger-broken", func() {
				p.tamper("/api/atoms", "messenger.send", "messenger.sent")
				p.verifies("The ledger is not whole")
			}},
		} {
			at.come()
			p.examine(at.name)
		}
	})
}

// verifies has the browser check the ledger, and waits for what it says.
func (p *person) verifies(outcome string) {
	p.t.Helper()
	p.visit("/ui/ledger/verify")
	p.press("button", "Verify all atoms")
	p.sees(outcome)
}

// TestEmptyScreens looks at the screens that have nothing to show yet.
func TestEmptyScreens(t *testing.T) {
	needAxe(t)
	onScreen(t, phone, func(t *testing.T, v view) {
		p := newcomer(t, oneNode(t), v)
		for _, at := range []screen{
			{"empty-room", "/ui/rooms/r:general", "Room created"},
			{"empty-workspace", "/ui/workspaces/w:general", "No document yet"},
			{"empty-servers", "/ui/servers", "No other server yet"},
			{"empty-agents", "/ui/agents", "No agent yet"},
			{"empty-budget", "/ui/budget", "Tokens a day"},
			{"empty-settings", "/ui/settings", "None yet."},
		} {
			p.moves(at.path)
			p.sees(at.shows)
			p.examine(at.name)
		}
	})
}

// TestMembersScreens looks at the screens that show a plain member less, or something
// else, than an owner.
func TestMembersScreens(t *testing.T) {
	needAxe(t)
	onScreen(t, phone, func(t *testing.T, v view) {
		s := oneNode(t)
		newcomer(t, s, v)
		furnish(t, s)
		p := guest(t, s, v, "kai@elsewhere.example")
		for _, at := range []screen{
			{"member-more", "/ui/more", "kai"},
			{"member-room-members", "/ui/rooms/r:general/members", "Rules"},
			{"member-members", "/ui/members", "bo@harbour.example"},
			{"member-tool-calls", "/ui/tools", "Yours"},
			{"member-servers", "/ui/servers", "Weather"},
			{"member-server", "/ui/servers/weather", "up"},
			{"member-budget", "/ui/budget", "200,000"},
			{"member-agents", "/ui/agents", "Prove your mail address first"},
			{"member-not-in", "/ui/rooms/r:launch-plans", "You aren’t in this room"},
			{"member-settings", "/ui/settings", "Sign out everywhere"},
		} {
			p.moves(at.path)
			p.sees(at.shows)
			p.examine(at.name)
		}
	})
}

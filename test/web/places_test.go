package web

import (
	"strings"
	"testing"

	"github.com/chromedp/chromedp/kb"
)

// TestSearch: what was said is found from the palette, narrowed by who said it, and led to in its
// room; documents are found beside it, and without a network what this device keeps.
func TestSearch(t *testing.T) {
	needAxe(t)
	onScreen(t, desktop, func(t *testing.T, v view) {
		s := oneNode(t)
		p, bo := newcomer(t, s, v), s.client("bo@harbour.example")
		furnish(t, s)
		p.visit("/ui/")
		p.find("link", "Tides & moon…") // the list is the server's
		p.press("link", "general…")
		p.hears("Done. See you on the slipway!")
		p.moves("/ui/search")
		p.sees("What are you looking for?")
		p.sees("Best first")
		p.write("moorings") // where the focus is
		p.key(kb.Enter)
		p.until("what was said of moorings is found, once it is indexed", func() bool {
			if strings.Contains(p.text(), "Nothing found") {
				p.press("button", "Search")
			}
			return eval[bool](p, `[...document.querySelectorAll('.hits mark')].some((e) => e.textContent.toLowerCase() === 'moorings')`)
		})
		p.sees("Who can look after the moorings this week?")
		p.examine("search")
		p.press("button", "From whom")
		p.focus("combobox", "Name or address")
		p.key("bo")
		p.find("option", "bo…")
		p.key(kb.Enter)
		p.find("button", "No longer: From bo")
		p.misses("High water is at 06:12")
		p.press("link", "bo general…")
		p.arrives("/ui/rooms/r:general")
		p.hears("Who can look after the moorings this week?")

		p.moves("/ui/search?q=moorings")
		p.press("radio", "Documents")
		p.find("link", "Moorings…")
		p.moves("/ui/search?q=when+are+we+launching%3F") // as nobody has written it
		p.press("radio", "Documents")
		p.sees("No document has all of these words.")
		p.find("link", "Launch plan…")
		p.until("the form of the word that is there is marked", func() bool {
			return eval[bool](p, `[...document.querySelectorAll('.hits mark')].some((e) => e.textContent === 'launch')`)
		})
		p.examine("search-question")
		p.press("radio", "Messages")

		p.moves("/ui/search?q=nothinglikethis")
		p.sees("Nothing found")
		bo.send(general, "the last one is here")
		p.moves("/ui/rooms/r:general")
		p.hears("the last one is here")
		p.watch.expect(`.*`)
		p.offline()
		p.moves("/ui/search?q=slipway")
		p.sees("This is what is kept on this device", "See you on the slipway!")
	})
}

// TestDirectMessages: one writes to somebody by keyboard alone; the other finds it under the
// name of who wrote, makes it a favourite, mutes it, folds the part, and hides it.
func TestDirectMessages(t *testing.T) {
	needAxe(t)
	s := oneNode(t)
	ana, bob := newcomer(t, s, desktop), guest(t, s, desktop, "bob@elsewhere.example")
	s.client(owner).named("Ana")
	bob.visit("/ui/")
	ana.moves("/ui/new-message")
	ana.focus("combobox", "To whom?")
	ana.key("bob")
	ana.find("option", "bob…")
	ana.key(kb.Enter)
	ana.find("button", "Not to bob")
	ana.examine("new-message")
	ana.press("button", "Open the conversation")
	ana.find("log", "Messages in bob")
	ana.say("bob", "are you coming?")
	ana.hears("are you coming?")

	bob.press("link", "Ana…")
	bob.hears("are you coming?")
	bob.find("button", "Direct messages")
	bob.pointsAt("link", "Ana…")
	bob.press("button", "More for Ana")
	bob.find("dialog", "Ana")
	bob.examine("room-menu")
	bob.press("button", "Add to favourites")
	bob.find("button", "Favourites")
	bob.lacks("button", "Direct messages")
	bob.pointsAt("link", "Ana…")
	bob.press("button", "More for Ana")
	bob.press("button", "Mute")
	bob.sees("Muted")
	bob.reload()
	bob.find("button", "Favourites")
	bob.press("button", "Favourites")
	bob.lacks("link", "Ana…")
	bob.press("button", "Favourites…")
	bob.pointsAt("link", "Ana…")
	bob.press("button", "More for Ana")
	bob.press("button", "Hide until the next message")
	bob.lacks("link", "Ana…")
	ana.say("bob", "hello?")
	bob.find("link", "Ana…")
}

// TestNotificationSettings: keywords, quiet hours and do-not-disturb are the person's, wherever
// they set them.
func TestNotificationSettings(t *testing.T) {
	needAxe(t)
	onScreen(t, phone, func(t *testing.T, v view) {
		s := oneNode(t)
		p := newcomer(t, s, v)
		c := s.client(owner)
		type mine struct {
			Preferences struct {
				Keywords  []string `json:"keywords"`
				Preview   string   `json:"preview"`
				DisturbAt string   `json:"disturb_at"`
				Quiet     *struct{ From, To, Zone string }
			}
		}
		now := func() (m mine) { c.ask("GET", "/api/me/notifications", nil, &m); return m }
		p.moves("/ui/settings/notifications")
		p.fill("Word", "invoice")
		p.press("button", "Add")
		p.find("button", "No longer invoice")
		p.press("switch", "Keep quiet at certain hours")
		p.find("button", "Save")
		p.press("switch", "Show who wrote what")
		p.press("button", "For an hour")
		p.sees("Nothing reaches you until")
		p.until("all of it is kept", func() bool {
			m := now()
			return len(m.Preferences.Keywords) == 1 && m.Preferences.Quiet != nil && m.Preferences.Quiet.From == "22:00" && m.Preferences.Preview == "none" && m.Preferences.DisturbAt != ""
		})
		p.examine("notifications")
		p.press("button", "End it now")
		p.press("button", "No longer invoice")
		p.lacks("button", "No longer invoice")
		c.ask("PATCH", "/api/me/notifications", map[string]any{"keywords": []string{"anchor"}}, nil)
		p.find("button", "No longer anchor") // which another device has set
	})
}

// TestAboutRooms: who owns a room says what it is about and makes moderators, others find it in the
// directory, join, and choose what of it reaches them.
func TestAboutRooms(t *testing.T) {
	needAxe(t)
	s := oneNode(t)
	ana, bob := newcomer(t, s, desktop), guest(t, s, phone, "bob@elsewhere.example")
	c := s.client(owner)
	c.ask("POST", "/api/rooms", map[string]string{"name": "Tides"}, nil)
	c.ask("PATCH", "/api/rooms/r:tides/policy", map[string]string{"join": "tenant"}, nil)
	ana.moves("/ui/rooms/r:tides/members")
	ana.press("button", "Change name and topic")
	ana.fill("Name", "Tides & moon")
	ana.fill("Topic", "When the water comes")
	ana.press("button", "Save")
	ana.lacks("dialog", "Change name and topic")
	ana.find("link", "Tides & moon…")
	ana.sees("When the water comes")

	bob.press("link", "Find rooms…")
	bob.sees("When the water comes")
	bob.examine("directory")
	bob.press("button", "Join Tides & moon")
	bob.find("log", "Messages in Tides & moon")
	bob.moves("/ui/rooms/r:tides/members")
	eval[any](bob, `(() => { const e = [...document.querySelectorAll('select')][0]; e.value = 'all'; e.dispatchEvent(new Event('change', { bubbles: true })); })()`)
	bob.until("bob hears of every message", func() bool {
		return eval[bool](bob, `fetch('/api/me/notifications').then((r) => r.json()).then((mine) => mine.preferences.rooms?.[0]?.level === 'all')`)
	})

	ana.reload()
	ana.press("button", "Change bob")
	ana.press("menuitem", "Make a moderator")
	ana.until("bob is a moderator", func() bool { return strings.Contains(ana.text(), "moderator") })
	ana.examine("room-details")
	bob.reload()
	bob.find("button", "Change name and topic")
}

package web

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"ubl/test/soak"
)

// alt and ctrl hold a key while another is pressed.
var (
	alt       = chromedp.Modifier(kb.ModifierAlt)
	ctrl      = chromedp.Modifier(kb.ModifierCtrl)
	shiftAlt  = []chromedp.Modifier{kb.ModifierAlt, kb.ModifierShift}
	languages = []struct{ name, rooms, settings string }{
		{"Deutsch", "Räume", "Einstellungen"}, {"Español", "Salas", "Ajustes"}, {"العربية", "الغرف", "الإعدادات"},
	}
)

// TestWelcome: who comes for the first time says what to call them, leaves the passkey for
// later, and has three things to begin with, each gone when it is done.
func TestWelcome(t *testing.T) {
	needAxe(t)
	onScreen(t, phone, func(t *testing.T, v view) {
		s := oneNode(t)
		p := newPerson(t, s, v, "Ana")
		p.visit(s.link())
		p.press("button", "Sign in")
		p.sees("What should others call you?")
		p.examine("welcome-name")
		p.fill("Your name", "Ana Ortiz")
		p.press("button", "Continue")
		p.sees("Sign in on this device next time without a link")
		p.examine("welcome-passkey")
		p.press("button", "Later")
		p.arrives("/ui/rooms/r:general")
		p.find("button", "Invite somebody")
		p.find("button", "Connect an agent")
		p.examine("welcome-room")
		p.press("button", "Say hello")
		p.focuses("textbox Message to general")
		p.say("general", "hello")
		p.lacks("button", "Say hello")
		s.agent(owner, "scribe")
		p.press("button", "Invite somebody")
		p.find("dialog", "Invite somebody")
		p.press("button", "Cancel")
		s.client("bo@harbour.example").send(general, "hello Ana")
		p.visit("/ui/rooms/r:general")
		p.hears("hello Ana")
		p.lacks("button", "Invite somebody")
		p.reload()
		p.hears("hello Ana")
		p.lacks("button", "Connect an agent")
	})
}

// TestPalette goes everywhere by the palette and by keys, without pointing at anything.
func TestPalette(t *testing.T) {
	needAxe(t)
	s := oneNode(t)
	p := newcomer(t, s, desktop)
	furnish(t, s)
	p.find("link", "general…")
	p.key("k", ctrl)
	p.focuses("combobox Search and commands")
	p.examine("palette")
	p.key("lau")
	p.sees("Launch plans")
	p.key(kb.Enter)
	p.arrives("/ui/rooms/r:launch-plans")
	p.find("log", "Messages in Launch plans")

	p.key("k", ctrl)
	p.focuses("combobox Search and commands")
	p.key("mooring")
	p.find("option", "Moorings")
	p.key(kb.Enter)
	p.sees("Berth 4: free")

	p.key("k", ctrl)
	p.focuses("combobox Search and commands")
	p.key("bo@")
	p.find("option", "bo…")
	p.key(kb.Enter)
	p.arrives("/ui/members")
	p.key("k", ctrl)
	p.focuses("combobox Search and commands")
	p.key("nothing is called like this")
	p.sees("Nothing has that name")
	p.key(kb.Escape)
	p.lacks("combobox", "Search and commands")

	p.key("?")
	p.sees("Close what is open, then mark the room as read")
	p.examine("keys")
	p.key(kb.Escape)
	p.lacks("dialog", "Keys")
}

// TestRoomKeys: keys go from room to room and to the next unread one, close the detail beside
// a room, and mark it as read.
func TestRoomKeys(t *testing.T) {
	s := oneNode(t)
	p := newcomer(t, s, desktop)
	c, bo := s.client(owner), s.client("bo@harbour.example")
	for _, name := range []string{"Crane", "Crew", "Docks"} {
		c.ask("POST", "/api/rooms", map[string]string{"name": name}, nil)
	}
	bo.send(general, "is anybody here?")
	p.sees("1 unread message")
	p.enter("Docks")
	p.key(kb.ArrowDown, alt)
	p.arrives("/ui/rooms/r:crew")
	p.key(kb.ArrowUp, alt)
	p.arrives("/ui/rooms/r:docks")
	p.key(kb.ArrowDown, shiftAlt...)
	p.arrives("/ui/rooms/r:general")
	p.hears("is anybody here?")

	p.press("button", "Members and settings")
	p.arrives("/ui/rooms/r:general/members")
	p.find("heading", "Members")
	p.find("log", "Messages in general") // which stays beside it
	p.key(kb.Escape)
	p.arrives("/ui/rooms/r:general")
	p.lacks("heading", "Members")

	p.focus("link", "general…")
	p.key(kb.End)
	p.focuses("link Crane…")
	p.key("d")
	p.focuses("link Docks…")
	p.key(kb.Home)
	p.focuses("link general…")
}

// TestUnreadIsThePersons: what is read in one browser is read in another, and the page's
// title says how much isn't.
func TestUnreadIsThePersons(t *testing.T) {
	s := oneNode(t)
	bo := s.client("bo@harbour.example")
	p := newcomer(t, s, desktop)
	bo.send(general, "one")
	bo.send(general, "two")
	q := newPerson(t, s, phone, "Ana at another browser")
	q.follow(s.nextLink(), "Sign in")
	for _, at := range []*person{p, q} {
		at.sees("2 unread messages")
		at.until("the title counts", func() bool { return strings.HasPrefix(eval[string](at, "document.title"), "(2) ") })
	}
	p.enter("general")
	p.hears("two")
	q.until("it is read there, too", func() bool { return !strings.HasPrefix(eval[string](q, "document.title"), "(") })
}

// places are the screens that lead to people, rooms and what they said.
var places = []string{"direct", "room-details", "new-message", "directory", "notifications", "search"}

// among are the screens of these names.
func among(all []screen, names ...string) []screen {
	return slices.DeleteFunc(slices.Clone(all), func(at screen) bool { return !slices.Contains(names, at.name) })
}

// TestLanguages: every language has the whole of the app's frame, and Arabic is mirrored.
func TestLanguages(t *testing.T) {
	needAxe(t)
	onScreen(t, phone, func(t *testing.T, v view) {
		s := oneNode(t)
		p := newcomer(t, s, v)
		all := furnish(t, s)
		p.visit("/ui/settings")
		p.find("heading", "Settings")
		for i, l := range languages {
			p.speak(l.name)
			p.sees(l.settings)
			p.examine("settings-" + []string{"de", "es", "ar"}[i])
			p.moves("/ui/")
			p.sees(l.rooms)
			p.examine("rooms-" + []string{"de", "es", "ar"}[i])
			p.visit("/ui/settings")
			p.sees(l.settings) // it outlives the page
		}
		if way := eval[string](p, `document.documentElement.dir + ' ' + document.documentElement.lang`); way != "rtl ar" {
			t.Errorf("the page runs %s", way)
		}
		p.moves("/ui/rooms/r:general/members")
		p.sees("bo@harbour.example")
		p.examine("room-members-ar")
		for _, at := range among(all, places...) {
			p.moves(at.path)
			p.sees(at.shows)
			p.examine(at.name + "-ar")
		}
		p.moves("/ui/rooms/r:general/members")
		if v == desktop {
			left := func(pane string) float64 {
				return eval[float64](p, `document.querySelector('`+pane+`').getBoundingClientRect().left`)
			}
			if !(left(".detail") < left(".main") && left(".main") < left(".side") && left(".side") < left(".bar")) {
				t.Error("the panes aren't mirrored")
			}
		}
		p.moves("/ui/settings")
		p.speak("English")
		p.find("heading", "Settings")
	})
}

// speak chooses a language where settings offer them.
func (p *person) speak(name string) {
	p.t.Helper()
	p.until("the languages are there", func() bool {
		return eval[bool](p, `(() => {
			const option = [...document.querySelectorAll('select option')].find((o) => o.textContent === '`+name+`');
			if (!option) return false;
			option.parentElement.value = option.value;
			option.parentElement.dispatchEvent(new Event('change', { bubbles: true }));
			return true;
		})()`)
	})
}

// TestContrastAndSize: in high contrast, light and dark, and with text of twice the size,
// everything is there, fits, and can be told apart.
func TestContrastAndSize(t *testing.T) {
	needAxe(t)
	onScreen(t, phone, func(t *testing.T, v view) {
		s := oneNode(t)
		p := newcomer(t, s, v)
		screens := among(furnish(t, s), append(places, "rooms", "room-members", "settings")...)
		look := func(as string) {
			for _, at := range screens {
				p.moves(at.path)
				p.sees(at.shows)
				p.fits(at.name + as)
				p.accessible(at.name + as)
				p.shot(at.name + as)
			}
		}
		p.visit("/ui/settings")
		p.press("switch", "High contrast")
		look("-contrast")
		p.prefers("prefers-color-scheme", "dark")
		look("-contrast-dark")
		p.moves("/ui/settings")
		p.press("switch", "High contrast")
		p.until("it is off", func() bool { return eval[bool](p, `!document.documentElement.dataset.contrast`) })
		p.prefers("prefers-contrast", "more")
		p.until("the system's wish is heard", func() bool { return eval[string](p, `document.documentElement.dataset.contrast ?? ''`) == "more" })
		p.pick("Text size", "200")
		look("-200")
	})
}

// TestManyRooms: who is in very many rooms goes from one to another as quickly as ever.
func TestManyRooms(t *testing.T) {
	s := oneNode(t)
	c := s.client(owner)
	c.named("Ana")
	n := soak.Of(200, 5000)
	for i := range n {
		c.ask("POST", "/api/rooms", map[string]string{"name": fmt.Sprintf("Berth %04d", i)}, nil)
	}
	p := newcomer(t, s, desktop)
	p.until("all rooms are there", func() bool {
		return eval[bool](p, fmt.Sprintf(`document.querySelector('.rooms .all')?.offsetHeight > %d`, n*40))
	})
	if drawn := eval[int](p, `document.querySelectorAll('.rooms .row').length`); drawn > 60 {
		t.Errorf("%d rows are drawn, of which a dozen show", drawn)
	}
	var took []float64
	for range 10 {
		took = append(took, eval[float64](p, switchRoom))
	}
	note(fmt.Sprintf("from room to room, with %d of them", n), "≤ 100 ms", "p50 %.0f ms, worst %.0f ms", quantile(took, 0.5), quantile(took, 1))
}

// switchRoom presses Alt and the arrow down, and answers how long it takes until the room is there.
const switchRoom = `(async () => {
	const name = () => document.querySelector('.main h1')?.textContent;
	const before = name();
	const began = performance.now();
	dispatchEvent(new KeyboardEvent('keydown', { key: 'ArrowDown', altKey: true, cancelable: true }));
	while (name() === before || !document.querySelector('.main [role=log]')) await new Promise((drawn) => requestAnimationFrame(drawn));
	return performance.now() - began;
})()`

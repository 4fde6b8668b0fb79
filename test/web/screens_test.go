package web

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"
)

// screen is a screen of the app, where it is, and what shows that it is there.
type screen struct {
	name, path string
	shows      string
}

// furnish makes a house worth looking at, and answers its screens.
func furnish(t *testing.T, s *server) []screen {
	t.Helper()
	c, bo := s.client(owner), s.client("bo@harbour.example")
	var made struct {
		Document struct {
			DocumentID string `json:"document_id"`
		}
	}
	c.ask("POST", "/api/rooms", map[string]string{"name": "Launch plans"}, nil)
	agent := s.agent(owner, "harbourmaster")
	use(t, agent, "user.whoami", nil) // which brings it into r:general
	c.send(general, "Good morning! Is the new slipway ready?")
	bo.send(general, "From Monday on. The concrete needs two more days.")
	c.send(general, "Then we launch on Tuesday, with the tide.")
	bo.send(general, "Tuesday it is. I tell the crew of the Albatross.")
	first := bo.send(general, "Who can look after the moorings this week?")
	c.send(general, "I can until Thursday. High water is at 06:12 and 18:40, it is all in “Moorings”.")
	c.send(general, "Berths 4 to 9 are free. Shall I reserve two?")
	bo.send(general, "Yes please, both of them for the Albatross!")
	bo.reply(general, first.MsgID, "And I look after the moorings from Friday.")
	c.send(general, "Done. See you on the slipway!")
	c.send("r:launch-plans", "We launch on Monday at nine. The plan is in the workspace.")
	use(t, agent, "office.document.create", map[string]any{"workspace_id": "w:general", "title": "Moorings",
		"content": "Berth 4: free\nBerth 5: the Albatross, until Thursday\n\nHigh water at 06:12 and 18:40."})
	c.ask("POST", "/api/workspaces/w:general/documents", map[string]string{"title": "Launch plan", "content": "We launch on Monday at nine."}, &made)
	d := made.Document.DocumentID
	c.ask("PATCH", "/api/workspaces/w:general/documents/"+d, map[string]any{"content": "We launch on Tuesday at nine,\nwhen the tide is in.", "if_version": 1}, nil)
	c.ask("POST", "/api/portal/servers", map[string]string{"server_id": "weather", "name": "Weather", "url": weather(t), "auth": "none"}, nil)
	var scribe struct {
		Token struct {
			ClientID string `json:"client_id"`
		} `json:"service_token"`
	}
	c.ask("POST", "/api/service-tokens", map[string]any{"name": "scribe", "mandate": map[string]any{
		"tools": []string{"office.document.*", "office.workspace.*", "weather.*"}, "places": []string{"w:general"}, "per_minute": 60}}, &scribe)
	c.ask("PATCH", "/api/portal/budget", map[string]int{"tokens_per_day": 200_000, "requests_per_minute": 60}, nil)
	use(t, agent, "office.document.list", map[string]any{"workspace_id": "w:general"})
	c.invite("kim@elsewhere.example")
	furnishWallets(c)
	direct := furnishPlaces(c, bo, first)
	return []screen{
		{"rooms", "/ui/", "Launch plans"},
		{"room", "/ui/rooms/r:general", "See you on the slipway"},
		{"room-members", "/ui/rooms/r:general/members", "Add somebody"},
		{"new-room", "/ui/new-room", "Who may come in"},
		{"workspaces", "/ui/workspaces", "general"},
		{"documents", "/ui/workspaces/w:general", "Moorings"},
		{"workspace-members", "/ui/workspaces/w:general/members", "Who may work here"},
		{"document", "/ui/workspaces/w:general/" + d, "Version 2"},
		{"versions", "/ui/workspaces/w:general/" + d + "/versions", "What changed"},
		{"new-document", "/ui/workspaces/w:general/new", "Title"},
		{"ledger", "/ui/ledger", "messenger.send"},
		{"atom", fmt.Sprintf("/ui/ledger/%d", first.Receipt.Seq), "matches its content"},
		{"no-atom", "/ui/ledger/abc", "There is no such atom"},
		{"verify", "/ui/ledger/verify", "Verify all atoms"},
		{"tool-calls", "/ui/tools", "office.document.list"},
		{"members", "/ui/members", "kim@elsewhere.example"},
		{"servers", "/ui/servers", "Weather"},
		{"server", "/ui/servers/weather", "forecast"},
		{"tool", "/ui/servers/weather/weather.forecast", "Who may use it"},
		{"own-tool", "/ui/servers/ubl/t:messenger.send", "Posts a message to a room"},
		{"new-server", "/ui/new-server", "How does it learn"},
		{"new-program", "/ui/new-program", "says which programs"},
		{"find-servers", "/ui/find-servers", "registry"},
		{"budget", "/ui/budget", "of 200,000 tokens"},
		{"agreement", "/ui/agreements/a:room:r:general", "read and write messages"},
		{"agents", "/ui/agents", "scribe"},
		{"agent", "/ui/agents/" + scribe.Token.ClientID, "Read and write documents"},
		{"settings", "/ui/settings", "Sign out everywhere"},
		{"more", "/ui/more", "Tool calls"},
		{"nowhere", "/ui/no/such/place", "leads nowhere"},
		{"direct", "/ui/rooms/" + direct, "the key to the boathouse"},
		{"room-details", "/ui/rooms/r:launch-plans/members", "Everything about the launch"},
		{"new-message", "/ui/new-message?with=" + c.idOf("bo@harbour.example"), "harbourmaster"},
		{"directory", "/ui/directory", "When the water comes"},
		{"notifications", "/ui/settings/notifications", "Call the sailmaker"},
		{"search", "/ui/search?q=moorings", "Who can look after the moorings"},
		{"search-narrowed", "/ui/search?q=moorings&has=link&after=2026-01-31", "Nothing found"},
		{"search-begin", "/ui/search", "What are you looking for?"},
		{"wallets", "/ui/settings/wallets", "Petty cash"},
		{"wallet", "/ui/settings/wallets/k:petty-cash", "to Travel, sent by"},
		{"defaults", "/ui/settings/defaults", "Longest message in bytes"},
		{"backup", "/ui/settings/backup", "Download a backup"},
		{"nodes", "/ui/settings/cluster", "This server runs alone"},
	}
}

// furnishWallets makes two wallets, and sends credits from one to the other.
func furnishWallets(c *client) {
	c.t.Helper()
	for _, name := range []string{"Petty cash", "Travel"} {
		c.ask("POST", "/api/containers", map[string]string{"kind": "wallet", "name": name}, nil)
	}
	c.ask("POST", "/api/containers/k:petty-cash/credits", map[string]int{"amount": 1200}, nil)
	c.ask("POST", "/api/containers/k:petty-cash/transfer", map[string]any{"to": "k:travel", "amount": 350}, nil)
}

// furnishPlaces fills the list of rooms in all its parts, the directory and what reaches one, and
// answers the direct messages with bo.
func furnishPlaces(c, bo *client, mooring message) (direct string) {
	c.t.Helper()
	var dm struct {
		Room struct {
			RoomID string `json:"room_id"`
		}
	}
	c.ask("POST", "/api/dms", map[string]any{"with": []string{c.idOf("bo@harbour.example")}}, &dm)
	direct = dm.Room.RoomID
	c.send(direct, "Do you have the key to the boathouse?")
	bo.send(direct, "It hangs behind the door of the office.")
	c.ask("PATCH", "/api/rooms/r:launch-plans/about", map[string]string{"topic": "Everything about the launch in May",
		"description": "Dates, tides and who does what. Read the plan in the workspace first."}, nil)
	c.ask("POST", "/api/rooms/r:launch-plans/members", map[string]string{"email": "bo@harbour.example", "role": "moderator"}, nil)
	c.ask("PATCH", "/api/me/rooms/r:launch-plans", map[string]any{"favourite": true, "level": "all"}, nil)
	var made struct {
		RoomID string `json:"room_id"`
	}
	c.ask("POST", "/api/rooms", map[string]string{"name": "Harbour café"}, &made)
	c.ask("PATCH", "/api/me/rooms/"+made.RoomID, map[string]any{"mute_s": 30 * 24 * 3600}, nil)
	bo.ask("POST", "/api/rooms", map[string]string{"name": "Lost and found"}, &made)
	bo.ask("PATCH", "/api/rooms/"+made.RoomID+"/policy", map[string]string{"join": "tenant"}, nil)
	bo.ask("POST", "/api/rooms", map[string]string{"name": "Tides & moon"}, &made)
	bo.ask("PATCH", "/api/rooms/"+made.RoomID+"/policy", map[string]string{"join": "tenant"}, nil)
	bo.ask("PATCH", "/api/rooms/"+made.RoomID+"/about", map[string]string{"topic": "When the water comes"}, nil)
	c.ask("PATCH", "/api/me/notifications", map[string]any{"keywords": []string{"slipway", "high water"},
		"quiet": map[string]any{"from": "22:00", "to": "07:00", "zone": "Europe/Lisbon"}}, nil)
	c.ask("POST", "/api/me/reminders", map[string]any{"room_id": general, "msg_id": mooring.MsgID,
		"at": time.Now().Add(20 * time.Hour).UTC().Format("2006-01-02T15:04:05.000Z"), "note": "Call the sailmaker"}, nil)
	return direct
}

// TestScreens looks at every screen, light and dark, on a phone, a desktop and the
// narrowest screen of 320 pixels: nothing is cut off, the accessibility engine finds
// nothing serious, what is to be touched is large enough, and a picture is kept.
func TestScreens(t *testing.T) {
	needAxe(t)
	onBothScreens(t, func(t *testing.T, v view) {
		s := oneNode(t)
		p := newPerson(t, s, v, "Ana")
		p.visit("/ui/")
		p.find("heading", "Sign in to UBL")
		p.examine("sign-in")
		p.follow(s.link(), "Sign in")
		for _, at := range furnish(t, s) {
			p.moves(at.path)
			p.sees(at.shows)
			p.examine(at.name)
		}
	})
}

// TestPages looks in the same way at the pages that come without the app, which are in
// its style.
func TestPages(t *testing.T) {
	needAxe(t)
	onScreen(t, phone, func(t *testing.T, v view) {
		s := oneNode(t)
		p := newPerson(t, s, v, "Ana")
		p.watch.expect(` is answered 40[04]$`)
		for name, at := range map[string]struct{ path, shows string }{
			"sign-in-link":    {strings.TrimPrefix(s.link(), s.url), "Sign in as"},
			"used-link":       {"/signin/none", "not valid"},
			"invitation":      {strings.TrimPrefix(s.client(owner).invite("kim@elsewhere.example"), s.url), "is invited into"},
			"used-invitation": {"/invite/none", "To UBL"},
			"failed-sign-in":  {"/auth/oidc/callback?state=none&code=none", "not signed in"},
		} {
			p.visit(at.path)
			p.sees(at.shows)
			if card := eval[string](p, `getComputedStyle(document.querySelector('main')).borderRadius`); card != "20px" {
				t.Errorf("%s has no style: its card has corners of %s", name, card)
			}
			p.examine(name)
		}
	})
}

// TestAddresses: the address of every screen can be opened, and loaded anew, by a browser
// that has nothing of the app yet.
func TestAddresses(t *testing.T) {
	s := oneNode(t)
	for _, at := range furnish(t, s) {
		resp, err := http.Get(s.url + at.path)
		must(t, err)
		_ = resp.Body.Close()
		if kind := resp.Header.Get("Content-Type"); resp.StatusCode != http.StatusOK || !strings.HasPrefix(kind, "text/html") {
			t.Errorf("%s is answered %d %s", at.path, resp.StatusCode, kind)
		}
	}
}

// examine checks and keeps a screen, on a phone in the dark too.
func (p *person) examine(name string) {
	p.t.Helper()
	p.fits(name)
	p.accessible(name)
	p.shot(name)
	if p.view.touch {
		p.touchable(name)
		p.narrow(name)
		p.dark(name)
	}
}

// dark looks at the colours of the same screen in the dark; the rest is the same.
func (p *person) dark(name string) {
	p.t.Helper()
	p.prefers("prefers-color-scheme", "dark")
	p.accessible(name+" in the dark", "color-contrast")
	p.shot(name + "-dark")
	p.prefers("prefers-color-scheme", "light")
}

// narrow has the same screen fit where it is 320 pixels wide.
func (p *person) narrow(name string) {
	p.t.Helper()
	was := p.view
	p.resize(view{name: "narrow", width: 320, height: 568, scale: 2, touch: true})
	p.fits(name)
	p.shot(name)
	p.resize(was)
}

// tooWide finds what reaches beyond the screen and doesn't scroll by itself.
const tooWide = `[...document.querySelectorAll('body *')].filter((e) => {
	const box = e.getBoundingClientRect();
	if (box.width === 0 || box.right <= innerWidth + 1 && box.left >= -1) return false;
	for (let up = e; up; up = up.parentElement) {
		if (/auto|scroll|hidden|clip/.test(getComputedStyle(up).overflowX) || up.matches('.hidden, .skip')) return false;
	}
	return true;
}).slice(0, 3).map((e) => e.outerHTML.slice(0, 160))`

// fits wants nothing of the page to be wider than the screen.
func (p *person) fits(name string) {
	p.t.Helper()
	wide := eval[[]string](p, tooWide)
	if scroll := eval[float64](p, `document.scrollingElement.scrollWidth - innerWidth`); scroll > 0 || len(wide) > 0 {
		p.t.Errorf("%s (%s) is %g pixels wider than the screen: %s", name, p.view.name, scroll, strings.Join(wide, "\n\t"))
	}
}

// tooSmall finds what is to be pressed and is smaller than 44 pixels; links in text and
// what a label makes larger aside.
const tooSmall = `[...document.querySelectorAll('button, a[href], select, input')].filter((e) => {
	const box = e.getBoundingClientRect();
	if (box.width === 0 || e.closest('.prose, p, dd, .hidden, .skip, .facts, .sub, .meta') || getComputedStyle(e).visibility === 'hidden' || e.labels?.length) return false;
	return box.width < 43.5 || box.height < 43.5;
}).slice(0, 4).map((e) => e.outerHTML.slice(0, 120) + ' ' + Math.round(e.getBoundingClientRect().width) + '×' + Math.round(e.getBoundingClientRect().height))`

func (p *person) touchable(name string) {
	p.t.Helper()
	if small := eval[[]string](p, tooSmall); len(small) > 0 {
		p.t.Errorf("%s (%s): too small for a finger:\n\t%s", name, p.view.name, strings.Join(small, "\n\t"))
	}
}

// moving finds what moves, or would when it changes.
const moving = `[...document.querySelectorAll('*')].filter((e) => {
	const s = getComputedStyle(e);
	const long = (list) => list.split(',').some((d) => parseFloat(d) * (d.includes('ms') ? 1 : 1000) > 10);
	return long(s.transitionDuration) || s.animationName !== 'none' && long(s.animationDuration) && s.animationPlayState === 'running' && s.animationIterationCount !== '1' || s.scrollBehavior === 'smooth';
}).slice(0, 5).map((e) => e.outerHTML.slice(0, 100))`

// TestReducedMotion: who asks for less motion gets none to speak of.
func TestReducedMotion(t *testing.T) {
	onScreen(t, phone, func(t *testing.T, v view) {
		s := oneNode(t)
		p := newPerson(t, s, v, "Ana")
		p.prefers("prefers-reduced-motion", "reduce")
		p.follow(s.link(), "Sign in")
		for _, at := range []screen{
			{"rooms", "/ui/", "general"},
			{"room", "/ui/rooms/r:general", "Room created"}, // where a phone has no navigation
			{"settings", "/ui/settings", "Sign out everywhere"},
			{"more", "/ui/more", "Tool calls"},
		} {
			p.visit(at.path)
			p.sees(at.shows)
			if all := eval[[]string](p, moving); len(all) > 0 {
				t.Errorf("%s moves: %s", at.path, strings.Join(all, "\n\t"))
			}
		}
	})
}

// TestTheme: a person's choice beats the device's, and outlives the page.
func TestTheme(t *testing.T) {
	onScreen(t, desktop, func(t *testing.T, v view) {
		p := newcomer(t, oneNode(t), v)
		background := func() string { return eval[string](p, `getComputedStyle(document.body).backgroundColor`) }
		p.visit("/ui/settings")
		p.find("radio", "Dark")
		light := background()
		p.choose("Dark")
		p.until("it is dark", func() bool { return background() != light })
		p.reload()
		p.find("radio", "Dark")
		if background() == light {
			t.Error("the choice is forgotten")
		}
		p.choose("Automatic")
		p.until("it is light", func() bool { return background() == light })
		p.prefers("prefers-color-scheme", "dark")
		p.until("it follows the device", func() bool { return background() != light })
	})
}

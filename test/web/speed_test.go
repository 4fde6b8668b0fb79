package web

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/chromedp"

	"ubl/test/soak"
)

// most is how much script and style the first load may have, compressed, in bytes.
const most = 70_000

// whenUsable notes when the list of rooms first shows one that can be pressed.
const whenUsable = `(() => {
	const look = () => {
		if (document.querySelector('a.body[href^="/ui/rooms/"]')) requestAnimationFrame(() => (window.usable ??= performance.now()));
		else requestAnimationFrame(look);
	};
	look();
})()`

// TestFirstLoad: with nothing in the cache, the app's script and style are small, and
// one sees one's rooms soon.
func TestFirstLoad(t *testing.T) {
	for _, v := range views[:soak.Of(1, len(views))] {
		t.Run(v.name, func(t *testing.T) {
			s := oneNode(t)
			ana := newcomer(t, s, v)
			ana.find("link", "general…")
			s.client(owner).named("Ana") // nobody asks her for a name

			loaded, disturbed := undisturbed(func(try int) (loaded struct{ size, usable float64 }) {
				p := newPerson(t, s, v, fmt.Sprint("Ana at new browser ", try))
				ana.lendsCookies(p)
				call(p, page.AddScriptToEvaluateOnNewDocument, page.AddScriptToEvaluateOnNewDocumentParams{Source: whenUsable})
				p.visit("/ui/")
				p.find("link", "general…")
				p.until("the rooms can be used", func() bool { loaded.usable = eval[float64](p, `window.usable ?? 0`); return loaded.usable > 0 })
				loaded.size = p.watch.transferred(network.ResourceTypeScript, network.ResourceTypeStylesheet)
				return loaded
			})
			note("script and style of the first load ("+v.name+")", "< 70 kB", "%.1f kB", loaded.size/1000)
			note("the rooms can be used, from an empty cache ("+v.name+")", "< 1 s", "%.2f s%s", loaded.usable/1000, disturbed)
			if loaded.size > most || loaded.size < 1000 {
				t.Errorf("the first load has %.0f bytes of script and style, the goal is %d", loaded.size, most)
			}
		})
	}
}

// lendsCookies signs another browser in as this one is.
func (p *person) lendsCookies(to *person) {
	p.t.Helper()
	all := call(p, network.GetCookies, network.GetCookiesParams{})
	for _, c := range all.Cookies {
		call(to, network.SetCookie, network.SetCookieParams{Name: c.Name, Value: c.Value, URL: p.server.url, HTTPOnly: new(true)})
	}
}

// whenShown notes when each message is first on the screen, in ms since 1970. What
// intersects is told right after the frame that it is drawn in.
const whenShown = `() => {
	window.shown = {};
	const seen = new IntersectionObserver((all) => {
		const now = performance.timeOrigin + performance.now();
		for (const one of all) if (one.isIntersecting) window.shown[one.target.firstChild.textContent] ??= now;
	});
	const look = () => document.querySelectorAll('[role=log] .prose').forEach((p) => seen.observe(p));
	new MutationObserver(look).observe(document.querySelector('[role=log]'), { childList: true, subtree: true });
}`

// TestHowSoonOthersSee measures the way of a message from one browser onto the screen
// of another: from the time in its receipt, which is before the commit, to the frame
// that shows it.
func TestHowSoonOthersSee(t *testing.T) {
	soak.Only(t, "it only prints figures")
	s := oneNode(t)
	ana, bob := newcomer(t, s, desktop), guest(t, s, phone, "bob@elsewhere.example")
	ana.enter("general")
	bob.enter("general")
	eval[chromedp.Void](bob, apply(whenShown))
	took, disturbed := undisturbed(func(try int) []float64 {
		const n = 30
		probe := func(i int) string { return fmt.Sprintf("probe %d of %d", i, try) }
		for i := range n {
			ana.say("general", probe(i))
			bob.hears(probe(i))
		}
		var shown map[string]float64
		bob.until("all are drawn", func() bool {
			shown = eval[map[string]float64](bob, `window.shown`)
			return shown[probe(n-1)] > 0
		})
		var took []float64
		for _, m := range s.client(owner).history(general)[n*try:] {
			at, err := time.Parse(time.RFC3339Nano, m.Receipt.Time)
			must(t, err)
			if shown[m.Body.Text] == 0 {
				t.Errorf("%q was never drawn", m.Body.Text)
			}
			took = append(took, shown[m.Body.Text]-float64(at.UnixMicro())/1000)
		}
		return took
	})
	note("a message shows in another browser", "p50 < 50 ms", "p50 %.0f ms, p95 %.0f ms%s", quantile(took, 0.5), quantile(took, 0.95), disturbed)
}

// many is how long a long room is.
var many = soak.Of(3_000, 100_000)

// scrollFar scrolls a long room up as one does with a wheel, for three seconds, and
// answers the time between frames in ms, and how many of them showed nothing.
const scrollFar = `async () => {
	const log = document.querySelector('.virtual[role=log]');
	const gaps = [], began = performance.now();
	let last = began, empty = 0;
	while (last - began < 3000) {
		log.scrollTop -= 120;
		const now = await new Promise((done) => requestAnimationFrame(done));
		gaps.push(now - last);
		last = now;
		const box = log.getBoundingClientRect();
		if (!document.elementFromPoint(box.x + box.width / 2, box.y + box.height / 2)?.closest('[data-key]')) empty++;
	}
	return { gaps, empty, rows: log.querySelectorAll('[data-key]').length };
}`

// TestLongRoom: a room of 3,000 messages, 100,000 in `make soak`, opens at its end, scrolls, and keeps few of
// them on the page.
func TestLongRoom(t *testing.T) {
	s := oneNode(t)
	c := s.client(owner)
	newcomer(t, s, phone) // so that the tenant is there
	began := time.Now()
	c.pour(general, many, 48)
	t.Logf("%d messages in %s", many, time.Since(began).Round(time.Second))
	bob := c.invite("bob@elsewhere.example")
	p := newPerson(t, s, desktop, "Bob")
	p.follow(bob, "Accept and sign in")
	for _, v := range views {
		p.resize(v)
		began := time.Now()
		p.enter("general")
		last := c.newest(general).Body.Text
		p.hears(last)
		note(fmt.Sprintf("a room of %d messages shows (%s)", many, v.name), "", "after %.2f s", time.Since(began).Seconds())
		got := eval[struct {
			Gaps  []float64 `json:"gaps"`
			Empty int       `json:"empty"`
			Rows  int       `json:"rows"`
		}](p, apply(scrollFar))
		note("between frames, scrolling it ("+v.name+")", "16 ms", "p50 %.0f ms, p95 %.0f ms, worst %.0f ms, %d of %d without a message",
			quantile(got.Gaps, 0.5), quantile(got.Gaps, 0.95), quantile(got.Gaps, 1), got.Empty, len(got.Gaps))
		if got.Rows > 200 {
			t.Errorf("%d rows are on the page", got.Rows)
		}
		texts := p.bubbles()
		if len(texts) == 0 || slices.ContainsFunc(texts, func(b bubble) bool { return b.Text == last }) {
			t.Errorf("after scrolling %d messages show, the newest among them", len(texts))
		}
		p.press("button", "To the newest")
		p.hears(last)
	}
}

// newest is the last message of a room.
func (c *client) newest(room string) message {
	c.t.Helper()
	var page struct{ Messages []message }
	c.ask("GET", "/api/rooms/"+room+"/history?limit=5", nil, &page)
	all := texts(page.Messages)
	if len(all) == 0 || !strings.HasPrefix(room, "r:") {
		c.t.Fatalf("%s is empty", room)
	}
	return all[len(all)-1]
}

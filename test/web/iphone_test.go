package web

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/debugger"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/chromedp"
)

// iphone is a screen with a notch and a bar to swipe at, upright and lying on its side,
// and what of it they cover: from the top, the right, the bottom and the left.
var iphone = []struct {
	view
	covered [4]int64
}{
	{view{name: "iphone", width: 393, height: 852, scale: 3, touch: true}, [4]int64{59, 0, 34, 0}},
	{view{name: "iphone-lying", width: 852, height: 393, scale: 3, touch: true}, [4]int64{0, 59, 0, 59}},
}

// covered finds what is used or read and reaches under what the device covers. What
// scrolls may be there on its way up or down.
const covered = `(top, right, bottom, left) => [...document.querySelectorAll('button, a[href], input, textarea, select, h1, h2')].filter((e) => {
	const box = e.getBoundingClientRect(), s = getComputedStyle(e);
	if (box.width === 0 || s.visibility === 'hidden' || e.closest('.hidden, .skip') || document.querySelector('dialog[open]') && !e.closest('dialog')) return false;
	if (box.left + parseFloat(s.paddingLeft) < left - 1 || box.right - parseFloat(s.paddingRight) > innerWidth - right + 1) return true;
	for (let up = e.parentElement; up; up = up.parentElement) if (/auto|scroll/.test(getComputedStyle(up).overflowY)) return false;
	return box.top + parseFloat(s.paddingTop) < top - 1 || box.bottom - parseFloat(s.paddingBottom) > innerHeight - bottom + 1;
}).map((e) => e.outerHTML.slice(0, 120) + ' ' + JSON.stringify(e.getBoundingClientRect()))`

// TestSafeAreas: nothing that one uses is under the notch, the corners or the bar of an
// iPhone, upright or lying on its side.
func TestSafeAreas(t *testing.T) {
	s := oneNode(t)
	p := newPerson(t, s, phone, "Ana")
	p.follow(s.link(), "Sign in")
	m := s.client(owner).send(general, "We launch on Tuesday at nine, with the tide.")
	for _, device := range iphone {
		p.resize(device.view)
		c := device.covered
		call(p, emulation.SetSafeAreaInsetsOverride, emulation.SetSafeAreaInsetsOverrideParams{
			Insets: &emulation.SafeAreaInsets{Top: &c[0], Right: &c[1], Bottom: &c[2], Left: &c[3]},
		})
		for _, at := range []moment{
			{"rooms", func() { p.visit("/ui/"); p.find("link", "general…") }},
			{"room", func() { p.press("link", "general…"); p.hears(m.Body.Text) }},
			{"details", func() {
				p.press("button", fmt.Sprintf("Receipt %d", m.Receipt.Seq))
				p.sees("Verified by this browser")
			}},
			{"more", func() { p.visit("/ui/more"); p.sees("Tool calls") }},
			{"settings", func() { p.visit("/ui/settings"); p.sees("Sign out everywhere") }},
			{"ledger", func() { p.visit("/ui/ledger"); p.sees("messenger.send") }},
		} {
			at.come()
			p.rests()
			if under := eval[[]string](p, apply(covered, c[0], c[1], c[2], c[3])); len(under) > 0 {
				t.Errorf("%s (%s): the device covers\n\t%s", at.name, device.name, strings.Join(under, "\n\t"))
			}
			p.shot(at.name)
		}
	}
}

// TestOnTheHomeScreen: the app can be put on the home screen. There it has no buttons of
// a browser, and every screen below the bar's leads back by its own.
func TestOnTheHomeScreen(t *testing.T) {
	p := newcomer(t, oneNode(t), iphone[0].view)
	p.installed()
	for _, e := range call(p, page.GetInstallabilityErrors, cdp.Empty{}).InstallabilityErrors {
		if e.ErrorID != "in-incognito" { // as all browsers of these tests are
			t.Errorf("the app can't be installed: %s %v", e.ErrorID, e.ErrorArguments)
		}
	}
	if icon := eval[float64](p, `fetch(document.querySelector('link[rel=apple-touch-icon]').href).then((r) => r.blob()).then(createImageBitmap).then((i) => i.width)`); icon < 180 {
		t.Errorf("the home screen's icon is %g pixels wide", icon)
	}
	p.prefers("display-mode", "standalone")
	for _, at := range []screen{
		{"a room", "/ui/rooms/r:general", "/ui/"},
		{"a room's members", "/ui/rooms/r:general/members", "/ui/rooms/r:general"},
		{"a workspace", "/ui/workspaces/w:general", "/ui/workspaces"},
		{"the ledger's check", "/ui/ledger/verify", "/ui/ledger"},
		{"settings", "/ui/settings", "/ui/more"},
	} {
		p.visit(at.path)
		p.press("button", "Back")
		p.arrives(at.shows)
	}
	p.enter("general")
	p.say("general", "from the home screen")
	p.hears("from the home screen")
}

// freeze suspends the page, as a phone does with what isn't looked at, and ends its
// connections; wake brings it back into view. A page that believes it has the focus
// isn't suspended.
func (p *person) freeze() {
	p.t.Helper()
	eval[chromedp.Void](p, `void document.addEventListener('freeze', () => (window.slept = true))`)
	call(p, emulation.SetFocusEmulationEnabled, emulation.SetFocusEmulationEnabledParams{Enabled: false})
	call(p, page.SetWebLifecycleState, page.SetWebLifecycleStateParams{State: page.SetWebLifecycleStateStateFrozen})
	p.server.front.cut()
	p.server.front.mend()
}

func (p *person) wake() {
	p.t.Helper()
	call(p, page.SetWebLifecycleState, page.SetWebLifecycleStateParams{State: page.SetWebLifecycleStateStateActive})
	call(p, emulation.SetFocusEmulationEnabled, emulation.SetFocusEmulationEnabledParams{Enabled: true})
	call(p, page.BringToFront, cdp.Empty{})
	if !eval[bool](p, `window.slept ?? false`) {
		p.t.Error("the page was never suspended")
	}
}

// TestSuspended: a phone suspends the app while another writes. Looked at again it shows
// what was written meanwhile, each once, and goes on from where its stream was.
func TestSuspended(t *testing.T) {
	everywhere(t, func(t *testing.T, start starter, v view) {
		s := start(t)
		ana, bob := newcomer(t, s, v), s.direct().client("bo@harbour.example")
		ana.enter("general")
		bob.send(general, "before")
		ana.hears("before")
		_, resumed := ana.streams()
		ana.freeze()
		for i := range 3 {
			bob.send(general, fmt.Sprintf("meanwhile %d", i))
		}
		began := time.Now()
		ana.wake()
		ana.hears("meanwhile 2")
		note("what was missed shows after a suspended page wakes ("+v.name+")", "", "%.2f s", time.Since(began).Seconds())
		ana.reads(s.client(owner), general)
		if _, r := ana.streams(); r <= resumed {
			t.Errorf("the stream was resumed %d times, before %d", r, resumed)
		}
		ana.say("general", "awake")
		ana.hears("awake")
	})
}

// TestSuspendedLeader: the tab that has the stream and sends does nothing any more.
// Another that one writes in takes over, and both show everything in the end. A debugger
// stops the tab: Chromium lets a suspended one answer other tabs.
func TestSuspendedLeader(t *testing.T) {
	s := behindFront(t)
	first := newcomer(t, s, phone)
	first.enter("general")
	other := first.anotherTab()
	other.enter("general")
	call(first, debugger.Enable, debugger.EnableParams{})
	call(first, debugger.Pause, cdp.Empty{})
	s.front.cut()
	s.front.mend()
	s.direct().client("bo@harbour.example").send(general, "for whoever is awake")
	other.say("general", "that is me")
	other.hears("that is me")
	other.hears("for whoever is awake")
	call(first, debugger.Disable, cdp.Empty{})
	first.hears("that is me")
	first.hears("for whoever is awake")
	first.reads(s.client(owner), general)
}

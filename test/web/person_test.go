package web

import (
	"context"
	"encoding/json"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/cdproto/webauthn"
	"github.com/chromedp/chromedp"
)

// view is a screen and how one points at things on it.
type view struct {
	name          string
	width, height int64
	scale         float64
	touch         bool
}

var (
	phone   = view{name: "phone", width: 390, height: 844, scale: 2, touch: true}
	desktop = view{name: "desktop", width: 1280, height: 800, scale: 1}
	views   = []view{phone, desktop}
)

// person is a tab of somebody's browser. Its methods fail the test where what they
// do or want to see can't be had in time.
type person struct {
	t      *testing.T
	name   string
	server *server
	view   view
	ctx    context.Context
	watch  *watch
	keys   webauthn.AuthenticatorID // of a device that keeps passkeys
}

// newPerson opens a browser that nobody has used yet.
func newPerson(t *testing.T, s *server, v view, name string) *person {
	t.Helper()
	ctx, end := chromedp.NewContext(browser(t).ctx, chromedp.WithNewBrowserContext())
	t.Cleanup(end)
	return open(t, ctx, s, v, name)
}

// anotherTab opens one more tab of the same browser, in a window of its own.
func (p *person) anotherTab() *person {
	p.t.Helper()
	ctx, end := chromedp.NewContext(p.ctx, chromedp.WithNewWindow(true))
	p.t.Cleanup(end)
	return open(p.t, ctx, p.server, p.view, p.name+" in another tab")
}

func open(t *testing.T, ctx context.Context, s *server, v view, name string) *person {
	t.Helper()
	p := &person{t: t, name: name, server: s, view: v, ctx: ctx}
	if err := chromedp.Do(ctx); err != nil {
		t.Fatalf("couldn't open a tab: %v", err)
	}
	p.watch = newWatch(p)
	call(p, network.Enable, network.EnableParams{})
	p.resize(v)
	call(p, emulation.SetFocusEmulationEnabled, emulation.SetFocusEmulationEnabledParams{Enabled: true})
	return p
}

// newcomer is newPerson with the owner's sign-in link used.
func newcomer(t *testing.T, s *server, v view) *person {
	t.Helper()
	p := newPerson(t, s, v, "Ana")
	p.follow(s.link(), "Sign in")
	return p
}

// guest accepts an invitation of the owner.
func guest(t *testing.T, s *server, v view, email string) *person {
	t.Helper()
	name, _, _ := strings.Cut(email, "@")
	p := newPerson(t, s, v, name)
	p.follow(s.client(owner).invite(email), "Accept and sign in")
	return p
}

// follow opens a link of the server and presses the button of its page, which leads
// to the app.
func (p *person) follow(link, button string) {
	p.t.Helper()
	at, err := url.Parse(link)
	must(p.t, err)
	p.visit(at.Path)
	p.press("button", button)
	p.arrives("/ui/")
	p.skipsWelcome()
}

// skipsWelcome is what people without a name do who want to see the app at once.
func (p *person) skipsWelcome() {
	p.t.Helper()
	p.until("the app is there, or asks for a name", func() bool { return eval[bool](p, `document.querySelector('.layout, .welcome') !== null`) })
	// Who has a name isn't asked: the server says so, after the app has shown itself.
	p.until("it is known whether to ask", func() bool { return eval[bool](p, `document.querySelector('.welcome, .layout .row') !== null`) })
	if eval[bool](p, `document.querySelector('.welcome') !== null`) {
		p.press("button", "Skip")
		p.until("the app is there", func() bool { return eval[bool](p, `document.querySelector('.layout') !== null`) })
	}
}

// arrives waits until the app is at a path.
func (p *person) arrives(path string) {
	p.t.Helper()
	p.until("arrives at "+path, func() bool { return p.at() == path })
}

// at is the path of the page.
func (p *person) at() string { return eval[string](p, `location.pathname`) }

// visit opens an address, or a path of the server.
func (p *person) visit(to string) {
	p.t.Helper()
	if strings.HasPrefix(to, "/") {
		to = p.server.url + to
	}
	p.do("couldn't open "+to, chromedp.Navigate(to))
}

// moves goes to a path of the app as its own links do, in the same page, and waits until
// a screen is there.
func (p *person) moves(to string) {
	p.t.Helper()
	eval[chromedp.Void](p, apply(`(to) => { history.pushState({ inside: true }, '', to); dispatchEvent(new PopStateEvent('popstate')); }`, to))
	p.until("the screen is there", func() bool {
		return eval[bool](p, `new Promise((drawn) => requestAnimationFrame(() => requestAnimationFrame(drawn))).then(() => ![...document.querySelectorAll('.spinner')].some((e) => e.checkVisibility()))`)
	})
}

// reload loads the page anew.
func (p *person) reload() {
	p.t.Helper()
	p.do("couldn't reload", chromedp.Reload())
}

func (p *person) do(problem string, action chromedp.Action[chromedp.Void]) {
	p.t.Helper()
	ctx, end := context.WithTimeout(p.ctx, patience)
	defer end()
	if err := chromedp.Do(ctx, action); err != nil {
		p.t.Fatalf("%s: %s: %v", p.name, problem, err)
	}
}

// resize gives the tab another screen.
func (p *person) resize(v view) {
	p.t.Helper()
	p.view = v
	call(p, emulation.SetDeviceMetricsOverride, emulation.SetDeviceMetricsOverrideParams{
		Width: v.width, Height: v.height, DeviceScaleFactor: v.scale, Mobile: v.touch,
	})
	touch := emulation.SetTouchEmulationEnabledParams{Enabled: v.touch}
	if v.touch {
		touch.MaxTouchPoints = 5
	}
	call(p, emulation.SetTouchEmulationEnabled, touch)
}

// prefers sets what a media query asks for: "prefers-color-scheme", "dark".
func (p *person) prefers(feature, value string) {
	p.t.Helper()
	call(p, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{Features: []*emulation.MediaFeature{{Name: feature, Value: value}}})
}

// offline takes the network away from the browser, with the streams that are open where
// it comes by the server's front; online gives it back.
func (p *person) offline() { p.t.Helper(); p.network(true) }
func (p *person) online()  { p.t.Helper(); p.network(false) }

func (p *person) network(off bool) {
	p.t.Helper()
	if f := p.server.front; f != nil && off {
		f.cut()
	} else if f != nil {
		f.mend()
	}
	conditions := network.Conditions{DownloadThroughput: -1, UploadThroughput: -1, Offline: off}
	call(p, network.EmulateNetworkConditionsByRule, network.EmulateNetworkConditionsByRuleParams{
		EmulateOfflineServiceWorker: new(off), MatchedNetworkConditions: []*network.Conditions{&conditions},
	})
	call(p, network.OverrideNetworkState, network.OverrideNetworkStateParams{Offline: off, DownloadThroughput: -1, UploadThroughput: -1})
}

// installed waits until the service worker keeps the app and answers for it.
func (p *person) installed() {
	p.t.Helper()
	p.until("the service worker is active", func() bool {
		return eval[bool](p, `navigator.serviceWorker.getRegistration().then((r) => r?.active?.state === 'activated')`)
	})
}

// until waits for something that is so on the page. It asks less and less often: each
// look costs the page time in which it could come to it.
func (p *person) until(what string, is func() bool) {
	p.t.Helper()
	deadline := time.Now().Add(patience)
	for pause := 10 * time.Millisecond; !is(); pause = min(pause*3/2, 100*time.Millisecond) {
		if time.Now().After(deadline) {
			p.fail("waits in vain: %s", what)
		}
		time.Sleep(pause)
	}
}

// text is everything that can be read on the page.
func (p *person) text() string { return eval[string](p, `document.body?.innerText ?? ''`) }

// sees waits for texts to be on the page.
func (p *person) sees(texts ...string) {
	p.t.Helper()
	for _, text := range texts {
		p.until(fmt.Sprintf("%q shows", text), func() bool { return strings.Contains(p.text(), text) })
	}
}

// misses waits until a text isn't on the page.
func (p *person) misses(text string) {
	p.t.Helper()
	p.until(fmt.Sprintf("%q is gone", text), func() bool { return !strings.Contains(p.text(), text) })
}

// shot takes a picture of the screen, where pictures are wanted.
func (p *person) shot(name string) {
	p.t.Helper()
	if pictures != "" {
		must(p.t, p.picture(filepath.Join(pictures, p.view.name, name+".png")))
	}
}

func (p *person) picture(path string) error {
	ctx, end := context.WithTimeout(p.ctx, patience)
	defer end()
	shot, err := chromedp.Call(ctx, page.CaptureScreenshot, page.CaptureScreenshotParams{OptimizeForSpeed: new(true)})
	if err != nil {
		return fmt.Errorf("couldn't take a picture: %w", err)
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	return os.WriteFile(path, shot.Data, 0o644)
}

// fail ends the test with what the page says, which is what one wants to know then.
func (p *person) fail(format string, args ...any) {
	p.t.Helper()
	if pictures != "" {
		if err := p.picture(filepath.Join(pictures, "failed", strings.ReplaceAll(p.t.Name(), "/", "-")+".png")); err != nil {
			p.t.Log(err)
		}
	}
	p.t.Fatalf("%s %s\nat %s the page says:\n%s", p.name, fmt.Sprintf(format, args...), p.at(), p.text())
}

// call sends a command of the protocol to a tab.
func call[P, R any](p *person, command cdp.Command[P, R], params P) R {
	p.t.Helper()
	ctx, end := context.WithTimeout(p.ctx, patience)
	defer end()
	r, err := chromedp.Call(ctx, command, params)
	if err != nil {
		p.t.Fatalf("%s: %s: %v", p.name, command.Method, err)
	}
	return r
}

// eval is the value of an expression in the page, or of the promise that it is. Where
// a navigation takes the page away meanwhile it is asked again.
func eval[T any](p *person, expression string) T {
	p.t.Helper()
	ctx, end := context.WithTimeout(p.ctx, patience)
	defer end()
	for {
		v, err := chromedp.Run(ctx, chromedp.Evaluate[T](expression, chromedp.EvalAwaitPromise))
		if err == nil {
			return v
		}
		if !navigated(err) || ctx.Err() != nil {
			p.t.Fatalf("%s: couldn't evaluate %.200s: %v", p.name, expression, err)
		}
		time.Sleep(10 * time.Millisecond)
	}
}

// navigated tells the errors of a page that is on its way out.
func navigated(err error) bool {
	for _, sign := range []string{"context was destroyed", "Cannot find context", "navigated or closed", "Promise was collected", "uniqueContextId not found"} {
		if strings.Contains(err.Error(), sign) {
			return true
		}
	}
	return false
}

// apply is a function in JavaScript with arguments, as an expression.
func apply(function string, args ...any) string {
	list := make([]string, len(args))
	for i, arg := range args {
		data, err := json.Marshal(arg)
		if err != nil {
			panic(err) // no test has such arguments
		}
		list[i] = string(data)
	}
	return fmt.Sprintf("(%s)(%s)", function, strings.Join(list, ", "))
}

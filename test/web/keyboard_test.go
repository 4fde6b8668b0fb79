package web

import (
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
)

// tabTo presses Tab until the focus is on a control.
func (p *person) tabTo(control string) {
	p.t.Helper()
	var way []string
	for range 40 {
		now := p.focused()
		if now == control || strings.HasSuffix(control, "…") && strings.HasPrefix(now, strings.TrimSuffix(control, "…")) {
			return
		}
		way = append(way, now)
		p.key(kb.Tab)
	}
	p.t.Fatalf("Tab never comes to %s, but to %q", control, way)
}

// focuses waits until the focus is on a control.
func (p *person) focuses(control string) {
	p.t.Helper()
	var now string
	p.until("the focus is on "+control, func() bool {
		now = p.focused()
		return now == control || strings.HasSuffix(control, "…") && strings.HasPrefix(now, strings.TrimSuffix(control, "…"))
	})
}

// toMessages goes from the field to the newest message, by the list that is before it.
func (p *person) toMessages() {
	p.t.Helper()
	for range 6 {
		p.key(kb.Tab, chromedp.Modifier(kb.ModifierShift))
		if strings.HasPrefix(p.focused(), "log ") {
			p.key(kb.ArrowUp)
			return
		}
	}
	p.t.Fatalf("Shift and Tab never come to the messages, but to %q", p.focused())
}

// TestKeyboardOnly does the main flow without pointing at anything: sign in, enter a
// room, write, look at a receipt, reply, and go back. The focus is always somewhere, and
// it shows where.
func TestKeyboardOnly(t *testing.T) {
	s := oneNode(t)
	p := newPerson(t, s, desktop, "Ana")
	p.visit(s.link())
	p.tabTo("button Sign in")
	p.key(kb.Enter)
	p.arrives("/ui/")
	p.focuses("textbox Your name")
	p.tabTo("button Skip")
	p.key(kb.Enter)
	p.find("link", "general…")
	p.key(kb.Tab)
	p.focuses("link Skip to content")
	p.tabTo("link general…")
	p.outlined()
	p.key(kb.Enter)
	p.find("log", "Messages in general")
	p.focuses("heading general")

	p.key("typed at once")
	p.focuses("textbox Message to general")
	p.key(kb.Enter)
	p.hears("typed at once")
	p.key("two")
	p.key(kb.Enter, chromedp.Modifier(kb.ModifierShift))
	p.write("lines")
	p.key(kb.Enter)
	p.hears("two\nlines")

	p.key(kb.ArrowUp) // which edits what one wrote last
	p.sees("Edit your message")
	p.write(" of it")
	p.key(kb.Enter)
	p.misses("Edit your message")
	p.hears("two\nlines of it")
	p.toMessages()
	p.focuses("article You…")
	p.outlined()
	p.key(kb.Enter)
	p.focuses("menuitem Reply")
	p.key(kb.ArrowDown + kb.ArrowDown)
	p.focuses("menuitem Details and receipt")
	p.key(kb.Enter)
	p.sees("The receipt is of what the message said before it was edited", "Checked in part")
	p.key(kb.Escape)
	p.lacks("dialog", "Receipt…")
	p.focuses("article You…")
	p.key(kb.ArrowUp + kb.Enter)
	p.focuses("menuitem Reply")
	p.key(kb.ArrowDown + kb.ArrowDown + kb.Enter)
	p.sees("Verified by this browser")
	p.key(kb.Escape)
	p.lacks("dialog", "Receipt…")
	p.focuses("article You…")
	p.key(kb.Enter)
	p.focuses("menuitem Reply")
	p.key(kb.Enter)
	p.focuses("textbox Message to general")
	p.sees("Reply to yourself")
	p.key(kb.Escape)
	p.misses("Reply to yourself")
}

// arrowAtOnce opens the menu of the newest message and presses the down arrow as soon as
// the menu has the focus, before the browser has drawn it. It answers where the focus is
// once the page rests.
const arrowAtOnce = `(async () => {
	const press = (e, key) => e.dispatchEvent(new KeyboardEvent('keydown', { key, bubbles: true, cancelable: true }));
	const frame = () => new Promise((drawn) => requestAnimationFrame(() => setTimeout(drawn)));
	const inMenu = () => document.activeElement.matches('[role=menuitem]');
	const opened = new Promise((seen) => document.addEventListener('focusin', () => inMenu() && seen()));
	press([...document.querySelectorAll('.bubble')].at(-1), 'Enter');
	await opened;
	press(document.activeElement, 'ArrowDown');
	for (let i = 0; i < 10; i++) await frame();
	return document.activeElement.textContent.trim();
})()`

// TestArrowAtOnce: a menu that has taken the focus doesn't take it a second time, from
// under somebody who is quick with the arrow keys.
func TestArrowAtOnce(t *testing.T) {
	s := oneNode(t)
	p := newcomer(t, s, desktop)
	p.enter("general")
	p.say("general", "hello")
	p.hears("hello")
	if at := eval[string](p, arrowAtOnce); at != "Copy text" {
		t.Errorf("the focus is on %q, one below the first item is \"Copy text\"", at)
	}
}

// outlined wants what has the focus to show it.
func (p *person) outlined() {
	p.t.Helper()
	if !eval[bool](p, `(() => { const s = getComputedStyle(document.activeElement); return s.outlineStyle !== 'none' && parseFloat(s.outlineWidth) >= 2 || s.boxShadow !== 'none'; })()`) {
		p.t.Errorf("the focus on %q doesn't show", p.focused())
	}
}

// watchFocus notes which of the page's controls the focus comes to, and whether it
// shows there. Of radio buttons that belong together one is on the way, the arrow keys
// lead to the others.
const watchFocus = `() => {
	const look = (e) => [e, ...(e.labels ?? []), e.parentElement].map((e) => {
		const s = getComputedStyle(e);
		return [s.outlineStyle === 'none' ? '' : s.outlineWidth, s.boxShadow, s.borderColor].join(' ');
	}).join();
	const groups = new Set();
	const all = [...document.querySelectorAll('button, a[href], input, textarea, select, summary, [tabindex="0"]')].filter((e) => {
		if (e.tabIndex < 0 || e.disabled || !e.checkVisibility({ visibilityProperty: true }) || e.closest('[inert]')) return false;
		if (e.type !== 'radio') return true;
		return !groups.has(e.name) && groups.add(e.name);
	});
	document.activeElement.blur(); // some screens begin in a field
	window.focusing = { rest: new Map(all.map((e) => [e, look(e)])), unseen: [] };
	document.addEventListener('focusin', ({ target }) => {
		const { rest, unseen } = window.focusing;
		const key = target.type === 'radio' ? all.find((e) => e.name === target.name) : target;
		if (rest.get(key) === look(target)) unseen.push(target.outerHTML.slice(0, 160));
		rest.delete(key);
	});
	return all.length;
}`

// TestKeyboardReaches: Tab comes to every control of every screen, and leaves it; where
// the focus is shows.
func TestKeyboardReaches(t *testing.T) {
	s := oneNode(t)
	p := newcomer(t, s, desktop)
	for _, at := range furnish(t, s) {
		p.visit(at.path)
		p.sees(at.shows)
		p.rests()
		left := p.tabThrough(eval[int](p, apply(watchFocus)))
		if len(left) > 0 {
			t.Errorf("%s: Tab never comes to\n\t%s", at.name, strings.Join(left, "\n\t"))
		}
		if unseen := eval[[]string](p, `window.focusing.unseen`); len(unseen) > 0 {
			t.Errorf("%s: the focus doesn't show on\n\t%s", at.name, strings.Join(unseen, "\n\t"))
		}
	}
}

// tabThrough presses Tab once for each of n controls, and on where lists grow as one
// comes to their end. It answers those that the focus never came to.
func (p *person) tabThrough(n int) (left []string) {
	p.t.Helper()
	for range 5 {
		for range n + 1 {
			p.key(kb.Tab)
		}
		left = eval[[]string](p, `[...window.focusing.rest.keys()].filter((e) => e.isConnected).map((e) => e.outerHTML.slice(0, 160))`)
		if len(left) == 0 {
			break
		}
	}
	return left
}

// TestEnterOnAPhone: where fingers write, Enter begins a line and the button sends.
func TestEnterOnAPhone(t *testing.T) {
	p := newcomer(t, oneNode(t), phone)
	p.enter("general")
	p.focus("textbox", "Message to general")
	p.write("one")
	p.key(kb.Enter)
	p.write("two")
	p.press("button", "Send")
	p.hears("one\ntwo")
}

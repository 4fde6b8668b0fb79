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

	p.key(kb.ArrowUp)
	p.focuses("article You…")
	p.outlined()
	p.key(kb.Enter)
	p.focuses("menuitem Reply")
	p.key(kb.ArrowDown + kb.ArrowDown)
	p.focuses("menuitem Details and receipt")
	p.key(kb.Enter)
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

// outlined wants what has the focus to show it.
func (p *person) outlined() {
	p.t.Helper()
	if !eval[bool](p, `(() => { const s = getComputedStyle(document.activeElement); return s.outlineStyle !== 'none' && parseFloat(s.outlineWidth) >= 2 || s.boxShadow !== 'none'; })()`) {
		p.t.Errorf("the focus on %q doesn't show", p.focused())
	}
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

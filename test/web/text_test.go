package web

import (
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
)

// TestTextIsText: markup, script and addresses that run code show as what was
// written, in every place where messages show.
func TestTextIsText(t *testing.T) {
	onScreen(t, phone, func(t *testing.T, v view) {
		s := oneNode(t)
		p := newcomer(t, s, v)
		p.enter("general")
		c := s.client(owner)
		for _, text := range []string{
			`<script>window.broken = 1</script>`,
			`<img src=x onerror="window.broken = 1"><b>bold</b>`,
			`<svg/onload=window.broken=1> <a href="javascript:window.broken=1">here</a>`,
			`javascript:window.broken=1 data:text/html,<script>window.broken=1</script>`,
			`[link](javascript:window.broken=1) {{constructor.constructor('window.broken=1')()}} ${window.broken=1}`,
			`https://a.example/"onmouseover="window.broken=1 https://b.example/'><script>window.broken=1</script>`,
			"\u202eevil\u202c \u2066isolated\u2069 a\u0000b",
		} {
			text = strings.ReplaceAll(text, "\u0000", "")
			c.send(general, text)
			p.hears(text)
		}
		c.send(general, `&lt;i&gt; &amp;`) // which are characters in Markdown
		p.hears(`<i> &`)
		if strange := eval[[]string](p, `[...document.querySelectorAll('.prose *')].filter((e) => !e.closest('.meta') && !e.matches('a, div.formatted, .formatted > p') || [...e.attributes].some((a) => a.name.startsWith('on'))).map((e) => e.outerHTML)`); len(strange) > 0 {
			t.Errorf("messages made elements: %q", strange)
		}
		if links := eval[[]string](p, `[...document.querySelectorAll('.prose a')].map((a) => a.protocol).filter((p) => !/^https?:$/.test(p))`); len(links) > 0 {
			t.Errorf("messages made links of %q", links)
		}
		m := c.send(general, `<h1 onclick="window.broken=1">Title</h1>`)
		p.details(m)
		p.visit("/ui/")
		p.sees(`<h1 onclick="window.broken=1">Title</h1>`)
		if eval[bool](p, `'broken' in window`) {
			t.Error("a message ran code")
		}
	})
}

// TestRightToLeft: what is written from right to left stands so, beside what isn't.
func TestRightToLeft(t *testing.T) {
	onScreen(t, phone, func(t *testing.T, v view) {
		s := oneNode(t)
		p := newcomer(t, s, v)
		p.enter("general")
		for text, want := range map[string]string{"שלום לכולם": "rtl", "مرحبا بالجميع 123": "rtl", "hello all": "ltr", "123 שלום": "rtl"} {
			p.say("general", text)
			p.hears(text)
			got := eval[string](p, apply(`(text) => getComputedStyle([...document.querySelectorAll('.bubble .prose')].find((e) => e.textContent.startsWith(text))).direction`, text))
			if got != want {
				t.Errorf("%q runs %s", text, got)
			}
		}
		p.focus("textbox", "Message to general")
		p.write("שלום")
		if got := eval[string](p, `getComputedStyle(document.querySelector('textarea')).direction`); got != "rtl" {
			t.Errorf("the field runs %s", got)
		}
		eval[chromedp.Void](p, `void (document.documentElement.dir = 'rtl')`)
		p.fits("a room from right to left")
		p.shot("right-to-left")
	})
}

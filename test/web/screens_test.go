package web

import "testing"

// TestScreens looks at every screen, light and dark: nothing of it is cut off, the
// accessibility engine finds nothing serious, and a picture is kept.
func TestScreens(t *testing.T) {
	needAxe(t)
	for _, v := range views {
		t.Run(v.name, func(t *testing.T) {
			s := oneNode(t)
			p := newPerson(t, s, v, "Ana")
			p.visit("/ui/")
			p.find("heading", "Sign in to UBL")
			p.examine("sign-in")
			p.follow(s.link(), "Sign in")
			p.visit("/ui/more")
			p.find("heading", "More")
			p.examine("more")
		})
	}
}

// examine checks and keeps a screen in both themes.
func (p *person) examine(name string) {
	p.t.Helper()
	p.fits(name)
	p.accessible(name)
	p.shot(name)
	p.prefers("prefers-color-scheme", "dark")
	p.accessible(name+" in the dark", "color-contrast") // the rest is the same
	p.shot(name + "-dark")
	p.prefers("prefers-color-scheme", "light")
}

// fits wants the page not to be wider than the screen.
func (p *person) fits(name string) {
	p.t.Helper()
	wide := eval[[]string](p, `[...document.querySelectorAll('body *')].filter((e) => {
		const box = e.getBoundingClientRect();
		return box.width > 0 && (box.right > innerWidth + 1 || box.left < -1) && !e.closest('.hidden, .skip, pre, [data-wide]') && getComputedStyle(e).position !== 'fixed';
	}).slice(0, 3).map((e) => e.outerHTML.slice(0, 120))`)
	if scroll := eval[float64](p, `document.scrollingElement.scrollWidth - innerWidth`); scroll > 0 {
		p.t.Errorf("%s (%s) is %g pixels wider than the screen: %q", name, p.view.name, scroll, wide)
	}
}

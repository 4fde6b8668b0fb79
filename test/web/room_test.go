package web

import (
	"slices"
	"strings"
	"time"
)

// enter goes into a room from the list of rooms. What is new reorders the list, perhaps under the
// finger: who comes into another room goes back and tries again.
func (p *person) enter(name string) {
	p.t.Helper()
	for range 3 {
		p.visit("/ui/")
		p.press("link", name+"…")
		var opened control
		p.until("a room is open", func() (ok bool) { opened, ok = p.look("log", "Messages in …"); return ok })
		if opened.name == "Messages in "+name {
			return
		}
	}
	p.fail("the link to %q leads to another room", name)
}

// say writes into a room's field and sends it, as one does here: with the button on
// a phone, with Enter at a desk.
func (p *person) say(room, text string) {
	p.t.Helper()
	p.fill("Message to "+room, text)
	if p.view.touch {
		p.press("button", "Send")
	} else {
		p.key("\r")
	}
}

// bubble is a message as it shows in a room.
type bubble struct {
	Text    string
	Receipt string // "12", "" while it is on its way
	Mine    bool
}

const bubblesOf = `[...document.querySelectorAll('[role=log] [role=article]')].map((a) => {
	return {
		Text: a.querySelector('.prose, .gone').textContent,
		Receipt: (a.querySelector('button[aria-label^="Receipt"]')?.getAttribute('aria-label') ?? '').replace(/\D/g, ''),
		Mine: a.getAttribute('aria-label').startsWith('You, '),
	};
})`

// bubbles are the messages that are on the page, from top to bottom.
func (p *person) bubbles() []bubble { return eval[[]bubble](p, bubblesOf) }

// hears waits for a message that has its receipt, and wants it to be there once.
func (p *person) hears(text string) bubble {
	p.t.Helper()
	var found []bubble
	p.until("the message "+text+" shows once, with its receipt", func() bool {
		found = slices.DeleteFunc(p.bubbles(), func(b bubble) bool { return b.Text != text })
		return len(found) == 1 && found[0].Receipt != ""
	})
	return found[0]
}

// reads waits until the page shows the newest messages of a room as the server has
// them: each once, in order, with its receipt.
func (p *person) reads(c *client, room string) {
	p.t.Helper()
	var all []string
	for _, m := range c.history(room) {
		all = append(all, m.Body.Text)
	}
	p.until("the newest messages show in order", func() bool {
		var shown []string
		for _, b := range p.bubbles() {
			if b.Receipt == "" {
				return false
			}
			shown = append(shown, b.Text)
		}
		return len(shown) >= min(len(all), 5) && len(shown) <= len(all) && slices.Equal(shown, all[len(all)-len(shown):])
	})
}

// streams are how often the tab has opened a stream, and how often after an id.
func (p *person) streams() (all, resumed int) {
	for _, request := range p.watch.asked() {
		if strings.HasPrefix(request, "GET /api/events") && !strings.Contains(request, "only=typing") {
			all++
			if strings.Contains(request, " after ") {
				resumed++
			}
		}
	}
	return all, resumed
}

// every calls f at each beat until so much time has passed.
func every(beat, total time.Duration, f func(i int)) {
	ticks := time.NewTicker(beat)
	defer ticks.Stop()
	for i := range int(total / beat) {
		<-ticks.C
		f(i)
	}
}

package web

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/cdproto/emulation"
)

// marks are the lines between a room's messages, and the messages, from top to bottom.
func (p *person) marks() []string {
	p.t.Helper()
	return eval[[]string](p, `[...document.querySelectorAll('[role=log] :is(.day, .fresh, .system, .prose)')].map((e) => (e.matches('.day, .fresh') ? e.textContent : e.firstChild.textContent))`)
}

// read waits until everything counts as read.
func (p *person) read() {
	p.t.Helper()
	p.until("nothing is unread", func() bool {
		return eval[bool](p, `!document.querySelector('aside').textContent.includes('unread')`)
	})
}

// TestUnread: what one hasn't seen is counted in the list, has a line above it in the
// room, and is unread no more once it was seen there. Who reads further up is told what
// comes below.
func TestUnread(t *testing.T) {
	onScreen(t, phone, func(t *testing.T, v view) {
		s := oneNode(t)
		p, bo := newcomer(t, s, v), s.client("bo@harbour.example")
		p.enter("general")
		bo.send(general, "seen at once")
		p.hears("seen at once")
		p.read()
		p.visit("/ui/more")
		p.sees("Tool calls")
		for i := range 3 {
			bo.send(general, fmt.Sprintf("not seen yet %d", i))
		}
		p.visit("/ui/")
		p.until("the list says that three are unread", func() bool {
			links, err := p.controls("link")
			return err == nil && slices.ContainsFunc(links, func(c control) bool { return strings.Contains(c.name, " 3 unread ") })
		})
		p.press("link", "general…")
		p.hears("not seen yet 2")
		all := p.marks()
		if at := slices.Index(all, "New"); at < 0 || at+1 >= len(all) || all[at+1] != "not seen yet 0" {
			t.Errorf("the line above what is new isn't there, or elsewhere: %q", all)
		}
		p.read()
		p.visit("/ui/")
		p.find("link", "general…")
		p.misses("unread")

		for i := range 40 {
			bo.send(general, fmt.Sprintf("a long story %d", i))
		}
		p.press("link", "general…")
		p.press("button", "To the newest…")
		p.hears("a long story 39")
		p.read()
		eval[float64](p, `document.querySelector('[role=log]').scrollTop = 0`)
		p.find("button", "To the newest")
		bo.send(general, "down here")
		p.find("button", "To the newest, 1 unread")
		p.press("button", "To the newest, 1 unread")
		p.hears("down here")
		p.lacks("button", "To the newest…")
	})
}

// noon puts the browser where it is about noon now, so that no day ends meanwhile.
func (p *person) noon() *time.Location {
	p.t.Helper()
	west := time.Now().UTC().Hour() - 12
	call(p, emulation.SetTimezoneOverride, emulation.SetTimezoneOverrideParams{TimezoneID: fmt.Sprintf("Etc/GMT%+d", west)})
	return time.FixedZone("here", -west*3600)
}

// TestDays: messages of different days are parted by lines that say which.
func TestDays(t *testing.T) {
	onScreen(t, desktop, func(t *testing.T, v view) {
		s := oneNode(t)
		c := s.client(owner) // before anybody looks: what comes by the stream isn't tampered with
		for _, text := range []string{"the day before", "yesterday", "today", "today too"} {
			c.send(general, text)
		}
		var timeline struct {
			Entries []struct {
				RoomSeq int       `json:"room_seq"`
				Salt    string    `json:"salt"`
				SentAt  time.Time `json:"sent_at"`
			}
		}
		c.ask("GET", "/api/rooms/r:general/entries", nil, &timeline)
		var changes []string
		for i, daysAgo := range []int{2, 2, 1} { // the room's making, and the first two
			e := timeline.Entries[i]
			sent := func(at time.Time) string { // the entry's own: another may be of the same millisecond
				return fmt.Sprintf(`"room_seq":%d,"salt":%q,"sent_at":%q`, e.RoomSeq, e.Salt, at.Format("2006-01-02T15:04:05.000Z"))
			}
			changes = append(changes, sent(e.SentAt), sent(e.SentAt.AddDate(0, 0, -daysAgo)))
		}
		p := newcomer(t, s, v)
		here := p.noon()
		p.tamper("/api/rooms/r:general/entries", changes...)
		p.enter("general")
		p.hears("today too")
		before := time.Now().In(here).AddDate(0, 0, -2).Format("Monday, January 2")
		want := []string{before, "Room created: general", "the day before", "Yesterday", "yesterday", "Today", "today", "today too"}
		if got := p.marks(); !slices.Equal(got, want) {
			t.Errorf("the room shows %q, want %q", got, want)
		}
	})
}

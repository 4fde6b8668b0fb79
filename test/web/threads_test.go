package web

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/chromedp/chromedp/kb"
)

// article is the whole name of the message with that text.
func (p *person) article(text string) string {
	p.t.Helper()
	var name string
	p.until("the message "+text+" shows", func() bool {
		all, err := p.controls("article")
		for _, c := range all {
			if strings.HasSuffix(c.name, ": "+text) {
				name = c.name
			}
		}
		return err == nil && name != ""
	})
	return name
}

// chooses opens the menu of a message and takes what it offers.
func (p *person) chooses(text, item string) {
	p.t.Helper()
	p.offered(text)
	p.press("menuitem", item)
}

// offered is what the menu of a message offers, which stays open.
func (p *person) offered(text string) (items []string) {
	p.t.Helper()
	p.focus("article", p.article(text))
	p.key(kb.Enter)
	p.find("menuitem", "Details and receipt")
	all, err := p.controls("menuitem")
	must(p.t, err)
	for _, c := range all {
		items = append(items, c.name)
	}
	return items
}

// answers writes into the thread that is open.
func (p *person) answers(text string) {
	p.t.Helper()
	p.fill("Reply in this thread", text)
	p.sends()
}

// sends sends what is written, as one does here.
func (p *person) sends() {
	p.t.Helper()
	if p.view.touch {
		p.press("button", "Send")
	} else {
		p.key("\r")
	}
}

// drop drops a file on what was opened last: a thread, where one is open.
const drop = `(() => {
	const files = new DataTransfer();
	files.items.add(new File(['06:12'], 'tides.txt', { type: 'text/plain' }));
	const on = [...document.querySelectorAll('.room')].at(-1);
	for (const type of ['dragover', 'drop']) on.dispatchEvent(new DragEvent(type, { dataTransfer: files, bubbles: true, cancelable: true }));
	return true;
})()`

// TestThread: answers are messages like any. They say whom they mention, carry files, are reacted to,
// edited and deleted, have their receipt, and a link to one leads to it.
func TestThread(t *testing.T) {
	needAxe(t)
	onScreen(t, phone, func(t *testing.T, v view) {
		s := oneNode(t)
		c, ana := s.client(owner), newcomer(t, s, v)
		bo := s.client("bo@harbour.example")
		bo.named("Bo Lindqvist")
		root := c.send(general, "Who brings the flags?")
		first := bo.post(general, map[string]any{"type": "text", "body": map[string]string{"text": "I have **four** of them."}, "thread": root.MsgID})
		c.send(general, "Something else.")

		ana.enter("general")
		ana.press("button", "1 reply")
		ana.hears("I have four of them.")
		ana.details(first)

		ana.until("the field is whole", func() bool { return ana.has("button", "Add") })
		ana.focus("textbox", "Reply in this thread")
		ana.write("Thank you @bo")
		ana.find("option", "Bo Lindqvist…")
		ana.key(kb.Enter)
		ana.write("for these")
		eval[bool](ana, drop)
		ana.sees("tides.txt")
		ana.until("the file is up", func() bool { return ana.has("button", "Remove tides.txt") })
		ana.examine("thread-writing")
		ana.sends()
		ana.hears("Thank you @Bo Lindqvist for these")
		ana.find("link", "tides.txt…")

		ana.chooses("I have **four** of them.", "React")
		ana.press("button", "🎉")
		ana.find("button", "🎉, 1 person")
		ana.chooses("Thank you @Bo Lindqvist for these", "Edit")
		ana.fill("Reply in this thread", "Many thanks")
		if v.touch {
			ana.press("button", "Save")
		} else {
			ana.key("\r")
		}
		ana.hears("Many thanks")
		ana.answers("wrong place")
		ana.hears("wrong place")
		if offered := ana.offered("wrong place"); !slices.Contains(offered, "Copy link") || slices.Contains(offered, "Reply in thread") {
			t.Errorf("an answer offers %q", offered)
		}
		ana.examine("thread-menu")
		ana.press("menuitem", "Delete")
		ana.press("button", "Delete")
		ana.sees("deleted by you")
		ana.examine("thread")

		var thread struct {
			Entries []struct {
				ID          string     `json:"entry_id"`
				RoomSeq     int64      `json:"room_seq"`
				Reactions   []struct{} `json:"reactions"`
				Attachments []struct{} `json:"attachments"`
				Edited      *struct{}  `json:"edited"`
				Redacted    *struct{}  `json:"redacted"`
			} `json:"entries"`
		}
		c.ask("GET", "/api/rooms/"+general+"/entries/"+root.MsgID+"/thread", nil, &thread)
		if e := thread.Entries; len(e) != 3 || len(e[0].Reactions) != 1 || len(e[1].Attachments) != 1 || e[1].Edited == nil || e[2].Redacted == nil {
			t.Fatalf("the thread has %+v", thread.Entries)
		}

		at := fmt.Sprintf("/ui/rooms/%s/thread/%s", general, root.MsgID)
		ana.visit(fmt.Sprintf("/ui/rooms/%s?at=%d", general, thread.Entries[0].RoomSeq))
		ana.arrives(at)
		ana.until("the focus is on the answer", func() bool { return strings.HasSuffix(ana.focused(), "I have **four** of them.") })
	})
}

// TestThreadDraft: what is written in a thread waits there, apart from what is written in the room.
func TestThreadDraft(t *testing.T) {
	t.Parallel()
	s := oneNode(t)
	root := s.client(owner).send(general, "Who brings the flags?")
	p := newcomer(t, s, desktop)
	p.visit("/ui/rooms/" + general + "/thread/" + root.MsgID)
	p.fill("Message to general", "to all")
	p.fill("Reply in this thread", "to some")
	p.reload()
	for field, want := range map[string]string{"Message to general": "to all", "Reply in this thread": "to some"} {
		p.until(fmt.Sprintf("%q says %q", field, want), func() bool {
			c, ok := p.look("textbox", field)
			if !ok {
				return false
			}
			said, err := on[string](p, c, `function() { return this.value; }`)
			return err == nil && said == want
		})
	}
	p.focus("textbox", "Reply in this thread")
	p.key("\r")
	p.hears("to some")
}

package web

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/chromedp/chromedp/kb"
)

// TestFormattedMessage: what people and agents write in Markdown looks as meant, with code in
// colours; what strangers write to do harm is text.
func TestFormattedMessage(t *testing.T) {
	needAxe(t)
	onScreen(t, desktop, func(t *testing.T, v view) {
		s := oneNode(t)
		c := s.client(owner)
		ana := newcomer(t, s, v)
		c.send(general, strings.Join([]string{
			"# Plan", "Some **bold** and *slanted* words, `code` and [a page](https://example.com/x).", "", "- [x] done", "- [ ] open", "",
			"```go", "func main() { return \"x\" } // \u202e note", "```", "", "| a | b |", "|---|--:|", "| 1 | 2 |", "", "> said before",
		}, "\n"))
		c.send(general, strings.Join([]string{
			"<script>window.hurt = 1</script><img src=x onerror='window.hurt = 1'>", "[x](javascript:window.hurt=1)", "![picture](https://elsewhere.example/track.png)",
			"[https://bank.example](https://evil.example/)",
		}, "\n\n"))
		c.send(general, strings.Repeat("> ", 50)+"deep")
		ana.enter("general")
		ana.until("the message is formatted", func() bool {
			return eval[string](ana, `['strong', 'em', 'a[href="https://example.com/x"]', 'pre .hljs-string', '.unseen', 'td.right', 'blockquote', 'input[type=checkbox]:checked', '[role=heading]']
				.filter((is) => !document.querySelector('.formatted ' + is)).join()`) == ""
		})
		ana.sees("<script>", "(evil.example)", "> > deep")
		if made := eval[string](ana, `[window.hurt, document.querySelectorAll('[role=log] :is(img, script, a[href^="javascript"])').length].join()`); made != ",0" {
			t.Errorf("a message made %s of itself", made)
		}
		if far := eval[string](ana, `[...document.querySelectorAll('.formatted a')].filter((a) => a.rel !== 'noopener noreferrer').map((a) => a.href).join()`); far != "" {
			t.Errorf("links let the other page know this one: %s", far)
		}
		ana.examine("room-formatted")
	})
}

// TestTicks: a task of a document is ticked where one reads it, and each tick is a version.
func TestTicks(t *testing.T) {
	s := oneNode(t)
	c := s.client(owner)
	var made struct {
		Document struct {
			ID string `json:"document_id"`
		} `json:"document"`
	}
	c.ask("POST", "/api/workspaces/w:general/documents", map[string]string{"title": "List", "content": "Buy:\n\n- [ ] milk\n- [ ] bread\n"}, &made)
	ana := newcomer(t, s, desktop)
	ana.visit("/ui/workspaces/w:general/" + made.Document.ID)
	ana.press("checkbox", "milk")
	ana.press("checkbox", "bread")
	ana.sees("Version 3")
	var now struct {
		Document struct {
			Content string `json:"content"`
		} `json:"document"`
	}
	c.ask("GET", "/api/workspaces/w:general/documents/"+made.Document.ID, nil, &now)
	if want := "Buy:\n\n- [x] milk\n- [x] bread\n"; now.Document.Content != want {
		t.Errorf("the document says %q, want %q", now.Document.Content, want)
	}
}

// TestMention: by keys alone somebody is chosen from the list, and the message says whom it
// is for.
func TestMention(t *testing.T) {
	s := oneNode(t)
	c := s.client(owner)
	ana, bob := newcomer(t, s, desktop), guest(t, s, desktop, "bob@elsewhere.example")
	bob.enter("general")
	ana.enter("general")
	ana.focus("textbox", "Message to general")
	ana.until("the composer is whole", func() bool { return ana.has("button", "Add") })
	ana.write("**Look** @bo")
	ana.find("option", "bob…")
	ana.key(kb.Enter)
	ana.write("at this")
	ana.key(kb.Enter)
	bob.until("the message marks whom it is for", func() bool {
		return eval[string](bob, `document.querySelector('[role=log] .mention.me')?.textContent ?? ''`) == "@bob"
	})
	var page struct {
		Messages []struct {
			Body struct {
				Text     string   `json:"text"`
				Mentions []string `json:"mentions"`
			} `json:"body"`
		} `json:"messages"`
	}
	c.ask("GET", "/api/rooms/"+general+"/history", nil, &page)
	said := page.Messages[len(page.Messages)-1].Body
	if said.Text != "**Look** @bob at this" || !slices.Equal(said.Mentions, []string{c.idOf("bob@elsewhere.example")}) {
		t.Errorf("the message is %+v", said)
	}

	ana.write("/nothing here")
	ana.key(kb.Enter)
	ana.find("dialog", "There is no command /nothing")
}

// TestRemind: one is reminded of a message by its menu, and the server knows when and what for.
func TestRemind(t *testing.T) {
	needAxe(t)
	onScreen(t, phone, func(t *testing.T, v view) {
		s := oneNode(t)
		c := s.client(owner)
		m := c.send(general, "High water at 18:40.")
		ana := newcomer(t, s, v)
		ana.enter("general")
		ana.hears("High water at 18:40.")
		ana.focus("article", "You…")
		ana.key(kb.Enter)
		ana.press("menuitem", "Remind me")
		ana.find("dialog", "Remind me")
		ana.choose("Tomorrow")
		ana.fill("What for (only you see it)", "Cast off")
		ana.examine("talk-remind")
		ana.press("button", "Remind me")
		ana.sees("You will be reminded")
		var me struct {
			Reminders []struct {
				MsgID string `json:"msg_id"`
				Note  string `json:"note"`
			} `json:"reminders"`
		}
		c.ask("GET", "/api/me/notifications", nil, &me)
		if len(me.Reminders) != 1 || me.Reminders[0].MsgID != m.MsgID || me.Reminders[0].Note != "Cast off" {
			t.Errorf("the reminders are %+v", me.Reminders)
		}
	})
}

// draw drops files on the conversation: a picture, and bytes of a length.
const draw = `(async (length) => {
	const canvas = Object.assign(document.createElement('canvas'), { width: 800, height: 600 });
	canvas.getContext('2d').fillRect(100, 100, 300, 300);
	const picture = await new Promise((done) => canvas.toBlob(done, 'image/png'));
	const files = new DataTransfer();
	files.items.add(new File([picture], 'square.png', { type: 'image/png' }));
	files.items.add(new File([new Uint8Array(length).map((_, i) => i * 7 + (i >> 9))], 'data.bin'));
	const room = document.querySelector('.room');
	for (const type of ['dragover', 'drop']) room.dispatchEvent(new DragEvent(type, { dataTransfer: files, bubbles: true, cancelable: true }));
	return true;
})(%d)`

// TestFilesGoUp: files are dragged into a room and sent. The line is cut meanwhile and the page
// loaded anew; they arrive whole, once, and are shown and opened.
func TestFilesGoUp(t *testing.T) {
	needAxe(t)
	onScreen(t, phone, func(t *testing.T, v view) {
		s := behindFront(t)
		c := s.direct().client(owner)
		ana := newcomer(t, s, v)
		ana.enter("general")
		ana.installed()
		ana.until("the composer is whole", func() bool { return ana.has("button", "Add") })
		const length = 6 << 20
		s.front.cut()
		eval[bool](ana, fmt.Sprintf(draw, length))
		ana.sees("square.png", "data.bin")
		ana.fill("Message to general", "two files")
		ana.reload()
		ana.sees("square.png", "data.bin")
		ana.press("button", "Send")
		ana.sees("two files")
		s.front.mend()
		ana.hears("two files")

		var page struct {
			Messages []struct {
				Attachments []struct {
					Name  string `json:"name"`
					Bytes int64  `json:"bytes"`
					Type  string `json:"content_type"`
				} `json:"attachments"`
			} `json:"messages"`
		}
		c.ask("GET", "/api/rooms/"+general+"/history", nil, &page)
		files := page.Messages[len(page.Messages)-1].Attachments
		if len(files) != 2 || files[0].Name != "square.png" || files[0].Type != "image/png" || files[1].Name != "data.bin" || files[1].Bytes != length {
			t.Errorf("the message carries %+v", files)
		}
		ana.find("link", "data.bin…")
		ana.until("the picture has come into the room that was kept for it", func() bool {
			return eval[bool](ana, `(() => { const i = document.querySelector('.picture img'); return i?.complete && i.naturalWidth > 0 && i.width > 200 && Math.abs(i.width / i.height - 4 / 3) < 0.01 })()`)
		})
		ana.press("button", "Open square.png")
		ana.find("dialog", "square.png")
		ana.examine("room-picture")
		ana.key("z")
		ana.find("button", "Zoom out")
		ana.key(kb.Escape)
		ana.lacks("dialog", "square.png")
		ana.examine("room-files")
		if left := eval[int](ana, `document.querySelectorAll('.strip .file').length`); left != 0 {
			t.Errorf("%d files are still in the field", left)
		}
	})
}

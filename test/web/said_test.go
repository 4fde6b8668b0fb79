package web

import (
	"bytes"
	"fmt"
	"image"
	"image/color"
	"image/png"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/chromedp/chromedp/kb"
)

// slipway is a room in which everything was said that a message can say.
const slipway = "r:slipway"

// upload brings a file up for a message of a room, and answers what the message names it by.
func (c *client) upload(room, name string, content []byte) string {
	c.t.Helper()
	var begun struct {
		Upload struct {
			ID string `json:"upload_id"`
		}
	}
	c.ask("POST", "/api/rooms/"+room+"/uploads", map[string]any{"name": name, "bytes": len(content)}, &begun)
	req, err := http.NewRequestWithContext(c.t.Context(), http.MethodPatch, c.url+"/api/uploads/"+begun.Upload.ID, bytes.NewReader(content))
	must(c.t, err)
	req.Header.Set("Authorization", "Bearer "+c.token)
	req.Header.Set("Content-Type", "application/partial-upload")
	req.Header.Set("Upload-Offset", "0")
	resp, err := c.http.Do(req)
	must(c.t, err)
	defer resp.Body.Close()
	if said, _ := io.ReadAll(resp.Body); resp.StatusCode/100 != 2 {
		c.t.Fatalf("the file is answered %d %s", resp.StatusCode, said)
	}
	return begun.Upload.ID
}

// harbour is a picture of the sea below the sky.
func harbour(width, height int) []byte {
	img := image.NewRGBA(image.Rect(0, 0, width, height))
	for y := range height {
		for x := range width {
			at := color.RGBA{uint8(120 + 80*y/height), uint8(170 + 40*y/height), 220, 255}
			if y > height*3/5 {
				at = color.RGBA{20, uint8(90 + 40*((x/9+y/5)%3)/2), 110, 255}
			}
			img.Set(x, y, at)
		}
	}
	var out bytes.Buffer
	if err := png.Encode(&out, img); err != nil {
		panic(err) // no picture of ours is refused
	}
	return out.Bytes()
}

// talkOf furnishes the slipway's room, and answers the message that began its thread.
func talkOf(t *testing.T, s *server) message {
	t.Helper()
	c, bo := s.client(owner), s.client("bo@harbour.example")
	c.named("Ana Ortiz")
	bo.named("Bo Lindqvist")
	agent := s.agent(owner, "harbourmaster")
	self, _ := use(t, agent, "user.whoami", nil)["identity"].(map[string]any)
	c.ask("POST", "/api/rooms", map[string]string{"name": "Slipway"}, nil)
	c.ask("PATCH", "/api/rooms/"+slipway+"/about", map[string]string{"topic": "The launch of the Albatross"}, nil)
	for _, member := range []any{c.idOf("bo@harbour.example"), self["user_id"]} {
		c.ask("POST", "/api/rooms/"+slipway+"/members", map[string]any{"user_id": member}, nil)
	}
	text := func(said string) map[string]any {
		return map[string]any{"content_type": "application/vnd.ubl.text+json", "json": map[string]any{"text": said}}
	}
	entries := "/api/rooms/" + slipway + "/entries/"

	plan := c.send(slipway, "## Launch on Tuesday\nHigh water is at **06:12** and **18:40**. Before that:\n\n- [x] concrete dry\n- [x] pilot booked\n- [ ] moorings greased")
	bo.send(slipway, "The winch is set by this:\n\n```go\nfunc pull(t Tide) (Force, error) {\n\tif t.Falling() {\n\t\treturn 0, errLate // wait for the next\n\t}\n\treturn Force(12.5 * t.Height()), nil\n}\n```")
	use(t, agent, "messenger.send", map[string]any{"room_id": slipway, "body": map[string]any{"text": "Berths of this week:\n\n| berth | ship | until |\n|---|---|--:|\n| 4 | free | |\n| 5 | Albatross | Thursday |\n| 6 | *Marie II* | 14 June |"}})
	photo := bo.post(slipway, map[string]any{"type": "text", "body": map[string]string{"text": "This morning, from the pier."}, "attachments": []string{bo.upload(slipway, "pier.png", harbour(900, 600))}})
	bo.post(slipway, map[string]any{"type": "text", "body": map[string]string{"text": ""}, "attachments": []string{
		bo.upload(slipway, "tides-2026.csv", []byte(strings.Repeat("06:12,18:40\n", 900))), bo.upload(slipway, "harbour.png", harbour(500, 500))}})
	for _, key := range []string{"🎉", "👍"} {
		c.ask("POST", entries+photo.MsgID+"/reactions", map[string]any{"reaction": key}, nil)
	}
	bo.ask("POST", entries+photo.MsgID+"/reactions", map[string]any{"reaction": "👍"}, nil)
	wrong := bo.send(slipway, "The Marie is in berth 7.")
	bo.ask("POST", entries+wrong.MsgID+"/edits", map[string]any{"body": text("The Marie is in berth 6.")}, nil)
	gone := c.send(slipway, "Where is she?")
	c.ask("POST", entries+gone.MsgID+"/redaction", map[string]any{}, nil)
	ask := bo.post(slipway, map[string]any{"type": "text", "body": map[string]any{"text": "@Ana Ortiz who brings the flags?", "mentions": []string{c.idOf(owner)}}})
	for i, answer := range []string{"I have four of them, the large ones are at the sailmaker.", "Then I fetch those on Monday.", "**Thank you**, both of you. I bring the ladder."} {
		[]*client{c, bo, c}[i].post(slipway, map[string]any{"type": "text", "body": map[string]string{"text": answer}, "thread": ask.MsgID})
	}
	c.ask("POST", entries+plan.MsgID+"/pin", map[string]any{"pinned": true}, nil)
	c.reply(slipway, photo.MsgID, "Beautiful. We put it on the invitation.")
	c.send(slipway, "See you on the slipway!")
	return ask
}

// scrolls brings the messages to where the expression says.
func (p *person) scrolls(to string) {
	p.t.Helper()
	p.until("the messages are there", func() bool { return eval[bool](p, `document.querySelector('[role=log] [role=article]') !== null`) })
	eval[bool](p, `(() => { const list = document.querySelector('[role=log]'); list.scrollTop = `+to+`; return true; })()`)
	p.rests()
}

// TestScreensOfTalk looks at a conversation: everything that a message can be, a thread beside
// it, the menu of a message, and the field with its toolbar and with files on their way.
func TestScreensOfTalk(t *testing.T) {
	needAxe(t)
	onScreen(t, phone, func(t *testing.T, v view) {
		s := behindFront(t)
		p := newcomer(t, s, v)
		ask := talkOf(t, s.direct())
		p.visit("/ui/rooms/" + slipway)
		p.scrolls("0")
		p.sees("pilot booked")
		p.until("texts are formatted", func() bool { return eval[bool](p, `document.querySelector('.formatted') !== null`) })
		p.until("the composer is whole", func() bool { return p.has("button", "Add") })
		p.examine("talk")
		p.scrolls("list.scrollHeight")
		p.hears("See you on the slipway!")
		p.until("the picture is there", func() bool {
			return eval[bool](p, `[...document.querySelectorAll('.picture img')].every((i) => i.complete && i.naturalWidth > 0)`)
		})
		p.examine("talk-end")
		p.scrolls("list.scrollTop - 420")
		p.examine("talk-middle")

		p.visit("/ui/rooms/" + slipway)
		p.scrolls("list.scrollHeight")
		p.hears("See you on the slipway!")
		p.focus("article", "You…")
		p.key(kb.Enter)
		p.find("menuitem", "Edit")
		p.examine("talk-menu")
		p.press("menuitem", "Edit")
		p.find("button", "Stop editing")
		p.examine("talk-editing")
		p.press("button", "Stop editing")
		p.press("button", "Add")
		p.press("menuitem", "Show formatting")
		s.front.cut()
		eval[bool](p, fmt.Sprintf(draw, 3<<20))
		p.sees("square.png", "data.bin")
		p.fill("Message to Slipway", "The launch, **from above**:")
		p.examine("talk-composer")
		s.front.mend()
		p.visit("/ui/rooms/" + slipway + "/thread/" + ask.MsgID)
		p.sees("I bring the ladder.")
		p.examine("talk-thread")

		p.visit("/ui/settings")
		p.speak("العربية")
		p.visit("/ui/rooms/" + slipway)
		p.scrolls("list.scrollHeight")
		p.sees("See you on the slipway!")
		p.examine("talk-ar")
		p.moves("/ui/rooms/" + slipway + "/thread/" + ask.MsgID)
		p.sees("I bring the ladder.")
		p.examine("talk-thread-ar")
	})
}

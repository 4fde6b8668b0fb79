package web

import (
	"fmt"
	"strings"
	"testing"

	permissions "github.com/chromedp/cdproto/browser"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
)

// microphone says whether the browser lets pages hear the person.
func (p *person) microphone(setting permissions.PermissionSetting) { p.allows("microphone", setting) }

// allows says whether the browser lets pages use a device.
func (p *person) allows(device string, setting permissions.PermissionSetting) {
	p.t.Helper()
	call(p, permissions.SetPermission, permissions.SetPermissionParams{
		Permission: &permissions.PermissionDescriptor{Name: device}, Setting: setting, BrowserContextID: chromedp.FromContext(p.ctx).BrowserContextID,
	})
}

// attachment is a file of a message.
type attachment struct {
	Name  string `json:"name"`
	Bytes int64  `json:"bytes"`
	Type  string `json:"content_type"`
}

// attachments lists the files of the newest message in a room.
func (c *client) attachments(room string) []attachment {
	c.t.Helper()
	var page struct {
		Messages []struct {
			Attachments []attachment `json:"attachments"`
		} `json:"messages"`
	}
	c.ask("GET", "/api/rooms/"+room+"/history", nil, &page)
	return page.Messages[len(page.Messages)-1].Attachments
}

// TestVoiceNote: one's voice is recorded, thrown away or sent, and played to others as sound. Where the
// browser doesn't let the page hear, it says so and what to do.
func TestVoiceNote(t *testing.T) {
	needAxe(t)
	onScreen(t, phone, func(t *testing.T, v view) {
		s := oneNode(t)
		c := s.client(owner)
		ana := newcomer(t, s, v)
		ana.enter("general")
		ana.microphone(permissions.PermissionSettingDenied)
		ana.press("button", "Record a voice note")
		ana.sees("The browser doesn’t let this page hear you")
		ana.examine("voice-refused")
		ana.press("button", "Dismiss")

		ana.microphone(permissions.PermissionSettingGranted)
		ana.press("button", "Record a voice note")
		ana.find("timer", "…")
		ana.until("the bar has the focus", func() bool { return eval[bool](ana, `document.activeElement.innerText === 'Attach'`) })
		ana.key(kb.Escape)
		ana.lacks("timer", "…")
		ana.press("button", "Record a voice note")
		ana.until("it has recorded for a second", func() bool {
			return eval[bool](ana, `/^0:0[1-9]$/.test(document.querySelector('[role=timer]')?.textContent ?? '')`)
		})
		ana.examine("voice-recording")
		ana.press("button", "Attach")
		ana.sees("is ready to send", "Voice note")
		ana.lacks("button", "Record a voice note")
		ana.examine("voice-attached")
		ana.press("button", "Send")
		ana.until("it can be played", func() bool {
			return eval[bool](ana, `(() => { const a = document.querySelector('[role=log] audio'); return (a?.readyState ?? 0) > 0 && !a.error })()`)
		})
		ana.examine("voice-sent")
		files := c.attachments(general)
		if len(files) != 1 || files[0].Type != "audio/webm" || !strings.HasPrefix(files[0].Name, "Voice note 20") || !strings.HasSuffix(files[0].Name, ".webm") {
			t.Errorf("the message carries %+v", files)
		}
	})
}

// put takes up files where an element is found, by an event of a kind, as the browser does.
const put = `(() => {
	const files = new DataTransfer();
	files.items.add(new File(['%[1]s'], '%[1]s.txt'));
	const at = document.querySelector(%[2]q);
	if (at.type === 'file') { at.files = files.files; at.dispatchEvent(new Event('change', { bubbles: true })); return at.accept + ' ' + (at.getAttribute('capture') ?? '') }
	const event = %[3]q === 'paste' ? new ClipboardEvent('paste', { clipboardData: files, bubbles: true, cancelable: true }) : new DragEvent(%[3]q, { dataTransfer: files, bubbles: true, cancelable: true });
	at.dispatchEvent(event);
	return String(event.defaultPrevented);
})()`

// TestFilesComeAllWays: they are dropped, pasted, chosen and taken by the camera, and go in one message. What is
// pasted as text stays text, and who drags a file over the room sees where it goes.
func TestFilesComeAllWays(t *testing.T) {
	s := oneNode(t)
	c := s.client(owner)
	ana := newcomer(t, s, phone)
	ana.enter("general")
	ana.until("the composer is whole", func() bool { return ana.has("button", "Add") })
	comes := func(name, at, event, want string) {
		t.Helper()
		if got := eval[string](ana, fmt.Sprintf(put, name, at, event)); got != want {
			t.Errorf("%s on %s is answered %q, want %q", event, at, got, want)
		}
	}
	comes("nothing", ".room", "dragover", "true")
	if over := eval[string](ana, `getComputedStyle(document.querySelector('.room'), '::after').content`); !strings.Contains(over, "Drop files to attach them") {
		t.Errorf("over the room stands %s", over)
	}
	comes("dropped", ".room", "drop", "true")
	comes("pasted", ".composer textarea", "paste", "true")
	comes("taken", ".composer input[capture]", "change", "image/* environment")
	comes("chosen", ".composer input[multiple]", "change", " ")
	ana.press("button", "Add")
	ana.find("menuitem", "Take a picture")
	ana.key(kb.Escape)
	ana.sees("dropped.txt", "pasted.txt", "taken.txt", "chosen.txt")
	if text := eval[bool](ana, `(() => {
		const words = new DataTransfer();
		words.setData('text/plain', 'words');
		const event = new ClipboardEvent('paste', { clipboardData: words, bubbles: true, cancelable: true });
		document.querySelector('.composer textarea').dispatchEvent(event);
		return event.defaultPrevented || document.querySelector('.room.dropping') !== null;
	})()`); text {
		t.Error("words that are pasted are taken for a file, or the room still waits for a drop")
	}
	ana.fill("Message to general", "four files")
	ana.press("button", "Send")
	ana.hears("four files")
	var names []string
	for _, f := range c.attachments(general) {
		names = append(names, f.Name)
	}
	if got := strings.Join(names, " "); got != "dropped.txt pasted.txt taken.txt chosen.txt" {
		t.Errorf("the message carries %s", got)
	}
}

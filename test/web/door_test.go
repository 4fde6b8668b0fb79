package web

import (
	"strings"
	"testing"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/chromedp/kb"
)

// TestPasteLink: an app on a home screen, which can't open what a mail links to, takes the
// link by hand; nothing but links of this server lead anywhere.
func TestPasteLink(t *testing.T) {
	onScreen(t, phone, func(t *testing.T, v view) {
		s := oneNode(t)
		p := newPerson(t, s, v, "Ana")
		p.visit("/ui/")
		for wrong, said := range map[string]string{
			"https://elsewhere.example/signin/1": "another address",
			"javascript:alert(1)":                "isn’t a link",
			"garbage":                            "neither a sign-in link nor an invitation",
			s.url + "/auth/signout":              "neither a sign-in link nor an invitation",
		} {
			p.fill("Your link", wrong)
			p.press("button", "Open")
			p.sees(said)
			if at := p.at(); at != "/ui/" {
				t.Errorf("it leads to %s", at)
			}
		}
		p.fill("Your link", " "+s.link())
		p.press("button", "Open")
		p.press("button", "Sign in")
		p.arrives("/ui/")
		p.skipsWelcome()
		p.find("link", "general…")
	})
}

// TestReceiptHint: behind one's first message it is said what the mark is, until one has
// seen it, and not again.
func TestReceiptHint(t *testing.T) {
	const hint = "your message’s receipt"
	onScreen(t, desktop, func(t *testing.T, v view) {
		s := oneNode(t)
		p := newcomer(t, s, v)
		p.enter("general")
		if strings.Contains(p.text(), hint) {
			t.Error("it is there before any message")
		}
		p.say("general", "hello")
		p.sees(hint)
		if v.touch {
			p.press("button", "Got it")
		} else {
			p.press("button", "Receipt…")
			p.press("button", "Close")
		}
		p.misses(hint)
		p.say("general", "hello again")
		p.hears("hello again")
		p.reload()
		p.hears("hello again")
		if strings.Contains(p.text(), hint) {
			t.Error("it is said again")
		}
	})
}

// TestGoToRepliedByKeyboard: what a message replies to is reached without pointing, and
// has the focus then.
func TestGoToRepliedByKeyboard(t *testing.T) {
	s := oneNode(t)
	c := s.client(owner)
	first := c.send(general, "Who looks after the moorings?")
	for range 60 {
		c.send(general, "I don't know")
	}
	c.reply(general, first.MsgID, "I do")
	p := newcomer(t, s, desktop)
	p.enter("general")
	p.hears("I do")
	p.focus("textbox", "Message to general")
	p.toMessages()
	p.focuses("article You…")
	p.key(kb.Enter)
	p.focuses("menuitem Reply")
	p.key(kb.ArrowDown)
	p.focuses("menuitem Go to what it replies to")
	p.key(kb.Enter)
	p.until("the focus is on the message", func() bool { return strings.HasSuffix(p.focused(), "Who looks after the moorings?") })
	p.outlined()
}

// TestSilenceAtTheDoor: what a screen reader was told in a room isn't on the page of those
// who have to sign in.
func TestSilenceAtTheDoor(t *testing.T) {
	s := oneNode(t)
	p := newcomer(t, s, phone)
	bo := s.client("bo@harbour.example")
	bo.send(general, "hello") // which brings bo into the room
	p.enter("general")
	p.hears("hello")
	bo.send(general, "for members only")
	told := func() bool {
		return strings.Contains(eval[string](p, `document.querySelector('[aria-label="New messages"]').textContent`), "for members only")
	}
	p.until("it is told", told)
	call(p, network.ClearBrowserCookies, cdp.Empty{}) // as if the session had expired
	p.say("general", "Am I still in?")
	p.find("heading", "Sign in to UBL")
	if told() {
		t.Error("it is on the page that asks to sign in")
	}
}

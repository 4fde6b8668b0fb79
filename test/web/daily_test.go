package web

import (
	"strings"
	"testing"
)

// TestDaily: what people use each day: one sees who is writing and who has read, sends later and
// finds that again, and comes to what is pinned.
func TestDaily(t *testing.T) {
	needAxe(t)
	s := oneNode(t)
	c := s.client(owner)
	ana, bob := newcomer(t, s, desktop), guest(t, s, phone, "bob@elsewhere.example")
	bob.enter("general")
	ana.enter("general")
	ana.until("the composer is whole", func() bool { return ana.has("button", "Add") })
	bob.until("the composer is whole", func() bool { return bob.has("button", "Add") })

	below := func() float64 {
		return eval[float64](ana, `document.querySelector('.timeline').getBoundingClientRect().bottom`)
	}
	before := below()
	bob.focus("textbox", "Message to general")
	bob.write("On my way")
	ana.sees("is writing…")
	if now := below(); now != before {
		t.Errorf("the timeline ended at %v, and ends at %v where somebody writes", before, now)
	}
	bob.misses("is writing…") // it isn't for oneself
	bob.press("button", "Send")
	ana.hears("On my way")
	ana.misses("is writing…")

	ana.say("general", "Thanks")
	bob.hears("Thanks")
	ana.sees("Read")
	ana.examine("talk-read")
	ana.focus("article", "You, …")
	ana.key("\r")
	ana.press("menuitem", "Read by")
	ana.find("dialog", "Read by")
	ana.sees("bob")
	ana.examine("talk-readers")
	ana.press("button", "Close")

	ana.fill("Message to general", "Good morning")
	ana.press("button", "Send later")
	ana.press("menuitem", "Another time…")
	ana.find("dialog", "Send later")
	ana.pick("Repeat", "weekdays")
	ana.examine("talk-later")
	ana.press("button", "Schedule")
	ana.sees("It will be sent")
	ana.visit("/ui/scheduled")
	ana.sees("Good morning", "Monday to Friday")
	ana.examine("scheduled")
	ana.press("button", "Change")
	ana.fill("Message", "Good evening")
	ana.press("button", "Save")
	ana.sees("Good evening")
	var list struct {
		Scheduled []struct{ Text, Rule string }
	}
	c.ask("GET", "/api/me/scheduled", nil, &list)
	if len(list.Scheduled) != 1 || list.Scheduled[0].Text != "Good evening" || !strings.HasPrefix(list.Scheduled[0].Rule, "FREQ=WEEKLY;BYDAY=MO") {
		t.Errorf("scheduled is %+v", list.Scheduled)
	}
	ana.press("button", "Cancel message")
	ana.find("dialog", "Cancel this message?")
	eval[bool](ana, `(document.querySelector('dialog[open] button.danger').click(), true)`)
	ana.sees("Nothing is scheduled")

	m := c.send(general, "The harbour's rules")
	c.ask("POST", "/api/rooms/"+general+"/entries/"+m.MsgID+"/pin", map[string]bool{"pinned": true}, nil)
	ana.visit("/ui/rooms/" + general + "/members")
	ana.sees("Pinned")
	// It is marked for a moment only, so the page itself notes that.
	eval[bool](ana, `(new MutationObserver(() => (window.marked ||= document.querySelector('.message.lit') !== null)).observe(document.body, {subtree: true, childList: true, attributes: true}), true)`)
	ana.press("link", "The harbour's rules…")
	ana.until("the message is marked", func() bool { return eval[bool](ana, `window.marked === true`) })
}

package e2e

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"ubl/test/poll"
)

// bridging is a server, an IRC server, a bridge between them, and somebody on either side.
type bridging struct {
	t      *testing.T
	node   *node
	irc    *ircd
	door   *door
	bridge *bridged
	ana    *client
	bob    *chatter
}

func newBridging(t *testing.T) *bridging {
	t.Helper()
	irc := newIRCD(t)
	n := newNode(t)
	w := &bridging{t: t, node: n, irc: irc, door: newDoor(t, irc.safe), ana: n.client(n.token("owner@localhost"))}
	must(t, w.ana.do(t.Context(), "GET", "/api/rooms", "", nil, nil)) // and so joins the tenant
	w.bridge = n.bridge("ubl", w.door.at, irc.ca)
	w.bob = irc.chats("bob")
	return w
}

// runs starts the bridge, and returns once it is in the channel.
func (w *bridging) runs() {
	w.t.Helper()
	before := w.bob.saw(":ubl!")
	w.bridge.start()
	poll.Until(w.t, "the bridge joins", func() bool { return w.bob.saw(":ubl!") > before })
}

// sends sends a message to the room.
func (w *bridging) sends(text_ string) (m message) {
	w.t.Helper()
	var answer struct{ Message message }
	must(w.t, w.ana.persist(w.t.Context(), "POST", "/api/rooms/general/messages", "", text(text_), &answer))
	return answer.Message
}

// texts are the room's messages.
func (w *bridging) texts() (out []string) {
	w.t.Helper()
	all, err := w.ana.history(w.t.Context(), "general")
	must(w.t, err)
	for _, m := range all {
		out = append(out, m.Body.Text)
	}
	return out
}

// reads waits until the room has a message.
func (w *bridging) reads(text string) {
	w.t.Helper()
	poll.Until(w.t, "the room has "+text, func() bool { return slices.Contains(w.texts(), text) })
}

// TestBridgePassesOn: what is said in the room is said on IRC and the other way round, corrected,
// taken away, with files, in several lines, and with nothing in it that does something.
func TestBridgePassesOn(t *testing.T) {
	w := newBridging(t)
	if said, err := w.bridge.check(); err != nil || !strings.Contains(said, "All is well") || w.bob.saw("PRIVMSG") > 0 {
		t.Fatalf("--check says %s, %v", said, err)
	}
	w.runs()

	m := w.sends("good morning\nand two lines")
	w.bob.waitFor("good morning")
	w.bob.waitFor("and two lines")
	must(t, w.ana.do(t.Context(), "POST", "/api/rooms/general/entries/"+m.MsgID+"/edits", "", map[string]string{"text": "good evening"}, nil))
	w.bob.waitFor("* corrected: good evening")
	must(t, w.ana.do(t.Context(), "POST", "/api/rooms/general/entries/"+m.MsgID+"/redaction", "", nil, nil))
	w.bob.waitFor("* removed a message of ")

	w.sends("a\r\nQUIT :gone\r\nPRIVMSG #ubl :\x01ACTION is not you\x01\u202egnihton")
	w.bob.waitFor("ACTION is not you")
	if heard := w.bob.heard(); !slices.Equal(heard[len(heard)-3:], []string{"a", "QUIT :gone", "PRIVMSG #ubl :ACTION is not yougnihton"}) {
		t.Errorf("bob hears %q", heard)
	}
	w.sends(strings.Repeat("häßlich ", 800))
	w.bob.waitFor("more lines: http://" + w.node.addr + "/ui/rooms/r:general?at=")
	for _, line := range w.bob.heard() {
		if len(line) > 512 || strings.ContainsRune(line, '\ufffd') {
			t.Errorf("a line of %d bytes: %q", len(line), line)
		}
	}

	w.bob.says("hello\x02\x0304,05 there\x0f, @room")
	w.reads("bob via irc: hello there, @room")
	w.bob.says("\x01ACTION waves\x01")
	w.reads("bob via irc: *waves*")
	w.bob.says("\x01VERSION\x01")
	w.bob.write("NOTICE #ubl :a program says\r\n")
	w.bob.says("caf\xe9")
	w.reads("bob via irc: café")
	w.bob.says(strings.Repeat("x", 10_000)) // which the server cuts, or throws bob out for
	eve := w.irc.chats("eve")
	eve.says("/poll what?")
	w.reads("eve via irc: /poll what?")
	for _, text := range w.texts() {
		if strings.Contains(text, "VERSION") || strings.Contains(text, "a program says") || strings.Contains(text, "ubl via irc") {
			t.Errorf("the room has %q", text)
		}
	}
	w.bridge.stop()
	eve.waitFor("QUIT")
}

// numbered are texts with a number each.
func numbered(what string, from, to int) (out []string) {
	for i := from; i < to; i++ {
		out = append(out, fmt.Sprintf("%s %d.", what, i))
	}
	return out
}

// TestBridgeOutlivesTrouble: the bridge is killed while it speaks, the IRC server goes and comes
// back, and so does ours. Each message comes in order and once; where the bridge died, the line
// that was under way may come twice.
func TestBridgeOutlivesTrouble(t *testing.T) {
	w := newBridging(t)
	w.runs()

	sent := numbered("before", 0, 40)
	var newest message
	for i, text := range sent {
		newest = w.sends(text)
		if i == 20 {
			w.bob.waitFor("before 3.")
			w.bridge.kill()
		}
	}
	w.runs()
	w.bob.waitFor(sent[39])
	heard := w.bob.heard()
	if twice := len(heard) - len(sent); twice > 1 {
		t.Errorf("%d lines came twice: %q", twice, heard)
	}
	if got := slices.Compact(heard); !slices.Equal(got, sent) {
		t.Errorf("bob hears %q", got)
	}

	// A line that a bystander hears is under way until the server has told the bridge so.
	poll.Until(t, "the bridge has written down that it said all", func() bool {
		return strings.Contains(w.bridge.kept(), fmt.Sprintf(`"room_seq":%d}`, newest.RoomSeq))
	})
	w.door.shut()
	w.irc.stop()
	while := numbered("while it is gone", 0, 5)
	for _, text := range while {
		w.sends(text)
	}
	w.irc.start()
	w.bob = w.irc.chats("bob") // before the bridge: IRC keeps nothing for who comes later
	w.door.unlock()
	w.bob.waitFor(while[4])
	if heard := w.bob.heard(); !slices.Equal(heard, while) {
		t.Errorf("bob hears %q", heard)
	}

	w.node.kill()
	w.bob.says("you are away")
	w.bob.says("so it is kept")
	poll.Until(t, "the bridge has written it down", func() bool { return strings.Contains(w.bridge.kept(), "so it is kept") })
	w.bridge.kill()
	w.node.start()
	w.runs()
	w.reads("bob via irc: so it is kept")
	w.bob.says("and on")
	w.reads("bob via irc: and on")
	all := w.texts()
	if got := all[len(all)-3:]; !slices.Equal(got, []string{"bob via irc: you are away", "bob via irc: so it is kept", "bob via irc: and on"}) {
		t.Errorf("the room ends with %q", got)
	}
}

// TestBridgesDontEcho: two bridges between the same room and channel say everything twice, and
// nothing of what they say to each other.
func TestBridgesDontEcho(t *testing.T) {
	w := newBridging(t)
	w.runs()
	other := w.node.bridge("second", w.door.at, w.irc.ca)
	other.start()
	w.bob.joins("second", 1)
	w.bob.says("from bob")
	w.sends("from ana")
	poll.Until(t, "both say it on IRC", func() bool { return w.bob.saw("from ana") == 2 })
	poll.Until(t, "both say it in the room", func() bool { return count(w.texts(), "from bob") == 2 })

	w.bob.says("the end, bob")
	w.sends("the end, ana")
	poll.Until(t, "the end on IRC", func() bool { return w.bob.saw("the end, ana") == 2 })
	poll.Until(t, "the end in the room", func() bool { return count(w.texts(), "the end, bob") == 2 })
	if n := count(w.texts(), " via irc: "); n != 4 || len(w.bob.heard()) != 4 {
		t.Errorf("they echo: %q; %q", w.texts(), w.bob.heard())
	}
}

func count(texts []string, part string) (n int) {
	for _, text := range texts {
		if strings.Contains(text, part) {
			n++
		}
	}
	return n
}

package web

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/fetch"
	"github.com/chromedp/chromedp"

	"ubl/test/poll"
	"ubl/test/soak"
)

// everywhere runs a main flow on a node alone, and in `make soak` with each screen and
// on three nodes.
func everywhere(t *testing.T, flow func(t *testing.T, start starter, v view)) {
	onScreen(t, phone, func(t *testing.T, v view) { flow(t, behindFront, v) })
	t.Run("three nodes", func(t *testing.T) {
		soak.Only(t, "TestNodesDie has three nodes, too")
		t.Parallel()
		flow(t, threeNodes, phone)
	})
}

// onScreen runs a test with one screen, and in `make soak` and where pictures are wanted with the
// other, too: for what is the same on both but its looks. Others run beside it, as they do for
// onBothScreens; those that measure don't call these.
func onScreen(t *testing.T, usual view, flow func(t *testing.T, v view)) {
	t.Parallel()
	for _, v := range views {
		t.Run(v.name, func(t *testing.T) {
			if v != usual && pictures == "" {
				soak.Only(t, "the "+usual.name+" goes the same way")
			}
			t.Parallel()
			flow(t, v)
		})
	}
}

// onBothScreens runs a test with each screen.
func onBothScreens(t *testing.T, flow func(t *testing.T, v view)) {
	t.Parallel()
	for _, v := range views {
		t.Run(v.name, func(t *testing.T) {
			t.Parallel()
			flow(t, v)
		})
	}
}

// TestTwoPeopleTalk: what one writes the other sees, at once and in order, and so
// does a second tab, which opens no stream of its own.
func TestTwoPeopleTalk(t *testing.T) {
	everywhere(t, func(t *testing.T, start starter, v view) {
		s := start(t)
		ana, bob := newcomer(t, s, v), guest(t, s, desktop, "bob@elsewhere.example")
		ana.enter("general")
		bob.enter("general")
		for i := range 3 {
			ana.say("general", fmt.Sprintf("question %d", i))
			bob.hears(fmt.Sprintf("question %d", i))
			bob.say("general", fmt.Sprintf("answer %d", i))
			ana.hears(fmt.Sprintf("answer %d", i))
		}
		c := s.client(owner)
		ana.reads(c, general)
		bob.reads(c, general)

		other := ana.anotherTab()
		other.enter("general")
		bob.say("general", "for both tabs")
		ana.hears("for both tabs")
		other.hears("for both tabs")
		if n, _ := other.streams(); n != 0 {
			t.Errorf("the second tab opened %d streams of its own", n)
		}
	})
}

// TestAirplaneMode: for three seconds, ten in `make soak`, a phone has no network. What the other writes
// meanwhile comes afterwards, what was written here goes out, each once and in order,
// and the stream goes on after the last event that was seen (seed 18.2).
func TestAirplaneMode(t *testing.T) {
	everywhere(t, func(t *testing.T, start starter, v view) {
		s := start(t)
		ana, bob := newcomer(t, s, v), guest(t, s.direct(), desktop, "bob@elsewhere.example")
		ana.enter("general")
		bob.enter("general")
		bob.say("general", "before")
		ana.hears("before")
		opened, resumed := ana.streams()

		ana.offline()
		ana.sees("No network")
		ana.say("general", "from the plane")
		away := soak.Of(3, 10)
		every(time.Second, time.Duration(away)*time.Second, func(i int) { bob.say("general", fmt.Sprintf("meanwhile %d", i)) })
		last := fmt.Sprintf("meanwhile %d", away-1)
		bob.hears(last)
		for _, b := range ana.bubbles() {
			if b.Text == "from the plane" && b.Receipt != "" || b.Text == "meanwhile 0" {
				t.Errorf("%+v came without a network", b)
			}
		}
		ana.online()
		ana.hears("from the plane")
		bob.hears("from the plane")
		ana.hears(last)
		ana.reads(s.client(owner), general)
		bob.reads(s.client(owner), general)
		if o, r := ana.streams(); o <= opened || r <= resumed {
			t.Errorf("the stream was opened %d times and resumed %d times, before %d and %d", o, r, opened, resumed)
		}
		ana.misses("No network")
	})
}

// TestReloadInMidSend: the server has taken a message, its answer is lost, and the page
// is loaded anew. The message is there once, and its sender sees its receipt.
func TestReloadInMidSend(t *testing.T) {
	onScreen(t, phone, func(t *testing.T, v view) {
		s := behindFront(t)
		c := s.client(owner)
		ana := newcomer(t, s, v)
		ana.enter("general")
		ana.installed()
		s.front.loseAnswers()
		ana.say("general", "once only")
		direct := s.direct().client(owner)
		poll.Until(t, "the server has the message", func() bool { return len(direct.history(general)) == 1 })
		ana.reload()
		ana.sees("once only") // from what is kept here: nothing else answers yet
		s.front.speak()
		ana.hears("once only")
		ana.say("general", "and then")
		ana.hears("and then")
		ana.reads(c, general)
		c.said(general, "once only")
	})
}

// TestReloadOffline: what was written without a network outlives the page, and goes out
// when there is one; until then the app starts from what it has kept.
func TestReloadOffline(t *testing.T) {
	onScreen(t, phone, func(t *testing.T, v view) {
		s := behindFront(t)
		ana := newcomer(t, s, v)
		ana.enter("general")
		ana.installed()
		ana.say("general", "seen before")
		ana.hears("seen before")
		ana.offline()
		ana.say("general", "written offline")
		ana.sees("written offline")
		ana.reload()
		ana.hears("seen before")
		ana.sees("written offline")
		ana.visit("/ui/")
		ana.find("link", "general…")
		ana.visit("/ui/rooms/r:general")
		ana.hears("seen before")
		ana.online()
		ana.hears("written offline")
		s.client(owner).said(general, "written offline")
	})
}

// TestServerRestarts: the server is killed during a conversation and comes back. What
// was written meanwhile goes out then, once.
func TestServerRestarts(t *testing.T) {
	onScreen(t, desktop, func(t *testing.T, v view) {
		s := oneNode(t)
		ana, bob := newcomer(t, s, v), guest(t, s, desktop, "bob@elsewhere.example")
		for _, p := range []*person{ana, bob} {
			p.watch.expect(`is answered 503`)
			p.enter("general")
		}
		ana.say("general", "before")
		bob.hears("before")
		s.restart(s.nodes[0], func() {
			ana.say("general", "into the dark")
			ana.sees("into the dark")
		})
		ana.hears("into the dark")
		bob.hears("into the dark")
		bob.say("general", "back again")
		ana.hears("back again")
		ana.reads(s.client(owner), general)
		bob.reads(s.client(owner), general)
	})
}

// TestNodesDie: each node of three dies once during a conversation: the one that
// leads it, and the ones that carry the browsers' streams. It goes on while one is gone.
func TestNodesDie(t *testing.T) {
	t.Parallel()
	s := threeNodes(t)
	ana, bob := newcomer(t, s, phone), guest(t, s, desktop, "bob@elsewhere.example")
	for _, p := range []*person{ana, bob} {
		p.watch.expect(`is answered 503`)
		p.enter("general")
	}
	for i, n := range s.nodes {
		s.restart(n, func() {
			ana.say("general", fmt.Sprintf("without node %d", i+1))
			bob.hears(fmt.Sprintf("without node %d", i+1))
			bob.say("general", fmt.Sprintf("nor do I have %d", i+1))
			ana.hears(fmt.Sprintf("nor do I have %d", i+1))
		})
	}
	ana.reads(s.client(owner), general)
	bob.reads(s.client(owner), general)
}

// TestGap: a stream goes on after more than it has told, and says so with room.gap: what
// lies between is read over REST (seed 18.2).
func TestGap(t *testing.T) {
	onScreen(t, phone, func(t *testing.T, v view) {
		s := behindFront(t)
		c := s.client(owner)
		ana := newcomer(t, s, v)
		ana.enter("general")
		ana.say("general", "before")
		ana.hears("before")
		ana.offline()
		s.direct().client(owner).flood(general, 0, 300, 8)
		asked := len(ana.watch.asked())
		ana.skips(s.direct().client(owner))
		ana.online()
		ana.reads(c, general)
		if again := strings.Join(ana.watch.asked()[asked:], "\n"); !strings.Contains(again, "GET /api/rooms/r:general/entries") {
			t.Errorf("the gap was not read over REST, but by\n%s", again)
		}
		var want []string
		for _, m := range c.history(general) {
			want = append(want, m.Body.Text)
		}
		if got := eval[[]string](ana, apply(climb)); !slices.Equal(got, want) {
			t.Errorf("scrolling up shows %d messages, the server has %d; the first difference is %s", len(got), len(want), difference(got, want))
		}
	})
}

// skips has the next stream begin at the ledger's head, with a gap in r:general, and end.
func (p *person) skips(c *client) {
	p.t.Helper()
	var head struct{ Seq int64 }
	c.ask("GET", "/api/ledger/head", nil, &head)
	told := fmt.Sprintf("id: l0-%d\nevent: room.gap\ndata: %s\n\n", head.Seq,
		`{"event":"room.gap","tenant_id":"t:harbour.example","room_id":"r:general","ts":"2026-01-01T00:00:00.000Z","payload":{"from_seq":3,"available_from":1}}`)
	paused := chromedp.Events(p.ctx, fetch.RequestPaused)
	call(p, fetch.Enable, fetch.EnableParams{Patterns: []*fetch.RequestPattern{{URLPattern: "*/api/events"}}})
	go func() {
		for e, err := range paused {
			if err == nil {
				_, err = chromedp.Call(p.ctx, fetch.FulfillRequest, fetch.FulfillRequestParams{RequestID: e.RequestID, ResponseCode: 200,
					Body: []byte(told), ResponseHeaders: []*fetch.HeaderEntry{{Name: "Content-Type", Value: "text/event-stream"}}})
			}
			if err == nil {
				_, err = chromedp.Call(p.ctx, fetch.Disable, cdp.Empty{})
			}
			if err != nil && p.ctx.Err() == nil {
				p.t.Errorf("couldn't answer for a stream: %v", err)
			}
			return
		}
	}()
}

// TestSilentNetwork: nothing gets through and nobody is told, as in a tunnel. What is
// written then goes out at its end.
func TestSilentNetwork(t *testing.T) {
	onScreen(t, phone, func(t *testing.T, v view) {
		s := behindFront(t)
		ana := newcomer(t, s, v)
		ana.enter("general")
		ana.say("general", "before")
		ana.hears("before")
		s.front.hush()
		ana.say("general", "in the tunnel")
		ana.sees("in the tunnel")
		s.front.speak()
		ana.hears("in the tunnel")
		s.client(owner).said(general, "in the tunnel")
	})
}

// TestTakenOutOfARoom: who is taken out of the room that they look at is told, and shown
// nothing of it any more; added again, they have it at once. Neither takes a reload.
func TestTakenOutOfARoom(t *testing.T) {
	onScreen(t, desktop, func(t *testing.T, v view) {
		s := oneNode(t)
		ana := s.client(owner)
		bob := guest(t, s, v, "bob@elsewhere.example")
		ana.ask("POST", "/api/rooms", map[string]string{"name": "Crew"}, nil)
		members := "/api/rooms/r:crew/members"
		id := ana.idOf("bob@elsewhere.example") // the address is unproven, and leads to nobody
		ana.ask("POST", members, map[string]string{"user_id": id}, nil)
		ana.send("r:crew", "for the crew alone")
		bob.enter("Crew")
		bob.hears("for the crew alone")

		ana.ask("DELETE", members+"/"+id, nil, nil)
		bob.until("it is read out", func() bool {
			return strings.Contains(eval[string](bob, `[...document.querySelectorAll('[role=status]')].map((e) => e.innerText).join()`), "You are no longer in “Crew”")
		})
		bob.sees("You aren’t in this room")
		bob.misses("for the crew alone")
		bob.visit("/ui/")
		bob.find("link", "general…")
		bob.lacks("link", "Crew…")

		ana.ask("POST", members, map[string]string{"user_id": id}, nil)
		bob.press("link", "Crew…")
		bob.hears("for the crew alone")
		bob.press("button", "Members and settings")
		bob.sees("2 members")
		bob.watch.expect(`^/api/(events/)?rooms/r:crew(/[a-z]+)? is answered 403`) // the room beside them may just be asking about it, listening to it, or saying how far it is read
		ana.ask("DELETE", members+"/"+id, nil, nil)
		bob.sees("You aren’t in this room")
		bob.misses("2 members")
	})
}

package actors_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"ubl"
	"ubl/test/harness"
)

// begin has somebody begin a call, or finds the one that is going on.
func (x *talk) begin(who ubl.Identity) *ubl.RoomCall {
	x.t.Helper()
	return harness.Must[*ubl.RoomCall](x.House, x.room, ubl.BeginRoomCall{Request: x.Request(who)})
}

// sessionOf is what somebody's browser calls itself.
func sessionOf(who ubl.Identity) string { return "browser-of-" + strings.Split(who.Email, "@")[0] }

// in has somebody's browser say that it is in a call, with signals.
func (x *talk) in(who ubl.Identity, call *ubl.RoomCall, after int64, signals ...ubl.Signal) *ubl.CallNews {
	x.t.Helper()
	return harness.Must[*ubl.CallNews](x.House, x.room, ubl.BeInRoomCall{Who: who, CallID: call.CallID, Session: sessionOf(who), After: after, Signals: signals})
}

// leave has somebody's browser leave a call, and answers how many are left.
func (x *talk) leave(who ubl.Identity, call *ubl.RoomCall) int {
	x.t.Helper()
	return len(harness.Must[*ubl.CallNews](x.House, x.room, ubl.BeInRoomCall{Who: who, CallID: call.CallID, Session: sessionOf(who), Leaves: true}).People)
}

// calls are what the timeline tells of calls, by whom.
func (x *talk) calls() (list []string) {
	x.t.Helper()
	page := harness.Must[*ubl.HistoryPage](x.House, x.room, ubl.ReadHistory{Who: x.ana, Limit: 100, Entries: true})
	for _, raw := range page.Entries {
		if e := x.decode(raw); e.Type == ubl.EntryCall {
			list = append(list, fmt.Sprintf("%s %s", e.AuthorID, e.Body.JSON))
		}
	}
	return list
}

// refuses has a command refused.
func (x *talk) refuses(c ubl.Command, want ubl.Code) {
	x.t.Helper()
	if _, err := x.Runtime.Ask(x.t.Context(), x.room, c); ubl.CodeOf(err) != want {
		x.t.Errorf("%T is answered %v, want %q", c, err, want)
	}
}

// TestCall: ana begins a call and bob finds it going on. What one browser says to the other waits
// until that one says it has come. The last one who leaves ends it, and two entries tell of it, and
// of nothing in between.
func TestCall(t *testing.T) {
	x := openTalk(t)
	call := x.begin(x.ana)
	if same := x.begin(x.bob); *same != *call {
		t.Errorf("bob finds %+v, ana began %+v", same, call)
	}
	atoms := x.atoms()
	x.in(x.ana, call, 0)
	if news := x.in(x.bob, call, 0, ubl.Signal{To: sessionOf(x.ana), Data: "offer"}, ubl.Signal{To: "somebody-gone", Data: "lost"}); len(news.People) != 2 || news.People[0].UserID != x.ana.UserID {
		t.Errorf("bob is in %+v", news)
	}
	for range 2 { // the first answer may have been lost
		news := x.in(x.ana, call, 0)
		if len(news.Signals) != 1 || news.Signals[0] != (ubl.Signal{Data: "offer", From: sessionOf(x.bob), N: 1}) {
			t.Errorf("what waits for ana is %+v", news.Signals)
		}
	}
	if news := x.in(x.ana, call, 1); len(news.Signals) != 0 {
		t.Errorf("ana is told again %+v", news.Signals)
	}
	if got := x.atoms(); got != atoms {
		t.Errorf("signals went on record: %d atoms, there were %d", got, atoms)
	}
	x.Clock.Add(12 * time.Minute)
	x.in(x.ana, call, 1)
	x.in(x.bob, call, 0)
	if left := x.leave(x.bob, call); left != 1 {
		t.Errorf("%d are left, want ana", left)
	}
	x.refuses(ubl.EndRoomCall{Request: x.Request(x.bob), CallID: call.CallID}, ubl.CodeConflict) // she is in it
	x.leave(x.ana, call)
	harness.Must[*ubl.CallEnd](x.House, x.room, ubl.EndRoomCall{Request: x.Request(x.ana), CallID: call.CallID})
	want := fmt.Sprintf(`[%[1]s {"call_id":"%[2]s","state":"began"} %[1]s {"call_id":"%[2]s","seconds":720,"state":"ended"}]`, x.ana.UserID, call.CallID)
	if got := fmt.Sprint(x.calls()); got != want {
		t.Errorf("the timeline tells\n%s, want\n%s", got, want)
	}
	x.refuses(ubl.BeInRoomCall{Who: x.bob, CallID: call.CallID, Session: sessionOf(x.bob)}, ubl.CodeConflict)
	if next := x.begin(x.bob); next.CallID == call.CallID {
		t.Errorf("the next call is %+v", next)
	}
	x.VerifyLedger(x.ana.TenantID)
}

// TestCallThatAllHaveLeft ends by itself, and not while one of them says that they are there: nor
// right after a restart, which forgets who is in it.
func TestCallThatAllHaveLeft(t *testing.T) {
	x := openTalk(t)
	call := x.begin(x.ana)
	x.in(x.bob, call, 0)
	for range 10 {
		x.Clock.Add(20 * time.Second)
		x.in(x.bob, call, 0)
		x.Alarms()
	}
	x.in(x.ana, call, 0, ubl.Signal{To: sessionOf(x.bob), Data: "before"})
	x.Restart()
	x.in(x.bob, call, 1)
	x.in(x.ana, call, 0, ubl.Signal{To: sessionOf(x.bob), Data: "behind"})
	if news := x.in(x.bob, call, 1); len(news.Signals) != 1 || news.Signals[0].N != 2 {
		t.Errorf("behind the restart %+v waits for bob, who has had one", news.Signals)
	}
	x.Clock.Add(ubl.CallLease / 2)
	x.Alarms()
	if got := x.calls(); len(got) != 1 {
		t.Fatalf("the timeline tells %q while bob and ana are in the call", got)
	}
	for range 3 {
		x.Clock.Add(2 * ubl.CallLease)
		x.Alarms()
	}
	if got := x.calls(); len(got) != 2 || !strings.HasPrefix(got[1], string(ubl.Platform().UserID)+" ") {
		t.Errorf("the timeline tells %q", got)
	}
	x.VerifyLedger(x.ana.TenantID)
}

// TestCallTells: members hear who is in the call and for whom signals wait, and nobody else hears
// what they say.
func TestCallTells(t *testing.T) {
	x := openTalk(t)
	var told []string
	t.Cleanup(x.Subscribe(x.room, func(p ubl.Publication) {
		for _, e := range p.Events {
			if e.Kind == ubl.EventRoomCall {
				told = append(told, string(e.Payload))
			}
		}
	}))
	call := x.begin(x.ana)
	x.in(x.ana, call, 0)
	x.in(x.ana, call, 0) // nothing new
	x.in(x.bob, call, 0, ubl.Signal{To: sessionOf(x.ana), Data: "secret"})
	x.Clock.Add(10 * time.Second)
	x.in(x.ana, call, 1) // told again, for who opens the room now
	x.leave(x.bob, call)
	ana, bob := ubl.Caller{Session: sessionOf(x.ana), UserID: x.ana.UserID}, ubl.Caller{Session: sessionOf(x.bob), UserID: x.bob.UserID}
	var want []string
	for _, in := range []ubl.InCall{
		{People: []ubl.Caller{ana}}, {People: []ubl.Caller{ana, bob}, News: []string{ana.Session}}, {People: []ubl.Caller{ana, bob}}, {People: []ubl.Caller{ana}},
	} {
		in.CallID, in.News = call.CallID, append([]string{}, in.News...)
		want = append(want, string(ubl.InCallPayload(in)))
	}
	if fmt.Sprint(told) != fmt.Sprint(want) {
		t.Errorf("told\n%s, want\n%s", strings.Join(told, "\n"), strings.Join(want, "\n"))
	}
}

// TestCallRefuses what is too much, too long, another's or by who may not write, and changes nothing.
func TestCallRefuses(t *testing.T) {
	x := openTalk(t)
	x.refuses(ubl.BeginRoomCall{Request: x.Request(x.cyd)}, ubl.CodeNotAMember)
	call := x.begin(x.ana)
	x.in(x.ana, call, 0)
	be := func(change func(*ubl.BeInRoomCall)) ubl.BeInRoomCall {
		c := ubl.BeInRoomCall{Who: x.bob, CallID: call.CallID, Session: sessionOf(x.bob)}
		change(&c)
		return c
	}
	signal := ubl.Signal{To: sessionOf(x.ana), Data: "x"}
	for _, c := range []struct {
		change func(*ubl.BeInRoomCall)
		want   ubl.Code
	}{
		{func(c *ubl.BeInRoomCall) { c.Who = x.cyd }, ubl.CodeNotAMember},
		{func(c *ubl.BeInRoomCall) { c.CallID = "" }, ubl.CodeConflict},
		{func(c *ubl.BeInRoomCall) { c.CallID = "999" }, ubl.CodeConflict},
		{func(c *ubl.BeInRoomCall) { c.Session = sessionOf(x.ana) }, ubl.CodeForbidden},
		{func(c *ubl.BeInRoomCall) { c.Session = "a b" }, ubl.CodeValidation},
		{func(c *ubl.BeInRoomCall) { c.Signals = []ubl.Signal{{To: "nobody", Data: ""}} }, ubl.CodeValidation},
		{func(c *ubl.BeInRoomCall) {
			c.Signals = []ubl.Signal{{To: sessionOf(x.ana), Data: "x", From: "somebody-else"}}
		}, ubl.CodeValidation},
		{func(c *ubl.BeInRoomCall) {
			c.Signals = []ubl.Signal{{To: sessionOf(x.ana), Data: strings.Repeat("x", ubl.MaxSignal+1)}}
		}, ubl.CodeTooLarge},
		{func(c *ubl.BeInRoomCall) { c.Signals = make([]ubl.Signal, ubl.MaxSignals+1) }, ubl.CodeTooLarge},
		{func(c *ubl.BeInRoomCall) { c.Leaves, c.Signals = true, []ubl.Signal{signal} }, ubl.CodeValidation},
	} {
		x.refuses(be(c.change), c.want)
	}
	if news := x.in(x.ana, call, 0); len(news.People) != 1 || len(news.Signals) != 0 {
		t.Errorf("what was refused left %+v", news)
	}
	for i := range ubl.MaxInCall - 1 {
		x.refuses(be(func(c *ubl.BeInRoomCall) { c.Session = fmt.Sprintf("another-%d", i) }), "")
	}
	// It is full. Who is in it already comes back in the place of a browser that is gone; nobody else does.
	anas := func(session string, leaves bool) ubl.BeInRoomCall {
		return ubl.BeInRoomCall{Who: x.ana, CallID: call.CallID, Session: session, Leaves: leaves}
	}
	x.refuses(anas("anas-new-browser", false), "")
	x.refuses(anas("anas-new-browser", true), "")
	x.refuses(be(func(c *ubl.BeInRoomCall) { c.Session = "another-3" }), "")
	x.refuses(anas(sessionOf(x.ana), false), ubl.CodeConflict)
	x.refuses(be(func(c *ubl.BeInRoomCall) { c.Session, c.Leaves = "another-3", true }), "")
	x.refuses(anas(sessionOf(x.ana), false), "")
	flood := be(func(c *ubl.BeInRoomCall) { c.Session, c.Signals = "another-0", make([]ubl.Signal, ubl.MaxSignals) })
	for i := range flood.Signals {
		flood.Signals[i] = signal
	}
	for range ubl.SignalsFor / ubl.MaxSignals {
		x.refuses(flood, "")
	}
	x.refuses(flood, ubl.CodeRateLimited)
	if news := x.in(x.ana, call, 0); len(news.Signals) != ubl.MaxSignals {
		t.Errorf("%d signals wait for who takes none, want %d", len(news.Signals), ubl.MaxSignals)
	}
	x.Clock.Add(ubl.SignalsIn)
	x.refuses(flood, "")
	harness.Must[*ubl.CallEnd](x.House, x.room, ubl.EndRoomCall{Request: x.Request(x.ana), CallID: call.CallID}) // the owner may, with others in it
	x.refuses(ubl.EndRoomCall{Request: x.Request(x.ana), CallID: call.CallID}, ubl.CodeConflict)
}

// TestCallEndOfAnother: a late end of a call that is over says nothing about the one that goes on,
// whose people stay in it.
func TestCallEndOfAnother(t *testing.T) {
	x := openTalk(t)
	old := x.begin(x.ana)
	x.refuses(ubl.EndRoomCall{Request: x.Request(x.ana), CallID: old.CallID}, "")
	call := x.begin(x.ana)
	x.in(x.ana, call, 0)
	x.in(x.bob, call, 0)
	x.refuses(ubl.EndRoomCall{Request: x.Request(x.bob), CallID: old.CallID}, ubl.CodeConflict)
	x.refuses(ubl.EndRoomCall{Request: x.Request(x.bob), CallID: call.CallID}, ubl.CodeConflict)
	if news := x.in(x.bob, call, 0); len(news.People) != 2 {
		t.Errorf("in the call are %+v", news.People)
	}
}

// TestCallEndAfterRestart: a room that was loaded again can't know who is in its call, so nobody ends
// it over the heads of those who have yet to say that they are.
func TestCallEndAfterRestart(t *testing.T) {
	x := openTalk(t)
	call := x.begin(x.ana)
	x.in(x.ana, call, 0)
	x.in(x.bob, call, 0)
	x.Reload()
	end := func(want ubl.Code) { x.refuses(ubl.EndRoomCall{Request: x.Request(x.bob), CallID: call.CallID}, want) }
	x.leave(x.bob, call)
	end(ubl.CodeConflict)
	x.Clock.Add(ubl.CallLease)
	end("")
}

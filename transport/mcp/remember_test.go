package mcp_test

import (
	"net/http"
	"strings"
	"testing"

	"ubl"
	"ubl/test/harness"
	"ubl/test/poll"
	"ubl/transport/mcp"
)

const general = `"uri":"ubl://rooms/r:general"`

// subscribed begins a session and has it subscribe to a room.
func (w *world) subscribed(t *testing.T, who string) (session string) {
	t.Helper()
	session = w.begin(t, w.url+"/mcp", who, "test")
	if a := w.legacy(t, who, session, "resources/subscribe", general); !strings.Contains(a.body, `"result":{}`) {
		t.Fatalf("subscribe = %d %s", a.status, a.body)
	}
	return session
}

// known reports whether the node still knows what a session has subscribed to.
func (w *world) known(t *testing.T, who, session string) bool {
	t.Helper()
	s := w.get(t, w.url+"/mcp", who, session)
	defer s.cancel()
	w.say(t, people[who], "r:general", "hello")
	told := false
	for _, allowed := range []bool{false, true} { // both are told in any case
		w.setTool("messenger.send", allowed)
		for line := ""; !strings.Contains(line, toolsChanged); told = told || strings.Contains(line, resourceUpdated) {
			line = s.wants(t, `"method"`)
		}
	}
	return told
}

// TestOneUserPushesOutNobodyElse: a user's sessions are forgotten for the sake of the
// same user's, and an ended one stays ended.
func TestOneUserPushesOutNobodyElse(t *testing.T) {
	for name, limits := range map[string]mcp.Limits{
		"where the user has too many": {PerUser: 3},
		"where all have too many":     {Sessions: 5},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, quick, func(o *mcp.Options) {
				o.Limits.PerUser, o.Limits.Sessions = limits.PerUser, limits.Sessions
			})
			anas, ended := w.subscribed(t, "ana"), w.begin(t, w.url+"/mcp", "ana", "test")
			if a := w.do(t, http.MethodDelete, w.url+"/mcp", "ana", "", "Mcp-Session-Id", ended); a.status != http.StatusNoContent {
				t.Fatalf("DELETE = %d", a.status)
			}
			first, last := w.subscribed(t, "bob"), ""
			for range 10 {
				last = w.subscribed(t, "bob")
			}
			if a := w.legacy(t, "ana", ended, "ping", ""); a.status != 404 {
				t.Errorf("a session that was ended = %d", a.status)
			}
			if !w.known(t, "ana", anas) {
				t.Error("another user's session was forgotten")
			}
			if !w.known(t, "bob", last) || w.known(t, "bob", first) {
				t.Error("the user's newest isn't known, or the oldest still is")
			}
		})
	}
}

// TestLimitsOfSubscriptions bounds those of a user and those of all, of sessions and
// of channels, and counts each until it ends.
func TestLimitsOfSubscriptions(t *testing.T) {
	w := newWorld(t, quick, func(o *mcp.Options) { o.Limits.UserInterests, o.Limits.Interests = 2, 3 })
	const ok, tooMany, full = `"result":{}`, "-32029", "-32053"
	subscribe := func(who, session, uri string) string {
		return w.legacy(t, who, session, "resources/subscribe", `"uri":"`+uri+`"`).body
	}
	plans := harness.Must[*ubl.RoomSummary](w.House, ubl.TenantName(ana.TenantID), ubl.CreateRoom{Request: w.Request(ana), Name: "plans"})
	first, second := w.subscribed(t, "ana"), w.subscribed(t, "ana")
	if got := subscribe("ana", second, "ubl://rooms/r%3Ageneral"); !strings.Contains(got, ok) {
		t.Errorf("the same again = %s", got)
	}
	if got := subscribe("ana", second, "ubl://rooms/"+string(plans.RoomID)); !strings.Contains(got, tooMany) {
		t.Errorf("one too many of a user = %s", got)
	}
	if a := w.modern(t, "ana", "subscriptions/listen", "", `"notifications":{"resourceSubscriptions":["ubl://rooms/r:general"]}`); a.status != 429 {
		t.Errorf("one too many in a channel = %d %s", a.status, a.body)
	}
	s := w.listen(t, "bob", `"resourceSubscriptions":["ubl://rooms/r:general"]`)
	eves := w.begin(t, w.url+"/mcp", "eve", "test")
	if got := subscribe("eve", eves, "ubl://rooms/r:general"); !strings.Contains(got, full) {
		t.Errorf("one too many of all = %s", got)
	}
	// What has ended counts no more, however it did.
	s.cancel()
	again := func(who, session, uri string) {
		t.Helper()
		poll.Until(t, "the resource is subscribed to", func() bool { return strings.Contains(subscribe(who, session, uri), ok) })
	}
	again("eve", eves, "ubl://rooms/r:general")
	w.get(t, w.url+"/mcp", "ana", second) // takes its subscription along, and gives it back
	w.get(t, w.url+"/mcp", "ana", second)
	w.legacy(t, "ana", second, "resources/unsubscribe", general)
	again("ana", second, "ubl://rooms/"+string(plans.RoomID))
	w.do(t, http.MethodDelete, w.url+"/mcp", "ana", "", "Mcp-Session-Id", first)
	again("ana", second, "ubl://rooms/r:general")
	if got := subscribe("ana", w.begin(t, w.url+"/mcp", "ana", "test"), "ubl://rooms/r:general"); !strings.Contains(got, tooMany) {
		t.Errorf("more than before = %s", got)
	}
}

// TestReceiptsNeverChange: nobody can listen to one.
func TestReceiptsNeverChange(t *testing.T) {
	w := newWorld(t, quick)
	a := w.legacy(t, "ana", w.begin(t, w.url+"/mcp", "ana", "test"), "resources/subscribe", `"uri":"ubl://receipts/1"`)
	if !hasAll(a.body, []string{"-32602", "never changes"}) {
		t.Errorf("subscribe = %d %s", a.status, a.body)
	}
	if a := w.modern(t, "ana", "subscriptions/listen", "", `"notifications":{"resourceSubscriptions":["ubl://receipts/1"]}`); strings.Contains(a.body, "ubl://receipts") {
		t.Errorf("listen = %s", a.body)
	}
}

package mcp_test

import (
	"bufio"
	"context"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"ubl"
	"ubl/test/harness"
	"ubl/test/poll"
	"ubl/transport/mcp"
)

// patience is how long a test waits for what must come.
const patience = time.Minute

// stream is an open channel as its client reads it.
type stream struct {
	lines  <-chan string // data and comments; closed at the end
	cancel context.CancelFunc
	header http.Header
}

// stream opens a channel with a request.
func (w *world) stream(t testing.TB, r *http.Request, who string) *stream {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	t.Cleanup(cancel)
	r.Header.Set("Authorization", "Bearer "+who)
	res, err := w.client.Do(r.WithContext(ctx))
	if err != nil {
		t.Fatal(err)
	}
	if res.StatusCode != http.StatusOK {
		t.Fatalf("no channel: %d", res.StatusCode)
	}
	lines := make(chan string, 1000)
	go func() {
		defer close(lines)
		defer res.Body.Close()
		for s := bufio.NewScanner(res.Body); s.Scan(); {
			if line := s.Text(); strings.HasPrefix(line, "data: ") || strings.HasPrefix(line, ":") {
				lines <- strings.TrimPrefix(line, "data: ")
			}
		}
	}()
	return &stream{lines, cancel, res.Header}
}

// get opens the channel of a session.
func (w *world) get(t testing.TB, url, who, session string) *stream {
	t.Helper()
	r, err := http.NewRequest("GET", url, nil)
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Accept", "text/event-stream")
	r.Header.Set("Mcp-Session-Id", session)
	s := w.stream(t, r, who)
	s.wants(t, ": ok")
	return s
}

// listen opens the channel of a modern client, and waits until it is.
func (w *world) listen(t testing.TB, who, notifications string) *stream {
	t.Helper()
	r, err := http.NewRequest("POST", w.url+"/mcp", strings.NewReader(
		`{"jsonrpc":"2.0","id":"l","method":"subscriptions/listen","params":{"notifications":{`+notifications+`},`+meta("")+`}}`))
	if err != nil {
		t.Fatal(err)
	}
	for name, value := range map[string]string{"Content-Type": "application/json", "Accept": "application/json, text/event-stream",
		"MCP-Protocol-Version": "2026-07-28", "Mcp-Method": "subscriptions/listen"} {
		r.Header.Set(name, value)
	}
	s := w.stream(t, r, who)
	s.wants(t, `"method":"notifications/subscriptions/acknowledged"`)
	return s
}

// wants waits for a line that has all parts, over others.
func (s *stream) wants(t testing.TB, parts ...string) string {
	t.Helper()
	late := time.After(patience)
	for {
		select {
		case line, ok := <-s.lines:
			if !ok {
				t.Fatalf("the channel ended before %q", parts)
			}
			if hasAll(line, parts) {
				return line
			}
		case <-late:
			t.Fatalf("%q did not come", parts)
		}
	}
}

// ends waits for the end, and answers what came before it.
func (s *stream) ends(t testing.TB) (before []string) {
	t.Helper()
	late := time.After(patience)
	for {
		select {
		case line, ok := <-s.lines:
			if !ok {
				return before
			}
			before = append(before, line)
		case <-late:
			t.Fatal("the channel did not end")
		}
	}
}

func hasAll(line string, parts []string) bool {
	for _, p := range parts {
		if !strings.Contains(line, p) {
			return false
		}
	}
	return true
}

// quick has notices follow one another at once.
func quick(o *mcp.Options) { o.Limits.Pace = time.Millisecond }

const (
	toolsChanged     = `"method":"notifications/tools/list_changed"`
	resourcesChanged = `"method":"notifications/resources/list_changed"`
	resourceUpdated  = `"method":"notifications/resources/updated"`
	generalURI       = `"uri":"ubl://rooms/r:general"`
)

func (w *world) say(t testing.TB, who ubl.Identity, room ubl.RoomID, text string) {
	t.Helper()
	harness.Must[*ubl.Sent](w.House, ubl.RoomName(who.TenantID, room), ubl.SendMessage{Request: w.Request(who), Text: text})
}

// setTool lets a tool be used by everyone or nobody.
func (w *world) setTool(tool string, allowed bool) {
	harness.Must[*ubl.ToolAccess](w.House, ubl.TenantName(ana.TenantID),
		ubl.SetToolAccess{Request: w.Request(ana), Tool: tool, Allowed: allowed})
}

func TestChannelOfASession(t *testing.T) {
	w := newWorld(t, quick)
	session := w.begin(t, w.url+"/mcp", "bob", "test")
	s := w.get(t, w.url+"/mcp", "bob", session)
	if got := s.header.Get("X-Accel-Buffering"); got != "no" {
		t.Errorf("X-Accel-Buffering = %q", got)
	}
	if a := w.legacy(t, "bob", session, "resources/subscribe", `"uri":"ubl://rooms/r%3Ageneral"`); !strings.Contains(a.body, `"result":{}`) {
		t.Fatalf("subscribe = %d %s", a.status, a.body)
	}
	w.say(t, ana, "r:general", "hello")
	s.wants(t, resourceUpdated, `"uri":"ubl://rooms/r%3Ageneral"`) // as the client spelled it
	w.setTool("messenger.send", false)
	s.wants(t, toolsChanged)

	harness.Must[*ubl.Member](w.House, ubl.RoomName(ana.TenantID, "r:general"), ubl.RemoveMember{Request: w.Request(ana), UserID: bob.UserID})
	s.wants(t, resourcesChanged)
	w.say(t, ana, "r:general", "bob can't hear this")
	w.setTool("messenger.send", true)
	for line := s.wants(t, `"method"`); !strings.Contains(line, toolsChanged); line = s.wants(t, `"method"`) {
		if strings.Contains(line, resourceUpdated) {
			t.Error("who left the room is told of it")
		}
	}
}

func TestListenOfAModernClient(t *testing.T) {
	w := newWorld(t, quick)
	s := w.listen(t, "bob", `"resourceSubscriptions":["ubl://rooms/r:general","ubl://rooms/r:nowhere"]`)
	w.setTool("messenger.send", false)
	w.say(t, ana, "r:general", "hello")
	if line := s.wants(t, `"method"`); !hasAll(line, []string{resourceUpdated, generalURI, `"io.modelcontextprotocol/subscriptionId":"l"`}) {
		t.Errorf("first came %s", line)
	}
	both := w.listen(t, "bob", `"toolsListChanged":true,"resourcesListChanged":true`)
	w.setTool("messenger.send", true)
	both.wants(t, toolsChanged)
	harness.Must[*ubl.RoomSummary](w.House, ubl.TenantName(bob.TenantID), ubl.CreateRoom{Request: w.Request(bob), Name: "plans"})
	both.wants(t, resourcesChanged)
}

// TestDocumentsAreTold: a new version of a document reaches who listens to it.
func TestDocumentsAreTold(t *testing.T) {
	w := newWorld(t, quick)
	general := ubl.ContainerName(ana.TenantID, ubl.GeneralWorkspace)
	made := harness.Must[*ubl.DocumentResult](w.House, general, ubl.CreateDocument{Request: w.Request(ana), Title: "Plan", Content: "one"})
	uri := "ubl://documents/w:general/" + string(made.Document.DocumentID)
	s := w.listen(t, "bob", `"resourceSubscriptions":["`+uri+`"]`)
	harness.Must[*ubl.DocumentResult](w.House, general, ubl.UpdateDocument{Request: w.Request(ana), DocumentID: made.Document.DocumentID, Content: new("two")})
	s.wants(t, resourceUpdated, uri)
}

func TestNobodyHearsAnotherTenant(t *testing.T) {
	w := newWorld(t, quick)
	s := w.listen(t, "eve", `"toolsListChanged":true,"resourceSubscriptions":["ubl://rooms/r:general"]`)
	w.say(t, ana, "r:general", "secret")
	w.setTool("messenger.send", false)
	w.say(t, eve, "r:general", "own")
	if line := s.wants(t, `"method"`); !strings.Contains(line, resourceUpdated) {
		t.Errorf("heard of another tenant: %s", line)
	}
	select {
	case line := <-s.lines:
		t.Errorf("heard twice: %s", line)
	default:
	}
}

// lossy is a feed that loses publications.
type lossy struct {
	ubl.Feed
	lose func(ubl.Publication) bool
}

func (l lossy) Subscribe(to ubl.Name, sink func(ubl.Publication), kinds ...string) func() {
	return l.Feed.Subscribe(to, func(p ubl.Publication) {
		if !l.lose(p) {
			sink(p)
		}
	}, kinds...)
}

func TestALostPublicationIsTold(t *testing.T) {
	w := newWorld(t, quick, func(o *mcp.Options) {
		o.Feed = lossy{o.Feed, func(p ubl.Publication) bool {
			return len(p.Events) > 0 && strings.Contains(string(p.Events[0].Payload), "lost")
		}}
	})
	s := w.listen(t, "bob", `"toolsListChanged":true,"resourceSubscriptions":["ubl://rooms/r:general"]`)
	plans := harness.Must[*ubl.RoomSummary](w.House, ubl.TenantName(ana.TenantID), ubl.CreateRoom{Request: w.Request(ana), Name: "plans"})
	w.say(t, ana, "r:general", "lost")
	w.say(t, ana, plans.RoomID, "another commit shows the hole")
	s.wants(t, toolsChanged)
	s.wants(t, resourceUpdated, generalURI)
}

func TestKeepalive(t *testing.T) {
	w := newWorld(t, func(o *mcp.Options) { o.Limits.Keepalive = 10 * time.Millisecond })
	s := w.get(t, w.url+"/mcp", "ana", w.begin(t, w.url+"/mcp", "ana", "test"))
	for range 3 {
		s.wants(t, ": keepalive")
	}
}

func TestWhatEndsAChannel(t *testing.T) {
	var stopped atomic.Int64 // when the server's clock was, 0 while it goes
	w := newWorld(t, func(o *mcp.Options) {
		o.Now = func() time.Time {
			if at := stopped.Load(); at != 0 {
				return time.Unix(0, at)
			}
			return time.Now()
		}
	})
	url := w.url + "/mcp"
	t.Run("another channel of the session", func(t *testing.T) {
		session := w.begin(t, url, "ana", "test")
		first := w.get(t, url, "ana", session)
		w.get(t, url, "ana", session)
		first.ends(t)
	})
	t.Run("DELETE", func(t *testing.T) {
		session := w.begin(t, url, "ana", "test")
		s := w.get(t, url, "ana", session)
		if a := w.do(t, "DELETE", url, "ana", "", "Mcp-Session-Id", session); a.status != 204 {
			t.Errorf("DELETE = %d", a.status)
		}
		s.ends(t)
	})
	t.Run("the end of the membership", func(t *testing.T) {
		s := w.listen(t, "bob", `"toolsListChanged":true`)
		harness.Must[*ubl.Member](w.House, ubl.TenantName(ana.TenantID), ubl.RemoveTenantMember{Request: w.Request(ana), UserID: bob.UserID})
		before := s.ends(t)
		if n := len(before); n == 0 || !hasAll(before[n-1], []string{`"id":"l"`, `"result"`}) {
			t.Errorf("the listen was not answered: %q", before)
		}
	})
	t.Run("the end of the credential", func(t *testing.T) {
		now := time.Now()
		stopped.Store(now.UnixNano()) // until the channel is open
		w.ends.Store(now.Add(time.Second).UnixMilli())
		defer w.ends.Store(0)
		s := w.listen(t, "ana", `"toolsListChanged":true`)
		stopped.Store(0)
		s.ends(t)
	})
	t.Run("its revocation", func(t *testing.T) {
		s := w.listen(t, "ana", `"toolsListChanged":true`)
		close(w.revoked)
		s.ends(t)
		w.revoked = nil
	})
	t.Run("the server's", func(t *testing.T) {
		s := w.listen(t, "ana", `"toolsListChanged":true`)
		if err := w.Shutdown(t.Context()); err != nil {
			t.Fatal(err)
		}
		s.ends(t)
		if w.Channels() != 0 {
			t.Errorf("%d channels are open", w.Channels())
		}
	})
	t.Run("and then there are no more", func(t *testing.T) {
		a := w.modern(t, "ana", "subscriptions/listen", "", `"notifications":{"toolsListChanged":true}`)
		if a.status != 503 || a.header.Get("Retry-After") == "" {
			t.Errorf("after the end = %d %s", a.status, a.body)
		}
	})
}

func TestLimitsOfChannels(t *testing.T) {
	w := newWorld(t, func(o *mcp.Options) { o.Limits.PerUser, o.Limits.Channels, o.Limits.Subscriptions = 1, 2, 1 })
	w.listen(t, "ana", `"toolsListChanged":true`)
	ask := func(who, notifications string) answer {
		return w.modern(t, who, "subscriptions/listen", "", `"notifications":{`+notifications+`}`)
	}
	if a := ask("ana", `"toolsListChanged":true`); a.status != 429 || !strings.Contains(a.body, "-32029") {
		t.Errorf("a second of the same user = %d %s", a.status, a.body)
	}
	w.listen(t, "bob", `"toolsListChanged":true`)
	if a := ask("eve", `"toolsListChanged":true`); a.status != 503 {
		t.Errorf("a third = %d %s", a.status, a.body)
	}
	if a := ask("eve", `"resourceSubscriptions":["ubl://rooms/r:general","ubl://rooms/r:plans"]`); !strings.Contains(a.body, "-32009") {
		t.Errorf("too many subscriptions = %d %s", a.status, a.body)
	}
	session := w.begin(t, w.url+"/mcp", "eve", "test")
	plans := harness.Must[*ubl.RoomSummary](w.House, ubl.TenantName(eve.TenantID), ubl.CreateRoom{Request: w.Request(eve), Name: "plans"})
	w.legacy(t, "eve", session, "resources/subscribe", `"uri":"ubl://rooms/r:general"`)
	if a := w.legacy(t, "eve", session, "resources/subscribe", `"uri":"ubl://rooms/`+string(plans.RoomID)+`"`); !strings.Contains(a.body, "-32009") {
		t.Errorf("too many subscriptions of a session = %d %s", a.status, a.body)
	}
}

// TestStreamsTakePlaces: whatever listens for long holds a place as streams do that
// are not MCP's, and gives it back.
func TestStreamsTakePlaces(t *testing.T) {
	const places = 2
	w := newWorld(t)
	var held atomic.Int64
	w.place = func() (func(), error) {
		if held.Add(1) > places {
			held.Add(-1)
			return nil, ubl.Errorf(ubl.CodeRateLimited, "too many streams").Later(5 * time.Second)
		}
		return func() { held.Add(-1) }, nil
	}
	session := w.begin(t, w.url+"/mcp", "ana", "test")
	channel := w.get(t, w.url+"/mcp", "ana", session)
	listening := w.listen(t, "ana", `"toolsListChanged":true`)
	if n := held.Load(); n != places {
		t.Fatalf("two streams hold %d places", n)
	}
	room := `"name":"messenger.stream_room","arguments":{"room_id":"r:general","seconds":1}`
	for what, a := range map[string]answer{
		"a listen":          w.modern(t, "ana", "subscriptions/listen", "", `"notifications":{"toolsListChanged":true}`),
		"a GET":             w.do(t, "GET", w.url+"/mcp", "ana", "", "Accept", "text/event-stream", "Mcp-Session-Id", session),
		"a wait for a room": w.modern(t, "ana", "tools/call", "messenger.stream_room", room),
	} {
		want := "-32029"
		if what == "a wait for a room" { // a call of a tool fails with a result
			a.status, want = a.status+http.StatusTooManyRequests-http.StatusOK, `"code":"rate_limited"`
		}
		if a.status != http.StatusTooManyRequests || !strings.Contains(a.body, want) {
			t.Errorf("%s without a place = %d %s", what, a.status, a.body)
		}
	}
	channel.cancel()
	listening.cancel()
	poll.Until(t, "nothing is held", func() bool { return held.Load() == 0 })
	if a := w.modern(t, "ana", "tools/call", "messenger.stream_room", room); a.status != 200 || held.Load() != 0 {
		t.Errorf("with a place = %d %s; %d are held", a.status, a.body, held.Load())
	}
}

package mcp_test

import (
	"bytes"
	"encoding/base64"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"ubl/transport/mcp"
)

func TestSessionsOfOthersAreUnknown(t *testing.T) {
	w := newWorld(t)
	session := w.begin(t, w.url+"/mcp", "ana", "test")
	raw, err := base64.RawURLEncoding.DecodeString(session)
	if err != nil {
		t.Fatal(err)
	}
	flipped := func(i int) string {
		b := append([]byte(nil), raw...)
		b[i] ^= 1
		return base64.RawURLEncoding.EncodeToString(b)
	}
	for name, c := range map[string]struct{ who, session string }{
		"a colleague's":             {"bob", session},
		"another tenant's":          {"eve", session},
		"one made up":               {"ana", "session-1"},
		"another version":           {"ana", flipped(0)},
		"another time":              {"ana", flipped(1)},
		"another protocol":          {"ana", flipped(17)},
		"another client":            {"ana", flipped(18)},
		"another seal":              {"ana", flipped(len(raw) - 1)},
		"one cut off":               {"ana", session[:len(session)-2]},
		"one far too long":          {"ana", strings.Repeat("A", 10_000)},
		"one spelled otherwise":     {"ana", respelled(t, session, raw)},
		"one of nothing but a seal": {"ana", base64.RawURLEncoding.EncodeToString(raw[len(raw)-16:])},
	} {
		for _, method := range []string{"POST", "GET", "DELETE"} {
			a := w.do(t, method, w.url+"/mcp", c.who, `{"jsonrpc":"2.0","id":1,"method":"ping"}`,
				"Mcp-Session-Id", c.session, "Accept", "application/json, text/event-stream")
			if a.status != 404 || !strings.Contains(a.body, "the session is unknown") {
				t.Errorf("%s %s = %d %s", method, name, a.status, a.body)
			}
		}
	}
	if a := w.legacy(t, "ana", session, "ping", ""); a.status != 200 {
		t.Errorf("the owner's = %d %s", a.status, a.body)
	}
}

// respelled is the id with other unused bits at its end, which a lenient reader
// takes for the same.
func respelled(t *testing.T, session string, raw []byte) string {
	for c := byte('0'); c <= 'z'; c++ {
		other := session[:len(session)-1] + string(c)
		if b, err := base64.RawURLEncoding.DecodeString(other); err == nil && bytes.Equal(b, raw) && other != session {
			return other
		}
	}
	t.Fatal("the id has no unused bits: give the client a name of another length")
	return ""
}

func TestSessionsGrowOld(t *testing.T) {
	now := time.Now()
	w := newWorld(t, func(o *mcp.Options) { o.Now = func() time.Time { return now } })
	session := w.begin(t, w.url+"/mcp", "ana", "test")
	later := func(d time.Duration) string {
		url := w.open(t, w.node(t, func(o *mcp.Options) { o.Now = func() time.Time { return now.Add(d) } }))
		return url + "/mcp"
	}
	ping := func(url string) int {
		return w.do(t, "POST", url, "ana", `{"jsonrpc":"2.0","id":1,"method":"ping"}`, "Mcp-Session-Id", session).status
	}
	if got := ping(later(364 * 24 * time.Hour)); got != 200 {
		t.Errorf("after 364 days = %d", got)
	}
	if got := ping(later(366 * 24 * time.Hour)); got != 404 {
		t.Errorf("after 366 days = %d", got)
	}
}

// balancer sends requests to its nodes in turn; a node that is gone is left out.
func balancer(t *testing.T, nodes ...string) (at string, lose func(i int)) {
	var next atomic.Int64
	gone := make([]atomic.Bool, len(nodes))
	proxy := &httputil.ReverseProxy{FlushInterval: -1, Transport: newClient(t).Transport, Rewrite: func(r *httputil.ProxyRequest) {
		i := int(next.Add(1)) % len(nodes)
		for gone[i].Load() {
			i = (i + 1) % len(nodes)
		}
		to, err := url.Parse(nodes[i])
		if err != nil {
			panic(err)
		}
		r.SetURL(to)
	}}
	server := httptest.NewServer(proxy)
	t.Cleanup(server.Close)
	return server.URL, func(i int) { gone[i].Store(true) }
}

// TestASessionOutlivesItsNode: any node takes a session, and a channel that
// comes to another node begins with what may have been missed.
func TestASessionOutlivesItsNode(t *testing.T) {
	var ahead atomic.Int64
	now := func(o *mcp.Options) { o.Now = func() time.Time { return time.Now().Add(time.Duration(ahead.Load())) } }
	w := newWorld(t, quick, now)
	other := w.node(t, quick, now)
	nodes := []string{w.url, w.open(t, other)}
	front, lose := balancer(t, nodes...)

	session := w.begin(t, front+"/mcp", "ana", "test")
	for range 4 {
		a := w.do(t, "POST", front+"/mcp", "ana", `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{`+sendHello+`}}`, "Mcp-Session-Id", session)
		if a.status != 200 || !strings.Contains(a.body, `"room_seq"`) {
			t.Fatalf("send = %d %s", a.status, a.body)
		}
	}
	s := w.get(t, nodes[0]+"/mcp", "ana", session)
	lose(0)
	s.cancel()
	ahead.Store(int64(2 * time.Minute))
	again := w.get(t, front+"/mcp", "ana", session)
	again.wants(t, toolsChanged)
	again.wants(t, resourcesChanged)
	if a := w.do(t, "POST", front+"/mcp", "ana", `{"jsonrpc":"2.0","id":1,"method":"resources/subscribe","params":{"uri":"ubl://rooms/r:general"}}`,
		"Mcp-Session-Id", session); a.status != 200 {
		t.Fatalf("subscribe = %d %s", a.status, a.body)
	}
	w.say(t, ana, "r:general", "hello")
	again.wants(t, resourceUpdated)
	if other.Channels() != 1 {
		t.Errorf("%d channels on the other node", other.Channels())
	}
}

// TestSubscribingBeforeTheChannel: what a session asked for is kept for its
// channel.
func TestSubscribingBeforeTheChannel(t *testing.T) {
	w := newWorld(t, quick, func(o *mcp.Options) { o.Limits.Sessions = 2 })
	session := w.begin(t, w.url+"/mcp", "ana", "test")
	w.legacy(t, "ana", session, "resources/subscribe", `"uri":"ubl://rooms/r:general"`)
	s := w.get(t, w.url+"/mcp", "ana", session)
	for range 3 { // one with a channel is not forgotten for others
		w.legacy(t, "bob", w.begin(t, w.url+"/mcp", "bob", "test"), "resources/subscribe", `"uri":"ubl://rooms/r:general"`)
	}
	w.say(t, ana, "r:general", "hello")
	s.wants(t, resourceUpdated, generalURI)
	if a := w.legacy(t, "ana", session, "resources/unsubscribe", `"uri":"ubl://rooms/r:general"`); a.status != 200 {
		t.Fatalf("unsubscribe = %d", a.status)
	}
	w.say(t, ana, "r:general", "unheard")
	w.setTool("messenger.send", false)
	for line := s.wants(t, `"method"`); !strings.Contains(line, toolsChanged); line = s.wants(t, `"method"`) {
		t.Errorf("after unsubscribing: %s", line)
	}
}

func TestACallCanBeCancelled(t *testing.T) {
	w := newWorld(t)
	session := w.begin(t, w.url+"/mcp", "ana", "test")
	for _, progress := range []string{"", `,"_meta":{"progressToken":1}`} {
		done := make(chan answer, 1)
		go func() {
			done <- w.legacy(t, "ana", session, "tools/call", `"name":"messenger.stream_room","arguments":{"room_id":"r:general","seconds":60}`+progress)
		}()
		// The call may not have begun when it is cancelled first.
		tick := time.NewTicker(10 * time.Millisecond)
		late := time.After(patience)
		for waiting := true; waiting; {
			select {
			case a := <-done:
				if strings.Contains(a.body, `"result"`) {
					t.Errorf("a cancelled call = %d %s", a.status, a.body)
				}
				waiting = false
			case <-tick.C:
				w.do(t, "POST", w.url+"/mcp", "ana", `{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}`, "Mcp-Session-Id", session)
			case <-late:
				t.Fatal("the call was not cancelled")
			}
		}
		tick.Stop()
	}
}

func TestGETNeedsASession(t *testing.T) {
	w := newWorld(t)
	if a := w.do(t, http.MethodGet, w.url+"/mcp", "ana", "", "Accept", "text/event-stream"); a.status != 400 {
		t.Errorf("without a session = %d %s", a.status, a.body)
	}
	session := w.begin(t, w.url+"/mcp", "ana", "test")
	if a := w.do(t, http.MethodGet, w.url+"/mcp", "ana", "", "Accept", "application/json", "Mcp-Session-Id", session); a.status != 400 {
		t.Errorf("without Accept = %d %s", a.status, a.body)
	}
}

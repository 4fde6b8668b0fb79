package mcp_test

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"ubl"
	"ubl/test/harness"
	"ubl/transport/mcp"
)

// streamFrom asks for what comes in r:general within a second, and behind a seq
// where one is given, and answers what a person is told.
func (w *world) streamFrom(t *testing.T, who, from string) answer {
	t.Helper()
	return w.modern(t, who, "tools/call", "messenger.stream_room", `"name":"messenger.stream_room","arguments":{"room_id":"r:general","seconds":1`+from+`}`)
}

// TestListeningIsNoWayToHistory: what was there before takes the tool that reads
// it, however it is asked for.
func TestListeningIsNoWayToHistory(t *testing.T) {
	w := newWorld(t)
	w.say(t, ana, "r:general", "of old")
	head := harness.Must[ubl.Head](w.House, ubl.RoomName(ana.TenantID, "r:general"), ubl.RoomHead{}).LastSeq
	if a := w.streamFrom(t, "bob", `,"from_seq":0`); !strings.Contains(a.body, "of old") {
		t.Fatalf("with both tools: %d %s", a.status, a.body)
	}
	w.setTool("messenger.history", false)
	if a := w.streamFrom(t, "bob", `,"from_seq":0`); !strings.Contains(a.body, `"code":"forbidden"`) || strings.Contains(a.body, "of old") {
		t.Errorf("without history: %d %s", a.status, a.body)
	}
	for name, from := range map[string]string{"what is new": "", "what is behind the newest": `,"from_seq":` + string(encode(t, head))} {
		if a := w.streamFrom(t, "bob", from); !strings.Contains(a.body, `"result"`) {
			t.Errorf("%s: %d %s", name, a.status, a.body)
		}
	}
}

func encode(t *testing.T, v any) []byte {
	t.Helper()
	data, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// TestListeningIsBounded: who listens with a tool holds as much as who does with a
// channel, and is let go like one.
func TestListeningIsBounded(t *testing.T) {
	w := newWorld(t, func(o *mcp.Options) { o.Limits.PerUser = 1 })
	minute := `"name":"messenger.stream_room","arguments":{"room_id":"r:general","seconds":60}`
	held := w.listen(t, "ana", `"toolsListChanged":true`)
	if a := w.modern(t, "ana", "tools/call", "messenger.stream_room", minute); !strings.Contains(a.body, `"code":"rate_limited"`) {
		t.Errorf("beside a channel: %d %s", a.status, a.body)
	}
	held.cancel()
	held.ends(t)

	w.until(t, func() bool { return w.Channels() == 0 })
	done := make(chan answer, 1)
	go func() { done <- w.modern(t, "ana", "tools/call", "messenger.stream_room", minute) }()
	w.until(t, func() bool { return w.Channels() == 1 })
	close(w.revoked)
	select {
	case a := <-done:
		if !strings.Contains(a.body, "-32001") {
			t.Errorf("after the credential was revoked: %d %s", a.status, a.body)
		}
	case <-time.After(patience):
		t.Fatal("it went on after the credential was revoked")
	}
}

// TestListeningEndsWithTheServer: a stop doesn't wait a minute.
func TestListeningEndsWithTheServer(t *testing.T) {
	w := newWorld(t)
	done := make(chan answer, 1)
	go func() {
		done <- w.modern(t, "ana", "tools/call", "messenger.stream_room", `"name":"messenger.stream_room","arguments":{"room_id":"r:general","seconds":60}`)
	}()
	w.until(t, func() bool { return w.Channels() == 1 })
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	if err := w.Shutdown(ctx); err != nil {
		t.Fatal(err)
	}
	if a := <-done; !strings.Contains(a.body, `"result"`) {
		t.Errorf("what it had: %d %s", a.status, a.body)
	}
}

// until waits for what comes soon.
func (w *world) until(t *testing.T, what func() bool) {
	t.Helper()
	tick := time.NewTicker(time.Millisecond)
	defer tick.Stop()
	late := time.After(patience)
	for !what() {
		select {
		case <-tick.C:
		case <-late:
			t.Fatal("it did not come")
		}
	}
}

// TestAMalformedKeyIsRefused: a caller who gives one wants it to count.
func TestAMalformedKeyIsRefused(t *testing.T) {
	w := newWorld(t)
	for _, path := range []string{"/mcp", "/portal/mcp"} {
		a := w.do(t, "POST", w.url+path, "ana", `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{`+sendHello+`}}`, "Idempotency-Key", strings.Repeat("k", 200))
		if a.status != 400 || !strings.Contains(a.body, "Idempotency-Key") {
			t.Errorf("%s = %d %s", path, a.status, a.body)
		}
	}
	page := harness.Must[*ubl.HistoryPage](w.House, ubl.RoomName(ana.TenantID, "r:general"), ubl.ReadHistory{Who: ana, Limit: 200})
	for _, m := range page.Messages {
		if strings.Contains(string(m), "hello") {
			t.Errorf("it was sent: %s", m)
		}
	}
}

// TestASubscriptionEndsWithItsTool: as soon as its holder may not read any more,
// and not because they were told often.
func TestASubscriptionEndsWithItsTool(t *testing.T) {
	w := newWorld(t, quick, func(o *mcp.Options) { o.Limits.Recheck = time.Nanosecond })
	harness.Must[*ubl.ToolAccess](w.House, ubl.TenantName(ana.TenantID),
		ubl.SetToolAccess{Request: w.Request(ana), Tool: "messenger.history", Allowed: true, PerMinute: 2})
	s := w.listen(t, "bob", `"toolsListChanged":true,"resourceSubscriptions":["ubl://rooms/r:general"]`)
	for range 5 {
		w.say(t, ana, "r:general", "hello")
		s.wants(t, resourceUpdated)
	}
	w.setTool("messenger.history", false)
	s.wants(t, toolsChanged)
	w.say(t, ana, "r:general", "unheard")
	w.setTool("messenger.send", false)
	for line := s.wants(t, `"method"`); !strings.Contains(line, toolsChanged); line = s.wants(t, `"method"`) {
		t.Errorf("after the tool was closed: %s", line)
	}
}

// TestResourcesWithoutTheirTools are left out of the list, and nothing else is.
func TestResourcesWithoutTheirTools(t *testing.T) {
	for closed, parts := range map[string]struct{ out, in string }{
		"messenger.list_rooms":  {"ubl://rooms/", "ubl://documents/"},
		"office.document.list":  {"ubl://documents/", "ubl://rooms/"},
		"office.workspace.list": {"ubl://documents/", "ubl://rooms/"},
	} {
		w := newWorld(t, func(o *mcp.Options) {
			o.Visible = func(context.Context) (func(string) bool, error) {
				return func(tool string) bool { return tool != closed }, nil
			}
		})
		general := ubl.ContainerName(ana.TenantID, ubl.GeneralWorkspace)
		harness.Must[*ubl.DocumentResult](w.House, general, ubl.CreateDocument{Request: w.Request(ana), Title: "Plan", Content: "one"})
		w.setTool(closed, false)
		var listed []string
		for cursor := ""; ; {
			a := w.modern(t, "bob", "resources/list", "", `"cursor":"`+cursor+`"`)
			var got struct {
				Result struct {
					Resources  []struct{ URI string }
					NextCursor string
				}
			}
			if err := json.Unmarshal([]byte(a.body), &got); err != nil || a.status != 200 {
				t.Fatalf("%s: %d %s", closed, a.status, a.body)
			}
			for _, r := range got.Result.Resources {
				listed = append(listed, r.URI)
			}
			if cursor = got.Result.NextCursor; cursor == "" {
				break
			}
		}
		begins := func(prefix string) bool {
			return slices.ContainsFunc(listed, func(uri string) bool { return strings.HasPrefix(uri, prefix) })
		}
		if begins(parts.out) || !begins(parts.in) {
			t.Errorf("without %s: %q", closed, listed)
		}
	}
}

// TestARefusalForLoadSaysWhenToComeBack.
func TestARefusalForLoadSaysWhenToComeBack(t *testing.T) {
	w := newWorld(t)
	harness.Must[*ubl.ToolAccess](w.House, ubl.TenantName(ana.TenantID),
		ubl.SetToolAccess{Request: w.Request(ana), Tool: "messenger.list_rooms", Allowed: true, PerMinute: 1})
	list := func() answer {
		return w.modern(t, "bob", "tools/call", "messenger.list_rooms", `"name":"messenger.list_rooms","arguments":{}`)
	}
	if a := list(); strings.Contains(a.body, "retry_after") {
		t.Errorf("the first: %s", a.body)
	}
	if a := list(); !hasAll(a.body, []string{`"isError":true`, `"code":"rate_limited"`, `"retry_after":60`, "Wait 60 s"}) {
		t.Errorf("the second: %d %s", a.status, a.body)
	}
}

// TestABatchCanCancel what its session asked for before.
func TestABatchCanCancel(t *testing.T) {
	w := newWorld(t)
	a := w.do(t, "POST", w.url+"/mcp", "ana", `{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-03-26","capabilities":{},"clientInfo":{"name":"test","version":"1"}}}`)
	session := a.header.Get("Mcp-Session-Id")
	done := make(chan answer, 2)
	for range 2 { // the same id twice: what is cancelled is both
		go func() {
			done <- w.do(t, "POST", w.url+"/mcp", "ana", `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"messenger.stream_room","arguments":{"room_id":"r:general","seconds":60}}}`,
				"Mcp-Session-Id", session)
		}()
	}
	w.until(t, func() bool { return w.Channels() == 2 })
	w.do(t, "POST", w.url+"/mcp", "ana", `[{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}]`, "Mcp-Session-Id", session)
	for range 2 {
		select {
		case a := <-done:
			if strings.Contains(a.body, `"result"`) {
				t.Errorf("a cancelled call = %d %s", a.status, a.body)
			}
		case <-time.After(patience):
			t.Fatal("the call was not cancelled")
		}
	}
}

// TestListeningTellsAGap: a caller that remembers more than the room has, or asks for
// what retention took, is told so at once, and where the room is.
func TestListeningTellsAGap(t *testing.T) {
	w := newWorld(t)
	w.say(t, ana, "r:general", "of old")
	room := ubl.RoomName(ana.TenantID, "r:general")
	last := harness.Must[ubl.Head](w.House, room, ubl.RoomHead{}).LastSeq
	next := fmt.Sprintf(`"next_from_seq":%d`, last)
	a := w.streamFrom(t, "bob", `,"from_seq":999999`)
	if gap := fmt.Sprintf(`"gap":{"available_from":%d,"from_seq":1000000}`, last+1); !strings.Contains(a.body, gap) || !strings.Contains(a.body, next) {
		t.Errorf("ahead of the room: %s", a.body)
	}
	if a := w.streamFrom(t, "bob", ""); !strings.Contains(a.body, next) || strings.Contains(a.body, `"gap":`) {
		t.Errorf("what is new: %s", a.body)
	}
	days := 1
	harness.Must[*ubl.Room](w.House, room, ubl.SetRoomPolicy{Request: w.Request(ana), Patch: ubl.RoomPolicyPatch{RetentionDays: &days}})
	w.Clock.Add(48 * time.Hour)
	kept := harness.Must[ubl.Head](w.House, room, ubl.Sweep{Request: w.Request(ubl.Platform())}).AvailableFrom
	a = w.streamFrom(t, "bob", `,"from_seq":0`)
	if gap := fmt.Sprintf(`"gap":{"available_from":%d,"from_seq":1}`, kept); kept < 2 || !strings.Contains(a.body, gap) || strings.Contains(a.body, "of old") {
		t.Errorf("behind what is kept (from %d): %s", kept, a.body)
	}
}

package sse_test

import (
	"context"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"ubl"
	"ubl/transport/envelope"
	"ubl/transport/sse"
)

// toolDoor is a tenant's: it keeps to itself who may use which tool.
type toolDoor struct {
	*world
	mu     sync.Mutex
	closed map[string]ubl.Code
	taken  []ubl.Enter
}

func (d *toolDoor) Ask(ctx context.Context, to ubl.Name, cmd ubl.Command) (any, error) {
	in, ok := cmd.(ubl.Enter)
	if !ok {
		return d.world.Ask(ctx, to, cmd)
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	d.taken = append(d.taken, in)
	if code := d.closed[in.Tool]; code != "" {
		return nil, ubl.Errorf(code, "not with this tool")
	}
	return &ubl.Entered{TenantID: tenant, Role: ubl.RoleMember}, nil
}

func (d *toolDoor) close(tool string, with ubl.Code) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.closed[tool] = with
}

// comer is a member whom the tenant has yet to let in.
func (d *toolDoor) comer() *envelope.Caller {
	c := member("u:ann")
	c.Enters(ubl.Enter{Request: ubl.Request{Who: c.Identity}}, d)
	return c
}

// TestStreamsStandForTools: a stream takes its tool to open, and what was there
// before it takes that for history besides.
func TestStreamsStandForTools(t *testing.T) {
	for _, c := range []struct {
		target, lastID, closed string
		status                 int
	}{
		{general, "", "", 200},
		{general, "", envelope.ToolStream, 403},
		{general, "", envelope.ToolHistory, 200},
		{general + "?from_seq=0", "", "", 200},
		{general + "?from_seq=0", "", envelope.ToolHistory, 403},
		{general + "?from_seq=2", "", envelope.ToolHistory, 200}, // the newest
		{general, "1", envelope.ToolHistory, 403},
		{"/api/events", "", envelope.ToolStream, 403},
		{"/api/events", "", envelope.ToolHistory, 200},
		{"/api/events", "l0-1", envelope.ToolHistory, 403},
		{live, "", envelope.ToolLog, 403},
		{live, "", envelope.ToolStream, 200},
	} {
		synctest.Test(t, func(t *testing.T) {
			w, hub := house(sse.Limits{})
			w.send("r:general", "u:ann", "of old")
			d := &toolDoor{world: w, closed: map[string]ubl.Code{c.closed: ubl.CodeForbidden}}
			delete(d.closed, "")
			s := open(hub, d.comer(), c.target, c.lastID)
			synctest.Wait()
			s.drop()
			if s.status != c.status || c.status == 403 && strings.Contains(s.body.String(), "of old") {
				t.Errorf("%s after %q without %q is answered %d %s", c.target, c.lastID, c.closed, s.status, s.body.String())
			}
		})
	}
}

// TestAStreamEndsWithItsTool: at once where it is told, else within half a minute. It asks
// about it without being counted.
func TestAStreamEndsWithItsTool(t *testing.T) {
	for _, c := range []struct {
		target, tool string
		told         bool
	}{
		{general, envelope.ToolStream, false}, {"/api/events", envelope.ToolStream, false}, {live, envelope.ToolLog, false},
		{general, envelope.ToolStream, true}, {"/api/events", envelope.ToolStream, true}, {live, envelope.ToolLog, true},
	} {
		target, tool, told := c.target, c.tool, c.told
		synctest.Test(t, func(t *testing.T) {
			w, hub := house(sse.Limits{})
			d := &toolDoor{world: w, closed: map[string]ubl.Code{}}
			s := open(hub, d.comer(), target, "")
			synctest.Wait()
			d.close(tool, ubl.CodeUnavailable)
			time.Sleep(time.Minute)
			if synctest.Wait(); s.ended() {
				t.Fatalf("%s ended because the tenant couldn't answer", target)
			}
			d.close(tool, ubl.CodeForbidden)
			if told {
				w.tell(ubl.Event{Kind: ubl.EventToolsChanged, Payload: []byte(`{"tool":"room.create"}`)}, ubl.Event{Kind: ubl.EventToolsChanged, Payload: []byte(`{}`)})
				if synctest.Wait(); s.ended() {
					t.Errorf("%s ended with another tool", target)
				}
				w.tell(ubl.Event{Kind: ubl.EventToolsChanged, Payload: []byte(`{"tool":"` + tool + `"}`)})
			} else {
				time.Sleep(31 * time.Second)
			}
			if synctest.Wait(); !s.ended() || hub.Stats().Ended[sse.EndedMembership] != 1 {
				t.Errorf("%s goes on without its tool: %v", target, hub.Stats().Ended)
			}
			s.drop()
			for i, in := range d.taken {
				if in.Tool != tool || in.Still != (i > 0) || in.Act {
					t.Errorf("%s: question %d was %+v", target, i, in)
				}
			}
		})
	}
}

package sse_test

import (
	"context"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"ubl"
	"ubl/transport/envelope"
	"ubl/transport/sse"
)

const live = "/api/portal/logs/live"

// call tells a row of the portal's log to the tenant.
func (w *world) call(user ubl.UserID, n int64) {
	w.tell(ubl.Event{Kind: ubl.EventPortalCall, TenantID: tenant, TS: 1_800_000_000_000, UserID: user, Payload: fmt.Appendf(nil, `{"n":%d}`, n)})
}

// tell publishes events of the tenant's own.
func (w *world) tell(events ...ubl.Event) {
	w.mu.Lock()
	defer w.mu.Unlock()
	c := w.begin()
	c.act(ubl.DidPortalCall, "u:ann", nil)
	c.events = events
	c.publish("")
}

// in is a member whom the tenant has let in, with a role.
func in(user ubl.UserID, role ubl.Role) *envelope.Caller {
	c := member(user)
	c.Let(role)
	return c
}

func TestLiveLog(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w, hub := house(sse.Limits{})
		w.call("u:bob", 1)
		ann, bob := open(hub, in("u:ann", ubl.RoleOwner), live, ""), open(hub, in("u:bob", ubl.RoleMember), live, "")
		synctest.Wait()
		w.call("u:ann", 2)
		w.send("r:general", "u:ann", "not of the portal")
		w.call("u:bob", 3)
		w.leave("r:general", "u:bob") // a room is not the tenant
		w.call("u:bob", 3)
		synctest.Wait()
		time.Sleep(15 * time.Second)
		synctest.Wait()
		wantTranscript(t, ann.drop(), "retry 2000\nportal.call\nportal.call\nportal.call\n:keepalive")
		frames := bob.drop()
		wantTranscript(t, frames, "retry 2000\nportal.call\nportal.call\n:keepalive")
		if want := `{"event":"portal.call","payload":{"n":3},"tenant_id":"t:example.com","ts":"2027-01-15T08:00:00.000Z"}`; frames[1].data != want {
			t.Errorf("the data is %s, want %s", frames[1].data, want)
		}
		if n := w.subscriptions(); n != 0 {
			t.Errorf("%d subscriptions are left", n)
		}
	})
}

// rows are calls of a member.
func rows(n int) []ubl.Event {
	out := make([]ubl.Event, n)
	for i := range out {
		out[i] = ubl.Event{Kind: ubl.EventPortalCall, TenantID: tenant, UserID: "u:bob", Payload: fmt.Appendf(nil, `{"n":%d}`, i)}
	}
	return out
}

func TestLiveLogEndsWithTheMembership(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w, hub := house(sse.Limits{})
		bob := open(hub, in("u:bob", ubl.RoleMember), live, "")
		synctest.Wait()
		w.tell(append([]ubl.Event{{Kind: ubl.EventMemberLeft, UserID: "u:bob"}}, rows(1)...)...)
		synctest.Wait()
		wantEnded(t, hub, bob, sse.EndedMembership, "retry 2000")
	})
}

// TestLiveLogEndsWithTheRole: an owner who is demoted is shown nothing more, at once. Another's
// demotion ends nothing.
func TestLiveLogEndsWithTheRole(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w, hub := house(sse.Limits{})
		ann := open(hub, in("u:ann", ubl.RoleOwner), live, "")
		synctest.Wait()
		w.tell(append([]ubl.Event{{Kind: ubl.EventMemberDemoted, UserID: "u:bob"}}, rows(1)...)...)
		synctest.Wait()
		w.tell(append([]ubl.Event{{Kind: ubl.EventMemberDemoted, UserID: "u:ann"}}, rows(1)...)...)
		synctest.Wait()
		wantEnded(t, hub, ann, sse.EndedMembership, "retry 2000\nportal.call")
	})
}

func TestLiveLogCutsOffWhoLags(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w, hub := house(sse.Limits{})
		bob := open(hub, in("u:bob", ubl.RoleMember), live, "")
		synctest.Wait()
		bob.stall(true)
		w.tell(rows(1)...)
		synctest.Wait() // it is being written
		w.tell(rows(300)...)
		bob.stall(false)
		synctest.Wait()
		wantEnded(t, hub, bob, sse.EndedSlow, "retry 2000\nportal.call")
	})
}

// tenantSays answers with a role that a test changes.
type tenantSays struct {
	*world
	role atomic.Value // of ubl.Role; "" shuts the caller out
}

func says(w *world, role ubl.Role) *tenantSays {
	s := &tenantSays{world: w}
	s.role.Store(role)
	return s
}

func (s *tenantSays) Ask(ctx context.Context, to ubl.Name, cmd ubl.Command) (any, error) {
	if _, ok := cmd.(ubl.Enter); !ok {
		return s.world.Ask(ctx, to, cmd)
	}
	role := s.role.Load().(ubl.Role)
	if role == "" {
		return nil, ubl.Errorf(ubl.CodeForbidden, "shut out")
	}
	return &ubl.Entered{TenantID: tenant, Role: role}, nil
}

// TestLiveLogOfAnotherRole ends: an owner who is none any more sees too much.
func TestLiveLogOfAnotherRole(t *testing.T) {
	for name, later := range map[string]ubl.Role{"no owner any more": ubl.RoleMember, "no member any more": ""} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w, hub := house(sse.Limits{Keepalive: time.Hour})
				door := says(w, ubl.RoleOwner)
				c := member("u:ann")
				c.Enters(ubl.Enter{Request: ubl.Request{Who: c.Identity}}, door)
				s := open(hub, c, live, "")
				synctest.Wait()
				w.call("u:bob", 1)
				synctest.Wait()
				door.role.Store(later)
				time.Sleep(31 * time.Second)
				synctest.Wait()
				wantEnded(t, hub, s, sse.EndedMembership, "retry 2000\nportal.call")
			})
		})
	}
}

func TestLiveLogRefuses(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w, hub := house(sse.Limits{StreamsPerUser: 1})
		for what, test := range map[string]struct {
			caller *envelope.Caller
			target string
			status int
		}{
			"nobody":      {nil, live, 401},
			"a parameter": {in("u:ann", ubl.RoleOwner), live + "?s3cr3t=1", 400},
			"who is shut out": {func() *envelope.Caller {
				c := member("u:ann")
				c.Enters(ubl.Enter{Request: ubl.Request{Who: c.Identity}}, says(w, ""))
				return c
			}(), live, 403},
		} {
			s := open(hub, test.caller, test.target, "")
			<-s.done
			if s.status != test.status || strings.Contains(s.body.String(), "s3cr3t") {
				t.Errorf("%s: answered %d %s", what, s.status, s.body.String())
			}
		}
		first := open(hub, in("u:ann", ubl.RoleOwner), live, "")
		synctest.Wait()
		second := open(hub, in("u:ann", ubl.RoleOwner), live, "")
		<-second.done
		if second.status != 429 {
			t.Errorf("a second stream is answered %d", second.status)
		}
		first.drop()
	})
}

func TestLiveLogAndShutdown(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		_, hub := house(sse.Limits{})
		s := open(hub, in("u:ann", ubl.RoleOwner), live, "")
		synctest.Wait()
		if err := hub.Shutdown(t.Context()); err != nil {
			t.Fatal(err)
		}
		wantEnded(t, hub, s, sse.EndedShutdown, "retry 2000")
	})
}

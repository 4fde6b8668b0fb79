package sse_test

import (
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"ubl"
	"ubl/actors/families"
	"ubl/transport/sse"
)

const general = "/api/events/rooms/r:general"

// house is a world with r:general of u:ann, and a hub over it.
func house(limits sse.Limits) (*world, *sse.Hub) {
	w := newWorld()
	w.create("r:general", "u:ann")
	return w, sse.New(sse.Options{Asker: w, Feed: w, Limits: limits, Told: append(families.All.Told(), ubl.Told{Op: opNote, In: "room_id"}, ubl.Told{Op: opBell})})
}

func TestRoomStreamBegins(t *testing.T) {
	// The room has five messages.
	for _, c := range []struct{ name, target, lastID, want string }{
		{"with what is new", general, "", `
			retry 2000
			id 5
			id 6 message.created`},
		{"after from_seq", general + "?from_seq=3", "", `
			retry 2000
			id 4 message.created
			id 5 message.created
			id 6 message.created`},
		{"with everything", general + "?from_seq=0", "", `
			retry 2000
			id 1 message.created
			id 2 message.created
			id 3 message.created
			id 4 message.created
			id 5 message.created
			id 6 message.created`},
		{"after Last-Event-ID, which beats from_seq", general + "?from_seq=0", "4", `
			retry 2000
			id 5 message.created
			id 6 message.created`},
		{"at the head, exactly", general, "5", `
			retry 2000
			id 6 message.created`},
		{"at the head, after a restore took what the client has seen", general, "9", `
			retry 2000
			id 5 room.gap
			id 6 message.created`},
		{"under an escaped path", "/api/events/rooms/r%3Ageneral?from_seq=5", "", `
			retry 2000
			id 6 message.created`},
		{"without its prefix", "/api/events/rooms/general?from_seq=5", "", `
			retry 2000
			id 6 message.created`},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w, hub := house(sse.Limits{})
				w.sendN("r:general", "u:ann", 4)
				s := open(hub, member("u:ann"), c.target, c.lastID)
				synctest.Wait()
				w.send("r:general", "u:ann", "new")
				synctest.Wait()
				wantTranscript(t, s.drop(), c.want)
			})
		})
	}
}

func TestStreamHeaders(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		_, hub := house(sse.Limits{})
		s := open(hub, member("u:ann"), general, "")
		synctest.Wait()
		s.drop()
		for name, want := range map[string]string{
			"Content-Type": "text/event-stream", "Cache-Control": "no-store", "X-Accel-Buffering": "no",
		} {
			if got := s.header.Get(name); got != want {
				t.Errorf("%s is %q, want %q", name, got, want)
			}
		}
	})
}

func TestRefusedBeforeTheStream(t *testing.T) {
	for _, c := range []struct {
		name, target, lastID string
		user                 ubl.UserID
		status               int
		code                 ubl.Code
	}{
		{"nobody", general, "", "", 401, ubl.CodeUnauthorized},
		{"not a member", general, "", "u:bob", 403, ubl.CodeNotAMember},
		{"no such room", "/api/events/rooms/r:none", "", "u:ann", 404, ubl.CodeNotFound},
		{"not a room id", "/api/events/rooms/u:general", "", "u:ann", 400, ubl.CodeValidation},
		{"a badly escaped room id", "/api/events/rooms/r%3A%2f", "", "u:ann", 400, ubl.CodeValidation},
		{"from_seq is a word", general + "?from_seq=last", "", "u:ann", 400, ubl.CodeValidation},
		{"from_seq is empty", general + "?from_seq=", "", "u:ann", 400, ubl.CodeValidation},
		{"from_seq is negative", general + "?from_seq=-1", "", "u:ann", 400, ubl.CodeValidation},
		{"from_seq has a sign", general + "?from_seq=%2B1", "", "u:ann", 400, ubl.CodeValidation},
		{"from_seq is a fraction", general + "?from_seq=1.0", "", "u:ann", 400, ubl.CodeValidation},
		{"from_seq is beyond 2^53", general + "?from_seq=9007199254740992", "", "u:ann", 400, ubl.CodeValidation},
		{"from_seq comes twice", general + "?from_seq=1&from_seq=2", "", "u:ann", 400, ubl.CodeValidation},
		{"a parameter is unknown", general + "?cursor=1", "", "u:ann", 400, ubl.CodeValidation},
		{"the path is escaped twice", "/api/events/rooms/r%253Ageneral", "", "u:ann", 400, ubl.CodeValidation},
		{"the query is broken", general + "?from_seq=%zz", "", "u:ann", 400, ubl.CodeValidation},
		{"a bad Last-Event-ID with a good from_seq", general + "?from_seq=1", "x", "u:ann", 400, ubl.CodeValidation},
		{"a tenant's id in a room", general, "l0-4", "u:ann", 400, ubl.CodeValidation},
		{"a room's id in a tenant", "/api/events", "4", "u:ann", 400, ubl.CodeValidation},
		{"a tenant's id without its number", "/api/events?cursor=l0-", "", "u:ann", 400, ubl.CodeValidation},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w, hub := house(sse.Limits{})
				caller := member(c.user)
				if c.user == "" {
					caller = nil
				}
				s := open(hub, caller, c.target, c.lastID)
				<-s.done
				body := s.body.String()
				if s.status != c.status || !strings.Contains(body, `"code":"`+string(c.code)+`"`) {
					t.Errorf("got %d %s, want %d %s", s.status, body, c.status, c.code)
				}
				synctest.Wait()
				if n := w.subscriptions(); n != 0 {
					t.Errorf("%d subscriptions are left", n)
				}
			})
		})
	}
}

func TestUnavailableActorRefusesAndRecovers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w, hub := house(sse.Limits{})
		w.fail(ubl.RoomName(tenant, "r:general"), ubl.Errorf(ubl.CodeOverloaded, "busy"))
		s := open(hub, member("u:ann"), general, "")
		<-s.done
		if s.status != 503 || s.header.Get("Retry-After") == "" {
			t.Errorf("got %d with Retry-After %q, want 503 with one", s.status, s.header.Get("Retry-After"))
		}
		w.fail(ubl.RoomName(tenant, "r:general"), nil)
		s = open(hub, member("u:ann"), general, "")
		synctest.Wait()
		wantTranscript(t, s.drop(), "retry 2000\nid 1")
	})
}

func TestLimits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w, hub := house(sse.Limits{Streams: 3, StreamsPerUser: 2})
		w.join("r:general", "u:bob")
		w.join("r:general", "u:cyd")
		ann := []*stream{open(hub, member("u:ann"), general, ""), open(hub, member("u:ann"), general, "")}
		synctest.Wait()
		over := open(hub, member("u:ann"), general, "")
		<-over.done
		if over.status != 429 {
			t.Errorf("a third stream of one user: %d, want 429", over.status)
		}
		bob := open(hub, member("u:bob"), general, "")
		synctest.Wait()
		cyd := open(hub, member("u:cyd"), general, "")
		<-cyd.done
		if cyd.status != 503 || cyd.header.Get("Retry-After") == "" {
			t.Errorf("a fourth stream: %d, want 503 with Retry-After", cyd.status)
		}
		ann[0].drop()
		again := open(hub, member("u:ann"), general, "")
		synctest.Wait()
		if again.ended() {
			t.Error("a stream that ended still counts")
		}
		for _, s := range []*stream{ann[1], bob, again} {
			s.drop()
		}
		synctest.Wait()
		if s := hub.Stats(); s.Streams != 0 || s.Follows != 0 || w.subscriptions() != 0 {
			t.Errorf("left behind: %+v, %d subscriptions", s, w.subscriptions())
		}
	})
}

func TestKeepaliveInSilence(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w, hub := house(sse.Limits{})
		room := open(hub, member("u:ann"), general, "")
		all := open(hub, member("u:ann"), "/api/events", "")
		time.Sleep(10 * time.Second)
		w.send("r:general", "u:ann", "not silent")
		time.Sleep(10 * time.Second)
		w.create("r:other", "u:bob") // moves the ledger, not ann's rooms
		w.trim("r:other", 0)         // moves it without an event
		time.Sleep(30 * time.Second)
		synctest.Wait()
		wantTranscript(t, room.drop(), `
			retry 2000
			id 1
			id 2 message.created
			:keepalive
			:keepalive`)
		wantTranscript(t, all.drop(), `
			retry 2000
			id l0-4
			id l0-6 message.created
			id l0-12
			:keepalive
			:keepalive`)
	})
}

func TestGapWhereRetentionTookMessages(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w, hub := house(sse.Limits{})
		w.sendN("r:general", "u:ann", 9)
		w.trim("r:general", 8)
		s := open(hub, member("u:ann"), general+"?from_seq=2", "")
		synctest.Wait()
		got := s.drop()
		wantTranscript(t, got, `
			retry 2000
			id 7 room.gap
			id 8 message.created
			id 9 message.created
			id 10 message.created`)
		if !strings.Contains(got[1].data, `"payload":{"available_from":8,"from_seq":3}`) {
			t.Errorf("the gap is %s", got[1].data)
		}
		// A client that drops right after the gap gets what it announced.
		s = open(hub, member("u:ann"), general, "7")
		synctest.Wait()
		wantTranscript(t, s.drop()[:2], "retry 2000\nid 8 message.created")
	})
}

func TestGapWhereNothingIsLeft(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w, hub := house(sse.Limits{})
		w.sendN("r:general", "u:ann", 4)
		w.trim("r:general", 6)
		s := open(hub, member("u:ann"), general+"?from_seq=0", "")
		synctest.Wait()
		w.send("r:general", "u:ann", "new")
		synctest.Wait()
		wantTranscript(t, s.drop(), `
			retry 2000
			id 5 room.gap
			id 6 message.created`)
	})
}

func TestJoinedComesBeforeItsMessageWithoutAnID(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w, hub := house(sse.Limits{})
		s := open(hub, member("u:ann"), general, "")
		all := open(hub, member("u:ann"), "/api/events", "")
		synctest.Wait()
		w.join("r:general", "u:bob")
		w.leave("r:general", "u:bob") // internal: shown to nobody
		synctest.Wait()
		wantTranscript(t, s.drop(), `
			retry 2000
			id 1
			room.member_joined
			id 2 message.created`)
		wantTranscript(t, all.drop(), `
			retry 2000
			id l0-4
			room.member_joined
			id l0-8 message.created`)
	})
}

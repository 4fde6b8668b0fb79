package sse_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"pgregory.net/rapid"

	"ubl"
	"ubl/transport/sse"
)

// writers are who a stream says are writing: "u:bob" while it holds, "u:bob no more" once it ended.
func writers(frames []frame) (out []string) {
	for _, f := range frames {
		if f.event != ubl.EventRoomTyping {
			continue
		}
		var told struct {
			TS      ubl.Time
			Payload ubl.Typing
		}
		if err := json.Unmarshal([]byte(f.data), &told); err != nil {
			panic(err)
		}
		text := string(told.Payload.UserID)
		if told.Payload.Until <= told.TS {
			text += " no more"
		}
		out = append(out, text)
		if f.id != "" {
			out = append(out, "with id "+f.id)
		}
	}
	return out
}

// TestTypingPasses: members hear at once who is writing and who has stopped, without an id.
// Who comes within its time hears of it, too, and who comes later or resumes doesn't; it
// takes no room of what is sent.
func TestTypingPasses(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w, hub := house(sse.Limits{RingEvents: 4})
		w.join("r:general", "u:bob")
		first := open(hub, member("u:ann"), general, "")
		synctest.Wait()
		from := w.head("r:general")
		for range 20 {
			w.typing("r:general", "u:bob", ubl.TypingFor)
			synctest.Wait()
		}
		w.sendN("r:general", "u:bob", 3)
		synctest.Wait()
		time.Sleep(ubl.TypingFor - time.Millisecond)
		within := open(hub, member("u:bob"), general+fmt.Sprintf("?from_seq=%d", from), "")
		synctest.Wait()
		time.Sleep(time.Millisecond)
		after := open(hub, member("u:bob"), general+fmt.Sprintf("?from_seq=%d", from), "")
		synctest.Wait()
		w.typing("r:general", "u:bob", 0)
		synctest.Wait()

		want := append(slices.Repeat([]string{"u:bob"}, 20), "u:bob no more")
		if got := writers(first.drop()); !slices.Equal(got, want) {
			t.Errorf("who was there heard %q, want %q", got, want)
		}
		frames := within.drop()
		if got := writers(frames); !slices.Equal(got, []string{"u:bob", "u:bob no more"}) {
			t.Errorf("who came within its time heard %q", got)
		}
		if n := len(slices.DeleteFunc(frames, func(f frame) bool { return f.event != ubl.EventMessageCreated })); n != 3 {
			t.Errorf("they heard %d messages, want 3", n)
		}
		if got := writers(after.drop()); !slices.Equal(got, []string{"u:bob no more"}) {
			t.Errorf("who came later heard %q", got)
		}
	})
}

// TestTypingAlone: who asks for it hears who is writing and nothing else, not even an id from
// which to go on; and who asks for anything besides is refused.
func TestTypingAlone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w, hub := house(sse.Limits{RingEvents: 4})
		w.join("r:general", "u:bob")
		alone := open(hub, member("u:ann"), general+"?only=typing", "1")
		synctest.Wait()
		w.sendN("r:general", "u:bob", 10)
		w.typing("r:general", "u:bob", ubl.TypingFor)
		synctest.Wait()
		w.sendN("r:general", "u:bob", 10)
		synctest.Wait()
		frames := alone.drop()
		if got := writers(frames); !slices.Equal(got, []string{"u:bob"}) {
			t.Errorf("it tells of %q", got)
		}
		if i := slices.IndexFunc(frames, func(f frame) bool { return f.id != "" || f.event != "" && f.event != ubl.EventRoomTyping }); i >= 0 {
			t.Errorf("it tells of %+v besides", frames[i])
		}
		for _, query := range []string{"?only=reading", "?only=typing&from_seq=1", "?only=typing&only=typing"} {
			refused := open(hub, member("u:ann"), general+query, "")
			synctest.Wait()
			if got := writers(refused.drop()); got != nil || refused.status != 400 {
				t.Errorf("%s is answered with %d", query, refused.status)
			}
		}
	})
}

// TestTypingStaysInTheRoom: who isn't a member hears nothing of it, nor does who was removed,
// and a stream of all rooms doesn't tell of it.
func TestTypingStaysInTheRoom(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w, hub := house(sse.Limits{})
		w.create("r:other", "u:ann")
		w.join("r:general", "u:bob")
		removed, other := open(hub, member("u:bob"), general, ""), open(hub, member("u:ann"), "/api/events/rooms/r:other", "")
		all := open(hub, member("u:ann"), "/api/events", "")
		synctest.Wait()
		w.leave("r:general", "u:bob")
		w.typing("r:general", "u:ann", ubl.TypingFor)
		synctest.Wait()
		for name, s := range map[string]*stream{"a removed member": removed, "another room": other, "the stream of all rooms": all} {
			if got := writers(s.drop()); got != nil {
				t.Errorf("%s heard %q", name, got)
			}
		}
	})
}

// TestTypingAgrees: whatever is lost between two nodes, both know the same people to be
// writing once its time has passed since the last loss.
func TestTypingAgrees(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		synctest.Test(t, func(t *testing.T) {
			now := map[string]map[ubl.UserID]time.Time{"one": {}, "two": {}} // by node, until when
			users := []ubl.UserID{"u:ann", "u:bob", "u:cyd"}
			w, first := house(sse.Limits{})
			w.join("r:general", "u:bob")
			other, second := house(sse.Limits{})
			other.join("r:general", "u:bob")
			streams := map[string]*stream{"one": open(first, member("u:ann"), general, ""), "two": open(second, member("u:ann"), general, "")}
			synctest.Wait()
			seen := map[string]int{}
			take := func() {
				synctest.Wait()
				for name, s := range streams {
					heard := writers(s.frames())
					for _, text := range heard[seen[name]:] {
						user, stopped := strings.CutSuffix(text, " no more")
						if delete(now[name], ubl.UserID(user)); !stopped {
							now[name][ubl.UserID(user)] = time.Now().Add(ubl.TypingFor)
						}
					}
					seen[name] = len(heard)
					maps.DeleteFunc(now[name], func(_ ubl.UserID, until time.Time) bool { return !time.Now().Before(until) })
				}
			}
			steps := rapid.IntRange(1, 20).Draw(rt, "steps")
			for range steps {
				user := rapid.SampledFrom(users).Draw(rt, "who")
				rest := rapid.SampledFrom([]time.Duration{0, ubl.TypingFor}).Draw(rt, "rest")
				for _, node := range []*world{w, other} {
					if !rapid.Bool().Draw(rt, "lost") {
						node.typing("r:general", user, rest)
					}
				}
				take()
				time.Sleep(time.Duration(rapid.IntRange(0, 2000).Draw(rt, "ms")) * time.Millisecond)
				take()
			}
			time.Sleep(ubl.TypingFor) // of which nothing is lost: u:bob says so again
			w.typing("r:general", "u:bob", ubl.TypingFor)
			other.typing("r:general", "u:bob", ubl.TypingFor)
			take()
			for name, s := range streams {
				if got := slices.Collect(maps.Keys(now[name])); !slices.Equal(got, []ubl.UserID{"u:bob"}) {
					t.Errorf("node %s knows %v to be writing", name, got)
				}
				s.drop()
			}
		})
	})
}

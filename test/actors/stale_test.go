package actors_test

import (
	"context"
	"math/rand/v2"
	"sync"
	"testing"
	"time"

	"ubl"
	"ubl/actors"
	"ubl/actors/room"
	"ubl/test/harness"
	"ubl/test/soak"
)

// slow is a Room whose Receive of chosen commands pauses, as a look into the store would.
type slow struct {
	inner   actors.Actor
	enter   chan struct{}
	proceed chan struct{}
	match   func(ubl.Command) bool
}

func (s *slow) Receive(t *actors.Turn, c ubl.Command) {
	if s.match(c) {
		s.enter <- struct{}{}
		<-s.proceed
	}
	s.inner.Receive(t, c)
}

// TestFailedGroupCommitsNothing: a decision that is under way when its group
// fails is not committed by the group that is loaded next.
func TestFailedGroupCommitsNothing(t *testing.T) {
	enter, proceed := make(chan struct{}), make(chan struct{})
	var once sync.Once
	v := &valve{}
	fam := actors.Family{
		Name: "room",
		Owns: func(l string) bool { return ubl.RoomID(l).Valid() },
		Open: func(ctx context.Context, env actors.Env) (actors.Actor, error) {
			a, err := room.Family(v.Store).Open(ctx, env)
			return &slow{a, enter, proceed, func(c ubl.Command) bool {
				hit := false
				if _, ok := c.(ubl.RemoveMember); ok {
					once.Do(func() { hit = true })
				}
				return hit
			}}, err
		},
	}
	h := harness.Open(t, harness.Options{Families: []actors.Family{fam}, Wrap: v.wrap})
	ana, bob := harness.User("ana@example.com"), harness.User("bob@example.com")
	h.Enter(ana)
	h.Enter(bob)
	tenant := ubl.TenantName(ana.TenantID)
	general := ubl.RoomName(ana.TenantID, ubl.GeneralRoom)
	other := harness.Must[*ubl.RoomSummary](h, tenant, ubl.CreateRoom{Request: h.Request(ana), Name: "other"})

	removed := make(chan error, 1)
	go func() {
		_, err := h.Ask(context.Background(), general, ubl.RemoveMember{Request: h.Request(ana), UserID: bob.UserID})
		removed <- err
	}()
	<-enter // general decides ...
	v.setFault(func(_ *ubl.Batch, settled func(error)) bool {
		go settled(ubl.Errorf(ubl.CodeUnavailable, "no space"))
		return true
	})
	h.Refused(ubl.CodeUnavailable, ubl.RoomName(ana.TenantID, other.RoomID), ubl.SendMessage{Request: h.Request(ana), Text: "x"})
	v.setFault(nil)
	// ... meanwhile its group has failed, and is loaded anew.
	harness.Must[*ubl.Sent](h, general, ubl.SendMessage{Request: h.Request(bob), Text: "still a member"})
	close(proceed)
	err := <-removed
	if ubl.CodeOf(err) != ubl.CodeUnavailable {
		t.Errorf("a decision on the state of a failed group was answered %v", err)
	}
	harness.Must[*ubl.Sent](h, general, ubl.SendMessage{Request: h.Request(bob), Text: "and still is"})
}

// TestRetriesOnAFullDisk: on a disk that is full now and then, every
// acknowledged send keeps its outcome.
func TestRetriesOnAFullDisk(t *testing.T) {
	seed := soak.Seed(t, "UBL_SEED", 1)
	random := rand.New(rand.NewPCG(seed, seed)) // guarded by the valve
	h, v := openWithValve(t, actors.Limits{})
	ana := harness.User("ana@example.com")
	h.Enter(ana)
	tenant := ubl.TenantName(ana.TenantID)
	general := ubl.RoomName(ana.TenantID, ubl.GeneralRoom)
	other := ubl.RoomName(ana.TenantID, harness.Must[*ubl.RoomSummary](h, tenant, ubl.CreateRoom{Request: h.Request(ana), Name: "other"}).RoomID)
	v.setFault(func(b *ubl.Batch, settled func(error)) bool {
		if random.IntN(20) == 0 {
			go settled(ubl.Errorf(ubl.CodeUnavailable, "no space"))
			return true
		}
		return false
	})
	type acked struct {
		to   ubl.Name
		send ubl.SendMessage
		seq  int64
	}
	var mu sync.Mutex
	var all []acked
	var wg sync.WaitGroup
	end := time.Now().Add(2 * time.Second)
	for i := range 8 {
		to := general
		if i%2 == 0 {
			to = other
		}
		wg.Go(func() {
			for n := 100; time.Now().Before(end); n = 100 + n%100 + 1 {
				c := ubl.SendMessage{Request: h.Request(ana), Text: "x"}
				if s, err := ubl.Ask[*ubl.Sent](context.Background(), h.Runtime, to, c); err == nil {
					mu.Lock()
					all = append(all, acked{to, c, s.RoomSeq})
					mu.Unlock()
				}
				_, _ = h.Ask(context.Background(), to, ubl.SetRoomPolicy{Request: h.Request(ana), Patch: ubl.RoomPolicyPatch{MaxMessageBytes: &n}})
			}
		})
	}
	wg.Wait()
	v.setFault(nil)
	h.Restart()
	bad := 0
	for _, a := range all {
		s, err := ubl.Ask[*ubl.Sent](context.Background(), h.Runtime, a.to, a.send)
		if err != nil || s.RoomSeq != a.seq {
			if bad++; bad < 4 {
				t.Errorf("the retry of room_seq %d gives %v, %v", a.seq, s, err)
			}
		}
	}
	t.Logf("%d acknowledged, %d retries with another outcome", len(all), bad)
}

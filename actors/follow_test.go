package actors_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"ubl"
	"ubl/actors"
	"ubl/panics"
	"ubl/test/harness"
	"ubl/test/poll"
	"ubl/test/soak"
)

// Two families of this test's own: what posts says is an act about a subject, and two
// followers hear of it. The tally decides, and the crier tells it outside.

type postState struct{ Posts int64 }

type postEvent struct {
	actors.Stamp
	Heard string `json:"heard,omitempty"`
}

// post is one act about a subject.
type post struct {
	ubl.Request
	Subject string
	Text    string
}

// heard asks the tally what it has heard. Answers []string.
type heard struct{}

// promise is an act about a subject whose effect comes later: keep puts it on record.
type (
	promise struct{ post }
	keep    struct{ ubl.Request }
)

func (post) Cost() int  { return ubl.ActCost }
func (keep) Cost() int  { return ubl.ActCost }
func (heard) Cost() int { return 0 }

const didPost ubl.Did = "post.say"

func postKind() *actors.Kind[postState, postEvent] {
	return &actors.Kind[postState, postEvent]{
		Name: "post", Version: 1, Spaces: "z",
		Place: func(name ubl.Name) actors.Place {
			local := name.Local()
			return actors.Place{Key: func(n int64) []byte { return counterKey(local, n) }, Counter: []byte("e" + local), Ref: 'z'}
		},
		Apply:    func(s *postState, _ postEvent) { s.Posts++ },
		Under:    func(_ *postState, who ubl.Identity) ubl.AgreementID { return ubl.TenantAgreement(who.TenantID) },
		Pointers: func(*postState) ubl.Fields { return ubl.Fields{} },
		Rules: []actors.Rule[postState, postEvent]{
			actors.On(didPost, nil, func(_ *postState, c post, _ actors.Moment) (*actors.Plan[postEvent], error) {
				act := actors.Act{This: ubl.Fields{ubl.Str("text", c.Text)}, Pointers: ubl.Fields{ubl.Str("subject", c.Subject)}}
				return &actors.Plan[postEvent]{Act: act, Answer: func(ubl.Receipt) any { return true }}, nil
			}),
			actors.On(didPost, nil, func(_ *postState, c promise, m actors.Moment) (*actors.Plan[postEvent], error) {
				act := actors.Act{This: ubl.Fields{ubl.Str("text", c.Text)}, Pointers: ubl.Fields{}, Status: ubl.StatusIntended}
				out := &actors.Outbound{Key: "promise", Lease: m.Now.Add(time.Hour)}
				return &actors.Plan[postEvent]{Act: act, Intends: out, Answer: func(ubl.Receipt) any { return true }}, nil
			}),
			actors.On("post.keep", nil, func(*postState, keep, actors.Moment) (*actors.Plan[postEvent], error) {
				return &actors.Plan[postEvent]{Ends: "promise", Answer: func(ubl.Receipt) any { return true }}, nil
			}),
		},
		Ended: func(*postState, actors.Sent, actors.Moment) (ubl.Did, *actors.Plan[postEvent], error) {
			return didPost, &actors.Plan[postEvent]{}, nil
		},
	}
}

func textOf(e actors.Entry) string {
	var action struct{ This struct{ Text string } }
	if err := json.Unmarshal(e.Action, &action); err != nil {
		panic(err)
	}
	return action.This.Text
}

func subjectOf(e actors.Entry) string { return e.Pointer("subject") }

type poster[S any, E actors.Event] struct {
	*actors.Entity[S, E]
	answer func(*S) any
}

// Receive implements [actors.Actor].
func (x poster[S, E]) Receive(t *actors.Turn, cmd ubl.Command) {
	if !x.Change(t, cmd) {
		t.Reply(x.answer(&x.State))
	}
}

type tallyState struct{ Heard []string }

// square is a house with posts, the tally and the crier.
type square struct {
	*harness.House
	t     *testing.T
	store *faulty
	ana   ubl.Identity

	mu      sync.Mutex
	trouble map[string]error // by subject
	cried   []string
	deaf    atomic.Bool         // whether nobody wants to hear the crier
	rests   atomic.Int64        // how often the tally was asked for one
	early   atomic.Int64        // how often that was by its first text
	rest    atomic.Int64        // of the tally at a time, in ns
	cursors map[ubl.Group]int64 // of the crier's own, nil where they are in the store
}

func (s *square) Cursor(_ context.Context, g ubl.Group) (int64, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.cursors[g], nil
}

func (s *square) Keep(_ context.Context, g ubl.Group, seq int64) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.cursors[g] = seq
	return nil
}

func (s *square) meet(subject string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.trouble[subject]; err != errPanic {
		return err
	}
	panic("a consumer's fault")
}

var errPanic = errors.New("panics")

func (s *square) upset(subject string, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.trouble[subject] = err
}

func (s *square) tally() actors.Family {
	follow := &actors.Follow{Name: "tally", Local: "tally", Dids: []ubl.Did{didPost}, Subject: subjectOf}
	follow.Rest = func(ubl.Group) time.Duration {
		s.rests.Add(1)
		return time.Duration(s.rest.Load())
	}
	kind := postKind()
	tally := &actors.Kind[tallyState, postEvent]{
		Name: "tally", Version: 1, Spaces: "z", Place: kind.Place, Follow: follow,
		Apply:    func(s *tallyState, e postEvent) { s.Heard = append(s.Heard, e.Heard) },
		Under:    func(_ *tallyState, who ubl.Identity) ubl.AgreementID { return ubl.TenantAgreement(who.TenantID) },
		Pointers: func(*tallyState) ubl.Fields { return ubl.Fields{} },
		Decide: func(_ *tallyState, e actors.Entry, _ actors.Moment) (ubl.Did, *actors.Plan[postEvent], error) {
			if err := s.meet(subjectOf(e)); err != nil {
				return "", nil, err
			}
			s.early.CompareAndSwap(0, s.rests.Load())
			return "tally.hear", &actors.Plan[postEvent]{Event: postEvent{Heard: textOf(e)}}, nil
		},
	}
	return actors.Family{
		Name: "tally", Owns: func(local string) bool { return local == "tally" }, Follow: follow,
		Open: func(ctx context.Context, env actors.Env) (actors.Actor, error) {
			x, err := tally.Load(ctx, s.store, env, actors.Hooks[postEvent]{})
			return poster[tallyState, postEvent]{x, func(s *tallyState) any { return append([]string{}, s.Heard...) }}, err
		},
	}
}

func (s *square) crier(own bool) actors.Family {
	follow := &actors.Follow{Name: "crier", Local: "crier", Dids: []ubl.Did{didPost}, Subject: subjectOf}
	follow.Wanted = func(ubl.Snapshot) (bool, error) { return !s.deaf.Load(), nil }
	if own {
		follow.Cursors, s.cursors = s, make(map[ubl.Group]int64)
	}
	return actors.Deliverer(squareStore{s}, follow, func(actors.Env) func(context.Context, string, []actors.Entry) error {
		return func(_ context.Context, subject string, list []actors.Entry) error {
			for _, e := range list {
				if err := s.meet(subject); err != nil {
					return err
				}
				s.mu.Lock()
				s.cried = append(s.cried, textOf(e))
				s.mu.Unlock()
			}
			return nil
		}
	})
}

// squareStore is the house's store, also before there is one.
type squareStore struct{ *square }

func (s squareStore) View(ctx context.Context, g ubl.Group, fn func(ubl.Snapshot) error) error {
	return s.store.View(ctx, g, fn)
}

func openSquare(t *testing.T, own bool) *square {
	s := &square{t: t, store: &faulty{}, trouble: make(map[string]error)}
	posts := postKind()
	s.House = harness.Open(t, harness.Options{
		Wrap:   func(of ubl.Store) ubl.Store { s.store.Store = of; return s.store },
		Panics: panics.New(slog.New(slog.DiscardHandler)),
		Families: []actors.Family{s.tally(), s.crier(own), {
			Name: "post", Owns: func(local string) bool { return strings.HasPrefix(local, "post:") },
			Open: func(ctx context.Context, env actors.Env) (actors.Actor, error) {
				x, err := posts.Load(ctx, s.store, env, actors.Hooks[postEvent]{
					Outcome: func(context.Context, postEvent) (any, error) { return true, nil },
				})
				return poster[postState, postEvent]{x, func(s *postState) any { return s.Posts }}, err
			},
		}},
	})
	s.ana = harness.User("ana@example.com")
	s.Enter(s.ana)
	return s
}

func (s *square) at(local string) ubl.Name { return ubl.Name(string(s.ana.TenantID) + "|" + local) }

// say posts a text, whose subject is what stands before the number.
func (s *square) say(texts ...string) {
	s.t.Helper()
	for _, text := range texts {
		c := post{s.Request(s.ana), strings.TrimRight(text, "0123456789"), text}
		for end := time.Now().Add(time.Minute); ; {
			_, err := s.Ask(s.t.Context(), s.at("post:1"), c)
			if err == nil {
				break
			}
			if ubl.CodeOf(err) != ubl.CodeUnavailable || time.Now().After(end) {
				s.t.Fatal(err)
			}
		}
	}
}

// heardOutside is what the crier has heard, without repetitions.
func (s *square) heardOutside() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	seen := make(map[string]bool)
	var once []string
	for _, text := range s.cried {
		if !seen[text] {
			once = append(once, text)
		}
		seen[text] = true
	}
	return strings.Join(once, " ")
}

// hear waits until both have heard just that.
func (s *square) hear(want string) {
	s.t.Helper()
	s.hearEach(want, want)
}

// hearEach waits until the tally and the crier have heard just that.
func (s *square) hearEach(want, outside string) {
	s.t.Helper()
	var tally, crier string
	for end := time.Now().Add(time.Minute); time.Now().Before(end); time.Sleep(time.Millisecond) {
		list, err := ubl.Ask[[]string](s.t.Context(), s, s.at("tally"), heard{})
		crier = s.heardOutside()
		tally = strings.Join(list, " ")
		if err == nil && tally == want && bySubject(crier) == bySubject(outside) {
			return
		}
	}
	s.t.Fatalf("the tally has heard %q, the crier %q, want %q and %q", tally, crier, want, outside)
}

// bySubject has the texts of each subject stand together: what is told outside keeps the
// order of each.
func bySubject(texts string) string {
	list := strings.Fields(texts)
	slices.SortStableFunc(list, func(a, b string) int { return strings.Compare(a[:1], b[:1]) })
	return strings.Join(list, " ")
}

// TestFollow: what is on record reaches those that follow, in order, over restarts, and
// what a decision makes of it is there once.
func TestFollow(t *testing.T) {
	for _, own := range []bool{false, true} {
		t.Run(fmt.Sprintf("own cursors %v", own), func(t *testing.T) {
			s := openSquare(t, own)
			s.say("a1", "b2", "a3")
			s.hear("a1 b2 a3")
			s.Restart()
			s.say("a4")
			s.hear("a1 b2 a3 a4")
			s.Reload()
			s.say("b5")
			s.hear("a1 b2 a3 a4 b5")
			for end := time.Now().Add(time.Minute); s.FollowStats()["tally"] != (actors.FollowStats{Delivered: 2}); time.Sleep(time.Millisecond) {
				if time.Now().After(end) {
					t.Fatalf("after the restart the figures are %+v", s.FollowStats())
				}
			}
			s.VerifyLedger(s.ana.TenantID)
		})
	}
}

// TestFollowUnwanted: where nobody is to be told, what is said is passed over, and nobody who
// wants to hear later is told of it.
func TestFollowUnwanted(t *testing.T) {
	for _, own := range []bool{false, true} {
		t.Run(fmt.Sprintf("own cursors %v", own), func(t *testing.T) {
			s := openSquare(t, own)
			s.deaf.Store(true)
			s.say("a1", "b2")
			poll.Until(t, "the crier has passed over it", func() bool { return s.FollowStats()["crier"].Groups == 0 })
			s.deaf.Store(false)
			s.say("a3")
			s.hearEach("a1 b2 a3", "a3")
		})
	}
}

// TestFollowRests: who rests before a look and after each page takes in all that was said
// meanwhile, page by page.
func TestFollowRests(t *testing.T) {
	s := openSquare(t, false)
	s.rest.Store(int64(100 * time.Millisecond))
	var all []string
	for i := range 250 {
		all = append(all, fmt.Sprintf("a%d", i))
	}
	s.say(all...)
	s.hear(strings.Join(all, " "))
	if n := s.rests.Load(); n < 3 {
		t.Errorf("of %d texts, there were %d rests with pages of a hundred", len(all), n)
	}
	if s.early.Load() == 0 {
		t.Error("it didn't rest before its first page")
	}
}

// TestFollowLateEffects: an act whose effect comes later is heard of twice, also where what puts
// the effect on record is called otherwise.
func TestFollowLateEffects(t *testing.T) {
	s := openSquare(t, false)
	hears := func(want string) {
		t.Helper()
		got := ""
		for end := time.Now().Add(20 * time.Second); got != want; time.Sleep(time.Millisecond) {
			if got = strings.Join(s.tallied(), " "); time.Now().After(end) {
				t.Fatalf("the tally has heard %q, want %q", got, want)
			}
		}
	}
	harness.Must[bool](s.House, s.at("post:1"), promise{post{s.Request(s.ana), "", "a1"}})
	hears("a1")
	harness.Must[bool](s.House, s.at("post:1"), keep{s.Request(s.ana)})
	hears("a1 a1")
}

// TestFollowACrash: the commit of a cursor with its effect fails before it is durable, or
// is durable and nobody learns of it.
func TestFollowACrash(t *testing.T) {
	for what, fault := range crashes() {
		for n := range 4 {
			t.Run(fmt.Sprintf("%s batch %d", what, n), func(t *testing.T) {
				s := openSquare(t, false)
				s.say("a1")
				s.hear("a1")
				batches := 0
				s.store.each(func(b *ubl.Batch, settled func(error)) bool {
					if batches++; batches == n+1 {
						fault(s.store)(b, settled)
						return true
					}
					return false
				})
				s.say("b2", "a3")
				s.hear("a1 b2 a3")
				s.store.each(nil)
				s.Restart()
				s.say("a4")
				s.hear("a1 b2 a3 a4")
				s.VerifyLedger(s.ana.TenantID)
			})
		}
	}
}

// TestFollowParks: an entry that fails holds up its subject alone. It is tried again after
// a while, with what came behind it, in order; at last it has failed, and stays.
func TestFollowParks(t *testing.T) {
	for _, trouble := range []error{errors.New("trouble"), errPanic} {
		t.Run(trouble.Error(), func(t *testing.T) {
			s := openSquare(t, false)
			s.upset("a", trouble)
			s.say("a1", "b2", "a3", "b4")
			s.hear("b2 b4")
			s.Clock.Add(2 * time.Second)
			s.Alarms()
			s.hear("b2 b4")
			s.Restart()
			s.upset("a", nil)
			s.say("a5")
			s.hear("b2 b4")
			s.Clock.Add(4 * time.Second)
			s.Alarms()
			s.hear("b2 b4 a1 a3 a5")
			s.say("a6", "b7")
			s.hear("b2 b4 a1 a3 a5 a6 b7")
			s.upset("b", trouble)
			s.say("b8", "a9")
			s.hear("b2 b4 a1 a3 a5 a6 b7 a9")
			for range 25 {
				s.Clock.Add(6 * time.Hour)
				s.Alarms()
			}
			for end := time.Now().Add(time.Minute); s.AlarmStats().Failed != 2; time.Sleep(time.Millisecond) {
				if time.Now().After(end) {
					t.Fatalf("the figures are %+v", s.AlarmStats())
				}
			}
			s.VerifyLedger(s.ana.TenantID)
		})
	}
}

// TestFollowRandomly: entries fail and commits are lost at random. In the end each subject
// was heard of in order, by the tally once.
func TestFollowRandomly(t *testing.T) {
	seed := soak.Seed(t, "UBL_SEED", 1)
	for round := range uint64(3) {
		random := rand.New(rand.NewPCG(seed, round)) // guarded by s.mu
		s := openSquare(t, false)
		faults := crashes()
		s.store.each(func(b *ubl.Batch, settled func(error)) bool {
			s.mu.Lock()
			n := random.IntN(30)
			s.mu.Unlock()
			if n > 1 {
				return false
			}
			faults[[]string{"before", "after"}[n]](s.store)(b, settled)
			return true
		})
		var want []string
		for n := range 60 {
			subject := string(rune('a' + n%3))
			if n%7 == 0 {
				s.upset(subject, []error{nil, errors.New("trouble"), errPanic}[n%3])
			}
			want = append(want, subject+fmt.Sprint(n))
			s.say(want[n])
			if n%10 == 0 {
				s.Clock.Add(time.Minute)
			}
		}
		s.store.each(nil)
		for _, subject := range []string{"a", "b", "c"} {
			s.upset(subject, nil)
		}
		s.Restart()
		for end := time.Now().Add(time.Minute); len(s.tallied())+len(strings.Fields(s.heardOutside())) < 2*len(want) && time.Now().Before(end); {
			s.Clock.Add(time.Hour)
			s.Alarms()
		}
		if got := strings.Join(s.tallied(), " "); bySubject(got) != bySubject(strings.Join(want, " ")) {
			t.Errorf("the tally has heard %q, want %q", got, want)
		}
		if got := s.heardOutside(); bySubject(got) != bySubject(strings.Join(want, " ")) {
			t.Errorf("the crier has heard %q, want %q", got, want)
		}
		s.VerifyLedger(s.ana.TenantID)
	}
}

func (s *square) tallied() []string {
	return harness.Must[[]string](s.House, s.at("tally"), heard{})
}

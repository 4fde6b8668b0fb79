package actors_test

import (
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"ubl"
	"ubl/actors"
)

// Two families of this test's own, of one kind and with all that the kernel offers. Those on
// the left decide what alarms and entries of the ledger lead to (Wake, Decide), and found
// actors on the right. Those on the right ask other actors and tell it outside (Errand,
// Deliver), and what came of their outbounds passes. The state lists what has happened.

type sideState struct {
	Name   string
	Done   []string // by events that are stored
	Beside besides
}

// besides are what follows from no stored event.
type besides struct {
	Passed []string // by events that pass, in a record
	Items  int64    // the newest item
}

func (s *sideState) has(what func(string) bool) bool {
	return slices.ContainsFunc(s.Done, what) || slices.ContainsFunc(s.Beside.Passed, what)
}

// open is the outbound of a key that has been intended and not ended, "" for none.
func (s *sideState) open(key string) (tag string) {
	intended := func(what string) bool {
		_, of, ok := strings.Cut(strings.TrimSuffix(what, "!"+key), ":")
		ok = ok && strings.HasSuffix(what, "!"+key) && !s.has(func(what string) bool { return strings.HasPrefix(what, "end:"+of+":") })
		if ok {
			tag = of
		}
		return ok
	}
	s.has(intended)
	return tag
}

type sideEvent struct {
	actors.Stamp
	What string `json:"what"`
}

type sidePlan = actors.Plan[sideEvent]

// sideItem is what a deed makes that is an item.
type sideItem struct {
	N       int64
	What    string
	Receipt ubl.Receipt
}

func (x *sideItem) Number() int64 { return x.N }
func (x *sideItem) Seal(receipt ubl.Receipt) []byte {
	x.Receipt = receipt
	return encodeJSON(x)
}
func (x *sideItem) Told() ubl.Event { return ubl.Event{Kind: "item", Payload: encodeJSON(x.What)} }

// deed is what somebody wants done: whatever a plan can say, together.
type deed struct {
	Tag                      string
	As                       string // event or item; passing is a command of its own
	First, Also, Then, Found bool
	Beside                   bool   // makes an item besides its event
	Memory                   bool   // answered by the plan
	Refused                  bool   // by its decision
	Yields                   bool   `json:"-"` // its caller gives up where it panics
	If                       string // the version that the actor must have; "" for any. A step has how far that is from the one known
	Alarms                   []actors.Alarm
	Out                      *actors.Outbound
}

// name is what of a deed happens, as the state and the ledger call it.
func (d *deed) name() string {
	return d.As + ":" + d.Tag + d.intends(!d.Also)
}

// intends marks the part of a deed that intends its outbound.
func (d *deed) intends(here bool) string {
	if d.Out == nil || !here {
		return ""
	}
	return "!" + d.Out.Key
}

func (d *deed) founds() string { return "right:" + d.Tag }
func (d *deed) beside() string { return "beside:" + d.Tag }

// foundedAlarm is what a founded actor begins with.
var foundedAlarm = actors.Alarm{Key: "r1", After: 4 * time.Second}

type (
	// do has a deed done. Answers answered.
	do struct {
		ubl.Request
		deed
	}
	// passingly has one done whose event passes. Answers how many have passed by then.
	passingly struct{ do }
	// hand ends the outbound of a key. Answers answered.
	hand struct {
		ubl.Request
		Key string
	}
	// tell answers the state as JSON.
	tell struct{}
)

// Expected implements [ubl.Conditional].
func (c do) Expected() []string {
	if c.If == "" {
		return nil
	}
	return []string{c.If}
}

func (do) Cost() int   { return ubl.ActCost }
func (hand) Cost() int { return ubl.ActCost }
func (tell) Cost() int { return 0 }

type answered struct {
	What    string
	Receipt ubl.Receipt
}

// What is done beside the mailboxes takes times of its own, so that it seldom meets: else the
// order in which goroutines happen to run would decide.
const (
	readTakes    = 901 * time.Millisecond // of the ledger
	thenTakes    = 203 * time.Millisecond
	deliverTakes = 405 * time.Millisecond
	errandTakes  = 707 * time.Millisecond
	sendTakes    = 1311 * time.Millisecond
)

// side makes the kind of a family in a world.
type side struct {
	*world
	name string // left or right
}

func (x side) did(act string) ubl.Did { return ubl.Did(x.name + "." + act) }

// plan is an act with its event, and says in the ledger what happens to whom.
func (x side) plan(s *sideState, as, what string) *sidePlan {
	happens := ubl.Fields{ubl.Str("as", as), ubl.Str("at", s.Name), ubl.Str("subject", subjectOfDeed(what)), ubl.Str("what", what)}
	return &sidePlan{
		Act:   actors.Act{This: happens, Effects: []ubl.Fields{append(ubl.Fields{ubl.Str("op", "told")}, happens...)}},
		Event: sideEvent{What: what},
	}
}

// subjectOfDeed is one of two.
func subjectOfDeed(what string) string { return string(rune('a' + len(what)%2)) }

func subjectOfEntry(e actors.Entry) string {
	var action struct{ This struct{ Subject string } }
	if err := json.Unmarshal(e.Action, &action); err != nil {
		panic(err)
	}
	return action.This.Subject
}

func (x side) kind() *actors.Kind[sideState, sideEvent] {
	k := &actors.Kind[sideState, sideEvent]{
		Name: x.name, Version: 1, Spaces: "vwxyz",
		Place: func(name ubl.Name) actors.Place {
			local := name.Local()
			return actors.Place{Key: func(n int64) []byte { return counterKey(local, n) }, Counter: []byte("e" + local), Ref: 'z', Passed: 'p'}
		},
		Empty: func(of ubl.Name) sideState { return sideState{Name: of.Local()} },
		Apply: func(s *sideState, e sideEvent) {
			if e.N == 0 {
				s.Beside.Passed = append(s.Beside.Passed, e.What)
			} else {
				s.Done = append(s.Done, e.What)
			}
		},
		Under:    func(_ *sideState, who ubl.Identity) ubl.AgreementID { return ubl.TenantAgreement(who.TenantID) },
		Pointers: func(s *sideState) ubl.Fields { return ubl.Fields{ubl.Int("done", int64(len(s.Done)))} },
		Newest:   func(s *sideState, _ ubl.Command) string { return strconv.Itoa(len(s.Done)) },
		Stands:   x.stands,
		Index: func(s *sideState, e sideEvent, act *actors.Act) []actors.Record {
			if e.N == 0 {
				return []actors.Record{{Key: []byte("y" + s.Name), Value: encodeJSON(s.Beside.Passed)}}
			}
			return []actors.Record{act.Sealed([]byte("x"+s.Name), encodeJSON(map[string]int64{"n": e.N}))}
		},
		Told:  []ubl.Told{{Op: "told"}},
		Items: func(name ubl.Name) actors.Place { return itemsOf(name.Local()) },
		Take:  func(s *sideState, item actors.Item) { s.Beside.Items = item.Number() },
		Rules: []actors.Rule[sideState, sideEvent]{
			actors.On(x.did("do"), func(c do) []string { return []string{string(encodeJSON(c.deed))} }, x.decide),
			actors.OnPassing(x.did("do"), func(c passingly) []string { return []string{string(encodeJSON(c.deed))} },
				func(s *sideState, c passingly, m actors.Moment) (*sidePlan, error) { return x.decide(s, c.do, m) },
				func(s *sideState, c passingly) func() (any, error) {
					passed := len(s.Beside.Passed)
					return func() (any, error) { return passed, x.meet("answer", c.Tag) }
				}),
			actors.On(x.did("hand"), func(c hand) []string { return []string{c.Key} }, x.byHand),
		},
		Ended: x.ended,
		Snapshot: &actors.Snapshots[sideState]{
			Version: 1, Every: 3, Each: -1, Piece: 60,
			Encode: func(s *sideState) []byte { return encodeJSON(sideState{Name: s.Name, Done: s.Done}) },
			Decode: func(v []byte) (s sideState, err error) { return s, json.Unmarshal(v, &s) },
			Size:   func(s *sideState) int { return len(s.Done) },
		},
		Beside: func(ctx context.Context, read ubl.Reader, name ubl.Name, s *sideState) error {
			return read.View(ctx, name.Group(), func(snap ubl.Snapshot) error {
				v, err := snap.Get([]byte("y" + s.Name))
				if v != nil {
					err = errors.Join(err, json.Unmarshal(v, &s.Beside.Passed))
				}
				n, failed := snap.Counter(itemsOf(s.Name).Counter)
				s.Beside.Items = n
				return errors.Join(err, failed)
			})
		},
		Follow: x.follow(),
	}
	if x.name == "left" {
		k.Wake, k.Decide = x.wake, x.hear
	} else {
		k.WakePasses = true
	}
	return k
}

// stands is the seat's input.
func (x side) stands(_ *sideState, p actors.Proposal) error {
	var h happening
	if err := json.Unmarshal(p.This.JSON(), &h); err != nil {
		return err
	}
	err := x.meet("seat", h.What)
	if err == nil {
		x.ledger.allow(h)
	}
	return err
}

func itemsOf(local string) actors.Place {
	return actors.Place{
		Key:     func(n int64) []byte { return binary.BigEndian.AppendUint64([]byte("w"+local+"\x00"), uint64(n)) },
		Counter: []byte("ew" + local), Ref: 'w',
	}
}

func (x side) follow() *actors.Follow {
	every := followEvery
	if x.name == "right" {
		every += 11 * time.Millisecond // the two don't meet
	}
	return &actors.Follow{
		Name: x.name, Local: x.name + ":tail", Subject: subjectOfEntry, Every: every,
		Dids: []ubl.Did{"left.do", "left.deed", "right.do", "right.deed"},
	}
}

// decide makes the plan of a deed.
func (x side) decide(s *sideState, c do, m actors.Moment) (*sidePlan, error) {
	if err := x.meet("decide", c.Tag); err != nil {
		return nil, err
	}
	if c.Refused || c.Out != nil && s.open(c.Out.Key) != "" {
		return nil, ubl.Errorf(ubl.CodeConflict, "it isn't to be")
	}
	name := c.name()
	p := x.plan(s, c.As, name)
	p.Alarms = c.Alarms
	p.Records = []actors.Record{{Key: []byte("v" + s.Name), Seal: func() []byte {
		_ = x.meet("seal", c.Tag)
		return []byte(name)
	}}}
	if c.As == "item" {
		p.Item = &sideItem{N: s.Beside.Items + 1, What: name}
	}
	if c.Beside {
		p.Beside = &sideItem{N: s.Beside.Items + 1, What: c.beside()}
	}
	if c.As == "item" || c.Memory {
		p.Answer = func(receipt ubl.Receipt) any {
			if err := x.meet("answer", c.Tag); err != nil {
				panic(err)
			}
			return answered{name, receipt}
		}
	}
	if c.First {
		p.First = &actors.Act{This: x.plan(s, "", "first:"+c.Tag).This}
		p.Did = x.did("deed")
	}
	if c.Found {
		x.found(s, p, c, m)
	}
	x.also(s, p, c)
	return p, nil
}

// also is what follows from a deed, and its outbound.
func (x side) also(s *sideState, p *sidePlan, c do) {
	intends := p
	if c.Also {
		intends = x.plan(s, "event", "also:"+c.Tag+c.intends(true))
		intends.Did = x.did("also")
		p.Also = intends
	}
	if c.Out != nil {
		out := *c.Out
		out.Content = encodeJSON(c.Tag)
		intends.Status, intends.Intends = ubl.StatusIntended, &out
	}
}

// found has the deed found an actor on the right.
func (x side) found(s *sideState, p *sidePlan, c do, m actors.Moment) {
	first := &sidePlan{Act: p.Act, Event: sideEvent{What: "found:" + c.Tag}, Alarms: []actors.Alarm{foundedAlarm}}
	first.This = append(slices.Clone(first.This), ubl.Str("founds", c.founds()))
	did := x.did("do")
	if c.First {
		did = p.Did
	}
	p.Founding = side{x.world, "right"}.kind().Found(x.at(c.founds()), did, c.Request, m.Now, first)
}

// byHand ends an outbound in place of the outbox.
func (x side) byHand(s *sideState, c hand, _ actors.Moment) (*sidePlan, error) {
	tag := s.open(c.Key)
	if tag == "" {
		return nil, ubl.Errorf(ubl.CodeConflict, "it isn't open")
	}
	p := x.plan(s, "event", "end:"+tag+":by hand")
	p.Ends = c.Key
	return p, nil
}

// ended puts on record what the outbox has ended.
func (x side) ended(s *sideState, out actors.Sent, _ actors.Moment) (ubl.Did, *sidePlan, error) {
	if err := x.meet("ended", out.Key); err != nil {
		return "", nil, err
	}
	as, outcome := "event", "ok "+string(out.Answer)
	if x.name == "right" {
		as = "passing"
	}
	if out.Err != nil {
		outcome = string(out.Err.Code)
	}
	p := x.plan(s, as, "end:"+tagOf(out.Outbound)+":"+outcome)
	if out.Err != nil {
		p.Error = &ubl.AtomError{Code: out.Err.Code, Message: out.Err.Message}
	}
	return x.did("do"), p, nil
}

// tagOf is the deed that an outbound is of.
func tagOf(out actors.Outbound) (tag string) {
	if err := json.Unmarshal(out.Content, &tag); err != nil {
		panic(err)
	}
	return tag
}

// Alarms whose keys begin with r ring, those with g ring three times (on the left), or end
// their alarm by themselves (on the right), and those with n have no reason any more.

// followEvery is how long both followers wait, about.
const followEvery = 2 * time.Second

// againAfter is when an alarm rings again.
const againAfter = 5 * time.Second

// wake is what an alarm on the left leads to.
func (x side) wake(s *sideState, key string, m actors.Moment) (ubl.Did, *sidePlan, error) {
	if err := x.meet("wake", key); err != nil || key[0] == 'n' {
		return "", nil, err
	}
	p := x.plan(s, "event", "ring:"+key)
	if rung := len(slices.DeleteFunc(slices.Clone(s.Done), func(what string) bool { return what != "ring:"+key })); key[0] == 'g' && rung%3 != 2 {
		p.Alarms = []actors.Alarm{{Key: key, At: m.Now.Add(againAfter)}}
	}
	return x.did("ring"), p, nil
}

// errand is what an alarm on the right leads to.
func (x side) errand(ask ubl.Asker, name ubl.Name) func(string, ubl.Request) func(context.Context) error {
	return func(key string, req ubl.Request) func(context.Context) error {
		if key[0] == 'n' {
			return nil
		}
		to, rings := x.at("left:1"), deed{Tag: "rang|" + req.Key, As: "event"}
		if key[0] == 'g' {
			to, rings.Alarms = name, []actors.Alarm{{Key: key}}
		}
		return func(ctx context.Context) error {
			time.Sleep(errandTakes)
			if err := x.meet("errand", key); err != nil {
				return err
			}
			_, err := ask.Ask(ctx, to, x.command(req, rings))
			return err
		}
	}
}

// hear is what an entry leads to on the left.
func (x side) hear(s *sideState, e actors.Entry, _ actors.Moment) (ubl.Did, *sidePlan, error) {
	if err := x.meet("hear", subjectOfEntry(e)); err != nil {
		return "", nil, err
	}
	return x.did("hear"), x.plan(s, "event", fmt.Sprint("heard:", e.Seq)), nil
}

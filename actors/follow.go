package actors

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"

	"ubl"
)

// Follow has one actor of each tenant follow the tenant's ledger: every act of some names
// reaches it in order, at least once, from the beginning of the ledger on. Its cursor is
// the newest atom whose effect it has had.
//
// A decision ([Kind].Decide) is committed with the cursor, so that each entry has its
// effect once. What lies outside ([Hooks].Deliver) is done before the cursor is committed.
//
// The entries of one subject have their effect in order. One that fails parks its subject:
// an alarm of the actor tries it again, with what came behind it, and at last fails for
// good, while other subjects are carried on.
type Follow struct {
	// Name is for metrics.
	Name string
	// Local is the part of the actor's name behind the tenant's.
	Local string
	// Dids are the acts that are asked for.
	Dids []ubl.Did
	// Subject is whose order counts, in 200 bytes at most; "" is one, too. It sees the atoms.
	Subject func(Entry) string
	// Bare says that the subject is all that counts: entries come without their atoms.
	Bare bool
	// Every is how long a follower waits after a commit, so that one look takes in many.
	Every time.Duration
	// Rest is asked before a look and after each page how long others have the machine to
	// themselves now; nil for not at all.
	Rest func(ubl.Group) time.Duration
	// Wanted reports whether there is anybody in the group for whom something is to be done. Where
	// there is nobody, the cursor passes over what nobody has read. Nil for always.
	Wanted func(ubl.Snapshot) (bool, error)
	// Cursors are where what lies outside keeps them itself, with its own effect; nil for
	// those in the store. Such a consumer brings a whole subject up to date at any entry of
	// it, since another node may have had the entries before that.
	Cursors Cursors
}

// Cursors are a consumer's own. They may be behind what has had its effect, never ahead.
type Cursors interface {
	// Cursor is that of a group, 0 where there is none.
	Cursor(context.Context, ubl.Group) (int64, error)
	// Keep notes that all up to a seq has had its effect.
	Keep(context.Context, ubl.Group, int64) error
}

// cursorKey is the record i 3 actor: the cursor of an actor that follows (JSON).
func cursorKey(local string) []byte { return append([]byte{'i', 3}, local...) }

const cursorVersion = 1

// cursor is a cursor as it is stored.
type cursor struct {
	Form int   `json:"v"`
	Seq  int64 `json:"seq"`
}

func readCursor(snap ubl.Snapshot, local string) (int64, error) {
	v, err := snap.Get(cursorKey(local))
	if err != nil || v == nil {
		return 0, err
	}
	var c cursor
	if err := json.Unmarshal(v, &c); err != nil || c.Form > cursorVersion {
		return 0, errors.Join(err, fmt.Errorf("a cursor is of version %d, this program knows %d", c.Form, cursorVersion))
	}
	return c.Seq, nil
}

// cursorOf is the cursor of a group as it is stored.
func (f *Follow) cursorOf(ctx context.Context, read ubl.Reader, g ubl.Group) (seq int64, err error) {
	if f.Cursors != nil {
		return f.Cursors.Cursor(ctx, g)
	}
	err = read.View(ctx, g, func(snap ubl.Snapshot) (err error) {
		seq, err = readCursor(snap, f.Local)
		return err
	})
	return seq, err
}

// What only the node's followers ask.
type (
	// follow has the actor take in a page of entries. Answers followed.
	follow struct{}
	// took ends that: entries are to be decided about. Of what lies outside, failed and
	// skipped are the first entries of subjects that couldn't be delivered, or were parked.
	// Answers taken.
	took struct {
		from, upTo               int64
		entries, failed, skipped []Entry
		any                      bool // whether there was an entry
	}
	// retook ends an attempt of a subject that is parked.
	retook struct {
		fire
		upTo    int64
		subject string
		entries []Entry
	}
)

// Cost is 0: what follows from it is another command.
func (follow) Cost() int { return 0 }

// Cost is that of the acts.
func (c took) Cost() int   { return ubl.ActCost * max(len(c.entries), 1) }
func (c retook) Cost() int { return ubl.ActCost * max(len(c.entries), 1) }

// taken is where the cursor is, and whether it is to be kept. An actor that was loaded again since
// it read the page knows another cursor than the page is behind of, and has taken nothing in.
type taken struct {
	upTo int64
	keep bool
}

// followed is how far an actor has come.
type followed struct {
	upTo, head        int64
	delivered, failed int
}

// receiveFollow answers what the node's followers ask.
func (x *Entity[S, E]) receiveFollow(t *Turn, cmd ubl.Command) bool {
	switch c := cmd.(type) {
	case follow:
		x.follow(t)
	case took:
		x.took(t, c)
	case retook:
		x.retook(t, c)
	default:
		return false
	}
	return true
}

// decisionsAtOnce is how many entries are decided about in one commit.
const decisionsAtOnce = 100

func (x *Entity[S, E]) source() source {
	most := entryPage
	if x.kind.Decide != nil {
		most = decisionsAtOnce
	}
	return source{read: x.Read, ask: x.Ask, group: x.Name.Group(), follow: x.kind.Follow, most: most}
}

// follow reads a page behind the cursor, has what lies outside done, and commits the rest.
func (x *Entity[S, E]) follow(t *Turn) {
	ctx, from, parked := t.Context(), x.cursor, x.parked()
	t.Later(func() (any, error) {
		page, err := x.source().after(ctx, from, math.MaxInt64)
		done := followed{upTo: page.upTo, head: page.head, delivered: len(page.list)}
		if err != nil || page.upTo == from {
			return done, err
		}
		c := took{from: from, upTo: page.upTo, entries: page.list, any: len(page.list) > 0}
		if x.hooks.Deliver != nil {
			if err := x.deliverAll(ctx, &c, parked); err != nil {
				return done, err
			}
			done.failed = len(c.failed)
		}
		took, err := ubl.Ask[taken](ctx, x.Ask, x.Name, c)
		if own := x.kind.Follow.Cursors; err == nil && took.keep && own != nil {
			err = own.Keep(ctx, x.Name.Group(), page.upTo)
		}
		done.upTo = took.upTo
		return done, err
	})
}

// deliverAll delivers entries by subjects, but for those that are parked. Its error is one
// after which the same attempt may succeed.
func (x *Entity[S, E]) deliverAll(ctx context.Context, c *took, parked map[string]bool) error {
	var order []string
	by := make(map[string][]Entry)
	for _, e := range c.entries {
		if by[e.Subject] == nil {
			order = append(order, e.Subject)
		}
		by[e.Subject] = append(by[e.Subject], e)
	}
	c.entries = nil
	for _, subject := range order {
		if parked[subject] {
			c.skipped = append(c.skipped, by[subject][0])
			continue
		}
		switch err := x.deliver(ctx, subject, by[subject]); {
		case err == nil:
		case ctx.Err() != nil || passes(err):
			return err
		default:
			x.Log.Warn("an entry of the ledger couldn't be delivered; its subject is parked", "consumer", x.kind.Follow.Name, "subject", subject, "error", err)
			c.failed = append(c.failed, by[subject][0])
		}
	}
	return nil
}

func (x *Entity[S, E]) deliver(ctx context.Context, subject string, list []Entry) error {
	return x.Panics.Try("delivering entries of the ledger", func() error { return x.hooks.Deliver(ctx, subject, list) })
}

// took moves the cursor, with what the entries lead to.
func (x *Entity[S, E]) took(t *Turn, c took) {
	if c.from != x.cursor {
		t.Reply(taken{upTo: x.cursor})
		return
	}
	parked := x.parked()
	for _, e := range c.entries {
		if parked[e.Subject] {
			continue
		}
		if err := x.decideEntry(t, e); err != nil {
			x.Log.Warn("an entry of the ledger led to an error; its subject is parked", "consumer", x.kind.Follow.Name, "subject", e.Subject, "error", err)
			parked[e.Subject] = true
			c.failed = append(c.failed, e)
		}
	}
	for _, e := range c.failed {
		x.park(t, e.Subject, e.Seq, 1)
	}
	for _, e := range c.skipped {
		if !parked[e.Subject] { // an attempt has succeeded since
			x.park(t, e.Subject, e.Seq, 0)
		}
	}
	x.cursor = c.upTo
	moved := c.any || c.upTo-x.keptCursor >= entryPage // fewer that nobody asks for aren't worth a commit
	if moved {
		x.keptCursor = c.upTo
		if x.kind.Follow.Cursors == nil {
			bookkeeping{{Key: cursorKey(x.Name.Local()), Value: encode(cursor{cursorVersion, c.upTo})}}.keep(t.append())
		}
	}
	t.Reply(taken{c.upTo, moved})
}

// decideEntry carries out what an entry leads to.
func (x *Entity[S, E]) decideEntry(t *Turn, e Entry) error {
	var did ubl.Did
	var p *Plan[E]
	err := x.Panics.Try("deciding about an entry of the ledger", func() (err error) {
		did, p, err = x.kind.Decide(&x.State, e, x.Moment(t))
		return err
	})
	if err != nil || p == nil {
		return err
	}
	id, err := ubl.NewRequestID(x.Random)
	var allowed Allowed[E]
	if err == nil {
		req := ubl.Request{Who: ubl.Platform(), ID: id, Key: fmt.Sprintf("tail:%s:%d", x.kind.Follow.Name, e.Seq)}
		allowed, err = x.Decide(t, did, req, p)
	}
	if err == nil {
		x.Enact(t, allowed, nil)
	}
	return err
}

// parkedPrefix begins the keys of alarms that try a parked subject again:
// tail:<seq of the first entry>:<subject>.
const parkedPrefix = "tail:"

func parkedKey(subject string, from int64) string {
	return fmt.Sprintf("%s%d:%s", parkedPrefix, from, subject)
}

// readParkedKey is the other way.
func readParkedKey(key string) (subject string, from int64, ok bool) {
	rest, ok := strings.CutPrefix(key, parkedPrefix)
	number, subject, found := strings.Cut(rest, ":")
	from, err := strconv.ParseInt(number, 10, 64)
	return subject, from, ok && found && err == nil
}

// parked are the subjects that wait for another attempt, or have failed for good.
func (x *Entity[S, E]) parked() map[string]bool {
	parked := make(map[string]bool)
	for key := range x.alarms {
		if subject, _, ok := readParkedKey(key); ok {
			parked[subject] = true
		}
	}
	return parked
}

// park has a subject wait from an entry on, for its next attempt.
func (x *Entity[S, E]) park(t *Turn, subject string, from int64, failures int) {
	as := armed{Due: t.Now(), For: t.Now(), Wait: atOnce, Attempts: failures}
	if failures > 0 {
		as.Due = t.Now().Add(retryAfter(failures))
	}
	x.setUnreceipted(t, parkedKey(subject, from), &as)
}

// parkedPages is how many pages of the ledger an attempt looks through. Then the alarm is
// set for the rest.
const parkedPages = 20

// refollow tries a parked subject again, with all entries of it up to the cursor.
func (x *Entity[S, E]) refollow(t *Turn, c fire, subject string, from int64) {
	ctx, cursor := t.Context(), x.cursor
	t.Later(func() (any, error) {
		again := retook{fire: c, upTo: from - 1, subject: subject}
		for page := 0; page < parkedPages && again.upTo < cursor; page++ {
			page, err := x.source().after(ctx, again.upTo, cursor)
			if err != nil {
				return true, err
			}
			again.upTo = page.upTo
			for _, e := range page.list {
				if e.Subject == subject {
					again.entries = append(again.entries, e)
				}
			}
		}
		if x.hooks.Deliver != nil && len(again.entries) > 0 {
			if err := x.deliver(ctx, subject, again.entries); err != nil {
				return true, err
			}
			again.entries = nil
		}
		return x.Ask.Ask(ctx, x.Name, again)
	})
}

// retook ends the alarm of a subject that has had its entries, or sets it for the rest.
func (x *Entity[S, E]) retook(t *Turn, c retook) {
	if _, ok := x.armed(c.key, c.due); !ok {
		t.Reply(true)
		return
	}
	from, failures := c.upTo+1, 0
	for i, e := range c.entries {
		err := x.decideEntry(t, e)
		if err != nil && i == 0 {
			t.Fail(err)
			return
		}
		if err != nil { // another entry's turn
			from, failures = e.Seq, 1
			break
		}
	}
	x.setUnreceipted(t, c.key, nil)
	if from <= x.cursor {
		x.park(t, c.subject, from, failures)
	}
	t.Reply(true)
}

// loadCursor reads where an actor that follows has come to.
func (x *Entity[S, E]) loadCursor(ctx context.Context) (err error) {
	if f := x.kind.Follow; f != nil {
		x.cursor, err = f.cursorOf(ctx, x.Read, x.Name.Group())
		x.keptCursor = x.cursor
	}
	return err
}

// follower is the event of actors that only deliver: they have none.
type follower struct{ Stamp }

// Deliverer is the family of an actor that follows each tenant's ledger and has nothing
// else to do: deliver has the entries' effect outside.
func Deliverer(read ubl.Reader, f *Follow, deliver func(env Env) func(ctx context.Context, subject string, list []Entry) error) Family {
	kind := &Kind[struct{}, follower]{
		Name: f.Name, Version: 1, Follow: f,
		Place: func(name ubl.Name) Place {
			return Place{Key: func(n int64) []byte { return fmt.Appendf(nil, "i\x04%s\x00%020d", name.Local(), n) }, Counter: []byte("e" + name.Local())}
		},
		Apply:    func(*struct{}, follower) {},
		Under:    func(_ *struct{}, who ubl.Identity) ubl.AgreementID { return ubl.TenantAgreement(who.TenantID) },
		Pointers: func(*struct{}) ubl.Fields { return ubl.Fields{} },
	}
	return Family{
		Name: f.Name, Follow: f,
		Owns: func(local string) bool { return local == f.Local },
		Open: func(ctx context.Context, env Env) (Actor, error) {
			x, err := kind.Load(ctx, read, env, Hooks[follower]{Deliver: deliver(env)})
			return deliverer{x}, err
		},
	}
}

type deliverer struct{ *Entity[struct{}, follower] }

// Receive implements [Actor].
func (d deliverer) Receive(t *Turn, cmd ubl.Command) {
	if !d.Change(t, cmd) {
		t.Fail(ubl.Errorf(ubl.CodeNotFound, "a consumer doesn't answer this command"))
	}
}

// Behind reports whether a follower of a group hasn't had all acts yet; at is then the time of
// the newest that it has had, nil for none. Whose cursors are their own is asked where these
// are.
func (f *Follow) Behind(ctx context.Context, read ubl.Reader, g ubl.Group) (at *ubl.Time, behind bool, err error) {
	seq, err := f.cursorOf(ctx, read, g)
	if err != nil {
		return nil, false, err
	}
	err = read.View(ctx, g, func(snap ubl.Snapshot) (err error) {
		if behind, err = (source{follow: f}).any(snap, seq); err != nil || !behind || seq == 0 {
			return err
		}
		atom, err := snap.Atom(seq)
		if err != nil || atom == nil { // of another history
			return err
		}
		var a struct {
			When ubl.Time `json:"when"`
		}
		if err := json.Unmarshal(atom, &a); err != nil {
			return err
		}
		at = &a.When
		return nil
	})
	return at, behind, err
}

package actors

import (
	"bytes"
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"ubl"
)

// Alarm is set or cleared by a [Plan], in its commit: at a time, the actor is woken for
// a key of its own. Each key has one alarm; setting it again moves it. It is fired at
// least once, not before its time, and again after a failure; the decision or errand
// that it leads to clears it. A time that has passed is now. Without At and After it
// clears the key.
type Alarm struct {
	Key string
	At  ubl.Time
	// After is a wait from the decision on, instead of a time. Where the clock turns out
	// to have been ahead then, the actor waits from its next command on.
	After time.Duration
}

// maxAlarmKey is the longest key in bytes.
const maxAlarmKey = 256

// Alarms are stored in the group, times as 8 bytes big-endian:
//
//	i 0 due actor 0 key   an alarm that is armed (a version byte)
//	i 1 actor 0 key       the alarm as its actor knows it (JSON)
//	i 2 actor 0 key       an alarm that has failed for good (a version byte)
const (
	alarmsDue byte = iota
	alarmsOf
	alarmsFailed
)

// Alarms with an [Outbound] are of version 2, so that a program that knows none leaves them
// alone.
const (
	alarmVersion    = 1
	outboundVersion = 2
)

// armed is an alarm as it is stored.
type armed struct {
	Form int `json:"v"`
	// Due is when it is fired next. For is what it was set to, and stays the same over
	// all attempts.
	Due      ubl.Time `json:"due"`
	For      ubl.Time `json:"for"`
	Wait     ubl.Time `json:"wait,omitempty"`     // what it was set to wait, atOnce for nothing; 0 for a time
	Attempts int      `json:"attempts,omitempty"` // that have failed
	Failed   bool     `json:"failed,omitempty"`   // it isn't tried any more
	Code     ubl.Code `json:"code,omitempty"`     // of the newest attempt that failed
	// Out is what is to be done outside, Intent the receipt of its intent. Begun says that
	// an attempt was.
	Out    *Outbound   `json:"out,omitempty"`
	Intent ubl.Receipt `json:"intent,omitzero"`
	Begun  bool        `json:"begun,omitempty"`

	intent  *ubl.Receipt // that of the act while it is new; read only behind the gate
	setting uint64       // tells it from one that was set later, to the same time even; a wait that begins again is the same
}

// settings counts the alarms that this process has set or read.
var settings atomic.Uint64

func alarmKey(space byte, local, key string) []byte {
	return append(append(append([]byte{'i', space}, local...), 0), key...)
}

// alarmsEnd bounds the keys of a space.
func alarmsEnd(space byte) []byte { return []byte{'i', space + 1} }

// dueKey begins the keys of alarms that are due at a time.
func dueKey(at ubl.Time) []byte {
	return binary.BigEndian.AppendUint64([]byte{'i', alarmsDue}, uint64(at))
}

// due is an armed alarm as the scheduler finds it.
type due struct {
	at    ubl.Time
	local string // of its actor
	key   string
}

func (d due) record() []byte { return append(append(append(dueKey(d.at), d.local...), 0), d.key...) }

// readDue is the other way.
func readDue(record []byte) (d due, err error) {
	if len(record) > 10 {
		if local, key, ok := bytes.Cut(record[10:], []byte{0}); ok {
			return due{ubl.Time(binary.BigEndian.Uint64(record[2:10])), string(local), string(key)}, nil
		}
	}
	return d, ubl.Damaged("an alarm is stored in an unknown form")
}

// The first attempt after a failure comes firstRetry later, each next one after twice
// that, up to lastRetry. After maxAttempts, about two days, the alarm has failed.
const (
	firstRetry  = 2 * time.Second
	lastRetry   = 6 * time.Hour
	maxAttempts = 20
)

func retryAfter(failures int) time.Duration {
	if failures > 15 {
		return lastRetry
	}
	return min(firstRetry<<(failures-1), lastRetry)
}

// What only the scheduler of the actor's node asks.
type (
	// fire wakes the actor for an alarm that is due. Answers whether it was: nothing
	// happens where it was cleared, moved or fired since.
	fire struct {
		key string
		due ubl.Time
	}
	// adopt has the actor arm what an earlier version waited for in another way.
	adopt struct{}
	// orphaned ends the leases that were begun before a time: who held them is gone.
	orphaned struct{ before ubl.Time }
)

// Cost is one act.
func (fire) Cost() int     { return ubl.ActCost }
func (adopt) Cost() int    { return ubl.ActCost }
func (orphaned) Cost() int { return ubl.ActCost }

// receiveAlarm answers what the scheduler asks, who made an attempt outside, and who redrives
// what has failed.
func (x *Entity[S, E]) receiveAlarm(t *Turn, cmd ubl.Command) bool {
	if t.Now() < x.waits {
		x.waitAgain(t)
	}
	switch c := cmd.(type) {
	case fire:
		x.fire(t, c)
	case fired:
		x.fired(t, c)
	case sent:
		x.sent(t, c)
	case adopt:
		x.adopt(t)
	case orphaned:
		x.orphaned(t, c)
	case ubl.Redrive:
		x.redrive(t, c)
	case ubl.Discard:
		x.discard(t, c)
	default:
		return false
	}
	return true
}

func (x *Entity[S, E]) fire(t *Turn, c fire) {
	as, ok := x.armed(c.key, c.due)
	if !ok {
		t.Reply(false)
		return
	}
	if t.Now() < c.due { // the look that found it has read a clock that was ahead
		t.Fail(ubl.Errorf(ubl.CodeUnavailable, "the alarm isn't due yet by the clock"))
		return
	}
	req, err := x.alarmRequest(c.key, as)
	subject, from, parked := readParkedKey(c.key)
	switch {
	case err != nil:
		t.Fail(err)
	case as.Out != nil:
		x.attempt(t, c.key, as, req)
	case parked && x.kind.Follow != nil:
		x.refollow(t, c, subject, from)
	case x.kind.Wake != nil:
		x.wake(t, c.key, req)
	case x.hooks.Errand != nil:
		x.errand(t, c, as, req)
	default:
		t.Fail(ubl.Errorf(ubl.CodeInternal, "a %s has no alarms", x.kind.Name))
	}
}

// wake decides what an alarm leads to, which is cleared in the same commit.
func (x *Entity[S, E]) wake(t *Turn, key string, req ubl.Request) {
	did, p, err := x.kind.Wake(&x.State, key, x.Moment(t))
	if err == nil && p != nil {
		_, err = x.Decide(t, did, req, p)
	}
	switch {
	case err != nil:
		t.Fail(err)
		return
	case p == nil:
		x.setUnreceipted(t, key, nil)
	default:
		p.Alarms = slices.Insert(p.Alarms, 0, Alarm{Key: key})
		x.enact(t.append(), did, req, t.Now(), p, !x.kind.WakePasses)
	}
	t.Reply(true)
}

// putOff has another attempt made later, and reports whether that was the last one.
func (x *Entity[S, E]) putOff(t *Turn, key string, as armed, code ubl.Code) bool {
	as.Attempts++
	as.Failed, as.Code = as.Attempts >= maxAttempts, code
	as.Due = t.Now().Add(retryAfter(as.Attempts))
	if end := as.deadline(); end > t.Now() {
		as.Failed, as.Due = false, min(as.Due, end)
	}
	x.setUnreceipted(t, key, &as)
	return as.Failed
}

func (x *Entity[S, E]) adopt(t *Turn) {
	if x.kind.Adopt != nil {
		alarms, records := x.kind.Adopt(&x.State, x.Moment(t))
		a := t.append()
		bookkeeping(x.kind.own(records...)).keep(a)
		for _, alarm := range alarms {
			if _, has := x.alarms[alarm.Key]; !has {
				bookkeeping(x.set(a, t.Now(), alarm)).keep(a)
			}
		}
	}
	t.Reply(false)
}

// armed is the alarm of a key, if it is to be fired at that time.
func (x *Entity[S, E]) armed(key string, at ubl.Time) (armed, bool) {
	as, ok := x.alarms[key]
	return as, ok && !as.Failed && as.Due == at
}

// alarmRequest makes the request of what an alarm leads to. Its key is the same at every attempt,
// so that actors which are asked under it do so once, and no other alarm's.
func (x *Entity[S, E]) alarmRequest(key string, as armed) (ubl.Request, error) {
	id, err := ubl.NewRequestID(x.Random)
	return ubl.Request{Who: ubl.Platform(), ID: id, Key: fmt.Sprintf("alarm:%s:%s:%d", x.Name, key, as.For)}, err
}

// set is the records of an alarm that a plan sets or clears.
func (x *Entity[S, E]) set(a *Append, now ubl.Time, alarm Alarm) []Record {
	if alarm.Key == "" || len(alarm.Key) > maxAlarmKey {
		panic("actors: the key of an alarm is empty or too long")
	}
	switch {
	case alarm.After > 0:
		at := now.Add(alarm.After)
		return x.setAs(a, alarm.Key, &armed{Due: at, For: at, Wait: at - now})
	case alarm.At > 0:
		return x.setAs(a, alarm.Key, &armed{Due: alarm.At, For: alarm.At})
	}
	return x.setAs(a, alarm.Key, nil)
}

// bookkeeping are records of the kernel's own that change without an act: the attempts
// of alarms, and alarms that have led to nothing. DESIGN.md lists what goes without a
// receipt.
type bookkeeping []Record

func (b bookkeeping) keep(a *Append) { a.Records = append(a.Records, b...) }

// setUnreceipted is bookkeeping: what an alarm leads to has receipts.
func (x *Entity[S, E]) setUnreceipted(t *Turn, key string, as *armed) {
	a := t.append()
	bookkeeping(x.setAs(a, key, as)).keep(a)
}

// setAs replaces an alarm, in memory and in the records that it returns; nil clears it.
func (x *Entity[S, E]) setAs(a *Append, key string, as *armed) (records []Record) {
	local := x.Name.Local()
	was, had := x.alarms[key]
	if had && was.Failed {
		records = append(records, Record{Key: alarmKey(alarmsFailed, local, key)})
		a.alarm(was.For) // the scheduler counts them again
	} else if had {
		records = append(records, Record{Key: due{was.Due, local, key}.record()})
	}
	if as == nil {
		if had {
			delete(x.alarms, key)
			records = append(records, Record{Key: alarmKey(alarmsOf, local, key)})
		}
		return records
	}
	as.Form = alarmVersion
	if as.Out != nil {
		as.Form = outboundVersion
	}
	at, look := due{as.Due, local, key}.record(), as.Due
	if as.Failed {
		at, look = alarmKey(alarmsFailed, local, key), as.For
	}
	if x.alarms == nil {
		x.alarms = make(map[string]armed)
	}
	as.setting = settings.Add(1)
	x.alarms[key] = *as
	x.waiting(*as)
	a.alarm(look)
	return append(records, Record{Key: at, Value: []byte{alarmVersion}}, as.record(alarmKey(alarmsOf, local, key)))
}

// record is the alarm as its actor knows it.
func (as armed) record(key []byte) Record {
	if as.Out == nil {
		return Record{Key: key, Value: encode(as)}
	}
	return Record{Key: key, Seal: func() []byte {
		as.Intent = *as.intent
		return encode(as)
	}}
}

// deadline is when the alarm isn't put off any further; 0 for never.
func (as armed) deadline() ubl.Time {
	if as.Out == nil {
		return 0
	}
	return as.Out.Deadline
}

// loadAlarms reads those of the actor, where its family has any.
func (x *Entity[S, E]) loadAlarms(ctx context.Context) error {
	if x.kind.Wake == nil && x.kind.Ended == nil && x.hooks.Errand == nil && x.kind.Follow == nil {
		return nil
	}
	x.alarms = make(map[string]armed)
	return x.Read.View(ctx, x.Name.Group(), func(snap ubl.Snapshot) error {
		return eachAlarm(snap, x.Name.Local(), "", func(key string, as armed) error {
			as.setting = settings.Add(1)
			x.alarms[key] = as
			x.waiting(as)
			return nil
		})
	})
}

// eachAlarm reads those of an actor whose keys begin with a prefix.
func eachAlarm(snap ubl.Snapshot, local, prefix string, each func(key string, as armed) error) error {
	from := alarmKey(alarmsOf, local, prefix)
	to := slices.Clone(from)
	to[len(to)-1]++
	var bad error
	err := snap.Ascend(from, to, func(k, v []byte) bool {
		key := prefix + string(k[len(from):])
		var as armed
		if as, bad = decodeArmed(key, v); bad == nil {
			bad = each(key, as)
		}
		return bad == nil
	})
	return errors.Join(err, bad)
}

func decodeArmed(key string, stored []byte) (as armed, err error) {
	if err = json.Unmarshal(stored, &as); err == nil && as.Form > outboundVersion {
		err = fmt.Errorf("an alarm is of version %d, this program knows %d", as.Form, outboundVersion)
	}
	if as.Out != nil {
		as.intent = new(as.Intent)
		as.Out.Key = strings.TrimPrefix(key, outboundPrefix)
	}
	return as, err
}

// Armed reports whether the store has an alarm of an actor, by the local part of its name.
func Armed(snap ubl.Snapshot, local, key string) (bool, error) {
	v, err := snap.Get(alarmKey(alarmsOf, local, key))
	return v != nil, err
}

// alarm notes that the scheduler is to look into the group at a time.
func (a *Append) alarm(at ubl.Time) {
	if a.due == 0 || at < a.due {
		a.due = at
	}
}

package actors

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"time"

	"ubl"
)

// DeadLetters are those of a group, as the store has them: alarms that have failed for good.
func DeadLetters(snap ubl.Snapshot, tenant ubl.TenantID) (list []ubl.DeadLetter, err error) {
	var bad error
	from := []byte{'i', alarmsFailed}
	err = snap.Ascend(from, alarmsEnd(alarmsFailed), func(k, _ []byte) bool {
		var as armed
		local, key, _ := bytes.Cut(k[len(from):], []byte{0})
		if as, bad = readAlarm(snap, string(local), string(key)); bad != nil {
			return false
		}
		list = append(list, letterOf(tenant, string(local), string(key), as))
		return len(list) < ubl.MaxDeadLetters
	})
	return list, errors.Join(err, bad)
}

// lateBy is how long an alarm may be due before it counts as late.
const lateBy = time.Minute

// Pending are those of a group's alarms that have failed and are tried again, and those that
// are late, as the store has them.
func Pending(snap ubl.Snapshot, tenant ubl.TenantID, now ubl.Time) (list []ubl.DeadLetter, err error) {
	var bad error
	from := []byte{'i', alarmsOf}
	err = snap.Ascend(from, alarmsEnd(alarmsOf), func(k, v []byte) bool {
		var as armed
		local, key, _ := bytes.Cut(k[len(from):], []byte{0})
		if as, bad = decodeArmed(string(key), v); bad != nil {
			return false
		}
		if !as.Failed && (as.Attempts > 0 || as.Due.Add(lateBy) < now) {
			letter := letterOf(tenant, string(local), string(key), as)
			letter.Next = &as.Due
			list = append(list, letter)
		}
		return len(list) < ubl.MaxDeadLetters
	})
	return list, errors.Join(err, bad)
}

func letterOf(tenant ubl.TenantID, local, key string, as armed) ubl.DeadLetter {
	return ubl.DeadLetter{
		TenantID: tenant, Kind: kindOf(key, as), Subject: local, Key: key, Attempts: as.Attempts, Code: as.Code, Since: as.For,
	}
}

func readAlarm(snap ubl.Snapshot, local, key string) (as armed, err error) {
	v, err := snap.Get(alarmKey(alarmsOf, local, key))
	if err == nil && v == nil {
		err = ubl.Damaged("a failed alarm is listed and not there")
	}
	if err == nil {
		as, err = decodeArmed(key, v)
	}
	return as, err
}

// kindOf says what was to be done.
func kindOf(key string, as armed) string {
	_, _, tail := readParkedKey(key)
	switch {
	case as.Out != nil:
		return ubl.DeadOutbound
	case tail:
		return ubl.DeadTail
	}
	return ubl.DeadAlarm
}

// mending is what somebody does about a dead letter. Owner says that who asks has seen them to be
// an owner of the tenant, or an operator.
type mending struct {
	did             ubl.Did
	req             ubl.Request
	owner           bool
	subject, letter string
	key             Key
}

// redrive has a failed alarm fired again, with a receipt.
func (x *Entity[S, E]) redrive(t *Turn, c ubl.Redrive) {
	m := mending{ubl.DidRedrive, c.Request, c.Owner, x.Name.Local(), c.Letter, NewKey(ubl.DidRedrive, c.Request, c.Letter)}
	as, ok := x.mend(t, m)
	if !ok {
		return
	}
	if _, known := x.alarms[c.Letter]; !known {
		t.Fail(ubl.Errorf(ubl.CodeConflict, "this version of the program has nothing in a %s that could try it again: discard the dead letter", x.kind.Name))
		return
	}
	x.noteMending(t, m)
	again, a := armed{Due: t.Now(), For: as.For, Wait: atOnce, Out: as.Out, intent: as.intent}, t.append()
	a.Records = append(a.Records, x.setAs(a, c.Letter, &again)...)
	t.Reply(nil)
}

// discard gives a failed alarm up, with a receipt: its own, or as a Tenant that of a subject
// that no family has any more.
func (x *Entity[S, E]) discard(t *Turn, c ubl.Discard) {
	m := mending{ubl.DidDiscard, c.Request, c.Owner, c.Subject, c.Letter, NewKey(ubl.DidDiscard, c.Request, c.Subject, c.Letter)}
	as, ok := x.mend(t, m)
	if !ok {
		return
	}
	_, known := x.alarms[c.Letter]
	known = known && c.Subject == x.Name.Local()
	if known && as.Out != nil && x.kind.Ended != nil { // what was intended has an end on record
		req, err := x.alarmRequest(c.Letter, as)
		if err != nil {
			t.Fail(err)
			return
		}
		err = x.end(t, as, req, Sent{Outbound: *as.Out, Err: ubl.Errorf(cmp.Or(as.Code, ubl.CodeUnavailable), "it was given up")})
		if err != nil {
			t.Fail(err)
			return
		}
	}
	x.noteMending(t, m)
	a := t.append()
	if known {
		a.Records = append(a.Records, x.setAs(a, c.Letter, nil)...)
	} else {
		a.Records = append(a.Records, Record{Key: alarmKey(alarmsFailed, c.Subject, c.Letter)}, Record{Key: alarmKey(alarmsOf, c.Subject, c.Letter)})
		a.alarm(as.For) // the scheduler counts them again
	}
	t.Reply(nil)
}

// mend finds a dead letter that somebody asks about, and asks the seat. Where it reports false, it
// has answered the turn: also a retry, whose act is done.
func (x *Entity[S, E]) mend(t *Turn, m mending) (as armed, ok bool) {
	ref, err := x.Keys.Find(t.Context(), m.key)
	switch {
	case err != nil:
		t.Fail(err)
		return as, false
	case !m.owner:
		t.Fail(ubl.Errorf(ubl.CodeForbidden, "only an owner of the tenant or an operator may do this"))
		return as, false
	case ref != nil:
		t.Reply(nil)
		return as, false
	}
	as, known := x.alarms[m.letter]
	if !known || m.subject != x.Name.Local() { // nothing in this version of the program has it
		as, err = x.orphan(t.Context(), m.subject, m.letter)
	}
	if err == nil && !as.Failed {
		err = ubl.Errorf(ubl.CodeNotFound, "there is no such dead letter")
	}
	if err == nil {
		act := x.mended(m)
		p := x.proposal(t.Now(), m.did, m.req, &act, false)
		p.Mends = true
		err = x.Verdict(p)
	}
	if err != nil {
		t.Fail(err)
	}
	return as, err == nil
}

// orphan is an alarm as the store has it; none is empty. Of two that discard it at the same time
// both may find it, and have a receipt.
func (x *Entity[S, E]) orphan(ctx context.Context, subject, letter string) (as armed, err error) {
	err = x.Read.View(ctx, x.Name.Group(), func(snap ubl.Snapshot) error {
		v, err := snap.Get(alarmKey(alarmsOf, subject, letter))
		if err == nil && v != nil {
			as, err = decodeArmed(letter, v)
		}
		return err
	})
	return as, err
}

// noteMending puts on record what is done about a dead letter.
func (x *Entity[S, E]) noteMending(t *Turn, m mending) { x.note(t, m.did, m.req, x.mended(m), &m.key) }

// mended is the act of what is done about a dead letter.
func (x *Entity[S, E]) mended(m mending) Act {
	about := ubl.Fields{ubl.Str("key", m.letter), ubl.Str("subject", m.subject)}
	license := ubl.TenantAgreement(x.Name.Group().Tenant)
	return Act{
		Agreement: license, This: about,
		Effects:  []ubl.Fields{{about[0], ubl.Str("op", m.did), about[1]}},
		Pointers: ubl.Fields{ubl.Str("agreement_id", license)},
	}
}

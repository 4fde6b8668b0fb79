package actors

import (
	"bytes"
	"errors"

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
		list = append(list, ubl.DeadLetter{
			TenantID: tenant, Kind: kindOf(string(key), as), Subject: string(local), Key: string(key),
			Attempts: as.Attempts, Code: as.Code, Since: as.For,
		})
		return len(list) < ubl.MaxDeadLetters
	})
	return list, errors.Join(err, bad)
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

// redrive has a failed alarm fired again, with a receipt.
func (x *Entity[S, E]) redrive(t *Turn, c ubl.Redrive) {
	key := NewKey(ubl.DidRedrive, c.Request, c.Letter)
	ref, err := x.Keys.Find(t.Context(), key)
	as := x.alarms[c.Letter]
	switch {
	case err != nil:
		t.Fail(err)
		return
	case !c.Owner:
		t.Fail(ubl.Errorf(ubl.CodeForbidden, "only an owner of the tenant or an operator may do this"))
		return
	case ref != nil:
	case !as.Failed:
		t.Fail(ubl.Errorf(ubl.CodeNotFound, "there is no such dead letter"))
		return
	default:
		letter := ubl.Fields{ubl.Str("key", c.Letter), ubl.Str("subject", x.Name.Local())}
		license := ubl.TenantAgreement(x.Name.Group().Tenant)
		x.note(t, ubl.DidRedrive, c.Request, Act{
			Agreement: license, This: letter,
			Effects:  []ubl.Fields{{letter[0], ubl.Str("op", ubl.DidRedrive), letter[1]}},
			Pointers: ubl.Fields{ubl.Str("agreement_id", license)},
		}, &key)
		again, a := armed{Due: t.Now(), For: as.For, Wait: atOnce, Out: as.Out, intent: as.intent}, t.append()
		a.Records = append(a.Records, x.setAs(a, c.Letter, &again)...)
	}
	t.Reply(nil)
}

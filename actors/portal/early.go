package portal

import (
	"cmp"
	"encoding/binary"
	"strconv"
	"strings"

	"ubl"
	"ubl/actors"
)

// A version before the outbox kept a call that was open in a record of its own, and had an
// alarm for its deadline; one before that had none. Such calls end as they began.

// callAlarm begins the key of the alarm that closes such a call at its deadline.
const callAlarm = "call:"

func alarmOf(n int64) string { return callAlarm + strconv.FormatInt(n, 10) }

// readEarly takes those in that are open.
func (s *State) readEarly(snap ubl.Snapshot) error {
	return actors.EachEvent(snap, openKey(0), openKey(-1), version, func(o open) {
		o.early, o.receipt, o.Call.Receipt = true, o.Call.Receipt, nil
		s.begin(&o)
	})
}

// wake closes one whose deadline has passed.
func (s *State) wake(key string, at actors.Moment) (ubl.Did, *plan, error) {
	n, err := strconv.ParseInt(strings.TrimPrefix(key, callAlarm), 10, 64)
	o := s.Open[n]
	if err != nil || o == nil {
		return "", nil, nil
	}
	p := orphaned(o, at.Now)
	return o.Call.Did, &p, nil
}

// unarmed names the Portal where a version before alarms left a call open.
func unarmed(snap ubl.Snapshot) (locals []string, err error) {
	var bad error
	err = snap.Ascend(openKey(0), openKey(-1), func(k, _ []byte) bool {
		var armed bool
		armed, bad = actors.Armed(snap, local, alarmOf(int64(binary.BigEndian.Uint64(k[len(k)-8:]))))
		if bad == nil && !armed {
			locals = []string{local}
		}
		return bad == nil && armed
	})
	return locals, cmp.Or(err, bad)
}

// adopt arms the calls that are open.
func (s *State) adopt(actors.Moment) (alarms []actors.Alarm, records []actors.Record) {
	for n, o := range s.Open {
		if o.early {
			alarms = append(alarms, actors.Alarm{Key: alarmOf(n), At: o.Deadline})
		}
	}
	return alarms, nil
}

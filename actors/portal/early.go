package portal

import (
	"strconv"

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

package portal

import (
	"cmp"
	"encoding/binary"
	"maps"
	"slices"
	"strconv"
	"strings"

	"ubl"
	"ubl/actors"
)

// closePage is the most calls that one batch closes.
const closePage = 500

// callAlarm begins the key of the alarm that closes a call at its deadline. The intent
// sets it, the effect clears it.
const callAlarm = "call:"

func alarmOf(n int64) string { return callAlarm + strconv.FormatInt(n, 10) }

// wake closes a call whose deadline has passed.
func (s *State) wake(key string, at actors.Moment) (ubl.Did, *plan, error) {
	n, err := strconv.ParseInt(strings.TrimPrefix(key, callAlarm), 10, 64)
	o := s.Open[n]
	if err != nil || o == nil {
		return "", nil, nil
	}
	p := orphaned(o, at.Now)
	return o.Call.Did, &p, nil
}

// orphaned plans the effect of a call that nobody will end. What a model may have used
// counts as used: nobody knows.
func orphaned(o *open, now ubl.Time) plan {
	p := closing(o, ubl.EndCall{
		Code: ubl.CodeUnavailable, Message: "the node that made the call stopped", DurationMS: int64(now - o.Call.At),
	})
	if o.Tokens > 0 {
		p.Event.call.used = &o.Tokens
	}
	return p
}

// closeCalls ends calls that nobody will end, a page a batch, and asks again
// until none is left.
func (x *Portal) closeCalls(t *actors.Turn, c ubl.CloseCalls) {
	if err := platform(c.Who); err != nil {
		t.Fail(err)
		return
	}
	closed := 0
	for _, n := range slices.Sorted(maps.Keys(x.State.Open)) {
		o := x.State.Open[n]
		if closed == closePage || !c.All && o.Deadline > t.Now() {
			continue
		}
		closed++
		p := orphaned(o, t.Now())
		x.Pass(t, o.Call.Did, c.Request, &p, nil)
	}
	if closed < closePage {
		t.Reply(closed)
		return
	}
	ctx := t.Context()
	t.Later(func() (any, error) {
		more, err := ubl.Ask[int](ctx, x.Ask, x.Name, c)
		return closed + more, err
	})
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
		alarms = append(alarms, actors.Alarm{Key: alarmOf(n), At: o.Deadline})
	}
	return alarms, nil
}

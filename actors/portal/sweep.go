package portal

import (
	"maps"
	"slices"
	"strconv"

	"ubl"
	"ubl/actors"
)

// closePage is the most calls that one batch closes.
const closePage = 500

// outboundOf is what a call is called in the outbox.
func outboundOf(n int64) string { return strconv.FormatInt(n, 10) }

// ended closes a call whose deadline has passed: the node that had its lease hasn't ended it.
func (s *State) ended(out actors.Sent, at actors.Moment) (ubl.Did, *plan, error) {
	n, err := strconv.ParseInt(out.Key, 10, 64)
	o := s.Open[n]
	if err != nil || o == nil {
		return "", nil, ubl.Damaged("the outbox has a call that the portal doesn't know")
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
		x.Pass(t, x.Following(o.Call.Did, c.Request, &p), nil)
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

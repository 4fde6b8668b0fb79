package portal

import (
	"maps"
	"slices"

	"ubl"
	"ubl/actors"
)

// closePage is the most calls that one batch closes.
const closePage = 500

// closeCalls ends calls that nobody will end, a page a batch, and asks again
// until none is left. What a model may have used counts as used: nobody knows.
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
		p := closing(o, ubl.EndCall{
			Code: ubl.CodeUnavailable, Message: "the node that made the call stopped", DurationMS: int64(t.Now() - o.Call.At),
		})
		if o.Tokens > 0 {
			p.Event.call.used = &o.Tokens
		}
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

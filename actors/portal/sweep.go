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
	if err := x.platform(c.Who); err != nil {
		t.Fail(err)
		return
	}
	a := &actors.Append{}
	closed := 0
	for _, n := range slices.Sorted(maps.Keys(x.state.Open)) {
		o := x.state.Open[n]
		if closed == closePage || !c.All && o.Deadline > t.Now() {
			continue
		}
		closed++
		x.closeOrphan(a, t.Now(), o, c.Request)
	}
	if closed > 0 {
		t.Commit(a)
	}
	if closed < closePage {
		t.Reply(closed)
		return
	}
	ctx := t.Context()
	t.Later(func() (any, error) {
		more, err := ubl.Ask[int](ctx, x.env.Ask, x.env.Name, c)
		return closed + more, err
	})
}

// closeOrphan ends a call whose node is gone, as far as anyone can tell.
func (x *Portal) closeOrphan(a *actors.Append, now ubl.Time, o *open, req ubl.Request) {
	x.close(a, now, o, ubl.EndCall{
		Request: req, Code: ubl.CodeUnavailable, Message: "the node that made the call stopped",
		DurationMS: int64(now - o.Call.At),
	})
	if o.Tokens > 0 {
		x.spend(a, now, o.Tokens)
	}
}

package portal

import (
	"cmp"
	"context"
	"errors"
	"slices"

	"ubl"
	"ubl/actors"
)

const (
	// rowsKept is how many rows the log keeps.
	rowsKept = 100_000
	// maxRows is how many rows one LogCalls brings at most.
	maxRows = 1000
	// defaultPage and maxPage are how many rows a page has.
	defaultPage, maxPage = 50, 200
	// maxScan is how many rows are looked through for a page of one user's.
	maxScan = 2000
)

// drops is how many of the oldest rows go for one that comes: at most two, so that no
// append is large and the log still shrinks faster than it grows. The row of an open
// call waits: it is yet to be written again.
func (s *State) drops() (n int64) {
	for n < 2 && s.High-(s.Low+n)+1 >= rowsKept && s.Open[s.Low+n] == nil {
		n++
	}
	return n
}

// applied writes the row of a call as it is now, sealed with the receipt of its action
// if it has one, and tells it to whoever watches the log.
func (x *Portal) applied(e event, a *actors.Append) {
	c := e.call
	if c == nil {
		return
	}
	x.forward(c, a)
	row := &c.row
	switch {
	case c.ends != nil:
		row.Receipt = c.ends.receipt
	case e.Did != "":
		row.Receipt = e.Sealed()
	}
	if c.fresh() {
		a.Move(rowCounter(), row.N-1, row.N)
		for n := x.State.Low - c.drops; n < x.State.Low; n++ {
			a.Records = append(a.Records, actors.Record{Key: rowKey(n)})
		}
	}
	var text []byte
	a.Records = append(a.Records, actors.Record{Key: rowKey(row.N), Seal: func() []byte {
		stored := encodeRow(*row)
		text = stored[1:]
		return stored
	}})
	a.OnCommit(func() ubl.Event {
		return ubl.Event{
			Kind: ubl.EventPortalCall, TenantID: x.State.Tenant, TS: row.At, UserID: row.UserID, LedgerSeq: a.Last, Payload: text,
		}
	})
}

// readRow reads a durable row.
func (x *Portal) readRow(ctx context.Context, n int64) (*ubl.Call, error) {
	var row ubl.Call
	err := x.Read.View(ctx, x.Name.Group(), func(snap ubl.Snapshot) error {
		stored, err := snap.Get(rowKey(n))
		if err != nil {
			return err
		}
		if stored == nil {
			return errNoCall()
		}
		row, err = decodeRow(stored)
		return err
	})
	return &row, err
}

// logCalls adds rows for calls that the Portal wasn't asked about. It is a batch
// without atoms: see the package's comment on the log.
func (x *Portal) logCalls(t *actors.Turn, c ubl.LogCalls) {
	key := actors.NewKey(ubl.DidPortalCall, c.Request, content(c.Calls))
	err := platform(c.Who)
	var ref *actors.Ref
	if err == nil {
		ref, err = x.Keys.Find(t.Context(), key)
	}
	if err == nil && ref == nil {
		err = checkRows(c.Calls)
	}
	if err != nil {
		t.Fail(err)
		return
	}
	if ref == nil {
		with := &key // the first row
		for _, call := range c.Calls {
			x.PassUnreceipted(t, x.State.logging(*call), with)
			with = nil
		}
	}
	t.Reply(nil)
}

// logging is a row that no act makes.
func (s *State) logging(row ubl.Call) actors.Unreceipted[event] {
	row.N, row.Server = s.High+1, cmp.Or(row.Server, ubl.OwnServer)
	return actors.Unreceipted[event]{Event: event{call: &step{row: row, drops: s.drops()}}}
}

func checkRows(rows []*ubl.Call) error {
	if len(rows) > maxRows {
		return ubl.Errorf(ubl.CodeTooLarge, "more than %d calls at once", maxRows)
	}
	for _, r := range rows {
		if r == nil || !endedElsewhere(r) || !ubl.ValidToolName(r.Capability) || !r.UserID.Valid() || !ubl.ValidRequestID(r.RequestID) ||
			r.Parent != "" && !ubl.ValidRequestID(r.Parent) || !printable(string(r.Did), ubl.MaxToolName) ||
			!printable(string(r.Code), ubl.MaxToolName) || r.DurationMS < 0 || r.Usage != nil {
			return bad("calls", "one of them is no call of our own tools that has ended, and no refusal")
		}
	}
	return nil
}

// endedElsewhere tells how a call may have ended of which the Portal knows
// nothing: one of our own tools in any way, another's by being refused.
func endedElsewhere(r *ubl.Call) bool {
	switch r.Status {
	case string(ubl.OutcomeOK), string(ubl.OutcomeError):
		return r.Server == "" || r.Server == ubl.OwnServer
	case string(ubl.StatusDenied):
		return r.Server == "" || r.Server == ubl.OwnServer || ubl.ValidServerID(r.Server)
	}
	return false
}

// readCalls answers a page of the log, newest first. For who doesn't see all of it
// a page may be short, or empty: Next says where to go on.
func (x *Portal) readCalls(t *actors.Turn, c ubl.ReadCalls) {
	if err := x.State.member(c.Who); err != nil {
		t.Fail(err)
		return
	}
	before := x.State.High + 1
	if c.Before > 0 {
		before = min(before, c.Before)
	}
	limit := min(c.Limit, maxPage)
	if limit < 1 {
		limit = defaultPage
	}
	ctx := t.Context()
	t.Later(func() (any, error) { return x.page(ctx, c, before, limit) })
}

func (x *Portal) page(ctx context.Context, c ubl.ReadCalls, before int64, limit int) (*ubl.CallPage, error) {
	p := &ubl.CallPage{Calls: []*ubl.Call{}}
	var bad error
	scanned, last := 0, int64(0)
	err := x.Read.View(ctx, x.Name.Group(), func(snap ubl.Snapshot) error {
		return snap.Descend(rowKey(0), rowKey(before), func(_, v []byte) bool {
			if len(p.Calls) == limit || scanned == maxScan {
				p.Next = &last
				return false
			}
			var row ubl.Call
			if row, bad = decodeRow(v); bad != nil {
				return false
			}
			scanned, last = scanned+1, row.N
			if c.Owner || row.UserID == c.Who.UserID || slices.Contains(c.Keeps, row.UserID) {
				p.Calls = append(p.Calls, &row)
			}
			return true
		})
	})
	return p, errors.Join(err, bad)
}

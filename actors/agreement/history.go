package agreement

import (
	"context"
	"errors"

	"ubl"
	"ubl/actors"
)

// History reads the changes of a record whose numbers are above after, in order, on the
// asker's goroutine. It ends with the error of fn.
type History func(ctx context.Context, after int64, fn func(ubl.Change) error) error

// errFull ends the reading of a page that is full.
var errFull = errors.New("the page is full")

// page reads what is asked for of a history.
func (h History) page(ctx context.Context, c ubl.GetAgreement) (changes []ubl.Change, err error) {
	err = h(ctx, c.After, func(change ubl.Change) error {
		changes = append(changes, change)
		if len(changes) == c.Limit {
			return errFull
		}
		return nil
	})
	if errors.Is(err, errFull) {
		err = nil
	}
	return changes, err
}

// Show answers with a record and, unless brief, its history: as they are in the state
// now, or as of a moment of the past, in the state that then makes of the events up to it.
// Record finds them in either.
func Show[S any, E actors.Event](t *actors.Turn, c ubl.GetAgreement, refusal error, now *S,
	then func(context.Context) (*S, *E, error), record func(*S) (ubl.Agreement, History, error)) {
	var found ubl.Agreement
	var history History
	if refusal == nil {
		refusal = t.Past(c.AsOf)
	}
	if refusal == nil && c.AsOf.IsNow() {
		found, history, refusal = record(now)
	}
	t.Read(refusal, func(ctx context.Context) (any, error) {
		var asOf *ubl.Receipt
		if !c.AsOf.IsNow() {
			s, newest, err := then(ctx)
			if err == nil {
				receipt := actors.ReceiptOf(*newest)
				asOf = &receipt
				found, history, err = record(s)
			}
			if err != nil {
				return nil, err
			}
		}
		view := found.View(nil)
		view.AsOf = asOf
		if c.Brief {
			return view, nil
		}
		var err error
		view.History, err = history.page(ctx, c)
		return view, err
	})
}

package actors

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"ubl"
)

// Versioned is a stored event (JSON), which says the version of its form.
type Versioned interface{ FormatVersion() int }

// EachEvent calls fn with the events stored from one key up to another, in
// order. One of a newer version than the newest known is an error: guessing at
// its meaning would derive a wrong state.
func EachEvent[E Versioned](snap ubl.Snapshot, from, to []byte, newest int, fn func(E)) error {
	return eachEvent(snap, from, to, newest, nil, func(_ []byte, e E) error {
		fn(e)
		return nil
	})
}

// eachEvent calls fn with the events but for those that want, which sees each as it is stored,
// doesn't take; nil takes all.
func eachEvent[E Versioned](snap ubl.Snapshot, from, to []byte, newest int, want func(k, stored []byte) (bool, error), fn func(key []byte, e E) error) error {
	var bad error
	err := snap.Ascend(from, to, func(k, v []byte) bool {
		if want != nil {
			wanted, err := want(k, v)
			if bad = err; bad != nil || !wanted {
				return bad == nil
			}
		}
		var e E
		if err := json.Unmarshal(v, &e); err != nil {
			bad = fmt.Errorf("couldn't read an event: %w", err)
		} else if e.FormatVersion() > newest {
			bad = fmt.Errorf("an event is of version %d, this program knows %d", e.FormatVersion(), newest)
		} else {
			bad = fn(k, e)
		}
		return bad == nil
	})
	return errors.Join(err, bad)
}

// EventPage is the most events of one view: an actor may have a hundred thousand,
// and the store keeps what a view sees for as long as it lasts.
const EventPage = 500

// Events are those of an actor, numbered from 1 on. They are only ever added, so
// that pages fit.
type Events[E Versioned] struct {
	Read   ubl.Reader
	Group  ubl.Group
	Key    func(n int64) []byte // of event n
	Newest int                  // version of their form
}

// Each calls fn with the events numbered first to last, or to the newest there
// is, until fn fails. It does so between views.
func (v Events[E]) Each(ctx context.Context, first, last int64, fn func(E) error) error {
	return v.EachOf(ctx, first, last, nil, fn)
}

// EachOf is Each for those events that want takes as they are stored (JSON): most that are of
// no use needn't be read then. Nil takes all.
func (v Events[E]) EachOf(ctx context.Context, first, last int64, want func(stored []byte) bool, fn func(E) error) error {
	for ; first <= last; first += EventPage {
		page, n, err := v.page(ctx, first, min(last-first+1, EventPage), want)
		if err == nil {
			err = ctx.Err()
		}
		if err != nil {
			return err
		}
		Progressed(ctx, int(n))
		for _, e := range page {
			if err := fn(e); err != nil {
				return err
			}
		}
		if n < EventPage {
			break
		}
	}
	return nil
}

// Page reads at most limit events, in one view. One that is missing is damage.
func (v Events[E]) Page(ctx context.Context, first, limit int64) ([]E, error) {
	page, _, err := v.page(ctx, first, limit, nil)
	return page, err
}

// page also tells how many events there were, wanted or not.
func (v Events[E]) page(ctx context.Context, first, limit int64, want func(stored []byte) bool) (page []E, n int64, err error) {
	err = v.Read.View(ctx, v.Group, func(snap ubl.Snapshot) error {
		follows := func(k, stored []byte) (bool, error) {
			if next := first + n; !bytes.Equal(k, v.Key(next)) {
				return false, ubl.Damaged("event %d of an actor of %s is missing", next, v.Group)
			}
			n++
			return want == nil || want(stored), nil
		}
		return eachEvent(snap, v.Key(first), v.Key(first+limit), v.Newest, follows, func(_ []byte, e E) error {
			page = append(page, e)
			return nil
		})
	})
	return page, n, err
}

// CheckEvents sees that an actor has as many events as its counter says.
func CheckEvents(snap ubl.Snapshot, counter []byte, events int64) error {
	counted, err := snap.Counter(counter)
	if err == nil && counted != events {
		err = ubl.Damaged("an actor has %d events, its counter says %d", events, counted)
	}
	return err
}

package actors

import (
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
	var bad error
	err := snap.Ascend(from, to, func(_, v []byte) bool {
		var e E
		if err := json.Unmarshal(v, &e); err != nil {
			bad = fmt.Errorf("couldn't read an event: %w", err)
		} else if e.FormatVersion() > newest {
			bad = fmt.Errorf("an event is of version %d, this program knows %d", e.FormatVersion(), newest)
		} else {
			fn(e)
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
	for ; first <= last; first += EventPage {
		page, err := v.Page(ctx, first, min(last-first+1, EventPage))
		if err != nil {
			return err
		}
		for _, e := range page {
			if err := fn(e); err != nil {
				return err
			}
		}
		if len(page) < EventPage {
			break
		}
	}
	return nil
}

// Page reads at most limit events, in one view.
func (v Events[E]) Page(ctx context.Context, first, limit int64) ([]E, error) {
	var page []E
	err := v.Read.View(ctx, v.Group, func(snap ubl.Snapshot) error {
		return EachEvent(snap, v.Key(first), v.Key(first+limit), v.Newest, func(e E) { page = append(page, e) })
	})
	return page, err
}

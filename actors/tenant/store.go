package tenant

import (
	"context"

	"ubl"
	"ubl/actors"
)

// eventPage is the most events of one view: a large tenant has a hundred
// thousand, and the store keeps what a view sees for as long as it lasts.
const eventPage = 500

// eachEvent calls fn with the events from the first up to number last, or to the
// newest there is. Events are only ever added, so that pages fit.
func (x *Tenant) eachEvent(ctx context.Context, last int64, fn func(event)) error {
	for first := int64(1); first <= last; first += eventPage {
		page, err := x.events(ctx, first, min(last-first+1, eventPage))
		if err != nil {
			return err
		}
		for _, e := range page {
			fn(e)
		}
		if len(page) < eventPage {
			return nil
		}
	}
	return nil
}

// events reads a page.
func (x *Tenant) events(ctx context.Context, first, limit int64) ([]event, error) {
	var page []event
	err := x.read.View(ctx, x.group, func(snap ubl.Snapshot) error {
		return actors.EachEvent(snap, eventKey(first), eventKey(first+limit), eventVersion, func(e event) {
			page = append(page, e)
		})
	})
	return page, err
}

package tenant

import (
	"context"

	"ubl/actors"
)

func (x *Tenant) stored() actors.Events[event] {
	return actors.Events[event]{Read: x.read, Group: x.group, Key: eventKey, Newest: eventVersion}
}

// eachEvent calls fn with the events from the first up to number last, or to the
// newest there is.
func (x *Tenant) eachEvent(ctx context.Context, last int64, fn func(event)) error {
	return x.stored().Each(ctx, 1, last, func(e event) error {
		fn(e)
		return nil
	})
}

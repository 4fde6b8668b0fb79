package blobs

import (
	"context"
	"errors"
	"time"

	"ubl"
)

// Grace is how long a blob that nothing refers to is kept: an upload that is whole has as long
// as it lasts to become a file, and then as long again.
const Grace = 2 * Patience

// collectAtOnce is how many blobs of a tenant are asked about at a time.
const collectAtOnce = 200

// Collector removes blobs that nothing refers to.
type Collector struct {
	From   ubl.Blobs
	Ask    ubl.Asker
	NodeID string
	Now    func() time.Time
	// Request makes a request of the platform's own.
	Request func() (ubl.Request, error)
}

// Collected is what a round has removed.
type Collected struct{ Blobs, Bytes int64 }

// Collect looks through all blobs once. It asks the Tenant which of those that are older than
// [Grace] nothing refers to; that is on record before any is removed.
func (c *Collector) Collect(ctx context.Context) (done Collected, err error) {
	before := ubl.TimeOf(c.Now()).Add(-Grace)
	var of ubl.TenantID
	var list []ubl.Blob
	flush := func() error {
		if len(list) == 0 {
			return nil
		}
		err := c.remove(ctx, of, list, before, &done)
		list = list[:0]
		return err
	}
	var failures []error
	err = c.From.Each(ctx, func(t ubl.TenantID, b ubl.Blob) error {
		if t != of || len(list) == collectAtOnce {
			if err := flush(); err != nil { // of one tenant: its leader may be away
				failures = append(failures, err)
			}
			of = t
		}
		if b.KeptAt <= before {
			list = append(list, b)
		}
		return ctx.Err()
	})
	return done, errors.Join(append(failures, err, flush())...)
}

func (c *Collector) remove(ctx context.Context, t ubl.TenantID, list []ubl.Blob, before ubl.Time, done *Collected) error {
	req, err := c.Request()
	if err != nil {
		return err
	}
	cmd := ubl.CollectBlobs{Request: req, NodeID: c.NodeID}
	bytes := make(map[ubl.BlobID]int64, len(list))
	for _, b := range list {
		cmd.Blobs, cmd.Bytes = append(cmd.Blobs, b.ID), append(cmd.Bytes, b.Bytes)
		bytes[b.ID] = b.Bytes
	}
	collected, err := ubl.Ask[*ubl.Collected](ctx, c.Ask, ubl.TenantName(t), cmd)
	if err != nil {
		return err
	}
	for _, id := range collected.Blobs {
		removed, err := c.From.Remove(ctx, t, id, before)
		if err != nil {
			return err
		}
		if removed {
			done.Blobs++
			done.Bytes += bytes[id]
		}
	}
	return nil
}

package container

import (
	"context"
	"math"

	"ubl"
	"ubl/actors"
)

// Open loads a Container for tests that compare it with a live one.
func Open(ctx context.Context, read ubl.Reader, env actors.Env) (*Container, error) {
	return open(ctx, read, nil, env)
}

// Snapshot is everything a Container knows.
type Snapshot struct {
	State             State
	KeysLow, KeysHigh int64
	KeysKnown         any
}

// Snapshot copies what the Container knows; only while nothing is in flight.
func (c *Container) Snapshot() Snapshot {
	return Snapshot{State: c.state, KeysLow: c.keys.Low, KeysHigh: c.keys.High, KeysKnown: c.keys.Known()}
}

// Listed are the titles and contents of what the Container lists, by id.
func (c *Container) Listed(ctx context.Context) (map[ubl.DocumentID]string, error) {
	out := make(map[ubl.DocumentID]string)
	for _, id := range c.state.Listed {
		d, err := c.readDocument(ctx, id, c.state.Documents[id].Version)
		if err != nil {
			return nil, err
		}
		out[id] = d.Title + ": " + d.Content
	}
	return out, nil
}

// Told are the titles and contents that the Container's changes lead to, where they
// are read in two goes that part after an event.
func (c *Container) Told(ctx context.Context, parting int64) (map[ubl.DocumentID]string, error) {
	out := make(map[ubl.DocumentID]string)
	for _, part := range [][2]int64{{0, parting}, {parting, math.MaxInt64}} {
		_, err := c.tellChanges(ctx, part[0], func(d ubl.DocumentChange) error {
			switch {
			case d.N > part[1]:
			case d.Deleted:
				delete(out, d.DocumentID)
			default:
				out[d.DocumentID] = d.Title + ": " + d.Content
			}
			return nil
		})
		if err != nil {
			return nil, err
		}
	}
	return out, nil
}

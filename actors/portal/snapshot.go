package portal

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"

	"ubl"
	"ubl/actors"
)

// A server whose tools change often has owners approve them again and again, and each approval is an
// event with the whole definition. What is left of them is small: so a Portal is loaded from a
// snapshot and the events after it.

// snapshot is the stored form of a State, but for what is kept beside it: a field of one is a field
// of the other, or is named in [besides].
type snapshot struct {
	// Servers are the numbers of the events that each is as of. What owners set is read from there,
	// with the receipt, which a snapshot can't have: its event may not be sealed yet.
	Servers map[string]int64 `json:"servers"`
	Budget  limits           `json:"budget"`
}

// besides are the fields of a State that come from the name, or that [beside] reads.
var besides = []string{"Tenant", "Tools", "Grants", "Usage", "Reserved", "Open", "Kept", "Low", "High", "requests"}

// snapshots tell how. They are small and save reading large events, so there are many.
func snapshots() *actors.Snapshots[State] {
	return &actors.Snapshots[State]{
		Version: 1, Encode: (*State).encode, Decode: decodeState, Complete: complete, Every: 100,
		Size: func(s *State) int { return len(s.Servers) },
	}
}

func (s *State) encode() []byte {
	c := snapshot{Servers: make(map[string]int64, len(s.Servers)), Budget: s.Budget}
	for id, x := range s.Servers {
		c.Servers[id] = x.n
	}
	b, err := json.Marshal(c)
	if err != nil { // names and numbers
		panic(fmt.Sprintf("portal: couldn't encode a snapshot: %v", err))
	}
	return b
}

// decodeState is a state whose servers have only their numbers.
func decodeState(b []byte) (State, error) {
	s := newState("")
	var c snapshot
	if err := json.Unmarshal(b, &c); err != nil {
		return s, fmt.Errorf("couldn't read a snapshot: %w", err)
	}
	s.Budget = c.Budget
	for id, n := range c.Servers {
		s.Servers[id] = &server{n: n}
	}
	return s, nil
}

// complete reads the servers from their events.
func complete(ctx context.Context, read ubl.Reader, name ubl.Name, s *State) error {
	s.Tenant = name.Group().Tenant
	stored := actors.Events[event]{Read: read, Group: name.Group(), Key: eventKey, Newest: version}
	for _, id := range slices.Sorted(maps.Keys(s.Servers)) {
		page, err := stored.Page(ctx, s.Servers[id].n, 1)
		if err != nil {
			return err
		}
		if len(page) == 0 || page[0].Server == nil || page[0].Server.ServerID != id {
			return fmt.Errorf("%w: it names an event that isn't its server's", actors.ErrSnapshot)
		}
		s.Servers[id] = serverOf(page[0])
	}
	return nil
}

package tenant

import (
	"bytes"
	"context"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"maps"
	"slices"

	"ubl"
	"ubl/actors"
)

// Tenant 0 has an event for every session that anybody began, renewed or ended, and
// most of them mean nothing any more. So a Tenant is loaded from a snapshot and the
// events after it, as soon as its events are far more than what they lead to.

// snapshots tell how. Their keys are from before the kernel had a place for them.
func snapshots() *actors.Snapshots[State] {
	return &actors.Snapshots[State]{
		Version: 1, Encode: (*State).encode, Decode: decodeState, Complete: recallClaims, Size: (*State).size, Keep: 4000,
		Key: func(ubl.Name) []byte { return []byte{'s'} },
	}
}

// snapshot is the stored form of a State, but for what follows from it: a field of one
// is a field of the other, or is named in [derived].
type snapshot struct {
	Tenant        ubl.Tenant                               `json:"tenant"`
	License       snapshotLicense                          `json:"license"`
	Vouched       map[ubl.UserID]voucher                   `json:"vouched"`
	Removed       map[ubl.UserID]ubl.Member                `json:"removed"`
	Unproven      map[ubl.UserID]bool                      `json:"unproven"`
	Homes         []snapshotHomes                          `json:"homes"`
	Claims        map[ubl.TenantID][]ubl.DomainClaim       `json:"claims"` // absent before there were any
	Holders       map[string]holders                       `json:"holders"`
	Rooms         map[ubl.RoomID]ubl.RoomSummary           `json:"rooms"`
	Kinds         map[string]ubl.Kind                      `json:"kinds,omitempty"` // absent before there were any
	Containers    map[ubl.ContainerID]ubl.ContainerSummary `json:"containers"`
	Tools         map[string]snapshotTool                  `json:"tools"`
	Services      map[string]service                       `json:"services"`
	Tokens        map[string]platform                      `json:"tokens"`
	Links         map[string]link                          `json:"links"`
	Invitations   []invitation                             `json:"invitations"`
	Passkeys      map[ubl.PasskeyID]passkey                `json:"passkeys"`
	Rings         []snapshotRing                           `json:"rings"`
	LastingTokens int                                      `json:"lasting_tokens"`
	Events        int64                                    `json:"events"`
}

type snapshotLicense struct {
	ubl.Agreement
	Members map[ubl.UserID]ubl.Member `json:"members"`
}

type snapshotTool struct {
	access
	Agreement ubl.Agreement `json:"agreement"`
	N         int64         `json:"n"`
}

type snapshotRing struct {
	person
	Handle []byte          `json:"handle"`
	Keys   []ubl.PasskeyID `json:"keys"`
}

type snapshotHomes struct {
	voucher
	Homes []snapshotHome `json:"homes"`
}

type snapshotHome struct {
	TenantID ubl.TenantID `json:"tenant_id"`
	UserID   ubl.UserID   `json:"user_id"`
	Unproven bool         `json:"unproven,omitempty"`
}

// derived are the fields of a State that a snapshot has no need of.
var derived = []string{"Looks", "meters", "tokensOf"}

// size is how many things the state has, about.
func (s *State) size() int {
	return len(s.License.Members) + len(s.Vouched) + len(s.Removed) + len(s.Homes) + len(s.Claims) + len(s.Holders) + len(s.Rooms) + len(s.Kinds) + len(s.Containers) + len(s.Tools) + len(s.Services) +
		len(s.Tokens) + len(s.Links) + len(s.Invitations) + len(s.Passkeys) + len(s.Rings)
}

func (s *State) encode() []byte {
	c := snapshot{
		Tenant: s.Tenant, License: snapshotLicense{s.License.Agreement, s.License.Members}, Vouched: s.Vouched, Removed: s.Removed,
		Unproven: s.Unproven, Claims: s.Claims, Holders: s.Holders, Rooms: s.Rooms, Kinds: s.Kinds, Containers: s.Containers, Tools: make(map[string]snapshotTool, len(s.Tools)), Services: s.Services,
		Tokens: s.Tokens, Links: s.Links, Invitations: s.Invitations, Passkeys: s.Passkeys, LastingTokens: s.lastingTokens, Events: s.Events,
	}
	for id, t := range s.Tools {
		c.Tools[id] = snapshotTool(t)
	}
	for _, p := range slices.SortedFunc(maps.Keys(s.Rings), person.compare) {
		c.Rings = append(c.Rings, snapshotRing{p, s.Rings[p].Handle, s.Rings[p].Keys})
	}
	for _, v := range slices.SortedFunc(maps.Keys(s.Homes), voucher.compare) {
		at := snapshotHomes{voucher: v}
		for _, h := range s.Homes[v] {
			at.Homes = append(at.Homes, snapshotHome{h.TenantID, h.UserID, h.Unproven})
		}
		c.Homes = append(c.Homes, at)
	}
	b, err := json.Marshal(c)
	if err != nil { // as of an event: strings, numbers and times
		panic(fmt.Sprintf("tenant: couldn't encode a snapshot: %v", err))
	}
	return b
}

// decodeState is the state of a snapshot. Fields that its release didn't know are empty,
// but for Claims, which is nil then: see [recallClaims].
func decodeState(b []byte) (State, error) {
	var s State
	s.empty()
	c := snapshot{Vouched: s.Vouched, Removed: s.Removed, Unproven: s.Unproven, Rooms: s.Rooms, Kinds: s.Kinds, Containers: s.Containers, Services: s.Services,
		Tokens: s.Tokens, Links: s.Links, Passkeys: s.Passkeys}
	if err := json.Unmarshal(b, &c); err != nil {
		return s, fmt.Errorf("couldn't read a snapshot: %w", err)
	}
	s.Unproven, s.Claims, s.Holders, s.Kinds = c.Unproven, c.Claims, c.Holders, c.Kinds
	s.Tenant, s.Vouched, s.Removed, s.Rooms, s.Containers, s.Services = c.Tenant, c.Vouched, c.Removed, c.Rooms, c.Containers, c.Services
	s.Tokens, s.Links, s.Invitations, s.Passkeys, s.lastingTokens, s.Events = c.Tokens, c.Links, c.Invitations, c.Passkeys, c.LastingTokens, c.Events
	for _, p := range s.Tokens {
		s.index(p)
	}
	s.License.Agreement = c.License.Agreement
	if s.License.Terms == nil { // of a release before terms
		s.License.Terms = usual
	}
	s.License.Members = make(map[ubl.UserID]ubl.Member, len(c.License.Members))
	for id, m := range c.License.Members {
		s.License.Members[id] = m
		s.Looks.set(m)
	}
	for id, t := range c.Tools {
		t.Agreement.Terms = t.access.terms()
		s.Tools[id] = tool(t)
	}
	for _, h := range c.Homes {
		for _, at := range h.Homes {
			s.Homes[h.voucher] = append(s.Homes[h.voucher], ubl.Home{TenantID: at.TenantID, UserID: at.UserID, Unproven: at.Unproven})
		}
	}
	for _, r := range c.Rings {
		s.Rings[r.person] = ring{r.Handle, r.Keys}
	}
	return s, nil
}

// recallClaims finds the claims of domains among the events before a snapshot whose
// release knew none: on a cluster that is being upgraded such a release passes over them.
func recallClaims(ctx context.Context, read ubl.Reader, name ubl.Name, s *State) error {
	group := name.Group()
	if s.Claims != nil {
		return nil
	}
	s.Claims, s.Holders = make(map[ubl.TenantID][]ubl.DomainClaim), make(map[string]holders)
	stored := actors.Events[event]{Read: read, Group: group, Key: eventKey, Newest: eventVersion}
	mark := []byte(`"did":"tenant.domain.`)
	for first := int64(1); first <= s.Events; first += actors.EventPage {
		var found []int64
		err := read.View(ctx, group, func(snap ubl.Snapshot) error {
			return snap.Ascend(eventKey(first), eventKey(min(first+actors.EventPage, s.Events+1)), func(k, v []byte) bool {
				if bytes.Contains(v, mark) {
					found = append(found, int64(binary.BigEndian.Uint64(k[len(k)-8:])))
				}
				return true
			})
		})
		if err != nil {
			return err
		}
		for _, n := range found {
			page, err := stored.Page(ctx, n, 1)
			if err != nil {
				return err
			}
			if e := page[0]; e.Domain != nil {
				s.claim(e)
			}
		}
	}
	return nil
}

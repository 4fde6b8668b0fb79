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
// most of them mean nothing any more. So a Tenant is loaded from a checkpoint and the
// events after it, as soon as its events are far more than what they lead to.
//
// A checkpoint may be of many megabytes, and a batch should not: it is encoded at once,
// and its pieces go into the batches of the events that follow, one each. The head comes
// with the last and makes it count; until then the one before does, whose pieces are
// others. Everything in it follows from the events: one that is damaged is left alone,
// and all events are replayed.

// checkpointVersion is the version of the stored form.
const checkpointVersion = 1

// checkpointing says when there is a checkpoint, how it is cut, and where it is.
type checkpointing struct {
	every int // so many events since the last one at least,
	each  int // and so many for each thing that the state has: they must be worth it
	piece int // bytes
	// saved is the head of the newest one, saving one on its way.
	saved  checkpointHead
	saving *saving
}

func usualCheckpoints() checkpointing {
	return checkpointing{every: 1000, each: 2, piece: 256 << 10}
}

// checkpointHead says where a checkpoint is and that it is whole.
type checkpointHead struct {
	Version int    `json:"v"`
	Events  int64  `json:"events"` // the last that it knows
	Turn    byte   `json:"turn"`   // of two, so that no piece of the last one is overwritten
	Pieces  int    `json:"pieces"`
	Hash    string `json:"hash"` // of all of them
}

// checkpoint is the stored form of a State, but for what follows from it: a field of one
// is a field of the other, or is named in [derived].
type checkpoint struct {
	Tenant        ubl.Tenant                               `json:"tenant"`
	License       checkpointLicense                        `json:"license"`
	Vouched       map[ubl.UserID]voucher                   `json:"vouched"`
	Removed       map[ubl.UserID]ubl.Member                `json:"removed"`
	Unproven      map[ubl.UserID]bool                      `json:"unproven"`
	Homes         []checkpointHomes                        `json:"homes"`
	Claims        map[ubl.TenantID][]ubl.DomainClaim       `json:"claims"` // absent before there were any
	Holders       map[string]holders                       `json:"holders"`
	Rooms         map[ubl.RoomID]ubl.RoomSummary           `json:"rooms"`
	Containers    map[ubl.ContainerID]ubl.ContainerSummary `json:"containers"`
	Tools         map[string]checkpointTool                `json:"tools"`
	Services      map[string]service                       `json:"services"`
	Tokens        map[string]platform                      `json:"tokens"`
	Links         map[string]link                          `json:"links"`
	Invitations   []invitation                             `json:"invitations"`
	Passkeys      map[ubl.PasskeyID]passkey                `json:"passkeys"`
	Rings         []checkpointRing                         `json:"rings"`
	LastingTokens int                                      `json:"lasting_tokens"`
	Events        int64                                    `json:"events"`
}

type checkpointLicense struct {
	ubl.Agreement
	Members map[ubl.UserID]ubl.Member `json:"members"`
}

type checkpointTool struct {
	access
	Agreement ubl.Agreement `json:"agreement"`
	N         int64         `json:"n"`
}

type checkpointRing struct {
	person
	Handle []byte          `json:"handle"`
	Keys   []ubl.PasskeyID `json:"keys"`
}

type checkpointHomes struct {
	voucher
	Homes []checkpointHome `json:"homes"`
}

type checkpointHome struct {
	TenantID ubl.TenantID `json:"tenant_id"`
	UserID   ubl.UserID   `json:"user_id"`
	Unproven bool         `json:"unproven,omitempty"`
}

// derived are the fields of a State that a checkpoint has no need of.
var derived = []string{"Looks", "checkpoints", "meters", "tokensOf"}

// size is how many things the state has, about.
func (s *State) size() int {
	return len(s.License.Members) + len(s.Vouched) + len(s.Removed) + len(s.Homes) + len(s.Claims) + len(s.Holders) + len(s.Rooms) + len(s.Containers) + len(s.Tools) + len(s.Services) +
		len(s.Tokens) + len(s.Links) + len(s.Invitations) + len(s.Passkeys) + len(s.Rings)
}

func (s *State) encode() []byte {
	c := checkpoint{
		Tenant: s.Tenant, License: checkpointLicense{s.License.Agreement, s.License.Members}, Vouched: s.Vouched, Removed: s.Removed,
		Unproven: s.Unproven, Claims: s.Claims, Holders: s.Holders, Rooms: s.Rooms, Containers: s.Containers, Tools: make(map[string]checkpointTool, len(s.Tools)), Services: s.Services,
		Tokens: s.Tokens, Links: s.Links, Invitations: s.Invitations, Passkeys: s.Passkeys, LastingTokens: s.lastingTokens, Events: s.Events,
	}
	for id, t := range s.Tools {
		c.Tools[id] = checkpointTool(t)
	}
	for _, p := range slices.SortedFunc(maps.Keys(s.Rings), person.compare) {
		c.Rings = append(c.Rings, checkpointRing{p, s.Rings[p].Handle, s.Rings[p].Keys})
	}
	for _, v := range slices.SortedFunc(maps.Keys(s.Homes), voucher.compare) {
		at := checkpointHomes{voucher: v}
		for _, h := range s.Homes[v] {
			at.Homes = append(at.Homes, checkpointHome{h.TenantID, h.UserID, h.Unproven})
		}
		c.Homes = append(c.Homes, at)
	}
	b, err := json.Marshal(c)
	if err != nil { // as of an event: strings, numbers and times
		panic(fmt.Sprintf("tenant: couldn't encode a checkpoint: %v", err))
	}
	return b
}

// decodeState is the state of a checkpoint. Fields that its release didn't know are empty,
// but for Claims, which is nil then: see [Tenant.recallClaims].
func decodeState(b []byte) (State, error) {
	var s State
	s.empty()
	c := checkpoint{Vouched: s.Vouched, Removed: s.Removed, Unproven: s.Unproven, Rooms: s.Rooms, Containers: s.Containers, Services: s.Services,
		Tokens: s.Tokens, Links: s.Links, Passkeys: s.Passkeys}
	if err := json.Unmarshal(b, &c); err != nil {
		return s, fmt.Errorf("couldn't read a checkpoint: %w", err)
	}
	s.Unproven, s.Claims, s.Holders = c.Unproven, c.Claims, c.Holders
	s.Tenant, s.Vouched, s.Removed, s.Rooms, s.Containers, s.Services = c.Tenant, c.Vouched, c.Removed, c.Rooms, c.Containers, c.Services
	s.Tokens, s.Links, s.Invitations, s.Passkeys, s.lastingTokens, s.Events = c.Tokens, c.Links, c.Invitations, c.Passkeys, c.LastingTokens, c.Events
	for _, p := range s.Tokens {
		s.index(p)
	}
	s.License.Agreement = c.License.Agreement
	s.License.Members = make(map[ubl.UserID]ubl.Member, len(c.License.Members))
	for id, m := range c.License.Members {
		s.License.Members[id] = m
		s.Looks.set(m)
	}
	for id, t := range c.Tools {
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

// saving is a checkpoint on its way into the store.
type saving struct {
	head checkpointHead
	rest []byte // what is still to be written
}

// checkpoint is the next part of one, where one is due or under way.
func (s *State) checkpoint() []actors.Record {
	c := &s.checkpoints
	if c.saving == nil {
		if s.Events-c.saved.Events < int64(max(c.every, c.each*s.size())) {
			return nil
		}
		all := s.encode()
		c.saving = &saving{rest: all, head: checkpointHead{
			Version: checkpointVersion, Events: s.Events, Turn: 1 - c.saved.Turn, Hash: ubl.BodyHash(all),
		}}
	}
	next := c.saving
	n := min(len(next.rest), c.piece)
	records := []actors.Record{{Key: pieceKey(next.head.Turn, next.head.Pieces), Value: next.rest[:n]}}
	next.head.Pieces++
	if next.rest = next.rest[n:]; len(next.rest) > 0 {
		return records
	}
	head, err := json.Marshal(next.head)
	if err != nil { // numbers and a text
		panic(fmt.Sprintf("tenant: couldn't encode a checkpoint's head: %v", err))
	}
	c.saved, c.saving = next.head, nil
	return append(records, actors.Record{Key: headKey(), Value: head})
}

// restore takes over the newest checkpoint. A damaged one is left alone; one of a newer
// release is refused, as an event is.
func restore(ctx context.Context, read ubl.Reader, name ubl.Name, s *State) (int64, error) {
	s.checkpoints = usualCheckpoints()
	head, err := readHead(ctx, read, name.Group())
	if err != nil || head.Version == 0 {
		return 0, err
	}
	s.checkpoints.saved.Turn = head.Turn // what is saved next leaves this one alone
	all, err := readPieces(ctx, read, name.Group(), head)
	if err != nil {
		return 0, err
	}
	restored, err := decodeState(all)
	if err != nil || restored.Events != head.Events {
		return 0, actors.ErrCheckpoint
	}
	restored.checkpoints = s.checkpoints
	restored.checkpoints.saved = head
	*s = restored
	return s.Events, s.recallClaims(ctx, read, name.Group())
}

// recallClaims finds the claims of domains among the events before a checkpoint whose
// release knew none: on a cluster that is being upgraded such a release passes over them.
func (s *State) recallClaims(ctx context.Context, read ubl.Reader, group ubl.Group) error {
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

// readHead is the head, empty where there is none or it can't be read.
func readHead(ctx context.Context, read ubl.Reader, group ubl.Group) (head checkpointHead, err error) {
	err = read.View(ctx, group, func(snap ubl.Snapshot) error {
		v, err := snap.Get(headKey())
		if err != nil || v == nil {
			return err
		}
		if json.Unmarshal(v, &head) != nil || head.Version < 1 || head.Turn > 1 {
			return actors.ErrCheckpoint
		}
		return nil
	})
	if err == nil && head.Version > checkpointVersion {
		err = fmt.Errorf("a tenant's checkpoint is of version %d, this program knows %d", head.Version, checkpointVersion)
	}
	return head, err
}

// readPieces reads them one after the other, in short views.
func readPieces(ctx context.Context, read ubl.Reader, group ubl.Group, head checkpointHead) ([]byte, error) {
	var all bytes.Buffer
	for n := range head.Pieces {
		found := false
		err := read.View(ctx, group, func(snap ubl.Snapshot) error {
			v, err := snap.Get(pieceKey(head.Turn, n))
			found = v != nil
			all.Write(v)
			return err
		})
		if err != nil {
			return nil, err
		}
		if !found {
			return nil, actors.ErrCheckpoint
		}
	}
	if ubl.BodyHash(all.Bytes()) != head.Hash {
		return nil, actors.ErrCheckpoint
	}
	return all.Bytes(), nil
}

func headKey() []byte { return []byte{'s'} }

func pieceKey(turn byte, n int) []byte {
	return binary.BigEndian.AppendUint32([]byte{'s', 0, turn}, uint32(n))
}

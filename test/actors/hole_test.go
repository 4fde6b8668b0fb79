package actors_test

import (
	"encoding/binary"
	"errors"
	"fmt"
	"testing"

	"ubl"
	"ubl/test/harness"
)

// drop takes records out of the store behind the actors' backs.
func drop(t *testing.T, h *harness.House, g ubl.Group, keys ...[]byte) {
	t.Helper()
	lease, head, err := h.Engine.Begin(t.Context(), g)
	if err != nil {
		t.Fatal(err)
	}
	b := &ubl.Batch{Group: g, Lease: lease, Head: head, Next: head}
	for _, key := range keys {
		b.Records = append(b.Records, ubl.Record{Key: key})
	}
	settled := make(chan error, 1)
	h.Engine.Submit(b, func(err error) { settled <- err })
	if err := <-settled; err != nil {
		t.Fatal(err)
	}
}

func numbered(space byte, name string, n uint64) []byte {
	return binary.BigEndian.AppendUint64(fmt.Appendf(nil, "%c%s\x00", space, name), n)
}

// TestHoles: a message or event that is missing above what retention keeps is an
// error that names it, never a shorter answer.
func TestHoles(t *testing.T) {
	const sent = 620 // more than a room has in memory
	for name, test := range map[string]struct {
		missing []byte
		asked   ubl.ReadHistory
	}{
		"in a page":               {numbered('m', "r:general", 50), ubl.ReadHistory{Before: 101, Limit: 100}},
		"the oldest":              {numbered('m', "r:general", 1), ubl.ReadHistory{Before: 11, Limit: 100}},
		"the first of a page":     {numbered('m', "r:general", 50), ubl.ReadHistory{After: new(int64(49)), Limit: 10}},
		"the last of a page":      {numbered('m', "r:general", 50), ubl.ReadHistory{Before: 51, Limit: 10}},
		"among those in memory":   {numbered('m', "r:general", sent-5), ubl.ReadHistory{Limit: 1}},
		"the newest":              {numbered('m', "r:general", sent), ubl.ReadHistory{Limit: 1}},
		"an event of the room":    {numbered('g', "r:general", 1), ubl.ReadHistory{Limit: 1}},
		"the room's newest event": {numbered('g', "r:general", 2), ubl.ReadHistory{Limit: 1}},
	} {
		t.Run(name, func(t *testing.T) {
			h := harness.Open(t, harness.Options{})
			ana := harness.User("ana@acme.com")
			h.Enter(ana)
			h.Enter(harness.User("bob@acme.com"))
			room := ubl.RoomName(ana.TenantID, "r:general")
			for last := int64(0); last < sent; {
				last = harness.Must[*ubl.Sent](h, room, ubl.SendMessage{Request: h.Request(ana), Text: "hello"}).RoomSeq
			}
			test.asked.Who = ana
			harness.Must[*ubl.HistoryPage](h, room, test.asked)
			drop(t, h, room.Group(), test.missing)
			h.Reload()
			page, err := h.Ask(t.Context(), room, test.asked)
			if !errors.Is(err, ubl.ErrDamaged) {
				t.Errorf("there is an answer (%t), and %v", page != nil, err)
			}
		})
	}
}

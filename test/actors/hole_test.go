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

// TestHolesBehindIndexes: so it is where an index leads to what is missing. What was said is
// 4 the message, 5 an answer in its thread, 6 its pin, 7 its edit.
func TestHolesBehindIndexes(t *testing.T) {
	thread := func(x *talk, said *ubl.Entry) ubl.Command {
		return ubl.ReadThread{Who: x.bob, Root: said.ID, Limit: 10}
	}
	pins := func(x *talk, _ *ubl.Entry) ubl.Command { return ubl.ListPins{Who: x.bob, Limit: 10} }
	for name, test := range map[string]struct {
		missing uint64
		asked   func(*talk, *ubl.Entry) ubl.Command
		writes  bool // so that it can't be asked behind the back of a room that has it in memory
	}{
		"an answer of a thread":      {5, thread, false},
		"the first of a thread":      {4, thread, false},
		"what was pinned":            {4, pins, false},
		"the edit of what is pinned": {7, pins, false},
		"what a reaction is about": {4, func(x *talk, said *ubl.Entry) ubl.Command {
			return x.post(x.bob, ubl.EntryReaction, said.ID, ubl.ReactionContent("👍"))
		}, true},
		"the edit of what is redacted": {7, func(x *talk, said *ubl.Entry) ubl.Command {
			return x.post(x.ana, ubl.EntryRedaction, said.ID, ubl.RedactionContent(""))
		}, true},
		"what is found": {4, func(x *talk, _ *ubl.Entry) ubl.Command {
			return ubl.SearchMessages{Request: x.Request(x.bob), Query: "in:plans launch", Limit: 10}
		}, true},
	} {
		t.Run(name, func(t *testing.T) {
			x := openTalk(t)
			said := x.say(x.ana, "the launch is on Monday")
			harness.Must[*ubl.Posted](x.House, x.room, ubl.PostEntry{
				Request: x.Request(x.bob), Type: ubl.EntryMessage, Thread: said.ID, Body: ubl.TextContent("I see"),
			})
			x.enter(x.ana, ubl.EntryPin, said.ID, ubl.PinContent(true))
			x.enter(x.ana, ubl.EntryEdit, said.ID, ubl.TextContent("the launch is on Tuesday"))
			for n := 0; test.writes && n < 600; n++ { // more than a room has in memory
				x.say(x.bob, "so many words")
			}
			x.indexed()
			asked := test.asked(x, said)
			to := x.room
			if _, ok := asked.(ubl.SearchMessages); ok {
				to = ubl.TenantName(x.ana.TenantID)
			}
			drop(t, x.House, x.room.Group(), numbered('m', x.room.Local(), test.missing))
			if test.writes {
				x.Reload()
			}
			answer, err := x.Ask(t.Context(), to, asked)
			if !errors.Is(err, ubl.ErrDamaged) {
				t.Errorf("there is an answer (%t), and %v", answer != nil, err)
			}
		})
	}
}

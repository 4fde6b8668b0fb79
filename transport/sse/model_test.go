package sse_test

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"sync"
	"time"

	"ubl"
)

const tenant ubl.TenantID = "t:example.com"

// world is the rooms and the ledger of one tenant in memory: a test double of
// the actors that keeps their contract. It publishes in order, and where told
// to loses publications or holds them back while their content can be read.
type world struct {
	lose     func() bool
	answered func(ubl.Command) // called before an answer goes out

	mu      sync.Mutex
	held    bool
	queue   []func()
	now     ubl.Time
	rooms   map[ubl.RoomID]*modelRoom
	atoms   []json.RawMessage
	sinks   map[ubl.Name]map[int]func(ubl.Publication)
	nextID  int
	failing map[ubl.Name]error
}

type modelRoom struct {
	summary   ubl.RoomSummary
	members   map[ubl.UserID]bool
	events    []ubl.Event // message.created, by room_seq-1
	available int64
}

func newWorld() *world {
	return &world{
		lose:     func() bool { return false },
		answered: func(ubl.Command) {},
		now:      1_800_000_000_000,
		rooms:    make(map[ubl.RoomID]*modelRoom),
		sinks:    make(map[ubl.Name]map[int]func(ubl.Publication)),
		failing:  make(map[ubl.Name]error),
	}
}

// Subscribe implements ubl.Feed.
func (w *world) Subscribe(to ubl.Name, sink func(ubl.Publication), kinds ...string) func() {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.sinks[to] == nil {
		w.sinks[to] = make(map[int]func(ubl.Publication))
	}
	w.nextID++
	id := w.nextID
	w.sinks[to][id] = func(p ubl.Publication) {
		if p.Last == 0 || kinds == nil || slices.ContainsFunc(p.Events, func(e ubl.Event) bool { return slices.Contains(kinds, e.Kind) }) {
			sink(p)
		}
	}
	return func() {
		w.mu.Lock()
		defer w.mu.Unlock()
		delete(w.sinks[to], id)
	}
}

func (w *world) subscriptions() int {
	w.mu.Lock()
	defer w.mu.Unlock()
	n := 0
	for _, s := range w.sinks {
		n += len(s)
	}
	return n
}

// commit is one act after the other, told together.
type commit struct {
	w      *world
	first  int64
	events []ubl.Event
}

func (w *world) begin() *commit {
	w.now++
	return &commit{w: w, first: int64(len(w.atoms)) + 1}
}

// act writes the two atoms of an act and returns the seq of the second.
func (c *commit) act(did ubl.Did, by ubl.UserID, this ubl.Fields, effect ...ubl.Fields) int64 {
	a := ubl.Action{
		TenantID: tenant, AgreementID: ubl.TenantAgreement(tenant), Did: did, PrevHash: ubl.Genesis, RequestID: "req:test",
		Status: ubl.StatusExecuted, This: this, When: c.w.now, Who: ubl.Who{UserID: by, Email: "x@example.com"},
	}
	action, cid := a.Seal()
	e := ubl.Effect{
		TenantID: tenant, Effects: effect, Outcome: ubl.OutcomeOK, PrevHash: ubl.Genesis, RefActionCID: cid, When: c.w.now,
	}
	sealed, _ := e.Seal()
	c.w.atoms = append(c.w.atoms, action, sealed)
	return int64(len(c.w.atoms))
}

func (c *commit) message(room ubl.RoomID, by ubl.UserID, text, kind string) {
	r := c.w.rooms[room]
	seq := int64(len(r.events)) + 1
	m := ubl.Message{
		MsgID: ubl.MessageID(fmt.Sprintf("m:%s-%d", room[2:], seq)), TenantID: tenant, RoomID: room, RoomSeq: seq,
		SenderID: by, SentAt: c.w.now, Type: kind, Body: ubl.Body{Text: text},
		Receipt: ubl.Receipt{Shard: ubl.DefaultShard, Seq: int64(len(c.w.atoms)) + 1, CID: "c:0", HeadHash: "h:0", Time: c.w.now},
	}
	at := c.act(ubl.DidSend, by,
		ubl.Fields{ubl.Str("room_id", room), ubl.Int("room_seq", seq)},
		ubl.Fields{ubl.Str("op", "room.append"), ubl.Str("room_id", room), ubl.Int("room_seq", seq)})
	ev := ubl.Event{
		Kind: ubl.EventMessageCreated, TenantID: tenant, RoomID: room, TS: c.w.now, RoomSeq: seq, LedgerSeq: at,
		Payload: m.AppendJSON(nil),
	}
	r.events = append(r.events, ev)
	c.events = append(c.events, ev)
}

// publish tells the commit, or loses it: independently to the two topics.
func (c *commit) publish(room ubl.RoomID) {
	p := ubl.Publication{First: c.first, Last: int64(len(c.w.atoms)), Events: c.events}
	for _, to := range []ubl.Name{ubl.LedgerName(tenant), ubl.RoomName(tenant, room)} {
		if c.w.lose() {
			continue
		}
		c.w.queue = append(c.w.queue, func() {
			for _, sink := range c.w.sinks[to] {
				sink(p)
			}
		})
	}
	if !c.w.held {
		c.w.flush()
	}
}

func (w *world) flush() {
	for _, tell := range w.queue {
		tell()
	}
	w.queue = nil
}

// hold keeps publications back, or lets them go.
func (w *world) hold(on bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.held = on; !on {
		w.flush()
	}
}

func (w *world) create(room ubl.RoomID, by ubl.UserID) {
	w.mu.Lock()
	defer w.mu.Unlock()
	c := w.begin()
	summary := ubl.RoomSummary{RoomID: room, Name: string(room[2:]), Mode: ubl.ModeInternal, CreatedAt: w.now}
	w.rooms[room] = &modelRoom{summary: summary, members: map[ubl.UserID]bool{by: true}, available: 1}
	at := c.act(ubl.DidRoomCreate, by, ubl.Fields{ubl.Str("room_id", room)}, ubl.Fields{ubl.Str("op", "room.create"), ubl.Str("room_id", room)})
	c.events = append(c.events, ubl.Event{
		Kind: ubl.EventRoomCreated, TenantID: tenant, RoomID: room, TS: w.now, LedgerSeq: at, UserID: by,
		Payload: ubl.RoomCreatedPayload(summary),
	})
	c.message(room, by, "Room created: "+summary.Name, ubl.TypeSystem)
	c.publish(room)
}

// createInOneAct makes a room as one act with two effects and two events.
func (w *world) createInOneAct(room ubl.RoomID, by ubl.UserID) {
	w.mu.Lock()
	defer w.mu.Unlock()
	c := w.begin()
	summary := ubl.RoomSummary{RoomID: room, Name: string(room[2:]), Mode: ubl.ModeInternal, CreatedAt: w.now}
	r := &modelRoom{summary: summary, members: map[ubl.UserID]bool{by: true}, available: 1}
	w.rooms[room] = r
	at := c.act(ubl.DidRoomCreate, by, ubl.Fields{ubl.Str("room_id", room)},
		ubl.Fields{ubl.Str("op", "room.create"), ubl.Str("room_id", room)},
		ubl.Fields{ubl.Str("op", "room.append"), ubl.Str("room_id", room), ubl.Int("room_seq", 1)})
	m := ubl.Message{MsgID: "m:first", TenantID: tenant, RoomID: room, RoomSeq: 1, SenderID: by, SentAt: w.now, Type: ubl.TypeSystem}
	c.events = []ubl.Event{{
		Kind: ubl.EventRoomCreated, TenantID: tenant, RoomID: room, TS: w.now, LedgerSeq: at, UserID: by,
		Payload: ubl.RoomCreatedPayload(summary),
	}, {
		Kind: ubl.EventMessageCreated, TenantID: tenant, RoomID: room, TS: w.now, RoomSeq: 1, LedgerSeq: at,
		Payload: m.AppendJSON(nil),
	}}
	r.events = c.events[1:]
	c.publish(room)
}

func (w *world) send(room ubl.RoomID, by ubl.UserID, text string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	c := w.begin()
	c.message(room, by, text, ubl.TypeText)
	c.publish(room)
}

func (w *world) sendN(room ubl.RoomID, by ubl.UserID, n int) {
	for range n {
		w.send(room, by, "hello")
	}
}

func (w *world) join(room ubl.RoomID, user ubl.UserID) {
	w.mu.Lock()
	defer w.mu.Unlock()
	c := w.begin()
	w.rooms[room].members[user] = true
	at := c.act(ubl.DidRoomJoin, user, ubl.Fields{ubl.Str("room_id", room)})
	c.events = append(c.events, ubl.Event{
		Kind: ubl.EventMemberJoined, TenantID: tenant, RoomID: room, TS: w.now, LedgerSeq: at, UserID: user,
		Payload: ubl.MemberPayload(user, ubl.RoleMember),
	})
	c.message(room, user, string(user)+" joined", ubl.TypeSystem)
	c.publish(room)
}

func (w *world) leave(room ubl.RoomID, user ubl.UserID) {
	w.mu.Lock()
	defer w.mu.Unlock()
	c := w.begin()
	delete(w.rooms[room].members, user)
	at := c.act(ubl.DidRoomLeave, user, ubl.Fields{ubl.Str("room_id", room)})
	c.events = append(c.events, ubl.Event{
		Kind: ubl.EventMemberLeft, TenantID: tenant, RoomID: room, TS: w.now, LedgerSeq: at, UserID: user,
		Payload: ubl.MemberPayload(user, ubl.RoleMember),
	})
	c.publish(room)
}

// read tells how far somebody has read: a commit without atoms.
func (w *world) read(room ubl.RoomID, user ubl.UserID, seq int64) {
	w.mu.Lock()
	defer w.mu.Unlock()
	c := w.begin()
	c.events = append(c.events, ubl.Event{
		Kind: ubl.EventRoomRead, TenantID: tenant, RoomID: room, TS: w.now, LedgerSeq: int64(len(w.atoms)), UserID: user,
		Payload: ubl.ReadPayload(ubl.ReadMark{UserID: user, ReadSeq: seq}),
	})
	c.publish(room)
}

// typing tells that somebody is writing, or where nothing of it is left that they have stopped.
func (w *world) typing(room ubl.RoomID, user ubl.UserID, rest time.Duration) {
	w.mu.Lock()
	defer w.mu.Unlock()
	p := ubl.Publication{Events: []ubl.Event{{
		Kind: ubl.EventRoomTyping, TenantID: tenant, RoomID: room, TS: w.now, UserID: user,
		Payload: ubl.TypingPayload(ubl.Typing{UserID: user, Until: w.now.Add(rest)}),
	}}}
	for _, sink := range w.sinks[ubl.RoomName(tenant, room)] {
		sink(p)
	}
}

// trim applies retention: messages below available are gone.
func (w *world) trim(room ubl.RoomID, available int64) {
	w.mu.Lock()
	defer w.mu.Unlock()
	c := w.begin()
	r := w.rooms[room]
	r.available = max(r.available, min(available, int64(len(r.events))+1))
	c.act(ubl.DidRoomTrim, "u:node", ubl.Fields{ubl.Str("room_id", room)})
	c.publish(room)
}

func (w *world) fail(name ubl.Name, err error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.failing[name] = err
}

func (w *world) head(room ubl.RoomID) int64 {
	w.mu.Lock()
	defer w.mu.Unlock()
	return int64(len(w.rooms[room].events))
}

func (w *world) available(room ubl.RoomID) int64 {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.rooms[room].available
}

// told is the message event of a room as it was published.
func (w *world) told(room ubl.RoomID, seq int64) ubl.Event {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.rooms[room].events[seq-1]
}

// Ask implements ubl.Asker.
func (w *world) Ask(ctx context.Context, to ubl.Name, cmd ubl.Command) (any, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	defer w.answered(cmd)
	w.mu.Lock()
	defer w.mu.Unlock()
	if err := w.failing[to]; err != nil {
		return nil, err
	}
	switch cmd := cmd.(type) {
	case ubl.ListRooms:
		return w.listRooms(cmd.Who.UserID), nil
	case ubl.GetLedgerHead:
		return ubl.LedgerHead{Seq: int64(len(w.atoms))}, nil
	case ubl.ReadAtoms:
		return w.readAtoms(cmd), nil
	}
	room := w.rooms[ubl.RoomID(to.Local())]
	if room == nil || to.Group().Tenant != tenant {
		return nil, ubl.Errorf(ubl.CodeNotFound, "there is no such room")
	}
	return room.ask(cmd)
}

func (w *world) listRooms(user ubl.UserID) []ubl.RoomEntry {
	var list []ubl.RoomEntry
	for _, r := range w.rooms {
		list = append(list, ubl.RoomEntry{RoomSummary: r.summary, Member: r.members[user]})
	}
	return list
}

func (w *world) readAtoms(cmd ubl.ReadAtoms) *ubl.AtomPage {
	last := min(int64(len(w.atoms)), cmd.From+int64(cmd.Limit)-1)
	page := &ubl.AtomPage{From: cmd.From, Head: ubl.LedgerHead{Seq: int64(len(w.atoms))}}
	if cmd.From <= last {
		page.Atoms = slices.Clone(w.atoms[cmd.From-1 : last])
	}
	return page
}

func (r *modelRoom) ask(cmd ubl.Command) (any, error) {
	last := int64(len(r.events))
	switch cmd := cmd.(type) {
	case ubl.RoomHead:
		return ubl.Head{LastSeq: last, AvailableFrom: r.available}, nil
	case ubl.GetRoom:
		if !r.members[cmd.Who.UserID] {
			return nil, ubl.Errorf(ubl.CodeNotAMember, "you are not a member of this room")
		}
		return &ubl.Room{RoomSummary: r.summary, TenantID: tenant, LastSeq: last, AvailableFrom: r.available}, nil
	case ubl.ReadHistory:
		if !r.members[cmd.Who.UserID] {
			return nil, ubl.Errorf(ubl.CodeNotAMember, "you are not a member of this room")
		}
		page := &ubl.HistoryPage{Head: ubl.Head{LastSeq: last, AvailableFrom: r.available}}
		for seq := max(*cmd.After+1, r.available); seq <= last && len(page.Messages) < min(cmd.Limit, 200); seq++ {
			if page.FirstSeq == 0 {
				page.FirstSeq = seq
			}
			page.LastSeq = seq
			page.Messages = append(page.Messages, r.events[seq-1].Payload)
		}
		return page, nil
	}
	return nil, ubl.Errorf(ubl.CodeInternal, "the model knows no such command")
}

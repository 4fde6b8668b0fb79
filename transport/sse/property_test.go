package sse_test

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"testing"
	"testing/synctest"
	"time"

	"ubl"
	"ubl/transport/sse"
)

// Any mix of live events, lost and late publications, drops, resumes, stalls and
// retention: each client ends up with every message after its cursor, once and
// in order, in the bytes it was first told in, and gaps are told where and
// only where retention took something.
func TestEveryMessageOnceInOrder(t *testing.T) {
	for seed := range uint64(12) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) { story(t, rand.New(rand.NewPCG(seed, 1))) })
		})
	}
}

var storyRooms = []ubl.RoomID{"r:general", "r:club", "r:theirs"} // the last is not the clients'

func story(t *testing.T, rng *rand.Rand) {
	w, hub := house(sse.Limits{RingEvents: 1 + rng.IntN(40), RingBytes: 1 << (9 + rng.IntN(10))})
	w.create("r:club", "u:ann")
	w.create("r:theirs", "u:bob")
	loss := []float64{0, 0.05, 0.5, 1}[rng.IntN(4)]
	w.lose = func() bool { return rng.Float64() < loss }
	var clients []*client
	for i := range 9 {
		clients = append(clients, newClient(t, w, hub, rng, i))
	}
	for range 120 {
		c := clients[rng.IntN(len(clients))]
		room := storyRooms[rng.IntN(len(storyRooms))]
		switch n := rng.IntN(100); {
		case n < 45:
			w.sendN(room, "u:ann", 1+rng.IntN(6))
		case n < 48:
			w.sendN(room, "u:ann", 150)
		case n < 60:
			c.disconnect()
		case n < 75:
			c.connect()
		case n < 82:
			c.stall(rng.IntN(2) == 0)
		case n < 85:
			w.trim(room, w.head(room)-int64(rng.IntN(20)))
		case n < 88:
			w.join(room, "u:cyd")
		case n < 91:
			w.hold(rng.IntN(2) == 0)
		default:
			time.Sleep(time.Duration(rng.IntN(3000)) * time.Millisecond)
		}
		if rng.IntN(3) == 0 {
			synctest.Wait()
		}
	}
	w.hold(false)
	for _, c := range clients {
		c.stall(false)
		c.connect()
	}
	time.Sleep(10 * time.Second) // five durable heads
	synctest.Wait()
	for _, c := range clients {
		c.hangUp()
		c.atEnd()
	}
	synctest.Wait()
	if n := w.subscriptions(); n != 0 {
		t.Errorf("%d subscriptions are left", n)
	}
}

// client reads one stream over many connections and checks what it gets.
type client struct {
	t   *testing.T
	w   *world
	hub *sse.Hub
	rng *rand.Rand

	room   ubl.RoomID // "" for a tenant stream
	lastID string
	stream *stream
	seen   int // frames of this connection already checked

	everything bool // it asks for all that is kept, else for what is new
	started    bool

	seq   int64                // room stream: the last room_seq told or announced as gone
	pos   int64                // tenant stream: the ledger position of the last message
	start int64                // tenant stream: where it began
	got   map[ubl.RoomID][]int // tenant stream: room_seqs told
}

func newClient(t *testing.T, w *world, hub *sse.Hub, rng *rand.Rand, i int) *client {
	c := &client{t: t, w: w, hub: hub, rng: rng, got: make(map[ubl.RoomID][]int), everything: i%2 == 0}
	c.started = c.everything
	if i%3 != 0 {
		c.room = storyRooms[rng.IntN(2)]
	}
	c.connect()
	return c
}

func (c *client) connect() {
	if c.stream != nil && !c.stream.ended() {
		return
	}
	c.disconnect()
	target := "/api/events"
	if c.room != "" {
		target += "/rooms/" + string(c.room)
		if c.everything {
			target += "?from_seq=0"
		}
	} else if c.everything {
		target += "?cursor=l0-0"
	}
	c.stream = open(c.hub, member("u:ann"), target, c.lastID)
	c.seen = 0
}

// disconnect loses whatever was on its way.
func (c *client) disconnect() {
	if c.stream == nil {
		return
	}
	frames := c.stream.drop()
	c.check(frames[:len(frames)-min(len(frames), c.rng.IntN(4))])
	c.stream = nil
}

func (c *client) hangUp() {
	if c.stream.ended() {
		c.t.Errorf("the stream of %q ended by itself: %v", c.room, c.hub.Stats().Ended)
	}
	c.check(c.stream.drop())
}

func (c *client) stall(on bool) {
	if c.stream != nil {
		c.stream.stall(on)
	}
}

func (c *client) check(frames []frame) {
	for _, f := range frames {
		switch {
		case c.room == "":
			c.checkTenant(f)
		default:
			c.checkRoom(f)
		}
		if f.id != "" {
			c.lastID = f.id
		}
	}
}

type payload struct {
	RoomID  ubl.RoomID `json:"room_id"`
	Payload struct {
		Message       ubl.Message `json:"message"`
		FromSeq       int64       `json:"from_seq"`
		AvailableFrom int64       `json:"available_from"`
	} `json:"payload"`
}

func (c *client) decode(f frame) (p payload) {
	if err := json.Unmarshal([]byte(f.data), &p); err != nil {
		c.t.Fatalf("data is not JSON: %v in %q", err, f.data)
	}
	return p
}

func (c *client) checkRoom(f frame) {
	switch f.event {
	case "":
		if f.id != "" {
			if c.started {
				c.t.Errorf("a bare id %s in the middle", f.id)
			}
			c.started = true
			fmt.Sscan(f.id, &c.seq)
		}
	case ubl.EventMessageCreated:
		p := c.decode(f)
		c.seq++
		if p.Payload.Message.RoomSeq != c.seq || f.id != fmt.Sprint(c.seq) {
			c.t.Fatalf("got message %d with id %s, want %d", p.Payload.Message.RoomSeq, f.id, c.seq)
		}
		c.sameBytes(f, c.room, c.seq)
	case ubl.EventGap:
		p := c.decode(f).Payload
		if p.FromSeq != c.seq+1 || p.AvailableFrom <= p.FromSeq || p.AvailableFrom > c.w.available(c.room) || f.id != fmt.Sprint(p.AvailableFrom-1) {
			c.t.Fatalf("gap %s with id %s after %d, available from %d", f.data, f.id, c.seq, c.w.available(c.room))
		}
		c.seq = p.AvailableFrom - 1
	}
}

func (c *client) checkTenant(f frame) {
	var pos int64
	if f.id != "" {
		if _, err := fmt.Sscanf(f.id, "l0-%d", &pos); err != nil {
			c.t.Fatalf("id %q", f.id)
		}
		if pos < c.pos {
			c.t.Fatalf("id %d after %d", pos, c.pos)
		}
	}
	switch f.event {
	case "":
		if f.id != "" && !c.started {
			c.started, c.start = true, pos
		}
	case ubl.EventMessageCreated:
		p := c.decode(f)
		if pos <= c.pos {
			c.t.Fatalf("message at %d again, after %d", pos, c.pos)
		}
		seq := p.Payload.Message.RoomSeq
		if want := c.w.told(p.RoomID, seq).LedgerSeq; pos != want {
			c.t.Fatalf("message %s %d has id %d, want %d", p.RoomID, seq, pos, want)
		}
		c.got[p.RoomID] = append(c.got[p.RoomID], int(seq))
		c.sameBytes(f, p.RoomID, seq)
	}
	c.pos = max(c.pos, pos)
}

func (c *client) sameBytes(f frame, room ubl.RoomID, seq int64) {
	ev := c.w.told(room, seq)
	if want := string(ev.AppendData(nil)); f.data != want {
		c.t.Fatalf("told as\n%s\nbut first as\n%s", f.data, want)
	}
}

// atEnd checks that nothing is missing.
func (c *client) atEnd() {
	if c.room != "" {
		if head := c.w.head(c.room); c.seq != head {
			c.t.Errorf("the stream of %s is at %d, the room at %d", c.room, c.seq, head)
		}
		return
	}
	for _, room := range storyRooms {
		if mine := room != "r:theirs"; !mine {
			if len(c.got[room]) > 0 {
				c.t.Errorf("it was told of %s", room)
			}
			continue
		}
		c.complete(room)
	}
}

func (c *client) complete(room ubl.RoomID) {
	got := make(map[int64]bool)
	for _, seq := range c.got[room] {
		got[int64(seq)] = true
	}
	for seq := c.w.available(room); seq <= c.w.head(room); seq++ {
		if !got[seq] && c.w.told(room, seq).LedgerSeq > c.start {
			c.t.Errorf("the tenant stream has no message %d of %s", seq, room)
		}
	}
}

//go:build linux

package chaos

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	"ubl/test/events"
)

// follower keeps a stream open through one node after another, and what came.
type follower struct {
	client *client
	path   string
	draw   *rand.Rand

	mu    sync.Mutex
	last  string               // the newest id
	got   map[string][]message // by room id
	gaps  []string             // what was said to be gone; nothing ever is
	told  []string             // changes of counters
	begun chan struct{}        // closed with the first id
}

func newFollower(c *client, path string, draw *rand.Rand) *follower {
	return &follower{client: c, path: path, draw: draw, got: make(map[string][]message), begun: make(chan struct{})}
}

// silence is how long a stream may be quiet: its keepalive comes every 15 s.
const silence = 20 * time.Second

// follow connects again and again, with the last id, until told to stop. Now and
// then it leaves a node that is well.
func (f *follower) follow(ctx context.Context) {
	for again := f.client.world.backoff(); ctx.Err() == nil; again.wait(ctx) {
		members := f.client.world.members()
		n := members[f.draw.IntN(len(members))]
		stay, cancel := context.WithTimeout(ctx, between(f.draw, 3*time.Second, 30*time.Second))
		_ = f.connect(stay, cancel, n, again.worked) // however it ended, the last id says where to resume
		cancel()
		f.client.tally.reconnects.Add(1)
	}
}

// connect reads one stream to its end. Each event that comes, a comment too, says that it works.
func (f *follower) connect(ctx context.Context, cancel func(), n *node, works func()) error {
	quiet := time.AfterFunc(perTry, cancel) // for the headers
	defer quiet.Stop()
	resp, err := f.client.open(ctx, n, "GET", f.path, nil, func(h http.Header) {
		if id := f.lastID(); id != "" {
			h.Set("Last-Event-ID", id)
		}
	})
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		body, _ := io.ReadAll(resp.Body)
		err := &statusError{resp.StatusCode, string(body)}
		if !passing(err) {
			f.client.world.complain("the stream %s was refused by %s: %v", f.path, n, err)
		}
		return err
	}
	for e := range events.All(resp.Body) {
		quiet.Reset(silence)
		works()
		f.take(e.ID, e.Name, e.Data)
	}
	return nil
}

// take takes in an event.
func (f *follower) take(id, event, data string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	var ev struct {
		RoomID  string `json:"room_id"`
		Payload struct {
			Message *message `json:"message"`
			Entry   *message `json:"entry"`
			counted
		} `json:"payload"`
	}
	switch {
	case event == "room.gap":
		f.gaps = append(f.gaps, data)
	case (event == "message.created" || event == "entry.created") && json.Unmarshal([]byte(data), &ev) == nil:
		f.got[ev.RoomID] = append(f.got[ev.RoomID], *cmp.Or(ev.Payload.Message, ev.Payload.Entry))
		f.client.tally.events.Add(1)
	case strings.HasPrefix(event, "counter.") && json.Unmarshal([]byte(data), &ev) == nil:
		f.told = append(f.told, fmt.Sprint(event, " ", ev.Payload.ID, " ", ev.Payload.Value))
		f.client.tally.events.Add(1)
	}
	if id == "" {
		return
	}
	if f.last == "" {
		close(f.begun)
	}
	f.last = id
}

func (f *follower) lastID() string {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.last
}

// newest is the room_seq of the last message that came of a room.
func (f *follower) newest(room string) int64 {
	f.mu.Lock()
	defer f.mu.Unlock()
	if got := f.got[room]; len(got) > 0 {
		return got[len(got)-1].RoomSeq
	}
	return 0
}

// changes are those of counters that came.
func (f *follower) changes() []string {
	f.mu.Lock()
	defer f.mu.Unlock()
	return slices.Clone(f.told)
}

// of is what came of a room, and all gaps.
func (f *follower) of(room string) ([]message, []string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.got[room], f.gaps
}

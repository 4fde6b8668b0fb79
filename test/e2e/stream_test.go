package e2e

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"sync"
	"testing"
	"time"

	"ubl/test/events"
	"ubl/test/soak"
)

// TestStreamsOverKills: followers of a room and of the whole tenant resume with
// their last id while the process is killed again and again; each sees every
// message once and in order.
func TestStreamsOverKills(t *testing.T) {
	random := seed(t)
	n := newNode(t)
	c := n.client(n.token("ana@stream.example"))
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	must(t, c.persist(ctx, "POST", "/api/rooms", "other", map[string]any{"name": "other"}, nil))

	const each = 400
	wantGeneral, wantAll := each+1, 2*each // general has its system message before
	var followers, writers sync.WaitGroup
	room, tenant := &follower{path: "/api/events/rooms/r:general?from_seq=0", want: wantGeneral}, &follower{path: "/api/events", want: wantAll}
	ready := make(chan struct{})
	followers.Go(func() { room.follow(ctx, t, c, nil) })
	followers.Go(func() { tenant.follow(ctx, t, c, ready) })
	<-ready // what the tenant's stream is to miss comes after its beginning
	for _, where := range []string{"r:general", "r:other"} {
		writers.Go(func() {
			for i := range each {
				key := fmt.Sprint(where, "-", i)
				if err := c.persist(ctx, "POST", "/api/rooms/"+where+"/messages", key, text(key), nil); err != nil {
					t.Errorf("%s: %v", key, err)
					return
				}
			}
		})
	}
	for range soak.Of(4, 8) {
		time.Sleep(time.Duration(20+random.IntN(100)) * time.Millisecond) // the moment is the point
		n.kill()
		n.start()
	}
	writers.Wait()
	followers.Wait()
	room.check(t)
	tenant.check(t)
}

// follower keeps a stream open and what came over it.
type follower struct {
	path string
	want int
	last string
	got  []message
	room []string
}

// follow reads until it has what it wants, and reconnects with the last id.
// began is closed once the first stream has given an id or its headers.
func (f *follower) follow(ctx context.Context, t *testing.T, c *client, began chan struct{}) {
	for len(f.got) < f.want && ctx.Err() == nil {
		req, err := http.NewRequestWithContext(ctx, "GET", c.base+f.path, nil)
		must(t, err)
		req.Header.Set("Authorization", "Bearer "+c.token)
		if f.last != "" {
			req.Header.Set("Last-Event-ID", f.last)
		}
		resp, err := (&http.Client{}).Do(req)
		if err != nil || resp.StatusCode != http.StatusOK {
			if err == nil {
				_ = resp.Body.Close()
			}
			time.Sleep(5 * time.Millisecond) // the server is away; the loop is bounded by ctx
			continue
		}
		f.read(resp, func() {
			if began != nil {
				close(began)
				began = nil
			}
		})
		_ = resp.Body.Close()
	}
}

func (f *follower) read(resp *http.Response, onID func()) {
	for e := range events.All(resp.Body) {
		var data struct {
			RoomID  string `json:"room_id"`
			Payload struct {
				Message message `json:"message"`
			} `json:"payload"`
		}
		if e.Name == "message.created" && json.Unmarshal([]byte(e.Data), &data) == nil {
			f.got = append(f.got, data.Payload.Message)
			f.room = append(f.room, data.RoomID)
		}
		if e.ID != "" {
			f.last = e.ID
			onID()
		}
		if len(f.got) >= f.want {
			return
		}
	}
}

// check wants each room's messages without holes and the ledger's order.
func (f *follower) check(t *testing.T) {
	t.Helper()
	if len(f.got) != f.want {
		t.Fatalf("%s: %d messages came, want %d", f.path, len(f.got), f.want)
	}
	last, lastReceipt := make(map[string]int64), int64(0)
	for i, m := range f.got {
		where := f.room[i]
		if before, seen := last[where]; seen && m.RoomSeq != before+1 {
			t.Fatalf("%s: message %d of %s comes after %d", f.path, m.RoomSeq, where, before)
		}
		last[where] = m.RoomSeq
		if m.Receipt.Seq <= lastReceipt {
			t.Fatalf("%s: receipt %d comes after %d", f.path, m.Receipt.Seq, lastReceipt)
		}
		lastReceipt = m.Receipt.Seq
	}
}

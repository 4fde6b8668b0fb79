package e2e

import (
	"context"
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/anishathalye/porcupine"

	"ubl"
	"ubl/test/soak"
)

// Operations of the linearizability model.
type (
	opSend struct{ text string } // → room_seq
	opRead struct{}              // → opState
	// opState is the room as the model knows it: its newest message.
	opState struct {
		seq  int64
		text string
	}
)

// roomModel: a send takes the next room_seq; a read sees the newest message.
var roomModel = porcupine.Model{
	Init: func() any { return opState{} },
	Step: func(state, input, output any) (bool, any) {
		s := state.(opState)
		switch in := input.(type) {
		case opSend:
			seq := output.(int64)
			return seq == s.seq+1, opState{seq, in.text}
		case opRead:
			return output.(opState) == s, s
		}
		return false, state
	},
	Equal:             func(a, b any) bool { return a == b },
	DescribeOperation: func(in, out any) string { return fmt.Sprintf("%v → %v", in, out) },
}

// recorder collects the history that porcupine checks.
type recorder struct {
	mu  sync.Mutex
	ops []porcupine.Operation
}

func (r *recorder) add(client int, input any, call time.Time, output any) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.ops = append(r.ops, porcupine.Operation{
		ClientId: client, Input: input, Call: call.UnixNano(), Output: output, Return: time.Now().UnixNano(),
	})
}

// seed starts a test's random numbers.
func seed(t *testing.T) *rand.Rand {
	n := soak.Seed(t, "UBL_SEED", 9)
	return rand.New(rand.NewPCG(n, n))
}

// TestKill9: the process is killed at random moments under load from 32 writers, who
// retry with the same key: six times, fifty in `make soak`. Afterwards every
// acknowledged message is there with its receipt, once, without a gap; the whole
// history is linearizable; and the exported ledger verifies.
func TestKill9(t *testing.T) {
	if testing.Short() {
		t.Skip("kills take some seconds")
	}
	const writers, readers = 32, 4
	kills := soak.Of(6, 50)
	random := seed(t)
	n := newNode(t)
	c := n.client(n.token("owner@kill.example"))
	ctx, cancel := context.WithTimeout(context.Background(), 8*time.Minute)
	defer cancel()
	const room = "r:crash"
	if err := c.persist(ctx, "POST", "/api/rooms", "make-the-room", map[string]string{"name": "crash"}, nil); err != nil {
		t.Fatal(err)
	}
	rec := &recorder{}
	rec.add(0, opSend{"Room created: crash"}, time.Now(), int64(1))
	acked := make([]map[string]message, writers)
	stop := make(chan struct{})
	var load sync.WaitGroup
	for w := range writers {
		acked[w] = make(map[string]message)
		load.Go(func() { write(ctx, t, c, room, w, stop, rec, acked[w]) })
	}
	for r := range readers {
		load.Go(func() { read(ctx, t, c, room, writers+r, stop, rec) })
	}
	for range kills {
		time.Sleep(time.Duration(20+random.IntN(180)) * time.Millisecond) // the moment is the point
		n.kill()
		n.start()
	}
	close(stop)
	load.Wait()

	checkRoom(ctx, t, c, room, acked)
	if result := porcupine.CheckOperationsTimeout(roomModel, rec.ops, 2*time.Minute); result != porcupine.Ok {
		t.Errorf("the history of %d operations is %s", len(rec.ops), result)
	}
	n.stop()
	export := n.run("export", "--tenant", "t:kill.example", "--data", n.dir)
	verified, err := ubl.Verify(strings.NewReader(export), ubl.VerifyOptions{})
	if err != nil {
		t.Fatalf("the ledger doesn't verify: %v", err)
	}
	t.Logf("%d operations, %d kills, %d atoms", len(rec.ops), kills, verified.Atoms)
}

// write sends messages until told to stop; each is retried until its outcome
// is known.
func write(ctx context.Context, t *testing.T, c *client, room string, w int, stop <-chan struct{}, rec *recorder, acked map[string]message) {
	for i := 0; ; i++ {
		select {
		case <-stop:
			return
		default:
		}
		said := fmt.Sprintf("writer %d message %d", w, i)
		var out struct {
			Message message `json:"message"`
		}
		call := time.Now()
		err := c.persist(ctx, "POST", "/api/rooms/"+room+"/messages", fmt.Sprintf("key-%d-%d", w, i), text(said), &out)
		if err != nil {
			t.Errorf("%s: %v", said, err)
			return
		}
		rec.add(w, opSend{said}, call, out.Message.RoomSeq)
		acked[said] = out.Message
	}
}

// read looks at the newest message until told to stop. A read that fails says
// nothing, so it is not part of the history.
func read(ctx context.Context, t *testing.T, c *client, room string, id int, stop <-chan struct{}, rec *recorder) {
	for {
		select {
		case <-stop:
			return
		case <-time.After(5 * time.Millisecond):
		}
		var page struct {
			Messages []message `json:"messages"`
		}
		call := time.Now()
		if c.do(ctx, "GET", "/api/rooms/"+room+"/history?limit=1", "", nil, &page) != nil {
			continue
		}
		if len(page.Messages) != 1 {
			t.Errorf("a read saw %d messages, want 1", len(page.Messages))
			return
		}
		m := page.Messages[0]
		rec.add(id, opRead{}, call, opState{m.RoomSeq, m.Body.Text})
	}
}

// checkRoom wants every acknowledged message once, without gaps, as it was
// acknowledged, and its receipt in the ledger.
func checkRoom(ctx context.Context, t *testing.T, c *client, room string, acked []map[string]message) {
	t.Helper()
	all, err := c.history(ctx, room)
	if err != nil {
		t.Fatal(err)
	}
	stored := make(map[string]message, len(all))
	for i, m := range all {
		if m.RoomSeq != int64(i+1) {
			t.Fatalf("message %d has room_seq %d", i+1, m.RoomSeq)
		}
		if _, twice := stored[m.Body.Text]; twice {
			t.Errorf("%q is there twice", m.Body.Text)
		}
		stored[m.Body.Text] = m
	}
	total := 0
	for _, mine := range acked {
		for said, m := range mine {
			total++
			if stored[said] != m {
				t.Errorf("%q was acknowledged as %+v, stored is %+v", said, m, stored[said])
			}
		}
	}
	for i, m := range all {
		if i%50 != 0 && i != len(all)-1 {
			continue // the export checks every atom; this checks the way from message to receipt
		}
		var pair struct {
			Atoms []struct {
				CID  string `json:"cid"`
				This struct {
					MsgID string `json:"msg_id"`
				} `json:"this"`
			} `json:"atoms"`
		}
		if err := c.persist(ctx, "GET", fmt.Sprintf("/api/receipts/%d", m.Receipt.Seq), "", nil, &pair); err != nil {
			t.Fatal(err)
		}
		if len(pair.Atoms) != 2 || pair.Atoms[0].CID != m.Receipt.CID || pair.Atoms[0].This.MsgID != m.MsgID {
			t.Errorf("the receipt of %q is %+v", m.Body.Text, pair)
		}
	}
	t.Logf("%d messages acknowledged, %d stored", total, len(all))
}

//go:build linux

package chaos

import (
	"context"
	"fmt"
	"math/rand/v2"
	"sync"
	"time"

	"github.com/anishathalye/porcupine"
)

// room is one room under load, and all that its clients learned.
type room struct {
	owner  *client
	tenant *tenant
	id     string
	name   string

	witness

	mu      sync.Mutex
	ops     []porcupine.Operation
	acked   map[string]message // by text
	seen    map[int64]string   // the message id that reads saw at a room_seq
	members map[string]bool    // whom the last act left in, by user id
	joined  map[string]int     // how often each was invited
}

// note adds an operation to the history.
func (r *room) note(who int, in any, call int64, out any, end int64) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.ops = append(r.ops, porcupine.Operation{ClientId: who, Input: in, Call: call, Output: out, Return: end})
}

// make founds the room. Its system message is its first.
func (r *room) make(ctx context.Context) error {
	call := r.owner.world.now()
	err := r.owner.ask(ctx, "POST", "/api/rooms", "make-"+r.name, map[string]string{"name": r.name}, nil)
	if err == nil {
		r.note(0, opSend{text: "Room created: " + r.name}, call, int64(1), r.owner.world.now())
	}
	return err
}

// sender says one thing after another until told to stop, some of it over REST
// and a third as an agent.
func (r *room) sender(ctx context.Context, who int, draw *rand.Rand, pace time.Duration) {
	ways := []way{r.overREST, r.overREST, r.as(r.owner.agent(who))}
	for i := 0; ctx.Err() == nil; i++ {
		said := fmt.Sprintf("%s: sender %d, message %d", r.name, who, i)
		how := draw.IntN(len(ways))
		if r.sayBy(ways[how], who, said, patience(draw)) && how == 2 {
			r.owner.tally.byAgents.Add(1)
		}
		if draw.IntN(20) == 0 { // by whichever way: the key is the same
			r.sayAgain(ways[draw.IntN(len(ways))], said)
		}
		pause(ctx, between(draw, pace/2, pace))
	}
}

func pause(ctx context.Context, d time.Duration) {
	select {
	case <-ctx.Done():
	case <-time.After(d):
	}
}

// way is how a message goes out, through node after node, until one answers.
type way func(ctx context.Context, said string, out any) error

func (r *room) overREST(ctx context.Context, said string, out any) error {
	return r.owner.ask(ctx, "POST", r.messages(), key(said), say(said), out)
}

// as sends as an agent does.
func (r *room) as(a *agent) way {
	return func(ctx context.Context, said string, out any) error {
		return a.use(ctx, "messenger.send", "", map[string]any{"room_id": r.id, "type": "text",
			"body": map[string]string{"text": said}, "client_request_id": key(said)}, out)
	}
}

// say sends a message over REST, as [room.sayBy] does.
func (r *room) say(who int, said string, patience time.Duration) {
	r.sayBy(r.overREST, who, said, patience)
}

// sayBy sends a message until it is acknowledged, which it reports, or patience
// ends. What began before the end of the load is finished.
func (r *room) sayBy(send way, who int, said string, patience time.Duration) (acked bool) {
	ctx, cancel := context.WithTimeout(r.owner.world.life, patience)
	defer cancel()
	w, began := r.owner.world, time.Now()
	var out struct {
		Message message `json:"message"`
	}
	call := w.now()
	err := send(ctx, said, &out)
	switch {
	case err == nil:
		r.note(who, opSend{text: said}, call, out.Message.RoomSeq, w.now())
		r.keep(said, out.Message)
		r.owner.tally.acked.Add(1)
		r.owner.tally.waited(time.Since(began), w.trouble())
		return true
	case passing(err):
		r.note(who, opSend{text: said}, call, nil, never)
		r.owner.tally.givenUp.Add(1)
		if patience == deadline {
			r.blame("%q wasn't acknowledged within %s (%s): %v", said, patience, w.trouble(), err)
		}
	default:
		r.note(who, opSend{text: said}, call, nil, never)
		r.blame("%q was refused: %v", said, err)
	}
	return false
}

// key is the idempotency key of what is said: its beginning, which is unlike any
// other's.
func key(said string) string { return said[:min(len(said), 100)] }

func (r *room) messages() string { return "/api/rooms/" + r.id + "/messages" }

func (r *room) keep(said string, m message) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.acked[said] = m
}

// sayAgain repeats an acknowledged message, which must give the same one.
func (r *room) sayAgain(send way, said string) {
	r.mu.Lock()
	first, acked := r.acked[said]
	r.mu.Unlock()
	if !acked {
		return
	}
	ctx, cancel := context.WithTimeout(r.owner.world.life, deadline)
	defer cancel()
	var out struct {
		Message message `json:"message"`
	}
	if err := send(ctx, said, &out); err != nil {
		r.blame("%q couldn't be repeated: %v", said, err)
	} else if out.Message != first {
		r.blame("%q was acknowledged as %+v, and repeated as %+v", said, first, out.Message)
	}
}

// reader looks at the room through one node after another. A read that fails
// says nothing.
func (r *room) reader(ctx context.Context, who int, draw *rand.Rand, pace time.Duration) {
	for again := r.owner.world.backoff(); ctx.Err() == nil; {
		members := r.owner.world.members()
		n := members[draw.IntN(len(members))]
		var err error
		if draw.IntN(3) == 0 {
			err = r.readHead(n, who)
		} else {
			err = r.readTail(n, who, 1+draw.IntN(20))
		}
		if err != nil && !passing(err) {
			r.blame("a read through %s was refused: %v", n, err)
		}
		if err != nil {
			again.wait(ctx)
			continue
		}
		again.worked()
		pause(ctx, between(draw, pace/2, pace))
	}
}

func (r *room) readHead(n *node, who int) error {
	var out struct {
		Room struct {
			LastSeq int64 `json:"last_seq"`
		} `json:"room"`
	}
	call := r.owner.world.now()
	err := r.owner.try(r.owner.world.life, n, "GET", "/api/rooms/"+r.id, "", nil, &out)
	if err == nil {
		r.note(who, opHead{}, call, out.Room.LastSeq, r.owner.world.now())
		r.owner.tally.reads.Add(1)
	}
	return err
}

func (r *room) readTail(n *node, who, limit int) error {
	var p page
	call := r.owner.world.now()
	err := r.owner.try(r.owner.world.life, n, "GET", fmt.Sprintf("/api/rooms/%s/entries?limit=%d", r.id, limit), "", nil, &p)
	if err != nil {
		return err
	}
	if len(p.Entries) == 0 {
		r.blame("a read through %s saw an empty room", n)
		return nil
	}
	last := p.Entries[len(p.Entries)-1]
	r.note(who, opTail{}, call, tail{last.RoomSeq, last.Text}, r.owner.world.now())
	r.owner.tally.reads.Add(1)
	r.saw(n, p.Entries)
	return nil
}

// saw notes what a read saw: two reads never see different messages at a place.
func (r *room) saw(n *node, messages []message) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for i, m := range messages {
		if i > 0 && m.RoomSeq != messages[i-1].RoomSeq+1 {
			r.blame("a read through %s saw %d behind %d", n, m.RoomSeq, messages[i-1].RoomSeq)
		}
		if before, known := r.seen[m.RoomSeq]; known && before != m.MsgID {
			r.blame("reads saw both %s and %s at %d", before, m.MsgID, m.RoomSeq)
		}
		r.seen[m.RoomSeq] = m.MsgID
	}
}

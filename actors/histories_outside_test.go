package actors_test

import (
	"context"
	"encoding/json"
	"sync"
	"time"

	"ubl"
	"ubl/actors"
)

// outsideWorld is what outbounds are done to, and who is told of the ledger. It knows what was
// done before by its key.
type outsideWorld struct {
	mu       sync.Mutex
	keys     map[string]string // by outbound
	attempts map[string]int
	effects  map[string]string // answers, by key
	running  map[string]bool
	ended    map[string]ubl.Time // when the last attempt did
	told     map[int64]bool      // entries that were delivered
	newest   map[string]int64
}

func newOutsideWorld() *outsideWorld {
	return &outsideWorld{
		keys: make(map[string]string), attempts: make(map[string]int), effects: make(map[string]string), running: make(map[string]bool), ended: make(map[string]ubl.Time),
		told: make(map[int64]bool), newest: make(map[string]int64),
	}
}

// send makes attempts of an actor.
func (o *outsideWorld) send(w *world, of ubl.Name) func(context.Context, actors.Attempt) (json.RawMessage, error) {
	return func(ctx context.Context, a actors.Attempt) (json.RawMessage, error) {
		o.begin(w, of, a)
		defer o.end(a)
		time.Sleep(sendTakes)
		return o.does(ctx, a, w.meetOutside(tagOf(a.Outbound)))
	}
}

// meetOutside is the mode of the trouble outside.
func (w *world) meetOutside(whom string) string {
	w.mu.Lock()
	defer w.mu.Unlock()
	mode := w.takeTrouble("outside")
	if mode != "" {
		w.traces["outside"] = append(w.traces["outside"], whom)
		w.seen[mode+"-at-outside"]++
	}
	return mode
}

// begin sees that an attempt is one that may be made: what is intended is durable and open,
// and so is the lease; nobody else attempts it, and it is not too early or late.
func (o *outsideWorld) begin(w *world, of ubl.Name, a actors.Attempt) {
	now, tag := ubl.TimeOf(time.Now()), tagOf(a.Outbound)
	open := false
	err := w.disk.View(context.Background(), of.Group(), func(snap ubl.Snapshot) error {
		return actors.EachOutbound(snap, of.Local(), func(out actors.Outbound, intent *ubl.Receipt) error {
			open = open || out.Key == a.Key && intent.CID == a.IdempotencyKey
			return nil
		})
	})
	o.mu.Lock()
	defer o.mu.Unlock()
	key, known := o.keys[tag]
	switch {
	case err != nil || !open:
		w.breaks("%s is attempted and not open: %v", tag, err)
	case o.running[tag]:
		w.breaks("%s is attempted twice at a time", tag)
	case known && key != a.IdempotencyKey:
		w.breaks("%s is attempted under two keys", tag)
	case a.Once && o.attempts[tag] > 0:
		w.breaks("%s is attempted again", tag)
	case o.ended[tag] > 0 && now < o.ended[tag].Add(2*time.Second):
		w.breaks("%s is attempted again at %d, an attempt has failed at %d", tag, now, o.ended[tag])
	case now < a.Lease, a.Deadline > 0 && now >= a.Deadline:
		w.breaks("%s is attempted at %d: %+v", tag, now, a)
	}
	o.keys[tag] = a.IdempotencyKey
	o.running[tag] = true
	o.attempts[tag]++
}

func (o *outsideWorld) end(a actors.Attempt) {
	o.mu.Lock()
	defer o.mu.Unlock()
	tag := tagOf(a.Outbound)
	o.running[tag], o.ended[tag] = false, ubl.TimeOf(time.Now())
}

// does what is asked, once for each key.
func (o *outsideWorld) does(ctx context.Context, a actors.Attempt, mode string) (json.RawMessage, error) {
	switch mode {
	case "slow":
		time.Sleep(3 * time.Second)
	case "hang":
		<-ctx.Done()
		return nil, ctx.Err()
	case "panic":
		panic("trouble outside")
	case "unavailable":
		return nil, ubl.Errorf(ubl.CodeUnavailable, "away")
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	answer, done := o.effects[a.IdempotencyKey]
	if !done && mode == "forbidden" {
		return nil, ubl.Errorf(ubl.CodeForbidden, "no")
	}
	if !done {
		answer = string(encodeJSON("did " + tagOf(a.Outbound)))
		o.effects[a.IdempotencyKey] = answer
	}
	if mode == "deaf" {
		return nil, ubl.Errorf(ubl.CodeUnavailable, "the answer is lost")
	}
	return json.RawMessage(answer), nil
}

// deliver has entries told outside.
func (x side) deliver(_ context.Context, subject string, list []actors.Entry) error {
	o := x.outside
	time.Sleep(deliverTakes)
	for _, e := range list {
		if err := x.meet("deliver", subject); err != nil {
			return err
		}
		o.mu.Lock()
		if !o.told[e.Seq] && e.Seq < o.newest[subject] {
			x.breaks("atom %d is delivered behind %d", e.Seq, o.newest[subject])
		}
		o.told[e.Seq] = true
		o.newest[subject] = max(o.newest[subject], e.Seq)
		o.mu.Unlock()
	}
	return nil
}

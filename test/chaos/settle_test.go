//go:build linux

package chaos

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// carryTime is how long a transfer that its client gave up may take to end: the
// keeper looks for such ones every minute, and may find a node that has just
// begun to lead.
const carryTime = 3 * time.Minute

// verify waits until nothing is under way, and checks what the clients of the
// wallets know against what they hold and what the ledger says.
func (w *wallets) verify(ctx context.Context, v *verdicts, ledger func() []atom) {
	v.add("clients", w.where, w.testimony())
	held, err := w.settle(ctx, v)
	v.fail("transfers", w.where, err)
	atoms := ledger()
	if err != nil {
		return
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	v.add("transfers", w.where, checkAccounts(keepAccounts(atoms), held, w.tried))
}

// settle is what each wallet holds when nothing is under way any more. All nodes
// must agree.
func (w *wallets) settle(ctx context.Context, v *verdicts) (held map[string]int64, err error) {
	waiting, cancel := context.WithTimeoutCause(ctx, carryTime, fmt.Errorf("transfers are under way after %s", carryTime))
	defer cancel()
	by := make(map[string]string)
	for _, n := range w.owner.world.members() {
		err := poll(waiting, 200*time.Millisecond, func(ctx context.Context) (err error) {
			held, err = w.look(ctx, n)
			return err
		})
		if err != nil {
			return nil, err
		}
		by[n.id] = hashOf(held)
	}
	v.add("nodes agree", w.where, checkEqual("what the wallets hold", by))
	return held, nil
}

// look asks one node what each wallet holds. Credits on their way are an error.
func (w *wallets) look(ctx context.Context, n *node) (map[string]int64, error) {
	held := make(map[string]int64)
	var errs []error
	for _, id := range w.ids {
		var out struct {
			Container struct {
				Balance   int64 `json:"balance"`
				InTransit int64 `json:"in_transit"`
			} `json:"container"`
		}
		if err := w.owner.try(ctx, n, "GET", "/api/containers/"+id, "", nil, &out); err != nil {
			return nil, err
		}
		held[id] = out.Container.Balance
		if out.Container.InTransit != 0 {
			errs = append(errs, fmt.Errorf("%d credits of %s are under way", out.Container.InTransit, id))
		}
	}
	return held, errors.Join(errs...)
}

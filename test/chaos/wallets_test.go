//go:build linux

package chaos

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http"
	"sync"
	"time"
)

// wallets are those of a tenant under load, and all that its clients learned.
type wallets struct {
	owner *client
	where string
	ids   []string
	witness

	mu    sync.Mutex
	tried map[int64]*payment // by amount, which no other has
	last  []*payment         // some of the newest
}

// payment is a transfer or, without a source, an issue of credits.
type payment struct {
	from, to string
	amount   int64
	tries    int
	done     bool
	transfer string // its id, once it is done
	seq      int64  // and its receipt's
	refused  bool   // by the source: it never left
	back     bool   // by the target: it came back
}

// An amount says which payment it is: below a credit it is the payment's number.
const (
	credit    = int64(1e6)
	firstSum  = 20  // credits of a wallet
	largest   = 8   // so that wallets run dry now and then
	beyondAll = 1e8 // no wallet ever has so many
)

// makeWallets makes some with credits in them.
func makeWallets(ctx context.Context, t *tenant, count int) (*wallets, error) {
	w := &wallets{witness: witness{world: t.owner.world}, owner: t.owner, where: t.id + " wallets", tried: make(map[int64]*payment)}
	for i := range count {
		name := fmt.Sprintf("purse-%d", i)
		in := map[string]string{"kind": "wallet", "name": name, "client_request_id": name}
		if err := w.owner.ask(ctx, "POST", "/api/containers", "", in, nil); err != nil {
			return nil, err
		}
		w.ids = append(w.ids, "k:"+name)
		w.pay(w.draft("", w.ids[i], firstSum), deadline)
	}
	return w, nil
}

// carrier carries credits from one wallet to another until told to stop. Several
// do so between the same ones.
func (w *wallets) carrier(ctx context.Context, draw *rand.Rand, patience func(*rand.Rand) time.Duration, pace time.Duration) {
	for ctx.Err() == nil {
		from, to := w.ids[draw.IntN(len(w.ids))], w.ids[draw.IntN(len(w.ids))]
		size := draw.Int64N(largest)
		switch what := draw.IntN(20); {
		case from == to:
			from, size = "", 1 // an issue
		case what == 0:
			to = nobodysWallet
		case what == 1:
			size = beyondAll
		}
		p := w.draft(from, to, size)
		w.pay(p, patience(draw))
		if draw.IntN(10) == 0 {
			w.payAgain(draw)
		}
		pause(ctx, between(draw, pace/2, pace))
	}
}

// nobodysWallet takes no credits: what comes is refused and brought back.
const nobodysWallet = "w:general"

// draft draws up a payment.
func (w *wallets) draft(from, to string, size int64) *payment {
	w.mu.Lock()
	defer w.mu.Unlock()
	p := &payment{from: from, to: to, amount: size*credit + int64(len(w.tried)+1)}
	w.tried[p.amount] = p
	w.last = append(w.last[max(0, len(w.last)-10):], p)
	return p
}

// payAgain repeats one of the last payments, whether or not it is known how it
// ended. One that never left is not repeated: by now it could.
func (w *wallets) payAgain(draw *rand.Rand) {
	w.mu.Lock()
	p := w.last[draw.IntN(len(w.last))]
	refused := p.refused
	w.mu.Unlock()
	if !refused {
		w.pay(p, deadline)
	}
}

// pay tries until the payment is done, refused or patience ends, which leaves it
// open.
func (w *wallets) pay(p *payment, patience time.Duration) {
	ctx, cancel := context.WithTimeout(w.owner.world.life, patience)
	defer cancel()
	path, in := "/api/containers/"+p.from+"/transfer", map[string]any{"to": p.to}
	if p.from == "" {
		path, in = "/api/containers/"+p.to+"/credits", map[string]any{}
	}
	in["amount"], in["client_request_id"] = p.amount, fmt.Sprintf("pay-%d", p.amount)
	var out paid
	err := w.owner.through(ctx, func(ctx context.Context, n *node) error {
		w.mu.Lock()
		p.tries++
		w.mu.Unlock()
		return w.owner.try(ctx, n, "POST", path, "", in, &out)
	})
	w.mu.Lock()
	defer w.mu.Unlock()
	switch {
	case err == nil:
		w.acknowledge(p, out)
	case !passing(err):
		w.refuse(p, err)
	default:
		w.owner.tally.openPayments.Add(1)
		if patience == deadline {
			w.blame("%+v wasn't done within %s (%s): %v", *p, patience, w.owner.world.trouble(), err)
		}
	}
}

// paid is the answer to a payment.
type paid struct {
	TransferID string `json:"transfer_id"`
	Amount     int64  `json:"amount"`
	Receipt    struct {
		Seq int64 `json:"seq"`
	} `json:"receipt"`
}

// acknowledge notes that a payment is done; each time it must be told alike.
func (w *wallets) acknowledge(p *payment, out paid) {
	if p.back || p.done && (p.transfer != out.TransferID || p.seq != out.Receipt.Seq) || out.Amount != p.amount || p.to == nobodysWallet {
		w.blame("%+v was acknowledged as %+v", *p, out)
	}
	if !p.done {
		w.owner.tally.payments.Add(1)
	}
	p.done, p.transfer, p.seq = true, out.TransferID, out.Receipt.Seq
}

// refuse notes that a payment was refused for good: by its source, which has too
// little, or by a target that takes no credits. That there was too little says
// nothing of an earlier try, which may still be on its way and find more.
func (w *wallets) refuse(p *payment, err error) {
	s, _ := errors.AsType[*statusError](err)
	switch {
	case s.status == http.StatusConflict && p.from != "" && !p.done && !p.back:
		p.refused = p.tries == 1 || p.amount >= beyondAll*credit
	case s.status == http.StatusForbidden && p.to == nobodysWallet:
		p.back = true
	default:
		w.blame("%+v was refused: %v", *p, err)
	}
	w.owner.tally.refusedPayments.Add(1)
}

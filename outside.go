package ubl

import (
	"context"
	"strconv"
	"time"
)

// concludeAgain is how soon an effect that couldn't be put on record is told again.
const concludeAgain = 200 * time.Millisecond

// Repeated refuses to make a call that its key has begun before; nil for the first.
// One that has ended is a conflict, since its answer is not kept; one that has not is
// unavailable: another node makes it, or the sweep has yet to end it.
func (t *CallTicket) Repeated() error {
	if !t.Again {
		return nil
	}
	e := Errorf(CodeConflict, "the call was made with this key before, and its answer is not kept: details tells what is known of it")
	if t.Status == string(StatusIntended) {
		e = Errorf(CodeUnavailable, "the call was begun with this key before, and has not ended yet")
	}
	e.Details = map[string]string{"n": strconv.FormatInt(t.N, 10)}
	if t.Status != "" {
		e.Details["seq"], e.Details["status"] = strconv.FormatInt(t.Receipt.Seq, 10), t.Status
	}
	return e
}

// Conclude puts the effect of a call on record, trying until it is or ctx is over,
// which needs a deadline. It fails too where another effect came first, as the
// sweep's: the caller must not be told what the ledger doesn't say. Only unavailable
// is an answer then, whatever the reason.
func Conclude(ctx context.Context, a Asker, end EndCall) error {
	call, err := conclude(ctx, a, end)
	switch {
	case err != nil:
		return Errorf(CodeUnavailable, "the call was made, and its effect couldn't be put on record").Because(err)
	case call.Code != end.Code:
		return Errorf(CodeUnavailable, "the call was made, and was on record as ended before its effect was known")
	}
	return nil
}

func conclude(ctx context.Context, a Asker, end EndCall) (*Call, error) {
	for {
		call, err := Ask[*Call](ctx, a, PortalName(end.Who.TenantID), end)
		if code := CodeOf(err); code != CodeUnavailable && code != CodeOverloaded {
			return call, err
		}
		timer := time.NewTimer(concludeAgain)
		select {
		case <-timer.C:
		case <-ctx.Done():
			timer.Stop()
			return nil, err
		}
	}
}

package portal

import "context"

// turn is a lock that nobody waits for longer than a context allows.
type turn chan struct{}

func newTurn() turn { return make(turn, 1) }

// take waits for the turn; whoever gets it gives it back.
func (t turn) take(ctx context.Context) error {
	select {
	case t <- struct{}{}:
	case <-ctx.Done():
		return ctx.Err()
	}
	if err := ctx.Err(); err != nil { // it came too late
		t.give()
		return err
	}
	return nil
}

// try takes the turn if nobody has it.
func (t turn) try() bool {
	select {
	case t <- struct{}{}:
		return true
	default:
		return false
	}
}

func (t turn) give() { <-t }

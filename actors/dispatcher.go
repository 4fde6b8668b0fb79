package actors

import "runtime"

// dispatcher runs mailboxes on goroutines that stay: a new goroutine for every
// burst of commands would grow its stack anew each time. A mailbox may block
// while its actor loads, so there is no upper bound, only on how many idle.
type dispatcher struct {
	work chan func()
	stay chan struct{} // one token for each goroutine that stays
	done chan struct{} // closed when they may go
}

func newDispatcher() *dispatcher {
	return &dispatcher{
		work: make(chan func()), stay: make(chan struct{}, 8*runtime.GOMAXPROCS(0)), done: make(chan struct{}),
	}
}

// throughput is how many commands a mailbox handles before others get a turn.
const throughput = 300

// Throughput implements protoactor-go's Dispatcher.
func (d *dispatcher) Throughput() int { return throughput }

// Schedule implements protoactor-go's Dispatcher.
func (d *dispatcher) Schedule(fn func()) {
	select {
	case d.work <- fn:
	default:
		go d.run(fn)
	}
}

func (d *dispatcher) run(fn func()) {
	fn()
	select {
	case d.stay <- struct{}{}:
	default:
		return // enough stay already
	}
	for {
		select {
		case fn := <-d.work:
			fn()
		case <-d.done:
			return
		}
	}
}

// close lets the goroutines go. What is scheduled from now on still runs.
func (d *dispatcher) close() { close(d.done) }

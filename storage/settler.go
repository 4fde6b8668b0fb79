package storage

import "sync"

// settle is the settler: it calls back in the order of submission while the
// committer is at the next transaction.
func (p *partition) settle() {
	defer close(p.settled)
	for c := range p.settling {
		if p.replicated() {
			if c.proposal != nil {
				p.await(&c)
			}
			<-p.proposals
		} else if c.commit.Batches+c.commit.Refused > 0 {
			p.opts.Observe(c.commit)
		}
		for i := range c.items {
			it := &c.items[i]
			switch {
			case it.begin != nil:
				if p.replicated() {
					p.grantReplicated(it.begin)
				}
				it.begin.answer <- it.begin.result
			case it.settled != nil:
				it.settled(it.err)
			}
		}
	}
}

// lateSettler calls back for batches that come when the partition's goroutines
// have gone: in order, and not from within Submit.
type lateSettler struct {
	mu      sync.Mutex
	calls   []func(error)
	working bool
}

func (l *lateSettler) settle(after <-chan struct{}, settled func(error)) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.calls = append(l.calls, settled)
	if !l.working {
		l.working = true
		go l.work(after)
	}
}

func (l *lateSettler) work(after <-chan struct{}) {
	<-after
	for {
		l.mu.Lock()
		calls := l.calls
		l.calls = nil
		l.working = len(calls) > 0
		l.mu.Unlock()
		for _, settled := range calls {
			settled(errClosed())
		}
		if len(calls) == 0 {
			return
		}
	}
}

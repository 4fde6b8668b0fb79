package actors

import (
	"slices"
	"sync"

	"ubl"
	"ubl/panics"
)

// feed tells this node's listeners what its actors publish.
type feed struct {
	panics *panics.Catcher

	mu     sync.RWMutex
	topics map[ubl.Name][]*sink
}

type sink struct {
	fn    func(ubl.Publication)
	kinds []string // of events that it waits for; none for every commit
}

// wants reports whether a publication is one that the listener waits for.
func (s *sink) wants(p *ubl.Publication) bool {
	return len(s.kinds) == 0 || slices.ContainsFunc(p.Events, func(e ubl.Event) bool { return slices.Contains(s.kinds, e.Kind) })
}

// Subscribe implements [ubl.Feed].
func (f *feed) Subscribe(to ubl.Name, fn func(ubl.Publication), kinds ...string) (cancel func()) {
	s := &sink{fn, kinds}
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.topics == nil {
		f.topics = make(map[ubl.Name][]*sink)
	}
	// Copied, not appended in place: publish reads the slice without the lock.
	f.topics[to] = append(slices.Clone(f.topics[to]), s)
	return func() { f.unsubscribe(to, s) }
}

func (f *feed) unsubscribe(to ubl.Name, s *sink) {
	f.mu.Lock()
	defer f.mu.Unlock()
	rest := slices.DeleteFunc(slices.Clone(f.topics[to]), func(x *sink) bool { return x == s })
	if len(rest) == 0 {
		delete(f.topics, to)
		return
	}
	f.topics[to] = rest
}

func (f *feed) publish(to ubl.Name, p ubl.Publication) {
	f.mu.RLock()
	sinks := f.topics[to]
	f.mu.RUnlock()
	for _, s := range sinks {
		if s.wants(&p) {
			f.tell(s, p)
		}
	}
}

// tell hands a publication to one listener. One that panics is alone in missing it.
func (f *feed) tell(s *sink, p ubl.Publication) {
	defer f.panics.Recover(nil, "a listener to what actors publish")
	s.fn(p)
}

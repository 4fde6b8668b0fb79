package cluster

import (
	"context"
	"sync"
	"time"
)

// gone are the servers whose processes have ended, as far as this node can tell. Where a
// leader is one of them its voters needn't wait until it has been silent for long.
//
// Two things together say so: the connection over which it sent heartbeats has ended,
// and its address refuses another one. When a process ends its machine does both, at once. Either
// alone says less: connections end for many reasons, and an address may be wrong. A
// node that is paused, cut off or without power does neither, nor one that is so busy that
// its machine takes no connections; only time tells.
//
// It is forgotten as soon as the server calls again, over any protocol, or sends a heartbeat. A process that has
// started anew must ask for votes before it can lead, and call before it can ask.
// As evidence it is only this node's: a quorum must agree, and where the address alone
// is cut off here, by a firewall's refusal, the others still hear the leader. A quorum that
// is mistaken costs an election, nothing more.
type gone struct {
	timeout time.Duration                                 // Options.Timeout
	refuses func(ctx context.Context, server string) bool // its address does
	found   func(server string)                           // is told who is gone

	mu    sync.Mutex
	since map[string]time.Time // when it was found out, by server
	calls map[string]uint64    // how often a server has called, or sent a heartbeat
}

func newGone(timeout time.Duration, refuses func(context.Context, string) bool, found func(string)) *gone {
	return &gone{timeout: timeout, refuses: refuses, found: found, since: make(map[string]time.Time), calls: make(map[string]uint64)}
}

// at is when a server was found to be gone, if it is.
func (s *gone) at(server string) (since time.Time, gone bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	since, gone = s.since[server]
	return since, gone
}

// called is told that a server calls, or sends a heartbeat.
func (s *gone) called(server string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.calls[server]++
	delete(s.since, server)
}

// doubt is told that the connection has ended over which a server sent heartbeats, and
// finds out whether the server is gone. Its address may refuse a moment later: a process
// ends in some order.
func (s *gone) doubt(ctx context.Context, server string) {
	ctx, cancel := context.WithTimeout(ctx, s.timeout/4)
	defer cancel()
	again := time.NewTicker(s.timeout / 20)
	defer again.Stop()
	for calls := s.count(server); s.count(server) == calls; {
		if s.refuses(ctx, server) && s.note(server, calls) {
			s.found(server)
			return
		}
		select {
		case <-again.C:
		case <-ctx.Done():
			return
		}
	}
}

func (s *gone) count(server string) uint64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.calls[server]
}

// note says that a server is gone, unless it has called again meanwhile.
func (s *gone) note(server string, calls uint64) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.calls[server] != calls {
		return false
	}
	s.since[server] = time.Now()
	return true
}

// bereaved has the groups that a server led which is gone look after a leader now.
func (n *Node) bereaved(server string) {
	n.log.Info("the process of another node has ended", "server", server)
	for _, g := range n.allGroups() {
		if g.leader() == server {
			g.lookNow.raise()
		}
	}
}

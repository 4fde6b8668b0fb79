package cluster

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"time"

	"google.golang.org/grpc"

	"ubl"
)

// pipe carries questions to one other node and their answers back, on one
// stream: what waits at the same moment shares a message, which makes a busy
// node's forwarding many times cheaper than a call for each.
type pipe struct {
	node   *Node
	server string

	mu  sync.Mutex
	now *session // nil until somebody asks, and after a failure
	// deaf is when the newest session ended; zero once something has come back in
	// the next.
	deaf time.Time
}

// deafFor is how long a node that was silent is asked by way of others.
const deafFor = 2 * time.Second

// silent reports whether the node didn't answer a moment ago.
func (p *pipe) silent(now time.Time) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return !p.deaf.IsZero() && now.Sub(p.deaf) < deafFor
}

func (p *pipe) heard() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.deaf = time.Time{}
}

// session is a pipe's stream, from the first question to its end.
type session struct {
	pipe *pipe
	ctx  context.Context
	end  context.CancelFunc
	// heard counts the messages that came back.
	heard atomic.Int64
	asked signal // a question waits

	mu      sync.Mutex
	over    bool
	last    int64
	waiting map[int64]chan *askReply
	out     outbox[askRequest]
}

// maxWaiting is how many questions to one node wait for their answers; then more
// are refused.
const maxWaiting = 8192

var (
	errPipe = errors.New("the connection broke")
	errBusy = ubl.Errorf(ubl.CodeOverloaded, "too many requests wait for another node")
)

// ask sends a question and returns where its answer comes; the channel is closed
// when the stream breaks.
func (p *pipe) ask(q askRequest) (reply <-chan *askReply, at place, err error) {
	for {
		s := p.session()
		at = place{session: s}
		reply, at.id, err = s.ask(q)
		if !errors.Is(err, errPipe) {
			return reply, at, err
		}
		if p.node.ctx.Err() != nil {
			return nil, at, ubl.Errorf(ubl.CodeUnavailable, "this node is stopping")
		}
	}
}

// place is where a question stands in its session.
type place struct {
	session *session
	id      int64
}

func (p *pipe) session() *session {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.now == nil {
		s := &session{pipe: p, asked: newSignal(), waiting: make(map[int64]chan *askReply), out: newOutbox(askRequest.size)}
		s.ctx, s.end = context.WithCancel(p.node.ctx)
		p.now = s
		p.node.start("asking another node", s.run)
		p.node.start("watching a connection", func() { s.watch(s.mute) })
	}
	return p.now
}

func (s *session) ask(q askRequest) (<-chan *askReply, int64, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case s.over:
		return nil, 0, errPipe
	case len(s.waiting) >= maxWaiting:
		return nil, 0, errBusy
	}
	s.last++
	q.ID = s.last
	answer := make(chan *askReply, 1)
	s.waiting[q.ID] = answer
	s.out.add(q)
	s.asked.raise()
	return answer, q.ID, nil
}

func (s *session) forget(id int64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.waiting, id)
}

// run opens the stream, sends what is asked, and ends with the first failure.
func (s *session) run() {
	defer s.close()
	conn, err := s.pipe.node.conns.to(s.pipe.server)
	if err != nil {
		return
	}
	stream, err := conn.NewStream(s.ctx, &grpc.StreamDesc{StreamName: callAsk, ServerStreams: true, ClientStreams: true}, "/"+serviceName+"/"+callAsk)
	if err != nil {
		return
	}
	s.pipe.node.start("hearing another node", func() {
		defer s.end()
		s.receive(stream)
	})
	s.out.drain(s.ctx, func(batch []askRequest) error { return stream.SendMsg(&askBatch{Requests: batch}) })
}

func (s *session) receive(stream grpc.ClientStream) {
	for {
		var batch replyBatch
		if stream.RecvMsg(&batch) != nil {
			return
		}
		if s.heard.Add(1) == 1 {
			s.pipe.heard()
		}
		s.mu.Lock()
		for i := range batch.Replies {
			r := &batch.Replies[i]
			if answer := s.waiting[r.ID]; answer != nil {
				delete(s.waiting, r.ID)
				answer <- r
			}
		}
		s.mu.Unlock()
	}
}

// close ends the session: those who wait learn that no answer will come.
func (s *session) close() {
	s.end()
	s.pipe.mu.Lock()
	if s.pipe.now == s {
		s.pipe.now = nil
	}
	if s.pipe.node.ctx.Err() == nil {
		s.pipe.deaf = time.Now()
	}
	s.pipe.mu.Unlock()
	s.mu.Lock()
	defer s.mu.Unlock()
	s.over = true
	for id, answer := range s.waiting {
		delete(s.waiting, id)
		close(answer)
	}
}

// watch ends a session whose node has gone silent: it is paused, dead or cut off,
// or the connection is a leftover of a cut, which TCP would try again later and
// later. A node that is only slow with its answers still says in which term it is,
// over the same connection; mute asks it. While nobody waits for an answer it sleeps.
func (s *session) watch(mute func(heard int64) bool) {
	timeout := s.pipe.node.opts.Timeout
	pause := time.NewTimer(timeout)
	defer pause.Stop()
	for {
		pause.Stop()
		select {
		case <-s.ctx.Done():
			return
		case <-s.asked:
		}
		for s.awaited() {
			heard := s.heard.Load()
			pause.Reset(timeout)
			select {
			case <-s.ctx.Done():
				return
			case <-pause.C:
			}
			if s.heard.Load() == heard && s.awaited() && mute(heard) {
				s.pipe.node.conns.drop(s.pipe.server)
				s.end()
				return
			}
		}
	}
}

// mute reports whether the node doesn't even say in which term it is, and has said nothing
// else meanwhile.
func (s *session) mute(heard int64) bool {
	n := s.pipe.node
	ctx, cancel := context.WithTimeout(s.ctx, 2*n.opts.Timeout)
	defer cancel()
	_, err := call[termReply](ctx, n, s.pipe.server, callTerm, &termRequest{Partition: -1})
	return err != nil && ctx.Err() != nil && s.ctx.Err() == nil && s.heard.Load() == heard
}

// awaited reports whether anybody waits for an answer.
func (s *session) awaited() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.waiting) > 0
}

// pipes are the pipes to other nodes.
type pipes struct {
	node *Node
	mu   sync.Mutex
	all  map[string]*pipe
}

func (s *pipes) to(server string) *pipe {
	s.mu.Lock()
	defer s.mu.Unlock()
	p := s.all[server]
	if p == nil {
		p = &pipe{node: s.node, server: server}
		if s.all == nil {
			s.all = make(map[string]*pipe)
		}
		s.all[server] = p
	}
	return p
}

// over asks another node over its pipe and waits that long, or until the partition
// has another leader than the given one.
func (n *Node) over(ctx context.Context, r way, q askRequest, wait time.Duration) (*askReply, error) {
	reply, at, err := n.pipes.to(r.via).ask(q)
	if err != nil {
		return nil, err
	}
	defer at.session.forget(at.id)
	timeout := n.timers.start(wait)
	defer n.timers.stop(timeout)
	for moved := r.moved; ; {
		select {
		case answer, ok := <-reply:
			if !ok {
				return nil, ubl.Errorf(ubl.CodeUnavailable, "another node can't be reached").Because(errPipe)
			}
			return answer, nil
		case <-moved:
			var now string
			if now, moved = n.routes.to(r.partition); now != "" && now != r.leader || n.routes.lost(r.partition) {
				return nil, ubl.Errorf(ubl.CodeUnavailable, "leadership has moved")
			}
		case <-timeout.C:
			return nil, ubl.Errorf(ubl.CodeUnavailable, "another node doesn't answer")
		case <-ctx.Done():
			return nil, ubl.AsError(ctx.Err())
		}
	}
}

// timers are stopped ones, for those who wait next.
type timers struct{ sync.Pool }

func (s *timers) start(d time.Duration) *time.Timer {
	t, ok := s.Get().(*time.Timer)
	if !ok {
		return time.NewTimer(d)
	}
	t.Reset(d)
	return t
}

func (s *timers) stop(t *time.Timer) {
	t.Stop()
	s.Put(t)
}

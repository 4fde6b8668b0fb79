package cluster

import (
	"bufio"
	"net"
	"slices"
	"time"

	"github.com/hashicorp/raft"
)

// beatLine is the way of heartbeats to one other node. Guarded by the beats' mu.
type beatLine struct {
	beats  *beats
	server string

	pulses  []*pulse  // which Raft waits for
	now     *beatConn // nil until a heartbeat needs it, and after a failure
	dialing bool      // it is being made
	last    uint64    // id
}

// beatConn is a line's connection, from its first message to its end.
type beatConn struct {
	line *beatLine
	conn net.Conn

	// Guarded by the beats' mu.
	out    map[uint64]*pulse // under way
	heard  time.Time         // when something last came back
	newest map[int]heardEcho // by partition
}

type heardEcho struct {
	echo
	at time.Time
}

// send sends a message over the connection, or has one made. It waits for no other node: no
// more is ever under way than a socket takes at once.
func (l *beatLine) send() {
	if s, list := l.ready(); len(list) > 0 {
		s.write(list)
	}
}

// ready are the heartbeats to be sent now: those whose groups lead as they did when they
// asked, and that aren't under way.
func (l *beatLine) ready() (*beatConn, []beat) {
	l.beats.mu.Lock()
	defer l.beats.mu.Unlock()
	for _, p := range slices.Clone(l.pulses) {
		if !l.beats.leads(p.partition, p.term) {
			l.finish(p, pulsed{err: errDeposed})
		}
	}
	switch {
	case l.now != nil:
		return l.now, l.now.register(l.pulses)
	case len(l.pulses) > 0 && !l.dialing:
		l.dialing = true
		l.beats.start("calling a node for heartbeats", l.dial)
	}
	return nil, nil
}

// dial makes a connection, and sends what waits for it.
func (l *beatLine) dial() {
	b := l.beats
	defer func() {
		b.mu.Lock()
		defer b.mu.Unlock()
		l.dialing = false
	}()
	conn, err := b.layer.Dial(raft.ServerAddress(l.server), b.timeout)
	b.mu.Lock()
	if err != nil {
		for _, p := range slices.Clone(l.pulses) {
			l.finish(p, pulsed{err: err})
		}
		b.mu.Unlock()
		return
	}
	s := &beatConn{line: l, conn: conn, out: make(map[uint64]*pulse), newest: make(map[int]heardEcho)}
	l.now = s
	b.mu.Unlock()
	b.start("hearing answers to heartbeats", s.receive)
	l.send()
}

// finish answers a heartbeat, once; it needs mu.
func (l *beatLine) finish(p *pulse, a pulsed) {
	if p.over {
		return
	}
	p.over = true
	p.answer <- a
	l.pulses = slices.DeleteFunc(l.pulses, func(other *pulse) bool { return other == p })
	if l.now != nil {
		delete(l.now.out, p.id)
	}
}

// late gives a heartbeat up. Where nothing at all has come back since it was sent its
// connection ends with it, which may be a leftover of a cut.
func (l *beatLine) late(p *pulse) {
	l.beats.mu.Lock()
	s := l.now
	silent := s != nil && s.out[p.id] == p && s.heard.Before(p.sent)
	l.finish(p, pulsed{err: errNoEcho})
	l.beats.mu.Unlock()
	if silent {
		s.end(errNoEcho)
	}
}

// register has answers find the heartbeats, and gives those that aren't under way yet. It
// needs mu.
func (s *beatConn) register(pulses []*pulse) (list []beat) {
	for _, p := range pulses {
		if p.underway {
			continue
		}
		s.line.last++
		p.id, p.sent, p.underway = s.line.last, time.Now(), true
		s.out[p.id] = p
		list = append(list, p.beat)
	}
	return list
}

func (s *beatConn) write(list []beat) {
	_ = s.conn.SetWriteDeadline(time.Now().Add(s.line.beats.timeout))
	if _, err := s.conn.Write(message(list, beatSize, appendBeat)); err != nil {
		s.end(err)
	}
}

func (s *beatConn) receive() {
	r := bufio.NewReader(s.conn)
	for {
		echoes, err := readMessage(r, echoSize, readEcho)
		if err != nil {
			s.end(err)
			return
		}
		s.answered(echoes)
	}
}

func (s *beatConn) answered(echoes []echo) {
	s.line.beats.mu.Lock()
	defer s.line.beats.mu.Unlock()
	s.heard = time.Now()
	for _, e := range echoes {
		if p := s.out[e.id]; p != nil {
			delete(s.out, e.id)
			p.underway = false
			s.newest[p.partition] = heardEcho{e, s.heard}
			s.line.take(p, e)
		}
	}
}

// take takes the answer to a heartbeat, which goes with the next beat, too, if there is more to
// come. It needs mu.
func (l *beatLine) take(p *pulse, e echo) {
	switch e.outcome {
	case missed:
		l.finish(p, pulsed{err: errMissed})
	case accepted:
		if p.accepted++; p.accepted < pulseBeats {
			return
		}
		l.finish(p, pulsed{echo: e})
	default:
		l.finish(p, pulsed{echo: e})
	}
}

// end closes the connection, and the wait for what should have come over it.
func (s *beatConn) end(err error) {
	l := s.line
	l.beats.mu.Lock()
	for _, p := range s.out {
		l.finish(p, pulsed{err: err})
	}
	if l.now == s {
		l.now = nil
	}
	l.beats.mu.Unlock()
	// It says goodbye first, which may take a moment.
	l.beats.start("closing a connection", func() { _ = s.conn.Close() })
}

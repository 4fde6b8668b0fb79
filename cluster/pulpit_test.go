package cluster

import (
	"bufio"
	"context"
	"errors"
	"log/slog"
	"net"
	"sync"
	"testing"
	"time"

	"github.com/hashicorp/raft"

	"ubl/panics"
)

const (
	testBeat     = 100 * time.Millisecond
	testBeatWait = 2 * time.Second
)

// pulpit is a node that sends heartbeats over pipes, to a test that answers them.
type pulpit struct {
	*beats
	t      *testing.T
	called chan net.Conn // connections that it makes
	over   chan struct{}
	work   sync.WaitGroup

	mu    sync.Mutex
	terms map[int]uint64 // in which it leads, by partition
}

type pipeLayer struct {
	raft.StreamLayer
	called chan net.Conn
}

func (l pipeLayer) Dial(raft.ServerAddress, time.Duration) (net.Conn, error) {
	mine, theirs := net.Pipe()
	l.called <- theirs
	return mine, nil
}

func newPulpit(t *testing.T, terms map[int]uint64) *pulpit {
	p := &pulpit{t: t, called: make(chan net.Conn, 1), over: make(chan struct{}), terms: terms}
	p.beats = &beats{
		layer: pipeLayer{called: p.called}, rhythm: rhythm{testBeat, newSignal()}, look: func(time.Duration) {}, timeout: testBeatWait, lines: make(map[string]*beatLine),
		takes: func(string) bool { return true }, leads: p.leads,
		start: func(_ string, fn func()) { p.work.Go(fn) }, panics: panics.New(slog.New(slog.DiscardHandler)),
	}
	p.ctx, p.stop = context.WithCancel(t.Context())
	p.work.Go(p.run)
	t.Cleanup(func() {
		close(p.over)
		p.stop()
		p.hangUp()
		p.work.Wait()
	})
	return p
}

func (p *pulpit) leads(partition int, term uint64) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.terms[partition] == term
}

func (p *pulpit) lead(partition int, term uint64) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.terms[partition] = term
}

func (p *pulpit) depose(partition int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(p.terms, partition)
}

// heartbeat has a group's Raft send one; the outcome comes.
func (p *pulpit) heartbeat(partition int, term uint64) <-chan pulsed {
	done := make(chan pulsed, 1)
	p.work.Go(func() {
		e, err := p.send("b", beat{partition: partition, term: term}, p.over)
		done <- pulsed{e, err}
	})
	return done
}

// pew is who hears the pulpit's heartbeats.
type pew struct {
	t    *testing.T
	conn net.Conn
	r    *bufio.Reader
}

func (p *pulpit) heard() *pew {
	conn := <-p.called
	p.t.Cleanup(func() { conn.Close() })
	return &pew{t: p.t, conn: conn, r: bufio.NewReader(conn)}
}

// next is the next message; none when none comes within a second.
func (l *pew) next() []beat {
	_ = l.conn.SetReadDeadline(time.Now().Add(time.Second))
	list, err := readMessage(l.r, beatSize, readBeat)
	if err != nil && !errors.Is(err, context.DeadlineExceeded) && !isTimeout(err) {
		l.t.Fatal(err)
	}
	return list
}

func isTimeout(err error) bool {
	var n net.Error
	return errors.As(err, &n) && n.Timeout()
}

// say answers each heartbeat in the same way.
func (l *pew) say(list []beat, of echo) {
	var echoes []echo
	for _, q := range list {
		e := of
		e.id = q.id
		echoes = append(echoes, e)
	}
	if _, err := l.conn.Write(message(echoes, echoSize, appendEcho)); err != nil {
		l.t.Fatal(err)
	}
}

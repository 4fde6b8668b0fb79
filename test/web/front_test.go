package web

import (
	"net"
	"slices"
	"sync"
	"testing"
	"time"
)

// front is one address in front of nodes: each connection goes to the next node that
// takes it. It is also the network of those who come by it, with its troubles.
type front struct {
	listener net.Listener
	mu       sync.Mutex
	nodes    []string
	next     int
	down     bool
	open     map[net.Conn]bool
	silent   chan struct{} // closed when the silence ends; nil without one
	deaf     bool          // while it is silent: questions get lost too
}

func newFront(t *testing.T) *front {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	must(t, err)
	f := &front{listener: l, open: map[net.Conn]bool{}}
	t.Cleanup(func() { _ = l.Close(); f.speak() })
	go func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			go f.carry(conn)
		}
	}()
	return f
}

func (f *front) url() string { return localhost(f.listener.Addr().String()) }

func (f *front) add(address string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.nodes = append(f.nodes, address)
}

// cut ends all connections and takes none, until it is mended.
func (f *front) cut() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.down = true
	for conn := range f.open {
		_ = conn.Close()
	}
}

func (f *front) mend() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.down = false
}

// hush has everything that is under way, and all that comes, stay on the way, and
// nobody is told: packets get lost.
func (f *front) hush() { f.silence(true) }

// loseAnswers lets questions through, and no answers.
func (f *front) loseAnswers() { f.silence(false) }

func (f *front) silence(deaf bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.silent, f.deaf = make(chan struct{}), deaf
}

// speak ends that. Connections from before go on, as TCP does.
func (f *front) speak() {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.silent != nil {
		close(f.silent)
		f.silent = nil
	}
}

// wait holds up what goes to a node, or what comes from there.
func (f *front) wait(answers bool) {
	f.mu.Lock()
	silent := f.silent
	if !answers && !f.deaf {
		silent = nil
	}
	f.mu.Unlock()
	if silent != nil {
		<-silent
	}
}

// carry brings one connection to a node, and everything in it there and back.
func (f *front) carry(conn net.Conn) {
	defer conn.Close()
	if !f.note(conn) {
		return
	}
	defer f.forget(conn)
	f.wait(false)
	to := f.dial()
	if to == nil {
		return
	}
	defer to.Close()
	go f.pump(to, conn, false)
	f.pump(conn, to, true)
}

// note remembers a connection, where it is taken.
func (f *front) note(conn net.Conn) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	if !f.down {
		f.open[conn] = true
	}
	return !f.down
}

func (f *front) forget(conn net.Conn) {
	f.mu.Lock()
	defer f.mu.Unlock()
	delete(f.open, conn)
}

func (f *front) dial() net.Conn {
	f.mu.Lock()
	nodes := slices.Concat(f.nodes[f.next:], f.nodes[:f.next])
	f.next = (f.next + 1) % len(f.nodes)
	f.mu.Unlock()
	for _, address := range nodes {
		if conn, err := net.DialTimeout("tcp", address, time.Second); err == nil {
			return conn
		}
	}
	return nil
}

// pump copies until one side ends, and then ends the other.
func (f *front) pump(to, from net.Conn, answers bool) {
	buffer := make([]byte, 32<<10)
	for {
		n, err := from.Read(buffer)
		f.wait(answers)
		if n > 0 {
			if _, failed := to.Write(buffer[:n]); failed != nil {
				break
			}
		}
		if err != nil {
			break
		}
	}
	_ = to.Close()
	_ = from.Close()
}

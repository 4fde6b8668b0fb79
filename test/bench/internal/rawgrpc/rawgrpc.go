// Package rawgrpc is the cheapest gRPC client that still reads its replies
// properly: the request's headers and message are blocks of bytes made
// beforehand, the reply is its message and status. It is rawhttp's counterpart,
// and leaves the cores to the servers it measures in the same way.
//
// A connection calls one method, without TLS. Its calls are streams of one
// HTTP/2 connection, and callers that are ready at the same time share a write.
package rawgrpc

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"net"
	"runtime"
	"slices"
	"sync"
	"time"

	"golang.org/x/net/http2"
	"golang.org/x/net/http2/hpack"
)

const (
	// dialTimeout bounds connecting.
	dialTimeout = 10 * time.Second
	// streamWindow is how long a reply may be, and connWindow how much all of them
	// may bring before more is allowed.
	streamWindow = 1 << 20
	connWindow   = 1 << 30
	// defaultWindow is what either side may send before it is told more (RFC 9113, 6.9.2).
	defaultWindow = 65_535
	// prefix is how long the head of a message is: a flag and its length.
	prefix = 5
)

// Message is a message of a call as it is sent: [Caller.Do] takes it, also again
// and again.
func Message(encoded []byte) []byte {
	out := binary.BigEndian.AppendUint32([]byte{0}, uint32(len(encoded)))
	return append(out, encoded...)
}

// Conn is one connection, for many goroutines.
type Conn struct {
	conn   net.Conn
	framer *http2.Framer // writes into pending, under mu; only the reader reads

	mu      sync.Mutex
	room    sync.Cond    // of mu: window has grown, or err is set
	pending bytes.Buffer // frames that are to be written
	spare   []byte       // what a write before was made of
	writing bool         // somebody is at it, and takes along what comes meanwhile
	window  int64        // how much the server takes now
	longest int64        // the longest message that it takes
	first   []byte       // the headers of the first call, nil behind it
	again   []byte       // those of all others, which refer to the first
	next    uint32       // the stream of the next call
	calls   map[uint32]*Caller
	err     error // why the connection has ended
}

// Dial connects to host, a HOST:PORT, to call the method at a path.
func Dial(host, path string) (*Conn, error) {
	conn, err := net.DialTimeout("tcp", host, dialTimeout)
	if err != nil {
		return nil, fmt.Errorf("couldn't connect: %w", err)
	}
	c := &Conn{conn: conn, window: defaultWindow, longest: defaultWindow, next: 1, calls: make(map[uint32]*Caller)}
	c.room.L = &c.mu
	c.framer = http2.NewFramer(&c.pending, conn)
	c.first, c.again = headers(host, path)
	c.mu.Lock()
	defer c.mu.Unlock()
	c.pending.WriteString(http2.ClientPreface)
	c.wrote(c.framer.WriteSettings(http2.Setting{ID: http2.SettingInitialWindowSize, Val: streamWindow}))
	c.wrote(c.framer.WriteWindowUpdate(0, connWindow-defaultWindow))
	c.flush()
	if c.err != nil {
		return nil, c.err
	}
	go c.read()
	return c, nil
}

// headers encodes a call's twice: the first time the server keeps what it reads
// (HPACK's dynamic table), the second time that is referred to.
func headers(host, path string) (first, again []byte) {
	var block bytes.Buffer
	encoder := hpack.NewEncoder(&block)
	for _, out := range []*[]byte{&first, &again} {
		block.Reset()
		for _, field := range [][2]string{
			{":method", "POST"}, {":scheme", "http"}, {":path", path}, {":authority", host},
			{"content-type", "application/grpc"}, {"te", "trailers"},
		} {
			_ = encoder.WriteField(hpack.HeaderField{Name: field[0], Value: field[1]}) // a buffer takes everything
		}
		*out = slices.Clone(block.Bytes())
	}
	return first, again
}

// Close ends the connection; calls under way fail.
func (c *Conn) Close() { c.fail(net.ErrClosed) }

// Caller makes one call after the other, for one goroutine.
type Caller struct {
	conn  *Conn
	done  chan error // of the call under way
	reply []byte
	state status
}

// Caller returns another one.
func (c *Conn) Caller() *Caller { return &Caller{conn: c, done: make(chan error, 1)} }

// Do makes a call and returns the reply's message, which is valid until the
// next. A status other than OK is a [*Status].
func (c *Caller) Do(message []byte) ([]byte, error) {
	c.reply, c.state = c.reply[:0], status{}
	if err := c.conn.send(c, message); err != nil {
		return nil, err
	}
	if err := <-c.done; err != nil {
		return nil, err
	}
	if len(c.reply) < prefix || c.reply[0] != 0 || int(binary.BigEndian.Uint32(c.reply[1:])) != len(c.reply)-prefix {
		return nil, errors.New("a reply is not one plain message")
	}
	return c.reply[prefix:], nil
}

// send writes a call's frames, or leaves them to who is writing.
func (c *Conn) send(call *Caller, message []byte) error {
	size := int64(len(message))
	c.mu.Lock()
	defer c.mu.Unlock()
	for c.window < size && c.err == nil && size <= c.longest {
		c.room.Wait()
	}
	if c.err != nil {
		return c.err
	}
	if size > c.longest {
		return fmt.Errorf("a message of %d bytes is longer than the server takes at once", size)
	}
	block := c.again
	if c.first != nil {
		block, c.first = c.first, nil
	}
	c.window -= size
	c.calls[c.next] = call
	c.wrote(c.framer.WriteHeaders(http2.HeadersFrameParam{StreamID: c.next, BlockFragment: block, EndHeaders: true}))
	c.wrote(c.framer.WriteData(c.next, true, message))
	c.next += 2
	c.flush()
	return nil
}

// wrote is told what came of framing: a buffer takes everything, so that an error
// is a fault of this package.
func (c *Conn) wrote(err error) {
	if err != nil {
		c.failLocked(fmt.Errorf("couldn't make a frame: %w", err))
	}
}

// flush writes what is pending, unless somebody does so already. It lets other
// callers go first, whose frames then go along: a system call for each would cost more
// than all the rest. Called with mu, which it gives up meanwhile.
func (c *Conn) flush() {
	if c.writing {
		return
	}
	c.writing = true
	for c.pending.Len() > 0 && c.err == nil {
		c.mu.Unlock()
		runtime.Gosched()
		c.mu.Lock()
		c.spare = append(c.spare[:0], c.pending.Bytes()...)
		c.pending.Reset()
		c.mu.Unlock()
		_, err := c.conn.Write(c.spare)
		c.mu.Lock()
		if err != nil {
			c.failLocked(fmt.Errorf("couldn't send: %w", err))
		}
	}
	c.writing = false
}

func (c *Conn) fail(err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.failLocked(err)
}

// failLocked ends the connection and all calls, the first time. Called with mu.
func (c *Conn) failLocked(err error) {
	if c.err != nil {
		return
	}
	c.err = err
	c.conn.Close() // ends the reader, too
	for id, call := range c.calls {
		delete(c.calls, id)
		call.done <- err
	}
	c.room.Broadcast()
}

package fanload

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"time"

	"golang.org/x/sys/unix"

	"ubl/test/bench/internal/rawhttp"
)

const (
	// pause is how long the receiver lets bytes gather between two looks at
	// the sockets. Without it, it would wake for every single write and take
	// from the server the very core it measures.
	pause = 2 * time.Millisecond
	// many is how many sockets take longer to read than the pause: where all of so
	// many have something, none is made.
	many = 500
	// openTimeout bounds the reply to one stream's request.
	openTimeout = 20 * time.Second
)

// receiver owns all sockets and reads them in one goroutine, through epoll:
// a goroutine a socket would cost more than the reading itself.
type receiver struct {
	epoll   int
	sockets []*os.File        // keeps the file descriptors open
	streams map[int32]*stream // by file descriptor
}

func newReceiver() (*receiver, error) {
	epoll, err := unix.EpollCreate1(unix.EPOLL_CLOEXEC)
	if err != nil {
		return nil, fmt.Errorf("couldn't make an epoll set: %w", err)
	}
	return &receiver{epoll: epoll, streams: map[int32]*stream{}}, nil
}

func (r *receiver) close() {
	for _, socket := range r.sockets {
		socket.Close()
	}
	unix.Close(r.epoll)
}

// open starts one stream and returns when its headers are here. Events after
// id last are expected.
func (r *receiver) open(host string, request []byte, last uint64) error {
	conn, err := net.DialTimeout("tcp", host, openTimeout)
	if err != nil {
		return fmt.Errorf("couldn't connect: %w", err)
	}
	defer conn.Close() // the receiver keeps a duplicate
	s := &stream{last: last}
	if err := s.begin(conn, request); err != nil {
		return err
	}
	socket, err := conn.(*net.TCPConn).File()
	if err != nil {
		return fmt.Errorf("couldn't take a socket over: %w", err)
	}
	r.sockets = append(r.sockets, socket)
	fd := int(socket.Fd())
	event := unix.EpollEvent{Events: unix.EPOLLIN | unix.EPOLLRDHUP, Fd: int32(fd)}
	if err := errors.Join(unix.SetNonblock(fd, true), unix.EpollCtl(r.epoll, unix.EPOLL_CTL_ADD, fd, &event)); err != nil {
		return fmt.Errorf("couldn't watch a socket: %w", err)
	}
	r.streams[int32(fd)] = s
	return nil
}

// begin sends the request and reads the headers, and what came with them.
func (s *stream) begin(conn net.Conn, request []byte) error {
	if err := conn.SetDeadline(time.Now().Add(openTimeout)); err != nil {
		return fmt.Errorf("couldn't set a deadline: %w", err)
	}
	if _, err := conn.Write(request); err != nil {
		return fmt.Errorf("couldn't ask for a stream: %w", err)
	}
	in := bufio.NewReader(conn)
	head, err := rawhttp.ReadHead(in)
	if err != nil {
		return err
	}
	early, err := in.Peek(in.Buffered())
	if err != nil {
		return fmt.Errorf("couldn't read a stream: %w", err)
	}
	if head.Status != http.StatusOK {
		return fmt.Errorf("a stream was refused: %d %.200s", head.Status, bytes.TrimSpace(early))
	}
	s.chunked = head.Chunked
	return s.feed(early)
}

// receive reads until every stream has had the given number of events, and
// returns when the last of them came.
func (r *receiver) receive(ctx context.Context, events int) (time.Time, error) {
	buffer := make([]byte, 256<<10)
	ready := make([]unix.EpollEvent, len(r.streams))
	waiting := 0
	for _, s := range r.streams {
		if s.events < events {
			waiting++
		}
	}
	for waiting > 0 {
		if ctx.Err() != nil {
			return time.Time{}, fmt.Errorf("%d of %d streams did not get every event: %w", waiting, len(r.streams), context.Cause(ctx))
		}
		n, err := unix.EpollWait(r.epoll, ready, 100)
		if err != nil && !errors.Is(err, unix.EINTR) {
			return time.Time{}, fmt.Errorf("couldn't wait for events: %w", err)
		}
		for _, e := range ready[:max(n, 0)] {
			s := r.streams[e.Fd]
			before := s.events
			if err := s.read(int(e.Fd), buffer); err != nil {
				return time.Time{}, err
			}
			if before < events && s.events >= events {
				waiting--
			}
		}
		if (n < len(ready) || n < many) && waiting > 0 {
			time.Sleep(pause)
		}
	}
	return time.Now(), nil
}

// read takes what is there, once.
func (s *stream) read(fd int, buffer []byte) error {
	n, err := unix.Read(fd, buffer)
	switch {
	case errors.Is(err, unix.EAGAIN):
		return nil
	case err != nil:
		return fmt.Errorf("couldn't read a stream after event %d: %w", s.last, err)
	case n == 0:
		return fmt.Errorf("a stream ended after event %d", s.last)
	}
	return s.feed(buffer[:n])
}

package fanload

import (
	"bytes"
	"errors"
	"fmt"
	"strconv"
)

// stream reads one response: it takes the chunks of HTTP/1.1 apart, cuts the
// payload into SSE frames and checks that their ids rise by exactly one.
type stream struct {
	chunked bool
	unread  bool // what comes is thrown away

	size    int    // bytes left in the current chunk
	sizeHex []byte // the digits of the next size, as far as they came

	carry []byte // the beginning of a frame whose end is still to come

	last   uint64 // id of the last event
	events int
	bytes  int // of whole event frames
}

// feed takes what was read from the socket.
func (s *stream) feed(p []byte) error {
	if s.unread {
		return nil
	}
	if !s.chunked {
		return s.payload(p)
	}
	for len(p) > 0 {
		if s.size > 0 {
			n := min(s.size, len(p))
			if err := s.payload(p[:n]); err != nil {
				return err
			}
			p, s.size = p[n:], s.size-n
			continue
		}
		// Between chunks: "\r\n" ends the last one, then hex digits up to "\r\n".
		c := p[0]
		p = p[1:]
		switch {
		case c == '\n' && len(s.sizeHex) > 0:
			size, err := strconv.ParseUint(string(s.sizeHex), 16, 31)
			if err != nil {
				return fmt.Errorf("bad chunk size: %w", err)
			}
			if size == 0 {
				return errors.New("the server ended the stream")
			}
			s.size, s.sizeHex = int(size), s.sizeHex[:0]
		case c != '\r' && c != '\n':
			s.sizeHex = append(s.sizeHex, c)
		}
	}
	return nil
}

// payload cuts at empty lines; what follows the last one is kept.
func (s *stream) payload(p []byte) error {
	if len(s.carry) > 0 {
		s.carry = append(s.carry, p...)
		p = s.carry
	}
	for {
		end := bytes.Index(p, []byte("\n\n"))
		if end < 0 {
			break
		}
		if err := s.frame(p[:end+2]); err != nil {
			return err
		}
		p = p[end+2:]
	}
	// append copies forward within the same array, which is safe.
	s.carry = append(s.carry[:0], p...)
	return nil
}

// frame counts an event; comments and "retry:" have no id and don't count.
func (s *stream) frame(p []byte) error {
	at := bytes.Index(p, []byte("id: "))
	if at < 0 || at > 0 && p[at-1] != '\n' || !bytes.Contains(p, []byte("event: message.created\n")) {
		return nil
	}
	digits, _, _ := bytes.Cut(p[at+len("id: "):], []byte("\n"))
	id, err := strconv.ParseUint(string(digits), 10, 64)
	if err != nil {
		return fmt.Errorf("bad event id: %w", err)
	}
	if id != s.last+1 {
		return fmt.Errorf("event %d came after %d", id, s.last)
	}
	s.last = id
	s.events++
	s.bytes += len(p)
	return nil
}

// Package clamd is a malware scanner for tests. It speaks clamd's protocol as clamd(8) documents it,
// over TCP or a socket, and finds what all scanners find: the file of EICAR.
package clamd

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"errors"
	"io"
	"net"
	"strings"
	"sync"
	"testing"
)

// EICAR is a file that harms nobody, and that every scanner finds.
func EICAR() []byte {
	return []byte(`X5O!P%@AP[4\PZX54(P^)7CC)7}` + `$EICAR-STANDARD-ANTIVIRUS-TEST-FILE!$H+H*`)
}

// Signature is what it is found as.
const Signature = "Eicar-Test-Signature"

// Version is what the server says of itself.
const Version = "ClamAV 1.4.2/27500/Mon Nov  2 08:25:38 2026"

// Server is a scanner that runs until the end of its test.
type Server struct {
	// Addr is where it is, as Options of package scan take it.
	Addr string

	mu       sync.Mutex
	scans    int
	says     func(content []byte) string
	maxBytes int
	holds    chan struct{}
	begun    chan struct{}
}

// New starts one on a port of its own.
func New(t testing.TB) *Server {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	return start(t, l, l.Addr().String())
}

// NewSocket starts one at a path.
func NewSocket(t testing.TB, path string) *Server {
	t.Helper()
	l, err := net.Listen("unix", path)
	if err != nil {
		t.Fatal(err)
	}
	return start(t, l, "unix:"+path)
}

func start(t testing.TB, l net.Listener, address string) *Server {
	s := &Server{Addr: address, says: says, maxBytes: 25 << 20}
	var running sync.WaitGroup
	running.Go(func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			running.Go(func() { s.serve(c) })
		}
	})
	t.Cleanup(func() {
		s.Release()
		_ = l.Close()
		running.Wait()
	})
	return s
}

// says is what a scanner that works says about a content.
func says(content []byte) string {
	if bytes.Contains(content, EICAR()) {
		return "stream: " + Signature + " FOUND"
	}
	return "stream: OK"
}

// Says has the server answer something else about contents; "" hangs up.
func (s *Server) Says(line func(content []byte) string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.says = line
}

// Limit has the server take no more than so many bytes of a content, as StreamMaxLength does.
func (s *Server) Limit(bytes int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.maxBytes = bytes
}

// Hold has the server think about each content until Release. What it answers is closed once it has
// the first.
func (s *Server) Hold() <-chan struct{} {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.holds, s.begun = make(chan struct{}), make(chan struct{})
	return s.begun
}

// Release ends a Hold.
func (s *Server) Release() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.holds != nil {
		close(s.holds)
		s.holds = nil
	}
}

// Scans is how many contents it has had as a whole.
func (s *Server) Scans() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.scans
}

func (s *Server) serve(c net.Conn) {
	defer c.Close()
	from := bufio.NewReader(c)
	command, err := from.ReadString(0)
	if err != nil {
		return
	}
	var answer string
	switch strings.TrimSuffix(command, "\x00") {
	case "zVERSION":
		answer = Version
	case "zINSTREAM":
		answer = s.scan(from)
	default:
		answer = "UNKNOWN COMMAND"
	}
	if answer != "" {
		_, _ = io.WriteString(c, answer+"\x00")
	}
}

// scan is the server's answer about what comes, "" for none.
func (s *Server) scan(from io.Reader) string {
	s.mu.Lock()
	limit := s.maxBytes
	s.mu.Unlock()
	content, err := chunks(from, limit)
	if errors.Is(err, errLimit) {
		return "INSTREAM size limit exceeded. ERROR"
	}
	if err != nil {
		return ""
	}
	s.mu.Lock()
	line, holds := s.says, s.holds
	s.scans++
	if holds != nil && s.begun != nil {
		close(s.begun)
		s.begun = nil
	}
	s.mu.Unlock()
	if holds != nil {
		<-holds
	}
	return line(content)
}

var errLimit = errors.New("more than the server takes")

func chunks(from io.Reader, limit int) (content []byte, err error) {
	for {
		var size [4]byte
		if _, err := io.ReadFull(from, size[:]); err != nil {
			return nil, err
		}
		n := int(binary.BigEndian.Uint32(size[:]))
		if n == 0 {
			return content, nil
		}
		if len(content)+n > limit {
			return nil, errLimit
		}
		part := make([]byte, n)
		if _, err := io.ReadFull(from, part); err != nil {
			return nil, err
		}
		content = append(content, part...)
	}
}

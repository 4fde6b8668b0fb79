// Package scan asks clamd, the daemon of ClamAV, whether a content is malware. It speaks clamd's own
// protocol: a command with a zero byte around it, a content in chunks behind their lengths, one line as
// the answer (clamd(8), INSTREAM). It tells clamd nothing else, neither a name nor whose content it is.
//
// # What fails
//
// A daemon that is away, hangs, answers something else or refuses a content for its size has said
// nothing about it. Such a content is refused as unavailable, or too large; with FailOpen it is let
// through, counted and logged. What clamd finds is refused in any case.
package scan

import (
	"bufio"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"math"
	"net"
	"strings"
	"sync/atomic"
	"time"

	"ubl"
	"ubl/turns"
)

const (
	// dialTimeout bounds the way to the daemon, stepTimeout each chunk there, and verdictTimeout the
	// daemon's thinking once it has a content. scanTimeout bounds all of it, and
	// how long a content waits for its turn.
	dialTimeout    = 5 * time.Second
	stepTimeout    = 30 * time.Second
	verdictTimeout = 2 * time.Minute
	scanTimeout    = 10 * time.Minute
	// atOnce is how many contents of a node the daemon has at a time, of one tenant and of one person:
	// its own threads are ten, where nobody has said otherwise.
	atOnce       = 4
	atOnceTenant = 3
	atOncePerson = 2
	// chunk is how much goes there at once, maxAnswer the longest line that it says.
	chunk     = 64 << 10
	maxAnswer = 1 << 10
	// maxFound bounds what a found file is called.
	maxFound = 128
	// again is how long to wait before another try is worth it.
	again = 10 * time.Second
)

// unixPrefix begins an address that is a socket's path.
const unixPrefix = "unix:"

// Options say where clamd is. Address and Log are required.
type Options struct {
	// Address is HOST:PORT, or unix: and the path of a socket.
	Address string
	// FailOpen lets contents through about which the daemon says nothing.
	FailOpen bool
	Log      *slog.Logger
}

// CheckAddress refuses what can't be where a daemon is.
func CheckAddress(address string) error {
	if path, ok := strings.CutPrefix(address, unixPrefix); ok {
		if !strings.HasPrefix(path, "/") {
			return errors.New("the path of the scanner's socket doesn't begin at the root")
		}
		return nil
	}
	if host, port, err := net.SplitHostPort(address); err != nil || host == "" || port == "" {
		return errors.New("the scanner is neither HOST:PORT nor unix:PATH")
	}
	return nil
}

// Stats are what became of contents since the start.
type Stats struct {
	Clean   int64 // nothing was found in them
	Found   int64 // something was
	Failed  int64 // the daemon said nothing about them
	Skipped int64 // of those, let through
}

// Scanner asks one daemon. Safe for concurrent use.
type Scanner struct {
	o Options
	// A content waits first for those of its person, then for those of its tenant, which has two
	// of each person at most to wait for. So one who brings much keeps few waiting.
	people  *turns.Among[person]
	tenants *turns.Turns

	clean, found, failed, skipped atomic.Int64
}

type person struct {
	tenant ubl.TenantID
	user   ubl.UserID
}

// New makes one for a valid address.
func New(o Options) *Scanner {
	return &Scanner{o: o, people: turns.NewAmong[person](math.MaxInt, atOncePerson), tenants: turns.New(atOnce, atOnceTenant)}
}

// Stats counts.
func (s *Scanner) Stats() Stats {
	return Stats{s.clean.Load(), s.found.Load(), s.failed.Load(), s.skipped.Load()}
}

// Scan reads a content of somebody's to its end and answers what was found in it, "" for nothing. It
// waits where the daemon has enough to do, or enough of theirs. A content whose turn doesn't come is
// refused as overloaded, with FailOpen too: else one could bring so much that the rest is let through.
func (s *Scanner) Scan(ctx context.Context, of ubl.Identity, content io.Reader) (found string, err error) {
	done, err := s.turn(ctx, of)
	if err != nil {
		return "", ubl.Errorf(ubl.CodeOverloaded, "too many files wait for the malware scanner: try again later").Later(again).Because(err)
	}
	defer done()
	ctx, cancel := context.WithTimeout(ctx, scanTimeout)
	defer cancel()
	found, err = s.ask(ctx, content)
	switch read, unread := errors.AsType[*readError](err); {
	case unread: // which is for its owner to say
		return "", fmt.Errorf("couldn't read what is to be scanned: %w", read.error)
	case err != nil:
		return "", s.fail(err)
	case found == "":
		s.clean.Add(1)
	default:
		s.found.Add(1)
	}
	return found, nil
}

// turn waits for a place at the daemon, which done gives back.
func (s *Scanner) turn(ctx context.Context, of ubl.Identity) (done func(), err error) {
	ctx, cancel := context.WithTimeout(ctx, scanTimeout)
	defer cancel()
	who := person{of.TenantID, of.UserID}
	if err := s.people.Take(ctx, who); err != nil {
		return nil, err
	}
	if err := s.tenants.Take(ctx, of.TenantID); err != nil {
		s.people.Give(who)
		return nil, err
	}
	return func() { s.tenants.Give(of.TenantID); s.people.Give(who) }, nil
}

// fail is what becomes of a content about which nothing is known.
func (s *Scanner) fail(err error) error {
	s.failed.Add(1)
	s.o.Log.Warn("a file couldn't be scanned", "let_through", s.o.FailOpen, "error", err)
	if !s.o.FailOpen {
		return err
	}
	s.skipped.Add(1)
	return nil
}

func errAway(cause error) *ubl.Error {
	return ubl.Errorf(ubl.CodeUnavailable, "the malware scanner doesn't answer, and no file is taken without it: try again later").Later(again).Because(cause)
}

// Version asks the daemon what it is: "ClamAV 1.4.2/27500/Mon Nov  2 08:25:38 2026", whose last part
// is how old its signatures are.
func (s *Scanner) Version(ctx context.Context) (string, error) {
	c, err := s.dial(ctx)
	if err != nil {
		return "", err
	}
	defer c.Close()
	if err := c.say([]byte("zVERSION\x00")); err != nil {
		return "", err
	}
	return c.answer(stepTimeout)
}

// ask has the daemon look into a content.
func (s *Scanner) ask(ctx context.Context, content io.Reader) (found string, err error) {
	c, err := s.dial(ctx)
	if err != nil {
		return "", errAway(err)
	}
	defer c.Close()
	stop := context.AfterFunc(ctx, func() { _ = c.Close() }) // a deadline would be overwritten by the next step's
	defer stop()
	sent := c.send(content)
	if _, ok := errors.AsType[*readError](sent); ok {
		return "", sent
	}
	// A daemon that has had enough answers before all was sent, and hangs up.
	line, err := c.answer(verdictTimeout)
	if err != nil {
		return "", errAway(errors.Join(sent, err))
	}
	return verdict(line)
}

// verdict reads the daemon's answer about a content.
func verdict(line string) (found string, err error) {
	said, ok := strings.CutPrefix(line, "stream: ")
	name, isFound := strings.CutSuffix(said, " FOUND")
	switch {
	case ok && said == "OK":
		return "", nil
	case ok && isFound && name != "":
		return called(name), nil
	case strings.HasPrefix(line, "INSTREAM size limit exceeded"):
		return "", ubl.Errorf(ubl.CodeTooLarge, "the file is larger than the malware scanner takes")
	}
	return "", errAway(fmt.Errorf("the scanner answered %q", line))
}

// called is a signature's name in letters that every ledger holds.
func called(name string) string {
	clean := strings.Map(func(r rune) rune {
		if r > ' ' && r < 0x7f && r != '"' && r != '\\' && r != '<' && r != '>' && r != '&' {
			return r
		}
		return '_'
	}, name)
	return clean[:min(len(clean), maxFound)]
}

// conn is a connection to the daemon, for one question.
type conn struct {
	net.Conn
	from *bufio.Reader
}

func (s *Scanner) dial(ctx context.Context) (*conn, error) {
	network, address := "tcp", s.o.Address
	if path, ok := strings.CutPrefix(address, unixPrefix); ok {
		network, address = "unix", path
	}
	c, err := (&net.Dialer{Timeout: dialTimeout}).DialContext(ctx, network, address)
	if err != nil {
		return nil, err
	}
	return &conn{c, bufio.NewReaderSize(io.LimitReader(c, maxAnswer), maxAnswer)}, nil
}

func (c *conn) say(b []byte) error {
	if err := c.SetWriteDeadline(time.Now().Add(stepTimeout)); err != nil {
		return err
	}
	_, err := c.Write(b)
	return err
}

// readError is a content's own, and says nothing of the daemon.
type readError struct{ error }

// send sends a content: each chunk behind its length, and none at the end.
func (c *conn) send(content io.Reader) error {
	if err := c.say([]byte("zINSTREAM\x00")); err != nil {
		return err
	}
	buf := make([]byte, 4+chunk)
	for {
		n, err := io.ReadFull(content, buf[4:])
		if n > 0 {
			binary.BigEndian.PutUint32(buf, uint32(n))
			if err := c.say(buf[:4+n]); err != nil {
				return err
			}
		}
		switch {
		case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
			return c.say(make([]byte, 4))
		case err != nil:
			return &readError{err}
		}
	}
}

// answer reads the daemon's line.
func (c *conn) answer(within time.Duration) (string, error) {
	if err := c.SetReadDeadline(time.Now().Add(within)); err != nil {
		return "", err
	}
	line, err := c.from.ReadString(0)
	if err != nil {
		return "", err
	}
	return strings.TrimSpace(strings.TrimSuffix(line, "\x00")), nil
}

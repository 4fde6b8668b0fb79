package scan_test

import (
	"bytes"
	"context"
	"crypto/md5"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/iotest"

	"ubl"
	"ubl/scan"
	"ubl/test/clamd"
	"ubl/test/poll"
)

var (
	ana = ubl.Identity{UserID: "u:ana", TenantID: "t:a"}
	bob = ubl.Identity{UserID: "u:bob", TenantID: "t:a"}
)

func scanner(address string, open bool) *scan.Scanner {
	return scan.New(scan.Options{Address: address, FailOpen: open, Log: slog.New(slog.DiscardHandler)})
}

// TestFinds: what is malware is found over TCP and over a socket, however many chunks it comes in, and
// nothing else is.
func TestFinds(t *testing.T) {
	dir, err := os.MkdirTemp("", "clamd") // a socket's path is short
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	for name, server := range map[string]*clamd.Server{"tcp": clamd.New(t), "socket": clamd.NewSocket(t, filepath.Join(dir, "s"))} {
		t.Run(name, func(t *testing.T) {
			s := scanner(server.Addr, false)
			long := append(bytes.Repeat([]byte("x"), 200_000), clamd.EICAR()...)
			for _, test := range []struct {
				what    string
				content []byte
				want    string
			}{
				{"nothing at all", nil, ""},
				{"a text", []byte("hello"), ""},
				{"EICAR", clamd.EICAR(), clamd.Signature},
				{"EICAR behind much else", long, clamd.Signature},
				{"much", long[:200_000], ""},
			} {
				if found, err := s.Scan(t.Context(), ana, bytes.NewReader(test.content)); found != test.want || err != nil {
					t.Errorf("%s: found %q, %v", test.what, found, err)
				}
			}
			if got := s.Stats(); got != (scan.Stats{Clean: 3, Found: 2}) {
				t.Errorf("the figures are %+v", got)
			}
			if version, err := s.Version(t.Context()); version != clamd.Version || err != nil {
				t.Errorf("the version is %q, %v", version, err)
			}
		})
	}
}

// TestFailsClosed: where the daemon says nothing about a content, the content is refused; with
// FailOpen it is let through, and counted.
func TestFailsClosed(t *testing.T) {
	gone, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	away := gone.Addr().String()
	_ = gone.Close()
	saying := func(line string) string {
		server := clamd.New(t)
		server.Says(func([]byte) string { return line })
		return server.Addr
	}
	limited := clamd.New(t)
	limited.Limit(100_000)
	for _, test := range []struct {
		what, address string
		code          ubl.Code
	}{
		{"nobody there", away, ubl.CodeUnavailable},
		{"it hangs up", saying(""), ubl.CodeUnavailable},
		{"it fails", saying("stream: Can't allocate memory ERROR"), ubl.CodeUnavailable},
		{"it isn't clamd", saying("HTTP/1.1 400 Bad Request"), ubl.CodeUnavailable},
		{"it says no end", saying(strings.Repeat("x", 10_000)), ubl.CodeUnavailable},
		{"the file is too large for it", limited.Addr, ubl.CodeTooLarge},
	} {
		content := bytes.Repeat([]byte("y"), 300_000)
		if found, err := scanner(test.address, false).Scan(t.Context(), ana, bytes.NewReader(content)); found != "" || ubl.CodeOf(err) != test.code {
			t.Errorf("%s: %q, %v", test.what, found, err)
		}
		s := scanner(test.address, true)
		if found, err := s.Scan(t.Context(), ana, bytes.NewReader(content)); found != "" || err != nil {
			t.Errorf("%s, open: %q, %v", test.what, found, err)
		}
		if got := s.Stats(); got != (scan.Stats{Failed: 1, Skipped: 1}) {
			t.Errorf("%s: the figures are %+v", test.what, got)
		}
	}
}

// TestGivenUp: a scan ends with who waits for it, however long the daemon thinks.
func TestGivenUp(t *testing.T) {
	server := clamd.New(t)
	begun := server.Hold()
	ctx, cancel := context.WithCancel(t.Context())
	go func() { <-begun; cancel() }()
	if _, err := scanner(server.Addr, false).Scan(ctx, ana, strings.NewReader("x")); ubl.CodeOf(err) != ubl.CodeUnavailable {
		t.Errorf("given up: %v", err)
	}
}

// TestBrokenContent: what can't be read says nothing of the daemon.
// So it is never let through.
func TestBrokenContent(t *testing.T) {
	broken := errors.New("the disk is broken")
	for _, open := range []bool{false, true} {
		s := scanner(clamd.New(t).Addr, open)
		if _, err := s.Scan(t.Context(), ana, iotest.ErrReader(broken)); !errors.Is(err, broken) || ubl.CodeOf(err) != ubl.CodeInternal {
			t.Errorf("a content that can't be read, open %v: %v", open, err)
		}
		if got := s.Stats(); got != (scan.Stats{}) {
			t.Errorf("a content that can't be read, open %v: the figures are %+v", open, got)
		}
	}
}

// TestNames: what a daemon calls a find goes into ledgers, so it is short and plain.
func TestNames(t *testing.T) {
	for name, want := range map[string]string{
		"Win.Test.EICAR_HDB-1": "Win.Test.EICAR_HDB-1", "a b\"c\\<d>&": "a_b_c__d__", "ß\x01": "__", strings.Repeat("n", 500): strings.Repeat("n", 128),
	} {
		server := clamd.New(t)
		server.Says(func([]byte) string { return "stream: " + name + " FOUND" })
		if found, err := scanner(server.Addr, false).Scan(t.Context(), ana, strings.NewReader("x")); found != want || err != nil {
			t.Errorf("%q is called %q, %v", name, found, err)
		}
	}
}

// stuck is a content that doesn't come in until it may.
type stuck struct {
	begun *atomic.Int64
	until <-chan struct{}
	read  bool
}

func (s *stuck) Read([]byte) (int, error) {
	if !s.read {
		s.begun.Add(1)
		s.read = true
	}
	<-s.until
	return 0, io.EOF
}

// TestTurns: however much one person brings, another's file has its turn, and so has that of another
// tenant, however many people bring something. Who waits in vain isn't let through unseen, since the
// daemon was never asked.
func TestTurns(t *testing.T) {
	eve := ubl.Identity{UserID: "u:eve", TenantID: "t:a"}
	for what, c := range map[string]struct {
		bring []ubl.Identity
		next  ubl.Identity
		most  int64
	}{
		"one person":  {[]ubl.Identity{ana}, bob, 2},
		"many people": {[]ubl.Identity{ana, bob, eve}, ubl.Identity{UserID: "u:ana", TenantID: "t:else.org"}, 3},
	} {
		t.Run(what, func(t *testing.T) {
			s := scanner(clamd.New(t).Addr, true)
			until, begun := make(chan struct{}), new(atomic.Int64)
			var running sync.WaitGroup
			for range 10 {
				for _, of := range c.bring {
					running.Go(func() { _, _ = s.Scan(t.Context(), of, &stuck{begun: begun, until: until}) })
				}
			}
			poll.Until(t, "some are looked into", func() bool { return begun.Load() == c.most })
			ctx, cancel := context.WithTimeout(t.Context(), poll.Patience)
			defer cancel()
			if found, err := s.Scan(ctx, c.next, bytes.NewReader(clamd.EICAR())); found != clamd.Signature || err != nil {
				t.Errorf("the next one's: %q, %v", found, err)
			}
			left, leave := context.WithCancel(t.Context())
			leave()
			if _, err := s.Scan(left, c.bring[0], strings.NewReader("x")); ubl.CodeOf(err) != ubl.CodeOverloaded {
				t.Errorf("who waits in vain: %v", err)
			}
			if got := s.Stats(); begun.Load() != c.most || got != (scan.Stats{Found: 1}) {
				t.Errorf("%d are looked into; the figures are %+v", begun.Load(), got)
			}
			close(until)
			running.Wait()
		})
	}
}

func TestAddress(t *testing.T) {
	for _, address := range []string{"127.0.0.1:3310", "clamd:3310", "unix:/run/clamav/clamd.ctl"} {
		if err := scan.CheckAddress(address); err != nil {
			t.Errorf("%s: %v", address, err)
		}
	}
	for _, address := range []string{"", "clamd", ":3310", "clamd:", "unix:", "unix:clamd.ctl", "/run/clamd.ctl"} {
		if scan.CheckAddress(address) == nil {
			t.Errorf("%q is accepted", address)
		}
	}
}

// TestRealClamd asks ClamAV's own daemon, where it is installed (apt: clamav-daemon), with a database
// of one signature: that of EICAR.
func TestRealClamd(t *testing.T) {
	path, err := exec.LookPath("clamd")
	if err != nil {
		t.Skip("clamd isn't installed")
	}
	dir, err := os.MkdirTemp("", "clamd") // a socket's path is short
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	socket, config := filepath.Join(dir, "s"), filepath.Join(dir, "clamd.conf")
	sum := md5.Sum(clamd.EICAR())
	for name, content := range map[string]string{
		"test.hdb":   fmt.Sprintf("%x:%d:%s\n", sum, len(clamd.EICAR()), "Test.EICAR"),
		"clamd.conf": fmt.Sprintf("DatabaseDirectory %s\nLocalSocket %s\nForeground yes\n", dir, socket),
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	daemon := exec.CommandContext(t.Context(), path, "--config-file", config)
	if err := daemon.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = daemon.Wait() }) // t's context has ended it
	s := scanner("unix:"+socket, false)
	poll.Until(t, "the daemon says what it is", func() bool {
		version, err := s.Version(t.Context())
		return err == nil && strings.HasPrefix(version, "ClamAV ")
	})
	for _, test := range []struct {
		what    string
		content []byte
		want    string
	}{
		{"EICAR", clamd.EICAR(), "Test.EICAR.UNOFFICIAL"},
		{"a text", []byte("hello"), ""},
		{"much", bytes.Repeat([]byte("x"), 300_000), ""},
	} {
		if found, err := s.Scan(t.Context(), ana, bytes.NewReader(test.content)); found != test.want || err != nil {
			t.Errorf("%s: found %q, %v", test.what, found, err)
		}
	}
}

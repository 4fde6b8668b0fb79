package scan_test

import (
	"bytes"
	"context"
	"crypto/md5"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"testing/iotest"

	"ubl"
	"ubl/scan"
	"ubl/test/clamd"
	"ubl/test/poll"
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
				if found, err := s.Scan(t.Context(), bytes.NewReader(test.content)); found != test.want || err != nil {
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
		if found, err := scanner(test.address, false).Scan(t.Context(), bytes.NewReader(content)); found != "" || ubl.CodeOf(err) != test.code {
			t.Errorf("%s: %q, %v", test.what, found, err)
		}
		s := scanner(test.address, true)
		if found, err := s.Scan(t.Context(), bytes.NewReader(content)); found != "" || err != nil {
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
	if _, err := scanner(server.Addr, false).Scan(ctx, strings.NewReader("x")); ubl.CodeOf(err) != ubl.CodeUnavailable {
		t.Errorf("given up: %v", err)
	}
}

// TestBrokenContent: what can't be read says nothing of the daemon.
// So it is never let through.
func TestBrokenContent(t *testing.T) {
	broken := errors.New("the disk is broken")
	for _, open := range []bool{false, true} {
		s := scanner(clamd.New(t).Addr, open)
		if _, err := s.Scan(t.Context(), iotest.ErrReader(broken)); !errors.Is(err, broken) || ubl.CodeOf(err) != ubl.CodeInternal {
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
		if found, err := scanner(server.Addr, false).Scan(t.Context(), strings.NewReader("x")); found != want || err != nil {
			t.Errorf("%q is called %q, %v", name, found, err)
		}
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
		if found, err := s.Scan(t.Context(), bytes.NewReader(test.content)); found != test.want || err != nil {
			t.Errorf("%s: found %q, %v", test.what, found, err)
		}
	}
}

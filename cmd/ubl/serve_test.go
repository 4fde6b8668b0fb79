package main

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/netip"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"go.uber.org/goleak"

	"ubl"
	"ubl/test/leaks"
)

// The server in this process answers, stops when its context ends, and leaves
// no goroutine behind.
func TestServe(t *testing.T) {
	// The app's files are compressed beside the start, which ends by itself, but on a busy
	// machine after the server.
	defer leaks.None(t, goleak.IgnoreCurrent(), goleak.IgnoreAnyFunction("ubl/transport/web.pack"))
	defer http.DefaultClient.CloseIdleConnections()
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	out, in := io.Pipe()
	var errs bytes.Buffer
	done := make(chan int, 1)
	data := filepath.Join(t.TempDir(), "data")
	go func() {
		done <- Run(ctx, []string{"serve", "--data", data, "--listen", "127.0.0.1:0", "--admin-listen", ":0"}, nil, in, &errs, nil)
		_ = in.Close()
	}()
	lines := bufio.NewScanner(out)
	var url, admin string
	for lines.Scan() && lines.Text() != "  ubl rooms" {
		if at, ok := strings.CutPrefix(lines.Text(), "listening on "); ok {
			url = at
		}
		if at, ok := strings.CutPrefix(lines.Text(), "admin on "); ok {
			admin = at
		}
	}
	go func() { _, _ = io.Copy(io.Discard, out) }()
	for path, status := range map[string]int{
		url + "/": 200, url + "/ui/rooms/r:general": 200, url + "/healthz": 200, url + "/readyz": 200, url + "/metrics": 200, url + "/schemas/": 200, url + "/api/openapi.json": 200,
		url + "/api/rooms": 401, url + "/debug/pprof/": 404, admin + "/debug/pprof/": 200, admin + "/metrics": 200, admin + "/api/rooms": 404,
	} {
		resp, err := http.Get(path)
		if err != nil {
			t.Fatal(err)
		}
		_ = resp.Body.Close()
		if resp.StatusCode != status || resp.Header.Get("X-Request-Id") == "" {
			t.Errorf("%s = %d, request id %q; want %d", path, resp.StatusCode, resp.Header.Get("X-Request-Id"), status)
		}
	}
	if !strings.HasPrefix(admin, "http://127.0.0.1:") {
		t.Errorf("the admin address is %s, want it on this machine only", admin)
	}
	stop()
	if code := <-done; code != 0 {
		t.Errorf("exit code %d: %s", code, errs.String())
	}
	if info, err := os.Stat(filepath.Join(data, keyFile)); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("the key: %v, %v", info, err)
	}
}

// A server that is told to stop while it starts does so, whether or not its rooms are
// there by then, and that is no error.
func TestServeStoppedWhileStarting(t *testing.T) {
	ctx, stop := context.WithCancel(t.Context())
	stop()
	data := filepath.Join(t.TempDir(), "data")
	for range 2 {
		var errs bytes.Buffer
		if code := Run(ctx, []string{"serve", "--data", data, "--listen", "127.0.0.1:0"}, nil, io.Discard, &errs, nil); code != 0 || strings.Contains(errs.String(), "ERROR") {
			t.Errorf("exit code %d: %s", code, errs.String())
		}
	}
}

func TestServeWarnsOfOpenDoors(t *testing.T) {
	for _, c := range []struct {
		name, listen, public, admin string
		warnings                    int
	}{
		{"this machine only", "127.0.0.1:0", "", "", 0},
		{"everywhere", "0.0.0.0:0", "", "", 1},
		{"everywhere behind TLS", "0.0.0.0:0", "https://ubl.example", "", 0},
		{"everywhere behind TLS in capitals", "0.0.0.0:0", "HTTPS://Ubl.Example", "", 0},
		{"everywhere behind a plain proxy", "0.0.0.0:0", "http://ubl.example", "", 1},
		{"operators from everywhere", "127.0.0.1:0", "", "0.0.0.0:0", 1},
		{"operators from here", "127.0.0.1:0", "", ":0", 0},
	} {
		cmd := &serveCmd{Listen: c.listen, PublicURL: c.public, AdminListen: c.admin, Owner: "owner@localhost"}
		if err := cmd.check(); err != nil {
			t.Fatal(err)
		}
		d, err := cmd.listen()
		if err != nil {
			t.Fatal(err)
		}
		var log bytes.Buffer
		cmd.greet(&program{out: io.Discard}, d, slog.New(slog.NewTextHandler(&log, nil)))
		d.close()
		if got := strings.Count(log.String(), "level=WARN"); got != c.warnings {
			t.Errorf("%s: %d warnings, want %d: %s", c.name, got, c.warnings, log.String())
		}
	}
}

// A start is receipted once, however often it is tried; the key once, however
// often the node starts.
func TestPlatformActs(t *testing.T) {
	p := &program{now: testNow, random: &counter64{}}
	dir := filepath.Join(t.TempDir(), "data")
	key := testKey(t, p)
	for range 2 {
		n, err := p.openNode(dir, slog.New(slog.DiscardHandler))
		if err != nil {
			t.Fatal(err)
		}
		req, _ := n.request()
		for range 2 {
			if err := n.announceStart(t.Context(), req, key); err != nil {
				t.Fatal(err)
			}
		}
		if err := n.ready(); err != nil {
			t.Error(err)
		}
		if err := n.close(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	_ = p.withNode(t.Context(), dir, func(n *node) error {
		for room, want := range map[ubl.RoomID][]string{
			ubl.OpsRoom:      {"Room created: platform-ops", "Node started", "Node started"},
			ubl.CeremonyRoom: {"Room created: key-ceremony", "Key made: " + key.String()},
		} {
			if got := texts(t, n, room); strings.Join(got, "|") != strings.Join(want, "|") {
				t.Errorf("%s tells %q, want %q", room, got, want)
			}
		}
		return nil
	})
}

// TestReached: the link says localhost only where that is the address.
func TestReached(t *testing.T) {
	for listen, want := range map[string]string{"127.0.0.1:0": "localhost", "127.0.0.2:0": "127.0.0.2", "0.0.0.0:0": "localhost"} {
		ln, err := net.Listen("tcp", listen)
		if err != nil {
			t.Skipf("this machine has no %s: %v", listen, err)
		}
		defer ln.Close()
		_, port, _ := net.SplitHostPort(ln.Addr().String())
		if got := (&serveCmd{}).reached(&doors{main: ln}); got != "http://"+want+":"+port {
			t.Errorf("listening on %s it is reached at %s", ln.Addr(), got)
		}
	}
}

// TestOpenable: the address that is printed can be opened.
func TestOpenable(t *testing.T) {
	for at, want := range map[string]string{"[::]:80": "localhost:80", "0.0.0.0:80": "localhost:80", "127.0.0.1:80": "127.0.0.1:80", "[::1]:80": "[::1]:80", "192.0.2.1:80": "192.0.2.1:80"} {
		if got := openable(net.TCPAddrFromAddrPort(netip.MustParseAddrPort(at))); got != "http://"+want {
			t.Errorf("%s is printed as %s", at, got)
		}
	}
}

// TestTellReady: a node says that it is ready once its start is receipted, and once.
func TestTellReady(t *testing.T) {
	var out bytes.Buffer
	log, lost := slog.New(slog.NewTextHandler(&out, nil)), errors.New("no quorum")
	ready := func() int { return strings.Count(out.String(), "msg=ready") }
	if tellReady(log, nil) != nil || ready() != 1 {
		t.Errorf("at once: %s", out.String())
	}
	out.Reset()
	again := tellReady(log, func(context.Context) error { return lost })
	if err := again(t.Context()); err != lost || ready() != 0 {
		t.Errorf("without a quorum: %v, %s", err, out.String())
	}
	lost = nil
	if err := errors.Join(again(t.Context()), again(t.Context())); err != nil || ready() != 1 {
		t.Errorf("after it: %s", out.String())
	}
}

// TestAddressInUse: who can't listen is told with which flag they choose another address.
func TestAddressInUse(t *testing.T) {
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer ln.Close()
	for flag, c := range map[string]serveCmd{
		"--listen":       {Listen: ln.Addr().String()},
		"--admin-listen": {Listen: "127.0.0.1:0", AdminListen: ln.Addr().String()},
	} {
		if _, err := c.listen(); err == nil || !strings.Contains(nextStep(err), "choose another address: ubl serve "+flag) {
			t.Errorf("%s: %v", flag, err)
		}
	}
}

//go:build linux

package chaos

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// longEnough is how long a packet may be on its way where it must arrive, on a machine
// that has much else to do; soonEnough where it must not.
const (
	longEnough = 20 * time.Second
	soonEnough = 300 * time.Millisecond
)

// reaches reports whether a packet goes from one place to another.
func reaches(t *testing.T, n *namespaces, from, to int, within time.Duration) bool {
	t.Helper()
	var in net.PacketConn
	var out net.Conn
	err := errors.Join(
		n.within(n.place(to), func() (err error) { in, err = net.ListenPacket("udp", n.host(to)+":0"); return err }),
		n.within(n.place(from), func() (err error) { out, err = net.Dial("udp", in.LocalAddr().String()); return err }))
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close()
	defer out.Close()
	if _, err := out.Write([]byte("hello")); err != nil {
		t.Fatal(err)
	}
	_ = in.SetReadDeadline(time.Now().Add(within))
	_, _, err = in.ReadFrom(make([]byte, 16))
	return err == nil
}

// TestNetworkFaults: a cut drops one direction between two nodes and nothing
// else; an unplugged node is alone; both end.
func TestNetworkFaults(t *testing.T) {
	n, err := newNamespaces()
	if err != nil {
		t.Skipf("no network namespaces: %v", err)
	}
	t.Cleanup(func() { must(t, n.close()) })
	for i := 1; i <= 3; i++ {
		must(t, n.add(i))
		_, err := n.addresses(i)
		must(t, err)
	}
	want := func(when string, broken ...[2]int) {
		t.Helper()
		for from := 1; from <= 3; from++ {
			for to := 1; to <= 3; to++ {
				want, within := !contains(broken, from, to), longEnough
				if !want {
					within = soonEnough
				}
				if got := reaches(t, n, from, to, within); got != want {
					t.Errorf("%s: %d reaches %d: %v, want %v", when, from, to, got, want)
				}
			}
		}
	}
	want("at the beginning")
	must(t, n.cut(1, 2))
	want("cut", [2]int{1, 2})
	_, err = n.addresses(1)
	must(t, err)
	want("cut, and moved", [2]int{1, 2})
	must(t, n.join(1, 2))
	must(t, n.unplug(3))
	want("unplugged", [2]int{1, 3}, [2]int{2, 3}, [2]int{3, 1}, [2]int{3, 2})
	must(t, n.plug(3))
	must(t, poll(t.Context(), 10*time.Millisecond, func(context.Context) error { // the device needs a moment
		if !reaches(t, n, 1, 3, soonEnough) {
			return errors.New("3 is not back")
		}
		return nil
	}))
	want("at the end")
}

func contains(pairs [][2]int, from, to int) bool {
	for _, p := range pairs {
		if p == [2]int{from, to} {
			return true
		}
	}
	return false
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// TestSlowLine: what goes over a slow line takes as long as its rate says.
func TestSlowLine(t *testing.T) {
	n, err := newNamespaces()
	if err != nil {
		t.Skipf("no network namespaces: %v", err)
	}
	t.Cleanup(func() { must(t, n.close()) })
	must(t, n.add(1))
	_, err = n.addresses(1)
	must(t, err)
	must(t, n.slow(1, slowness{delay: 200 * time.Millisecond, kbit: 1024}))
	slow := transfer(t, n, 128<<10)
	if slow < 500*time.Millisecond {
		t.Errorf("128 kB took %s over a slow line", slow)
	}
	must(t, n.fast(1))
	ctx, cancel := context.WithTimeout(t.Context(), longEnough)
	defer cancel()
	must(t, poll(ctx, 0, func(context.Context) error { // one try may be slow for the machine's sake
		if took := transfer(t, n, 128<<10); took > slow/2 {
			return fmt.Errorf("128 kB took %s, over a slow line %s", took, slow)
		}
		return nil
	}))
}

// transfer is how long so many bytes take from the clients to node 1.
func transfer(t *testing.T, n *namespaces, size int) time.Duration {
	t.Helper()
	var ln net.Listener
	must(t, n.within(n.place(1), func() (err error) { ln, err = net.Listen("tcp", n.host(1)+":0"); return err }))
	defer ln.Close()
	done := make(chan error, 1)
	go func() {
		conn, err := ln.Accept()
		if err == nil {
			defer conn.Close()
			_, err = io.CopyN(io.Discard, conn, int64(size))
		}
		done <- err
	}()
	began := time.Now()
	conn, err := n.dial(t.Context(), 0, ln.Addr().String())
	must(t, err)
	defer conn.Close()
	_, err = conn.Write(make([]byte, size))
	must(t, errors.Join(err, <-done))
	return time.Since(began)
}

// TestFullDisk: a filled disk takes not one byte more, and a freed one does.
func TestFullDisk(t *testing.T) {
	d, err := newDisk(filepath.Join(t.TempDir(), "disk"))
	if err != nil {
		t.Skip(err)
	}
	t.Cleanup(func() { must(t, d.close()) })
	put := func(name string) error { return os.WriteFile(filepath.Join(d.path, name), []byte("x"), 0o600) }
	must(t, put("one"))
	must(t, d.fill())
	if err := put("two"); !errors.Is(err, unix.ENOSPC) {
		t.Errorf("a write to a full disk gave %v", err)
	}
	must(t, d.free())
	must(t, put("three"))
}

// TestWorlds: nodes alone, in namespaces and on loopback, serve; a paused one
// doesn't, and does again; one that is stopped ends cleanly.
func TestWorlds(t *testing.T) {
	for _, where := range []string{"namespaces", "loopback"} {
		t.Run(where, func(t *testing.T) {
			w := newWorld(t, 1, plan{count: 3, alone: true, loopback: where == "loopback"})
			must(t, w.start(w.all()...))
			ctx, cancel := context.WithTimeout(t.Context(), healTime)
			defer cancel()
			must(t, w.whole(ctx, atRest))
			n := w.node(2)
			must(t, n.signal(syscall.SIGSTOP))
			must(t, poll(ctx, 50*time.Millisecond, func(ctx context.Context) error { // it may answer once more
				if n.ready(ctx) == nil {
					return errors.New("a paused node answers")
				}
				return w.node(1).ready(ctx)
			}))
			must(t, n.signal(syscall.SIGCONT))
			must(t, w.whole(ctx, atRest))
			must(t, n.stop(stopTime))
		})
	}
}

// TestProcessEndsByItself: a process that nobody ended is told.
func TestProcessEndsByItself(t *testing.T) {
	w := newWorld(t, 1, plan{count: 1, alone: true, loopback: true})
	must(t, w.start(w.all()...))
	ctx, cancel := context.WithTimeout(t.Context(), healTime)
	defer cancel()
	must(t, w.whole(ctx, atRest))
	p := w.node(1).running()
	must(t, p.cmd.Process.Kill())
	<-p.ended
	if said := w.complaints(); len(said) != 1 || !strings.Contains(said[0], "n1 ended by itself") {
		t.Errorf("the world said %q", said)
	}
}

// TestSweep: what a crashed run left is removed, what a living one has is not.
func TestSweep(t *testing.T) {
	gone := exec.Command("true")
	must(t, gone.Run())
	dead := fmt.Sprintf("%s%d-", family, gone.ProcessState.Pid())
	left, kept := filepath.Join(os.TempDir(), dead+"world-x"), filepath.Join(os.TempDir(), prefix()+"kept")
	must(t, errors.Join(os.MkdirAll(left, 0o700), os.MkdirAll(kept, 0o700)))
	if _, err := newDisk(filepath.Join(left, "disk")); err != nil {
		t.Log(err)
	}
	if err := ip("netns", "add", dead+"hub"); err != nil {
		t.Log(err)
	}
	must(t, sweepLeftovers())
	for path, want := range map[string]bool{left: false, filepath.Join(netnsDir, dead+"hub"): false, kept: true} {
		if _, err := os.Stat(path); (err == nil) != want {
			t.Errorf("%s is there: %v, want %v", path, err == nil, want)
		}
	}
	must(t, os.Remove(kept))
}

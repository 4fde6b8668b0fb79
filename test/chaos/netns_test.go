//go:build linux

package chaos

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"

	"golang.org/x/sys/unix"
)

// namespaces has a network namespace for each node, and one in the middle, the
// hub, that routes between them. All is inside these namespaces: worlds have
// the same addresses and don't see each other, and nothing of this machine's
// own network changes.
//
//	n1 eth0 10.77.1.2 ── 10.77.1.1 v1 hub v2 10.77.2.1 ── 10.77.2.2 eth0 n2
//
// A routing rule in the hub drops what goes from one node to another: in one
// direction only, without an answer, as a broken network does.
type namespaces struct {
	name string // of the hub; nodes add their number
	mu   sync.Mutex
	ips  map[int]int // how many addresses node i has had
}

const netnsDir = "/run/netns"

// worlds numbers the worlds of this process.
var worlds atomic.Int64

func newNamespaces() (*namespaces, error) {
	n := &namespaces{name: fmt.Sprintf("%s%d-hub", prefix(), worlds.Add(1)), ips: make(map[int]int)}
	err := errors.Join(
		ip("netns", "add", n.name),
		ip("-n", n.name, "link", "set", "lo", "up"))
	if err == nil {
		err = n.within(n.name, func() error { return os.WriteFile("/proc/sys/net/ipv4/ip_forward", []byte("1"), 0) })
	}
	if err != nil {
		return nil, errors.Join(err, n.close())
	}
	return n, nil
}

// ip runs the command of that name.
func ip(args ...string) error { return run("ip", args...) }

func run(name string, args ...string) error {
	if out, err := exec.Command(name, args...).CombinedOutput(); err != nil {
		return fmt.Errorf("%s %s: %w: %s", name, strings.Join(args, " "), err, strings.TrimSpace(string(out)))
	}
	return nil
}

func (n *namespaces) place(i int) string {
	if i == 0 {
		return n.name
	}
	return fmt.Sprintf("%s-n%d", n.name, i)
}

func link(i int) string { return fmt.Sprintf("v%d", i) }

func (n *namespaces) add(i int) error {
	place, gateway := n.place(i), fmt.Sprintf("10.77.%d.1", i)
	for _, args := range [][]string{
		{"netns", "add", place},
		{"link", "add", link(i), "netns", n.name, "type", "veth", "peer", "name", "eth0", "netns", place},
		{"-n", n.name, "addr", "add", gateway + "/24", "dev", link(i)},
		{"-n", n.name, "link", "set", link(i), "up"},
		{"-n", place, "link", "set", "lo", "up"},
		{"-n", place, "link", "set", "eth0", "up"},
	} {
		if err := ip(args...); err != nil {
			return err
		}
	}
	return nil
}

func (n *namespaces) host(i int) string { return fmt.Sprintf("10.77.%d.%d", i, 1+n.ips[i]) }

func (n *namespaces) addresses(i int) (addresses, error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.ips[i]++
	place, host := n.place(i), n.host(i)
	err := errors.Join(
		ip("-n", place, "addr", "flush", "dev", "eth0"),
		ip("-n", place, "addr", "add", host+"/24", "dev", "eth0"),
		ip("-n", place, "route", "add", "default", "via", fmt.Sprintf("10.77.%d.1", i)))
	return addresses{api: host + ":8080", admin: host + ":9090", cluster: host + ":7946"}, err
}

func (n *namespaces) start(i int, cmd *exec.Cmd) error { return n.within(n.place(i), cmd.Start) }

func (n *namespaces) dial(ctx context.Context, i int, address string) (conn net.Conn, err error) {
	err = n.within(n.place(i), func() error {
		conn, err = new(net.Dialer).DialContext(ctx, "tcp", address)
		return err
	})
	return conn, err
}

func (n *namespaces) listen(last int) (all []net.Listener, at string, err error) {
	at = "127.0.0.1:7000"
	for i := 1; i <= last && err == nil; i++ {
		err = n.within(n.place(i), func() error {
			ln, err := net.Listen("tcp", at)
			all = append(all, ln)
			return err
		})
	}
	return all, at, err
}

func (n *namespaces) beside(i int) (ln net.Listener, at string, err error) {
	at = "127.0.0.1:7001"
	err = n.within(n.place(i), func() (err error) {
		ln, err = net.Listen("tcp", at)
		return err
	})
	return ln, at, err
}

// within calls do on a thread that is in the namespace. A socket, and a process,
// stays in the namespace where it was made.
func (n *namespaces) within(place string, do func() error) error {
	runtime.LockOSThread()
	home, err := os.Open(fmt.Sprintf("/proc/self/task/%d/ns/net", unix.Gettid()))
	if err != nil {
		runtime.UnlockOSThread()
		return err
	}
	defer home.Close()
	there, err := os.Open(filepath.Join(netnsDir, place))
	if err != nil {
		runtime.UnlockOSThread()
		return err
	}
	defer there.Close()
	if err := unix.Setns(int(there.Fd()), unix.CLONE_NEWNET); err != nil {
		runtime.UnlockOSThread()
		return err
	}
	err = do()
	if back := unix.Setns(int(home.Fd()), unix.CLONE_NEWNET); back != nil {
		return errors.Join(err, back) // still locked: the thread ends with its goroutine and harms nobody
	}
	runtime.UnlockOSThread()
	return err
}

func (n *namespaces) close() error {
	entries, err := os.ReadDir(netnsDir)
	errs := []error{err}
	for _, e := range entries {
		if strings.HasPrefix(e.Name(), n.name) {
			errs = append(errs, ip("netns", "del", e.Name()))
		}
	}
	return errors.Join(errs...)
}

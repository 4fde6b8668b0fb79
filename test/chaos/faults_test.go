//go:build linux

package chaos

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"strconv"
	"syscall"
	"time"
)

// fault is one kind of trouble for one node.
type fault struct {
	name string
	// lacks says why it can't be had for the node; "" where it can.
	lacks func(n *node) string
	// strike does it and returns how it is undone. Undoing need not wait until
	// the node is well again.
	strike func(ctx context.Context, n *node, draw *rand.Rand) (undo func() error, err error)
	// holds is how long it lasts, about.
	holds time.Duration
	// rank is how often it is drawn, against the others.
	rank int
	// kind is what it is about: two of one kind don't befall a node at once.
	kind kind
	// alone says that a replica is lost for good: until another took its place
	// nothing else may happen.
	alone bool
}

type kind int

const (
	ofLine kind = iota
	ofRate
	ofDisk
	ofClock
	ofProcess // last, so that its undoing comes first
)

func (f fault) why(n *node) string {
	if f.lacks == nil {
		return ""
	}
	return f.lacks(n)
}

// faults are all kinds that befall one node.
func faults() []fault {
	return []fault{
		{name: "kill", kind: ofProcess, strike: kill, holds: time.Second, rank: 4},
		{name: "pause", kind: ofProcess, strike: stopContinue, holds: 2 * time.Second, rank: 3},
		{name: "restart", kind: ofProcess, strike: restart, holds: 100 * time.Millisecond, rank: 2},
		{name: "torn write", kind: ofProcess, lacks: needsLog, strike: tornWrite, holds: 500 * time.Millisecond, rank: 3},
		{name: "sealed log", kind: ofProcess, lacks: needsLog, strike: sealedLog, holds: 500 * time.Millisecond, rank: 1},
		{name: "power loss", kind: ofProcess, lacks: needsMark, strike: powerLoss, holds: 500 * time.Millisecond, rank: 3},
		{name: "cut off from its peers", kind: ofLine, lacks: needsCuts, strike: cutOff, holds: 3 * time.Second, rank: 3},
		{name: "unplugged", kind: ofLine, lacks: needsCuts, strike: unplug, holds: 3 * time.Second, rank: 2},
		{name: "deaf to its peers", kind: ofLine, lacks: needsCuts, strike: deaf, holds: 3 * time.Second, rank: 2},
		{name: "mute to its peers", kind: ofLine, lacks: needsCuts, strike: mute, holds: 3 * time.Second, rank: 2},
		{name: "deaf to one peer", kind: ofLine, lacks: needsCuts, strike: deafToOne, holds: 3 * time.Second, rank: 2},
		{name: "slow line", kind: ofRate, lacks: needsNet, strike: slowLine, holds: 4 * time.Second, rank: 2},
		{name: "full disk", kind: ofDisk, lacks: needsDisk, strike: fullDisk, holds: 3 * time.Second, rank: 3},
		{name: "clock jump", kind: ofClock, lacks: needsClock, strike: clockJump, holds: 4 * time.Second, rank: 2},
		{name: "lost disk", alone: true, kind: ofProcess, lacks: needsPeers, strike: lostDisk, holds: 500 * time.Millisecond, rank: 1},
		{name: "leave and join", alone: true, kind: ofProcess, lacks: needsPeers, strike: leaveAndJoin, holds: 500 * time.Millisecond, rank: 1},
	}
}

func needsDisk(n *node) string {
	if n.disk == nil {
		return "its disk is not a small one"
	}
	return ""
}

func needsClock(n *node) string {
	if !n.world.hasClock {
		return "the program's clock can't be moved: build it with -tags chaos"
	}
	return ""
}

func needsPeers(n *node) string {
	if n.world.alone {
		return "nobody else has the data"
	}
	return ""
}

// kill ends the process with no chance to tidy up.
func kill(_ context.Context, n *node, _ *rand.Rand) (func() error, error) {
	n.kill()
	return func() error { return n.start() }, nil
}

// stopContinue pauses the process: it misses everything, and knows nothing of it
// when it wakes up.
func stopContinue(_ context.Context, n *node, _ *rand.Rand) (func() error, error) {
	if err := n.signal(syscall.SIGSTOP); err != nil {
		return nil, err
	}
	return func() error { return n.signal(syscall.SIGCONT) }, nil
}

// stopTime is how long a node may take to hand over, drain and end.
const stopTime = 40 * time.Second

// restart stops the node as its operator would.
func restart(_ context.Context, n *node, _ *rand.Rand) (func() error, error) {
	if err := n.stop(stopTime); err != nil {
		return nil, err
	}
	return func() error { return n.start() }, nil
}

// fullDisk leaves the node no room to write.
func fullDisk(_ context.Context, n *node, _ *rand.Rand) (func() error, error) {
	if err := n.disk.fill(); err != nil {
		return nil, err
	}
	return n.disk.free, nil
}

// clockJump moves the node's clock, forth or back by up to two hours.
func clockJump(ctx context.Context, n *node, draw *rand.Rand) (func() error, error) {
	jump := between(draw, 5*time.Second, 2*time.Hour)
	if draw.IntN(2) == 0 {
		jump = -jump
	}
	undo := func() error { return n.setClock(0) }
	if err := n.setClock(jump); err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeoutCause(ctx, deadline, errors.New("the clock doesn't jump"))
	defer cancel()
	return undo, poll(ctx, 100*time.Millisecond, func(ctx context.Context) error { return n.clockIs(ctx, jump) })
}

// clockIs wants the node's clock to be off by so much, as its answers tell. A
// node that can't answer now, for another fault, can't tell.
func (n *node) clockIs(ctx context.Context, off time.Duration) error {
	var out struct {
		ServerTime time.Time `json:"server_time"`
	}
	asking, cancel := context.WithTimeout(ctx, 2*time.Second)
	defer cancel()
	err := n.world.operator().try(asking, n, "GET", "/api/whoami", "", nil, &out)
	if err != nil {
		return nil
	}
	if (time.Until(out.ServerTime) - off).Abs() > 10*time.Second {
		return fmt.Errorf("the clock of %s is off by %s, want %s", n, time.Until(out.ServerTime), off)
	}
	return nil
}

// setClock says how far the clock of the node is off. The process looks within
// a second.
func (n *node) setClock(off time.Duration) error {
	next := n.clockPath() + ".next"
	if err := os.WriteFile(next, []byte(fmt.Sprint(int64(off))), 0o600); err != nil {
		return err
	}
	return os.Rename(next, n.clockPath())
}

// setClockAhead has the clock be off by so much at least. What is begun under a clock that goes
// back then waits until it has caught up, or until its actor is asked for something.
func (n *node) setClockAhead(by time.Duration) error {
	off, err := os.ReadFile(n.clockPath())
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return n.setClock(by)
	case err != nil:
		return err
	}
	is, err := strconv.ParseInt(string(off), 10, 64)
	if err != nil || time.Duration(is) >= by {
		return err
	}
	return n.setClock(by)
}

// lostDisk has the node come back with an empty one.
func lostDisk(_ context.Context, n *node, _ *rand.Rand) (func() error, error) {
	n.kill()
	if err := n.wipe(); err != nil {
		return nil, err
	}
	return func() error { return n.start() }, nil
}

// leaveAndJoin removes the node as its operator would, and has it join again as
// a new one.
func leaveAndJoin(ctx context.Context, n *node, _ *rand.Rand) (func() error, error) {
	ctx, cancel := context.WithTimeout(ctx, healTime)
	defer cancel()
	if err := n.world.remove(ctx, n); err != nil {
		return nil, fmt.Errorf("couldn't remove %s: %w", n, err)
	}
	n.kill()
	if err := n.wipe(); err != nil {
		return nil, err
	}
	return func() error {
		err := n.start()
		n.world.admit(true, n)
		return err
	}, nil
}

// remove takes a node out of the cluster while it runs. It may end by itself.
func (w *world) remove(ctx context.Context, n *node) error {
	w.admit(false, n)
	n.expectEnd()
	err := w.operator().ask(ctx, "DELETE", "/api/platform/cluster/nodes/"+n.id+"?keep=2", "", nil, nil)
	if err != nil {
		return err
	}
	return poll(ctx, 50*time.Millisecond, func(ctx context.Context) error {
		s, err := w.status(ctx)
		if err == nil && lists(s, n.id) {
			err = fmt.Errorf("%s is still a member", n)
		}
		return err
	})
}

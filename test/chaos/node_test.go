//go:build linux

package chaos

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"
)

// node is a server of the world: a place in the network, a data directory, and
// a process while one runs.
type node struct {
	world *world
	index int // from 1
	id    string
	home  string // holds the data, the log, the clock
	disk  *disk  // nil where the data is on the machine's own disk
	// secret and flags are what this node is told besides what all are.
	secret string
	flags  []string
	// hook is where it reaches the web hook.
	hook    string
	endHook func() error
	// founder says that its first start joins nobody.
	founder bool

	mu      sync.Mutex
	at      addresses
	member  bool // clients use it
	proc    *process
	started int
}

// process is one run of a node.
type process struct {
	cmd   *exec.Cmd
	ended chan struct{} // closed once it is reaped
	err   error         // of Wait, after ended
	meant bool          // somebody ended it; owned by node.mu
}

func (n *node) String() string    { return n.id }
func (n *node) data() string      { return filepath.Join(n.base(), "data") }
func (n *node) logPath() string   { return filepath.Join(n.home, "log") }
func (n *node) clockPath() string { return filepath.Join(n.home, "clock") }

func (n *node) base() string {
	if n.disk != nil {
		return n.disk.path
	}
	return n.home
}

func (n *node) addresses() addresses {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.at
}

// running is the process, or nil.
func (n *node) running() *process {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.proc
}

// args is the command line of the node's next start.
func (n *node) args() []string {
	at := n.addresses()
	args := []string{"serve", "--data", n.data(), "--listen", at.api, "--admin-listen", at.admin,
		"--operator", operator, "--owner", operator, "--log-format", "json", "--limit=all=0"}
	for p := range partitions {
		args = append(args, "--domain", domain(p))
	}
	if !n.world.alone {
		args = append(args, "--node-id", n.id, "--cluster-listen", at.cluster, "--cluster-timeout", n.world.silence.String())
		if others := n.world.clusterAddresses(n); len(others) > 0 && !n.founder {
			args = append(args, "--join", strings.Join(others, ","))
		}
	}
	return append(append(args, n.world.flags...), n.flags...)
}

// env is the environment without what an outer UBL would be told.
func (n *node) env(more ...string) []string {
	env := slices.DeleteFunc(os.Environ(), func(v string) bool { return strings.HasPrefix(v, "UBL_") })
	if !n.world.alone {
		env = append(env, "UBL_CLUSTER_SECRET="+n.secret)
	}
	if n.world.hasClock {
		env = append(env, "UBL_CHAOS_CLOCK="+n.clockPath())
	}
	return append(append(env, "UBL_COUNTER_HOOK="+n.hook), more...)
}

// start runs the node; env is for this run only. It doesn't wait.
func (n *node) start(env ...string) error {
	log, err := os.OpenFile(n.logPath(), os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600)
	if err != nil {
		return err
	}
	defer log.Close() // the process has its own
	cmd := exec.Command(n.world.binary, n.args()...)
	cmd.Env, cmd.Stdout, cmd.Stderr = n.env(env...), log, log
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.proc != nil {
		return fmt.Errorf("%s runs already", n)
	}
	if n.world.life.Err() != nil { // else nobody would end it
		return context.Cause(n.world.life)
	}
	if err := n.world.net.start(n.index, cmd); err != nil {
		return fmt.Errorf("couldn't start %s: %w", n, err)
	}
	n.started++
	n.founder = false // from now on it knows whom to join
	n.proc = &process{cmd: cmd, ended: make(chan struct{})}
	go n.reap(n.proc)
	return nil
}

// outOfRoom is the exit code that says: the disk is full; free some space, then start
// again.
const outOfRoom = 75

// metFullDisk reports whether a process ended for lack of room on its small disk.
func (n *node) metFullDisk(err error) bool {
	exit, ok := errors.AsType[*exec.ExitError](err)
	return ok && n.disk != nil && exit.ExitCode() == outOfRoom
}

// startAgain does as systemd does with a start that failed: it tries once more, after
// a while. A process that finds no room again is reaped, and so on.
func (n *node) startAgain() {
	if pause(n.world.life, time.Second); n.world.life.Err() != nil {
		return
	}
	if err := n.start(); err != nil && n.world.life.Err() == nil {
		n.world.complain("%s doesn't start again: %v", n, err)
	}
}

// reap waits for a process. One that nobody ended is a failure of the test, unless its
// start found no room on the disk.
func (n *node) reap(p *process) {
	err := p.cmd.Wait()
	n.mu.Lock()
	p.err = err
	if n.proc == p {
		n.proc = nil
	}
	meant := p.meant
	n.mu.Unlock()
	full := n.metFullDisk(err)
	if !meant && !full {
		n.world.complain("%s ended by itself: %v\n%s", n, err, n.logTail())
	}
	close(p.ended)
	if !meant && full {
		n.startAgain()
	}
}

// expectEnd says that the process may end from now on, and gives it.
func (n *node) expectEnd() *process {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.proc != nil {
		n.proc.meant = true
	}
	return n.proc
}

// kill ends the process as kill -9 does; one that doesn't run stays so.
func (n *node) kill() {
	if p := n.expectEnd(); p != nil {
		_ = p.cmd.Process.Kill()
		<-p.ended
	}
}

// stop asks the process to end, and says what is wrong with how it did.
func (n *node) stop(within time.Duration) error {
	p := n.expectEnd()
	if p == nil {
		return fmt.Errorf("%s doesn't run", n)
	}
	if err := p.cmd.Process.Signal(syscall.SIGTERM); err != nil {
		return err
	}
	return n.waitEnd(p, within)
}

// waitEnd wants the process to end cleanly in time, or for lack of room on the disk.
func (n *node) waitEnd(p *process, within time.Duration) error {
	select {
	case <-n.world.life.Done():
		return context.Cause(n.world.life)
	case <-p.ended:
		if n.metFullDisk(p.err) {
			return nil
		}
		if p.err != nil {
			return fmt.Errorf("%s didn't stop cleanly: %w\n%s", n, p.err, n.logTail())
		}
		return nil
	case <-time.After(within):
		n.kill()
		return fmt.Errorf("%s didn't stop within %s\n%s", n, within, n.logTail())
	}
}

// signal sends SIGSTOP or SIGCONT.
func (n *node) signal(s syscall.Signal) error {
	p := n.running()
	if p == nil {
		return fmt.Errorf("%s doesn't run", n)
	}
	return p.cmd.Process.Signal(s)
}

// wipe empties the data directory of a node that doesn't run.
func (n *node) wipe() error { return os.RemoveAll(n.data()) }

func (n *node) logText() string {
	text, _ := os.ReadFile(n.logPath()) // none before the first start
	return string(text)
}

// logTail is the end of what the node printed, without its access log: little
// enough that what failed is still seen above it (CHAOS_KEEP keeps all of it).
func (n *node) logTail() string {
	var lines []string
	for line := range strings.Lines(n.logText()) {
		if !strings.Contains(line, `"msg":"request"`) {
			lines = append(lines, line)
		}
	}
	return strings.Join(lines[max(0, len(lines)-12):], "")
}

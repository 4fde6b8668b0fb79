package stdio

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"ubl"
	"ubl/confine"
)

const (
	// politeFor is how long a child has for its end, once its input has ended and again once it
	// was asked.
	politeFor = time.Second
	// writeTimeout bounds one write: a child that doesn't read would hold up whoever writes.
	writeTimeout = 10 * time.Second
	// lastOut is how long what a child has said is read after its end.
	lastOut = time.Second
)

// Child is a program that runs. Read and Write are its standard output and input; one of each may
// be under way.
type Child struct {
	in, out *os.File
	cmd     *exec.Cmd
	words   tail
	over    chan struct{}
	killed  atomic.Bool // its end was meant
	ending  sync.Once

	mu     sync.Mutex
	reaped bool // its number may be another's
}

// Job is what a child is started for.
type Job struct {
	Tenant  ubl.TenantID
	Server  string // for the log
	Command string
	Secret  string // the owner's, "" for none
	// Redact takes secrets out of a child's last words, for the log.
	Redact func(string) string
}

// Start starts a command for a server of a tenant. Whoever gets the child ends it. Errors are
// overloaded where there are too many children, and unavailable.
func (r *Runner) Start(job Job) (*Child, error) {
	c, ok := r.Find(job.Tenant, job.Command)
	if !ok {
		return nil, ubl.Errorf(ubl.CodeUnavailable, "the operator of this node doesn't allow the command")
	}
	if !r.turns.Try(job.Tenant) {
		return nil, ubl.Errorf(ubl.CodeOverloaded, "too many commands are running").Later(5 * time.Second)
	}
	child, folder, err := r.prepare(c, job)
	if err == nil {
		err = r.run(c, child, folder, job)
	}
	if err != nil {
		r.turns.Give(job.Tenant)
		r.o.Log.Error("couldn't run a command", "tenant", job.Tenant, "server", job.Server, "command", job.Command, "error", err)
		return nil, ubl.Errorf(ubl.CodeUnavailable, "the command couldn't be run: the operator's log says why").Because(err)
	}
	return child, nil
}

// prepare makes the folder and the process, which doesn't run yet.
func (r *Runner) prepare(c *Command, job Job) (child *Child, folder string, err error) {
	who, err := c.runsAs()
	if err != nil {
		return nil, "", err
	}
	if folder, err = os.MkdirTemp("", "ubl-command-"); err != nil {
		return nil, "", fmt.Errorf("couldn't make a folder: %w", err)
	}
	if who != nil {
		err = os.Chown(folder, who.uid, who.gid)
	}
	isolated := cmp.Or(c.Isolation, Isolated) == Isolated
	l := launch{
		Memory: cmp.Or(c.Memory, 1<<30), CPU: uint64((cmp.Or(c.CPU, 10*time.Minute) + time.Second - 1) / time.Second),
		Processes: uint64(cmp.Or(c.Processes, 64)), Folder: folder, Isolated: isolated,
	}
	if isolated {
		l.Hidden = r.o.Hidden
	}
	told, failed := json.Marshal(l)
	if err = errors.Join(err, failed); err != nil {
		return nil, "", errors.Join(err, os.RemoveAll(folder))
	}
	child = &Child{over: make(chan struct{}), cmd: process(r.path, string(told), c.Argv)}
	child.cmd.Env, child.cmd.Dir, child.cmd.Stderr = c.environment(folder, job.Secret), folder, &child.words
	child.cmd.WaitDelay = lastOut
	confine.Apart(child.cmd)
	child.cmd.Cancel = nil // it has no context
	restrict(child.cmd, c, who)
	return child, folder, nil
}

// run starts the process and waits for its end, on a thread of its own: the kernel kills a child when the
// thread that started it ends.
func (r *Runner) run(c *Command, child *Child, folder string, job Job) error {
	theirIn, in, err := os.Pipe()
	if err != nil {
		return errors.Join(err, os.RemoveAll(folder))
	}
	out, theirOut, err := os.Pipe()
	if err != nil {
		return errors.Join(err, theirIn.Close(), in.Close(), os.RemoveAll(folder))
	}
	child.in, child.out, child.cmd.Stdin, child.cmd.Stdout = in, out, theirIn, theirOut
	started := make(chan error)
	r.o.Panics.Go(nil, "waiting for a command", func() {
		runtime.LockOSThread() // never unlocked: the thread ends with the child
		err := child.cmd.Start()
		theirIn.Close()
		theirOut.Close()
		if err != nil {
			in.Close()
			out.Close()
			err = errors.Join(err, os.RemoveAll(folder))
		}
		started <- err
		if err == nil {
			r.await(c, child, folder, job)
		}
	})
	return <-started
}

// await waits for a child's end, and leaves nothing of it.
func (r *Runner) await(c *Command, child *Child, folder string, job Job) {
	defer r.turns.Give(job.Tenant)
	defer close(child.over)
	ended(child.cmd)
	err := child.reap()
	_ = child.out.SetReadDeadline(time.Now().Add(lastOut))
	_ = child.in.Close()
	if failed := os.RemoveAll(folder); failed != nil {
		r.o.Log.Warn("couldn't remove a command's folder", "error", failed)
	}
	say, words := r.o.Log.Warn, child.words.String()
	if child.meant() {
		say = r.o.Log.Debug
	}
	for _, secret := range c.Hidden(job.Secret) {
		words = without(words, secret)
	}
	if job.Redact != nil {
		words = job.Redact(words)
	}
	say("a command has ended", "tenant", job.Tenant, "server", job.Server, "command", job.Command, "state", child.cmd.ProcessState, "error", err, "last_words", ubl.Plain(words))
}

// meant reports whether the child, which was told to end, has ended in a way that comes of that. One that
// breaks down is told to end too, by those who can't read from it any more.
func (c *Child) meant() bool {
	return c.killed.Load() && slices.Contains([]string{"exit status 0", "signal: killed", "signal: terminated"}, c.cmd.ProcessState.String())
}

// reap ends what the child has started, and lets go of its number.
func (c *Child) reap() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	_ = confine.Signal(c.cmd, syscall.SIGKILL)
	c.reaped = true
	return c.cmd.Wait()
}

// signal sends one to the child and all of its group.
func (c *Child) signal(signal syscall.Signal) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.reaped {
		_ = confine.Signal(c.cmd, signal)
	}
}

// Read implements [io.Reader].
func (c *Child) Read(b []byte) (int, error) { return c.out.Read(b) }

// Write implements [io.Writer]. It never takes long; one that fails leaves the child of no use.
func (c *Child) Write(b []byte) (int, error) {
	if err := c.in.SetWriteDeadline(time.Now().Add(writeTimeout)); err != nil {
		return 0, err
	}
	return c.in.Write(b)
}

// Done is closed when the child has ended, with all of its group.
func (c *Child) Done() <-chan struct{} { return c.over }

// Close ends the child: its input ends, then it is asked, then it is killed. It returns when
// nothing is left.
func (c *Child) Close() error {
	c.ending.Do(func() {
		c.killed.Store(true)
		_ = c.in.Close()
		for _, signal := range []syscall.Signal{syscall.SIGTERM, syscall.SIGKILL} {
			timer := time.NewTimer(politeFor)
			select {
			case <-c.over:
			case <-timer.C:
				c.signal(signal)
			}
			timer.Stop()
		}
	})
	<-c.over
	return c.out.Close()
}

// Kill ends the child at once, with all of its group.
func (c *Child) Kill() {
	c.killed.Store(true)
	c.signal(syscall.SIGKILL)
}

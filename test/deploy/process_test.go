package deploy

import (
	"os/exec"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"ubl/test/built"
)

func TestMain(m *testing.M) { built.Main(m) }

// process is one that runs in the place of a container.
type process struct {
	t    *testing.T
	name string
	args []string
	env  []string
	cmd  *exec.Cmd
	log  *tail
}

func newProcess(t *testing.T, name string, args, env []string) *process {
	p := &process{t: t, name: name, args: args, env: env, log: &tail{}}
	t.Cleanup(func() {
		if p.cmd != nil {
			p.kill()
		}
		if t.Failed() {
			t.Logf("the end of what %s said:\n%s", name, p.log)
		}
	})
	return p
}

// start runs it with its own environment and nothing of ours.
func (p *process) start() {
	p.t.Helper()
	p.cmd = exec.Command(p.args[0], p.args[1:]...)
	p.cmd.Env = p.env
	p.cmd.Stdout, p.cmd.Stderr = p.log, p.log
	if err := p.cmd.Start(); err != nil {
		p.cmd = nil
		p.t.Fatalf("couldn't start %s: %v", p.name, err)
	}
}

// kill ends it as a power cut would.
func (p *process) kill() {
	_ = p.cmd.Process.Kill()
	_ = p.cmd.Wait()
	p.cmd = nil
}

// stop asks it to end, as docker and systemd do, and wants exit code 0 within
// their grace period.
func (p *process) stop() {
	p.t.Helper()
	_ = p.cmd.Process.Signal(syscall.SIGTERM)
	done := make(chan error, 1)
	go func(cmd *exec.Cmd) { done <- cmd.Wait() }(p.cmd)
	select {
	case err := <-done:
		if err != nil {
			p.t.Errorf("%s didn't stop cleanly: %v", p.name, err)
		}
		p.cmd = nil
	case <-time.After(90 * time.Second):
		p.t.Errorf("%s doesn't stop", p.name)
	}
}

// tail keeps the end of what a process printed.
type tail struct {
	mu  sync.Mutex
	buf []byte
}

func (w *tail) Write(b []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.buf = append(w.buf, b...)
	w.buf = w.buf[max(0, len(w.buf)-16<<10):]
	return len(b), nil
}

func (w *tail) String() string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return string(w.buf)
}

// run runs a command of the program, with this environment and nothing of ours,
// and returns what it printed.
func run(t *testing.T, env []string, args ...string) string {
	t.Helper()
	cmd := exec.Command(built.Path(t), args...)
	cmd.Env = append([]string{}, env...)
	var errs strings.Builder
	cmd.Stderr = &errs
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("ubl %s: %v\n%s", strings.Join(args, " "), err, errs.String())
	}
	return string(out)
}

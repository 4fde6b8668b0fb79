package script

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"os/exec"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"ubl/confine"
)

// process is a child as its runner has it. It belongs to one run.
type process struct {
	cmd *exec.Cmd
	in  io.WriteCloser
	out *bufio.Reader
	// last is what it said on standard error.
	last head
}

// spawn starts a child, which ends with ctx.
func (r *Runner) spawn(ctx context.Context) (*process, error) {
	c := &process{cmd: exec.CommandContext(ctx, r.o.Path, argument)}
	c.cmd.Env, c.cmd.Dir = []string{}, "/"
	c.cmd.Stderr, c.cmd.WaitDelay = &c.last, time.Second
	confine.Apart(c.cmd)
	var err error
	if c.in, err = c.cmd.StdinPipe(); err != nil {
		return nil, err
	}
	out, err := c.cmd.StdoutPipe()
	if err != nil {
		return nil, errors.Join(err, c.in.Close())
	}
	c.out = bufio.NewReaderSize(out, 16<<10)
	return c, c.cmd.Start()
}

var errCalls = errors.New("the program makes more calls than it may")

// converse does the child's calls until it ends. An error says that it didn't end by itself; what
// it had said until then is in the outcome.
func (c *process) converse(ctx context.Context, first start, maxCalls int, do Do) (*Outcome, error) {
	out := &Outcome{Log: []string{}}
	if err := writeLine(c.in, first); err != nil {
		return out, err
	}
	return out, follow(ctx, c.out, c.in, out, maxCalls, do)
}

// follow reads what a child says, and answers it. It trusts nothing of that.
func follow(ctx context.Context, from *bufio.Reader, to io.Writer, out *Outcome, maxCalls int, do Do) error {
	calls, logged := 0, 0
	for {
		var n note
		if err := readLine(from, maxNote, &n); err != nil {
			return err
		}
		switch {
		case !n.valid():
			return errLine
		case n.Log != nil:
			if logged += len(*n.Log); logged > MaxLog+len(cutNote) || len(out.Log) > maxLogLines {
				return errLine
			}
			out.Log = append(out.Log, *n.Log)
		case n.End != nil:
			out.Result, out.Failure = json.RawMessage(n.End.Result), n.End.Failure
			return nil
		default:
			if calls++; n.Call.N != calls {
				return errLine
			}
			if calls > maxCalls {
				return errCalls
			}
			if err := writeLine(to, done(ctx, n.Call, do)); err != nil {
				return err
			}
		}
	}
}

// done does a call.
func done(ctx context.Context, c *asked, do Do) answer {
	value, problem := do(ctx, Call{c.N, c.Tool, json.RawMessage(c.Arguments)})
	if problem == nil && !jsontext.Value(value).IsValid() {
		problem = &Problem{Code: "internal", Message: "the call was made, and its answer is no JSON"}
	}
	if len(value) > MaxAnswer || problem != nil && len(problem.Result) > MaxAnswer {
		value, problem = nil, &Problem{Code: "too_large", Message: "the call was made, and its answer is too large for a program: ask for less"}
	}
	if problem != nil {
		return answer{N: c.N, Problem: problem}
	}
	return answer{N: c.N, Value: jsontext.Value(value)}
}

// autopsy is why a child that has ended didn't come to the program's end.
func (c *process) autopsy(cpu time.Duration) Reason {
	state, words := c.cmd.ProcessState, c.last.Bytes()
	said := func(what string) bool { return bytes.Contains(words, []byte(what)) }
	switch {
	case state == nil:
		return StoppedCrashed
	case state.ExitCode() == exitMemory, said("out of memory"), said("cannot allocate memory"), said("failed to create new OS thread"):
		return StoppedMemory
	case said("stack exceeds"), said("stack overflow"):
		return StoppedStack
	case state.ExitCode() == exitCPU, state.UserTime()+state.SystemTime() > cpu:
		return StoppedCPU
	case state.String() == "signal: killed": // by a kernel that had no memory left
		return StoppedMemory
	}
	return StoppedCrashed
}

// head keeps the beginning of what is written.
type head struct{ bytes.Buffer }

const maxHead = 4 << 10

func (h *head) Write(p []byte) (int, error) {
	h.Buffer.Write(p[:min(len(p), max(0, maxHead-h.Len()))])
	return len(p), nil
}

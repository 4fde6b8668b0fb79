// Package proc runs the processes of the benchmark: servers, which tell their
// address when they are ready and are stopped by their process id, and
// commands, which print one JSON value.
package proc

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"time"
)

const (
	startTimeout = 60 * time.Second // until a server tells its address
	stopTimeout  = 30 * time.Second // between SIGTERM and SIGKILL
)

// Spec says how to start a server.
type Spec struct {
	Name    string // for messages
	Path    string
	Args    []string
	Host    string                                   // HOST:PORT where the arguments say it; then Address is not used, and Start returns at once
	Address func(line string) (host string, ok bool) // finds HOST:PORT in a line of output
	Control bool                                     // the address comes on file descriptor 3, not on standard output
	LogDir  string                                   // where its standard error is kept; whoever made it removes it
}

// ListeningOn finds the address in the line that UBL and the Go peers print.
func ListeningOn(line string) (host string, ok bool) {
	_, host, ok = strings.Cut(line, "listening on http://")
	return strings.TrimRight(strings.TrimSpace(host), "/"), ok
}

// Server is a running server.
type Server struct {
	Host    string    // HOST:PORT
	Started time.Time // just before the process was made
	name    string
	cmd     *exec.Cmd
	log     string // the file of its standard error
	exited  chan struct{}
}

// Start starts a server and returns when it has told its address.
//
// Its standard error goes to a file, as a service's log does: were it a pipe,
// this process would wake for every line a server logs and take time from it.
func Start(ctx context.Context, spec Spec) (*Server, error) {
	s := &Server{name: spec.Name, cmd: exec.Command(spec.Path, spec.Args...), exited: make(chan struct{})}
	told, err := s.begin(spec)
	if err != nil {
		return nil, fmt.Errorf("couldn't start %s: %w", spec.Name, err)
	}
	if s.Host = spec.Host; s.Host != "" {
		return s, nil
	}
	select {
	case s.Host = <-told:
		if s.Host != "" {
			return s, nil
		}
		err = errors.New("it ended or closed its output without telling an address")
	case <-time.After(startTimeout):
		err = errors.New("it told no address in time")
	case <-ctx.Done():
		err = ctx.Err()
	}
	return nil, errors.Join(fmt.Errorf("couldn't start %s: %w", spec.Name, err), s.Stop(), s.Complaint())
}

// begin makes the process; the channel tells its address, or "" when it ends
// without one.
func (s *Server) begin(spec Spec) (<-chan string, error) {
	log, err := os.CreateTemp(spec.LogDir, "log-")
	if err != nil {
		return nil, fmt.Errorf("couldn't make a log: %w", err)
	}
	defer log.Close() // the process has its own, and of the pipe, too
	s.log = log.Name()
	reader, writer, err := os.Pipe()
	if err != nil {
		return nil, fmt.Errorf("couldn't make a pipe: %w", err)
	}
	defer writer.Close()
	s.cmd.Stderr = log
	if spec.Control {
		s.cmd.ExtraFiles = []*os.File{writer}
	} else {
		s.cmd.Stdout = writer
	}
	s.Started = time.Now()
	if err := s.cmd.Start(); err != nil {
		reader.Close()
		return nil, err
	}
	go func() {
		s.cmd.Wait() // how it ended shows in the exchange that it broke
		close(s.exited)
	}()
	told := make(chan string, 1)
	address := spec.Address
	if spec.Host != "" {
		address = func(string) (string, bool) { return "", false }
	}
	go scan(reader, address, told)
	return told, nil
}

// scan tells the first address found, or "" at the end, and keeps reading, so
// that the server never blocks on its output.
func scan(reader io.ReadCloser, address func(string) (string, bool), told chan<- string) {
	defer reader.Close()
	lines := bufio.NewScanner(reader)
	for lines.Scan() {
		if host, ok := address(lines.Text()); ok {
			told <- host
			io.Copy(io.Discard, reader)
			return
		}
	}
	told <- ""
}

// Pid is the server's process id.
func (s *Server) Pid() int { return s.cmd.Process.Pid }

// Exited is closed when the process has ended, for whatever reason.
func (s *Server) Exited() <-chan struct{} { return s.exited }

// Kill ends the process as a crash would, without a chance to do anything, and
// returns when it is gone.
func (s *Server) Kill() error {
	if err := s.cmd.Process.Kill(); err != nil {
		return fmt.Errorf("couldn't kill %s: %w", s.name, err)
	}
	<-s.exited
	return nil
}

// Pause stops the process where it is, without a word to anybody; Resume lets it go on.
func (s *Server) Pause() error { return s.signal(syscall.SIGSTOP, "pause") }

// Resume: see Pause.
func (s *Server) Resume() error { return s.signal(syscall.SIGCONT, "resume") }

func (s *Server) signal(signal syscall.Signal, to string) error {
	if err := s.cmd.Process.Signal(signal); err != nil {
		return fmt.Errorf("couldn't %s %s: %w", to, s.name, err)
	}
	return nil
}

// Complaint is the end of what the server has logged, or nil.
func (s *Server) Complaint() error {
	text, err := os.ReadFile(s.log)
	if err != nil {
		return fmt.Errorf("couldn't read its log: %w", err)
	}
	text = bytes.TrimSpace(text)
	if len(text) == 0 {
		return nil
	}
	return fmt.Errorf("its log ends with: %s", text[max(0, len(text)-shownErrors):])
}

// Stop asks the server to end, and makes it after a while. It returns when the
// process is gone.
func (s *Server) Stop() error {
	s.cmd.Process.Signal(syscall.SIGTERM) // fails only where it has ended
	select {
	case <-s.exited:
		return nil
	case <-time.After(stopTimeout):
	}
	s.cmd.Process.Kill()
	<-s.exited
	return fmt.Errorf("%s did not stop within %s and was killed", s.name, stopTimeout)
}

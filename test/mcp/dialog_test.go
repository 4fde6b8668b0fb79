package mcp_test

import (
	"bufio"
	"io"
	"strings"
	"testing"
	"time"
)

// dialog is a program of node that is spoken with, line by line.
type dialog struct {
	in    io.WriteCloser
	lines chan string
}

// dialog starts one, which ends with the test.
func (b toolbox) dialog(t *testing.T, args ...string) *dialog {
	t.Helper()
	return b.dialogBeside(t, t.Output(), args...)
}

// dialogBeside is dialog of one whose errors are told to a writer.
func (b toolbox) dialogBeside(t *testing.T, stderr io.Writer, args ...string) *dialog {
	t.Helper()
	cmd := b.command(t, args...)
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	cmd.Stderr = stderr
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		in.Close()
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	})
	d := &dialog{in: in, lines: make(chan string, 100)}
	go func() {
		defer close(d.lines)
		s := bufio.NewScanner(out)
		s.Buffer(nil, 16<<20) // a list of tools is one line
		for s.Scan() {
			d.lines <- s.Text()
		}
	}()
	return d
}

func (d *dialog) say(t *testing.T, line string) {
	t.Helper()
	if _, err := io.WriteString(d.in, line+"\n"); err != nil {
		t.Fatal(err)
	}
}

// wants waits for a line that has this in it, and answers it.
func (d *dialog) wants(t *testing.T, want string) string {
	t.Helper()
	late := time.After(time.Minute)
	for {
		select {
		case line, ok := <-d.lines:
			if !ok {
				t.Fatalf("it ended before %s", want)
			}
			if strings.Contains(line, want) {
				return line
			}
		case <-late:
			t.Fatalf("it doesn't say %s", want)
		}
	}
}

package proc

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"sync"
	"syscall"
)

// keptErrors is how many bytes of standard error are kept for messages, and
// shownErrors how many of them a message shows.
const (
	keptErrors  = 2000
	shownErrors = 300
)

// JSON runs a command to its end and decodes its standard output into v.
func JSON(ctx context.Context, v any, env []string, path string, args ...string) error {
	output, err := Output(ctx, env, path, args...)
	if err != nil {
		return err
	}
	if err := json.Unmarshal(output, v); err != nil {
		return fmt.Errorf("couldn't decode what it printed: %w: %.200s", err, output)
	}
	return nil
}

// Output runs a command to its end and returns its standard output. When ctx
// is done, it is asked to end and killed a while later.
func Output(ctx context.Context, env []string, path string, args ...string) ([]byte, error) {
	cmd := exec.CommandContext(ctx, path, args...)
	cmd.Env = append(os.Environ(), env...)
	cmd.Cancel = func() error { return cmd.Process.Signal(syscall.SIGTERM) }
	cmd.WaitDelay = stopTimeout
	var stdout bytes.Buffer
	stderr := &tail{}
	cmd.Stdout, cmd.Stderr = &stdout, stderr
	if err := cmd.Run(); err != nil {
		return nil, fmt.Errorf("%w%s", err, stderr.message())
	}
	return stdout.Bytes(), nil
}

// tail keeps the last bytes written to it.
type tail struct {
	mu   sync.Mutex
	kept []byte
}

func (t *tail) Write(p []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.kept = append(t.kept, p...)
	if extra := len(t.kept) - keptErrors; extra > 0 {
		t.kept = append(t.kept[:0], t.kept[extra:]...)
	}
	return len(p), nil
}

func (t *tail) message() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	text := bytes.TrimSpace(t.kept)
	if len(text) == 0 {
		return ""
	}
	return fmt.Sprintf(": %s", text[max(0, len(text)-shownErrors):])
}

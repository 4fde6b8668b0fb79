package stdio

import (
	"strings"
	"sync"
	"time"
)

// maxTail is how much of what a child says on standard error is kept: the end.
const maxTail = 2 << 10

// minSecret is how long a value is at least to be taken out of what a child says.
const minSecret = 4

const (
	// pace is how many bytes of a child's standard error are read in a second, burst for how long
	// a silent one saves them up. One that says more waits: to read as fast as it can write
	// would take a processor.
	pace  = 1 << 20
	burst = 8 * time.Second
)

// tail keeps the end of what is written, at a pace. Safe for concurrent use.
type tail struct {
	mu   sync.Mutex
	kept []byte
	cut  bool
	due  time.Time // when all that was written may have been, at the pace
}

// Write implements [io.Writer].
func (t *tail) Write(p []byte) (int, error) {
	time.Sleep(t.keep(p))
	return len(p), nil
}

// keep takes in what is written, and answers how long the writer is to wait.
func (t *tail) keep(p []byte) time.Duration {
	t.mu.Lock()
	defer t.mu.Unlock()
	if all := append(t.kept, p[max(0, len(p)-maxTail):]...); len(all) > maxTail || len(p) > maxTail {
		t.kept, t.cut = append([]byte(nil), all[max(0, len(all)-maxTail):]...), true
	} else {
		t.kept = all
	}
	now := time.Now()
	if oldest := now.Add(-burst); t.due.Before(oldest) {
		t.due = oldest
	}
	t.due = t.due.Add(time.Duration(len(p)) * time.Second / pace)
	return t.due.Sub(now)
}

// String is what was kept, from the beginning of a line: part of a secret can't be told from other
// text.
func (t *tail) String() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	text := string(t.kept)
	if t.cut {
		_, text, _ = strings.Cut(text, "\n")
	}
	return strings.TrimSpace(strings.ToValidUTF8(text, ""))
}

// without is a text without a secret.
func without(text, secret string) string {
	if len(secret) < minSecret {
		return text
	}
	return strings.ReplaceAll(text, secret, "[secret]")
}

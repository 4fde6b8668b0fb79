package stdio

import (
	"strings"
	"sync"
)

// maxTail is how much of what a child says on standard error is kept: the end.
const maxTail = 2 << 10

// minSecret is how long a value is at least to be taken out of what a child says.
const minSecret = 4

// tail keeps the end of what is written. Safe for concurrent use.
type tail struct {
	mu   sync.Mutex
	kept []byte
	cut  bool
}

// Write implements [io.Writer].
func (t *tail) Write(p []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if all := append(t.kept, p[max(0, len(p)-maxTail):]...); len(all) > maxTail || len(p) > maxTail {
		t.kept, t.cut = append([]byte(nil), all[max(0, len(all)-maxTail):]...), true
	} else {
		t.kept = all
	}
	return len(p), nil
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

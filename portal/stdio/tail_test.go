package stdio

import (
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// TestStandardErrorIsPaced: reading all that a program can write would take the node a processor. Who
// says much at its start is not held up.
func TestStandardErrorIsPaced(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var words tail
		piece := []byte(strings.Repeat("noise\n", 1<<10))
		write := func(size int) time.Duration {
			began := time.Now()
			for n := 0; n < size; n += len(piece) {
				_, _ = words.Write(piece)
			}
			return time.Since(began)
		}
		if took := write(6 << 20); took > 0 {
			t.Errorf("the first 6 MiB took %v", took)
		}
		if took := write(64 << 20); took < 30*time.Second {
			t.Errorf("64 MiB took %v", took)
		}
		if _, _ = words.Write([]byte("the end\n")); !strings.HasSuffix(words.String(), "noise\nthe end") {
			t.Errorf("its last words are %q", words.String())
		}
	})
}

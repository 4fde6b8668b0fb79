package main

import (
	"log/slog"
	"os"
	"strings"
	"testing"
)

// TestWarnWritable: the operator hears of a data directory that anybody may write into,
// and of no other.
func TestWarnWritable(t *testing.T) {
	for mode, warns := range map[os.FileMode]bool{0o777: true, 0o703: true, 0o700: false, 0o755: false, 0o770: false} {
		dir := t.TempDir()
		if err := os.Chmod(dir, mode); err != nil {
			t.Fatal(err)
		}
		var said strings.Builder
		warnWritable(slog.New(slog.NewTextHandler(&said, nil)), dir)
		if warned := strings.Contains(said.String(), "chmod 700"); warned != warns {
			t.Errorf("of %v the log says %q", mode, said.String())
		}
	}
}

package main

import (
	"bytes"
	"errors"
	"fmt"
	"strings"
	"testing"

	"ubl/storage"
)

// TestFullDiskExit: a full disk has an exit code of its own, and the message says
// what to do; other failures keep theirs.
func TestFullDiskExit(t *testing.T) {
	stopped := errors.Join(errors.New("couldn't receipt the stop"), fmt.Errorf("partition 6: %w", storage.ErrFull))
	for _, c := range []struct {
		err  error
		code int
		says []string
	}{
		{fullHint("/data", stopped), exitFull, []string{"/data is full", "Nothing that was acknowledged is lost", "Free some space, then start again", "partition 6"}},
		{openHint("/data", stopped), exitFull, []string{"Free some space, then start again"}},
		{fullHint("/data", storage.ErrDamaged), exitFailed, []string{"damaged"}},
		{fullHint("/data", nil), exitOK, nil},
	} {
		var out bytes.Buffer
		code := (&program{err: &out}).report(c.err)
		if code != c.code {
			t.Errorf("%v: exit code %d, want %d", c.err, code, c.code)
		}
		for _, want := range c.says {
			if !strings.Contains(out.String(), want) {
				t.Errorf("%q doesn't say %q", out.String(), want)
			}
		}
	}
}

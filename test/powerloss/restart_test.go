//go:build powerloss

package powerloss

import (
	"bytes"
	"syscall"
	"testing"
)

// TestFailedSyncThenRestart: a sync that fails leaves its pages clean in the
// cache, and no later sync writes them unless they change again. So the meta page
// of the failed commit is not on the disk, though the process that is started
// again reads it. What that one acknowledges must not build on it.
func TestFailedSyncThenRestart(t *testing.T) {
	r := newRig(t, 77)
	r.quiet = true
	e := r.open()
	for range 2 { // the second are in the journal only
		if err := r.write(e, groupOf(0), 20); err != nil {
			t.Fatal(err)
		}
	}
	n := 0
	r.fail = func(_ int, file string) error {
		if file == partitionFile {
			n++
		}
		if n == 2 { // that of the meta page
			return syscall.EIO
		}
		return nil
	}
	if _, err := headOf(e, groupOf(0)); err == nil {
		t.Fatal("a failed commit was read")
	}
	if err := e.Close(); err != nil {
		t.Fatal(err)
	}
	cached, onDisk := r.current().partition, r.synced.partition
	r.fail = nil
	e = r.open() // by the same machine
	defer e.Close()
	if err := r.verify(e, r.promised()); err != nil {
		t.Fatal(err)
	}
	if err := r.write(e, groupOf(1), 3); err != nil {
		t.Fatal(err)
	}
	now := r.current().partition
	image := disk{bytes.Clone(now), r.synced.journal, r.synced.mark}
	for at := 0; at < len(cached); at += pageSize {
		if bytes.Equal(now[at:at+pageSize], cached[at:at+pageSize]) { // not written again
			copy(image.partition[at:at+pageSize], onDisk[at:min(len(onDisk), at+pageSize)])
		}
	}
	r.check("power loss after the restart", image, r.promised())
}

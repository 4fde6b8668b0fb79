package main

import (
	"bytes"
	"errors"
	"io"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"ubl"
	"ubl/storage"
)

// smallDisk is a directory on a disk of its own.
func smallDisk(t *testing.T, size string) string {
	t.Helper()
	disk := t.TempDir()
	if out, err := exec.CommandContext(t.Context(), "mount", "-t", "tmpfs", "-o", "size="+size, "tmpfs", disk).CombinedOutput(); err != nil {
		t.Skipf("a small file system can't be mounted here: %v: %s", err, bytes.TrimSpace(out))
	}
	t.Cleanup(func() {
		if err := exec.Command("umount", disk).Run(); err != nil {
			t.Error(err)
		}
	})
	return disk
}

// TestDegraded: a node whose disk is full says that it isn't ready, and that it still
// serves; with room again it is ready.
func TestDegraded(t *testing.T) {
	disk := smallDisk(t, "256m")
	p := &program{now: testNow, random: &counter64{}}
	n, err := p.openNode(filepath.Join(disk, "data"), slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = n.close(t.Context()) }()
	key := testKey(t, p)
	tell := func() error {
		req, _ := n.request()
		return n.announceStart(t.Context(), req, key)
	}
	if err := tell(); err != nil {
		t.Fatal(err)
	}
	if err := n.ready(); err != nil {
		t.Errorf("with room on the disk: %v", err)
	}
	ballast := filepath.Join(disk, "ballast")
	f, err := os.Create(ballast)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := io.Copy(f, zeros{}); err == nil {
		t.Fatal("the disk doesn't fill up")
	}
	_ = f.Close()
	for _, state := range []struct{ when, says string }{{"before a write", "less than 64 MiB left"}, {"after one", "the disk is full"}} {
		when := state.when
		if err := n.ready(); ubl.CodeOf(err) != ubl.CodeUnavailable || !strings.Contains(err.Error(), state.says) {
			t.Errorf("on a full disk, %s: ready says %v", when, err)
		}
		if err := n.serves(); err != nil {
			t.Errorf("on a full disk, %s: it doesn't serve: %v", when, err)
		}
		for range 50 { // the files have a few pages to spare
			if err = tell(); err != nil {
				break
			}
		}
		if !errors.Is(err, storage.ErrFull) {
			t.Errorf("on a full disk a write gave %v", err)
		}
	}
	if err := os.Remove(ballast); err != nil {
		t.Fatal(err)
	}
	if err := tell(); err != nil {
		t.Errorf("with room again a write gave %v", err)
	}
	if err := n.ready(); err != nil {
		t.Errorf("with room again: %v", err)
	}
}

type zeros struct{}

func (zeros) Read(b []byte) (int, error) { clear(b); return len(b), nil }

// TestLastBackup: the metric of the last backup is 0 before the first, and survives a
// restart, and the status has the same time.
func TestLastBackup(t *testing.T) {
	p := &program{now: testNow, random: &counter64{}, out: io.Discard, err: io.Discard}
	dir := t.TempDir()
	for _, want := range []int64{0, testNow().Unix(), testNow().Unix()} {
		err := p.withNode(t.Context(), dir, func(n *node) error {
			if got := n.lastBackup.Load(); got != want {
				t.Errorf("the last backup was at %d, want %d", got, want)
			}
			status, err := alone{n}.Status(t.Context())
			if err != nil {
				return err
			}
			if at := status.Nodes[0].BackupAt; (at == nil) != (want == 0) || at != nil && *at != ubl.TimeOf(testNow().Truncate(time.Second)) {
				t.Errorf("the node says that the last backup was at %v, want %d", at, want)
			}
			if want != 0 {
				return nil
			}
			if err := n.backup(t.Context(), brokenWriter{}, "a test", nil); err == nil || n.lastBackup.Load() != 0 {
				t.Errorf("a backup that failed (%v) counts", err)
			}
			return n.backup(t.Context(), io.Discard, "a test", nil)
		})
		if err != nil {
			t.Fatal(err)
		}
	}
}

type brokenWriter struct{}

func (brokenWriter) Write([]byte) (int, error) { return 0, errors.New("the line is cut") }

package main

import (
	"bytes"
	"io"
	"log/slog"
	"path/filepath"
	"slices"
	"testing"

	"ubl"
	"ubl/storage"
)

// TestRestoreIsReceiptedLater: a restore that was killed before it could be
// receipted is receipted by whoever opens the directory next, once.
func TestRestoreIsReceiptedLater(t *testing.T) {
	p := &program{random: &counter64{}, now: testNow, out: io.Discard, err: io.Discard}
	var archive bytes.Buffer
	err := p.withNode(t.Context(), t.TempDir(), func(n *node) error { return n.backup(t.Context(), &archive, "a test", nil) })
	if err != nil {
		t.Fatal(err)
	}
	dir := filepath.Join(t.TempDir(), "copy")
	if err := storage.Restore(t.Context(), &archive, dir, &storage.Options{Random: p.random, Now: p.now}, nil); err != nil {
		t.Fatal(err)
	}
	for range 3 {
		n, err := p.openNode(dir, slog.New(slog.DiscardHandler))
		if err != nil {
			t.Fatal(err)
		}
		if err := n.announceStart(t.Context(), ubl.Request{Who: ubl.Platform(), ID: "req:a", Key: "a"}, testKey(t, p)); err != nil {
			t.Error(err)
		}
		told := texts(t, n, ubl.OpsRoom)
		if i := slices.Index(told, "Restored from a backup"); i < 0 || i > slices.Index(told, "Node started") || slices.Contains(told[i+1:], told[i]) {
			t.Errorf("the room tells %q", told)
		}
		if err := n.close(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
}

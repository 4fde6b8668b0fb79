package main

import (
	"bytes"
	"errors"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"filippo.io/age"

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

// TestSpoiledEncryptedBackup: wherever an encrypted backup is damaged, a restore says so,
// or that it may be another key's, and leaves nothing behind.
func TestSpoiledEncryptedBackup(t *testing.T) {
	p := &program{random: &counter64{}, now: testNow, out: io.Discard, err: io.Discard}
	identity, err := age.GenerateX25519Identity()
	if err != nil {
		t.Fatal(err)
	}
	keys := filepath.Join(t.TempDir(), "age.key")
	if err := os.WriteFile(keys, []byte(identity.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	var sealed bytes.Buffer
	err = p.withNode(t.Context(), t.TempDir(), func(n *node) error {
		return encrypted(&sealed, []age.Recipient{identity.Recipient()}, func(w io.Writer) error { return n.backup(t.Context(), w, "a test", nil) })
	})
	if err != nil {
		t.Fatal(err)
	}
	size := sealed.Len()
	for name, test := range map[string]struct {
		spoil func(b []byte) []byte
		says  string
	}{
		"the first line":   {flipAt(3), "its beginning is damaged"},
		"the recipient":    {otherLetterAt(50), "another key"},
		"the header's end": {otherLetterAt(bytes.Index(sealed.Bytes(), []byte("--- ")) + 8), "damaged or cut short"},
		"the first chunk":  {flipAt(1000), "damaged or cut short"},
		"the last chunk":   {flipAt(size - 20), "damaged or cut short"},
		"its end":          {func(b []byte) []byte { return b[:size/2] }, "damaged or cut short"},
	} {
		file, dir := filepath.Join(t.TempDir(), "backup.age"), filepath.Join(t.TempDir(), "new")
		if err := os.WriteFile(file, test.spoil(bytes.Clone(sealed.Bytes())), 0o600); err != nil {
			t.Fatal(err)
		}
		cmd := &restoreCmd{decryption: decryption{DecryptWith: keys}, File: file, Data: dir, Quiet: true}
		if err := cmd.Run(t.Context(), p); err == nil || !strings.Contains(err.Error(), test.says) {
			t.Errorf("%s: the restore says %v", name, err)
		}
		if _, err := os.Stat(dir); !errors.Is(err, os.ErrNotExist) {
			t.Errorf("%s: the refused restore leaves its directory: %v", name, err)
		}
	}
}

// otherLetterAt leaves base64 what it was.
func otherLetterAt(at int) func([]byte) []byte {
	return func(b []byte) []byte {
		if b[at] == 'A' {
			b[at] = 'B'
		} else {
			b[at] = 'A'
		}
		return b
	}
}

func flipAt(at int) func([]byte) []byte {
	return func(b []byte) []byte {
		b[at] ^= 1
		return b
	}
}

package main

import (
	"bytes"
	"errors"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"ubl"
)

// TestSpoiled: a node that has met damage is degraded until a scrub finds all sound,
// says where the damage is in its log, and a backup then says that data is damaged.
func TestSpoiled(t *testing.T) {
	dir := t.TempDir()
	var log bytes.Buffer
	p := &program{now: testNow, random: &counter64{}}
	n := started(t, p, dir)
	err := n.close(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	// It opens with all committed: what a commit writes later is sound.
	if n, err = p.openNode(dir, slog.New(slog.NewTextHandler(&log, nil))); err != nil {
		t.Fatal(err)
	}
	defer func() { _ = n.close(t.Context()) }()
	if err := n.ready(); err != nil {
		t.Fatalf("with sound data: %v", err)
	}
	spoil(t, dir, "Node started")
	err = n.backup(t.Context(), io.Discard, "a test", nil)
	if e := ubl.AsError(err); e.Code != ubl.CodeInternal || e.Message != "stored data is damaged" {
		t.Errorf("a backup of damaged data says %v", err)
	}
	n.store.ScrubOnce(t.Context())
	if err := n.ready(); ubl.CodeOf(err) != ubl.CodeUnavailable || !strings.Contains(err.Error(), "degraded: stored data is damaged in 1 partition,") {
		t.Errorf("with damage, ready says %v", err)
	}
	if err := n.serves(); err != nil {
		t.Errorf("with damage it doesn't serve: %v", err)
	}
	if !strings.Contains(log.String(), "does not match its checksum") {
		t.Errorf("the log has no place: %s", log.String())
	}
}

// TestSpoiledStart: a node alone starts with a damaged page, also where tenant 0 is what
// is damaged, and is degraded at once. A file whose pages don't add up is refused with
// what to do.
func TestSpoiledStart(t *testing.T) {
	dir := t.TempDir()
	p := &program{now: testNow, random: &counter64{}}
	key := testKey(t, p)
	for start := range 2 {
		var log bytes.Buffer
		n, err := p.openNode(dir, slog.New(slog.NewTextHandler(&log, nil)))
		if err != nil {
			t.Fatal(err)
		}
		ready := n.ready()
		again, err := n.start(t.Context(), key)
		if err = errors.Join(err, n.close(t.Context())); err != nil {
			t.Fatal(err)
		}
		told := strings.Contains(log.String(), "does not match its checksum")
		if damaged := start > 0; damaged != (ubl.CodeOf(ready) == ubl.CodeUnavailable) || damaged != told || damaged != (again != nil) {
			t.Errorf("start %d: ready says %v, the start is told again: %t, the log: %s", start, ready, again != nil, log.String())
		}
		spoil(t, dir, "Node started")
	}
	f, err := os.OpenFile(filepath.Join(dir, "store", "partition-3.db"), os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	if _, err = f.WriteAt([]byte("x"), 40); errors.Join(err, f.Close()) != nil {
		t.Fatal(err)
	}
	if _, err = p.openNode(dir, slog.New(slog.DiscardHandler)); err == nil || !strings.Contains(err.Error(), "partition-3.db") ||
		!strings.Contains(err.Error(), "ubl scrub --data "+dir) || !strings.Contains(err.Error(), "UBLDamage") {
		t.Errorf("a damaged meta page: %v", err)
	}
	var out, errs bytes.Buffer
	code := Run(t.Context(), []string{"export", "--data", dir, "--tenant", string(ubl.CoreTenant)}, strings.NewReader(""), &out, &errs, nil)
	if _, err := ubl.Verify(&out, ubl.VerifyOptions{}); err != nil || code != 0 {
		t.Errorf("an export of a ledger in a sound partition: %d, %v, %s", code, err, &errs)
	}
}

// spoil flips a bit of a text wherever a data directory's files have it.
func spoil(t *testing.T, dir, text string) {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(dir, "store", "partition-*.db"))
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range files {
		f, err := os.OpenFile(path, os.O_RDWR, 0)
		if err != nil {
			t.Fatal(err)
		}
		data, err := io.ReadAll(f)
		if err != nil {
			t.Fatal(err)
		}
		for from := 0; ; {
			at := bytes.Index(data[from:], []byte(text))
			if at < 0 {
				break
			}
			if _, err := f.WriteAt([]byte{text[0] ^ 1}, int64(from+at)); err != nil {
				t.Fatal(err)
			}
			from += at + len(text)
		}
		if err := f.Close(); err != nil {
			t.Fatal(err)
		}
	}
}

package actors_test

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"ubl"
	"ubl/storage"
	"ubl/test/harness"
	"ubl/test/soak"
)

var alone = &storage.Options{Partitions: 1}

// answers are everything that a tenant's members can read, by the ways of a server: two
// rooms from either end, and the export. Each is whole, or an error.
type answers map[string][]string

func tellAll(t *testing.T, h *harness.House, ana ubl.Identity) answers {
	t.Helper()
	all := answers{}
	tell := func(way string, read func() ([]string, error)) {
		lines, err := read()
		if err != nil {
			if !errors.Is(err, ubl.ErrDamaged) {
				t.Errorf("%s: an error that doesn't say what is wrong: %v", way, err)
			}
			return
		}
		all[way] = lines
	}
	for _, id := range []ubl.RoomID{"r:general", "r:plans"} {
		name := ubl.RoomName(ana.TenantID, id)
		tell("history of "+string(id), func() ([]string, error) { return backwards(t, h, name, ana) })
		tell("stream of "+string(id), func() ([]string, error) { return forwards(t, h, name, ana) })
	}
	tell("export", func() ([]string, error) { return exported(t, h, ana.TenantID) })
	return all
}

func backwards(t *testing.T, h *harness.House, room ubl.Name, ana ubl.Identity) (lines []string, err error) {
	for before := int64(0); ; {
		page, err := ubl.Ask[*ubl.HistoryPage](t.Context(), h, room, ubl.ReadHistory{Who: ana, Before: before, Limit: 7})
		if err != nil {
			return nil, err
		}
		lines = append(texts(page.Messages), lines...)
		if page.NextCursor == nil {
			return lines, nil
		}
		before = *page.NextCursor
	}
}

func forwards(t *testing.T, h *harness.House, room ubl.Name, ana ubl.Identity) (lines []string, err error) {
	for after := int64(0); ; {
		page, err := ubl.Ask[*ubl.HistoryPage](t.Context(), h, room, ubl.ReadHistory{Who: ana, After: &after, Limit: 7})
		if err != nil {
			return nil, err
		}
		lines = append(lines, texts(page.Messages)...)
		if len(page.Messages) == 0 || page.LastSeq >= page.Head.LastSeq {
			return lines, nil
		}
		after = page.LastSeq
	}
}

func exported(t *testing.T, h *harness.House, tenant ubl.TenantID) (lines []string, err error) {
	ledger := ubl.LedgerName(tenant)
	for {
		page, err := ubl.Ask[*ubl.AtomPage](t.Context(), h, ledger, ubl.ReadAtoms{From: int64(len(lines)) + 1, Limit: 50})
		if err != nil {
			return nil, err
		}
		lines = append(lines, texts(page.Atoms)...)
		if int64(len(lines)) >= page.Head.Seq || len(page.Atoms) == 0 {
			return lines, nil
		}
	}
}

func texts[T ~[]byte](list []T) (lines []string) {
	for _, raw := range list {
		lines = append(lines, string(raw))
	}
	return lines
}

// TestFlippedBit: whatever bit of the data of a node alone is flipped, it starts and
// answers what is right and whole, or an error with the place; or it doesn't start. What
// it acknowledges is kept, and nothing that could be read before a write is lost by it.
func TestFlippedBit(t *testing.T) {
	h := harness.Open(t, harness.Options{Storage: alone})
	ana := harness.User("ana@acme.com")
	h.Enter(ana)
	h.Enter(harness.User("bob@acme.com"))
	harness.Must[*ubl.RoomSummary](h, ubl.TenantName(ana.TenantID), ubl.CreateRoom{Request: h.Request(ana), Name: "plans"})
	for i := range 30 {
		for _, id := range []ubl.RoomID{"r:general", "r:plans"} {
			text := fmt.Sprintf("message %d %s", i, strings.Repeat("x", i%5*900))
			harness.Must[*ubl.Sent](h, ubl.RoomName(ana.TenantID, id), ubl.SendMessage{Request: h.Request(ana), Text: text})
		}
	}
	truth := tellAll(t, h, ana)
	h.Close()
	file, err := os.ReadFile(filepath.Join(h.Dir, "store", "partition-0.db"))
	if err != nil {
		t.Fatal(err)
	}
	used := len(bytes.TrimRight(file, "\x00"))
	served, rounds := 0, soak.Of(30, 2000)
	seed := soak.Seed(t, "UBL_FLIP_SEED", 12)
	for round := range rounds {
		r := rand.New(rand.NewPCG(seed, uint64(round)))
		at, bit := r.IntN(used), r.IntN(8)
		if round%3 == 0 { // the structure at the beginning of a page
			at = at/4096*4096 + r.IntN(64)
		}
		dir := flipped(t, h.Dir, at, bit)
		e, err := storage.Open(dir, alone)
		if errors.Is(err, ubl.ErrDamaged) {
			continue
		}
		if err = errors.Join(err, e.Close()); err != nil {
			t.Fatal(err)
		}
		served++
		t.Run(fmt.Sprintf("bit %d of byte %d of page %d", bit, at%4096, at/4096), func(t *testing.T) { live(t, dir, ana, truth) })
	}
	if served < rounds/4 {
		t.Errorf("only %d of %d damaged stores are served", served, rounds)
	}
}

// flipped is a copy of a data directory with one bit of its partition's file flipped.
func flipped(t *testing.T, dir string, at, bit int) string {
	t.Helper()
	to := t.TempDir()
	if err := os.CopyFS(to, os.DirFS(dir)); err != nil {
		t.Fatal(err)
	}
	f, err := os.OpenFile(filepath.Join(to, "store", "partition-0.db"), os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	b := make([]byte, 1)
	if _, err := f.ReadAt(b, int64(at)); err != nil {
		t.Fatal(err)
	}
	b[0] ^= 1 << bit
	if _, err := f.WriteAt(b, int64(at)); err != nil {
		t.Fatal(err)
	}
	return to
}

// live reads, writes, and reads again after a restart.
func live(t *testing.T, dir string, ana ubl.Identity, truth answers) {
	h := harness.Open(t, harness.Options{Dir: dir, Storage: alone})
	first := tellAll(t, h, ana)
	first.begins(t, truth, nil)
	if err := h.Engine.Backup(t.Context(), io.Discard, nil); err == nil && len(first) < len(truth) {
		t.Error("a backup of what can't be read gives no error")
	} else if err != nil && !errors.Is(err, ubl.ErrDamaged) {
		t.Errorf("a backup: an error that doesn't say what is wrong: %v", err)
	}
	var sent []string
	for i := range 3 {
		text := fmt.Sprintf("sent %d", i)
		if _, err := h.Ask(t.Context(), ubl.RoomName(ana.TenantID, "r:general"), ubl.SendMessage{Request: h.Request(ana), Text: text}); err == nil {
			sent = append(sent, text)
		}
	}
	h.Restart()
	second := tellAll(t, h, ana)
	second.begins(t, truth, sent)
	for way := range first {
		if _, ok := second[way]; !ok {
			t.Errorf("after writes %s can't be read any more", way)
		}
	}
}

// begins sees that what is told begins with the truth, and has the messages that were
// acknowledged since.
func (all answers) begins(t *testing.T, truth answers, sent []string) {
	t.Helper()
	for way, lines := range all {
		if want := truth[way]; len(lines) < len(want) || !slices.Equal(lines[:len(want)], want) {
			t.Errorf("%s has %d lines where %d are true, or others, and no error", way, len(lines), len(want))
		}
		for _, text := range sent {
			if strings.Contains(way, "r:general") && !strings.Contains(strings.Join(lines, "\n"), text) {
				t.Errorf("%s lacks an acknowledged message, and no error", way)
			}
		}
	}
}

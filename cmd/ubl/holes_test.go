package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"log/slog"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/synctest"

	"ubl"
)

// coreLedger is a data directory in which tenant 0's ledger has a few dozen atoms, and that
// ledger's export.
func coreLedger(t *testing.T) (dir, export string) {
	t.Helper()
	dir = t.TempDir()
	p := &program{now: testNow, random: &counter64{}}
	key := testKey(t, p)
	for range 5 {
		n, err := p.openNode(dir, slog.New(slog.DiscardHandler))
		if err != nil {
			t.Fatal(err)
		}
		req, _ := n.request()
		err = n.announceStart(t.Context(), req, key)
		if err = errors.Join(err, n.close(t.Context())); err != nil {
			t.Fatal(err)
		}
	}
	code, export, said := exported(t, dir)
	if code != exitOK {
		t.Fatalf("a sound ledger: %d %s", code, said)
	}
	return dir, export
}

func exported(t *testing.T, dir string) (code int, export, said string) {
	t.Helper()
	var out, errs bytes.Buffer
	code = Run(t.Context(), []string{"export", "--data", dir, "--tenant", string(ubl.CoreTenant)}, strings.NewReader(""), &out, &errs, nil)
	return code, out.String(), errs.String()
}

// TestExportCutShort: of a partition's file that was cut short an export says why nothing can
// be read, and doesn't advise what has just failed.
func TestExportCutShort(t *testing.T) {
	dir, _ := coreLedger(t)
	files, err := filepath.Glob(filepath.Join(dir, "store", "partition-*.db"))
	for _, path := range files {
		err = errors.Join(err, os.Truncate(path, 8192)) // the meta pages
	}
	if err != nil {
		t.Fatal(err)
	}
	code, export, said := exported(t, dir)
	if code != exitFailed || export != "" || !strings.Contains(said, "nothing of this partition can be read: its root page lies beyond the end of the file") ||
		strings.Contains(said, "panic") || strings.Contains(said, "ubl export") || !strings.Contains(said, "ubl scrub --data "+dir) {
		t.Errorf("%d %s%s", code, export, said)
	}
}

// flip changes a bit of a text in each partition's file that has it.
func flip(t *testing.T, dir string, text []byte) {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(dir, "store", "partition-*.db"))
	if err != nil {
		t.Fatal(err)
	}
	changed := false
	for _, path := range files {
		data, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Contains(data, text) {
			continue
		}
		spoilt := bytes.Clone(text)
		spoilt[len(spoilt)/2] ^= 1
		if err := os.WriteFile(path, bytes.ReplaceAll(data, text, spoilt), 0o600); err != nil {
			t.Fatal(err)
		}
		changed = true
	}
	if !changed {
		t.Fatalf("no file has %q", text)
	}
}

// TestExportHoles: an export of damaged data has all atoms but the damaged ones, a line for
// each hole, an exit code of its own and a summary; so has its verification.
func TestExportHoles(t *testing.T) {
	dir, whole := coreLedger(t)
	lines := strings.SplitAfter(strings.TrimSuffix(whole, "\n"), "\n")
	last := len(lines) - 1
	random := rand.New(rand.NewPCG(1, 65))
	gone := []int{1, 4, 5, last} // first, two that are one hole, last
	for len(gone) < 7 {
		if seq := 1 + random.IntN(last); !slices.Contains(gone, seq) {
			gone = append(gone, seq)
		}
	}
	for _, seq := range gone {
		var line struct{ Atom json.RawMessage }
		if err := json.Unmarshal([]byte(lines[seq]), &line); err != nil {
			t.Fatal(err)
		}
		flip(t, dir, line.Atom)
	}
	code, export, said := exported(t, dir)
	if code != exitIncomplete || !strings.Contains(said, "7 of ") || !strings.Contains(said, "does not match its checksum") {
		t.Errorf("the export of a damaged ledger: %d %s", code, said)
	}
	for seq, line := range lines {
		if has := strings.Contains(export, line); has == slices.Contains(gone, seq) {
			t.Errorf("line %d is in the export: %v", seq+1, has)
		}
	}
	var out, errs bytes.Buffer
	code = Run(t.Context(), []string{"verify", "-"}, strings.NewReader(export), &out, &errs, nil)
	if code != exitIncomplete || !strings.HasPrefix(out.String(), "not whole: t:ubl_core, ") || !strings.Contains(out.String(), " 7 missing, ") ||
		!strings.Contains(errs.String(), "4 to 5: ") {
		t.Errorf("verify: %d %s %s", code, &out, &errs)
	}
	out.Reset()
	code = Run(t.Context(), []string{"verify", "--json", "-"}, strings.NewReader(export), &out, &errs, nil)
	var told struct {
		OK      bool
		Missing int
		Holes   []ubl.Hole
	}
	if err := json.Unmarshal(out.Bytes(), &told); err != nil || code != exitIncomplete || told.OK || told.Missing != 7 || told.Holes[0].From != 1 {
		t.Errorf("verify --json: %d %s", code, &out)
	}
	out.Reset()
	changed := strings.Replace(export, `"did":"`, `"did":"x`, 1)
	if code = Run(t.Context(), []string{"verify", "-"}, strings.NewReader(changed), &out, &errs, nil); code != exitFailed {
		t.Errorf("with a changed atom besides: %d %s", code, &out)
	}
}

// TestExportWithoutHead: where the ledger's head can't be read, the newest atom tells it,
// and the export, and whoever verifies it, that something may be missing behind it.
func TestExportWithoutHead(t *testing.T) {
	dir, whole := coreLedger(t)
	header, _, _ := strings.Cut(whole, "\n")
	var h struct {
		HeadHash string `json:"head_hash"`
	}
	if err := json.Unmarshal([]byte(header), &h); err != nil {
		t.Fatal(err)
	}
	// The head's hash is in its record alone, and in no atom.
	flip(t, dir, []byte(h.HeadHash))
	code, export, said := exported(t, dir)
	if !mayLack(t, export, whole) || code != exitIncomplete || !strings.Contains(said, "the newest atoms may be missing") || !strings.Contains(said, "head can't be read") {
		t.Errorf("without a head: %d %s\n%s", code, said, export)
	}
}

// mayLack reports whether an export is the beginning of another, says at its end that more
// may be missing, and isn't taken for whole by who verifies it.
func mayLack(t *testing.T, export, whole string) bool {
	t.Helper()
	var out, errs bytes.Buffer
	code := Run(t.Context(), []string{"verify", "-"}, strings.NewReader(export), &out, &errs, nil)
	if code != exitIncomplete || !strings.HasPrefix(out.String(), "may not be whole: t:ubl_core, ") || !strings.Contains(errs.String(), "the newest atoms may be missing, behind the last, ") {
		t.Errorf("verify: %d %s %s", code, &out, &errs)
	}
	out.Reset()
	code = Run(t.Context(), []string{"verify", "--json", "-"}, strings.NewReader(export), &out, &errs, nil)
	var told struct {
		OK   bool
		Lost string
	}
	if err := json.Unmarshal(out.Bytes(), &told); err != nil || code != exitIncomplete || told.OK || told.Lost == "" {
		t.Errorf("verify --json: %d %s", code, &out)
	}
	lines := strings.SplitAfter(strings.TrimSuffix(export, "\n"), "\n")
	_, wholeAtoms, _ := strings.Cut(whole, "\n")
	return strings.HasPrefix(wholeAtoms, strings.Join(lines[1:len(lines)-1], "")) && strings.Contains(lines[len(lines)-1], `"format":"ubl.export.lost.v1"`)
}

// TestExportWithoutJournal: of a server that was killed the newest atoms are in the journal
// alone. An export says at its end that some may be missing where records that were
// acknowledged can't be read, and is an export as any other where none is missing.
func TestExportWithoutJournal(t *testing.T) {
	const page = 4096
	dir, killed := t.TempDir(), t.TempDir()
	// In a bubble no time goes by before the copy is made, and so no journal is committed.
	synctest.Test(t, func(t *testing.T) {
		n := started(t, &program{now: testNow, random: &counter64{}}, dir)
		if err := errors.Join(os.CopyFS(killed, os.DirFS(dir)), n.close(t.Context())); err != nil {
			t.Fatal(err)
		}
	})
	code, whole, said := exported(t, killed)
	if code != exitOK {
		t.Fatalf("a sound journal: %d %s", code, said)
	}
	for name, test := range map[string]struct {
		spoil func(journal []byte, newest int) []byte
		lacks bool
	}{
		"cut short behind its records": {func(b []byte, newest int) []byte { return b[:newest+page] }, false},
		"damaged in its newest record": {func(b []byte, newest int) []byte { b[newest+30] ^= 1; return b }, true},
		"damaged in all its records":   {func(b []byte, newest int) []byte { clear(b[page:]); return b }, true},
		"cut short in its records":     {func(b []byte, newest int) []byte { return b[:page+100] }, true},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			if err := os.CopyFS(dir, os.DirFS(killed)); err != nil {
				t.Fatal(err)
			}
			journals, err := filepath.Glob(filepath.Join(dir, "store", "*.journal"))
			for _, path := range journals {
				b, errRead := os.ReadFile(path)
				newest := len(bytes.TrimRight(b, "\x00")) / page * page
				if newest > 0 {
					b = test.spoil(b, newest)
				}
				err = errors.Join(err, errRead, os.WriteFile(path, b, 0o600))
			}
			if err != nil {
				t.Fatal(err)
			}
			code, export, said := exported(t, dir)
			switch {
			case !test.lacks && (code != exitOK || export != whole):
				t.Errorf("nothing is missing: %d %s", code, said)
			case test.lacks && export == "":
				if code != exitFailed || !strings.Contains(said, "nothing of such a tenant can be read") {
					t.Errorf("nothing is there: %d %s", code, said)
				}
			case test.lacks && (code != exitIncomplete || !mayLack(t, export, whole) || !strings.Contains(said, "of the journal were acknowledged and can't be read")):
				t.Errorf("%d %s\n%s", code, said, export)
			}
		})
	}
}

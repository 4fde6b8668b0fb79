package storage_test

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"ubl"
	"ubl/storage"
)

// TestManifestIsRemade: a ubl.json that is damaged or missing keeps nobody from the data:
// the partitions' files say the same. Where most of those are gone, too, it is refused.
func TestManifestIsRemade(t *testing.T) {
	dir := t.TempDir()
	e := open(t, dir, &storage.Options{Partitions: 3})
	incarnation := e.Incarnation()
	if err := e.Close(); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(dir, "store", "ubl.json")
	sound, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string][]byte{
		"missing": nil, "empty": {}, "cut short": sound[:20], "no partitions": bytes.ReplaceAll(sound, []byte(`"partitions": 3`), []byte(`"partitions": 0`)),
		"no incarnation": bytes.ReplaceAll(sound, []byte(incarnation), []byte("zz")),
	} {
		t.Run(name, func(t *testing.T) {
			if err := os.Remove(path); err != nil {
				t.Fatal(err)
			}
			if text != nil {
				if err := os.WriteFile(path, text, 0o600); err != nil {
					t.Fatal(err)
				}
			}
			list, err := storage.Check(t.Context(), dir, nil, nil)
			if err != nil || len(list) != 3 || len(list[0].Places) != 1 || !strings.Contains(list[0].Places[0].What, "ubl.json") {
				t.Errorf("the scrub finds %+v, %v", list, err)
			}
			l, err := storage.OpenLedger(dir, ubl.Group{Tenant: "t:acme.com", Shard: "0"}, nil)
			if err != nil {
				t.Fatal(err)
			}
			if err := l.Close(); err != nil {
				t.Fatal(err)
			}
			e := open(t, dir, nil)
			if e.Incarnation() != incarnation || e.Partitions() != 3 || !errors.Is(e.Remade(), storage.ErrDamaged) {
				t.Errorf("it opens as %s with %d partitions, and says %v", e.Incarnation(), e.Partitions(), e.Remade())
			}
			if err := e.Close(); err != nil {
				t.Fatal(err)
			}
			e = open(t, dir, nil)
			if err := errors.Join(e.Remade(), e.Close()); err != nil {
				t.Errorf("the second time: %v", err)
			}
		})
	}
	for _, gone := range []string{"ubl.json", "partition-0.db", "partition-2.db"} {
		if err := os.Remove(filepath.Join(dir, "store", gone)); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := storage.Open(dir, nil); !errors.Is(err, storage.ErrDamaged) {
		t.Errorf("with one partition of three: %v", err)
	}
}

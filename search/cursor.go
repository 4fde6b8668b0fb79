package search

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"

	"ubl"
)

// A file for each group says how far its ledger is in the indexes. It is replaced and not
// synced: one that a power cut took away or left as it was has entries told again, which
// the marks of the indexes then know.

// storedCursor is such a file (JSON).
type storedCursor struct {
	Form string `json:"form"`
	Seq  int64  `json:"seq"`
}

func (x *Index) cursorPath(g ubl.Group) string {
	sum := sha256.Sum256([]byte(g.String()))
	return filepath.Join(x.dir, hex.EncodeToString(sum[:16])+".cursor")
}

// Cursor implements [ubl.Searcher]. A file that can't be understood, or is of another form
// of index, is none: everything is then indexed from the beginning.
func (x *Index) Cursor(_ context.Context, g ubl.Group) (int64, error) {
	data, err := os.ReadFile(x.cursorPath(g))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return 0, err
	}
	var c storedCursor
	if json.Unmarshal(data, &c) != nil || c.Form != formOfDocuments {
		return 0, nil
	}
	return c.Seq, nil
}

// Keep implements [ubl.Searcher]. One caller at a time keeps the cursor of a group.
func (x *Index) Keep(_ context.Context, g ubl.Group, seq int64) error {
	data, err := json.Marshal(storedCursor{Form: formOfDocuments, Seq: seq})
	if err != nil {
		return err
	}
	path := x.cursorPath(g)
	if err := os.WriteFile(path+".new", data, 0o600); err != nil {
		return err
	}
	return os.Rename(path+".new", path)
}

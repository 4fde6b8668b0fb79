package storage

import (
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"ubl"
	"ubl/durable"
)

const (
	// Formats count incompatible changes of keys, values and files. journalFormat is
	// that of a partition's file with a journal beside it, and the newest that this
	// program knows (2 had a journal of version 1); plainFormat that of everything else.
	plainFormat   = 1
	journalFormat = 3
	manifestName  = "ubl.json"
	maxPartitions = 1024
)

// manifest is ubl.json. Later versions may add fields; a reader refuses a
// higher format before it looks at anything else.
type manifest struct {
	Format      int      `json:"format"`
	Partitions  int      `json:"partitions"`
	Incarnation string   `json:"incarnation"`
	Created     ubl.Time `json:"created"`
}

// label is the record in a partition's meta bucket: files of different
// directories, or of different places in one, cannot be mixed up.
type label struct {
	Format      int    `json:"format"`
	Partition   int    `json:"partition"`
	Partitions  int    `json:"partitions"`
	Incarnation string `json:"incarnation"`
}

func (m *manifest) label(partition int) label {
	return label{plainFormat, partition, m.Partitions, m.Incarnation}
}

// newManifest draws a new incarnation: the same data under another one is
// another copy, and may not pose as the first.
func newManifest(partitions int, o *Options) (*manifest, error) {
	var id [16]byte
	if _, err := io.ReadFull(o.Random, id[:]); err != nil {
		return nil, fmt.Errorf("couldn't draw an incarnation: %w", err)
	}
	return &manifest{plainFormat, partitions, hex.EncodeToString(id[:]), ubl.TimeOf(o.Now())}, nil
}

func readManifest(dir string) (*manifest, error) {
	text, err := os.ReadFile(filepath.Join(dir, manifestName))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, damaged("%s is missing", manifestName)
	}
	if err != nil {
		return nil, err
	}
	m := new(manifest)
	if err := decodeVersioned(text, journalFormat, m); err != nil {
		return nil, fmt.Errorf("%s: %w", manifestName, err)
	}
	if m.Partitions < 1 || m.Partitions > maxPartitions {
		return nil, fmt.Errorf("%s: %w", manifestName, damaged("the number of partitions is impossible"))
	}
	return m, nil
}

func writeManifest(dir string, m *manifest) error {
	text, err := json.MarshalIndent(m, "", "  ")
	if err != nil {
		return err
	}
	return durable.Write(filepath.Join(dir, manifestName), append(text, '\n'))
}

// decodeVersioned reads a record that has a "format", refusing newer ones
// before their other fields are looked at.
func decodeVersioned(text []byte, newest int, into any) error {
	var version struct {
		Format int `json:"format"`
	}
	if err := json.Unmarshal(text, &version); err != nil || version.Format < 1 {
		return damaged("the format record cannot be read")
	}
	if version.Format > newest {
		return fmt.Errorf("%w (it is %d, this program knows up to %d)", ErrNewerFormat, version.Format, newest)
	}
	if err := json.Unmarshal(text, into); err != nil {
		return damaged("the format record cannot be read")
	}
	return nil
}

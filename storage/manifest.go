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
	"runtime/debug"
	"time"

	bolt "go.etcd.io/bbolt"

	"ubl"
	"ubl/durable"
)

const (
	// Formats count incompatible changes of keys, values and files. journalFormat is
	// that of a partition's file with a journal beside it (2 had a journal of version 1),
	// plainFormat that of a file without. storeFormat is that of a whole directory or
	// archive, and the newest that this program knows: 4 has atoms and entries of
	// version 2, which earlier programs can't read.
	plainFormat     = 1
	journalFormat   = 3
	storeFormat     = 4
	manifestName    = "ubl.json"
	maxPartitions   = 1024
	incarnationSize = 16 // bytes, in hex
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
	var id [incarnationSize]byte
	if _, err := io.ReadFull(o.Random, id[:]); err != nil {
		return nil, fmt.Errorf("couldn't draw an incarnation: %w", err)
	}
	return &manifest{storeFormat, partitions, hex.EncodeToString(id[:]), ubl.TimeOf(o.Now())}, nil
}

// readManifest reads ubl.json. Every partition's file has a label with the same: one that
// is damaged or missing is made of them, and lost says what was wrong with it.
func readManifest(dir string) (m *manifest, lost, err error) {
	m, err = manifestIn(dir)
	if errors.Is(err, ErrDamaged) {
		if made := manifestOf(dir); made != nil {
			return made, err, nil
		}
	}
	return m, nil, err
}

// manifestOf is what the labels of the partitions say: those that can be read agree, and
// are more than half. Else it is nil.
func manifestOf(dir string) *manifest {
	paths, err := filepath.Glob(filepath.Join(dir, "partition-*.db"))
	if err != nil {
		return nil
	}
	var m *manifest
	read := 0
	for _, path := range paths {
		l, made, err := labelIn(path)
		if err != nil || filepath.Base(path) != partitionName(l.Partition) {
			continue
		}
		if m == nil {
			m = &manifest{storeFormat, l.Partitions, l.Incarnation, made}
		}
		if l.Partitions != m.Partitions || l.Incarnation != m.Incarnation {
			return nil
		}
		read++
	}
	if m == nil || m.check() != nil || read <= m.Partitions/2 {
		return nil
	}
	return m
}

// labelIn reads the label of a partition's file, and when that was last written.
func labelIn(path string) (l label, at ubl.Time, err error) {
	defer guard(&err)
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	info, err := os.Stat(path)
	if err == nil {
		err = inspectFile(path, -1)
	}
	if err != nil {
		return l, at, err
	}
	db, err := bolt.Open(path, fileMode, &bolt.Options{ReadOnly: true, Timeout: time.Second})
	if err != nil {
		return l, at, err
	}
	err = db.View(func(tx *bolt.Tx) (err error) {
		if meta := tx.Bucket(metaBucket); meta != nil {
			l, err = readLabel(meta)
			return err
		}
		return damaged("a bucket is missing")
	})
	return l, ubl.TimeOf(info.ModTime()), errors.Join(err, db.Close())
}

func manifestIn(dir string) (*manifest, error) {
	text, err := os.ReadFile(filepath.Join(dir, manifestName))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, damaged("%s is missing", manifestName)
	}
	if err != nil {
		return nil, err
	}
	m := new(manifest)
	if err := decodeVersioned(text, storeFormat, m); err != nil {
		return nil, fmt.Errorf("%s: %w", manifestName, err)
	}
	if err := m.check(); err != nil {
		return nil, fmt.Errorf("%s: %w", manifestName, err)
	}
	return m, nil
}

func (m *manifest) check() error {
	if m.Partitions < 1 || m.Partitions > maxPartitions {
		return damaged("the number of partitions is impossible")
	}
	if id, err := hex.DecodeString(m.Incarnation); err != nil || len(id) != incarnationSize {
		return damaged("the incarnation is not one")
	}
	return nil
}

func writeManifest(dir string, m *manifest) error {
	text, err := json.MarshalIndent(m, "", "  ")
	if err != nil {
		return err
	}
	return durable.Replace(filepath.Join(dir, manifestName), append(text, '\n'))
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

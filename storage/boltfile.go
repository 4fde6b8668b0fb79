package storage

import (
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"runtime"
	"runtime/debug"
	"strconv"

	bolt "go.etcd.io/bbolt"
	berrors "go.etcd.io/bbolt/errors"
)

var (
	dataBucket = []byte("data")
	metaBucket = []byte("meta")
	labelKey   = []byte("format")
)

// checkLabel sees that a file is the one it should be.
func checkLabel(tx *bolt.Tx, want label) error {
	meta := tx.Bucket(metaBucket)
	if meta == nil || tx.Bucket(dataBucket) == nil {
		return damaged("a bucket is missing")
	}
	have, err := readLabel(meta)
	have.Format = want.Format // readLabel has refused a newer one
	if err == nil && have != want {
		err = damaged("the file belongs to another data directory, or to another place in it")
	}
	return err
}

func readLabel(meta *bolt.Bucket) (l label, err error) {
	text, err := getStored(meta, labelKey)
	if err == nil {
		err = decodeVersioned(text, journalFormat, &l)
	}
	return l, err
}

// writeLabel makes the buckets where they are missing and says whose they are.
func writeLabel(path string, l label, o *Options) error {
	return updateMeta(path, o, func(meta *bolt.Bucket) error { return putLabel(meta, l) })
}

// adopt is writeLabel for a copy of the same partition from any directory.
func adopt(path string, l label, o *Options) error {
	return updateMeta(path, o, func(meta *bolt.Bucket) error {
		if err := checkPlace(meta, l); err != nil {
			return err
		}
		return putLabel(meta, l)
	})
}

func checkPlace(meta *bolt.Bucket, want label) error {
	have, err := readLabel(meta)
	if err == nil && (have.Partition != want.Partition || have.Partitions != want.Partitions) {
		err = damaged("the copy is of another partition")
	}
	return err
}

// claim is adopt for a copy that loses all that the meta bucket says besides:
// how far a replica is, and its notes.
func claim(path string, l label, o *Options) error {
	return updateMeta(path, o, func(meta *bolt.Bucket) error {
		if err := checkPlace(meta, l); err != nil {
			return err
		}
		c := meta.Cursor()
		for key, _ := c.First(); key != nil; key, _ = c.First() {
			if err := c.Delete(); err != nil {
				return err
			}
		}
		return putLabel(meta, l)
	})
}

func putLabel(meta *bolt.Bucket, l label) error {
	text, err := json.Marshal(l)
	if err != nil {
		return err
	}
	return meta.Put(labelKey, appendStored(nil, labelKey, text))
}

// updateMeta changes the meta bucket of a file that nobody has open.
func updateMeta(path string, o *Options, fn func(*bolt.Bucket) error) (err error) {
	db, _, err := openBolt(path, o)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	defer guard(&err)
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	return db.Update(func(tx *bolt.Tx) error {
		if _, err := tx.CreateBucketIfNotExists(dataBucket); err != nil {
			return err
		}
		meta, err := tx.CreateBucketIfNotExists(metaBucket)
		if err != nil {
			return err
		}
		return fn(meta)
	})
}

// openBolt opens a bbolt file, making it where it is missing.
func openBolt(path string, o *Options) (db *bolt.DB, file *os.File, err error) {
	defer func() {
		if err != nil && file != nil {
			file.Close() // closed already unless bbolt panicked: this frees its lock
		}
	}()
	defer guard(&err)
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	db, err = bolt.Open(path, fileMode, &bolt.Options{
		Timeout:         o.LockTimeout,
		FreelistType:    bolt.FreelistMapType,
		InitialMmapSize: mmapSize(),
		MaxSize:         o.MaxBytes,
		NoStatistics:    true,
		OpenFile: func(name string, flag int, mode fs.FileMode) (*os.File, error) {
			var err error
			file, err = os.OpenFile(name, flag, mode)
			return file, err
		},
	})
	if errors.Is(err, berrors.ErrTimeout) {
		err = ErrInUse
	}
	if err != nil {
		return nil, file, err
	}
	db.AllocSize = growStep
	return db, file, nil
}

// growStep is by how much a file grows at a time, which costs a sync. The file
// is sparse: the disk gives only what is written.
const growStep = 4 * mib

// mmapSize is how much address space a partition gets. While a file grows
// within it, bbolt need not wait for all readers in order to map it anew. It
// costs no memory, only addresses: 32 GiB of the 128 TiB that a process has.
func mmapSize() int {
	if strconv.IntSize < 64 || runtime.GOOS == "windows" { // Windows would make the file that large
		return 0
	}
	size := int64(4 << 30)
	return int(size)
}

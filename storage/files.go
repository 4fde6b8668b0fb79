package storage

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

const (
	dirMode  = 0o700
	fileMode = 0o600

	// What a data directory may hold. The store appears in it by one rename, so
	// that it is there whole or not at all.
	lockName     = "lock"
	storeDir     = "store"
	creatingDir  = "creating"  // a store being made; thrown away by the next Open
	restoringDir = "restoring" // a store being restored; Open refuses the directory
	backupDir    = "backup-"   // copies on their way into a backup; thrown away by the next Open
)

func partitionName(i int) string { return fmt.Sprintf("partition-%d.db", i) }

// stage makes the store in a directory of another name and moves it into place.
func stage(dir, name string, fill func(staging string) error) (err error) {
	staging := filepath.Join(dir, name)
	if err := os.RemoveAll(staging); err != nil {
		return err
	}
	if err := os.Mkdir(staging, dirMode); err != nil {
		return err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, os.RemoveAll(staging))
		}
	}()
	if err := fill(staging); err != nil {
		return err
	}
	if err := syncPath(staging); err != nil {
		return err
	}
	if err := os.Rename(staging, filepath.Join(dir, storeDir)); err != nil {
		return err
	}
	return syncPath(dir)
}

func exists(path string) bool {
	_, err := os.Lstat(path)
	return !errors.Is(err, fs.ErrNotExist)
}

// makeDir makes a directory that outlives a power loss.
func makeDir(dir string) error {
	if err := os.MkdirAll(dir, dirMode); err != nil {
		return err
	}
	return syncPath(filepath.Dir(dir))
}

// syncPath makes a file's content, or a directory's entries, durable.
func syncPath(path string) error {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	return f.Sync()
}

package storage

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"ubl/durable"
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
	restoredName = "restored"  // in a store: made from a backup, and nobody was told
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
	if err := durable.Sync(staging); err != nil {
		return err
	}
	if err := os.Rename(staging, filepath.Join(dir, storeDir)); err != nil {
		return err
	}
	return durable.Sync(dir)
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
	return durable.Sync(filepath.Dir(dir))
}

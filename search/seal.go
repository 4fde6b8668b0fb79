package search

import (
	"encoding/json"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
)

// An index that is closed leaves a seal: the checksum of each of its files. bleve
// would open a file that was damaged since, and find nothing in it. An index that
// was open when the process died has no seal and is taken as it is: its files are
// synced before they are referred to.

const sealFile = "seal"

// seal writes it.
func seal(dir string) error {
	sums, err := checksums(dir)
	if err != nil {
		return err
	}
	data, err := json.Marshal(sums)
	if err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(dir, sealFile), data, 0o600)
}

// breakSeal checks it, where there is one, and takes it away.
func breakSeal(dir string) error {
	path := filepath.Join(dir, sealFile)
	data, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	if err := os.Remove(path); err != nil {
		return err
	}
	var want map[string]uint32
	if err := json.Unmarshal(data, &want); err != nil {
		return fmt.Errorf("couldn't read the seal: %w", err)
	}
	got, err := checksums(dir)
	if err == nil && !maps.Equal(got, want) {
		err = errors.New("the files were changed since the index was closed")
	}
	return err
}

// checksums are those of all files but the seal, by path.
func checksums(dir string) (map[string]uint32, error) {
	sums := make(map[string]uint32)
	table := crc32.MakeTable(crc32.Castagnoli)
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || d.Name() == sealFile {
			return err
		}
		f, err := os.Open(path)
		if err != nil {
			return err
		}
		defer f.Close()
		sum := crc32.New(table)
		if _, err := io.Copy(sum, f); err != nil {
			return err
		}
		rel, err := filepath.Rel(dir, path)
		sums[rel] = sum.Sum32()
		return err
	})
	return sums, err
}

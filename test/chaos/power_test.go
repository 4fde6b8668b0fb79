//go:build linux

package chaos

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
)

func needsMark(n *node) string {
	if marks, _ := filepath.Glob(filepath.Join(n.data(), "store", "*.mark")); len(marks) == 0 {
		return "its store is synced"
	}
	return ""
}

// powerLoss kills the process and makes its machine look booted since: the
// marks name another boot, and of the partitions' files, which a replica doesn't
// sync, some pages were written and others not.
func powerLoss(_ context.Context, n *node, draw *rand.Rand) (func() error, error) {
	n.kill()
	for p := range partitions {
		if err := losePages(filepath.Join(n.data(), "store"), p, draw); err != nil {
			return nil, err
		}
	}
	return func() error { return n.start() }, nil
}

// losePages ages the mark of a partition and spoils its file. A partition that
// isn't here, or was closed in order, has no mark and is left alone.
func losePages(store string, partition int, draw *rand.Rand) error {
	path := filepath.Join(store, fmt.Sprintf("partition-%d.mark", partition))
	text, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	mark := make(map[string]any)
	if err := json.Unmarshal(text, &mark); err != nil {
		return fmt.Errorf("couldn't read %s: %w", path, err)
	}
	mark["boot"] = "00000000-0000-4000-8000-000000000000"
	if text, err = json.Marshal(mark); err != nil {
		return err
	}
	if err := os.WriteFile(path, text, 0o600); err != nil {
		return err
	}
	return spoil(filepath.Join(store, fmt.Sprintf("partition-%d.db", partition)), draw)
}

// spoil overwrites a few pages of a file, or cuts it off.
func spoil(path string, draw *rand.Rand) error {
	file, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		return err
	}
	defer file.Close()
	info, err := file.Stat()
	if err != nil {
		return err
	}
	const pageSize = 4096
	pages := info.Size() / pageSize
	if draw.IntN(4) == 0 {
		return file.Truncate(draw.Int64N(info.Size() + 1))
	}
	for range 1 + draw.IntN(8) {
		garbage := make([]byte, pageSize)
		for i := range garbage {
			garbage[i] = byte(draw.Uint32())
		}
		if _, err := file.WriteAt(garbage, draw.Int64N(pages)*pageSize); err != nil {
			return err
		}
	}
	return nil
}

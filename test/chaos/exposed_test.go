//go:build linux

package chaos

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
)

// exposed names the files of a node, which may run, that others than their owner can
// reach: its partitions, Raft's logs and votes, indexes, contents, keys. Whatever the
// test's own umask is, the program sets one.
func (n *node) exposed() (wrong []string) {
	files := 0
	err := filepath.WalkDir(n.data(), func(path string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return gone(err)
		}
		info, err := e.Info()
		if err != nil {
			return gone(err)
		}
		if files++; info.Mode().Perm()&0o077 != 0 {
			wrong = append(wrong, fmt.Sprintf("%s has mode %v", path, info.Mode()))
		}
		return nil
	})
	if err != nil {
		wrong = append(wrong, err.Error())
	}
	if files == 0 {
		wrong = append(wrong, "there are no files")
	}
	return wrong
}

// gone leaves out a file that a running node has removed meanwhile.
func gone(err error) error {
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}

package main

import (
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"runtime"
)

// othersMay are the bits of a mode by which others than the owner reach a file.
const othersMay fs.FileMode = 0o077

// tighten takes from others what an earlier version let them read: the logs of
// Raft and the search indexes, which hold what the data does.
func tighten(dir string) error {
	for _, sub := range []string{"raft", searchDir} {
		err := filepath.WalkDir(filepath.Join(dir, sub), func(path string, entry fs.DirEntry, err error) error {
			if err != nil {
				return err
			}
			info, err := entry.Info()
			if err != nil || info.Mode().Type() == fs.ModeSymlink || info.Mode().Perm()&othersMay == 0 {
				return err
			}
			return os.Chmod(path, info.Mode().Perm()&^othersMay)
		})
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	return nil
}

// warnWritable tells the operator of a data directory in which anybody may rename and
// delete. One that the program makes is its owner's alone.
func warnWritable(log *slog.Logger, dir string) {
	if info, err := os.Stat(dir); err == nil && runtime.GOOS != "windows" && info.Mode().Perm()&0o002 != 0 {
		log.Warn("anybody on this machine may write into the data directory: run chmod 700 on it", "dir", dir, "mode", info.Mode().Perm().String())
	}
}

// warnReadable tells the operator of a file of secrets that others may read.
func warnReadable(log *slog.Logger, what, path string) {
	if mode, open := readable(path); open {
		log.Warn("others than its owner may read "+what+": run chmod 600 on it", "file", path, "mode", mode.String())
	}
}

// tellReadable is warnReadable for a command, which has no log.
func (p *program) tellReadable(what, path string) {
	if mode, open := readable(path); open {
		fmt.Fprintf(p.err, "ubl: warning: others than its owner may read %s %s (mode %s): run chmod 600 on it\n", what, path, mode)
	}
}

// readable reports whether others than its owner may reach a file.
func readable(path string) (mode fs.FileMode, open bool) {
	info, err := os.Stat(path)
	if err != nil || runtime.GOOS == "windows" {
		return 0, false
	}
	return info.Mode().Perm(), info.Mode().Perm()&othersMay != 0
}

package main

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"runtime"
)

// othersMay are the bits of a mode by which others than the owner reach a file.
const othersMay fs.FileMode = 0o077

// othersWrite are the bits by which others than the owner change a file.
const othersWrite fs.FileMode = 0o022

// maxOwn bounds a file that commands read by themselves, in bytes.
const maxOwn = 64 << 10

// readOwn reads a file that this user made: one that is no link, is theirs, and whose mode has
// none of the bits of open. The opened file is looked at, so that nobody swaps it in between.
func readOwn(path string, open fs.FileMode) ([]byte, error) {
	f, err := openOwn(path)
	if err != nil {
		return nil, fmt.Errorf("couldn't use %s: %w", path, err)
	}
	defer f.Close()
	info, err := f.Stat()
	if err == nil && !info.Mode().IsRegular() {
		err = errors.New("it is no file")
	}
	if err == nil {
		err = checkOwn(info, open)
	}
	if err != nil {
		return nil, fmt.Errorf("couldn't use %s: %w", path, err)
	}
	return io.ReadAll(io.LimitReader(f, maxOwn))
}

// ownDir refuses a directory that isn't this user's, or that others may write.
func ownDir(dir string) error {
	info, err := os.Stat(dir)
	if err == nil {
		err = checkOwn(info, othersWrite)
	}
	if err != nil {
		return fmt.Errorf("couldn't use %s: %w", dir, err)
	}
	return nil
}

// checkOwn refuses what isn't this user's, or has a mode with bits of open.
func checkOwn(info fs.FileInfo, open fs.FileMode) error {
	switch {
	case runtime.GOOS == "windows": // its files have no such owner and mode
	case !ours(info):
		return errors.New("it isn't yours")
	case info.Mode().Perm()&open != 0:
		return fmt.Errorf("it is open to others (mode %04o): run chmod go-rwx on it", info.Mode().Perm())
	}
	return nil
}

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

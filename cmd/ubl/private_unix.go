//go:build unix

package main

import (
	"io/fs"
	"os"
	"syscall"
)

// keepPrivate has every file that the process makes from now on be its owner's
// alone, those of libraries too.
func keepPrivate() { syscall.Umask(0o077) }

// openOwn opens a file that is no link. It doesn't wait where that is a pipe.
func openOwn(path string) (*os.File, error) {
	return os.OpenFile(path, os.O_RDONLY|syscall.O_NOFOLLOW|syscall.O_NONBLOCK, 0)
}

// ours reports whether a file is this user's.
func ours(info fs.FileInfo) bool {
	stat, ok := info.Sys().(*syscall.Stat_t)
	return ok && int64(stat.Uid) == int64(os.Geteuid())
}

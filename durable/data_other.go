//go:build !linux

package durable

import "os"

// OpenDirect opens a file to be written over in whole pages of [PageSize].
func OpenDirect(path string) (*os.File, error) { return os.OpenFile(path, os.O_RDWR, 0) }

// SyncData makes what was written over a file's bytes durable. A file that has
// grown needs Sync.
func SyncData(f *os.File) error { return f.Sync() }

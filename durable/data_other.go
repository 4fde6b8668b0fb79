//go:build !linux

package durable

import "os"

// SyncData makes what was written over a file's bytes durable. A file that has
// grown needs Sync.
func SyncData(f *os.File) error { return f.Sync() }

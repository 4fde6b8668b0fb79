//go:build !linux

package storage

// diskSpace doesn't tell.
func diskSpace(string) (free, size int64, ok bool) { return 0, 0, false }

package durable

import (
	"os"
	"syscall"
)

// SyncData makes what was written over a file's bytes durable. A file that has
// grown needs Sync.
func SyncData(f *os.File) error {
	for {
		if err := syscall.Fdatasync(int(f.Fd())); err != syscall.EINTR {
			return os.NewSyscallError("fdatasync", err)
		}
	}
}

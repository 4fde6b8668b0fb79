package durable

import (
	"io"
	"os"
	"syscall"
)

// OpenDirect opens a file to be written over past the page cache, which a sync then
// needn't go through: what is written must be whole pages in the memory of [Pages],
// at a place that is a multiple of [PageSize]. Where the file system can't, the file
// is one like any other.
func OpenDirect(path string) (*os.File, error) {
	f, err := os.OpenFile(path, os.O_RDWR|syscall.O_DIRECT, 0)
	if err == nil {
		// Some file systems take the flag, and refuse what is then asked of them.
		if _, err = f.ReadAt(Pages(PageSize), 0); err == nil || err == io.EOF {
			return f, nil
		}
		f.Close()
	}
	return os.OpenFile(path, os.O_RDWR, 0)
}

// SyncData makes what was written over a file's bytes durable. A file that has
// grown needs Sync.
func SyncData(f *os.File) error {
	for {
		if err := syscall.Fdatasync(int(f.Fd())); err != syscall.EINTR {
			return os.NewSyscallError("fdatasync", err)
		}
	}
}

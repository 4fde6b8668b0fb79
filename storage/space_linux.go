package storage

import "syscall"

// freeSpace is how many bytes the disk of a path has left for us, 0 where it
// doesn't tell.
func freeSpace(path string) int64 {
	var fs syscall.Statfs_t
	if err := syscall.Statfs(path, &fs); err != nil {
		return 0
	}
	return int64(min(fs.Bavail, 1<<40)) * fs.Frsize
}

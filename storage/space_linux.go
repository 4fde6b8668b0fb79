package storage

import "syscall"

// diskSpace is how many bytes the disk of a path has left for us, and how many it
// has.
func diskSpace(path string) (free, size int64, ok bool) {
	var fs syscall.Statfs_t
	if err := syscall.Statfs(path, &fs); err != nil {
		return 0, 0, false
	}
	const most = 1 << 40 // blocks; some file systems have no limit
	return int64(min(fs.Bavail, most)) * fs.Frsize, int64(min(fs.Blocks, most)) * fs.Frsize, true
}

//go:build unix

package limits

import "syscall"

// Files is how many files this process may have open, 0 where that can't be told.
func Files() uint64 {
	var r syscall.Rlimit
	if syscall.Getrlimit(syscall.RLIMIT_NOFILE, &r) != nil {
		return 0
	}
	return uint64(r.Cur)
}

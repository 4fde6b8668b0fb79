//go:build unix

package storage

import (
	"errors"
	"os"
	"path/filepath"
	"syscall"
	"time"
)

// lockDir keeps other processes out of the directory until unlock. The lock
// dies with the process, however that ends.
func lockDir(dir string, timeout time.Duration) (unlock func() error, err error) {
	f, err := os.OpenFile(filepath.Join(dir, lockName), os.O_RDWR|os.O_CREATE, fileMode)
	if err != nil {
		return nil, err
	}
	deadline := time.NewTimer(timeout)
	defer deadline.Stop()
	retry := time.NewTicker(20 * time.Millisecond)
	defer retry.Stop()
	for {
		err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
		if err == nil {
			return f.Close, nil
		}
		if !errors.Is(err, syscall.EWOULDBLOCK) && !errors.Is(err, syscall.EINTR) {
			return nil, errors.Join(err, f.Close())
		}
		select {
		case <-retry.C:
		case <-deadline.C:
			return nil, errors.Join(ErrInUse, f.Close())
		}
	}
}

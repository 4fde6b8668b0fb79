//go:build unix

package irc

import (
	"errors"
	"fmt"
	"os"
	"syscall"
)

// lock keeps other bridges off a state file until unlock. The file itself is replaced at each change,
// so the lock is of one beside it; it dies with the process, however that ends.
func lock(path string) (unlock func(), err error) {
	f, err := os.OpenFile(path+".lock", os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, fmt.Errorf("couldn't write the bridge's file: %w", err)
	}
	err = syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
	if err == nil {
		return func() { f.Close() }, nil
	}
	f.Close()
	if errors.Is(err, syscall.EWOULDBLOCK) {
		return nil, fmt.Errorf("a bridge with the file %s runs already: give each bridge a file of its own", path)
	}
	return nil, fmt.Errorf("couldn't lock the bridge's file: %w", err)
}

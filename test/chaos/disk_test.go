//go:build linux

package chaos

import (
	"errors"
	"fmt"
	"os"

	"golang.org/x/sys/unix"
)

// disk is a small one of its own for a node: a tmpfs. It is gone when the
// machine loses power, but not when a process is killed, which is all that
// happens here.
type disk struct{ path string }

// diskSize is far more than a run needs; the machine gives what is used.
const diskSize = 2 << 30

// newDisk mounts a small disk, where that is allowed.
func newDisk(path string) (*disk, error) {
	if err := os.MkdirAll(path, 0o700); err != nil {
		return nil, err
	}
	if err := unix.Mount("tmpfs", path, "tmpfs", 0, fmt.Sprintf("size=%d,mode=0700", diskSize)); err != nil {
		return nil, fmt.Errorf("couldn't mount a small disk: %w", err)
	}
	return &disk{path}, nil
}

func (d *disk) resize(bytes uint64) error {
	return unix.Mount("tmpfs", d.path, "tmpfs", unix.MS_REMOUNT, fmt.Sprintf("size=%d", bytes))
}

// fill leaves no byte free: it makes the disk as small as what is on it, which
// takes no time and no memory, unlike ballast.
func (d *disk) fill() error {
	for {
		var now unix.Statfs_t
		if err := unix.Statfs(d.path, &now); err != nil {
			return err
		}
		err := d.resize(max(1, now.Blocks-now.Bfree) * uint64(now.Bsize)) // 0 would be no limit
		if !errors.Is(err, unix.EINVAL) {                                 // else it has grown meanwhile
			return err
		}
	}
}

// free gives the room back.
func (d *disk) free() error { return d.resize(diskSize) }

func (d *disk) close() error { return unix.Unmount(d.path, unix.MNT_DETACH) }

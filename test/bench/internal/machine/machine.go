// Package machine tells what the figures of a report were measured on. The
// fsync time matters most: every durable send waits for at least one.
package machine

import (
	"bufio"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"ubl/test/bench/internal/stats"
)

// Facts describe the machine and the disk under the data directories.
type Facts struct {
	Date       time.Time `json:"date"`
	Cores      int       `json:"cores"`
	CPU        string    `json:"cpu"`
	MemoryMB   int       `json:"memory_mb"`
	Kernel     string    `json:"kernel"`
	Filesystem string    `json:"filesystem"`
	LoadBefore float64   `json:"load_before"` // 1 minute's load average: what else was going on
	Go         string    `json:"go"`
	FsyncP50us float64   `json:"fsync_p50_us"` // 4 KiB appended, then fdatasync
	FsyncP99us float64   `json:"fsync_p99_us"`
}

// loadScale is the kernel's fixed-point one for load averages.
const loadScale = 1 << 16

// Look gathers the facts; dir is where the servers will keep their data.
func Look(dir string, now time.Time) (Facts, error) {
	var name unix.Utsname
	var fs unix.Statfs_t
	var info unix.Sysinfo_t
	if err := errors.Join(unix.Uname(&name), unix.Statfs(dir, &fs), unix.Sysinfo(&info)); err != nil {
		return Facts{}, fmt.Errorf("couldn't ask the kernel: %w", err)
	}
	p50, p99, err := fsync(dir)
	if err != nil {
		return Facts{}, err
	}
	cpu, err := field("/proc/cpuinfo", "model name")
	if err != nil {
		cpu = "unknown" // not every architecture tells
	}
	return Facts{
		Date: now, Cores: runtime.NumCPU(), CPU: cpu, MemoryMB: int(uint64(info.Totalram) * uint64(info.Unit) >> 20),
		Kernel:     unix.ByteSliceToString(name.Sysname[:]) + " " + unix.ByteSliceToString(name.Release[:]) + " " + runtime.GOARCH,
		Filesystem: filesystem(int64(fs.Type)), LoadBefore: float64(info.Loads[0]) / loadScale, Go: runtime.Version(),
		FsyncP50us: micros(p50), FsyncP99us: micros(p99),
	}, nil
}

// Resident is a process's memory in MB: all of VmRSS, and RssAnon, the part
// that is its own. The rest is files it has mapped, a database above all,
// which the kernel takes back when it needs the room.
type Resident struct {
	All, Own float64
}

// Memory reads a process's resident memory.
func Memory(pid int) (r Resident, err error) {
	if r.All, err = megabytes(pid, "VmRSS"); err != nil {
		return r, err
	}
	r.Own, err = megabytes(pid, "RssAnon")
	return r, err
}

func megabytes(pid int, name string) (float64, error) {
	value, err := field(fmt.Sprintf("/proc/%d/status", pid), name)
	if err != nil {
		return 0, err
	}
	kb, err := strconv.Atoi(strings.TrimSuffix(value, " kB"))
	if err != nil {
		return 0, fmt.Errorf("not a size in kB: %w", err)
	}
	return float64(kb) / 1024, nil
}

// field finds "name : value" in one of /proc's files.
func field(path, name string) (string, error) {
	f, err := os.Open(path)
	if err != nil {
		return "", fmt.Errorf("couldn't open %s: %w", path, err)
	}
	defer f.Close()
	lines := bufio.NewScanner(f)
	for lines.Scan() {
		key, value, _ := strings.Cut(lines.Text(), ":")
		if strings.TrimSpace(key) == name {
			return strings.TrimSpace(value), nil
		}
	}
	return "", fmt.Errorf("%s has no %s", path, name)
}

// filesystem names the common ones; on tmpfs a sync costs nothing, and the
// figures would mean nothing.
func filesystem(magic int64) string {
	switch magic {
	case unix.EXT4_SUPER_MAGIC:
		return "ext4"
	case unix.XFS_SUPER_MAGIC:
		return "xfs"
	case unix.BTRFS_SUPER_MAGIC:
		return "btrfs"
	case unix.OVERLAYFS_SUPER_MAGIC:
		return "overlayfs"
	case unix.TMPFS_MAGIC:
		return "tmpfs (nothing is durable here: the figures do not count)"
	default:
		return fmt.Sprintf("type %#x", magic)
	}
}

// fsync appends blocks to a file and syncs each.
func fsync(dir string) (p50, p99 time.Duration, err error) {
	const rounds = 500
	f, err := os.Create(filepath.Join(dir, "fsync-probe"))
	if err != nil {
		return 0, 0, fmt.Errorf("couldn't make the fsync probe: %w", err)
	}
	defer os.Remove(f.Name())
	defer f.Close()
	block := make([]byte, 4096)
	took := make([]time.Duration, rounds)
	for i := range took {
		if _, err := f.Write(block); err != nil {
			return 0, 0, fmt.Errorf("couldn't write the fsync probe: %w", err)
		}
		start := time.Now()
		if err := unix.Fdatasync(int(f.Fd())); err != nil {
			return 0, 0, fmt.Errorf("couldn't sync the fsync probe: %w", err)
		}
		took[i] = time.Since(start)
	}
	return stats.Percentile(took, 0.50), stats.Percentile(took, 0.99), nil
}

func micros(d time.Duration) float64 { return float64(d) / float64(time.Microsecond) }

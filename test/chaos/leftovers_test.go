//go:build linux

package chaos

import (
	"bufio"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// Everything outside a test's own memory bears this and the pid of its process,
// so that runs side by side don't collide and a run can clean up after one that
// crashed. Processes need no cleaning: they die with their maker (Pdeathsig).
const family = "ublchaos-"

func prefix() string { return fmt.Sprintf("%s%d-", family, os.Getpid()) }

// deadOwner reports whether a name is of a run whose process is gone.
func deadOwner(name string) bool {
	rest, ours := strings.CutPrefix(name, family)
	digits, _, _ := strings.Cut(rest, "-")
	pid, err := strconv.Atoi(digits)
	return ours && err == nil && errors.Is(unix.Kill(pid, 0), unix.ESRCH)
}

func own(name string) bool { return strings.HasPrefix(name, prefix()) }

// sweepLeftovers removes what crashed runs left behind.
func sweepLeftovers() error { return sweep(deadOwner) }

// removeOwn removes what this run made and did not remove itself.
func removeOwn() {
	if os.Getenv("CHAOS_KEEP") != "" {
		return
	}
	if err := sweep(own); err != nil {
		fmt.Fprintln(os.Stderr, "couldn't clean up:", err)
	}
}

func sweep(mine func(name string) bool) error {
	var errs []error
	for _, mount := range mountsUnder(os.TempDir()) {
		if mine(firstBelow(os.TempDir(), mount)) {
			errs = append(errs, unix.Unmount(mount, unix.MNT_DETACH))
		}
	}
	for _, dir := range []struct {
		path   string
		remove func(path string) error
	}{
		{os.TempDir(), os.RemoveAll},
		{netnsDir, func(path string) error { return ip("netns", "del", filepath.Base(path)) }},
	} {
		entries, _ := os.ReadDir(dir.path) // a machine without namespaces has no such directory
		for _, e := range entries {
			if mine(e.Name()) {
				errs = append(errs, dir.remove(filepath.Join(dir.path, e.Name())))
			}
		}
	}
	return errors.Join(errs...)
}

// mountsUnder lists what is mounted below a directory, deepest last.
func mountsUnder(dir string) []string {
	file, err := os.Open("/proc/self/mounts")
	if err != nil {
		return nil
	}
	defer file.Close()
	var out []string
	for lines := bufio.NewScanner(file); lines.Scan(); {
		if f := strings.Fields(lines.Text()); len(f) > 1 && strings.HasPrefix(f[1], dir+"/") {
			out = append(out, f[1])
		}
	}
	return out
}

// firstBelow is the path's first element below dir.
func firstBelow(dir, path string) string {
	first, _, _ := strings.Cut(strings.TrimPrefix(path, dir+"/"), "/")
	return first
}

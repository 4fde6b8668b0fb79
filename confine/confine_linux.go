package confine

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"syscall"
)

// ThisProgram is the executable to start again. It stays what it is when its file is replaced.
func ThisProgram() string { return "/proc/self/exe" }

// Limit is one of setrlimit(2): beyond Soft a process is warned or refused, and Hard is the most
// that it can ask for.
type Limit struct {
	What       int
	Soft, Hard uint64
}

// Take takes limits upon the process, in their order.
func Take(limits ...Limit) error {
	for _, l := range limits {
		if err := syscall.Setrlimit(l.What, &syscall.Rlimit{Cur: l.Soft, Max: l.Hard}); err != nil {
			return fmt.Errorf("couldn't set limit %d: %w", l.What, err)
		}
	}
	return nil
}

// Niceness leaves a program a tenth of a processor that a server wants for itself. With the least
// priority, 19, it would be a seventieth, and a program of a second would take minutes.
const Niceness = 10

// YieldToOthers has a kernel without memory end this process before its server, and requests go
// before it. Both are for others' good alone, and some sandboxes don't allow them.
func YieldToOthers() {
	_ = os.WriteFile("/proc/self/oom_score_adj", []byte("1000"), 0)
	_ = yield()
}

// yield lowers the priority of all threads; those to come have it from them.
func yield() error {
	threads, err := filepath.Glob("/proc/self/task/*")
	if err != nil || len(threads) == 0 {
		return fmt.Errorf("couldn't list the process's threads: %w", err)
	}
	for _, t := range threads {
		id, err := strconv.Atoi(filepath.Base(t))
		if err != nil {
			return err
		}
		if err := syscall.Setpriority(syscall.PRIO_PROCESS, id, Niceness); err != nil {
			return fmt.Errorf("couldn't lower the priority: %w", err)
		}
	}
	return nil
}

// CloseInherited closes what the server has open and didn't mark as its own, as what it was started
// with. Go marks all that it opens. Standard input, output and error stay.
func CloseInherited() error {
	files, err := filepath.Glob("/proc/self/fd/*")
	if err != nil || len(files) == 0 {
		return fmt.Errorf("couldn't list the process's files: %w", err)
	}
	for _, f := range files {
		fd, err := strconv.Atoi(filepath.Base(f))
		if err != nil {
			return err
		}
		flags, _, failed := syscall.Syscall(syscall.SYS_FCNTL, uintptr(fd), syscall.F_GETFD, 0)
		if fd > 2 && failed == 0 && flags&syscall.FD_CLOEXEC == 0 {
			_ = syscall.Close(fd)
		}
	}
	return nil
}

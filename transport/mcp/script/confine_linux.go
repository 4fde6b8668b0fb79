package script

import (
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
)

// thisProgram stays what it is when its file is replaced.
func thisProgram() string { return "/proc/self/exe" }

// slack is what the runtime itself may map beyond what a program takes: it grows its heap by
// arenas of 64 MiB, and has threads.
const slack = 128 << 20

// confine takes limits upon the process that no program can lift. What isn't taken is an error:
// nothing may run then.
func confine(memory, cpu uint64) error {
	// Both are for others' good alone, and some sandboxes don't allow them. A kernel without memory
	// ends a child before its server, and requests go before programs.
	_ = os.WriteFile("/proc/self/oom_score_adj", []byte("1000"), 0)
	_ = yield()
	if err := closeInherited(); err != nil {
		return err
	}
	mapped, err := mapped()
	if err != nil {
		return err
	}
	endAtLimit()
	for _, l := range []struct {
		what        int
		warn, limit uint64
	}{
		{syscall.RLIMIT_AS, mapped + memory + slack, mapped + memory + slack},
		{syscall.RLIMIT_CPU, cpu, cpu + 1},
		{syscall.RLIMIT_CORE, 0, 0},
		{syscall.RLIMIT_FSIZE, 0, 0},
		{syscall.RLIMIT_NOFILE, 0, 0}, // the last: the others may open files
	} {
		if err := syscall.Setrlimit(l.what, &syscall.Rlimit{Cur: l.warn, Max: l.limit}); err != nil {
			return fmt.Errorf("couldn't set limit %d: %w", l.what, err)
		}
	}
	return nil
}

// endAtLimit ends the process, with its reason, where the kernel warns that its processor time is
// over. Who doesn't heed the warning is killed a second later, and a kill says no reason.
func endAtLimit() {
	over := make(chan os.Signal, 1)
	signal.Notify(over, syscall.SIGXCPU)
	go func() {
		<-over
		os.Exit(exitCPU)
	}()
}

// niceness leaves a program a tenth of a processor that a server wants for itself. With the least
// priority, 19, it would be a seventieth, and a program of a second would take minutes.
const niceness = 10

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
		if err := syscall.Setpriority(syscall.PRIO_PROCESS, id, niceness); err != nil {
			return fmt.Errorf("couldn't lower the priority: %w", err)
		}
	}
	return nil
}

// closeInherited closes what the server has open and didn't mark as its own, as what it was started
// with. Go marks all that it opens.
func closeInherited() error {
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

// mapped is how much of the address space is taken, in bytes.
func mapped() (uint64, error) {
	statm, err := os.ReadFile("/proc/self/statm")
	if err != nil {
		return 0, err
	}
	pages, err := strconv.ParseUint(strings.Fields(string(statm) + " ?")[0], 10, 64)
	return pages * uint64(os.Getpagesize()), err
}

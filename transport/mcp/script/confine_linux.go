package script

import (
	"os"
	"os/signal"
	"strconv"
	"strings"
	"syscall"

	"ubl/confine"
)

// slack is what the runtime itself may map beyond what a program takes: it grows its heap by
// arenas of 64 MiB, and has threads.
const slack = 128 << 20

// limit takes limits upon the process that no program can lift. What isn't taken is an error:
// nothing may run then.
func limit(memory, cpu uint64) error {
	confine.YieldToOthers()
	if err := confine.CloseInherited(); err != nil {
		return err
	}
	mapped, err := mapped()
	if err != nil {
		return err
	}
	endAtLimit()
	return confine.Take(
		confine.Limit{What: syscall.RLIMIT_AS, Soft: mapped + memory + slack, Hard: mapped + memory + slack},
		confine.Limit{What: syscall.RLIMIT_CPU, Soft: cpu, Hard: cpu + 1},
		confine.Limit{What: syscall.RLIMIT_CORE},
		confine.Limit{What: syscall.RLIMIT_FSIZE},
		confine.Limit{What: syscall.RLIMIT_NOFILE}, // the last: the others may open files
	)
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

// mapped is how much of the address space is taken, in bytes.
func mapped() (uint64, error) {
	statm, err := os.ReadFile("/proc/self/statm")
	if err != nil {
		return 0, err
	}
	pages, err := strconv.ParseUint(strings.Fields(string(statm) + " ?")[0], 10, 64)
	return pages * uint64(os.Getpagesize()), err
}

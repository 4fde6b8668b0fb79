package machine

import (
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"
	"time"
)

// tick is the unit of CPU time in /proc, which the kernel fixes for all
// architectures that Go runs on (USER_HZ is 100).
const tick = 10 * time.Millisecond

// Where /proc/PID/stat has what, counted from the field after the name.
const (
	userField   = 11
	systemField = 12
)

// CPU is the time that a process has spent on a core, user and system, all its
// threads together. It counts in steps of 10 ms.
func CPU(pid int) (time.Duration, error) {
	content, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return 0, fmt.Errorf("couldn't read the CPU time: %w", err)
	}
	// The name stands in brackets and may have blanks and brackets of its own.
	text := string(content)
	fields := strings.Fields(text[strings.LastIndexByte(text, ')')+1:])
	if len(fields) <= systemField {
		return 0, errors.New("/proc has fewer fields than expected")
	}
	return sumTicks(fields[userField : systemField+1])
}

// Where the first line of /proc/stat has what, counted from after its name.
const (
	idleField   = 3
	iowaitField = 4
	stealField  = 7 // the last one that counts: guests are in user already
)

// Busy is the time that all cores together have spent on anything at all.
func Busy() (time.Duration, error) {
	fields, err := coreFields()
	if err != nil {
		return 0, err
	}
	all, err := sumTicks(fields)
	if err != nil {
		return 0, err
	}
	idle, err := sumTicks(fields[idleField : iowaitField+1])
	return all - idle, err
}

// Stolen is the time in which all cores together had work and the host of this virtual
// machine gave them to others.
func Stolen() (time.Duration, error) {
	fields, err := coreFields()
	if err != nil {
		return 0, err
	}
	return sumTicks(fields[stealField:])
}

// coreFields are the CPU times of all cores together.
func coreFields() ([]string, error) {
	content, err := os.ReadFile("/proc/stat")
	if err != nil {
		return nil, fmt.Errorf("couldn't read the CPU time: %w", err)
	}
	line, _, _ := strings.Cut(string(content), "\n")
	fields := strings.Fields(strings.TrimPrefix(line, "cpu "))
	if len(fields) <= stealField {
		return nil, errors.New("/proc has fewer fields than expected")
	}
	return fields[:stealField+1], nil
}

func sumTicks(fields []string) (time.Duration, error) {
	var ticks uint64
	for _, field := range fields {
		n, err := strconv.ParseUint(field, 10, 63)
		if err != nil {
			return 0, fmt.Errorf("not a CPU time: %w", err)
		}
		ticks += n
	}
	return time.Duration(ticks) * tick, nil
}

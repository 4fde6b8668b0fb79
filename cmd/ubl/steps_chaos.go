//go:build chaos

package main

import (
	"os"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"
	"time"
)

// A build for fault tests takes two more variables: UBL_CHAOS_CLOCK names a file
// with the nanoseconds by which the clock is wrong, read again every second, and
// UBL_CHAOS_CRASH a step at which the process kills itself.

func systemClock(env map[string]string) func() time.Time {
	path := env["UBL_CHAOS_CLOCK"]
	if path == "" {
		return time.Now
	}
	var offset, readAt atomic.Int64
	return func() time.Time {
		now := time.Now()
		if last := readAt.Load(); now.UnixNano()-last > int64(time.Second) && readAt.CompareAndSwap(last, now.UnixNano()) {
			if text, err := os.ReadFile(path); err == nil {
				n, _ := strconv.ParseInt(strings.TrimSpace(string(text)), 10, 64)
				offset.Store(n)
			}
		}
		return now.Add(time.Duration(offset.Load()))
	}
}

func crashStep() func(string) {
	at := os.Getenv("UBL_CHAOS_CRASH")
	if at == "" {
		return nil
	}
	return func(step string) {
		if step == at {
			_ = syscall.Kill(os.Getpid(), syscall.SIGKILL)
		}
	}
}

//go:build !chaos

package main

import "time"

// systemClock is the machine's clock.
func systemClock(map[string]string) func() time.Time { return time.Now }

// crashStep is for builds with the tag chaos.
func crashStep() func(string) { return nil }

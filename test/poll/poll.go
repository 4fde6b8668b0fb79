// Package poll waits in tests for what other goroutines and processes bring about.
package poll

import "time"

// T is what may fail: a test, or one example of a property.
type T interface {
	Helper()
	Fatalf(format string, args ...any)
}

// Patience is how long Until waits: what takes a moment may take minutes on a machine that has
// much else to do, under the race detector.
const Patience = 5 * time.Minute

// Until asks again and again until something is so, and fails the test where it isn't in time.
func Until(t T, what string, so func() bool) {
	t.Helper()
	Within(t, Patience, what, so)
}

// Within is Until with another patience, for what is a fault if it comes later.
func Within(t T, patience time.Duration, what string, so func() bool) {
	t.Helper()
	for deadline := time.Now().Add(patience); !so(); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("not so within %v: %s", patience, what)
		}
	}
}

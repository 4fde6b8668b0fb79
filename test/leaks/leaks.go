// Package leaks finds goroutines that outlive a test. It is goleak with the patience of a
// busy machine: goleak gives goroutines that are about to end half a second.
package leaks

import (
	"fmt"
	"os"
	"testing"
	"time"

	"go.uber.org/goleak"
)

// patience is how long a goroutine may take to end after its test.
const patience = time.Minute

// Main runs a package's tests, and fails the package where they leave goroutines behind. It
// doesn't return.
func Main(m *testing.M, ignore ...goleak.Option) {
	code := m.Run()
	if code == 0 {
		if err := find(ignore); err != nil {
			fmt.Fprintf(os.Stderr, "the tests passed, and left goroutines behind: %v\n", err)
			code = 1
		}
	}
	os.Exit(code)
}

// None fails the test where there are other goroutines than those to ignore.
func None(t testing.TB, ignore ...goleak.Option) {
	t.Helper()
	if err := find(ignore); err != nil {
		t.Error(err)
	}
}

// find looks until nothing is left, or for as long as patience.
func find(ignore []goleak.Option) (err error) {
	for deadline := time.Now().Add(patience); ; {
		if err = goleak.Find(ignore...); err == nil || time.Now().After(deadline) {
			return err
		}
	}
}

// Package soak divides the tests in two. `make test` runs a fixed handful of every
// kind of fault and every screen, with fixed seeds. `make soak` sets UBL_SOAK and runs
// the same tests with everything that takes long: all rounds, all screen sizes, random
// seeds. This package alone reads the variable.
package soak

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"
)

// On reports whether everything is to run.
func On() bool { return os.Getenv("UBL_SOAK") != "" }

// Only leaves the test to `make soak`. The words say what would take long.
func Only(t testing.TB, why string) {
	t.Helper()
	if !On() {
		t.Skip("UBL_SOAK=1 runs it, as make soak does: " + why)
	}
}

// Of is few in `make test` and many in `make soak`: rounds, cases, durations.
func Of[N any](few, many N) N {
	if On() {
		return many
	}
	return few
}

// Seed is what a random test starts from: the environment's variable where it is set,
// else the fixed seed, or the time in `make soak`. The test's log has it, and how to
// repeat the run.
func Seed(t testing.TB, variable string, fixed uint64) uint64 {
	t.Helper()
	seed := Of(fixed, uint64(time.Now().UnixNano()))
	if text := os.Getenv(variable); text != "" {
		var err error
		if seed, err = strconv.ParseUint(text, 10, 64); err != nil {
			t.Fatalf("%s is not a number: %v", variable, err)
		}
	}
	repeat := fmt.Sprintf("%s=%d; repeat with %s%s=%d go test -race -run '^%s$' %s", variable, seed, Of("", "UBL_SOAK=1 "), variable, seed,
		strings.ReplaceAll(t.Name(), "/", "$/^"), here())
	t.Log(repeat)
	t.Cleanup(func() {
		if t.Failed() { // once more for those who read only the end
			t.Log(repeat)
		}
	})
	return seed
}

// here is the package under test as seen from the module's folder.
func here() string {
	dir, _ := os.Getwd()
	for above := dir; above != filepath.Dir(above); above = filepath.Dir(above) {
		if _, err := os.Stat(filepath.Join(above, "go.mod")); err == nil {
			below, _ := filepath.Rel(above, dir)
			return "./" + below
		}
	}
	return "."
}

// Package built is the program as a process, for tests: the one that UBL_BIN names, which
// `make test` builds once for all packages, else one that is built for the package at hand.
package built

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"
)

// Path is where the program is.
func Path(t testing.TB) string {
	t.Helper()
	at, err := path()
	if err != nil {
		t.Fatal(err)
	}
	return at
}

var path = sync.OnceValues(func() (string, error) {
	if at := os.Getenv("UBL_BIN"); at != "" {
		return filepath.Abs(at)
	}
	dir, err := os.MkdirTemp("", "ubl-built-")
	if err != nil {
		return "", err
	}
	at := filepath.Join(dir, "ubl")
	if out, err := exec.Command("go", "build", "-o", at, "ubl/cmd/ubl").CombinedOutput(); err != nil {
		return "", fmt.Errorf("couldn't build the program: %w\n%s", err, out)
	}
	folder = dir
	return at, nil
})

var folder string // the folder of a program that was built here

// Main runs a package's tests, for its TestMain.
func Main(m *testing.M) { os.Exit(Tests{m}.Run()) }

// Tests are a package's tests. The program is built before any test's deadline begins, and what was
// built goes with the last.
type Tests struct{ *testing.M }

// Run runs them, and answers the exit code.
func (t Tests) Run() int {
	_, _ = path() // each test says so where it failed
	defer Remove()
	return t.M.Run()
}

// Remove removes what was built here.
func Remove() {
	if folder != "" {
		_ = os.RemoveAll(folder)
	}
}

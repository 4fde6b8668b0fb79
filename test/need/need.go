// Package need is for tests that want more than Go: a browser, npm. Where it is missing
// they are left out, and the rest of the tests still say something. But who runs all
// tests must hear that some weren't run: `make test` sets UBL_NEED_ALL, and then they
// fail.
package need

import (
	"os"
	"os/exec"
	"strconv"
	"strings"
	"testing"
)

// Missing leaves the test out, or fails it where UBL_NEED_ALL is set. The words say what
// is missing and where one gets it.
func Missing(t testing.TB, format string, args ...any) {
	t.Helper()
	if os.Getenv("UBL_NEED_ALL") != "" {
		t.Fatalf("UBL_NEED_ALL is set, and "+format, args...)
	}
	t.Skipf(format, args...)
}

// Tool is the path of a program that `make test` installs where it is missing.
func Tool(t testing.TB, name string) string {
	t.Helper()
	path, err := exec.LookPath(name)
	if err != nil {
		Missing(t, "%s is not installed: test/tools/deps.sh installs it", name)
	}
	return path
}

// Node is the path of a node that builds the app and runs others' programs: 20 or newer.
func Node(t testing.TB) string {
	t.Helper()
	path := Tool(t, "node")
	version, err := exec.Command(path, "--version").Output()
	if err != nil {
		t.Fatal(err)
	}
	major, _, _ := strings.Cut(strings.TrimPrefix(string(version), "v"), ".")
	if n, err := strconv.Atoi(major); err != nil || n < 20 {
		Missing(t, "node 20 is needed, this is %s", version)
	}
	return path
}

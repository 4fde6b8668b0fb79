// Package need is for tests that want more than Go: a browser, npm. Where it is missing
// they are left out, and the rest of the tests still say something. But who runs all
// tests must hear that some weren't run: `make test` sets UBL_NEED_ALL, and then they
// fail.
package need

import (
	"os"
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

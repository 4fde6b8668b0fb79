package test

import (
	"os"
	"os/exec"
	"regexp"
	"strings"
	"testing"
)

// TestDriversHaveNothingOfTheHouse: `make test` leaves the race detector out for the Makefile's
// DRIVERS, so none of them may run code of the program's own in its process.
func TestDriversHaveNothingOfTheHouse(t *testing.T) {
	list := exec.Command("go", append([]string{"list", "-test", "-deps"}, packagesOf(t, "DRIVERS")...)...)
	list.Dir, list.Stderr = "..", os.Stderr
	out, err := list.Output()
	if err != nil {
		t.Fatalf("go list: %v", err)
	}
	for _, p := range strings.Fields(string(out)) {
		if strings.HasPrefix(p, "ubl/") && !strings.HasPrefix(p, "ubl/test/") {
			t.Errorf("a driver runs %s in its own process: it belongs to the packages with the race detector", p)
		}
	}
}

// TestPackagesAreTestedOnce: none of the Makefile's lists has a package of another, which would be
// tested with the race detector and without it.
func TestPackagesAreTestedOnce(t *testing.T) {
	in := map[string]string{}
	for _, list := range []string{"LONGEST", "STEPWISE", "DRIVERS"} {
		for _, p := range packagesOf(t, list) {
			if in[p] != "" {
				t.Errorf("%s is in %s and in %s", p, in[p], list)
			}
			in[p] = list
		}
	}
}

// packagesOf are those that a variable of the Makefile names.
func packagesOf(t *testing.T, variable string) []string {
	t.Helper()
	makefile, err := os.ReadFile("../Makefile")
	if err != nil {
		t.Fatal(err)
	}
	named := regexp.MustCompile(`(?m)^` + variable + ` := ((?:.*\\\n)*.*)$`).FindSubmatch(makefile)
	if named == nil {
		t.Fatalf("the Makefile names no %s", variable)
	}
	return strings.Fields(strings.ReplaceAll(string(named[1]), "\\\n", " "))
}

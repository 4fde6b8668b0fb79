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
	makefile, err := os.ReadFile("../Makefile")
	if err != nil {
		t.Fatal(err)
	}
	named := regexp.MustCompile(`(?m)^DRIVERS := (.+)$`).FindSubmatch(makefile)
	if named == nil {
		t.Fatal("the Makefile names no DRIVERS")
	}
	list := exec.Command("go", append([]string{"list", "-test", "-deps"}, strings.Fields(string(named[1]))...)...)
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

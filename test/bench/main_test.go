package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"ubl/test/bench/internal/report"
)

func TestParse(t *testing.T) {
	o, err := parse([]string{"-sections", "send,fanout", "-seconds", "2"})
	if err != nil || !o.selected(report.Send) || !o.selected(report.Fanout) || o.selected(report.Start) || o.settings.Seconds != 2 {
		t.Errorf("options are %+v, %v", o, err)
	}
	if o, err := parse(nil); err != nil || len(o.settings.Sections) != len(report.Sections()) {
		t.Errorf("by default %v is run, %v", o.settings.Sections, err)
	}
	for _, bad := range [][]string{{"-alarms", "0"}, {"-events", "-1"}, {"-sections", "sent"}, {"-rounds", "0"}, {"-sessions", "0"}, {"-documents", "-1"}} {
		if _, err := parse(bad); err == nil {
			t.Errorf("%v was taken", bad)
		}
	}
}

// The list of families still is as wire expects it: the family's line is in it, and its
// package is imported.
func TestWire(t *testing.T) {
	source, err := os.ReadFile(filepath.Join(product, "actors/families/families.go"))
	if err != nil {
		t.Fatal(err)
	}
	wired := string(wire(source))
	for _, want := range []string{"\t\"ubl/test/counter\"\n", "},\n\tfunc(w World) actors.Family { return counter.Family(w.Store) },\n}\n"} {
		if !strings.Contains(wired, want) {
			t.Errorf("the list lacks %q:\n%s", want, wired)
		}
	}
}

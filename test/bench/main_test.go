package main

import (
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
	for _, bad := range [][]string{{"-sections", "sent"}, {"-rounds", "0"}, {"-sessions", "0"}, {"-documents", "-1"}} {
		if _, err := parse(bad); err == nil {
			t.Errorf("%v was taken", bad)
		}
	}
}

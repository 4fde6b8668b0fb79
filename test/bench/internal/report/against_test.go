package report

import (
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// Figures of UBL are held against an earlier run's, each in its direction: those of peers,
// those that are only in one, and those that are neither good nor bad are not.
func TestCompare(t *testing.T) {
	run := func(rate, p99, etcd float64) *Report {
		r := &Report{}
		r.Machine.Date = time.Date(2026, 11, 22, 15, 12, 0, 0, time.UTC)
		r.Add(Key{Send, UBL, Rate}, rate)
		r.Add(Key{Send, UBL, P99}, p99)
		r.Add(Key{ClusterOf(64), EtcdThree, Rate}, etcd)
		r.Add(Key{Fanout, UBL, FrameBytes}, etcd)
		return r
	}
	dir := t.TempDir()
	if err := run(1000, 10, 500).Write(dir); err != nil {
		t.Fatal(err)
	}
	before, err := Read(filepath.Join(dir, "results.json"))
	if err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct {
		rate, p99 float64
		verdict   string
		shown     string
	}{
		{960, 10.4, "reached", ""},
		{2000, 12, "missed", "| send | UBL | p99_us | 10.00 | 12.00 | 20 % |"},
		{800, 5, "missed", "| send | UBL | per_second | 1000.00 | 800.00 | 25 % |"},
	} {
		r := run(test.rate, test.p99, 100)
		r.Add(Key{One, UBL, P50}, 3) // only now
		r.Compare(before)
		r.Judge(nil)
		if len(r.Goals) != 1 || r.Goals[0].Verdict != test.verdict || len(r.Against.Changes) != 2 {
			t.Errorf("%.0f/s, p99 %.1f: goals %+v, changes %+v", test.rate, test.p99, r.Goals, r.Against.Changes)
		}
		var text strings.Builder
		r.Markdown(&text)
		if got := text.String(); !strings.Contains(got, "## Against the run of 2026-11-22 15:12 UTC") || !strings.Contains(got, test.shown) || strings.Contains(got, "| 5 % |") {
			t.Errorf("%.0f/s, p99 %.1f is shown as\n%s", test.rate, test.p99, got)
		}
	}
	if _, err := Read(filepath.Join(dir, "RESULTS.md")); err == nil {
		t.Error("a text counts as results")
	}
}

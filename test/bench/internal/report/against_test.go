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
	less := &Report{}
	less.Add(Key{Send, UBL, Rate}, 2000)
	less.Compare(before)
	less.Judge(nil)
	if len(less.Goals) != 1 || less.Goals[0].Verdict != "missed" || len(less.Against.Absent) != 1 || less.Against.Absent[0].Key != (Key{Send, UBL, P99}) {
		t.Errorf("without a figure of the run before: goals %+v, absent %+v", less.Goals, less.Against.Absent)
	}
	var text strings.Builder
	less.Markdown(&text)
	if got := text.String(); !strings.Contains(got, "| send | UBL | p99_us | 10.00 | – | absent |") || !strings.Contains(got, "0.50, and 1 of its figures aren't in this run | **missed**") {
		t.Errorf("a figure that is absent is shown as\n%s", got)
	}
	if _, err := Read(filepath.Join(dir, "RESULTS.md")); err == nil {
		t.Error("a text counts as results")
	}
}

// TestCommittedRun: the run that is committed has every goal, judged by what it measured, or says by
// name which it didn't. Goals that came after it are judged again by -judge.
func TestCommittedRun(t *testing.T) {
	r, err := Read("../../results/results.json")
	if err != nil {
		t.Fatal(err)
	}
	told := map[string]Outcome{}
	for _, g := range r.Goals {
		told[g.Goal] = g
	}
	for _, g := range Goals() {
		switch out, ok := told[g.Text]; {
		case !ok:
			t.Errorf("the committed run doesn't say that it has no figure for the goal %q: judge it again (go run . -judge)", g.Text)
		case out.Verdict == "not measured" && out.Reason == "":
			t.Errorf("the goal %q was not measured, for no reason", g.Text)
		case out.Verdict != r.judge(g).Verdict || out.Reason != r.judge(g).Reason:
			t.Errorf("the goal %q is %s (%s) in the committed run, and by its figures %+v", g.Text, out.Verdict, out.Reason, r.judge(g))
		}
	}
}

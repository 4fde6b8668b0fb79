//go:build linux

package chaos

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"
)

// results are the figures of a run.
type results struct {
	Date        string            `json:"date"`
	Machine     string            `json:"machine"`
	Seed        uint64            `json:"seed"`
	Nodes       int               `json:"nodes"`
	Duration    string            `json:"duration"`
	Faults      map[string]int    `json:"faults"`
	Skipped     map[string]string `json:"skipped,omitempty"`
	Elections   uint64            `json:"elections"`
	Acked       int64             `json:"sends_acknowledged"`
	ByAgents    int64             `json:"sends_over_mcp"`
	Retries     int64             `json:"retries"`
	GivenUp     int64             `json:"sends_given_up"`
	Reads       int64             `json:"reads"`
	Invitations int64             `json:"invitations"`
	Events      int64             `json:"stream_events"`
	Reconnects  int64             `json:"stream_reconnects"`
	Versions    int64             `json:"document_versions"`
	Deletions   int64             `json:"documents_deleted"`
	Searches    int64             `json:"searches"`
	Payments    int64             `json:"payments_acknowledged"`
	NotMade     int64             `json:"payments_refused"`
	Open        int64             `json:"payments_given_up"`
	Additions   int64             `json:"additions_acknowledged"`
	Calls       int64             `json:"calls_of_the_hook"`
	Longest     string            `json:"longest_wait_of_a_send"`
	Meanwhile   string            `json:"meanwhile"`
	Verdicts    map[string]string `json:"verdicts"`
	Holds       bool              `json:"holds"`
}

// report gathers what a run did and what the checks found.
func report(w *world, l *load, d *driver, v *verdicts, took time.Duration, elections uint64) *results {
	longest, meanwhile := l.tally.longest()
	r := &results{
		Date:    time.Now().UTC().Format("2006-01-02 15:04 MST"),
		Machine: fmt.Sprintf("%s/%s, %d processors", runtime.GOOS, runtime.GOARCH, runtime.NumCPU()),
		Seed:    w.seed, Nodes: len(w.all()), Duration: took.Round(time.Second).String(),
		Faults: d.counts, Skipped: d.skipped(), Elections: elections,
		Acked: l.tally.acked.Load(), Retries: l.tally.retries.Load(), GivenUp: l.tally.givenUp.Load(), Reads: l.tally.reads.Load(),
		Invitations: l.tally.joins.Load(), Events: l.tally.events.Load(), Reconnects: l.tally.reconnects.Load(),
		ByAgents: l.tally.byAgents.Load(), Versions: l.tally.versions.Load(), Deletions: l.tally.deletions.Load(), Searches: l.tally.searches.Load(),
		Payments: l.tally.payments.Load(), NotMade: l.tally.refusedPayments.Load(), Open: l.tally.openPayments.Load(),
		Additions: l.tally.additions.Load(), Calls: w.hook.count(),
		Longest: longest.Round(time.Millisecond).String(), Meanwhile: meanwhile,
		Verdicts: make(map[string]string), Holds: v.bad() == 0,
	}
	for check, wrong := range v.found {
		r.Verdicts[check] = "holds"
		if len(wrong) > 0 {
			r.Verdicts[check] = fmt.Sprintf("fails: %s", wrong[0])
		}
	}
	return r
}

// skipped are faults that never were, with the reason.
func (d *driver) skipped() map[string]string {
	out := maps.Clone(d.skips)
	maps.DeleteFunc(out, func(name, _ string) bool { return d.counts[name] > 0 })
	return out
}

// String is the run in a few lines.
func (r *results) String() string {
	var b strings.Builder
	row := func(name string, value any) { fmt.Fprintf(&b, "| %s | %v |\n", name, value) }
	b.WriteString("| | |\n|---|---|\n")
	row("date", r.Date)
	row("machine", r.Machine)
	row("nodes", r.Nodes)
	row("seed", r.Seed)
	row("faults lasted", r.Duration)
	row("sends acknowledged", r.Acked)
	row("of these as an agent, over MCP", r.ByAgents)
	row("sends given up early, on purpose", r.GivenUp)
	row("retries", r.Retries)
	row("reads", r.Reads)
	row("invitations", r.Invitations)
	row("stream events", r.Events)
	row("streams resumed", r.Reconnects)
	row("versions of documents acknowledged", r.Versions)
	row("documents deleted", r.Deletions)
	row("searches", r.Searches)
	row("payments (transfers and issues of credits) acknowledged", r.Payments)
	row("payments refused, most on purpose", r.NotMade)
	row("payments given up early, on purpose", r.Open)
	row("additions to counters acknowledged", r.Additions)
	row("calls of the web hook, repetitions included", r.Calls)
	row("elections", r.Elections)
	row("longest wait of a send", fmt.Sprintf("%s (%s)", r.Longest, r.Meanwhile))
	b.WriteString("\n| fault | times |\n|---|---|\n")
	for _, name := range slices.Sorted(maps.Keys(r.Faults)) {
		row(name, r.Faults[name])
	}
	for _, name := range slices.Sorted(maps.Keys(r.Skipped)) {
		row(name, "not here: "+r.Skipped[name])
	}
	b.WriteString("\n| check | verdict |\n|---|---|\n")
	for _, name := range slices.Sorted(maps.Keys(r.Verdicts)) {
		row(name, r.Verdicts[name])
	}
	return b.String()
}

// write keeps the results of all runs beside the test.
func write(dir string, runs []*results) error {
	data, err := json.MarshalIndent(runs, "", "  ")
	if err != nil {
		return err
	}
	text := "# A long run of faults\n\nWritten by `make chaos`. What each fault and check is, doc.go tells.\n"
	for _, r := range runs {
		text += fmt.Sprintf("\n## %d nodes\n\n%s", r.Nodes, r)
	}
	return errors.Join(
		os.MkdirAll(dir, 0o755),
		os.WriteFile(filepath.Join(dir, "results.json"), append(data, '\n'), 0o644),
		os.WriteFile(filepath.Join(dir, "RESULTS.md"), []byte(text), 0o644))
}

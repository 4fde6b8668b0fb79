package report

import (
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"ubl/test/bench/internal/stats"
)

// Write puts RESULTS.md and results.json into dir.
func (r *Report) Write(dir string) error {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return fmt.Errorf("couldn't make %s: %w", dir, err)
	}
	content, err := json.MarshalIndent(r, "", "  ")
	if err != nil {
		return fmt.Errorf("couldn't encode the report: %w", err)
	}
	if err := os.WriteFile(filepath.Join(dir, "results.json"), append(content, '\n'), 0o644); err != nil {
		return fmt.Errorf("couldn't write the report: %w", err)
	}
	var text strings.Builder
	r.Markdown(&text)
	if err := os.WriteFile(filepath.Join(dir, "RESULTS.md"), []byte(text.String()), 0o644); err != nil {
		return fmt.Errorf("couldn't write the report: %w", err)
	}
	return nil
}

// Markdown writes the report for people. The writer must not fail.
func (r *Report) Markdown(w io.Writer) {
	fmt.Fprintf(w, "# UBL side by side\n\n")
	r.facts(w)
	r.goals(w)
	r.Against.write(w)
	for _, t := range r.tables() {
		t.write(w, r)
	}
	if len(r.Missing) > 0 {
		fmt.Fprintf(w, "## Not measured\n\n| section | program | reason |\n|---|---|---|\n")
		for _, m := range r.Missing {
			fmt.Fprintf(w, "| %s | %s | %s |\n", m.Section, m.Subject, cell(m.Reason))
		}
		fmt.Fprintln(w)
	}
	if len(r.Notes) > 0 {
		fmt.Fprintf(w, "## Noticed\n\n- %s\n\n", strings.Join(r.Notes, "\n- "))
	}
}

// busy is the load average, for each core, from which a report warns.
const busy = 0.4

func (r *Report) facts(w io.Writer) {
	m, s := r.Machine, r.Settings
	fmt.Fprintf(w, "%s · %d cores (%s) · %d MB · %s · %s · %s\n\n", m.Date.UTC().Format("2006-01-02 15:04 UTC"),
		m.Cores, m.CPU, m.MemoryMB, m.Kernel, m.Filesystem, m.Go)
	fmt.Fprintf(w, "One fsync (4 KiB appended, fdatasync): p50 %.0f µs, p99 %.0f µs. Load average before the run: %.2f. ",
		m.FsyncP50us, m.FsyncP99us, m.LoadBefore)
	var versions []string
	for _, name := range slices.Sorted(maps.Keys(r.Versions)) {
		versions = append(versions, name+" "+r.Versions[name])
	}
	fmt.Fprintf(w, "Versions: %s.\n\n", strings.Join(versions, ", "))
	fmt.Fprintf(w, "Each figure is the median of %d interleaved rounds of %d s, with the lowest and the highest in brackets. "+
		"Every program, and the load generator, is a process of its own on the same machine.\n\n", s.Rounds, s.Seconds)
	if m.LoadBefore > busy*float64(m.Cores) {
		fmt.Fprintf(w, "**The machine was busy with other things when the run began: these figures, ratios and verdicts are noisy. "+
			"Where the single rounds disagree, run it again on a quiet machine.**\n\n")
	}
}

func (r *Report) goals(w io.Writer) {
	fmt.Fprintf(w, "## Goals\n\n| goal | measured | verdict | in single rounds |\n|---|---|---|---|\n")
	for _, g := range r.Goals {
		if g.Reason != "" {
			fmt.Fprintf(w, "| %s | %s | **%s** | – |\n", g.Goal, cell(g.Reason), g.Verdict)
			continue
		}
		fmt.Fprintf(w, "| %s | %.2f | **%s** | %d of %d: %.2f–%.2f |\n", g.Goal, g.Measured, g.Verdict,
			g.In, len(g.Rounds), slices.Min(g.Rounds), slices.Max(g.Rounds))
	}
	fmt.Fprintln(w)
}

// cell keeps a text from ending its cell of a table.
func cell(text string) string { return strings.ReplaceAll(text, "|", "\\|") }

// format shows a series: its median and, from several rounds, its range.
func format(s stats.Series, show func(float64) string) string {
	if len(s.Rounds) == 1 {
		return show(s.Median)
	}
	return fmt.Sprintf("%s (%s–%s)", show(s.Median), show(s.Min), show(s.Max))
}

// whole shows 12345.6 as 12,346.
func whole(v float64) string {
	if v < 0 {
		return "-" + whole(-v)
	}
	digits := fmt.Sprintf("%.0f", v)
	for i := len(digits) - 3; i > 0; i -= 3 {
		digits = digits[:i] + "," + digits[i:]
	}
	return digits
}

// millis shows microseconds as milliseconds.
func millis(v float64) string { return fmt.Sprintf("%.2f", v/1000) }

// tenths shows one digit behind the point.
func tenths(v float64) string { return fmt.Sprintf("%.1f", v) }

// hundredths shows two.
func hundredths(v float64) string { return fmt.Sprintf("%.2f", v) }

// seconds shows seconds to the millisecond.
func seconds(v float64) string { return fmt.Sprintf("%.3f", v) }

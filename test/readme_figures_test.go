package test

import (
	"encoding/json"
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// TestReadmeHasTheRunsFigures: what README.md says of speed is what the committed run of the
// benchmark measured, the missed goals too. Who commits another run changes the README with it.
func TestReadmeHasTheRunsFigures(t *testing.T) {
	readme := section(t, "../README.md", "How fast")
	const results = "bench/results/RESULTS.md"

	theirs := map[string][]string{}
	for _, row := range table(section(t, results, "Send: 64 writers to one room over HTTP")) {
		theirs[row[0]] = []string{median(row[1]), tenths(t, median(row[3])) + " ms"}
	}
	ours := table(readme)
	if len(ours) != len(theirs) {
		t.Errorf("README has %d programs, and the run %d", len(ours), len(theirs))
	}
	for _, row := range ours {
		name := subject(row[0])
		if want := theirs[name]; name == "" || fmt.Sprint(row[1:]) != fmt.Sprint(want) {
			t.Errorf("README has %v of %q, and the run %v", row[1:], row[0], want)
		}
	}

	verdicts := map[string]int{}
	measured := map[string]string{}
	for _, row := range table(section(t, results, "Goals")) {
		verdicts[strings.Trim(row[2], "*")]++
		measured[row[0]] = row[1]
	}
	// what was measured for the one goal that begins and ends so, whatever its bound is
	ratio := func(begin, end string) string {
		for goal, value := range measured {
			if strings.HasPrefix(goal, begin) && strings.HasSuffix(goal, end) {
				return value
			}
		}
		return "no figure: " + begin
	}
	all := verdicts["reached"] + verdicts["missed"] + verdicts["not measured"]
	why := "they are newer than it."
	if sections := unmeasured(t); len(sections) > 0 {
		why = "those of its sections " + inWords(sections) + "."
	}
	start := table(section(t, results, "Start with 100,000 rooms on disk"))
	for _, want := range []string{
		fmt.Sprintf("%s times the bare program's", ratio("64 writers: sends/s", "the bare program")),
		fmt.Sprintf("Of %d goals, %d are missed, and %d weren't measured in that run: %s", all, verdicts["missed"], verdicts["not measured"], why),
		fmt.Sprintf("%s times as long", ratio("a portal hop, one caller: p50", "the direct call's")),
		fmt.Sprintf("ready in %s s", median(start[0][1])),
	} {
		if !strings.Contains(readme, want) {
			t.Errorf("README doesn't say %q", want)
		}
	}
}

// unmeasured are the sections of the benchmark that the committed run lacks, or in which UBL couldn't
// be measured.
func unmeasured(t *testing.T) (names []string) {
	t.Helper()
	var run struct {
		Settings struct{ Sections []string }
		Missing  []struct{ Section, Subject string } `json:"not_measured"`
	}
	data, err := os.ReadFile("bench/results/results.json")
	if err == nil {
		err = json.Unmarshal(data, &run)
	}
	if err != nil {
		t.Fatal(err)
	}
	for _, row := range table(readFile(t, "bench/README.md")) {
		name := strings.Trim(row[0], "`")
		failed := slices.ContainsFunc(run.Missing, func(m struct{ Section, Subject string }) bool {
			return regexp.MustCompile(`-\d+$`).ReplaceAllString(m.Section, "") == name && m.Subject == "UBL"
		})
		if failed || !slices.Contains(run.Settings.Sections, name) {
			names = append(names, "`"+name+"`")
		}
	}
	return names
}

// inWords lists names: a, b and c.
func inWords(names []string) string {
	last := len(names) - 1
	if last < 1 {
		return strings.Join(names, "")
	}
	return strings.Join(names[:last], ", ") + " and " + names[last]
}

// TestReadmeHasTheRangesOfAllRuns: what README.md says of more than one run is of the table of all
// committed runs, of which the last is the one whose results are there.
func TestReadmeHasTheRangesOfAllRuns(t *testing.T) {
	readme, results := section(t, "../README.md", "How fast"), readFile(t, "bench/results/RESULTS.md")
	runs := table(readFile(t, "bench/results/RUNS.md"))
	last := runs[len(runs)-1]
	measured := map[string]string{}
	for _, row := range table(section(t, "bench/results/RESULTS.md", "Goals")) {
		measured[row[0]] = row[1]
	}
	if !strings.Contains(results, "\n"+last[0]+" ·") {
		t.Errorf("the last run in the table is of %s, and the results are of another", last[0])
	}
	for i, of := range []struct{ goal, said string }{
		{"64 writers: sends/s ≥ 2 × JetStream", "It had %.1f to %.1f times JetStream's sends"},
		{"64 writers: sends/s ≥ 4 × workerd", "%.1f to %.1f times workerd's"},
		{"64 writers: sends/s ≥ 2.5 × the bare program", "and %.1f to %.1f times the bare program's"},
		{"three nodes, 64 clients: sends/s ≥ 1.5 × etcd's puts/s", "it took %.2f to %.2f of etcd's writes a second from 64 clients"},
		{"three nodes, 512 clients: sends/s ≥ 1.5 × etcd's puts/s", "%.2f to %.2f from 512"},
	} {
		var all []float64
		for _, row := range runs {
			if row[2+i] != "–" {
				all = append(all, number(t, row[2+i]))
			}
		}
		if want := fmt.Sprintf(of.said, slices.Min(all), slices.Max(all)); !strings.Contains(strings.ReplaceAll(readme, "\n", " "), want) {
			t.Errorf("README doesn't say %q", want)
		}
		if got := last[2+i]; got != measured[of.goal] {
			t.Errorf("the last run has %s in the table and %q in its results, of the goal %s", got, measured[of.goal], of.goal)
		}
	}
}

// TestReadmeProvesWhatItSaysOfItself: each answer of ours beside other gateways leads to its test.
func TestReadmeProvesWhatItSaysOfItself(t *testing.T) {
	_, gateways, ok := strings.Cut(section(t, "../README.md", "Beside others"), "For agents' tools")
	if !ok {
		t.Fatal("README has no table of gateways")
	}
	rows := table(gateways)
	if len(rows) < 13 {
		t.Fatalf("the table of gateways has %d rows", len(rows))
	}
	for _, row := range rows {
		links := regexp.MustCompile(`\]\(([^)]+)\)`).FindAllStringSubmatch(row[1], -1)
		if len(links) == 0 {
			t.Errorf("nothing proves %q", row[0])
		}
		for _, link := range links {
			if _, err := os.Stat("../" + link[1]); err != nil || !strings.HasSuffix(link[1], "_test.go") {
				t.Errorf("%q leads to %s, which is no test: %v", row[0], link[1], err)
			}
		}
	}
}

func readFile(t *testing.T, file string) string {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// section is what a document says below a heading, in one line a paragraph or row.
func section(t *testing.T, file, heading string) string {
	t.Helper()
	_, below, ok := strings.Cut(readFile(t, file), "\n## "+heading+"\n")
	if !ok {
		t.Fatalf("%s has no section %q", file, heading)
	}
	below, _, _ = strings.Cut(below, "\n## ")
	return below
}

// table are the rows of the first table in a text, without its head.
func table(text string) (rows [][]string) {
	for line := range strings.Lines(text) {
		if !strings.HasPrefix(line, "|") {
			if rows != nil {
				break
			}
			continue
		}
		var row []string
		for cell := range strings.SplitSeq(strings.Trim(strings.TrimSpace(line), "|"), "|") {
			row = append(row, strings.TrimSpace(cell))
		}
		rows = append(rows, row)
	}
	return rows[2:]
}

// median is a cell without the lowest and the highest.
func median(cell string) string {
	before, _, _ := strings.Cut(cell, " (")
	return before
}

// tenths rounds as the README does.
func tenths(t *testing.T, cell string) string {
	t.Helper()
	return fmt.Sprintf("%.1f", number(t, cell))
}

func number(t *testing.T, cell string) (n float64) {
	t.Helper()
	if _, err := fmt.Sscan(cell, &n); err != nil {
		t.Fatalf("%q is no number: %v", cell, err)
	}
	return n
}

// subject is the run's name of a program that the README names in more words.
func subject(cell string) string {
	for start, name := range map[string]string{"**UBL**": "UBL", "NATS JetStream": "NATS JetStream", "workerd": "workerd (Durable Objects)", "a bare Go program": "bare program"} {
		if strings.HasPrefix(cell, start) {
			return name
		}
	}
	return ""
}

package test

import (
	"fmt"
	"os"
	"regexp"
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
	start := table(section(t, results, "Start with 100,000 rooms on disk"))
	for _, want := range []string{
		fmt.Sprintf("%s times the bare program's", ratio("64 writers: sends/s", "the bare program")),
		fmt.Sprintf("Of %d goals, %d are missed", all, verdicts["missed"]),
		fmt.Sprintf("%s of etcd's", ratio("three nodes, 64 clients: sends/s", "etcd's puts/s")),
		fmt.Sprintf("%s times as long", ratio("a portal hop, one caller: p50", "the direct call's")),
		fmt.Sprintf("ready in %s s", median(start[0][1])),
	} {
		if !strings.Contains(readme, want) {
			t.Errorf("README doesn't say %q", want)
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

// section is what a document says below a heading, in one line a paragraph or row.
func section(t *testing.T, file, heading string) string {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	_, below, ok := strings.Cut(string(text), "\n## "+heading+"\n")
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
func tenths(t *testing.T, number string) string {
	t.Helper()
	var n float64
	if _, err := fmt.Sscan(number, &n); err != nil {
		t.Fatalf("%q is no number: %v", number, err)
	}
	return fmt.Sprintf("%.1f", n)
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

package main

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"time"
)

const (
	// long is how long a test takes that has a line of its own.
	long = 10 * time.Second
	// silence is how long nothing is printed before a line tells what is running.
	silence = time.Minute
)

// outcome is how a test or a package ended, and what it printed.
type outcome struct {
	name    string
	pkg     string
	action  string // "pass", "fail" or "skip"; "" while it runs
	began   time.Time
	elapsed time.Duration
	output  strings.Builder
}

// report gathers the outcomes of a run. One goroutine at a time may use it.
type report struct {
	out      io.Writer
	now      func() time.Time
	last     time.Time // something was printed
	packages map[string]*outcome
	tests    map[string]map[string]*outcome // by package and name
	kept     *results                       // nil where nothing is
	failed   error                          // to keep it
}

func newReport(out io.Writer) *report {
	return &report{out: out, now: time.Now, last: time.Now(), packages: make(map[string]*outcome), tests: make(map[string]map[string]*outcome)}
}

// say prints a line with the time.
func (r *report) say(format string, args ...any) {
	r.last = r.now()
	fmt.Fprintf(r.out, r.last.Format(time.TimeOnly)+"  "+format+"\n", args...)
}

// of is the outcome that an event is about.
func (r *report) of(e event) *outcome {
	if r.packages[e.Package] == nil {
		r.packages[e.Package] = &outcome{pkg: e.Package, began: r.now()}
		r.tests[e.Package] = make(map[string]*outcome)
	}
	if e.Test == "" {
		return r.packages[e.Package]
	}
	if r.tests[e.Package][e.Test] == nil {
		r.tests[e.Package][e.Test] = &outcome{pkg: e.Package, name: e.Test, began: r.now()}
	}
	return r.tests[e.Package][e.Test]
}

func (r *report) take(e event) {
	if strings.HasPrefix(e.Action, "build-") {
		fmt.Fprint(r.out, e.Output)
		return
	}
	o := r.of(e)
	switch e.Action {
	case "output":
		o.output.WriteString(e.Output)
	case "pass", "fail", "skip":
		o.action, o.elapsed = e.Action, time.Duration(e.Elapsed*float64(time.Second))
		if e.Test == "" {
			r.packageEnded(o)
		} else {
			r.testEnded(o)
		}
	}
}

// testEnded prints what failed, and a line for what took long.
func (r *report) testEnded(o *outcome) {
	switch {
	case o.action == "fail":
		r.say("FAIL  %s %s  %s", o.pkg, o.name, seconds(o.elapsed))
		fmt.Fprint(r.out, o.output.String())
	case o.elapsed >= long:
		r.say("      %s %s  %s", o.pkg, o.name, seconds(o.elapsed))
	}
}

// packageEnded prints the package's line and what it printed besides that of its
// tests. Where it failed, tests that never ended print theirs: one of them did it.
func (r *report) packageEnded(o *outcome) {
	if o.action == "skip" { // it has no tests
		return
	}
	verdict := "ok  "
	if o.action == "fail" {
		verdict = "FAIL"
		for _, test := range r.running(o.pkg) {
			r.say("FAIL  %s %s  never ended", test.pkg, test.name)
			fmt.Fprint(r.out, test.output.String())
		}
	}
	r.say("%s  %s  %s", verdict, o.pkg, seconds(o.elapsed))
	fmt.Fprint(r.out, o.own())
	if r.kept != nil {
		r.failed = errors.Join(r.failed, r.kept.keep(r, o.pkg))
	}
}

// own is what a package printed itself, without go test's own words.
func (o *outcome) own() string {
	var kept strings.Builder
	for line := range strings.Lines(o.output.String()) {
		first, _, _ := strings.Cut(strings.TrimSpace(line), "\t")
		if first = strings.TrimSpace(first); first != "PASS" && first != "ok" && first != "FAIL" && first != "?" {
			kept.WriteString(line)
		}
	}
	return kept.String()
}

// running are a package's tests that haven't ended, by name.
func (r *report) running(pkg string) []*outcome {
	var all []*outcome
	for _, name := range slices.Sorted(maps.Keys(r.tests[pkg])) {
		if o := r.tests[pkg][name]; o.action == "" {
			all = append(all, o)
		}
	}
	return all
}

// still tells what is running where nothing was printed for a while.
func (r *report) still(now time.Time) {
	if now.Sub(r.last) < silence {
		return
	}
	var names []string
	for _, pkg := range slices.Sorted(maps.Keys(r.packages)) {
		for _, o := range r.running(pkg) {
			names = append(names, fmt.Sprintf("%s %s (%s)", pkg, o.name, seconds(now.Sub(o.began))))
		}
	}
	r.say("      running: %s", cmp.Or(strings.Join(names[:min(len(names), 4)], ", "), "the compiler"))
}

// slowest prints the packages and tests that took longest.
func (r *report) slowest(n int) {
	var all []*outcome
	for _, o := range r.packages {
		all = append(all, o)
	}
	r.table("longest packages", all, n)
	r.table("longest tests", r.topTests(), n)
}

func (r *report) table(title string, all []*outcome, n int) {
	slices.SortFunc(all, func(a, b *outcome) int { return cmp.Compare(b.elapsed, a.elapsed) })
	fmt.Fprintf(r.out, "%s:\n", title)
	for _, o := range all[:min(n, len(all))] {
		fmt.Fprintf(r.out, "  %8s  %s %s\n", seconds(o.elapsed), o.pkg, o.name)
	}
}

// topTests are all tests that are no part of another, by package and name.
func (r *report) topTests() []*outcome {
	var all []*outcome
	for _, pkg := range slices.Sorted(maps.Keys(r.tests)) {
		for _, name := range slices.Sorted(maps.Keys(r.tests[pkg])) {
			if !strings.Contains(name, "/") {
				all = append(all, r.tests[pkg][name])
			}
		}
	}
	return all
}

func seconds(d time.Duration) string { return d.Round(100 * time.Millisecond).String() }

package main

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// follow feeds what `go test -json` printed to a report and answers both.
func follow(t *testing.T, events ...string) (*report, string) {
	t.Helper()
	var out strings.Builder
	r := newReport(&out)
	if err := r.follow(strings.NewReader(strings.Join(events, "\n"))); err != nil {
		t.Fatal(err)
	}
	return r, out.String()
}

func wants(t *testing.T, text string, parts ...string) {
	t.Helper()
	for _, part := range parts {
		if !strings.Contains(text, part) {
			t.Errorf("%q isn't there:\n%s", part, text)
		}
	}
}

func TestLongTestsAndPackagesHaveALine(t *testing.T) {
	_, out := follow(t,
		`{"Action":"start","Package":"ubl/x"}`,
		`{"Action":"run","Package":"ubl/x","Test":"TestShort"}`,
		`{"Action":"output","Package":"ubl/x","Test":"TestShort","Output":"said by the short one\n"}`,
		`{"Action":"pass","Package":"ubl/x","Test":"TestShort","Elapsed":0.1}`,
		`{"Action":"pass","Package":"ubl/x","Test":"TestLong","Elapsed":31.5}`,
		`{"Action":"output","Package":"ubl/x","Output":"PASS\n"}`,
		`{"Action":"output","Package":"ubl/x","Output":"measured   3 ms\n"}`,
		`{"Action":"output","Package":"ubl/x","Output":"ok  \tubl/x\t32.000s\n"}`,
		`{"Action":"pass","Package":"ubl/x","Elapsed":32}`)
	wants(t, out, "ubl/x TestLong  31.5s", "ok    ubl/x  32s", "measured   3 ms")
	for _, unwanted := range []string{"TestShort", "said by the short one", "PASS"} {
		if strings.Contains(out, unwanted) {
			t.Errorf("%q is there:\n%s", unwanted, out)
		}
	}
}

func TestWhatFailedIsPrinted(t *testing.T) {
	_, out := follow(t,
		`{"Action":"output","Package":"ubl/x","Test":"TestBad","Output":"want 3\n"}`,
		`{"Action":"fail","Package":"ubl/x","Test":"TestBad","Elapsed":0.1}`,
		`{"Action":"output","Package":"ubl/x","Test":"TestHangs","Output":"panic: test timed out\n"}`,
		`{"Action":"output","Package":"ubl/x","Output":"exit status 2\n"}`,
		`{"Action":"fail","Package":"ubl/x","Elapsed":1}`,
		`{"ImportPath":"ubl/y","Action":"build-output","Output":"y.go:3: undefined\n"}`)
	wants(t, out, "FAIL  ubl/x TestBad", "want 3", "TestHangs  never ended", "panic: test timed out", "exit status 2", "y.go:3: undefined")
}

func TestSilenceIsBroken(t *testing.T) {
	r, _ := follow(t, `{"Action":"run","Package":"ubl/x","Test":"TestLong"}`)
	var out strings.Builder
	r.out = &out
	r.still(r.last.Add(silence - time.Second))
	if out.Len() > 0 {
		t.Errorf("too early: %s", &out)
	}
	r.still(r.last.Add(silence + time.Second))
	wants(t, out.String(), "running: ubl/x TestLong")
}

func TestAnythingButEventsIsPassedOn(t *testing.T) {
	var out strings.Builder
	if err := newReport(&out).follow(strings.NewReader("go: no such package\n")); err == nil {
		t.Error("no error")
	}
}

// keeping is a report that keeps results of a run with these arguments.
func keeping(t *testing.T, root string, args []string, events ...string) string {
	t.Helper()
	r := newReport(io.Discard)
	r.kept = &results{root: root, args: args, commit: "abc123"}
	if err := errors.Join(r.follow(strings.NewReader(strings.Join(events, "\n"))), r.failed); err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(filepath.Join(root, resultsFile))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

func TestResultsTellSeedsAndReasons(t *testing.T) {
	text := keeping(t, t.TempDir(), []string{"-race", "./..."},
		`{"Action":"output","Package":"ubl/test/x","Test":"TestSeeded","Output":"    x_test.go:3: X_SEED=12; repeat with …\n"}`,
		`{"Action":"pass","Package":"ubl/test/x","Test":"TestSeeded","Elapsed":2}`,
		`{"Action":"output","Package":"ubl/test/x","Test":"TestSkipped","Output":"    x_test.go:9: needs two disks\n"}`,
		`{"Action":"skip","Package":"ubl/test/x","Test":"TestSkipped","Elapsed":0}`,
		`{"Action":"run","Package":"ubl/test/x","Test":"TestHangs"}`,
		`{"Action":"output","Package":"ubl/test/x","Output":"measured   3 ms\n"}`,
		`{"Action":"fail","Package":"ubl/test/x","Elapsed":2.1}`,
		`{"Action":"skip","Package":"ubl/z","Elapsed":0}`,
		`{"Action":"pass","Package":"ubl/y","Elapsed":1}`)
	wants(t, text, "`go test -race`", "commit abc123", "## ubl/test/x\n\nfail after 2.1s", "| TestSeeded | pass | 2s | X_SEED=12 |", "| TestSkipped | skip | 0s | needs two disks |",
		"| TestHangs | never |", "\n    measured   3 ms\n", "## ubl/y\n\npass after 1s")
	if strings.Contains(text, "ubl/z") {
		t.Errorf("a package without tests has a section:\n%s", text)
	}
}

// TestResultsAreMergedPartByPart: a part replaces the sections of what it ran, and leaves all others.
func TestResultsAreMergedPartByPart(t *testing.T) {
	root := t.TempDir()
	ended := func(pkg, seconds string) string {
		return `{"Action":"output","Package":"` + pkg + `","Output":"## said by it\n"}` + "\n" + `{"Action":"pass","Package":"` + pkg + `","Elapsed":` + seconds + `}`
	}
	keeping(t, root, []string{"-race", "ubl/x", "ubl/y"}, ended("ubl/x", "1"), ended("ubl/y", "2"))
	keeping(t, root, []string{"-run", "TestA", "ubl/z"}, ended("ubl/z", "3"))
	text := keeping(t, root, []string{"-run", "TestB", "ubl/z"}, ended("ubl/z", "4"))
	wants(t, text, "## ubl/x\n\npass after 1s", "## ubl/y\n\npass after 2s", "## ubl/z -run TestA\n\npass after 3s", "## ubl/z -run TestB\n\npass after 4s")
	text = keeping(t, root, []string{"-race", "ubl/x", "ubl/z"}, ended("ubl/x", "5"), ended("ubl/z", "6"))
	wants(t, text, "## ubl/x\n\npass after 5s", "## ubl/y\n\npass after 2s", "## ubl/z\n\npass after 6s", "    ## said by it")
	for _, gone := range []string{"after 1s", "after 3s", "after 4s"} {
		if strings.Contains(text, gone) {
			t.Errorf("%q is still there:\n%s", gone, text)
		}
	}
}

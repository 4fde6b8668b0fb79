package main

import (
	"errors"
	"fmt"
	"maps"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
)

// repeatable finds the line by which a test says how to repeat its run.
var repeatable = regexp.MustCompile(`\w*SEED=\d+`)

// write keeps what happened below the module's folder.
func (r *report) write(root string, args []string) error {
	texts := make(map[string]*strings.Builder) // by folder
	for _, pkg := range slices.Sorted(maps.Keys(r.packages)) {
		if o := r.packages[pkg]; o.action == "skip" {
			continue
		}
		dir := folder(pkg)
		if texts[dir] == nil {
			texts[dir] = new(strings.Builder)
			fmt.Fprintf(texts[dir], "# A soak\n\nWritten by `make soak`: `go test %s`.\n\n%s, %s/%s, %d processors.\n", strings.Join(args, " "),
				r.now().UTC().Format("2006-01-02 15:04 MST"), runtime.GOOS, runtime.GOARCH, runtime.NumCPU())
		}
		texts[dir].WriteString(r.section(pkg))
	}
	var failed error
	for dir, text := range texts {
		where := filepath.Join(root, dir)
		failed = errors.Join(failed, os.MkdirAll(where, 0o755), os.WriteFile(filepath.Join(where, "SOAK.md"), []byte(text.String()), 0o644))
	}
	return failed
}

// folder is where a package's results belong.
func folder(pkg string) string {
	if _, below, ok := strings.Cut(pkg, "/test/"); ok {
		return path.Join("test", below, "results")
	}
	return "test/results"
}

// section is what a package did.
func (r *report) section(pkg string) string {
	o := r.packages[pkg]
	var b strings.Builder
	fmt.Fprintf(&b, "\n## %s\n\n%s after %s\n\n| test | ended | after | seed, or why not |\n|---|---|---|---|\n", pkg, o.action, seconds(o.elapsed))
	for _, test := range r.topTests() {
		if test.pkg == pkg {
			fmt.Fprintf(&b, "| %s | %s | %s | %s |\n", test.name, test.action, seconds(test.elapsed), remark(test))
		}
	}
	if own := strings.TrimRight(o.own(), "\n"); own != "" {
		fmt.Fprintf(&b, "\n```\n%s\n```\n", own)
	}
	return b.String()
}

// remark is a test's seed, or why it was left out.
func remark(o *outcome) string {
	text := o.output.String()
	if o.action != "skip" {
		return repeatable.FindString(text)
	}
	for line := range strings.Lines(text) {
		if _, why, ok := strings.Cut(line, "_test.go:"); ok {
			_, why, _ = strings.Cut(why, ": ")
			return strings.TrimSpace(strings.ReplaceAll(why, "|", "/"))
		}
	}
	return ""
}

package main

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
)

// resultsFile is what a soak writes, below the module's folder. It has a section for
// each package, or for some of its tests; a later run replaces those of what it ran.
const resultsFile = "test/soak/results/SOAK.md"

const resultsHead = "# A soak\n\nWritten by `make soak`, part by part. Each section says when, on what machine and at which commit it ran.\n"

// repeatable finds the line by which a test says how to repeat its run.
var repeatable = regexp.MustCompile(`\w*SEED=\d+`)

// results keeps what happened as packages end, so that a run which is ended leaves what it did.
type results struct {
	root   string
	args   []string
	commit string
}

// keep puts a package's section into the file, in place of the one before.
func (k *results) keep(r *report, pkg string) error {
	if r.packages[pkg].action == "skip" { // it has no tests
		return nil
	}
	path := filepath.Join(k.root, resultsFile)
	old, err := os.ReadFile(path)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	sections := sectionsOf(string(old))
	title := pkg + k.only()
	if k.only() == "" { // what parts of it did before is replaced, too
		maps.DeleteFunc(sections, func(other, _ string) bool { return strings.HasPrefix(other, pkg+" ") })
	}
	sections[title] = k.section(r, pkg)
	var all strings.Builder
	all.WriteString(resultsHead)
	for _, title := range slices.Sorted(maps.Keys(sections)) {
		fmt.Fprintf(&all, "\n## %s\n\n%s\n", title, sections[title])
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	if err := os.WriteFile(path+".new", []byte(all.String()), 0o644); err != nil {
		return err
	}
	return os.Rename(path+".new", path)
}

// sectionsOf are the sections of a file by title. What packages print is indented, so
// only titles begin a line with ##.
func sectionsOf(text string) map[string]string {
	sections := make(map[string]string)
	for i, part := range strings.Split("\n"+text, "\n## ") {
		if title, section, ok := strings.Cut(part, "\n"); ok && i > 0 {
			sections[title] = strings.TrimSpace(section)
		}
	}
	return sections
}

// only says which of a package's tests were to run, "" for all.
func (k *results) only() string {
	for i, arg := range k.args {
		if arg == "-run" && i+1 < len(k.args) {
			return " -run " + k.args[i+1]
		}
	}
	return ""
}

// section is what a package did.
func (k *results) section(r *report, pkg string) string {
	o := r.packages[pkg]
	var b strings.Builder
	fmt.Fprintf(&b, "%s after %s. %s, commit %s, %s/%s, %d processors: `go test %s`.\n\n| test | ended | after | seed, or why not |\n|---|---|---|---|\n",
		o.action, seconds(o.elapsed), r.now().UTC().Format("2006-01-02 15:04 MST"), k.commit, runtime.GOOS, runtime.GOARCH, runtime.NumCPU(), strings.Join(k.options(), " "))
	for _, test := range r.topTests() {
		if test.pkg == pkg {
			fmt.Fprintf(&b, "| %s | %s | %s | %s |\n", test.name, cmp.Or(test.action, "never"), seconds(test.elapsed), remark(test))
		}
	}
	if own := strings.TrimRight(o.own(), "\n"); own != "" {
		b.WriteString("\n")
		for line := range strings.Lines(own) {
			b.WriteString("    " + line)
		}
	}
	return strings.TrimRight(b.String(), "\n")
}

// options are the arguments without the packages, which each section names by itself.
func (k *results) options() []string {
	return slices.DeleteFunc(slices.Clone(k.args), func(arg string) bool {
		return strings.HasPrefix(arg, "./") || strings.HasPrefix(arg, "ubl/") || arg == "ubl"
	})
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

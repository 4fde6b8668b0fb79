package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
)

// programName is what to type to run this very program again: ubl where the PATH has it
// under that name, else as it was called, or go run.
func programName(argv0, executable string) string {
	for _, name := range []string{"ubl", argv0} {
		if found, err := exec.LookPath(name); err == nil && sameFile(found, executable) {
			if name != "ubl" && builtToRun.MatchString(filepath.ToSlash(executable)) {
				return "go run ./cmd/ubl"
			}
			return quoted(name)
		}
	}
	return quoted(executable)
}

// builtToRun is where go run puts a program: its temporary folder, then its build cache.
var builtToRun = regexp.MustCompile(`/go-build[0-9]+/b[0-9]+/exe/|/[0-9a-f]{64}-d/`)

func sameFile(a, b string) bool {
	one, err := os.Stat(a)
	if err != nil {
		return false
	}
	other, err := os.Stat(b)
	return err == nil && os.SameFile(one, other)
}

// ownCommand finds the program's name in front of a command, as hints and examples write it.
var ownCommand = regexp.MustCompile(`(^|[\s"(])ubl ([a-z-])`)

// copyable is a text whose commands work when they are copied: they begin with what
// this program was called by.
func (p *program) copyable(text string) string {
	if p.name == "" || p.name == "ubl" {
		return text
	}
	return ownCommand.ReplaceAllString(text, "${1}"+strings.ReplaceAll(p.name, "$", "$$")+" ${2}")
}

// here is where copied commands work.
func (p *program) here() string {
	if p.name == "" || p.name == "ubl" || filepath.IsAbs(strings.Trim(p.name, "'")) {
		return "on this machine"
	}
	return "in this directory"
}

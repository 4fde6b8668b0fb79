package main

import (
	"io"
	"strings"
	"testing"

	"github.com/alecthomas/kong"
)

// TestEveryCommandHasExamples that parse, so that they can be copied.
func TestEveryCommandHasExamples(t *testing.T) {
	parser, err := newParser(&cli{}, &program{out: io.Discard, err: io.Discard}, func(int) {})
	if err != nil {
		t.Fatal(err)
	}
	tried := 0
	for _, leaf := range parser.Model.Leaves(false) {
		if len(examplesOf(leaf)) == 0 {
			t.Errorf("ubl %s has no example", leaf.Path())
		}
		for _, example := range examplesOf(leaf) {
			command := example
			if at := strings.Index(command, "ubl "); at >= 0 {
				command = command[at:]
			}
			if strings.ContainsAny(command, "|<>$()\"'*…;") { // a shell's
				continue
			}
			args := strings.Fields(command)[1:]
			tried++
			fresh, err := newParser(&cli{}, &program{out: io.Discard, err: io.Discard}, func(int) {})
			if err != nil {
				t.Fatal(err)
			}
			ctx, err := fresh.Parse(args)
			if err != nil && strings.Contains(err.Error(), "no such file") { // it would be the reader's
				continue
			}
			if err != nil {
				t.Errorf("%s: %v", example, err)
			} else if got := ctx.Selected().Path(); got != leaf.Path() {
				t.Errorf("%s is an example of %q, and means %q", example, leaf.Path(), got)
			}
		}
	}
	if tried < 80 {
		t.Errorf("only %d examples were tried", tried)
	}
	for path := range examples {
		if _, err := kong.Trace(parser, strings.Fields(path)); err != nil {
			t.Errorf("%s: %v", path, err)
		}
	}
}

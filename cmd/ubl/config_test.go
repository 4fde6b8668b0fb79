package main

import (
	"fmt"
	"io"
	"testing"

	"github.com/alecthomas/kong"
)

// TestVariablesMeanOneThing: flags of several commands that share a variable have one
// type, one default and one help. Those that differ in words alone are listed.
func TestVariablesMeanOneThing(t *testing.T) {
	alike := map[string]bool{
		"data":         true, // a data directory, which some make and some read
		"identity-key": true, // the file of the server's key
	}
	parser, err := newParser(&cli{}, &program{out: io.Discard, err: io.Discard}, func(int) {})
	if err != nil {
		t.Fatal(err)
	}
	type meaning struct{ path, is string }
	first := map[string]meaning{}
	err = kong.Visit(parser.Model, func(n kong.Visitable, next kong.Next) error {
		command, ok := n.(*kong.Node)
		if !ok {
			return next(nil)
		}
		for _, f := range command.Flags {
			if !configurable(f) {
				continue
			}
			m := meaning{command.Path(), fmt.Sprint(f.Target.Type())}
			if !alike[f.Name] {
				m.is += fmt.Sprintf(", default %q: %s", f.Default, f.Help)
			}
			name := variable(f.Name)
			if was, ok := first[name]; !ok {
				first[name] = m
			} else if was.is != m.is {
				t.Errorf("%s means two things:\n  %s: %s\n  %s: %s", name, was.path, was.is, m.path, m.is)
			}
		}
		return next(nil)
	})
	if err != nil || len(first) < 30 {
		t.Errorf("%d variables seen: %v", len(first), err)
	}
}

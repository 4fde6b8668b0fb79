package main

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
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

// TestServerBeatsDirectory: a server on the command line beats a data directory of the
// environment, as in the container, where UBL_DATA is set. One of the environment doesn't.
func TestServerBeatsDirectory(t *testing.T) {
	asked := 0
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { asked++; refuse(w, 403, "forbidden") }))
	defer s.Close()
	env := []string{"UBL_DATA=/nowhere", "UBL_TOKEN=secret-token", "UBL_URL=" + s.URL}
	file := filepath.Join(t.TempDir(), "backup.tar")
	for _, c := range []struct {
		args  []string
		asked int
	}{
		{[]string{"export", "--url", s.URL}, 1},
		{[]string{"backup", file, "--url=" + s.URL}, 1},
		{[]string{"export", "--tenant", "t:acme.com"}, 0},
		{[]string{"export", "--tenant", "t:acme.com", "--url", s.URL, "--data", "/nowhere"}, 0},
	} {
		asked = 0
		var errs bytes.Buffer
		if code := Run(t.Context(), c.args, strings.NewReader(""), io.Discard, &errs, env); code != 1 || asked != c.asked {
			t.Errorf("%v: %d, the server was asked %d times: %s", c.args, code, asked, &errs)
		}
	}
}

package api

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "write the transcripts anew")

// TestTranscripts plays the requests in testdata/*.txt and compares what the
// actors are asked and what the caller is answered. Every answer is checked
// against the schema that the OpenAPI document promises.
//
//	== what happens
//	> METHOD target [Header: value]
//	> body
//	? whom is asked what
//	< status
//	body
func TestTranscripts(t *testing.T) {
	files, err := filepath.Glob("testdata/*.txt")
	if err != nil || len(files) == 0 {
		t.Fatal("no transcripts", err)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txt"), func(t *testing.T) {
			want, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			got := play(t, string(want))
			if *update {
				if err := os.WriteFile(file, []byte(got), 0o644); err != nil {
					t.Fatal(err)
				}
			} else if got != string(want) {
				t.Errorf("the transcript differs; it is now\n%s", got)
			}
		})
	}
}

func play(t *testing.T, script string) string {
	s := newServer(t)
	c := newContract(t, s)
	var out strings.Builder
	for section := range strings.SplitSeq(strings.TrimPrefix(script, "== "), "\n== ") {
		title, rest, _ := strings.Cut(section, "\n")
		var said []string
		for line := range strings.Lines(rest) {
			if request, ok := strings.CutPrefix(line, "> "); ok {
				said = append(said, strings.TrimSuffix(request, "\n"))
			}
		}
		fmt.Fprintf(&out, "== %s\n%s\n", title, s.exchange(t, c, said))
	}
	return strings.TrimSuffix(out.String(), "\n")
}

// exchange plays one request and writes it down.
func (s *server) exchange(t *testing.T, c *contract, said []string) string {
	var out strings.Builder
	for _, line := range said {
		fmt.Fprintf(&out, "> %s\n", line)
	}
	method, rest, _ := strings.Cut(said[0], " ")
	target, head, _ := strings.Cut(rest, " ")
	var header []string
	if name, value, ok := strings.Cut(head, ": "); ok {
		header = []string{name, value}
	}
	w := s.do(method, target, strings.Join(said[1:], "\n"), header...)
	for _, q := range s.takeAsked() {
		fmt.Fprintf(&out, "? %s\n", q)
	}
	fmt.Fprintf(&out, "< %d\n%s\n", w.Code, strings.TrimSuffix(w.Body.String(), "\n"))
	c.check(t, s, method, target, w)
	return out.String()
}

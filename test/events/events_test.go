package events_test

import (
	"io"
	"slices"
	"strings"
	"testing"
	"testing/iotest"

	"ubl/test/events"
)

// TestCutEvents: an event counts once its blank line is there, however its stream ends and
// wherever it is cut.
func TestCutEvents(t *testing.T) {
	const stream = ":\n\nid: 1\nevent: note\ndata: {}\n\nid: 22\ndata: a\ndata: b\n\n"
	for n := range len(stream) + 1 {
		want := strings.Count(stream[:n], "\n\n")
		for _, in := range []io.Reader{
			strings.NewReader(stream[:n]),
			io.MultiReader(strings.NewReader(stream[:n]), iotest.ErrReader(io.ErrUnexpectedEOF)),
		} {
			got := slices.Collect(events.All(in))
			if len(got) != want {
				t.Errorf("of %q come %+v, want %d events", stream[:n], got, want)
			}
			if want == 3 && (got[1] != events.Event{ID: "1", Name: "note", Data: "{}"} || got[2].ID != "22") {
				t.Errorf("the events are %+v", got)
			}
		}
	}
}

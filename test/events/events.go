// Package events reads server-sent events in tests: what stands between two blank lines is one,
// as r3labs/sse takes streams apart. Tests that look at the bytes of a connection don't use it.
package events

import (
	"bytes"
	"io"
	"iter"
	"strings"

	"github.com/r3labs/sse/v2"
)

// longest is the most bytes of one event.
const longest = 1 << 20

// Event is what a client gets. A stream's comments and its retry come as events, too.
type Event struct{ ID, Name, Data, Comment, Retry string }

// Reader reads a stream.
type Reader struct{ in *sse.EventStreamReader }

// cut is put behind a stream, so that an event which the stream ended in the middle of is known:
// the library takes it for a whole one.
const cut = "\x00cut"

// broken is a stream that ends where it breaks.
type broken struct{ io.Reader }

func (b broken) Read(p []byte) (int, error) {
	n, err := b.Reader.Read(p)
	if err != nil {
		err = io.EOF
	}
	return n, err
}

// NewReader reads from in, which its caller closes.
func NewReader(in io.Reader) *Reader {
	return &Reader{sse.NewEventStreamReader(io.MultiReader(broken{in}, strings.NewReader(cut)), longest)}
}

// Next waits for the next event. There is none once the stream has ended or broken, also where that
// was in the middle of one.
func (r *Reader) Next() (e Event, ok bool) {
	block, err := r.in.ReadEvent()
	if err != nil || bytes.HasSuffix(block, []byte(cut)) {
		return Event{}, false
	}
	for line := range strings.SplitSeq(string(block), "\n") {
		name, value, _ := strings.Cut(line, ":")
		value = strings.TrimPrefix(value, " ")
		switch name {
		case "id":
			e.ID = value
		case "event":
			e.Name = value
		case "data":
			e.Data += value
		case "retry":
			e.Retry = value
		case "":
			e.Comment = value
		}
	}
	return e, true
}

// All are the events of a stream to its end.
func All(in io.Reader) iter.Seq[Event] {
	r := NewReader(in)
	return func(yield func(Event) bool) {
		for e, ok := r.Next(); ok && yield(e); e, ok = r.Next() {
		}
	}
}

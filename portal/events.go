package portal

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"iter"
)

// The events of a stream are read by hand: r3labs/sse finds where one ends and leaves its lines to
// its client, which asks by GET and has no bound.

// readEvents finds the answer to a request in a stream of server-sent events, whose
// length the guard bounds. Notifications are passed over: who wants to see a call's
// progress has it made by the SDK.
func readEvents(body io.Reader, id string) (*message, error) {
	for data, err := range messages(body) {
		if err != nil {
			return nil, fmt.Errorf("couldn't read a stream: %w", err)
		}
		if answer, err := answerTo(id, data); answer != nil || err != nil {
			return answer, err
		}
	}
	return nil, fmt.Errorf("couldn't read a stream: it ended before the answer")
}

// messages are the data of those events of a stream that are messages, and at last an error where
// it broke.
func messages(body io.Reader) iter.Seq2[[]byte, error] {
	return func(yield func([]byte, error) bool) {
		lines := bufio.NewScanner(body)
		lines.Buffer(nil, 2*maxAnswer) // the guard ends a stream long before
		var e event
		for lines.Scan() {
			if len(lines.Bytes()) > 0 {
				e.add(lines.Bytes())
				continue
			}
			if data := e.end(); data != nil && !yield(data, nil) {
				return
			}
		}
		if err := lines.Err(); err != nil {
			yield(nil, err)
		} else if data := e.end(); data != nil { // some servers leave out the last empty line
			yield(data, nil)
		}
	}
}

// event is one event of a stream, as far as it has been read.
type event struct {
	name string
	data []byte
}

// add takes in a line. What isn't the name or the data has no meaning here.
func (e *event) add(line []byte) {
	field, value, _ := bytes.Cut(line, []byte(":"))
	value = bytes.TrimPrefix(value, []byte(" "))
	switch string(field) {
	case "event":
		e.name = string(value)
	case "data":
		if len(e.data) > 0 {
			e.data = append(e.data, '\n')
		}
		e.data = append(e.data, value...)
	}
}

// end is the data where the event is a message, nil for any other, and begins the next.
func (e *event) end() (data []byte) {
	if e.name == "" || e.name == "message" {
		data = e.data
	}
	e.name, e.data = "", nil
	return data
}

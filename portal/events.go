package portal

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
)

// readEvents finds the answer to a request in a stream of server-sent events, whose
// length the guard bounds. Notifications are passed over: who wants to see a call's
// progress has it made by the SDK.
func readEvents(body io.Reader, id string) (*message, error) {
	lines := bufio.NewScanner(body)
	lines.Buffer(nil, 2*maxAnswer) // the guard ends a stream long before
	var e event
	for lines.Scan() {
		if len(lines.Bytes()) > 0 {
			e.add(lines.Bytes())
			continue
		}
		if answer, err := e.end(id); answer != nil || err != nil {
			return answer, err
		}
	}
	if err := lines.Err(); err != nil {
		return nil, fmt.Errorf("couldn't read a stream: %w", err)
	}
	// Some servers leave out the last empty line.
	answer, err := e.end(id)
	if err == nil && answer == nil {
		err = fmt.Errorf("couldn't read a stream: it ended before the answer")
	}
	return answer, err
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

// end is the answer where the event is the one to the request, and begins the next.
func (e *event) end(id string) (*message, error) {
	data, message := e.data, e.name == "" || e.name == "message"
	e.name, e.data = "", nil
	if len(data) == 0 || !message {
		return nil, nil
	}
	return answerTo(id, data)
}

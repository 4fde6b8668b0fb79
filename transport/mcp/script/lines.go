package script

import (
	"bufio"
	"errors"
	"io"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// Each line is one JSON object. The runner begins with a start and goes on with an answer to each
// call; the child writes notes, of which the last is an end.

// start is the job as the child gets it.
type start struct {
	Program   string         `json:"program"`
	Arguments jsontext.Value `json:"arguments"`
	Now       int64          `json:"now"` // milliseconds since 1970
	Seed      uint64         `json:"seed,string"`
	Memory    uint64         `json:"memory"` // bytes that the program may take
	CPU       uint64         `json:"cpu"`    // seconds of a processor
	MaxCalls  int            `json:"max_calls"`
}

// answer is what became of a call.
type answer struct {
	N       int            `json:"n"`
	Value   jsontext.Value `json:"value,omitzero"`
	Problem *Problem       `json:"problem,omitzero"`
}

// note is one of these.
type note struct {
	Call *asked  `json:"call,omitzero"`
	Log  *string `json:"log,omitzero"`
	End  *end    `json:"end,omitzero"`
}

// asked is a call.
type asked struct {
	N         int            `json:"n"`
	Tool      string         `json:"tool"`
	Arguments jsontext.Value `json:"arguments"`
}

// end is how the program ended: by one of these.
type end struct {
	Result  jsontext.Value `json:"result,omitzero"`
	Failure *Failure       `json:"failure,omitzero"`
}

// Bounds of a line, in bytes. What the child writes is bounded by the runner, who doesn't trust it.
const (
	maxNote  = 1 << 20
	maxStart = 2 << 20
	maxLine  = MaxAnswer + maxNote
)

var errLine = errors.New("a line is longer than it may be, or no message")

// readLine reads a message of at most so many bytes.
func readLine(r *bufio.Reader, most int, to any) error {
	var line []byte
	for {
		piece, err := r.ReadSlice('\n')
		if len(line)+len(piece) > most {
			return errLine
		}
		line = append(line, piece...)
		if errors.Is(err, bufio.ErrBufferFull) {
			continue
		}
		if err != nil {
			return err
		}
		break
	}
	if json.Unmarshal(line, to, json.RejectUnknownMembers(true)) != nil {
		return errLine
	}
	return nil
}

// writeLine writes a message.
func writeLine(w io.Writer, message any) error {
	line, err := json.Marshal(message, json.Deterministic(true))
	if err != nil {
		return err
	}
	_, err = w.Write(append(line, '\n'))
	return err
}

// valid reports whether a note is one of its kinds, and holds what it should.
func (n *note) valid() bool {
	kinds := 0
	for _, there := range []bool{n.Call != nil, n.Log != nil, n.End != nil} {
		if there {
			kinds++
		}
	}
	switch {
	case kinds != 1:
		return false
	case n.Call != nil:
		return len(n.Call.Arguments) <= MaxArguments && n.Call.Arguments.Kind() == '{'
	case n.End != nil:
		return (n.End.Failure == nil) != (n.End.Result == nil) && len(n.End.Result) <= MaxResult
	}
	return true
}

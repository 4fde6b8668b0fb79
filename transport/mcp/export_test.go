package mcp

import (
	"encoding/json"

	"github.com/go-json-experiment/json/jsontext"

	"ubl"
)

// LeaveToSDK has the SDK answer every tools/call, so that tests can compare both
// ways.
func (s *Server) LeaveToSDK() { s.slow = true }

// Spell is a tool's name for a client.
func Spell(client, name string) string { return dialectOf(client).spell(name) }

// KeyOf is what a URI names, "" for nothing.
func KeyOf(uri string) string {
	r, ok := parseURI(uri)
	if !ok {
		return ""
	}
	return r.key()
}

// Means reports whether a client that calls a name may mean the tool.
func Means(called, name string) bool { return means(called, name) }

// Portable is a schema as clients get it.
func Portable(schema string) string {
	out, err := portable(json.RawMessage(schema))
	if err != nil {
		return err.Error()
	}
	return string(out)
}

// Rows are the table of our own tools, each row with its set and the tools in it.
func Rows() (out [][2]string) {
	for _, row := range ownSets {
		out = append(out, [2]string{row.set, row.tools})
	}
	return out
}

// MakeState and OpenState are the two ends of what a client brings back with a reply.
func (s *Server) MakeState(who ubl.Identity, n int64, question int, tool, args string) string {
	return s.makeState(who, n, question, tool, []byte(args))
}

// OpenState is 0 for a state that doesn't open.
func (s *Server) OpenState(state string, who ubl.Identity, tool, args string) (n int64, question int) {
	n, question, ok := s.openState(state, who, tool, []byte(args))
	if !ok {
		return 0, 0
	}
	return n, question
}

// ReadAskID is the call and the question that an id names, 0 for none.
func ReadAskID(id string) (int64, int) {
	n, question, ok := readAskID(id)
	if !ok {
		return 0, 0
	}
	return n, question
}

// ShowsForms reports what a client's capabilities say of forms, and of tasks.
func ShowsForms(capabilities string) (form, tasks bool) {
	a := readAbilities(jsontext.Value(capabilities))
	return a.form, a.tasks
}

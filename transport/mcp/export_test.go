package mcp

import "encoding/json"

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

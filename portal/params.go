package portal

import (
	"encoding/base64"
	"encoding/json"
	"math"
	"net/http"
	"strconv"
	"strings"

	"ubl"
)

// paramHeader is an argument that a tool's input schema wants repeated in a header,
// for proxies that route by it (x-mcp-header).
type paramHeader struct {
	path []string // of the argument, by names of members
	name string   // of the header
}

// paramHeaders finds them in a pinned definition.
func paramHeaders(definition json.RawMessage) []paramHeader {
	var d struct {
		InputSchema json.RawMessage `json:"inputSchema"`
	}
	if json.Unmarshal(definition, &d) != nil {
		return nil
	}
	return annotated(d.InputSchema, nil)
}

func annotated(schema json.RawMessage, path []string) (out []paramHeader) {
	var s struct {
		Properties map[string]json.RawMessage `json:"properties"`
		Header     json.RawMessage            `json:"x-mcp-header"`
	}
	if json.Unmarshal(schema, &s) != nil { // as where it is true or false
		return nil
	}
	var name string
	if len(path) > 0 && json.Unmarshal(s.Header, &name) == nil && ubl.ValidHeader(name) {
		out = append(out, paramHeader{path, "Mcp-Param-" + name})
	}
	for member, inner := range s.Properties {
		out = append(out, annotated(inner, append(path[:len(path):len(path)], member))...)
	}
	return out
}

// repeatParams sets the headers for those arguments that are there.
func repeatParams(h http.Header, params []paramHeader, args json.RawMessage) {
	if len(params) == 0 {
		return
	}
	var object map[string]any
	if json.Unmarshal(args, &object) != nil {
		return
	}
	for _, p := range params {
		if text, ok := headerText(argument(object, p.path)); ok {
			h.Set(p.name, text)
		}
	}
}

// argument is the value at a path, nil where there is none.
func argument(object map[string]any, path []string) any {
	for _, name := range path[:len(path)-1] {
		object, _ = object[name].(map[string]any)
	}
	return object[path[len(path)-1]]
}

// headerText writes a value as a header; only texts, booleans and integers have one.
func headerText(v any) (string, bool) {
	switch v := v.(type) {
	case string:
		return plainOrBase64(v), true
	case bool:
		return strconv.FormatBool(v), true
	case float64: // beyond the bound, readers of JSON disagree about integers
		const most = 1<<53 - 1
		return strconv.FormatInt(int64(v), 10), v == math.Trunc(v) && math.Abs(v) <= most
	}
	return "", false
}

// plainOrBase64 wraps a text that wouldn't come through as it is, or that looks as if
// it were wrapped.
func plainOrBase64(s string) string {
	const open, shut = "=?base64?", "?="
	plain := strings.Trim(s, " \t") == s &&
		!strings.ContainsFunc(s, func(c rune) bool { return c < ' ' || c > '~' }) &&
		!(strings.HasPrefix(s, open) && strings.HasSuffix(s, shut))
	if plain {
		return s
	}
	return open + base64.StdEncoding.EncodeToString([]byte(s)) + shut
}

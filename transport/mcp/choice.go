package mcp

import (
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"ubl"
	"ubl/transport/envelope"
)

// Paths that the server is mounted at. Below each are /{set,set}, /readonly and
// /{set,set}/readonly.
const (
	ownPath    = "/mcp"
	portalPath = "/portal/mcp"
)

// Where else a client may say which tools it wants: in the query, or in headers of the
// names that other servers know too.
const (
	querySets     = "sets"
	queryReadOnly = "readonly"
	querySchemas  = "schemas"

	headerSets     = "X-Mcp-Toolsets"
	headerReadOnly = "X-Mcp-Readonly"
	headerReadSafe = "X-Mcp-Read-Only" // as it is easily misspelt
	headerSchemas  = "X-Mcp-Schemas"
)

// maxSets is how many sets one request names: as many as a tenant has servers, and more.
const maxSets = 100

// choice is which tools a request wants to see, as its address and its headers say. The zero
// one is what a client gets that says nothing.
type choice struct {
	sets     []string // nil for those that the caller is shown by default
	readOnly bool
	output   bool // schemas of what tools answer, too
}

// choiceOf reads it: what the path says beats the query, and that the headers.
func choiceOf(r *http.Request, mount string) (c choice, err error) {
	inPath, readOnlyInPath, err := choiceInPath(strings.TrimPrefix(r.URL.Path, mount))
	if err != nil {
		return c, err
	}
	query := url.Values{}
	if r.URL.RawQuery != "" {
		if query, err = url.ParseQuery(r.URL.RawQuery); err != nil {
			return c, invalid("query", "not as URLs have it").Because(err)
		}
	}
	if err = knownQuery(query); err != nil {
		return c, err
	}
	sets, place := inPath, "path"
	if sets == "" {
		sets, place = said(query, querySets, r.Header, headerSets)
	}
	if c.sets, err = setsIn(sets, place); err != nil {
		return c, err
	}
	if c.readOnly = readOnlyInPath; !c.readOnly {
		if c.readOnly, err = yes(said(query, queryReadOnly, r.Header, headerReadOnly, headerReadSafe)); err != nil {
			return c, err
		}
	}
	switch schemas, place := said(query, querySchemas, r.Header, headerSchemas); schemas {
	case "output":
		c.output = true
	case "", "input":
	default:
		return c, invalid(place, "expected input, or output for both")
	}
	return c, nil
}

// PathOf is the path of an MCP server that chooses the same tools as a path and a query. A query
// that the server would refuse chooses nothing.
func PathOf(path, query string) string {
	mount := mountOf(path)
	c, err := choiceOf(&http.Request{URL: &url.URL{Path: path, RawQuery: query}}, mount)
	if err != nil {
		return path
	}
	if len(c.sets) > 0 {
		mount += "/" + strings.Join(c.sets, ",")
	}
	if c.readOnly {
		mount += "/" + readOnlyPath
	}
	return mount
}

// mountOf is where the server at a path is mounted.
func mountOf(path string) string {
	if strings.HasPrefix(path, portalPath) {
		return portalPath
	}
	return ownPath
}

// choiceInPath reads what is behind the mount: nothing, /{sets}, /readonly or both.
func choiceInPath(rest string) (sets string, readOnly bool, err error) {
	parts := strings.Split(rest, "/")[1:]
	if rest == "" {
		return "", false, nil
	}
	if n := len(parts); parts[n-1] == readOnlyPath {
		parts, readOnly = parts[:n-1], true
	}
	if len(parts) > 1 || len(parts) == 1 && parts[0] == "" {
		return "", false, ubl.Errorf(ubl.CodeNotFound, "there is nothing at this path: sets of tools are at /{set,set}, and /readonly may follow")
	}
	return strings.Join(parts, ""), readOnly, nil
}

// knownQuery refuses a query that says what nobody reads: a misspelt readonly must not let a client
// write.
func knownQuery(query url.Values) error {
	known := []string{querySets, queryReadOnly, querySchemas}
	for _, name := range slices.Sorted(maps.Keys(query)) {
		if !slices.Contains(known, name) {
			plain := strings.NewReplacer("_", "", "-", "").Replace(strings.ToLower(name))
			return invalid(envelope.Under("query", name), "expected some of "+strings.Join(known, ", ")+envelope.Meant(plain, known))
		}
	}
	return nil
}

// said is what the query says, else the headers, and where.
func said(query url.Values, param string, h http.Header, headers ...string) (value, place string) {
	if query.Has(param) {
		return strings.Join(query[param], ","), "query." + param
	}
	var values []string
	place = "header." + headers[0]
	for _, header := range headers {
		if h[header] != nil {
			values, place = append(values, h[header]...), "header."+header
		}
	}
	return strings.Join(values, ","), place
}

// yes reads one or more of true and false, for a place that says so: one true is enough.
func yes(values, place string) (is bool, err error) {
	for value := range strings.SplitSeq(values, ",") {
		if value = strings.TrimSpace(value); value == "" {
			continue
		}
		one, err := strconv.ParseBool(value)
		if err != nil {
			return false, invalid(place, "expected true or false")
		}
		is = is || one
	}
	return is, nil
}

// setsIn are the names of a list, each once; nil for none.
func setsIn(list, place string) (out []string, err error) {
	for name := range strings.SplitSeq(list, ",") {
		if name = strings.ToLower(strings.TrimSpace(name)); name == "" || slices.Contains(out, name) {
			continue
		}
		if len(out) == maxSets {
			return nil, invalid(place, "names more than "+strconv.Itoa(maxSets)+" sets")
		}
		out = append(out, name)
	}
	return out, nil
}

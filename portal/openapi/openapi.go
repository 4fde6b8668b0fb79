// Package openapi makes tools of the operations that an OpenAPI document describes, and requests
// of calls of them.
//
// # Data
//
// A document (3.0 or 3.1, JSON or YAML) is read and forgotten. What stays is an [Operation]: schemas
// for who calls it, and a [Request], which says where each argument goes. Its owner pins both as
// the tool's definition, so a call needs the document no more, and a changed document changes
// no call. Where requests are sent isn't the document's to say: its servers are not read.
//
// # What is left out
//
// Operations whose body isn't JSON, those that need a cookie, those whose schemas are too large,
// and those whose path or names can't be sent. References to other documents are not followed: a document that
// has any can't be read. Keywords that tell nothing about values are left out of schemas.
//
// # What may go wrong
//
// Anything: documents come from elsewhere. Reading ends in an error or an operation less, bounded
// by the document's size and shape, and by nodes for each operation. Arguments can't change the path that an
// operation has, since each is escaped and none is "." or "..", nor the headers that are the portal's.
package openapi

import (
	"cmp"
	"fmt"
	"maps"
	"net/http"
	"regexp"
	"slices"
	"strings"

	"github.com/getkin/kin-openapi/openapi3"
	"go.yaml.in/yaml/v4"

	"ubl"
)

// MaxDocument bounds a document, in bytes.
const MaxDocument = 2 << 20

// MaxOperations is how many operations are read; one more tells that there are too many.
const MaxOperations = ubl.MaxServerTools + 1

// BodyArgument is the argument that is sent as the body.
const BodyArgument = "body"

// Operation is one as a tool.
type Operation struct {
	Name, Title, Description string
	// Input and Output are JSON Schemas of objects; Output is nil where it isn't known.
	Input, Output        map[string]any
	ReadOnly, Idempotent bool
	Request              Request
}

// Request says how an operation is asked for. Its JSON is part of a tool's pinned definition.
type Request struct {
	Method     string      `json:"method"`
	Path       string      `json:"path"` // behind the base URL, with {names}
	Parameters []Parameter `json:"parameters,omitempty"`
	Body       bool        `json:"body,omitempty"` // there may be one
}

// Parameter says where one argument goes.
type Parameter struct {
	Argument string `json:"argument"`
	Name     string `json:"name"`
	In       string `json:"in"` // path, query or header
	// Joined lists are one value with commas; others are repeated. Deep objects are name[member].
	Joined bool `json:"joined,omitempty"`
	Deep   bool `json:"deep,omitempty"`
}

// Read reads a document: its operations by path, and how many were left out. Sent is the header
// that the portal proves itself with, "" for none: it is no argument.
func Read(document []byte, sent string) (ops []Operation, left int, err error) {
	if len(document) > MaxDocument {
		return nil, 0, ubl.Errorf(ubl.CodeUnavailable, "the document is larger than %d MiB", MaxDocument>>20)
	}
	if !plainShape(document) {
		return nil, 0, ubl.Errorf(ubl.CodeUnavailable, "the document isn't JSON or YAML, is nested deeper than %d, or has an object of more than %d members", maxDepth, maxMembers)
	}
	doc, err := load(document)
	if err != nil || !strings.HasPrefix(doc.OpenAPI, "3.") || doc.Paths == nil {
		return nil, 0, ubl.Errorf(ubl.CodeUnavailable, "the document isn't one of OpenAPI 3.0 or 3.1, or refers to other documents").Because(err)
	}
	taken, r := map[string]bool{}, &reader{doc: doc, sent: sent, values: map[*openapi3.SchemaRef]any{}}
	paths := doc.Paths.Map()
	for _, path := range slices.Sorted(maps.Keys(paths)) {
		for _, method := range methods {
			o := paths[path].GetOperation(method)
			if o == nil {
				continue
			}
			made, ok := r.operation(paths[path], path, method, o)
			if !ok {
				left++
				continue
			}
			if made.Name = free(made.Name, taken); len(ops) == MaxOperations {
				return ops, left, nil
			}
			ops = append(ops, made)
		}
	}
	return ops, left, nil
}

// reader reads one document.
type reader struct {
	doc  *openapi3.T
	sent string // see Read
	// values are schemas as JSON has them: many operations refer to the same.
	values map[*openapi3.SchemaRef]any
}

const (
	maxDepth   = 100
	maxMembers = 2000
)

// plainShape reports whether a document is one that takes no long time to read: the readers of YAML
// compare each member of an object with each other.
func plainShape(document []byte) bool {
	var root yaml.Node
	return yaml.Unmarshal(document, &root) == nil && shapely(&root, maxDepth)
}

func shapely(n *yaml.Node, depth int) bool {
	if depth == 0 || n.Kind == yaml.MappingNode && len(n.Content) > 2*maxMembers {
		return false
	}
	return !slices.ContainsFunc(n.Content, func(inner *yaml.Node) bool { return !shapely(inner, depth-1) })
}

// methods are those that operations may have, in order.
var methods = []string{http.MethodGet, http.MethodHead, http.MethodPost, http.MethodPut, http.MethodPatch, http.MethodDelete}

// free is the name, with a number where another operation has it.
func free(name string, taken map[string]bool) string {
	out := name
	for n := 2; taken[out]; n++ {
		out = fmt.Sprintf("%s_%d", name, n)
	}
	taken[out] = true
	return out
}

// maxToolName leaves room for the server's id and for a number.
const maxToolName = 64

var (
	notInNames = regexp.MustCompile(`[^A-Za-z0-9_-]+`)
	goodPath   = regexp.MustCompile(`^(/([A-Za-z0-9._~!$&'()*+,;=:@-]|\{[^{}/?#]+\})*)+$`)
	hole       = regexp.MustCompile(`\{([^{}/?#]+)\}`)
)

// nameOf is an operation's id, or its method and path, as a tool may be called.
func nameOf(o *openapi3.Operation, method, path string) string {
	name := cmp.Or(o.OperationID, strings.ToLower(method)+path)
	name = strings.Trim(notInNames.ReplaceAllString(name, "_"), "_")
	return name[:min(len(name), maxToolName)]
}

func (r *reader) operation(item *openapi3.PathItem, path, method string, o *openapi3.Operation) (out Operation, ok bool) {
	if !goodPath.MatchString(path) || dotted(path) {
		return out, false
	}
	out = Operation{
		Name: nameOf(o, method, path), Title: o.Summary, Description: described(method, path, o),
		ReadOnly:   method == http.MethodGet || method == http.MethodHead,
		Idempotent: method == http.MethodPut || method == http.MethodDelete,
		Request:    Request{Method: method, Path: path},
	}
	in := r.schema()
	if !out.parameters(in, item, o) || !out.body(in, o) {
		return out, false
	}
	out.Input = in.object()
	out.Output = r.output(o)
	return out, out.Name != "" && in.fits()
}

// dotted reports whether a path has a part that leads elsewhere.
func dotted(path string) bool {
	return slices.ContainsFunc(strings.Split(path, "/"), func(part string) bool { return part == "." || part == ".." })
}

func described(method, path string, o *openapi3.Operation) string {
	words := strings.TrimSpace(o.Summary + "\n" + o.Description)
	if o.Deprecated {
		words = "Deprecated. " + words
	}
	return strings.TrimSpace(words + "\n" + method + " " + path)
}

// parameters adds those of the operation and those of its path that it doesn't replace; false
// where one is needed that can't be sent.
func (out *Operation) parameters(in *schema, item *openapi3.PathItem, o *openapi3.Operation) bool {
	filled := map[string]bool{}
	for _, ref := range slices.Concat(o.Parameters, item.Parameters) {
		if ref == nil || ref.Value == nil {
			return false
		}
		p := ref.Value
		if slices.ContainsFunc(out.Request.Parameters, func(q Parameter) bool { return q.Name == p.Name && q.In == p.In }) {
			continue
		}
		if p.In == openapi3.ParameterInHeader && (strings.EqualFold(p.Name, in.sent) || isOwn(p.Name)) {
			continue
		}
		made, ok := parameter(p)
		if !ok && p.Required {
			return false
		}
		if !ok {
			continue
		}
		if made.Argument == BodyArgument || in.has(made.Argument) {
			made.Argument += "_" + p.In
		}
		if in.has(made.Argument) {
			return false
		}
		filled[p.Name] = filled[p.Name] || p.In == openapi3.ParameterInPath
		in.add(made.Argument, p.Schema, p.Description, p.Required || p.In == openapi3.ParameterInPath)
		out.Request.Parameters = append(out.Request.Parameters, made)
	}
	for _, h := range hole.FindAllStringSubmatch(out.Request.Path, -1) {
		if !filled[h[1]] {
			return false
		}
	}
	return true
}

func parameter(p *openapi3.Parameter) (out Parameter, ok bool) {
	out = Parameter{Argument: p.Name, Name: p.Name, In: p.In}
	switch p.In {
	case openapi3.ParameterInPath:
		out.Joined = true
		return out, p.Schema != nil && (p.Style == "" || p.Style == openapi3.SerializationSimple)
	case openapi3.ParameterInQuery:
		out.Deep = p.Style == openapi3.SerializationDeepObject
		out.Joined = !out.Deep && p.Explode != nil && !*p.Explode
		return out, p.Name != "" && (p.Style == "" || p.Style == openapi3.SerializationForm || out.Deep)
	case openapi3.ParameterInHeader:
		out.Joined = true
		return out, ubl.ValidHeader(p.Name)
	}
	return out, false
}

func isOwn(header string) bool {
	return slices.ContainsFunc(ownHeaders, func(own string) bool { return strings.EqualFold(own, header) })
}

// ownHeaders are not an argument's to set, but HTTP's or the portal's.
var ownHeaders = []string{
	"Accept", "Authorization", "Connection", "Content-Length", "Content-Type", "Cookie", "Host", "Keep-Alive", "Proxy-Authorization",
	"Te", "Trailer", "Transfer-Encoding", "Upgrade", "User-Agent",
}

// body adds the body; false where one is needed that isn't JSON.
func (out *Operation) body(in *schema, o *openapi3.Operation) bool {
	if o.RequestBody == nil || o.RequestBody.Value == nil {
		return true
	}
	media := inJSON(o.RequestBody.Value.Content)
	if media == nil {
		return !o.RequestBody.Value.Required
	}
	out.Request.Body = true
	in.add(BodyArgument, media.Schema, o.RequestBody.Value.Description, o.RequestBody.Value.Required)
	return true
}

// inJSON is the JSON among the forms of a content, nil for none.
func inJSON(content openapi3.Content) *openapi3.MediaType {
	for _, name := range slices.Sorted(maps.Keys(content)) {
		kind, _, _ := strings.Cut(strings.ToLower(name), ";")
		if kind = strings.TrimSpace(kind); kind == "application/json" || strings.HasSuffix(kind, "+json") {
			return content[name]
		}
	}
	return nil
}

// output is the schema of the first answer that went well, where it is an object.
func (r *reader) output(o *openapi3.Operation) map[string]any {
	if o.Responses == nil {
		return nil
	}
	answers := o.Responses.Map()
	for _, status := range slices.Sorted(maps.Keys(answers)) {
		if !strings.HasPrefix(status, "2") {
			continue
		}
		if answers[status] == nil || answers[status].Value == nil {
			return nil
		}
		media := inJSON(answers[status].Value.Content)
		if media == nil || media.Schema == nil {
			return nil
		}
		return r.schema().root(media.Schema)
	}
	return nil
}

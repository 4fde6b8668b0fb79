package portal

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"regexp/syntax"
	"strings"
	"sync"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/santhosh-tekuri/jsonschema/v6/kind"

	"ubl"
	"ubl/portal/openapi"
)

const (
	// maxSchemas bounds how many compiled schemas are kept.
	maxSchemas = 1000
	// maxNodes bounds a schema with its references followed and its patterns written out.
	maxNodes = 10_000
	// maxWork bounds the nodes of a schema times the bytes of the arguments.
	maxWork = 100 << 20
)

// schemas checks arguments against input schemas. Compiled ones are kept by the
// hash of the tool's definition.
type schemas struct {
	mu       sync.Mutex
	compiled map[string]*input
}

// input is a compiled input schema; one that can't be checked here has none.
type input struct {
	schema  *jsonschema.Schema
	nodes   int
	headers []paramHeader
	request *openapi.Request // how an API is asked, nil for a tool of MCP
	stands  string           // what the tool stands for, "" where it is the server's own: see [ubl.Offer]
}

// check refuses arguments that the tool's pinned definition doesn't allow. It
// names the places, never what is in them.
func (in *input) check(args []byte) error {
	if in.schema == nil || in.nodes*len(args) > maxWork {
		return nil
	}
	v, err := jsonschema.UnmarshalJSON(bytes.NewReader(args))
	if err != nil {
		return ubl.Errorf(ubl.CodeValidation, "arguments: not JSON")
	}
	bad, ok := errors.AsType[*jsonschema.ValidationError](in.schema.Validate(v))
	if !ok {
		return nil
	}
	e := ubl.Errorf(ubl.CodeValidation, "the arguments don't fit the tool's input schema: details tells where")
	e.Details = map[string]string{}
	collect(bad, e.Details)
	return e
}

// of is the tool's compiled schema.
func (ss *schemas) of(t *ubl.PortalTool) *input {
	ss.mu.Lock()
	in, ok := ss.compiled[t.Hash]
	ss.mu.Unlock()
	if ok {
		return in
	}
	in = compile(t.Definition)
	in.headers = paramHeaders(t.Definition)
	in.request = requestOf(t.Definition)
	if o := t.Offered(); o != nil {
		in.stands = o.Stands
	}
	ss.mu.Lock()
	defer ss.mu.Unlock()
	if ss.compiled == nil || len(ss.compiled) >= maxSchemas {
		ss.compiled = map[string]*input{}
	}
	ss.compiled[t.Hash] = in
	return in
}

// compile reads the input schema of a definition. What the compiler refuses, or
// what isn't tame, isn't checked: servers check their input themselves.
func compile(definition json.RawMessage) (in *input) {
	defer func() {
		if recover() != nil { // a server's schema must not end us
			in = &input{}
		}
	}()
	var d struct {
		InputSchema json.RawMessage `json:"inputSchema"`
	}
	if err := json.Unmarshal(definition, &d); err != nil {
		return &input{}
	}
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(d.InputSchema))
	if err != nil {
		return &input{}
	}
	if root, ok := doc.(map[string]any); ok { // its own name is of no use without other documents
		delete(root, "$id")
		delete(root, "id")
	}
	nodes, ok := tame(doc)
	if !ok {
		return &input{}
	}
	c := jsonschema.NewCompiler()
	c.UseLoader(nothing{})
	if err := c.AddResource(schemaName, doc); err != nil {
		return &input{}
	}
	schema, err := c.Compile(schemaName)
	if err != nil {
		return &input{}
	}
	return &input{schema: schema, nodes: nodes}
}

const schemaName = "urn:ubl:input"

// nothing loads no other document: a schema must not read files or pages.
type nothing struct{}

// Load implements [jsonschema.URLLoader].
func (nothing) Load(string) (any, error) { return nil, errors.New("other documents are not read") }

// tame counts the nodes of a schema with its references followed, and what its
// patterns cost. It reports false where references lead out of the document or back
// to themselves, or to too many nodes: a schema of a few lines can take for ever to
// check. Definitions count where they stand too: what is one, and what only has the
// name, need not be told apart.
func tame(doc any) (nodes int, ok bool) {
	w := walk{doc: doc, inside: map[string]bool{}}
	ok = w.node(doc)
	return w.nodes, ok
}

type walk struct {
	doc    any
	nodes  int
	inside map[string]bool // references being followed
}

// cost counts n nodes, and says whether there may be as many.
func (w *walk) cost(n int) bool {
	w.nodes += n
	return w.nodes <= maxNodes
}

func (w *walk) node(v any) bool {
	if !w.cost(1) {
		return false
	}
	switch v := v.(type) {
	case []any:
		for _, e := range v {
			if !w.node(e) {
				return false
			}
		}
	case map[string]any:
		for name, e := range v {
			if !w.member(name, e) {
				return false
			}
		}
	}
	return true
}

// member takes a member of any object for the keyword of its name. Where it is none,
// that is too careful at worst.
func (w *walk) member(name string, v any) bool {
	if strings.HasPrefix(name, "$dynamic") || strings.HasPrefix(name, "$recursive") {
		return false
	}
	if patterns, ok := v.(map[string]any); ok && name == "patternProperties" {
		for p := range patterns {
			if !w.pattern(p) {
				return false
			}
		}
	}
	text, isText := v.(string)
	switch {
	case !isText:
	case name == "$ref":
		return w.follow(text)
	case name == "$id" || name == "id": // references inside would begin there
		return false
	case name == "pattern":
		return w.pattern(text)
	case name == "format" && text == "regex": // arguments would be compiled
		return false
	}
	return w.node(v)
}

func (w *walk) pattern(p string) bool {
	re, err := syntax.Parse(p, syntax.Perl)
	return err == nil && w.cost(steps(re))
}

// steps is how long a pattern is with its repetitions written out. Matching takes
// about as many for each character.
func steps(re *syntax.Regexp) int {
	n := 1
	if re.Op == syntax.OpLiteral {
		n = len(re.Rune)
	}
	for _, sub := range re.Sub {
		n += steps(sub)
	}
	if re.Op == syntax.OpRepeat {
		n *= max(re.Min, re.Max, 1)
	}
	return n
}

func (w *walk) follow(ref string) bool {
	if w.inside[ref] || ref != "#" && !strings.HasPrefix(ref, "#/") || strings.Contains(ref, "%") {
		return false // what is escaped reads otherwise once it is decoded
	}
	to, ok := lookUp(w.doc, strings.TrimPrefix(ref, "#"))
	if !ok {
		return false
	}
	w.inside[ref] = true
	defer delete(w.inside, ref)
	return w.node(to)
}

// lookUp follows a JSON pointer.
func lookUp(doc any, pointer string) (any, bool) {
	if pointer == "" {
		return doc, true
	}
	for _, part := range strings.Split(pointer[1:], "/") {
		part = strings.NewReplacer("~1", "/", "~0", "~").Replace(part)
		members, isObject := doc.(map[string]any)
		next, ok := members[part]
		if !isObject || !ok { // an index into an array is not worth following
			return nil, false
		}
		doc = next
	}
	return doc, true
}

// maxDetails bounds how many places an answer names.
const maxDetails = 16

// collect gathers the places that are wrong, each with what the schema wants there.
func collect(e *jsonschema.ValidationError, into map[string]string) {
	if len(into) >= maxDetails {
		return
	}
	if len(e.Causes) == 0 {
		into[strings.Join(append([]string{"arguments"}, e.InstanceLocation...), ".")] = wanted(e.ErrorKind)
		return
	}
	for _, c := range e.Causes {
		collect(c, into)
	}
}

// wanted is what a keyword asks for. It quotes the schema, never the arguments.
func wanted(k jsonschema.ErrorKind) string {
	switch k := k.(type) {
	case *kind.Type:
		return "must be " + strings.Join(k.Want, " or ")
	case *kind.Required:
		return "must have " + strings.Join(k.Missing, ", ")
	case *kind.AdditionalProperties:
		return "must have no members but those of the schema"
	case *kind.FalseSchema:
		return "must not be there"
	}
	path := k.KeywordPath()
	if len(path) == 0 {
		return "must fit the schema"
	}
	return fmt.Sprintf("must fit the schema's %s", path[len(path)-1])
}

package api

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"

	"ubl/transport/envelope"
)

// newForm reads an operation's description in the OpenAPI document.
func newForm(doc map[string]any, t *route) *form {
	op := doc["paths"].(map[string]any)["/api"+t.path].(map[string]any)[strings.ToLower(t.method)].(map[string]any)
	f := &form{method: t.method, path: t.path, slots: map[string]slot{}, fixed: t.fixed}
	in := object{properties: map[string]any{}}
	plain := plainer{doc}
	for _, p := range items[map[string]any](op["parameters"]) {
		f.parameter(&in, p, plain)
	}
	if body, ok := op["requestBody"].(map[string]any); ok {
		f.needsBody, _ = body["required"].(bool)
		f.body(&in, plain.schema(body["content"].(map[string]any)[jsonType[0]].(map[string]any)["schema"]).(map[string]any))
	} else if t.method != http.MethodGet {
		f.add(&in, keyArgument, slot{in: "header", name: envelope.KeyHeader, kind: "string", optional: true}, nullable(map[string]any{"type": "string", "minLength": 1, "maxLength": 128,
			"description": "A key of your own: what is repeated under it is done once.", "examples": []any{"order-7-note"}}))
	}
	f.input = in.schema()
	f.output = must(json.Marshal(plain.schema(map[string]any{"$ref": "#/components/schemas/" + t.answers})))
	return f
}

// object is a JSON Schema of an object under construction.
type object struct {
	properties map[string]any
	required   []string
}

func (o object) schema() []byte {
	s := map[string]any{"type": "object", "additionalProperties": false, "properties": o.properties}
	if len(o.required) > 0 {
		slices.Sort(o.required)
		s["required"] = o.required
	}
	return must(json.Marshal(s))
}

// add puts in an argument. Two of one name would be a mistake of ours.
func (f *form) add(in *object, name string, s slot, schema any) {
	if _, taken := f.slots[name]; taken {
		panic(fmt.Sprintf("%s %s takes two arguments named %s", f.method, f.path, name))
	}
	f.slots[name] = s
	in.properties[name] = schema
}

// parameter adds one of the path or the query. Those of the header are for
// programs that speak HTTP.
func (f *form) parameter(in *object, p map[string]any, plain plainer) {
	where, name := p["in"].(string), p["name"].(string)
	if where == "header" {
		return
	}
	argument := name
	schema := present(plain.schema(p["schema"]).(map[string]any))
	if about, ok := p["description"]; ok && schema["description"] == nil {
		schema["description"] = about
	}
	m := slot{in: where, name: name, kind: schema["type"].(string)}
	if where == "path" {
		argument = snake(name)
	}
	if required, _ := p["required"].(bool); required {
		in.required = append(in.required, argument)
	} else {
		m.optional, schema = true, nullable(schema)
	}
	f.add(in, argument, m, schema)
}

// present is a schema without the null that lists may be: in a query there is no null.
func present(schema map[string]any) map[string]any {
	for _, choice := range items[map[string]any](schema["anyOf"]) {
		if choice["type"] == "array" {
			delete(schema, "anyOf")
			maps.Copy(schema, choice)
		}
	}
	return schema
}

// importedArgument is for programs that import, and for no tool: a model could be talked into
// putting words into somebody's mouth.
const importedArgument = "imported_from"

// body adds the members of a body. Null for one that isn't required leaves it out.
func (f *form) body(in *object, schema map[string]any) {
	required := items[string](schema["required"])
	for name, s := range schema["properties"].(map[string]any) {
		if name == importedArgument {
			continue
		}
		if value, ok := f.fixed[name]; ok {
			required = slices.DeleteFunc(required, func(r string) bool { return r == name })
			s = map[string]any{"type": "string", "enum": []any{value}, "default": value, "description": "Always " + value + ", and may be left out."}
		}
		optional := !slices.Contains(required, name)
		if optional {
			s = nullable(s.(map[string]any))
		}
		f.add(in, name, slot{in: "body", name: name, optional: optional}, s)
	}
	in.required = append(in.required, required...)
}

// plainer makes schemas that clients of all kinds understand: without
// references, and without lists of types.
type plainer struct{ doc map[string]any }

// opaque are schemas that would swell each tool that answers an atom, and tell
// a model nothing.
var opaque = []string{"#/components/schemas/ubl.ledger.atom.v1"}

// schema is a plain copy.
func (p plainer) schema(v any) any {
	switch v := v.(type) {
	case []any:
		out := make([]any, len(v))
		for i, item := range v {
			out[i] = p.schema(item)
		}
		return out
	case map[string]any:
		return p.node(v)
	}
	return v
}

func (p plainer) node(v map[string]any) any {
	out := map[string]any{}
	if ref, ok := v["$ref"].(string); ok {
		if slices.Contains(opaque, ref) {
			return map[string]any{"type": "object", "description": ref[strings.LastIndexByte(ref, '/')+1:] + ", as at /schemas/"}
		}
		out = p.schema(p.lookUp(ref)).(map[string]any)
	}
	for k, member := range v {
		if k != "$ref" && k != "$defs" {
			out[k] = p.schema(member)
		}
	}
	if slices.Contains(sizes, out["format"]) {
		delete(out, "format")
	}
	if types, ok := out["type"].([]any); ok {
		delete(out, "type")
		return anyOf(out, types)
	}
	return out
}

// sizes are formats of numbers that OpenAPI knows and JSON Schema doesn't.
var sizes = []any{"int32", "int64", "float", "double"}

// lookUp finds what a reference inside the document points at.
func (p plainer) lookUp(ref string) any {
	var at any = p.doc
	for name := range strings.SplitSeq(strings.TrimPrefix(ref, "#/"), "/") {
		at = at.(map[string]any)[name]
	}
	if at == nil {
		panic("a schema refers to nothing: " + ref)
	}
	return at
}

// nullable is a schema that takes null too.
func nullable(schema map[string]any) map[string]any {
	kind, ok := schema["type"].(string)
	if !ok {
		return schema
	}
	delete(schema, "type")
	return anyOf(schema, []any{kind, "null"})
}

// annotations are what says something about a value and doesn't check it.
var annotations = []string{"title", "description", "default", "examples"}

// anyOf spells a list of types out.
func anyOf(schema map[string]any, types []any) map[string]any {
	out := map[string]any{}
	for _, name := range annotations {
		if v, ok := schema[name]; ok {
			out[name] = v
			delete(schema, name)
		}
	}
	choices := make([]any, len(types))
	for i, kind := range types {
		choice := map[string]any{"type": kind}
		if kind != "null" {
			maps.Copy(choice, schema)
		}
		choices[i] = choice
	}
	out["anyOf"] = choices
	return out
}

// items are those of a JSON array, none where there is no array.
func items[T any](v any) []T {
	list, _ := v.([]any)
	out := make([]T, len(list))
	for i, item := range list {
		out[i] = item.(T)
	}
	return out
}

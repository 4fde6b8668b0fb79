package openapi

import (
	"encoding/json"
	"maps"
	"math"
	"slices"
	"strings"

	"github.com/getkin/kin-openapi/openapi3"
)

// maxNodes bounds the schemas of an operation.
const maxNodes = 5000

// schema grows to the schema of one object. What its members refer to is copied beside them.
type schema struct {
	*reader
	members  map[string]any
	required []string
	defs     map[string]any
	nodes    int
}

func (r *reader) schema() *schema {
	return &schema{reader: r, members: map[string]any{}, defs: map[string]any{}}
}

func (s *schema) has(name string) bool { return s.members[name] != nil }

// fits reports whether it isn't too large.
func (s *schema) fits() bool { return s.nodes <= maxNodes }

// add adds a member; any value will do where it has no schema.
func (s *schema) add(name string, ref *openapi3.SchemaRef, description string, required bool) {
	made := map[string]any{}
	if ref != nil {
		if m, ok := s.copied(ref).(map[string]any); ok {
			made = m
		}
	}
	if description != "" && made["description"] == nil {
		made["description"] = description
	}
	s.members[name] = made
	if required {
		s.required = append(s.required, name)
	}
}

// object is the schema of an object with the members, and no others.
func (s *schema) object() map[string]any {
	out := map[string]any{"type": "object", "properties": s.members, "additionalProperties": false}
	if len(s.required) > 0 {
		out["required"] = s.required
	}
	return s.withDefs(out)
}

func (s *schema) withDefs(out map[string]any) map[string]any {
	if len(s.defs) > 0 {
		out["$defs"] = s.defs
	}
	return out
}

// root is the schema of an answer, nil where it isn't that of an object, or too large.
func (s *schema) root(ref *openapi3.SchemaRef) map[string]any {
	out, _ := s.copied(ref).(map[string]any)
	if name, ok := out["$ref"].(string); ok {
		out, _ = s.defs[strings.TrimPrefix(name, refHere)].(map[string]any)
		out = maps.Clone(out)
	}
	if out["type"] != "object" || !s.fits() {
		return nil
	}
	return s.withDefs(out)
}

const (
	refThere = "#/components/schemas/"
	refHere  = "#/$defs/"
)

// copied is a schema of the document as JSON Schema.
func (s *schema) copied(ref *openapi3.SchemaRef) any {
	return s.node(s.value(ref))
}

// value is a schema as JSON has it, nil where it can't be written. Nobody changes it.
func (r *reader) value(ref *openapi3.SchemaRef) any {
	v, ok := r.values[ref]
	if !ok {
		if raw, err := json.Marshal(ref); err == nil {
			_ = json.Unmarshal(raw, &v) // which has just been written
		}
		r.values[ref] = v
	}
	return v
}

// Keywords whose values are schemas, lists of them, and members that are; and those that say
// something about values, or to their readers.
var (
	oneSchema = []string{"items", "not", "if", "then", "else", "contains", "propertyNames", "additionalProperties", "unevaluatedItems", "unevaluatedProperties"}
	schemas   = []string{"allOf", "anyOf", "oneOf", "prefixItems"}
	byMember  = []string{"properties", "patternProperties", "dependentSchemas"}
	plain     = []string{
		"type", "format", "title", "description", "enum", "const", "default", "pattern", "minimum", "maximum", "multipleOf", "exclusiveMinimum",
		"exclusiveMaximum", "minLength", "maxLength", "minItems", "maxItems", "uniqueItems", "minContains", "maxContains", "minProperties",
		"maxProperties", "required", "dependentRequired", "readOnly", "writeOnly", "deprecated", "examples",
	}
)

// node copies one schema.
func (s *schema) node(v any) any {
	in, ok := v.(map[string]any)
	if s.nodes++; !ok || !s.fits() {
		if b, isBool := v.(bool); isBool {
			return b
		}
		return map[string]any{}
	}
	if ref, ok := in["$ref"].(string); ok {
		return s.reference(ref)
	}
	out := map[string]any{}
	for _, name := range slices.Sorted(maps.Keys(in)) {
		value := in[name]
		switch {
		case tooPrecise(value): // no bound that anyone needs, and no number that all readers read alike
		case slices.Contains(plain, name):
			out[name] = value
		case slices.Contains(oneSchema, name):
			out[name] = s.node(value)
		case slices.Contains(schemas, name):
			list, _ := value.([]any)
			made := make([]any, len(list))
			for i, each := range list {
				made[i] = s.node(each)
			}
			out[name] = made
		case slices.Contains(byMember, name):
			members, _ := value.(map[string]any)
			made := map[string]any{}
			for _, member := range slices.Sorted(maps.Keys(members)) {
				made[member] = s.node(members[member])
			}
			out[name] = made
		}
	}
	of30(in, out)
	return out
}

// tooPrecise reports whether a value is a number that JSON's readers disagree about.
func tooPrecise(value any) bool {
	n, ok := value.(float64)
	return ok && math.Abs(n) > 1<<53
}

// of30 writes what OpenAPI 3.0 says in its own way.
func of30(in, out map[string]any) {
	if kind, ok := out["type"].(string); ok && in["nullable"] == true {
		out["type"] = []any{kind, "null"}
		if list, ok := out["enum"].([]any); ok && !slices.Contains(list, nil) {
			out["enum"] = append(slices.Clone(list), nil)
		}
	}
	for exclusive, bound := range map[string]string{"exclusiveMinimum": "minimum", "exclusiveMaximum": "maximum"} {
		is, isBool := out[exclusive].(bool)
		if !isBool {
			continue
		}
		delete(out, exclusive)
		if at, ok := out[bound]; ok && is {
			out[exclusive] = at
			delete(out, bound)
		}
	}
}

// reference copies what is referred to, once. What isn't among the document's schemas may be
// anything.
func (s *schema) reference(ref string) any {
	name, ok := strings.CutPrefix(ref, refThere)
	target := s.doc.Components
	if !ok || target == nil || target.Schemas[name] == nil || strings.ContainsAny(name, "~%/") {
		return map[string]any{}
	}
	if s.defs[name] == nil {
		s.defs[name] = map[string]any{} // for what refers to itself
		s.defs[name] = s.node(s.value(target.Schemas[name]))
	}
	return map[string]any{"$ref": refHere + name}
}

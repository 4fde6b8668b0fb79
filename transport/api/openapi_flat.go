package api

import (
	"maps"
	"slices"
	"strings"
)

// The schemas at /schemas/ say all that is true of a form, also what depends on something
// else in it. Generators of clients understand less. So the OpenAPI document has a flat
// form of them, which is made here and nowhere else: it says what members there are and of
// what type. What is valid by the rich form is valid by the flat one, not always the reverse.
//
//   - Each definition inside a schema is a component of its own: ubl.common.v1/$defs/seq is
//     ubl.common.v1.seq.
//   - Conditions (if, not, dependentRequired …) are left out, and so are alternatives that
//     only say which members go together.
//   - There is one type, or a choice of schemas: "string or null" is an anyOf of two.
//   - Answers may have members that the document doesn't name: later versions add some.
//   - What nothing refers to is left out.

// flat makes a document flat, in place.
func flat(doc map[string]any) {
	components := doc["components"].(map[string]any)
	rich := components["schemas"].(map[string]any)
	asked := map[string]bool{}
	out := map[string]any{}
	for name, s := range rich {
		f := flattener{open: strings.HasPrefix(name, "ubl.") || strings.HasSuffix(name, answerSuffix)}
		for def, d := range asObject(s.(map[string]any)["$defs"]) {
			out[name+"."+def] = f.schema(d)
		}
		out[name] = f.schema(s)
	}
	flatPlaces(doc["paths"])
	follow(doc["paths"], out, asked)
	maps.DeleteFunc(out, func(name string, _ any) bool { return !asked[name] })
	components["schemas"] = out
}

// asObject is v as an object, an empty one where it is none.
func asObject(v any) map[string]any {
	m, _ := v.(map[string]any)
	return m
}

// flatPlaces makes the schemas flat that stand outside the components.
func flatPlaces(v any) {
	switch v := v.(type) {
	case map[string]any:
		for k, member := range v {
			if s, ok := member.(map[string]any); ok && k == "schema" {
				v[k] = flattener{}.schema(s)
				continue
			}
			if k != "example" && k != "examples" {
				flatPlaces(member)
			}
		}
	case []any:
		for _, item := range v {
			flatPlaces(item)
		}
	}
}

// follow notes the components that v refers to, and those that they refer to.
func follow(v any, components map[string]any, asked map[string]bool) {
	switch v := v.(type) {
	case map[string]any:
		if ref, ok := v["$ref"].(string); ok {
			name := strings.TrimPrefix(ref, schemaPlace)
			if !asked[name] {
				asked[name] = true
				follow(components[name], components, asked)
			}
		}
		for _, member := range v {
			follow(member, components, asked)
		}
	case []any:
		for _, item := range v {
			follow(item, components, asked)
		}
	}
}

// schemaPlace is where components are.
const schemaPlace = "#/components/schemas/"

// kept are the keywords that stay as they are.
var kept = []string{"title", "description", "format", "pattern", "minLength", "maxLength", "minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum",
	"multipleOf", "minItems", "maxItems", "uniqueItems", "minProperties", "maxProperties", "default", "examples", "required", "contentEncoding", "deprecated"}

// flattener makes one schema flat. Open ones may have members that they don't name.
type flattener struct{ open bool }

// schema is a flat copy. A boolean schema, and one that only holds conditions, is an empty one.
func (f flattener) schema(v any) map[string]any {
	rich, ok := v.(map[string]any)
	if !ok {
		return map[string]any{}
	}
	if ref, ok := rich["$ref"].(string); ok {
		return refAlone(rich, strings.Replace(ref, "/$defs/", ".", 1))
	}
	out := map[string]any{}
	for _, k := range kept {
		if member, ok := rich[k]; ok {
			out[k] = member
		}
	}
	f.members(rich, out)
	for _, k := range []string{"anyOf", "oneOf", "allOf"} {
		if choices := f.choices(rich[k]); len(choices) > 0 {
			out[k] = choices
		}
	}
	return typed(rich, out)
}

// refAlone is a reference with what it says of the value at its place.
func refAlone(rich map[string]any, ref string) map[string]any {
	out := map[string]any{"$ref": ref}
	if about, ok := rich["description"]; ok {
		out["description"] = about
	}
	return out
}

// members adds what an object or an array holds.
func (f flattener) members(rich, out map[string]any) {
	if properties, ok := rich["properties"].(map[string]any); ok {
		flat := map[string]any{}
		for name, s := range properties {
			if s != false {
				flat[name] = f.schema(s)
			}
		}
		out["properties"] = flat
	}
	if list, ok := rich["items"]; ok {
		out["items"] = f.schema(list)
	}
	switch more := rich["additionalProperties"].(type) {
	case map[string]any:
		out["additionalProperties"] = f.schema(more)
	case bool:
		if !f.open {
			out["additionalProperties"] = more
		}
	}
}

// choices are the flat ones of a list, none where one of them says nothing of a type: it is
// about which members go together.
func (f flattener) choices(v any) []any {
	list, _ := v.([]any)
	out := make([]any, 0, len(list))
	for _, item := range list {
		s := f.schema(item)
		if s["type"] == nil && s["$ref"] == nil && s["anyOf"] == nil && s["oneOf"] == nil {
			return nil
		}
		out = append(out, s)
	}
	return out
}

// typed gives a schema its one type, or a choice of them.
func typed(rich, out map[string]any) map[string]any {
	values, _ := rich["enum"].([]any)
	if c, ok := rich["const"]; ok {
		values = []any{c}
	}
	types := typesOf(rich, out, values)
	switch {
	case len(types) > 2 || len(types) == 2 && !slices.Contains(types, "null"):
		about := map[string]any{} // of any type
		for _, k := range []string{"title", "description"} {
			if v, ok := out[k]; ok {
				about[k] = v
			}
		}
		return about
	case len(types) == 0:
		return out
	}
	values = slices.DeleteFunc(slices.Clone(values), func(v any) bool { return v == nil })
	if i := slices.IndexFunc(types, func(t string) bool { return t != "null" }); i >= 0 {
		out["type"] = types[i]
	} else {
		out["type"] = "null"
	}
	if len(values) > 0 && out["type"] == "string" { // of others the generators make constants with odd names
		out["enum"] = values
	}
	if len(types) == 1 {
		return out
	}
	about := map[string]any{"anyOf": []any{out, map[string]any{"type": "null"}}}
	for _, k := range []string{"title", "description"} {
		if v, ok := out[k]; ok {
			about[k] = v
			delete(out, k)
		}
	}
	return about
}

// typesOf are the types that a schema names, or that follow from what else it says.
func typesOf(rich, out map[string]any, values []any) (types []string) {
	switch t := rich["type"].(type) {
	case string:
		return []string{t}
	case []any:
		return items[string](t)
	}
	add := func(t string) {
		if !slices.Contains(types, t) {
			types = append(types, t)
		}
	}
	for _, v := range values {
		switch v.(type) {
		case string:
			add("string")
		case bool:
			add("boolean")
		case float64:
			add("integer")
		case nil:
			add("null")
		}
	}
	if out["properties"] != nil && len(types) == 0 {
		add("object")
	}
	return types
}

package mcp

import (
	"encoding/json"
	"maps"
	"slices"
)

// lean writes a schema of arguments as lists of tools show it: without what costs
// a model more than it tells it. A call is held against all of the schema, and its error names
// what it broke. Gone are patterns that stand beside an example, bounds of
// texts that nobody reaches by accident, null for an argument that may be left out as well, though
// calls take it, and examples of what a default, a list of values or a type tells.
func lean(schema json.RawMessage) json.RawMessage {
	var root map[string]any
	_ = json.Unmarshal(schema, &root) // it is portable, and so an object
	withoutNull(root)
	makeLean(root, false)
	out, _ := json.Marshal(root)
	return out
}

// withoutNull writes arguments that may be left out, or be null, as those that may be left out.
func withoutNull(root map[string]any) {
	required, _ := root["required"].([]any)
	properties, _ := root["properties"].(map[string]any)
	for name, v := range properties {
		argument, _ := v.(map[string]any)
		if kind := besideNull(argument); kind != nil && !slices.Contains(required, any(name)) {
			delete(argument, "anyOf")
			maps.Copy(argument, kind)
		}
	}
}

// besideNull is the one schema that a value has if it isn't null; nil where there are several, or null
// isn't allowed.
func besideNull(schema map[string]any) map[string]any {
	choices, _ := schema["anyOf"].([]any)
	if len(choices) != 2 {
		return nil
	}
	first, _ := choices[0].(map[string]any)
	second, _ := choices[1].(map[string]any)
	if len(second) != 1 || second["type"] != "null" {
		return nil
	}
	return first
}

// tellEnough are keywords, and plain types, beside which an example says nothing.
var (
	tellEnough = []string{"default", "enum"}
	plainTypes = []any{"boolean", "integer", "number"}
)

func needsNoExample(schema map[string]any) bool {
	return slices.Contains(plainTypes, schema["type"]) || slices.ContainsFunc(tellEnough, func(keyword string) bool { return schema[keyword] != nil })
}

// shortText is up to how many characters a bound of a text goes without saying.
const shortText = 512

// makeLean changes a schema and those inside. exemplified says that an example stands
// around it.
func makeLean(schema map[string]any, exemplified bool) {
	examples, _ := schema["examples"].([]any)
	exemplified = exemplified || len(examples) > 0
	if exemplified {
		delete(schema, "pattern")
	}
	if least, _ := schema["minLength"].(float64); least <= 1 {
		delete(schema, "minLength")
	}
	if most, _ := schema["maxLength"].(float64); most <= shortText {
		delete(schema, "maxLength")
	}
	if most, _ := schema["maximum"].(float64); most >= maxExact {
		delete(schema, "maximum")
	}
	if needsNoExample(schema) {
		delete(schema, "examples")
	}
	for _, keyword := range oneSchema {
		if inner, ok := schema[keyword].(map[string]any); ok {
			makeLean(inner, exemplified)
		}
	}
	for _, keyword := range manySchemas {
		list, _ := schema[keyword].([]any)
		for _, inner := range list {
			if s, ok := inner.(map[string]any); ok {
				makeLean(s, exemplified)
			}
		}
	}
	for _, keyword := range nameSchemas {
		named, _ := schema[keyword].(map[string]any)
		for _, inner := range named {
			if s, ok := inner.(map[string]any); ok {
				makeLean(s, false)
			}
		}
	}
}

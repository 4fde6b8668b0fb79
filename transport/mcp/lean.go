package mcp

import "encoding/json"

// lean writes a schema of arguments as lists of tools show it: without bounds that cost
// a model more than they tell it. A call is held against all of them, and its error names
// the one that it broke. Gone are patterns that stand beside an example, and bounds of
// texts that nobody reaches by accident.
func lean(schema json.RawMessage) json.RawMessage {
	var root map[string]any
	_ = json.Unmarshal(schema, &root) // it is portable, and so an object
	makeLean(root, false)
	out, _ := json.Marshal(root)
	return out
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

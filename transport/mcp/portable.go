package mcp

import "encoding/json"

// Keywords of JSON Schema whose values are schemas: one, a list, or one a name.
var (
	oneSchema   = []string{"items", "not", "if", "then", "else", "contains", "propertyNames"}
	manySchemas = []string{"allOf", "anyOf", "oneOf", "prefixItems"}
	nameSchemas = []string{"properties", "patternProperties", "$defs", "dependentSchemas"}
)

// portable writes a schema so that clients which know only part of JSON Schema
// can read it: true and false, where a schema belongs, as objects.
func portable(schema json.RawMessage) (json.RawMessage, error) {
	var root map[string]any
	if err := json.Unmarshal(schema, &root); err != nil {
		return nil, err
	}
	makePortable(root)
	return json.Marshal(root)
}

func makePortable(schema map[string]any) {
	for _, keyword := range oneSchema {
		if inner, ok := schema[keyword]; ok {
			schema[keyword] = asObject(inner)
		}
	}
	for _, keyword := range manySchemas {
		list, _ := schema[keyword].([]any)
		for i := range list {
			list[i] = asObject(list[i])
		}
	}
	for _, keyword := range nameSchemas {
		named, _ := schema[keyword].(map[string]any)
		for name := range named {
			named[name] = asObject(named[name])
		}
	}
}

func asObject(schema any) any {
	switch s := schema.(type) {
	case bool:
		if s {
			return map[string]any{}
		}
		return map[string]any{"not": map[string]any{}}
	case map[string]any:
		makePortable(s)
	}
	return schema
}

package api

import (
	"encoding/json"
	"maps"
	"slices"
	"testing"

	"ubl"
)

// TestNullArguments: models give null for what they leave out. Each argument that a tool
// doesn't need takes it, and its schema says so.
func TestNullArguments(t *testing.T) {
	s := newServer(t)
	taken := 0
	for _, act := range s.api.Acts() {
		var in node
		if err := json.Unmarshal(act.Input, &in); err != nil {
			t.Fatal(err)
		}
		for _, name := range slices.Sorted(maps.Keys(in.Properties)) {
			if slices.Contains(in.Required, name) || act.Name == "portal.server.add" && name == "url" { // only programs have none
				continue
			}
			args := in.sample()
			args[name] = nil
			data, err := json.Marshal(args)
			if err != nil {
				t.Fatal(err)
			}
			_, err = act.Do(anaActs(), data)
			named := err != nil && ubl.CodeOf(err) == ubl.CodeValidation && ubl.AsError(err).Details[name] != ""
			if !in.Properties[name].takesNull() || named {
				t.Errorf("%s %s: the schema says that null is fine: %v; the answer is %v", act.Name, data, in.Properties[name].takesNull(), err)
			}
			taken++
		}
	}
	if taken < 100 {
		t.Errorf("only %d arguments can be left out", taken)
	}
}

func (n *node) takesNull() bool {
	return slices.ContainsFunc(n.AnyOf, func(c *node) bool { return c.Type == "null" })
}

// sample is what the object needs at least, by its examples.
func (n *node) sample() map[string]any {
	out := map[string]any{}
	for _, name := range n.Required {
		out[name] = n.Properties[name].value()
	}
	return out
}

func (n *node) value() any {
	switch {
	case len(n.Examples) > 0:
		return n.Examples[0]
	case len(n.Enum) > 0:
		return n.Enum[0]
	case n.Type == "object":
		return n.sample()
	case n.Type == "array":
		return []any{}
	case n.Type == "integer":
		return 1
	case n.Type == "boolean":
		return true
	}
	return "something"
}

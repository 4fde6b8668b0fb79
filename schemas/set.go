package schemas

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"ubl"
	"ubl/offer"
)

// Set is the schemas of a program: the files, in which the acts stand that its families bring
// along.
type Set struct{ changed map[string][]byte }

// With is the files with more acts. It panics where an act can't be one, as programs are put
// together before they start.
func With(acts ...offer.Act) *Set {
	s := &Set{map[string][]byte{}}
	if len(acts) == 0 {
		return s
	}
	common, act, outcome := read("ubl.common.v1"), read("ubl.ledger.act.v1"), read("ubl.ledger.outcome.v1")
	did := at(common, "$defs", "did")
	effects := at(outcome, "properties", "effects", "items")
	seen := []map[string]any{} // the two places of pointers: of what went well, and of what didn't
	for _, way := range []string{"then", "else"} {
		seen = append(seen, at(outcome["allOf"].([]any)[0].(map[string]any), way, "properties", "pointers"))
	}
	for _, a := range acts {
		if slices.Contains(did["enum"].([]any), any(string(a.Did))) {
			panic(fmt.Sprintf("schemas: the act %s has a form already", a.Did))
		}
		add(did, "enum", string(a.Did))
		add(act, "allOf", map[string]any{
			"if": map[string]any{"properties": map[string]any{
				"did":    map[string]any{"const": string(a.Did)},
				"status": map[string]any{"enum": []any{ubl.StatusExecuted, ubl.StatusIntended}},
			}},
			"then": map[string]any{"properties": map[string]any{"this": define(act, "this", a.Did, a.This)}},
		})
		choose(outcome, "effect", a.Did, a.Effect, effects)
		choose(outcome, "pointers", a.Did, a.Pointers, seen...)
	}
	for _, doc := range []map[string]any{common, act, outcome} {
		s.changed[doc["$id"].(string)] = encode(doc)
	}
	return s
}

// List is [List].
func (s *Set) List() []string { return List() }

// Read is [Read].
func (s *Set) Read(id string) ([]byte, bool) {
	if data, ok := s.changed[strings.TrimSuffix(id, suffix)]; ok {
		return data, true
	}
	return Read(id)
}

// choose makes a schema one more that may hold at the places, once.
func choose(doc map[string]any, part string, did ubl.Did, schema json.RawMessage, places ...map[string]any) {
	if schema == nil {
		return
	}
	for _, have := range at(doc, "$defs") {
		if bytes.Equal(encode(have), encode(object(did, schema))) {
			return // of an act that shares it
		}
	}
	ref := define(doc, part, did, schema)
	for _, p := range places {
		add(p, "oneOf", ref)
	}
}

// define adds a schema to a document's definitions, and refers to it.
func define(doc map[string]any, part string, did ubl.Did, schema json.RawMessage) map[string]any {
	name := strings.ReplaceAll(string(did), ".", "_") + "_" + part
	at(doc, "$defs")[name] = object(did, schema)
	return map[string]any{"$ref": "#/$defs/" + name}
}

func add(to map[string]any, list string, v any) { to[list] = append(to[list].([]any), v) }

func at(doc map[string]any, way ...string) map[string]any {
	for _, member := range way {
		doc = doc[member].(map[string]any)
	}
	return doc
}

func object(did ubl.Did, schema json.RawMessage) (out map[string]any) {
	if err := json.Unmarshal(schema, &out); err != nil {
		panic(fmt.Sprintf("schemas: the form of the act %s is no JSON object: %v", did, err))
	}
	return out
}

func read(id string) map[string]any {
	data, _ := Read(id)
	return object(ubl.Did(id), data)
}

func encode(schema any) []byte {
	data, err := json.Marshal(schema)
	if err != nil { // impossible: it was read from JSON
		panic(err)
	}
	return data
}

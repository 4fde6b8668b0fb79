package find

import (
	"encoding/json"
	"maps"
	"regexp"
	"slices"
	"strings"
)

// The fields of a tool, and what a word counts in each. length is how far a field that
// is longer than others counts less, from 0 to 1.
const (
	inName = iota
	inTitle
	inDescription
	inParameters
	inTheirWords
	fieldCount
)

var kinds = [fieldCount]struct{ weight, length float64 }{
	inName:        {4, 0.3},
	inTitle:       {2.5, 0.5},
	inDescription: {0.8, 0.6},
	inParameters:  {0.5, 0.6},
	inTheirWords:  {0.3, 0.7},
}

// field is the words of one.
type field struct{ words []string }

func fieldsOf(t Tool) []field {
	out := make([]field, fieldCount)
	out[inName].words = stems(t.Name)
	out[inTitle].words = stems(t.Title)
	// A description often begins with the title, and names tools for what this one doesn't do.
	out[inDescription].words = stems(pointer.ReplaceAllString(strings.TrimPrefix(t.Description, t.Title), ""))
	var s schema
	if json.Unmarshal(t.Input, &s) == nil {
		s.read(out, maxDepth)
	}
	for f := range out {
		out[f].words = out[f].words[:min(len(out[f].words), maxWords)]
	}
	return out
}

// pointer is the name of another tool in a description, which says nothing of this one.
var pointer = regexp.MustCompile(`\b[a-z]+(\.[a-z_]+)+\b`)

// What is read of a tool is bounded, since another server may have written it: how deep its
// parameters go, and how many words a field has.
const (
	maxDepth = 6
	maxWords = 1000
)

// schema is what is read of one: as much as has words.
type schema struct {
	Description string             `json:"description"`
	Properties  map[string]*schema `json:"properties"`
	Items       *anySchema         `json:"items"`
	AnyOf       []*anySchema       `json:"anyOf"`
	OneOf       []*anySchema       `json:"oneOf"`
	AllOf       []*anySchema       `json:"allOf"`
	Enum        []any              `json:"enum"`
}

// anySchema is a schema that may be true or false, or what is none.
type anySchema struct{ schema }

// UnmarshalJSON implements [json.Unmarshaler].
func (s *anySchema) UnmarshalJSON(data []byte) error {
	if len(data) > 0 && data[0] == '{' {
		return json.Unmarshal(data, &s.schema)
	}
	return nil
}

// read adds the parameters' words.
func (s *schema) read(to []field, depth int) {
	if s == nil || depth == 0 {
		return
	}
	for _, name := range slices.Sorted(maps.Keys(s.Properties)) {
		p := s.Properties[name]
		if name == "client_request_id" { // each has it, and nobody looks for it
			continue
		}
		to[inParameters].words = append(to[inParameters].words, stems(name)...)
		if p == nil {
			continue
		}
		to[inTheirWords].words = append(to[inTheirWords].words, stems(p.Description)...)
		for _, value := range p.Enum {
			if text, ok := value.(string); ok {
				to[inTheirWords].words = append(to[inTheirWords].words, stems(text)...)
			}
		}
		p.read(to, depth-1)
	}
	for _, inner := range slices.Concat([]*anySchema{s.Items}, s.AnyOf, s.OneOf, s.AllOf) {
		if inner != nil {
			inner.read(to, depth-1)
		}
	}
}

// weigh is how much of each word a tool has: its counts in the fields, each weighted
// and corrected by the field's length. total are the lengths of all tools' fields.
func weigh(fields []field, total [fieldCount]int, tools int) map[string]float64 {
	out := map[string]float64{}
	for f := range fields {
		words := fields[f].words
		if len(words) == 0 {
			continue
		}
		average := float64(total[f]) / float64(tools)
		long := 1 - kinds[f].length + kinds[f].length*float64(len(words))/average
		counts := map[string]int{}
		for _, word := range words {
			counts[word]++
		}
		for word, n := range counts {
			out[word] += kinds[f].weight * float64(n) / long
		}
	}
	return out
}

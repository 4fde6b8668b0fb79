package api

import (
	"encoding/json"
	"maps"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// TestWordsForModels: each tool of ours says in two to four sentences what it does, when
// to use it, and which tool there is for what it doesn't do. None speaks of HTTP.
func TestWordsForModels(t *testing.T) {
	acts := newServer(t).api.Acts()
	known := map[string]bool{"messenger.stream_room": true, "office.file.read": true}
	for _, act := range acts {
		known[act.Name] = true
	}
	for tool := range words {
		if !known[tool] {
			t.Errorf("words.txt describes %s, which is no tool", tool)
		}
	}
	for _, act := range acts {
		said := act.Description
		if n := len(sentence.FindAllString(said, -1)); n < 2 || n > 4 {
			t.Errorf("%s has %d sentences", act.Name, n)
		}
		if !strings.Contains(said, "Use it ") {
			t.Errorf("%s doesn't say when to use it", act.Name)
		}
		if others := toolName.FindAllString(said, -1); !insteadOf.MatchString(said) && len(slices.DeleteFunc(others, func(name string) bool { return name == act.Name })) == 0 {
			t.Errorf("%s doesn't say when not to use it, or what else there is", act.Name)
		}
		if len(act.Title) > 72 || len(said) > 500 {
			t.Errorf("%s: %q and %d bytes of description", act.Name, act.Title, len(said))
		}
		if w, ours := words[act.Name]; ours && (w.title != act.Title || w.description != said) || restWord.MatchString(said) {
			t.Errorf("%s: %q %q, of HTTP: %q", act.Name, act.Title, said, restWord.FindString(said))
		}
		for _, other := range toolName.FindAllString(said, -1) {
			if !known[other] && !strings.Contains(other, "next_cursor") && other != "agreement.seal" {
				t.Errorf("%s sends its reader to %s, which is no tool", act.Name, other)
			}
		}
	}
}

var (
	sentence  = regexp.MustCompile(`[.?!](\s|$)`)
	toolName  = regexp.MustCompile(`\b[a-z]+(\.[a-z_]+)+\b`)
	insteadOf = regexp.MustCompile(`only (where|when|after|if)|Otherwise `)
	restWord  = regexp.MustCompile(`\b(HTTP|REST|GET|POST|PUT|PATCH|DELETE|OpenAPI|endpoints?|headers?|status code|request body|query parameters?|an? [45]\d\d)\b`)
)

// TestParametersForModels: every argument of every tool is described, in words that know
// nothing of HTTP, and what can't be chosen from a list has an example. What says where a page
// begins, and how long it is, needs none.
func TestParametersForModels(t *testing.T) {
	for _, act := range newServer(t).api.Acts() {
		var in node
		if err := json.Unmarshal(act.Input, &in); err != nil {
			t.Fatal(err)
		}
		in.each("", func(place string, p *node) {
			if p.Description == "" {
				t.Errorf("%s: %s isn't described", act.Name, place)
			}
			ofServer := act.Name == "portal.server.add" // which says what requests to a server have in theirs
			if word := restWord.FindString(p.Description); word != "" && !ofServer {
				t.Errorf("%s: %s speaks of HTTP: %s", act.Name, place, word)
			}
			if !slices.Contains([]string{"cursor", "before", "limit"}, place) && !p.shown() {
				t.Errorf("%s: %s has no example", act.Name, place)
			}
		})
	}
}

// node is a JSON Schema as these tests read it.
type node struct {
	Description string           `json:"description"`
	Examples    []any            `json:"examples"`
	Enum        []any            `json:"enum"`
	Default     any              `json:"default"`
	Type        string           `json:"type"`
	Properties  map[string]*node `json:"properties"`
	Required    []string         `json:"required"`
	Items       *node            `json:"items"`
	AnyOf       []*node          `json:"anyOf"`
}

// each calls fn for every member at any depth.
func (n *node) each(place string, fn func(place string, p *node)) {
	for _, choice := range n.AnyOf {
		choice.each(place, fn)
	}
	if n.Items != nil {
		n.Items.each(place+"[]", fn)
	}
	for _, name := range slices.Sorted(maps.Keys(n.Properties)) {
		p := n.Properties[name]
		at := strings.TrimPrefix(place+"."+name, ".")
		fn(at, p)
		p.each(at, fn)
	}
}

// shown reports whether one sees what to write there: it has an example, or is one of a few values, or
// is made of members that have.
func (n *node) shown() bool {
	if len(n.Examples) > 0 || len(n.Enum) > 0 || n.Default != nil || !slices.Contains([]string{"", "string", "integer", "number"}, n.Type) {
		return true
	}
	return len(n.AnyOf) > 0 && !slices.ContainsFunc(n.AnyOf, func(choice *node) bool { return !choice.shown() })
}

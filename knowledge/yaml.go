package knowledge

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math"
	"strings"
	"time"
	"unicode/utf8"

	"go.yaml.in/yaml/v4"
)

// bounds are how much YAML is read. Aliases are written out, so that they count as what they
// stand for.
type bounds struct {
	bytes, nodes, depth, aliases int
}

// tree is YAML as JSON has it, with the lines where its members stand.
type tree struct {
	value any
	lines map[string]int // by the place, as placeOf writes it
}

// yamlError says what is wrong with YAML, and in which line.
type yamlError struct {
	line    int
	message string
}

// placeOf is a place in a tree as a key: its parts may hold any other character.
func placeOf(parts ...string) string { return strings.Join(parts, "\x00") }

// line is where a place stands, or else the nearest one around it.
func (t *tree) line(place ...string) int {
	for n := len(place); n >= 0; n-- {
		if line, ok := t.lines[placeOf(place[:n]...)]; ok {
			return line
		}
	}
	return 0
}

// readYAML reads one document, whose first line has a number in its file. An empty one is nil.
func readYAML(data []byte, firstLine int, most bounds) (*tree, *yamlError) {
	if len(data) > most.bytes {
		return nil, &yamlError{firstLine, fmt.Sprintf("it has more than %d bytes", most.bytes)}
	}
	root, bad := composed(data)
	if bad != nil {
		bad.line += firstLine - 1
		return nil, bad
	}
	r := reading{tree: tree{lines: map[string]int{"": firstLine}}, offset: firstLine - 1, most: most}
	if root != nil {
		r.value, bad = r.node(root, nil)
	}
	return &r.tree, bad
}

// composed is the document's root, nil for an empty one.
func composed(data []byte) (*yaml.Node, *yamlError) {
	loader, err := yaml.NewLoader(bytes.NewReader(data))
	if err != nil {
		return nil, &yamlError{1, "it can't be read as YAML"}
	}
	var document, more yaml.Node
	switch err := loader.Load(&document); {
	case errors.Is(err, io.EOF):
		return nil, nil
	case err != nil:
		return nil, syntaxError(err)
	}
	if err := loader.Load(&more); !errors.Is(err, io.EOF) {
		return nil, &yamlError{1, "it has more than one document"}
	}
	if len(document.Content) != 1 {
		return nil, nil
	}
	return document.Content[0], nil
}

func syntaxError(err error) *yamlError {
	e, ok := errors.AsType[*yaml.LoadError](err)
	if !ok {
		return &yamlError{1, "it can't be read as YAML"}
	}
	line := max(1, e.Mark.Line, e.ContextMark.Line)
	if e.Stage == yaml.ComposerStage { // whose message quotes what stands there: *text* may be meant as a word in italics
		return &yamlError{line, "it has an alias (*) whose anchor (&) isn't before it"}
	}
	return &yamlError{line, "it can't be read as YAML: " + e.Message}
}

// reading makes values of nodes.
type reading struct {
	tree
	offset         int // of lines
	most           bounds
	nodes, aliases int
}

func (r *reading) fail(n *yaml.Node, format string, args ...any) *yamlError {
	return &yamlError{n.Line + r.offset, fmt.Sprintf(format, args...)}
}

// node is a node's value. What is nested too deep includes aliases that stand within what they
// stand for.
func (r *reading) node(n *yaml.Node, place []string) (any, *yamlError) {
	if r.nodes++; r.nodes > r.most.nodes {
		return nil, r.fail(n, "it has more than %d values, with aliases written out", r.most.nodes)
	}
	if len(place) > r.most.depth {
		return nil, r.fail(n, "it is nested deeper than %d levels", r.most.depth)
	}
	if _, there := r.lines[placeOf(place...)]; !there {
		r.lines[placeOf(place...)] = n.Line + r.offset
	}
	switch n.Kind {
	case yaml.AliasNode:
		if r.aliases++; r.aliases > r.most.aliases {
			return nil, r.fail(n, "it has more than %d aliases", r.most.aliases)
		}
		return r.node(n.Alias, place)
	case yaml.MappingNode:
		return r.mapping(n, place)
	case yaml.SequenceNode:
		list := make([]any, len(n.Content))
		for i, each := range n.Content {
			v, bad := r.node(each, within(place, fmt.Sprint(i)))
			if bad != nil {
				return nil, bad
			}
			list[i] = v
		}
		return list, nil
	}
	return r.scalar(n)
}

func (r *reading) mapping(n *yaml.Node, place []string) (any, *yamlError) {
	out := make(map[string]any, len(n.Content)/2)
	for i := 0; i+1 < len(n.Content); i += 2 {
		key := n.Content[i]
		if key.Kind != yaml.ScalarNode || key.ShortTag() == "!!merge" || key.Value == "" || !plain(key.Value) {
			return nil, r.fail(key, "the name of a field is no plain text")
		}
		if _, twice := out[key.Value]; twice {
			return nil, r.fail(key, "%q is there twice", key.Value)
		}
		r.lines[placeOf(within(place, key.Value)...)] = key.Line + r.offset
		v, bad := r.node(n.Content[i+1], within(place, key.Value))
		if bad != nil {
			return nil, bad
		}
		out[key.Value] = v
	}
	return out, nil
}

// within is a place below another one.
func within(place []string, part string) []string { return append(place[:len(place):len(place)], part) }

// plain reports whether a text can be stored and shown as it is.
func plain(s string) bool { return utf8.ValidString(s) && !strings.ContainsRune(s, 0) }

// maxInteger is the largest integer that JSON holds exactly.
const maxInteger = 1<<53 - 1

// scalar is a text, number, truth value or nil. What JSON can't hold as a number is the text that
// stands there.
func (r *reading) scalar(n *yaml.Node) (any, *yamlError) {
	if !plain(n.Value) {
		return nil, r.fail(n, "it has a character that can't be stored")
	}
	switch n.ShortTag() {
	case "!!str":
		return n.Value, nil
	case "!!null", "!!bool", "!!int", "!!float", "!!timestamp":
	default:
		return nil, r.fail(n, "it has a tag other than those of plain values")
	}
	var v any
	if err := n.Decode(&v); err != nil {
		return nil, r.fail(n, "a value isn't what its tag says")
	}
	switch v := v.(type) {
	case int:
		if v >= -maxInteger && v <= maxInteger {
			return float64(v), nil
		}
	case float64:
		if !math.IsNaN(v) && !math.IsInf(v, 0) && math.Abs(v) <= maxInteger {
			return v, nil
		}
	case time.Time:
		if !strings.Contains(n.Value, ":") {
			return v.Format(time.DateOnly), nil
		}
		return v.UTC().Format(time.RFC3339), nil
	case bool, nil:
		return v, nil
	}
	return n.Value, nil
}

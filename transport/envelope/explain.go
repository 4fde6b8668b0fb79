package envelope

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"ubl"
)

// NotAsDescribed is the message of a request whose details say what is wrong with it.
const NotAsDescribed = "the request is not as the API describes it; see details"

// Explain is an error of the act as a model can mend its arguments by it. Each detail
// that is about an argument says what would be right besides, by the input schema that
// the model was shown; one that the act doesn't take says which were meant. Nothing of
// what was given is repeated. Errors of other kinds stay as they are.
func (a *Act) Explain(err error) error {
	if err == nil {
		return nil
	}
	e := ubl.AsError(err)
	if e.Code != ubl.CodeValidation && e.Code != ubl.CodeTooLarge {
		return err
	}
	input := new(shape)
	if json.Unmarshal(a.Input, input) != nil {
		return err
	}
	told := *e
	told.Details = map[string]string{}
	maps.Copy(told.Details, e.Details)
	place, reason, ok := strings.Cut(e.Message, ": ")
	if ok && len(e.Details) == 0 && input.at(place) != nil {
		told.Details[place] = reason
	}
	if e.Message == NotAsDescribed || ok && told.Details[place] == reason {
		told.Message = "the arguments are not as " + a.Name + " takes them"
	}
	for place, reason := range told.Details {
		told.Details[place] = input.explain(place, reason)
	}
	return &told
}

// explain adds to what is wrong at a place what would be right there.
func (s *shape) explain(place, reason string) string {
	if slices.ContainsFunc(unexpected, func(said string) bool { return strings.HasPrefix(reason, said) }) {
		parent, name := s, place
		if i := strings.LastIndexByte(place, '.'); i >= 0 {
			parent, name = s.at(place[:i]), place[i+1:]
		} else if place == "arguments" { // a name that isn't repeated
			name = ""
		}
		if parent.plain() != nil && len(parent.plain().Properties) > 0 {
			return parent.plain().unknown(name)
		}
		return reason
	}
	at := s.at(place)
	switch {
	case at == nil, strings.Contains(reason, rightIs), strings.Contains(reason, " like "):
		return reason
	case len(at.plain().Enum) > 0 && strings.HasPrefix(reason, "expected "): // which names them, or the one that this caller may give
		return reason
	}
	if strings.HasPrefix(reason, patternFails) {
		reason = "has another form than it should"
	}
	return reason + rightIs + at.wanted()
}

// What the decoders and the validator say of a member that isn't known, and of a text
// that doesn't match. The pattern itself is no help: an example is.
var unexpected = []string{"an unexpected member", "unexpected property"}

const (
	patternFails = "expected string to match pattern"
	rightIs      = "; right is "
)

// unknown says of a name that isn't one of the object's which are.
func (s *shape) unknown(name string) string {
	names := slices.Sorted(maps.Keys(s.Properties))
	said := "there is no such argument."
	if meant := s.nearest(name); meant != "" {
		said += " Did you mean " + meant + "?"
	}
	return said + " It takes " + strings.Join(names, ", ")
}

// nearest is the place of the known name that the given one is closest to, "" where
// none is close: the same name in another spelling or one level down, or one that differs in a few
// letters.
func (s *shape) nearest(name string) string {
	if name == "" {
		return ""
	}
	for _, one := range slices.Sorted(maps.Keys(s.Properties)) {
		if squashed(one) == squashed(name) {
			return one
		}
	}
	name = strings.ReplaceAll(strings.ToLower(name), "-", "_")
	for _, outer := range slices.Sorted(maps.Keys(s.Properties)) {
		if inner := s.Properties[outer].plain(); inner.Properties[name] != nil {
			return outer + "." + name
		}
	}
	known := slices.Sorted(maps.Keys(s.Properties))
	if near := Nearest(name, known); near != "" {
		return near
	}
	for _, one := range known { // room for room_id, id for room_id
		if strings.HasPrefix(one, name+"_") || strings.HasSuffix(one, "_"+name) {
			return one
		}
	}
	return ""
}

// squashed is a name without what its spellings differ in: room_id, roomId and Room-ID are one.
func squashed(name string) string {
	return strings.NewReplacer("_", "", "-", "").Replace(strings.ToLower(name))
}

// shape is what an explanation reads of a JSON Schema.
type shape struct {
	Type       string            `json:"type"`
	AnyOf      []*shape          `json:"anyOf"`
	Properties map[string]*shape `json:"properties"`
	Items      *shape            `json:"items"`
	Enum       []any             `json:"enum"`
	Examples   []any             `json:"examples"`
	Default    any               `json:"default"`
	Minimum    *json.Number      `json:"minimum"`
	Maximum    *json.Number      `json:"maximum"`
	MinLength  int               `json:"minLength"`
	MaxLength  int               `json:"maxLength"`
	MinItems   int               `json:"minItems"`
	MaxItems   int               `json:"maxItems"`
	Pattern    string            `json:"pattern"`
}

// at is the shape of a place like body.text or tools[0]; nil where there is none.
func (s *shape) at(place string) *shape {
	for name := range strings.SplitSeq(place, ".") {
		name, index, indexed := strings.Cut(name, "[")
		if s = s.plain(); s == nil {
			return nil
		}
		if s = s.Properties[name]; s == nil {
			return nil
		}
		if indexed && index != "" {
			s = s.item()
		}
	}
	return s
}

// item is the shape of what a list holds, with an example out of the list's own.
func (s *shape) item() *shape {
	list := s.plain()
	if list.Items == nil {
		return nil
	}
	item := *list.Items
	for _, example := range append(s.Examples, list.Examples...) {
		if items, ok := example.([]any); ok && len(item.Examples) == 0 {
			item.Examples = items
		}
	}
	return &item
}

// plain is the shape without null.
func (s *shape) plain() *shape {
	if s == nil {
		return nil
	}
	for _, choice := range s.AnyOf {
		if choice.Type != "null" {
			return choice
		}
	}
	return s
}

// wanted describes what is right, in words.
func (s *shape) wanted() string {
	p := s.plain()
	said := p.form() + s.example(p)
	if s.Default != nil {
		said += ", and without it " + quoted(s.Default)
	}
	return said
}

func (s *shape) form() string {
	if len(s.Enum) > 0 {
		said := make([]string, len(s.Enum))
		for i, v := range s.Enum {
			said[i] = quoted(v)
		}
		return "one of " + strings.Join(said, ", ")
	}
	switch s.Type {
	case "string":
		return "a text" + between(" of %d to %d characters", " of at most %d characters", s.MinLength, s.MaxLength)
	case "integer", "number":
		return map[string]string{"integer": "a whole number", "number": "a number"}[s.Type] + s.bounds()
	case "boolean":
		return "true or false"
	case "array":
		said := "a list" + between(" of %d to %d", " of at most %d", s.MinItems, s.MaxItems)
		if s.Items != nil && s.Items.Type != "" {
			said += ", each " + s.Items.wanted()
		}
		return said
	case "object":
		if len(s.Properties) > 0 {
			return "an object with " + strings.Join(slices.Sorted(maps.Keys(s.Properties)), ", ")
		}
		return "an object"
	}
	return "as its description says"
}

func between(both, most string, from, to int) string {
	switch {
	case to == 0:
		return ""
	case from == 0:
		return fmt.Sprintf(most, to)
	}
	return fmt.Sprintf(both, from, to)
}

func (s *shape) bounds() string {
	switch {
	case s.Minimum != nil && s.Maximum != nil && *s.Maximum != largest:
		return " from " + s.Minimum.String() + " to " + s.Maximum.String()
	case s.Minimum != nil:
		return " from " + s.Minimum.String()
	case s.Maximum != nil && *s.Maximum != largest:
		return " up to " + s.Maximum.String()
	}
	return ""
}

// largest is the largest integer that JSON's readers agree on: a bound that says nothing.
const largest = "9007199254740991"

// example is one of those that stand beside the choices or in the chosen one. Without
// any, the pattern has to do.
func (s *shape) example(chosen *shape) string {
	switch {
	case len(s.Examples) > 0:
		return " like " + quoted(s.Examples[0])
	case len(chosen.Examples) > 0:
		return " like " + quoted(chosen.Examples[0])
	case chosen.Pattern != "" && len(chosen.Pattern) <= maxPattern:
		return " that matches " + chosen.Pattern
	}
	return ""
}

// maxPattern is the longest that a model reads with profit.
const maxPattern = 48

func quoted(v any) string {
	data, err := json.Marshal(v)
	if err != nil { // it came out of JSON
		return ""
	}
	return string(data)
}

package envelope

import (
	"bytes"
	"encoding/json"
	"regexp"
	"strconv"

	"github.com/go-json-experiment/json/jsontext"
)

// Whole writes numbers like 2.0 as 2 where the act takes an integer. To JSON Schema both are
// integers, and models write either. Arguments that are no JSON, or hold something else, stay as
// they are: the act says what is wrong with them.
func (a *Act) Whole(args json.RawMessage) json.RawMessage {
	if !bytes.Contains(args, []byte(".0")) {
		return args
	}
	input := new(shape)
	if json.Unmarshal(a.Input, input) != nil {
		return args
	}
	out, err := input.whole(jsontext.Value(args))
	if err != nil {
		return args
	}
	return json.RawMessage(out)
}

// whole is a value of the shape with its integers written as such. What the shape doesn't know, such
// as the arguments of another server's tool, isn't touched.
func (s *shape) whole(value jsontext.Value) (jsontext.Value, error) {
	s = s.plain()
	if s == nil {
		return value, nil
	}
	kind := value.Kind()
	switch {
	case kind == '0' && s.Type == "integer":
		return exact(value), nil
	case kind == '{' && s.Properties == nil, kind == '[' && s.Items == nil, kind != '{' && kind != '[':
		return value, nil
	}
	dec := jsontext.NewDecoder(bytes.NewReader(value), jsontext.AllowDuplicateNames(true))
	if _, err := dec.ReadToken(); err != nil {
		return nil, err
	}
	out := []byte{byte(kind)}
	for dec.PeekKind() != '}' && dec.PeekKind() != ']' {
		if len(out) > 1 {
			out = append(out, ',')
		}
		inner := s.Items
		if kind == '{' {
			name, err := dec.ReadValue()
			if err != nil {
				return nil, err
			}
			plain, err := jsontext.AppendUnquote(nil, name)
			if err != nil {
				return nil, err
			}
			inner = s.Properties[string(plain)]
			out = append(append(out, name...), ':')
		}
		member, err := dec.ReadValue()
		if err != nil {
			return nil, err
		}
		if member, err = inner.whole(member.Clone()); err != nil {
			return nil, err
		}
		out = append(out, member...)
	}
	end, err := dec.ReadToken()
	if err != nil {
		return nil, err
	}
	// What follows is kept, for the act to refuse.
	return append(append(out, end.String()...), value[dec.InputOffset():]...), nil
}

// nothingBehind is a number without anything behind its point.
var nothingBehind = regexp.MustCompile(`^(-?[0-9]{1,16})\.0+$`)

// maxExact is the largest number below which JSON's readers agree on every integer.
const maxExact = 1 << 53

// exact is a number without an empty fraction, where all readers take it for the same.
func exact(number jsontext.Value) jsontext.Value {
	found := nothingBehind.FindSubmatch(number)
	if found == nil {
		return number
	}
	n, err := strconv.ParseInt(string(found[1]), 10, 64)
	if err != nil || n > maxExact || n < -maxExact {
		return number
	}
	return strconv.AppendInt(nil, n, 10)
}

package knowledge

import (
	"bytes"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/santhosh-tekuri/jsonschema/v6/kind"
)

// wrong is a place that doesn't fit its schema. It quotes the schema, never what stands there.
type wrong struct {
	place []string
	wants string
}

// field is the place as people write it.
func (w wrong) field() string { return strings.Join(w.place, ".") }

// message is what is wrong, as a sentence.
func (w wrong) message() string { return strings.TrimPrefix(w.field()+" "+w.wants, " ") }

// moments are how a date may be written.
var moments = []string{time.DateOnly, time.RFC3339, "2006-01-02T15:04", "2006-01-02T15:04:05", "2006-01-02 15:04", time.DateTime}

// dateOrTime is the format of fields that tell when something was.
var dateOrTime = &jsonschema.Format{Name: "date-or-time", Validate: func(v any) error {
	text, ok := v.(string)
	if !ok {
		return nil
	}
	for _, layout := range moments {
		if _, err := time.Parse(layout, text); err == nil {
			return nil
		}
	}
	return errors.New("it is written in another way")
}}

// compile makes a schema that can be checked. It may come from strangers.
func compile(schema []byte) (s *jsonschema.Schema, err error) {
	defer func() {
		if recover() != nil {
			s, err = nil, errors.New("the schema can't be compiled")
		}
	}()
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(schema))
	if err != nil {
		return nil, err
	}
	c := jsonschema.NewCompiler()
	c.UseLoader(nothing{})
	c.RegisterFormat(dateOrTime)
	c.AssertFormat()
	const name = "urn:ubl:fields"
	if err := c.AddResource(name, doc); err != nil {
		return nil, err
	}
	return c.Compile(name)
}

// nothing loads no other document.
type nothing struct{}

// Load implements [jsonschema.URLLoader].
func (nothing) Load(string) (any, error) { return nil, errors.New("other documents are not read") }

// maxWrong bounds how much is told of one file.
const maxWrong = 20

// check holds a value against a schema.
func check(s *jsonschema.Schema, v any) (found []wrong) {
	bad, ok := errors.AsType[*jsonschema.ValidationError](s.Validate(v))
	if !ok {
		return nil
	}
	var gather func(e *jsonschema.ValidationError)
	gather = func(e *jsonschema.ValidationError) {
		for _, c := range e.Causes {
			gather(c)
		}
		if len(e.Causes) > 0 || len(found) >= maxWrong {
			return
		}
		switch k := e.ErrorKind.(type) {
		case *kind.Required:
			for _, name := range k.Missing {
				found = append(found, wrong{within(e.InstanceLocation, name), "is missing"})
			}
		case *kind.AdditionalProperties:
			for _, name := range k.Properties {
				found = append(found, wrong{within(e.InstanceLocation, name), "is no name that belongs here"})
			}
		default:
			found = append(found, wrong{e.InstanceLocation, wanted(k)})
		}
	}
	gather(bad)
	return found
}

// called is what types and formats of JSON Schema are called by people who write YAML.
var called = map[string]string{
	"string": "text", "array": "a list", "object": "a mapping", "boolean": "true or false", "null": "empty", "number": "a number", "integer": "a whole number",
	"uri": "an address like https://example.org", "email": "a mail address", "date-or-time": "a date like 2026-01-31",
}

// wanted is what a keyword asks for.
func wanted(k jsonschema.ErrorKind) string {
	name := func(s string) string {
		if words, ok := called[s]; ok {
			return words
		}
		return s
	}
	switch k := k.(type) {
	case *kind.Type:
		names := make([]string, len(k.Want))
		for i, t := range k.Want {
			names[i] = name(t)
		}
		return "must be " + strings.Join(names, " or ")
	case *kind.Format:
		return "must be " + name(k.Want)
	case *kind.Enum:
		return "must be one of " + strings.Trim(fmt.Sprint(k.Want), "[]")
	case *kind.Const:
		return fmt.Sprintf("must be %v", k.Want)
	case *kind.MinLength:
		if k.Want == 1 {
			return "must not be empty"
		}
	}
	keyword := k.KeywordPath()
	if len(keyword) == 0 {
		return "doesn't fit its schema"
	}
	return "doesn't fit its schema's " + keyword[len(keyword)-1]
}

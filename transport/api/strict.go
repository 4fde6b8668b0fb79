package api

import (
	"errors"
	"iter"
	"reflect"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"ubl"
	"ubl/transport/envelope"
)

// strictly is how every body is decoded: names must match in case and be
// known. Duplicate names, broken UTF-8, lone surrogates and trailing data the
// library refuses by itself.
var strictly = json.JoinOptions(json.RejectUnknownMembers(true))

// decode reads a body into v. Its errors are validation errors that say where
// and why, and never quote the body, but for names as in [shown].
func decode(body []byte, v any) error {
	err := json.Unmarshal(body, v, strictly)
	if err == nil {
		return nil
	}
	if semantic, ok := errors.AsType[*json.SemanticError](err); ok {
		return invalid(location(semantic), semanticReason(semantic, v)).Because(err)
	}
	if errors.Is(err, jsontext.ErrDuplicateName) {
		return invalid("body", "an object names a member twice").Because(err)
	}
	return invalid("body", "not valid JSON in UTF-8").Because(err)
}

func semanticReason(err *json.SemanticError, v any) string {
	switch {
	case !errors.Is(err, json.ErrUnknownName):
		return envelope.MistypedBy(err)
	case strings.Count(string(err.JSONPointer), "/") == 1:
		if takes := members(reflect.TypeOf(v).Elem()); takes != "" {
			return "an unexpected member of the request itself, which takes " + takes + envelope.Meant(string(err.JSONPointer[1:]), names(reflect.TypeOf(v).Elem()))
		}
	}
	return "an unexpected member"
}

// members names what a struct takes, and what those in it take.
func members(t reflect.Type) string {
	var out []string
	for name, f := range fields(t) {
		if inside := members(f); inside != "" {
			name += " {" + inside + "}"
		}
		out = append(out, name)
	}
	return strings.Join(out, ", ")
}

// names are those that a struct takes itself.
func names(t reflect.Type) (out []string) {
	for name := range fields(t) {
		out = append(out, name)
	}
	return out
}

// fields are those of a struct by their names in JSON; anything else has none.
func fields(t reflect.Type) iter.Seq2[string, reflect.Type] {
	return func(yield func(string, reflect.Type) bool) {
		if t.Kind() != reflect.Struct {
			return
		}
		for _, f := range reflect.VisibleFields(t) {
			name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
			if name != "" && !f.Anonymous && !yield(name, f.Type) {
				return
			}
		}
	}
}

// location is where a value of the wrong type or an unknown name is.
func location(err *json.SemanticError) string {
	return shown("body" + strings.ReplaceAll(string(err.JSONPointer), "/", "."))
}

// reasonOf is the one reason of an error of decode.
func reasonOf(err error) string {
	for _, reason := range ubl.AsError(err).Details {
		return reason
	}
	return "not as expected"
}

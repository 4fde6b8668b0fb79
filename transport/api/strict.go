package api

import (
	"errors"
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
			return "an unexpected member of the request itself, which takes " + takes
		}
	}
	return "an unexpected member"
}

// members names what a struct takes, and what those in it take.
func members(t reflect.Type) string {
	if t.Kind() != reflect.Struct {
		return ""
	}
	var names []string
	for _, f := range reflect.VisibleFields(t) {
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		if name == "" || f.Anonymous {
			continue
		}
		if inside := members(f.Type); inside != "" {
			name += " {" + inside + "}"
		}
		names = append(names, name)
	}
	return strings.Join(names, ", ")
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

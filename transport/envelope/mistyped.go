package envelope

import (
	"errors"
	"reflect"
	"strconv"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

var kinds = map[jsontext.Kind]string{'f': "a boolean", 't': "a boolean", '"': "a string", '0': "a number", '{': "an object", '[': "an array"}

// Mistyped says what a value is, and what it should be: "a number, where a string is
// expected". The type wanted is one of OpenAPI's, or "". The value is not quoted.
func Mistyped(is jsontext.Kind, want string) string {
	found, ok := kinds[is]
	if !ok {
		found = "null"
	}
	switch want {
	case "":
		return "a value of another type than expected"
	case "integer", "array", "object":
		want = "an " + want
	default:
		want = "a " + want
	}
	return found + ", where " + want + " is expected"
}

// MistypedBy is [Mistyped] for what a decoder found.
func MistypedBy(err *json.SemanticError) string {
	if err.Err != nil && !errors.Is(err.Err, strconv.ErrSyntax) { // the type is right, and what it holds isn't
		return Mistyped(err.JSONKind, "")
	}
	return Mistyped(err.JSONKind, typed(err.GoType))
}

// typed is OpenAPI's type of a Go type, "" where that is not for the type to say.
func typed(t reflect.Type) string {
	if t == nil {
		return ""
	}
	switch t.Kind() {
	case reflect.Pointer:
		return typed(t.Elem())
	case reflect.String:
		return "string"
	case reflect.Bool:
		return "boolean"
	case reflect.Int, reflect.Int32, reflect.Int64, reflect.Uint32, reflect.Uint64:
		return "integer"
	case reflect.Float64:
		return "number"
	case reflect.Slice:
		return "array"
	case reflect.Map, reflect.Struct:
		return "object"
	}
	return ""
}

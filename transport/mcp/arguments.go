package mcp

import (
	"errors"
	"maps"

	strict "github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"ubl/transport/envelope"
)

// readArguments decodes the arguments of a tool of this package, and refuses members that
// it doesn't have. Null is as if the argument were absent, as models give it.
func readArguments(args []byte, in any) error {
	var given map[string]jsontext.Value
	if strict.Unmarshal(args, &given) == nil {
		maps.DeleteFunc(given, func(_ string, v jsontext.Value) bool { return v.Kind() == 'n' })
		if plain, err := strict.Marshal(given); err == nil {
			args = plain
		}
	}
	err := strict.Unmarshal(args, in, strict.RejectUnknownMembers(true))
	if err == nil {
		return nil
	}
	if at, ok := errors.AsType[*strict.SemanticError](err); ok && errors.Is(err, strict.ErrUnknownName) {
		return invalid(envelope.Argument(at.JSONPointer.LastToken()), "an unexpected member")
	}
	return wrongType("", err)
}

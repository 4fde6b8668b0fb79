package mcp

import (
	"strings"
	"testing"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"ubl"
)

// TestUnexpectedMembers: an argument that isn't known is named where it is spelled as the
// API's own, and never else.
func TestUnexpectedMembers(t *testing.T) {
	prompt := job{prompt: sdk.Prompt{Arguments: []*sdk.PromptArgument{{Name: "room_id"}}}}
	for name, shown := range map[string]bool{"romm": true, "Bearer x": false, strings.Repeat("x", 41): false, "": false} {
		argument, parameter := "arguments", "params.arguments"
		if shown {
			argument, parameter = name, parameter+"."+name
		}
		_, streaming := readStreamArgs([]byte(`{"room_id":"r:general","` + name + `":1}`))
		for place, err := range map[string]error{
			argument:  streaming,
			parameter: prompt.check(map[string]string{name: "x", "room_id": ""}),
		} {
			if got := ubl.AsError(err).Details; len(got) != 1 || got[place] != "an unexpected member" {
				t.Errorf("%q: %v, want %s", name, got, place)
			}
		}
	}
}

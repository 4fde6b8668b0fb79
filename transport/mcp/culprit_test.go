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
	for name, where := range map[string]string{"romm": ".romm", "Bearer x": "", strings.Repeat("x", 41): "", "": ""} {
		_, streaming := readStreamArgs([]byte(`{"room_id":"r:general","` + name + `":1}`))
		for place, err := range map[string]error{
			"arguments":        streaming,
			"params.arguments": prompt.check(map[string]string{name: "x", "room_id": ""}),
		} {
			if got := ubl.AsError(err).Details; len(got) != 1 || got[place+where] != "an unexpected member" {
				t.Errorf("%q: %v, want %s%s", name, got, place, where)
			}
		}
	}
}

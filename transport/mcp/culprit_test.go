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

// TestNullArguments: what isn't needed may be null, as the schemas of these tools say.
func TestNullArguments(t *testing.T) {
	in, err := readStreamArgs([]byte(`{"room_id":"r:general","from_seq":null,"seconds":null,"limit":null}`))
	if err != nil || in.FromSeq != nil || in.Seconds != defaultSeconds || in.Limit != defaultLimit {
		t.Errorf("messenger.stream_room reads %+v, %v", in, err)
	}
	if _, err := readStreamArgs([]byte(`{"room_id":null}`)); ubl.AsError(err).Details["room_id"] == "" {
		t.Errorf("without a room: %v", err)
	}
	if got, err := readTarget([]byte(`{"name":"user.whoami","arguments":null}`)); err != nil || got.Arguments != nil {
		t.Errorf("tool.call reads %+v, %v", got, err)
	}
}

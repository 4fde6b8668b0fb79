package envelope

import (
	"strings"
	"testing"
)

// TestArgument: a name is shown where it can be nobody's text.
func TestArgument(t *testing.T) {
	for name, want := range map[string]string{
		"room_id": "room_id", "roomId": "roomId", "clientRequestId": "clientRequestId", "Room": "Room", "room-id": "room-id", "x2": "x2",
		strings.Repeat("a", 40): strings.Repeat("a", 40), strings.Repeat("a", 41): "arguments",
		"": "arguments", "a b": "arguments", "a.b": "arguments", "<b>": "arguments", "r\u00f6om": "arguments", "\u212aind": "arguments",
	} {
		if got := Argument(name); got != want {
			t.Errorf("%q is shown as %q, want %q", name, got, want)
		}
	}
}

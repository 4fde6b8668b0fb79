package main

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"
)

// TestMembersWhoLookAlike are marked in the list, where names alone don't tell them apart.
func TestMembersWhoLookAlike(t *testing.T) {
	var out bytes.Buffer
	list := []json.RawMessage{
		json.RawMessage(`{"user_id":"u:1","email":"alice@a.example","role":"owner","alike":true,"since":"2026-01-07T12:34:56.789Z"}`),
		json.RawMessage(`{"user_id":"u:2","email":"bob@a.example","role":"member","since":"2026-01-07T12:34:56.789Z"}`),
	}
	if err := printMembers(&program{out: &out}, format{}, list, nil); err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(out.String()) {
		if strings.Contains(line, "looks like another") != strings.Contains(line, "alice@") {
			t.Errorf("listed as %q", line)
		}
	}
}

package envelope_test

import (
	"net/http"
	"strings"
	"testing"

	"ubl"
	"ubl/transport/envelope"
)

// TestKeysAndSessions: who gives a key or a session relies on it, so one that isn't of its form,
// or one of several, is refused and not left out.
func TestKeysAndSessions(t *testing.T) {
	for name, c := range map[string]struct {
		header http.Header
		wrong  string
	}{
		"neither":            {http.Header{}, ""},
		"both":               {http.Header{envelope.KeyHeader: {"k"}, envelope.SessionHeader: {"s:run-1"}}, ""},
		"a key of control":   {http.Header{envelope.KeyHeader: {"a\x01"}}, envelope.KeyHeader},
		"two keys":           {http.Header{envelope.KeyHeader: {"a", "b"}}, envelope.KeyHeader},
		"no session's form":  {http.Header{envelope.SessionHeader: {"run-1"}}, envelope.SessionHeader},
		"a session too long": {http.Header{envelope.SessionHeader: {"s:" + strings.Repeat("x", 129)}}, envelope.SessionHeader},
		"two sessions":       {http.Header{envelope.SessionHeader: {"s:1", "s:2"}}, envelope.SessionHeader},
	} {
		err := envelope.CheckKey(c.header)
		if (err == nil) != (c.wrong == "") {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if err != nil && (err.Code != ubl.CodeValidation || err.Details["header."+c.wrong] == "") {
			t.Errorf("%s: %v, %v", name, err, err.Details)
		}
	}
}

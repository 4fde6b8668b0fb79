package envelope

import (
	"strings"
	"testing"
)

// TestNearest: a misspelt name finds the one that was meant, and a strange one finds none.
func TestNearest(t *testing.T) {
	known := []string{"cursor", "limit", "details", "retention_days", "max_message_bytes", "id"}
	for given, want := range map[string]string{
		"limt": "limit", "limits": "limit", "cusror": "cursor", "detail": "details", "retention_day": "retention_days", "retentiondays": "retention_days",
		"max_mesage_byte": "max_message_bytes", "page": "", "offset": "", "x": "", "": "", "di": "",
		strings.Repeat("limit", 20): "",
	} {
		if got := Nearest(given, known); got != want {
			t.Errorf("%q finds %q, want %q", given, got, want)
		}
	}
	if got := Meant("limt", known); got != ": did you mean limit?" {
		t.Errorf("asks %q", got)
	}
	if got := Meant("s3cr3t", known); got != "" {
		t.Errorf("asks %q", got)
	}
}

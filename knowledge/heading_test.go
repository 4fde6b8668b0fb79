package knowledge

import (
	"strings"
	"testing"
)

// TestHeadingAt: the heading that a place in a body stands under, or in.
func TestHeadingAt(t *testing.T) {
	body := "before\n\n# One\nfirst\n\n```\n# code\nfenced\n```\n\nTwo\n===\nsecond\n## Three ##\nthird"
	for at, want := range map[string]string{
		"before": "", "# One": "One", "first": "One", "fenced": "One", "Two": "Two", "second": "Two", "## Three": "Three", "third": "Three",
	} {
		if got := HeadingAt(body, strings.Index(body, at)); got != want {
			t.Errorf("at %q it is %q, want %q", at, got, want)
		}
	}
	if got := HeadingAt(body, len(body)+5); got != "Three" {
		t.Errorf("behind the end it is %q", got)
	}
	if got := HeadingAt("", 0); got != "" {
		t.Errorf("of nothing it is %q", got)
	}
}

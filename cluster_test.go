package ubl

import (
	"regexp"
	"strings"
	"testing"
)

// TestValidNodeID holds the function against the pattern that is documented.
func TestValidNodeID(t *testing.T) {
	pattern := regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._-]{0,62}$`)
	for _, id := range []string{"", "a", "Z", "0", "-", ".", "_", "-a", ".a", "_a", "a-", "a.b_c-9", "node-3f2a91", "ubl-0.ubl.svc", "a b", "a@b", "a/b", "a\n",
		"é", "a\xff", strings.Repeat("a", 63), strings.Repeat("a", 64)} {
		if got := ValidNodeID(id); got != pattern.MatchString(id) {
			t.Errorf("ValidNodeID(%q) = %v", id, got)
		}
	}
}

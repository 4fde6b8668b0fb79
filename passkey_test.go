package ubl_test

import (
	"bytes"
	"strings"
	"testing"

	"ubl"
)

// TestPasskeyIDs: an id has its pattern and no other, whatever the credential is
// called, and two credentials have two.
func TestPasskeyIDs(t *testing.T) {
	seen := map[ubl.PasskeyID]bool{}
	for n := range 40 {
		id := ubl.PasskeyIDOf(bytes.Repeat([]byte{byte(n)}, n*25))
		if !id.Valid() || seen[id] {
			t.Errorf("credential %d is called %q", n, id)
		}
		seen[id] = true
	}
	hex := strings.Repeat("0a", 16)
	for _, bad := range []ubl.PasskeyID{"", "p", "p:", "p:0a", ubl.PasskeyID("u:" + hex), ubl.PasskeyID("p:" + hex + "00"),
		ubl.PasskeyID("p:" + strings.ToUpper(hex)), ubl.PasskeyID("p:" + strings.Repeat("0g", 16)), ubl.PasskeyID("pp" + hex)} {
		if bad.Valid() {
			t.Errorf("%q passes for the id of a passkey", bad)
		}
	}
}

package ubl_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"ubl"
)

// TestCommit holds commitments against values that were calculated with sha256sum.
func TestCommit(t *testing.T) {
	var salt ubl.Salt
	if err := salt.UnmarshalText([]byte("000102030405060708090a0b0c0d0e0f")); err != nil {
		t.Fatal(err)
	}
	for content, want := range map[string]string{
		`{"text":"hello"}`: "b:8cc1e4bed3cc3376f5ab6fac16ad56c804da34b90b72ff44bd25535a3abe45b4",
		"":                 "b:be45cb2605bf36bebde684841a28f0fd43c69850a3dce5fedba69928ee3a8991",
	} {
		if got := salt.Commit([]byte(content)); got != want {
			t.Errorf("Commit(%q) = %s, want %s", content, got, want)
		}
	}
	if got := salt.CommitText("text", "hello"); got != salt.Commit([]byte(`{"text":"hello"}`)) {
		t.Errorf("CommitText = %s", got)
	}
	if got, want := (ubl.Salt{}).Commit([]byte(`{"text":"hello"}`)), "b:cbbbdcd27692344de5dbab3abcaba413fb0f45307267de7081401576df1cb176"; got != want {
		t.Errorf("without a salt: %s, want %s", got, want)
	}
}

// TestNoPIN: who has the ledger alone tries all PINs, and finds the one in a bare hash and
// none in a commitment.
func TestNoPIN(t *testing.T) {
	salt, err := ubl.NewSalt(strings.NewReader("sixteen random b"))
	if err != nil {
		t.Fatal(err)
	}
	const secret = 4711
	body := func(pin int) []byte { return ubl.Body{Text: fmt.Sprintf("%04d", pin)}.Canonical() }
	bare, committed := ubl.BodyHash(body(secret)), salt.Commit(body(secret))
	var found []string
	for pin := range 10_000 {
		switch ubl.BodyHash(body(pin)) {
		case bare:
			found = append(found, fmt.Sprintf("bare hash: %d", pin))
		case committed:
			found = append(found, fmt.Sprintf("commitment: %d", pin))
		}
	}
	if fmt.Sprint(found) != "[bare hash: 4711]" {
		t.Errorf("found %v", found)
	}
	if salt.Commit(body(secret)) != committed {
		t.Error("who has the salt can't check the commitment")
	}
}

func TestSaltForm(t *testing.T) {
	type holder struct {
		Salt ubl.Salt `json:"salt,omitzero"`
	}
	for _, text := range []string{`{}`, `{"salt":"00000000000000000000000000000001"}`} {
		var h holder
		if err := json.Unmarshal([]byte(text), &h); err != nil {
			t.Errorf("%s: %v", text, err)
		}
		if got, err := json.Marshal(h); err != nil || string(got) != text {
			t.Errorf("%s came back as %s, %v", text, got, err)
		}
	}
	for _, bad := range []string{"0", "00", strings.Repeat("0", 31), strings.Repeat("0", 33), strings.Repeat("0", 34), strings.Repeat("g", 32), strings.Repeat("A", 32), strings.Repeat("0", 32)} {
		var s ubl.Salt
		if err := s.UnmarshalText([]byte(bad)); err == nil {
			t.Errorf("%q is taken for a salt", bad)
		}
	}
	if _, err := ubl.NewSalt(bytes.NewReader(make([]byte, 15))); err == nil {
		t.Error("a salt was drawn from 15 bytes")
	}
}

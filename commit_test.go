package ubl_test

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"testing"

	"ubl"
)

// TestCommit: who has salt and content can make the commitment, as anybody would.
func TestCommit(t *testing.T) {
	raw := bytes.Repeat([]byte{7}, 16)
	salt, err := ubl.NewSalt(bytes.NewReader(raw))
	if err != nil {
		t.Fatal(err)
	}
	sum := sha256.Sum256(append(raw, "content"...))
	if got, want := salt.Commit([]byte("content")), "b:"+hex.EncodeToString(sum[:]); got != want {
		t.Errorf("the commitment is %s, want %s", got, want)
	}
	text, err := json.Marshal(salt)
	if err != nil || string(text) != `"07070707070707070707070707070707"` {
		t.Errorf("as JSON it is %s, %v", text, err)
	}
	var again ubl.Salt
	if err := json.Unmarshal(text, &again); err != nil || again != salt {
		t.Errorf("read again it is %s, %v", again, err)
	}
	for _, bad := range []string{`""`, `"07"`, `"0707070707070707070707070707070G"`, `"ABABABABABABABABABABABABABABABAB"`, `"070707070707070707070707070707070707"`} {
		if err := json.Unmarshal([]byte(bad), &again); err == nil {
			t.Errorf("%s is read as a salt", bad)
		}
	}
	if _, err := ubl.NewSalt(bytes.NewReader(raw[:15])); err == nil {
		t.Error("a salt is drawn of too little")
	}
}

package api

import (
	"bytes"
	"encoding/json"
	"reflect"
	"testing"

	"ubl"
)

// FuzzDecode holds the strict decoder against two other readers: what it
// accepts they accept too, and read in the same way. Canonical JSON refuses
// duplicate names and broken strings by itself.
func FuzzDecode(f *testing.F) {
	for _, seed := range []string{
		`{"type":"text","body":{"text":"hello"},"reply_to":null}`,
		`{"type":"text","body":{"text":"\ud83d\ude00"},"reply_to":"m:1","client_request_id":"k"}`,
		`{"type":"text","body":{"text":"a","text":"b"}}`, `{"type":"text","body":{"text":"\ud800"}}`, `{"Type":"text"}`,
		"{\"type\":\"\xff\"}", `{"type":"text"}{}`, `{"type":1e9}`, `null`, ``, ` {} `,
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		var strict, lax sendBody
		if err := decode(body, &strict); err != nil {
			if ubl.CodeOf(err) != ubl.CodeValidation {
				t.Errorf("%q is refused with %s", body, ubl.CodeOf(err))
			}
			return
		}
		if err := json.Unmarshal(body, &lax); err != nil || !reflect.DeepEqual(strict, lax) {
			t.Errorf("%q is read as %+v, and by encoding/json as %+v, %v", body, strict, lax, err)
		}
		if string(bytes.TrimSpace(body)) == "null" {
			return
		}
		if _, err := ubl.Canonical(body); err != nil {
			t.Errorf("%q is accepted and has no canonical form: %v", body, err)
		}
	})
}

package api

import (
	"bytes"
	"encoding/json"
	"reflect"
	"strings"
	"testing"

	"ubl"
)

// FuzzArguments throws anything at tools of each kind: with a body that is read by
// hand, with one that huma reads, with a query, and with a path alone. What is
// accepted is an object that two other readers accept; what isn't is a refusal
// that echoes nothing and asks nobody.
func FuzzArguments(f *testing.F) {
	tools := []string{"messenger.send", "office.document.update", "ledger.atoms", "room.remove"}
	for i, seed := range []string{
		`{"room_id":"r:general","type":"text","body":{"text":"hello"},"reply_to":null,"client_request_id":"k"}`,
		`{"workspace_id":"w:general","document_id":"d:1","title":"\ud83d\ude00","content":"","if_version":1}`,
		`{"from":7,"limit":null}`, `{"room_id":"r:general","user_id":"u:bob","client_request_id":"k"}`,
		`{"room_id":"r:general","room_id":"r:x"}`, `{"from":1e2}`, `{"from":9007199254740993}`, `{"room_id":"r:a%7Cb","user_id":"u:\u0062"}`,
		`null`, ``, `[]`, ` {} `, `{"":0}`, `{"\u0072oom_id":"r:general"}`,
	} {
		f.Add(uint8(i), []byte(seed))
	}
	s := newServer(f)
	f.Fuzz(func(t *testing.T, which uint8, args []byte) {
		s.takeAsked()
		answer, err := s.act(t, tools[int(which)%len(tools)]).Do(anaActs(), args)
		if err == nil {
			if _, err := ubl.Canonical(args); len(args) > 0 && err != nil && !strings.Contains(err.Error(), "integer") {
				t.Errorf("%q is accepted and has no canonical form: %v", args, err)
			}
			if !json.Valid(answer) {
				t.Errorf("%q is answered %q", args, answer)
			}
			return
		}
		if code := ubl.CodeOf(err); code != ubl.CodeValidation && code != ubl.CodeForbidden && code != ubl.CodeTooLarge {
			t.Errorf("%q is refused with %v", args, err)
		}
		if asked := s.takeAsked(); len(asked) > 0 {
			t.Errorf("%q is refused after %q", args, asked)
		}
	})
}

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

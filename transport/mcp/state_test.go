package mcp_test

import (
	"bytes"
	"encoding/base64"
	"testing"
	"time"

	"ubl/test/harness"
	"ubl/transport/envelope"
	"ubl/transport/mcp"
)

// TestStateOpensForItsCall: what a client brings back with a reply is its caller's, about the same
// call, whole, and not old; anything else doesn't open.
func TestStateOpensForItsCall(t *testing.T) {
	now := time.Date(2026, 1, 7, 12, 0, 0, 0, time.UTC)
	s, err := mcp.New(mcp.Options{Acts: []envelope.Act{}, Asker: nobody{}, Feed: nobody{}, Now: func() time.Time { return now },
		SessionKeys: func() [][]byte { return [][]byte{bytes.Repeat([]byte("k"), 32)} }})
	if err != nil {
		t.Fatal(err)
	}
	ana, bob := harness.User("ana@example.com"), harness.User("bob@example.com")
	state := s.MakeState(ana, 7, 2, "ev.greet", `{"a":1,"b":2}`)
	if n, q := s.OpenState(state, ana, "ev.greet", ` {"b":2, "a":1}`); n != 7 || q != 2 {
		t.Errorf("it opens as %d, %d", n, q)
	}
	raw, err := base64.RawURLEncoding.DecodeString(state)
	if err != nil {
		t.Fatal(err)
	}
	for i := range raw {
		other := bytes.Clone(raw)
		other[i] ^= 1
		if n, _ := s.OpenState(base64.RawURLEncoding.EncodeToString(other), ana, "ev.greet", `{"a":1,"b":2}`); n != 0 {
			t.Errorf("with byte %d changed it opens", i)
		}
	}
	for what, open := range map[string]func() (int64, int){
		"another caller":  func() (int64, int) { return s.OpenState(state, bob, "ev.greet", `{"a":1,"b":2}`) },
		"another tool":    func() (int64, int) { return s.OpenState(state, ana, "ev.other", `{"a":1,"b":2}`) },
		"other arguments": func() (int64, int) { return s.OpenState(state, ana, "ev.greet", `{"a":1,"b":3}`) },
		"nothing":         func() (int64, int) { return s.OpenState("", ana, "ev.greet", `{"a":1,"b":2}`) },
		"more behind it":  func() (int64, int) { return s.OpenState(state+"AA", ana, "ev.greet", `{"a":1,"b":2}`) },
	} {
		if n, _ := open(); n != 0 {
			t.Errorf("it opens with %s", what)
		}
	}
	now = now.Add(15*time.Minute + time.Second)
	if n, _ := s.OpenState(state, ana, "ev.greet", `{"a":1,"b":2}`); n != 0 {
		t.Error("it opens a quarter of an hour later")
	}
}

// TestQuestionIDs: ids of questions name a call and a question, and nothing else does.
func TestQuestionIDs(t *testing.T) {
	if n, q := mcp.ReadAskID("ask-12-3"); n != 12 || q != 3 {
		t.Errorf("ask-12-3 is %d, %d", n, q)
	}
	for _, id := range []string{"", "ask-", "ask-12", "12-3", "ask-x-3", "ask-12-x", "ask-99999999999999999999-1"} {
		if n, q := mcp.ReadAskID(id); n != 0 || q != 0 {
			t.Errorf("%q is %d, %d", id, n, q)
		}
	}
}

// TestAbilities: an empty elicitation stands for forms, as the protocol has it, and one for pages
// alone doesn't.
func TestAbilities(t *testing.T) {
	for said, want := range map[string][2]bool{
		``: {}, `{}`: {}, `[]`: {}, `{"elicitation":7}`: {}, `{"sampling":{}}`: {},
		`{"elicitation":{}}`:                   {true, false},
		`{"elicitation":{"form":{},"url":{}}}`: {true, false},
		`{"elicitation":{"url":{}}}`:           {},
		`{"elicitation":{"form":{}},"extensions":{"io.modelcontextprotocol/tasks":{}}}`: {true, true},
	} {
		if form, tasks := mcp.ShowsForms(said); [2]bool{form, tasks} != want {
			t.Errorf("%s is read as %v, %v", said, form, tasks)
		}
	}
}

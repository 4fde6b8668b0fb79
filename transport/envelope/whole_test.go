package envelope_test

import (
	"encoding/json"
	"testing"

	"ubl/transport/envelope"
)

// TestWhole: 2.0 is 2 where an integer is wanted, and only there.
func TestWhole(t *testing.T) {
	act := envelope.Act{Input: json.RawMessage(`{"type":"object","properties":{
		"n":{"type":"integer"},"m":{"anyOf":[{"type":"integer"},{"type":"null"}]},"price":{"type":"number"},"text":{"type":"string"},
		"free":{"type":"object"},"list":{"type":"array","items":{"type":"integer"}},
		"in":{"type":"object","properties":{"n":{"type":"integer"}}}}}`)}
	for args, want := range map[string]string{
		`{"n":2.0}`:                                   `{"n":2}`,
		`{"n":-5.000,"m":7.0}`:                        `{"n":-5,"m":7}`,
		`{"n":-0.0}`:                                  `{"n":0}`,
		`{"in":{"n":2.0},"list":[1.0, 2, 3.0]}`:       `{"in":{"n":2},"list":[1,2,3]}`,
		`{"n":9007199254740992.0}`:                    `{"n":9007199254740992}`,
		`{"n":9007199254740993.0}`:                    `{"n":9007199254740993.0}`,
		`{"n":2.5,"m":2.01,"price":2.0,"text":"2.0"}`: `{"n":2.5,"m":2.01,"price":2.0,"text":"2.0"}`,
		`{"free":{"n":2.0},"else":2.0}`:               `{"free":{"n":2.0},"else":2.0}`,
		`{"n":2.0,"n":3.0}`:                           `{"n":2,"n":3}`,
		`{"n":2.0}{}`:                                 `{"n":2}{}`,
		`{"n":2.0`:                                    `{"n":2.0`,
		`{"n":[2.0],"list":2.0}`:                      `{"n":[2.0],"list":2.0}`,
		`[2.0]`:                                       `[2.0]`,
		`2.0`:                                         `2.0`,
		``:                                            ``,
		`{"n":2.0000000000000000000000000000000000000001}`: `{"n":2.0000000000000000000000000000000000000001}`,
	} {
		if got := string(act.Whole(json.RawMessage(args))); got != want {
			t.Errorf("%s becomes %s, want %s", args, got, want)
		}
	}
}

package envelope_test

import (
	"errors"
	"testing"

	"github.com/go-json-experiment/json"

	"ubl"
	"ubl/transport/envelope"
)

func TestMistyped(t *testing.T) {
	var into struct {
		Text  string
		Count *int64
		On    bool
		List  []string
		In    struct{ Share float64 }
		At    ubl.Time
	}
	for _, c := range []struct{ body, want string }{
		{`{"Text":4711}`, "a number, where a string is expected"},
		{`{"Text":{}}`, "an object, where a string is expected"},
		{`{"Count":"three"}`, "a string, where an integer is expected"},
		{`{"Count":1.5}`, "a number, where an integer is expected"},
		{`{"Count":99999999999999999999}`, "a value of another type than expected"},
		{`{"On":[]}`, "an array, where a boolean is expected"},
		{`{"List":true}`, "a boolean, where an array is expected"},
		{`{"In":false}`, "a boolean, where an object is expected"},
		{`{"In":{"Share":"all"}}`, "a string, where a number is expected"},
		{`{"At":"soon"}`, "a value of another type than expected"},
	} {
		semantic, ok := errors.AsType[*json.SemanticError](json.Unmarshal([]byte(c.body), &into))
		if !ok {
			t.Fatalf("%s is taken", c.body)
		}
		if is := envelope.MistypedBy(semantic); is != c.want {
			t.Errorf("%s: %q, want %q", c.body, is, c.want)
		}
	}
	if is := envelope.Mistyped('n', "string"); is != "null, where a string is expected" {
		t.Errorf("null in a path: %q", is)
	}
}

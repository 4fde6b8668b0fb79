package ubl

import (
	"reflect"
	"strings"
	"testing"
)

func TestFieldsTravel(t *testing.T) {
	for _, f := range []Fields{
		{},
		{Str("a", ""), Str("b", "ünï\u2028\x01\"\\"), Int("n", -7), Int("z", 1<<53-1)},
	} {
		data, err := f.MarshalBinary()
		if err != nil {
			t.Fatal(err)
		}
		if want := string(f.append(nil)); string(data) != want {
			t.Errorf("travels as %s, an atom has %s", data, want)
		}
		var got Fields
		if err := got.UnmarshalBinary(data); err != nil || !reflect.DeepEqual(got, f) {
			t.Errorf("%v came back as %v: %v", f, got, err)
		}
	}
}

// TestFieldsInAnyOrder are the same object.
func TestFieldsInAnyOrder(t *testing.T) {
	a, _ := Fields{Str("b", "2"), Str("a", "1")}.MarshalBinary()
	b, _ := Fields{Str("a", "1"), Str("b", "2")}.MarshalBinary()
	if string(a) != string(b) {
		t.Errorf("%s is not %s", a, b)
	}
}

func TestFieldsThatAreNoObject(t *testing.T) {
	for name, f := range map[string]Fields{
		"a name twice":                {Str("a", "1"), Int("a", 1)},
		"a field without a value":     {{Name: "a"}},
		"a number that JSON can't do": {Int("n", 1<<53)},
	} {
		if data, err := f.MarshalBinary(); err == nil {
			t.Errorf("%s travels as %s", name, data)
		}
	}
	for _, data := range []string{``, `null`, `7`, `"x"`, `[]`, `{`, `{"a":1} `, `{"b":1,"a":2}`, `{"a":1,"a":1}`, `{"a":9007199254740993}`, "{\"a\":\"\xff\"}",
		strings.Repeat("[", 1000)} {
		got := Fields{Str("kept", "")}
		if err := got.UnmarshalBinary([]byte(data)); err == nil {
			t.Errorf("%.40s was read as %v", data, got)
		}
	}
}

package wire_test

import (
	"errors"
	"reflect"
	"testing"

	"ubl"
	"ubl/cluster/wire"
)

// reads lends its method to commands of tests.
type reads struct{}

func (reads) Cost() int { return 0 }

// olderPoke and newerPoke are one command as two releases have it.
func olderPoke() ubl.Command {
	type Poke struct {
		reads
		Text string
		Gone int
	}
	return Poke{Text: "hello", Gone: 7}
}

func newerPoke() ubl.Command {
	type Part struct {
		N     int
		Names []string
	}
	type Poke struct {
		reads
		More  map[string]Part
		Text  string
		Parts []Part
		One   *Part
	}
	return Poke{Text: "hello", More: map[string]Part{"x": {1, nil}}, Parts: []Part{{}, {2, []string{"y"}}}, One: &Part{3, []string{}}}
}

// carry sends a command from a node of one release to a node of another.
func carry(t *testing.T, cmd, as ubl.Command) (ubl.Command, error) {
	t.Helper()
	from, err := wire.NewRegistry([]ubl.Command{cmd}, nil)
	if err != nil {
		t.Fatal(err)
	}
	to, err := wire.NewRegistry([]ubl.Command{as}, nil)
	if err != nil {
		t.Fatal(err)
	}
	data, err := from.EncodeCommand(nil, cmd)
	if err != nil {
		t.Fatal(err)
	}
	return to.DecodeCommand(data)
}

// TestFieldsOfAnotherRelease: what one doesn't know is passed over, what it
// misses is empty.
func TestFieldsOfAnotherRelease(t *testing.T) {
	for name, pair := range map[string][2]ubl.Command{
		"from a newer node": {newerPoke(), olderPoke()},
		"from an older one": {olderPoke(), newerPoke()},
	} {
		got, err := carry(t, pair[0], pair[1])
		if err != nil || reflect.TypeOf(got) != reflect.TypeOf(pair[1]) {
			t.Fatalf("%s: %#v, %v", name, got, err)
		}
		v := reflect.ValueOf(got)
		for i := range v.NumField() {
			switch field := v.Type().Field(i).Name; {
			case field == "Text" && v.Field(i).String() != "hello":
				t.Errorf("%s: the field of both is %v", name, v.Field(i))
			case field != "Text" && !v.Field(i).IsZero():
				t.Errorf("%s: %s is %v, and nobody sent it", name, field, v.Field(i))
			}
		}
	}
}

// TestOmittedFieldsStayEmpty: releases before left out what is zero. No entry gets
// what the one before it has.
func TestOmittedFieldsStayEmpty(t *testing.T) {
	type part struct {
		N     int
		Names []string
		One   *int
	}
	type parts struct {
		List []part
		Map  map[string]part
	}
	const full = "\x83\xa1N\x07\xa5Names\x91\xa1x\xa3One\x01"
	data := "\x82\xa4List\x93" + full + "\x80\xc0\xa3Map\x83\xa1a" + full + "\xa1b\x80\xa1c\xc0"
	one := 1
	p := part{7, []string{"x"}, &one}
	want := parts{[]part{p, {}, {}}, map[string]part{"a": p, "b": {}, "c": {}}}
	var got parts
	if err := wire.Read([]byte(data), &got); err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("read\n%+v\nwant\n%+v\n%v", got, want, err)
	}
}

// TestTypesAndFormsOfANewerRelease are told apart from damage.
func TestTypesAndFormsOfANewerRelease(t *testing.T) {
	if got, err := carry(t, newerPoke(), ubl.Sweep{}); !errors.Is(err, wire.ErrUnknown) {
		t.Errorf("a new command was read as %#v: %v", got, err)
	}
	r := registry(t)
	data, _ := r.EncodeCommand(nil, ubl.Sweep{})
	data[0] = 2
	if got, err := r.DecodeCommand(data); !errors.Is(err, wire.ErrNewer) {
		t.Errorf("version 2 was read as %#v: %v", got, err)
	}
	if got, err := r.DecodeAnswer(data); !errors.Is(err, wire.ErrNewer) {
		t.Errorf("version 2 was read as %#v: %v", got, err)
	}
	if got, err := wire.DecodeError([]byte{2, 0x80}); !errors.Is(err, wire.ErrNewer) {
		t.Errorf("version 2 was read as %v: %v", got, err)
	}
}

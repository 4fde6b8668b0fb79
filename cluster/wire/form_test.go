package wire_test

import (
	"bytes"
	"reflect"
	"testing"

	"github.com/vmihailenco/msgpack/v5"

	"ubl/actors/families"
	"ubl/cluster/wire"
)

// TestFormsAreTheLibrarys: another implementation of MessagePack reads what is
// written here, and writes what is read here.
func TestFormsAreTheLibrarys(t *testing.T) {
	types := families.All.Answers()[1:] // without nil
	for _, c := range families.All.Commands() {
		types = append(types, c)
	}
	for _, zero := range types {
		form, err := wire.NewForm(zero)
		if err != nil {
			t.Fatal(err)
		}
		for seed := range rounds {
			want := newFiller(seed).like(zero)
			ours, err := form.Append([]byte("before"), want)
			if err != nil {
				t.Fatalf("%T, seed %d: %v", zero, seed, err)
			}
			theirs := new(bytes.Buffer)
			enc := msgpack.NewEncoder(theirs)
			enc.UseCompactInts(seed%2 == 0)
			if err := enc.Encode(want); err != nil {
				t.Fatalf("%T, seed %d: %v", zero, seed, err)
			}
			got, back := reflect.New(reflect.TypeOf(zero)), reflect.New(reflect.TypeOf(zero))
			if err := msgpack.Unmarshal(ours[6:], got.Interface()); err != nil || !reflect.DeepEqual(got.Elem().Interface(), want) {
				t.Fatalf("%T, seed %d: the library read\n%#v\nof\n%#v\n%v", zero, seed, got.Elem(), want, err)
			}
			if err := form.Read(theirs.Bytes(), back.Interface()); err != nil || !reflect.DeepEqual(back.Elem().Interface(), want) {
				t.Fatalf("%T, seed %d: of the library's was read\n%#v\nwant\n%#v\n%v", zero, seed, back.Elem(), want, err)
			}
		}
	}
}

// TestNumbersKeepWithinTheirType: what a type can't hold is no number of it.
func TestNumbersKeepWithinTheirType(t *testing.T) {
	form, err := wire.NewForm(struct{ N int8 }{})
	if err != nil {
		t.Fatal(err)
	}
	for data, want := range map[string]int8{
		"\x81\xa1N\x7f": 127, "\x81\xa1N\xe0": -32, "\x81\xa1N\xd0\x80": -128, "\x81\xa1N\xd1\xff\x80": -128,
		"\x81\xa1N\xd2\xff\xff\xff\xff": -1, "\x81\xa1N\xd3\xff\xff\xff\xff\xff\xff\xff\xff": -1, "\x81\xa1N\xcf\x00\x00\x00\x00\x00\x00\x00\x07": 7,
	} {
		var got struct{ N int8 }
		if err := form.Read([]byte(data), &got); err != nil || got.N != want {
			t.Errorf("%q is %d, %v; want %d", data, got.N, err, want)
		}
	}
	for _, data := range []string{"\x81\xa1N\xcc\x80", "\x81\xa1N\xd1\xff\x7f"} {
		var got struct{ N int8 }
		if err := form.Read([]byte(data), &got); err == nil {
			t.Errorf("%q was read as %d", data, got.N)
		}
	}
}

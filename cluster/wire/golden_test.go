package wire_test

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/vmihailenco/msgpack/v5"

	"ubl"
	"ubl/actors/families"
	"ubl/cluster/wire"
)

var update = flag.Bool("update", false, "add today's encodings to the golden file")

// golden has a line for each command, answer and error as some release wrote
// it:
//
//	command SendMessage "\x01\vSendMessage\x85\xa3Who…"
//
// Lines are added and never changed: nodes of those releases send them. A type
// may have several, oldest first.
const golden = "testdata/v1.golden"

// TestGolden holds today's program to everything that was ever sent in version
// 1: it understands each line in full, and what it writes itself is on record.
func TestGolden(t *testing.T) {
	lines := goldenLines(t)
	today := samples(t)
	for _, s := range today {
		if !slices.Contains(lines, s.line()) {
			if !*update {
				t.Errorf("%s %s is written in a form that is not on record; if nodes of the last release understand it, add it with -update:\n%s", s.kind, s.name, s.line())
				continue
			}
			lines = append(lines, s.line())
		}
	}
	if *update {
		if err := os.WriteFile(golden, []byte(strings.Join(lines, "\n")+"\n"), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	r := registry(t)
	for _, line := range lines {
		understood(t, r, today, line)
	}
}

func goldenLines(t *testing.T) []string {
	t.Helper()
	data, err := os.ReadFile(golden)
	if err != nil && !*update {
		t.Fatal(err)
	}
	return strings.FieldsFunc(string(data), func(r rune) bool { return r == '\n' })
}

// sample is a value with something in every field, and how it is written.
type sample struct {
	kind, name string
	value      any
	data       []byte
}

func (s sample) line() string {
	return fmt.Sprintf("%s %s %s", s.kind, s.name, strconv.QuoteToASCII(string(s.data)))
}

// samples lists one of each type.
func samples(t *testing.T) []sample {
	t.Helper()
	r := registry(t)
	var out []sample
	for _, zero := range families.All.Commands() {
		cmd := exemplar(zero).(ubl.Command)
		data, err := r.EncodeCommand(nil, cmd)
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, sample{"command", nameIn(data), cmd, data})
	}
	for _, zero := range families.All.Answers() {
		answer := exemplar(zero)
		data, err := r.EncodeAnswer(nil, answer)
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, sample{"answer", nameIn(data), answer, data})
	}
	e := &ubl.Error{Code: ubl.CodeConflict, Message: "taken", Details: map[string]string{"name": "is taken"}}
	return append(out, sample{"error", "Error", e, wire.EncodeError(nil, e)})
}

func nameIn(data []byte) string { return string(data[2 : 2+data[1]]) }

// understood checks a line of the golden file: every field in it is still known,
// and means what it meant.
func understood(t *testing.T, r *wire.Registry, today []sample, line string) {
	t.Helper()
	var kind, name, quoted string
	if _, err := fmt.Sscanf(line, "%s %s %q", &kind, &name, &quoted); err != nil {
		t.Fatalf("%s: %v", line, err)
	}
	data := []byte(quoted)
	i := slices.IndexFunc(today, func(s sample) bool { return s.kind == kind && s.name == name })
	if i < 0 {
		t.Errorf("the %s %s is not known any more", kind, name)
		return
	}
	var got any
	var err error
	switch kind {
	case "command":
		got, err = r.DecodeCommand(data)
	case "answer":
		got, err = r.DecodeAnswer(data)
	default:
		got, err = wire.DecodeError(data)
	}
	if err != nil {
		t.Errorf("%s: %v", line, err)
		return
	}
	if reason := differs(reflect.ValueOf(got), reflect.ValueOf(today[i].value)); reason != "" {
		t.Errorf("%s: %s", line, reason)
	}
	if got != nil && kind != "error" {
		dec := msgpack.NewDecoder(bytes.NewReader(data[2+len(name):]))
		dec.DisallowUnknownFields(true)
		if err := dec.Decode(reflect.New(reflect.TypeOf(got)).Interface()); err != nil {
			t.Errorf("%s: a field is not known any more: %v", line, err)
		}
	}
}

// differs says where got is neither as want nor, for a field that came later,
// empty.
func differs(got, want reflect.Value) string {
	switch {
	case !got.IsValid() || !want.IsValid():
		if got.IsValid() != want.IsValid() {
			return "one is nil"
		}
	case got.Kind() == reflect.Pointer && !got.IsNil():
		return differs(got.Elem(), want.Elem())
	case got.Kind() == reflect.Slice && got.Len() == 1 && got.Type() != reflect.TypeFor[ubl.Fields]():
		return differs(got.Index(0), want.Index(0))
	case got.Kind() == reflect.Map && got.Len() == 1:
		key := got.MapKeys()[0]
		return differs(got.MapIndex(key), want.MapIndex(key))
	case got.Kind() == reflect.Struct:
		for i := range got.NumField() {
			if reason := differs(got.Field(i), want.Field(i)); reason != "" {
				return got.Type().Field(i).Name + ": " + reason
			}
		}
	case !got.IsZero() && !reflect.DeepEqual(got.Interface(), want.Interface()):
		return fmt.Sprintf("%#v, want %#v", got, want)
	}
	return ""
}

// exemplar is a value with something in every field, always the same.
func exemplar(zero any) any {
	if zero == nil {
		return nil
	}
	p := reflect.New(reflect.TypeOf(zero))
	exemplify(p.Elem(), "")
	return p.Elem().Interface()
}

func exemplify(v reflect.Value, name string) {
	switch into := v.Addr().Interface().(type) {
	case *ubl.Time:
		*into = 1_767_789_296_789
		return
	case *ubl.Fields:
		*into = ubl.Fields{ubl.Int("n", 7), ubl.Str("s", "text")}
		return
	case *[]byte:
		*into = []byte("sealed")
		return
	case *ubl.Salt:
		*into = ubl.Salt([]byte("sixteen bytes of"))
		return
	case *json.RawMessage:
		*into = json.RawMessage(`{"text":"hello"}`)
		return
	}
	switch v.Kind() {
	case reflect.Bool:
		v.SetBool(true)
	case reflect.Int, reflect.Int64:
		v.SetInt(1000)
	case reflect.String:
		v.SetString("the " + name)
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		exemplify(v.Elem(), name)
	case reflect.Struct:
		for i := range v.NumField() {
			exemplify(v.Field(i), v.Type().Field(i).Name)
		}
	case reflect.Slice:
		v.Set(reflect.MakeSlice(v.Type(), 1, 1))
		exemplify(v.Index(0), name)
	case reflect.Map:
		key, value := reflect.New(v.Type().Key()).Elem(), reflect.New(v.Type().Elem()).Elem()
		exemplify(key, "key")
		exemplify(value, name)
		v.Set(reflect.MakeMap(v.Type()))
		v.SetMapIndex(key, value)
	default:
		panic(fmt.Sprintf("no exemplar of %v", v.Type()))
	}
}

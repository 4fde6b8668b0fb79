package harness

import (
	"encoding/json"
	"flag"
	"reflect"
	"slices"
	"strings"
	"testing"

	"ubl"
)

// Saved is the last event that the newest snapshot of an actor knows, 0 for none: as its
// head says, which is under a key.
func Saved(t testing.TB, read ubl.Reader, of ubl.Name, key []byte) int64 {
	t.Helper()
	var head struct{ Events int64 }
	err := read.View(t.Context(), of.Group(), func(snap ubl.Snapshot) error {
		v, err := snap.Get(key)
		if v != nil {
			_ = json.Unmarshal(v, &head)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return head.Events
}

// EveryField wants each field of a state in its stored form, under the same name but for
// the first letter's case, or in the list of those that follow from something else, and all of
// that form in the JSON of it. One that is missing would be gone after the next load.
func EveryField(t *testing.T, state, stored reflect.Type, follow []string) {
	t.Helper()
	for i := range state.NumField() {
		name := state.Field(i).Name
		_, ok := stored.FieldByName(strings.ToUpper(name[:1]) + name[1:])
		if !ok && !slices.Contains(follow, name) {
			t.Errorf("State.%s is in no snapshot: add it in snapshot.go, or name it among those that follow from something else", name)
		}
	}
	for _, name := range unencoded(stored, map[reflect.Type]bool{}) {
		t.Errorf("%s is in no snapshot: JSON leaves it out", name)
	}
}

// unencoded are the fields of a stored form that JSON leaves out, also in the structs of the same
// package that it reaches.
func unencoded(form reflect.Type, seen map[reflect.Type]bool) (lost []string) {
	seen[form] = true
	for i := range form.NumField() {
		of := form.Field(i)
		if !of.Anonymous && !of.IsExported() || of.Tag.Get("json") == "-" {
			lost = append(lost, form.Name()+"."+of.Name)
		}
		in := of.Type
		for slices.Contains([]reflect.Kind{reflect.Pointer, reflect.Slice, reflect.Array, reflect.Map}, in.Kind()) {
			in = in.Elem()
		}
		if in.Kind() == reflect.Struct && in.PkgPath() == form.PkgPath() && !seen[in] {
			lost = append(lost, unencoded(in, seen)...)
		}
	}
	return lost
}

// Filled are the fields of a state that have had something in them: histories that never fill
// one say nothing of it.
type Filled map[string]bool

// Look notes the fields of a state, and of the structs in it.
func (f Filled) Look(state any) { f.look(reflect.ValueOf(state), "State") }

func (f Filled) look(v reflect.Value, name string) {
	if v.Kind() != reflect.Struct {
		f[name] = f[name] || !v.IsZero()
		return
	}
	for i := range v.NumField() {
		if of := v.Type().Field(i); of.IsExported() {
			f.look(v.Field(i), name+"."+of.Name)
		}
	}
}

// Want fails the test for each field that was never filled, but for some. With a seed that is
// drawn anew each time it says so and no more: a run may be unlucky. Make sets one.
func (f Filled) Want(t testing.TB, but ...string) {
	t.Helper()
	if seed := flag.Lookup("rapid.seed"); seed == nil || seed.Value.String() == "0" {
		t.Log("whether the histories fill all of the state is looked at with a fixed seed: RAPID_SEED=1")
		return
	}
	for name, filled := range f {
		if !filled && !slices.Contains(but, name) {
			t.Errorf("no history fills %s: have one of its commands do so", name)
		}
	}
}

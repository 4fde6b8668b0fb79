package harness

import (
	"context"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"

	"ubl"
)

// Again asks commands of a family's table: each, a retry of it, and others under its key.
type Again struct {
	*House
	// Alike are the fields that tell no command from another under the same key, each with
	// the reason: "RemoveMember.Expel".
	Alike map[string]string
	// Line tells lines of the table apart that take one type of command; nil where each takes
	// its own.
	Line func(ubl.Command) string
	// Reads are the commands whose first answer reads the store behind its commit, each with the
	// reason; all others are answered from memory.
	Reads map[string]string

	asked, alike, read map[string]bool
}

// Ask asks a command, then twice more, from memory and from what is stored. The answer is the
// same, and what the command's comment says. Under the same key no field may be another, but for those that are Alike.
func (a *Again) Ask(at ubl.Name, cmd ubl.Command) any {
	a.t.Helper()
	if a.asked == nil {
		a.asked, a.alike, a.read = map[string]bool{}, map[string]bool{}, map[string]bool{}
	}
	line := fmt.Sprintf("%T", cmd)
	if a.Line != nil {
		line += a.Line(cmd)
	}
	a.asked[line] = true
	first, views, err := a.askCounting(at, cmd)
	if name := reflect.TypeOf(cmd).Name(); views > 0 && a.Reads[name] == "" {
		a.t.Errorf("the first answer to %s reads the store %d times behind its commit: make it of what the decision has in memory", name, views)
	} else if views > 0 {
		a.read[name] = true
	}
	for range 2 {
		if again, err := a.House.Ask(context.Background(), at, cmd); err != nil || !reflect.DeepEqual(again, first) {
			a.t.Errorf("%T is answered again with\n%+v, %v, first with\n%+v", cmd, again, err, first)
		}
		a.Reload()
	}
	if err != nil {
		a.t.Fatalf("%T: %v", cmd, err)
	}
	if err := Answered(cmd, first); err != nil {
		a.t.Error(err)
	}
	a.others(reflect.ValueOf(cmd), reflect.TypeOf(cmd).Name(), true, func(other reflect.Value) bool {
		_, err := a.House.Ask(context.Background(), at, other.Interface().(ubl.Command))
		return ubl.CodeOf(err) == ubl.CodeIdempotencyConflict
	})
	return first
}

// End wants as many commands to have been asked as change something.
func (a *Again) End(changing int) {
	a.t.Helper()
	if len(a.asked) != changing {
		a.t.Errorf("%d commands were asked, %d change something: %v", len(a.asked), changing, slices.Sorted(maps.Keys(a.asked)))
	}
	for field := range a.Alike {
		if !a.alike[field] {
			a.t.Errorf("no command has the field %s", field)
		}
	}
	for name := range a.Reads {
		if !a.read[name] {
			a.t.Errorf("no first answer to %s reads the store: take it off the list", name)
		}
	}
}

// others asks whether copies of v are told from it, each of which has another value in one
// field. Every field must be told of a command and of a patch; of another record in them one
// will do, since its id says which it is. What a caller expects is no content: it has been met
// where there is an outcome to repeat.
func (a *Again) others(v reflect.Value, field string, every bool, told func(reflect.Value) bool) (some bool) {
	a.t.Helper()
	for i := range v.NumField() {
		of, name := v.Type().Field(i), field+"."+v.Type().Field(i).Name
		if a.Alike[name] != "" || of.Type == reflect.TypeFor[ubl.Request]() || of.Type == reflect.TypeFor[ubl.Expects]() {
			a.alike[name] = true
			continue
		}
		with := func(part reflect.Value) bool {
			other := reflect.New(v.Type()).Elem()
			other.Set(v)
			other.Field(i).Set(part)
			return told(other)
		}
		patch := strings.HasSuffix(of.Type.Name(), "Patch")
		ok := of.Type.Kind() == reflect.Struct && a.others(v.Field(i), name, patch, with) || patch ||
			of.Type.Kind() != reflect.Struct && with(another(v.Field(i)))
		switch {
		case ok && !every:
			return true
		case !ok && every:
			a.t.Errorf("%s is no part of what tells a command from another under the same key: add it to the content in the family's table", name)
		}
		some = some || ok
	}
	return some
}

// another is a value that v is not.
func another(v reflect.Value) reflect.Value {
	other := reflect.New(v.Type()).Elem()
	switch v.Kind() {
	case reflect.Pointer:
		if other.Set(reflect.New(v.Type().Elem())); !v.IsNil() && v.Type().Elem().Kind() != reflect.Struct {
			other.Elem().Set(another(v.Elem()))
		}
	case reflect.Slice:
		other.Set(reflect.Append(v, reflect.Zero(v.Type().Elem())))
	case reflect.String:
		other.SetString(v.String() + "x")
	case reflect.Bool:
		other.SetBool(!v.Bool())
	default:
		other.SetInt(v.Int() + 1)
	}
	return other
}

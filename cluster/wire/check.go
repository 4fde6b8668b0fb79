package wire

import (
	"encoding"
	"fmt"
	"reflect"
	"slices"
	"time"
)

// check refuses a type whose values would not come back as they were, so that
// this is noticed when a program starts and not when a field is missing.
func check(t reflect.Type) error { return checkType(t, nil) }

func checkType(t reflect.Type, inside []reflect.Type) error {
	if slices.Contains(inside, t) {
		return fmt.Errorf("%v holds itself", t)
	}
	if t == reflect.TypeFor[time.Time]() {
		return fmt.Errorf("%v would be an extension, which is not read: use ubl.Time", t)
	}
	if own, err := bringsItsForm(t); own || err != nil {
		return err
	}
	inside = append(inside, t)
	switch t.Kind() {
	case reflect.Bool, reflect.String, reflect.Int, reflect.Int64: // smaller numbers would be cut
		return nil
	case reflect.Struct:
		return checkStruct(t, inside)
	case reflect.Pointer:
		return checkPointer(t, inside)
	case reflect.Slice:
		if t.Elem().Kind() == reflect.Uint8 {
			return nil
		}
		return checkPart(t.Elem(), inside)
	case reflect.Map:
		if own, err := bringsItsForm(t.Key()); own || err != nil || t.Key().Kind() != reflect.String {
			return fmt.Errorf("the keys of %v are no strings", t)
		}
		return checkPart(t.Elem(), inside)
	}
	return fmt.Errorf("%v is of a kind that doesn't travel", t)
}

// checkPointer refuses a pointer to what may be nil itself: one nil would come
// back as the other.
func checkPointer(t reflect.Type, inside []reflect.Type) error {
	switch t.Elem().Kind() {
	case reflect.Pointer, reflect.Slice, reflect.Map:
		return fmt.Errorf("%v points at what may be nil", t)
	}
	return checkType(t.Elem(), inside)
}

// checkPart holds the parts of lists and maps to the size that scan counts.
func checkPart(t reflect.Type, inside []reflect.Type) error {
	if t.Size() > largestPart {
		return fmt.Errorf("%v takes more than %d bytes in a list: make it a list of pointers", t, largestPart)
	}
	return checkType(t, inside)
}

func checkStruct(t reflect.Type, inside []reflect.Type) error {
	names := map[string]bool{}
	for i := range t.NumField() {
		if f := t.Field(i); lends(f) {
			names[f.Name] = true // the library reads it, too
		}
	}
	for _, f := range travelling(t) {
		switch {
		case !f.IsExported():
			return fmt.Errorf("%v.%s is not exported and would be lost", t, f.Name)
		case f.Tag.Get(tagKey) != "" && f.Tag.Get(tagKey) != noInline:
			return fmt.Errorf("%v.%s has a tag, and would travel in another form", t, f.Name)
		case f.Anonymous && f.Type.Kind() == reflect.Pointer:
			return fmt.Errorf("%v embeds a pointer, whose nil would be lost", t)
		case names[f.Name]:
			return fmt.Errorf("%v has two fields %s, its own and one of what it embeds: rename one, or tag the embedded struct %s", t, f.Name, noInline)
		}
		names[f.Name] = true
		if err := checkType(f.Type, inside); err != nil {
			return fmt.Errorf("%v.%s: %w", t, f.Name, err)
		}
	}
	return nil
}

// tagKey is the key of the library's tags. noInline is that of an embedded struct
// which keeps its fields to itself, because the outer one has fields of the same
// names; no other is used.
const (
	tagKey   = "msgpack"
	noInline = ",noinline"
)

// travelling lists a struct's fields as they are written: those of an embedded
// struct in its place.
func travelling(t reflect.Type) []reflect.StructField {
	var out []reflect.StructField
	for i := range t.NumField() {
		if f := t.Field(i); lends(f) {
			out = append(out, travelling(f.Type)...)
		} else {
			out = append(out, f)
		}
	}
	return out
}

// lends reports whether a field is an embedded struct whose fields are written as the
// outer one's.
func lends(f reflect.StructField) bool {
	own, _ := bringsItsForm(f.Type)
	return f.Anonymous && f.Type.Kind() == reflect.Struct && !own && f.Tag.Get(tagKey) == ""
}

// forms are how a type may write and read itself: of two, the library takes the first.
var forms = []struct{ write, read reflect.Type }{
	{reflect.TypeFor[encoding.BinaryMarshaler](), reflect.TypeFor[encoding.BinaryUnmarshaler]()},
	{reflect.TypeFor[encoding.TextMarshaler](), reflect.TypeFor[encoding.TextUnmarshaler]()},
}

// bringsItsForm reports whether a type writes and reads itself. One that does half of
// it would be written in one form and read in another.
func bringsItsForm(t reflect.Type) (bool, error) {
	p := reflect.PointerTo(t)
	for _, f := range forms {
		switch {
		case t.Implements(f.write) && p.Implements(f.read):
			return true, nil
		case p.Implements(f.write) || p.Implements(f.read):
			return false, fmt.Errorf("%v writes and reads itself in two forms", t)
		}
	}
	return false, nil
}

package wire

import (
	"fmt"
	"reflect"
	"slices"
)

// check refuses a type whose values would not come back as they were, so that
// this is noticed when a program starts and not when a field is missing.
func check(t reflect.Type) error { return checkType(t, nil) }

func checkType(t reflect.Type, inside []reflect.Type) error {
	if slices.Contains(inside, t) {
		return fmt.Errorf("%v holds itself", t)
	}
	if bringsItsForm(t) {
		return nil
	}
	inside = append(inside, t)
	switch t.Kind() {
	case reflect.Bool, reflect.String, reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
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
		if t.Key().Kind() != reflect.String || bringsItsForm(t.Key()) {
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
	for _, f := range travelling(t) {
		switch {
		case !f.IsExported():
			return fmt.Errorf("%v.%s is not exported and would be lost", t, f.Name)
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

// noInline is the tag of an embedded struct that keeps its fields to itself,
// because the outer one has fields of the same names.
const noInline = ",noinline"

// travelling lists a struct's fields as they are written, with the whole way to
// each: those of an embedded struct in its place.
func travelling(t reflect.Type) []reflect.StructField {
	var out []reflect.StructField
	for i := range t.NumField() {
		f := t.Field(i)
		if f.Anonymous && f.Type.Kind() == reflect.Struct && !bringsItsForm(f.Type) && f.Tag.Get("msgpack") != noInline {
			for _, inner := range travelling(f.Type) {
				inner.Index = append([]int{i}, inner.Index...)
				out = append(out, inner)
			}
			continue
		}
		out = append(out, f)
	}
	return out
}

// bringsItsForm reports whether a type writes and reads itself.
func bringsItsForm(t reflect.Type) bool {
	p := reflect.PointerTo(t)
	return t.Implements(binaryMarshaler) && p.Implements(binaryUnmarshaler) ||
		t.Implements(textMarshaler) && p.Implements(textUnmarshaler)
}

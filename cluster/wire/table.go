package wire

import (
	"fmt"
	"reflect"
	"slices"
)

// table maps names to types and back; nil, which has no type, is one of them.
type table struct {
	kind   string // what the types are, for errors
	byName map[string]reflect.Type
	byType map[reflect.Type]string
}

func newTable(kind string) table {
	return table{kind, map[string]reflect.Type{}, map[reflect.Type]string{}}
}

// add registers a type; nil is the type of the value nil.
func (t *table) add(typ reflect.Type) error {
	name, err := nameOf(typ)
	if err != nil {
		return err
	}
	if other, taken := t.byName[name]; taken {
		return fmt.Errorf("%v and %v would both be called %q", other, typ, name)
	}
	if typ != nil {
		if err := check(typ); err != nil {
			return err
		}
	}
	t.byName[name], t.byType[typ] = typ, name
	return nil
}

// nilName is the name of nil, which has no type.
const nilName = "nil"

// maxName is what one byte can count.
const maxName = 255

// nameOf is a type's name without its package: nodes of two versions may keep
// it in different ones.
func nameOf(t reflect.Type) (string, error) {
	name, of := "", t
	for of != nil && of.Name() == "" && (of.Kind() == reflect.Pointer || of.Kind() == reflect.Slice) {
		name += map[reflect.Kind]string{reflect.Pointer: "*", reflect.Slice: "[]"}[of.Kind()]
		of = of.Elem()
	}
	switch {
	case t == nil:
		return nilName, nil
	case of.Name() == "":
		return "", fmt.Errorf("%v has no name", t)
	}
	if name += of.Name(); len(name) > maxName {
		return "", fmt.Errorf("the name %s is longer than %d bytes", name, maxName)
	}
	return name, nil
}

// Usual is how many bytes a value seldom has more than; growing into them bit by
// bit would copy most several times.
const Usual = 512

func (t *table) encode(dst []byte, v any) ([]byte, error) {
	name, ok := t.byType[reflect.TypeOf(v)]
	if !ok {
		return dst, fmt.Errorf("couldn't encode a value of %T: it is not registered as %s", v, t.kind)
	}
	out := append(slices.Grow(dst, Usual), version, byte(len(name)))
	out = append(out, name...)
	if v == nil {
		return out, nil
	}
	out, err := Append(out, v)
	if err != nil {
		return dst, fmt.Errorf("couldn't encode the %s %s: %w", t.kind, name, err)
	}
	return out, nil
}

func (t *table) decode(data []byte) (any, error) {
	name, body, err := t.open(data)
	if err != nil {
		return nil, fmt.Errorf("couldn't decode the %s: %w", t.kind, err)
	}
	typ, ok := t.byName[string(name)]
	if !ok {
		return nil, fmt.Errorf("couldn't decode the %s %q: %w", t.kind, name, ErrUnknown)
	}
	v, err := read(body, typ)
	if err != nil {
		return nil, fmt.Errorf("couldn't decode the %s %s: %w", t.kind, name, err)
	}
	return v, nil
}

// open cuts the name off.
func (t *table) open(data []byte) (name, body []byte, err error) {
	if data, err = unversioned(data); err != nil {
		return nil, nil, err
	}
	if len(data) == 0 || len(data) < 1+int(data[0]) {
		return nil, nil, fmt.Errorf("%w: it ends inside the name", ErrMalformed)
	}
	n := 1 + int(data[0])
	return data[1:n], data[n:], nil
}

// unversioned takes the version off.
func unversioned(data []byte) ([]byte, error) {
	switch {
	case len(data) == 0:
		return nil, fmt.Errorf("%w: it is empty", ErrMalformed)
	case data[0] > version:
		return nil, fmt.Errorf("%w (it is %d, this program knows up to %d)", ErrNewer, data[0], version)
	case data[0] == 0:
		return nil, fmt.Errorf("%w: there is no version 0", ErrMalformed)
	}
	return data[1:], nil
}

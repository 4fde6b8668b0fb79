package wire_test

import (
	"fmt"
	"math/rand/v2"
	"reflect"
	"testing"

	"ubl"
	"ubl/actors/families"
	"ubl/cluster/wire"
)

func registry(t testing.TB) *wire.Registry {
	t.Helper()
	r, err := wire.NewRegistry(families.All.Commands(), families.All.Answers())
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// filler draws values of any type that travels.
type filler struct{ *rand.Rand }

func newFiller(seed uint64) filler { return filler{rand.New(rand.NewPCG(seed, 0))} }

// like draws a value of the type of v, nil for nil.
func (f filler) like(v any) any {
	if v == nil {
		return nil
	}
	p := reflect.New(reflect.TypeOf(v))
	f.fill(p.Elem())
	return p.Elem().Interface()
}

func (f filler) fill(v reflect.Value) {
	switch into := v.Addr().Interface().(type) {
	case *ubl.Time: // the years that its text can tell
		*into = ubl.Time(f.Int64N(253402300800000+62167219200000) - 62167219200000)
		return
	case *ubl.Fields:
		*into = f.fields()
		return
	case *ubl.Salt:
		for i := range into {
			into[i] = byte(f.IntN(256))
		}
		return
	}
	switch v.Kind() {
	case reflect.Bool:
		v.SetBool(f.IntN(2) == 0)
	case reflect.Int, reflect.Int64:
		v.SetInt(f.number())
	case reflect.String:
		v.SetString(f.text())
	case reflect.Pointer:
		if f.IntN(3) > 0 {
			v.Set(reflect.New(v.Type().Elem()))
			if f.IntN(3) > 0 { // else it points at a zero value
				f.fill(v.Elem())
			}
		}
	case reflect.Struct:
		for i := range v.NumField() {
			f.fill(v.Field(i))
		}
	case reflect.Slice:
		f.fillSlice(v)
	case reflect.Map:
		f.fillMap(v)
	default:
		panic(fmt.Sprintf("the filler doesn't know %v", v.Type()))
	}
}

func (f filler) fillSlice(v reflect.Value) {
	if f.IntN(4) == 0 {
		return
	}
	if v.Type().Elem().Kind() == reflect.Uint8 {
		v.SetBytes([]byte(f.text()))
		return
	}
	v.Set(reflect.MakeSlice(v.Type(), 0, 0))
	for range f.IntN(4) {
		e := reflect.New(v.Type().Elem()).Elem()
		f.fill(e)
		v.Set(reflect.Append(v, e))
	}
}

func (f filler) fillMap(v reflect.Value) {
	if f.IntN(4) == 0 {
		return
	}
	v.Set(reflect.MakeMap(v.Type()))
	for range f.IntN(4) {
		key, value := reflect.New(v.Type().Key()).Elem(), reflect.New(v.Type().Elem()).Elem()
		f.fill(key)
		f.fill(value)
		v.SetMapIndex(key, value)
	}
}

// number has every length that a number can have on the wire.
func (f filler) number() int64 {
	n := int64(f.Uint64() >> f.IntN(64))
	if f.IntN(3) == 0 {
		return -n
	}
	return n
}

// text is anything that a Go string holds, valid or not.
func (f filler) text() string {
	if f.IntN(8) == 0 {
		return ""
	}
	b := make([]byte, f.IntN(40)+f.IntN(2)*f.IntN(400))
	for i := range b {
		b[i] = byte(f.Uint32() >> f.IntN(2))
	}
	return string(b)
}

func (f filler) fields() ubl.Fields {
	if f.IntN(4) == 0 {
		return nil
	}
	out := ubl.Fields{}
	for i := range f.IntN(4) {
		if f.IntN(2) == 0 {
			out = append(out, ubl.Str(fmt.Sprint("s", i), fmt.Sprint("tëxt ", f.Uint64())))
		} else {
			out = append(out, ubl.Int(fmt.Sprint("n", i), f.Int64N(1<<53)))
		}
	}
	// They come back in canonical order.
	if data, err := out.MarshalBinary(); err != nil || out.UnmarshalBinary(data) != nil {
		panic("fields that don't travel")
	}
	return out
}

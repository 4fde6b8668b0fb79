package wire

import (
	"reflect"
)

// field is a field of a struct as it travels.
type field struct {
	name string
	path []int // to reach it, through embedded structs
	codec
}

// fields are a struct's, in the order in which they are written.
type fields struct {
	list   []field
	byName map[string]int
}

func structCodec(t reflect.Type) codec {
	s := &fields{byName: map[string]int{}}
	for _, f := range travelling(t) {
		s.byName[f.Name] = len(s.list)
		s.list = append(s.list, field{f.Name, f.Index, codecOf(f.Type)})
	}
	return codec{s.write, s.read}
}

// write writes a map from names to values. Zero values are what who misses them
// reads, and most fields of most commands are; so they are left out.
func (s *fields) write(dst []byte, v reflect.Value) (_ []byte, err error) {
	n := 0
	for i := range s.list {
		if !v.FieldByIndex(s.list[i].path).IsZero() {
			n++
		}
	}
	dst = appendLength(dst, n, mapCodes)
	for i := range s.list {
		f := &s.list[i]
		if v.FieldByIndex(f.path).IsZero() {
			continue
		}
		dst = appendString(dst, f.name)
		if dst, err = f.write(dst, v.FieldByIndex(f.path)); err != nil {
			return dst, err
		}
	}
	return dst, nil
}

// read passes over names that it doesn't know, and leaves what it misses as it is.
func (s *fields) read(r *reader, v reflect.Value) error {
	n, err := r.length(mapCodes)
	next := 0 // where a node of the same release has put what comes next, or behind it
	for i := 0; i < n && err == nil; i++ {
		var name []byte
		if name, err = r.bytes(); err != nil {
			return err
		}
		if at := s.named(name, next); at >= 0 {
			f := &s.list[at]
			err, next = f.readNext(r, v.FieldByIndex(f.path)), at+1
		} else {
			r.skip()
		}
	}
	return err
}

// named is the place of a name's field, -1 for none. It is looked for first from
// a place on.
func (s *fields) named(name []byte, from int) int {
	for at := from; at < len(s.list); at++ {
		if s.list[at].name == string(name) {
			return at
		}
	}
	if at, ok := s.byName[string(name)]; ok {
		return at
	}
	return -1
}

// pointerCodec keeps nil and a pointer to a zero value apart.
func pointerCodec(t reflect.Type) codec {
	of := codecOf(t.Elem())
	return codec{
		write: func(dst []byte, v reflect.Value) ([]byte, error) {
			if v.IsNil() {
				return append(dst, codeNil), nil
			}
			return of.write(dst, v.Elem())
		},
		read: func(r *reader, v reflect.Value) error {
			v.Set(reflect.New(t.Elem()))
			return of.read(r, v.Elem())
		},
	}
}

// listStart is how many parts a list gets room for before any was read: they may
// be of another kind than expected, and smaller.
const listStart = 16

// listCodec keeps nil and empty apart.
func listCodec(t reflect.Type) codec {
	of := codecOf(t.Elem())
	return codec{
		write: func(dst []byte, v reflect.Value) (_ []byte, err error) {
			if v.IsNil() {
				return append(dst, codeNil), nil
			}
			dst = appendLength(dst, v.Len(), listCodes)
			for i := 0; i < v.Len() && err == nil; i++ {
				dst, err = of.write(dst, v.Index(i))
			}
			return dst, err
		},
		read: func(r *reader, v reflect.Value) error {
			n, err := r.length(listCodes)
			if err != nil {
				return err
			}
			if n == 0 {
				v.Set(reflect.MakeSlice(t, 0, 0))
				return nil
			}
			v.SetZero() // where the same name came before
			v.Grow(min(n, listStart))
			for i := 0; i < n && err == nil; i++ {
				v.Grow(1)
				v.SetLen(i + 1)
				err = of.readNext(r, v.Index(i))
			}
			return err
		},
	}
}

// mapCodec keeps nil and empty apart.
func mapCodec(t reflect.Type) codec {
	of := codecOf(t.Elem())
	return codec{
		write: func(dst []byte, v reflect.Value) (_ []byte, err error) {
			if v.IsNil() {
				return append(dst, codeNil), nil
			}
			dst = appendLength(dst, v.Len(), mapCodes)
			for key, value := range v.Seq2() {
				if dst, err = of.write(appendString(dst, key.String()), value); err != nil {
					return dst, err
				}
			}
			return dst, nil
		},
		read: func(r *reader, v reflect.Value) error {
			n, err := r.length(mapCodes)
			if err != nil {
				return err
			}
			v.Set(reflect.MakeMap(t))
			for i := 0; i < n && err == nil; i++ {
				key, value := reflect.New(t.Key()).Elem(), reflect.New(t.Elem()).Elem()
				if err = stringCodec.readNext(r, key); err == nil {
					err = of.readNext(r, value)
				}
				v.SetMapIndex(key, value)
			}
			return err
		},
	}
}

package wire

import (
	"encoding"
	"fmt"
	"reflect"
	"sync"
)

// Form is how the values of one type are written and read, worked out once: a
// library that asks for a type's fields at every value costs a busy node more
// than the rest of a forwarded question. It never changes once made, and is safe
// for concurrent use.
type Form struct {
	of reflect.Type
	codec
	spare sync.Pool // of *scratch
}

// scratch is what a value is read with: kept for the next one, because it would
// make as much garbage as the value.
type scratch struct {
	reader
	value reflect.Value // of the form's type, zero between two uses
}

// codec writes and reads values of one type. read may believe lengths and
// depths: scan has been there before.
type codec struct {
	write func(dst []byte, v reflect.Value) ([]byte, error)
	read  func(r *reader, v reflect.Value) error
}

// NewForm works out the form of a value's type. It fails for one whose values
// would not come back as they were, and panics for nil.
func NewForm(zero any) (*Form, error) { return newForm(reflect.TypeOf(zero)) }

func newForm(t reflect.Type) (*Form, error) {
	if err := check(t); err != nil {
		return nil, err
	}
	return &Form{of: t, codec: codecOf(t)}, nil
}

// String names the form's type; nil is that of nil.
func (f *Form) String() string {
	if f == nil {
		return nilName
	}
	return f.of.String()
}

// Append writes a value of the form's type, or what a pointer to one points at.
func (f *Form) Append(dst []byte, value any) ([]byte, error) {
	v := reflect.ValueOf(value)
	if v.Type() != f.of {
		v = v.Elem()
	}
	return f.write(dst, v)
}

// Read reads a value into what into, a pointer to the form's type, points at;
// that should be a zero value. Byte strings in it refer to data, which must not
// change any more.
func (f *Form) Read(data []byte, into any) error {
	return f.readWhole(&reader{rest: data, refer: true}, reflect.ValueOf(into).Elem())
}

// decode reads a value of the form's type; nil has none.
func (f *Form) decode(data []byte, refer bool) (any, error) {
	if f == nil {
		if len(data) > 0 {
			return nil, fmt.Errorf("%w: something follows nil", ErrMalformed)
		}
		return nil, nil
	}
	s, _ := f.spare.Get().(*scratch)
	if s == nil {
		s = &scratch{value: reflect.New(f.of).Elem()}
	}
	s.reader = reader{rest: data, refer: refer}
	if err := f.readWhole(&s.reader, s.value); err != nil {
		return nil, err
	}
	v := s.value.Interface()
	s.value.SetZero()
	s.reader = reader{}
	f.spare.Put(s)
	return v, nil
}

// readWhole reads one value, behind which nothing follows. It is read over first:
// lengths and depths can't be believed before.
func (c codec) readWhole(r *reader, v reflect.Value) error {
	r.all = r.rest
	err := scan(r.all)
	if err == nil {
		err = c.readNext(r, v)
	}
	if err != nil {
		return fmt.Errorf("%w: %w", ErrMalformed, err)
	}
	return nil
}

// readNext reads what comes next; nil is every type's zero value.
func (c codec) readNext(r *reader, v reflect.Value) error {
	if r.isNil() {
		v.SetZero()
		return nil
	}
	return c.read(r, v)
}

// codecOf is the codec of a type that check lets pass.
func codecOf(t reflect.Type) codec {
	switch p := reflect.PointerTo(t); {
	case t.Implements(binaryMarshaler) && p.Implements(binaryUnmarshaler):
		return binaryCodec
	case t.Implements(textMarshaler) && p.Implements(textUnmarshaler):
		return textCodec
	}
	switch t.Kind() {
	case reflect.Bool:
		return boolCodec
	case reflect.String:
		return stringCodec
	case reflect.Struct:
		return structCodec(t)
	case reflect.Pointer:
		return pointerCodec(t)
	case reflect.Slice:
		if t.Elem().Kind() == reflect.Uint8 {
			return bytesCodec
		}
		return listCodec(t)
	case reflect.Map:
		return mapCodec(t)
	}
	return numberCodec
}

var boolCodec = codec{
	write: func(dst []byte, v reflect.Value) ([]byte, error) {
		if v.Bool() {
			return append(dst, codeTrue), nil
		}
		return append(dst, codeFalse), nil
	},
	read: func(r *reader, v reflect.Value) error {
		b, err := r.bool()
		v.SetBool(b)
		return err
	},
}

var numberCodec = codec{
	write: func(dst []byte, v reflect.Value) ([]byte, error) { return appendNumber(dst, v.Int()), nil },
	read: func(r *reader, v reflect.Value) error {
		n, err := r.number()
		if err == nil && v.OverflowInt(n) {
			return errNumber
		}
		v.SetInt(n)
		return err
	},
}

var stringCodec = codec{
	write: func(dst []byte, v reflect.Value) ([]byte, error) { return appendString(dst, v.String()), nil },
	read: func(r *reader, v reflect.Value) error {
		text, err := r.string()
		v.SetString(text)
		return err
	},
}

// bytesCodec keeps nil and empty apart.
var bytesCodec = codec{
	write: func(dst []byte, v reflect.Value) ([]byte, error) { return appendBytes(dst, v.Bytes()), nil },
	read: func(r *reader, v reflect.Value) error {
		b, err := r.bytes()
		if !r.refer {
			b = append([]byte{}, b...)
		}
		v.SetBytes(b)
		return err
	},
}

var (
	binaryMarshaler   = reflect.TypeFor[encoding.BinaryMarshaler]()
	binaryUnmarshaler = reflect.TypeFor[encoding.BinaryUnmarshaler]()
	textMarshaler     = reflect.TypeFor[encoding.TextMarshaler]()
	textUnmarshaler   = reflect.TypeFor[encoding.TextUnmarshaler]()
)

// absent reports whether a value that brings its form is nil.
func absent(v reflect.Value) bool {
	return (v.Kind() == reflect.Slice || v.Kind() == reflect.Map) && v.IsNil()
}

var binaryCodec = codec{
	write: func(dst []byte, v reflect.Value) ([]byte, error) {
		if absent(v) {
			return append(dst, codeNil), nil
		}
		b, err := v.Interface().(encoding.BinaryMarshaler).MarshalBinary()
		return appendBytes(dst, b), err
	},
	read: func(r *reader, v reflect.Value) error {
		b, err := r.bytes()
		if err != nil {
			return err
		}
		return v.Addr().Interface().(encoding.BinaryUnmarshaler).UnmarshalBinary(b)
	},
}

var textCodec = codec{
	write: func(dst []byte, v reflect.Value) ([]byte, error) {
		if absent(v) {
			return append(dst, codeNil), nil
		}
		b, err := v.Interface().(encoding.TextMarshaler).MarshalText()
		return appendBytes(dst, b), err
	},
	read: func(r *reader, v reflect.Value) error {
		b, err := r.bytes()
		if err != nil {
			return err
		}
		return v.Addr().Interface().(encoding.TextUnmarshaler).UnmarshalText(b)
	},
}

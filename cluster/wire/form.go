package wire

import (
	"fmt"
	"io"
	"reflect"
	"slices"
	"sync"

	"github.com/vmihailenco/msgpack/v5"
)

// sink is what the library writes to; with source it takes an eighth less time than
// with package bytes.
type sink struct{ out []byte }

func (s *sink) Write(p []byte) (int, error) {
	if len(s.out)+len(p) > cap(s.out) {
		s.out = slices.Grow(s.out, cap(s.out)+len(p)) // append alone would grow by a quarter
	}
	s.out = append(s.out, p...)
	return len(p), nil
}

func (s *sink) WriteByte(b byte) error {
	s.out = append(s.out, b)
	return nil
}

// source is what it reads from.
type source struct {
	data []byte
	at   int
}

func (s *source) Read(p []byte) (int, error) {
	if s.at == len(s.data) {
		return 0, io.EOF
	}
	n := copy(p, s.data[s.at:])
	s.at += n
	return n, nil
}

func (s *source) ReadByte() (byte, error) {
	if s.at == len(s.data) {
		return 0, io.EOF
	}
	b := s.data[s.at]
	s.at++
	return b, nil
}

func (s *source) UnreadByte() error {
	s.at--
	return nil
}

// writer is an encoder with what it writes to.
type writer struct {
	enc *msgpack.Encoder
	sink
}

// reader is a decoder with what it reads from.
type reader struct {
	dec *msgpack.Decoder
	source
}

// Making one costs more than a short value does, so they are kept for the next.
var (
	writers = sync.Pool{New: func() any {
		w := &writer{}
		w.enc = msgpack.NewEncoder(&w.sink)
		w.enc.UseCompactInts(true)
		return w
	}}
	readers = sync.Pool{New: func() any {
		r := &reader{}
		r.dec = msgpack.NewDecoder(&r.source)
		return r
	}}
)

// maxKept is the longest value whose reader is kept: it has room for the longest text
// that it has read.
const maxKept = 64 << 10

// Append writes a value, or what a pointer points at, behind dst.
func Append(dst []byte, value any) ([]byte, error) {
	w := writers.Get().(*writer)
	w.out = dst
	err := w.enc.Encode(value)
	out := w.out
	w.out = nil
	writers.Put(w)
	if err != nil {
		return dst, err
	}
	return out, nil
}

// Read reads one value, behind which nothing follows, into what into points at;
// that should be a zero value. It keeps nothing of data. Errors wrap
// [ErrMalformed].
func Read(data []byte, into any) error {
	err := scan(data)
	if err == nil {
		err = build(data, into)
	}
	if err != nil {
		return fmt.Errorf("%w: %w", ErrMalformed, err)
	}
	return nil
}

// build reads what scan has found whole and small enough.
func build(data []byte, into any) error {
	r := readers.Get().(*reader)
	r.source = source{data: data}
	err := r.dec.Decode(into)
	r.source = source{}
	if len(data) <= maxKept {
		readers.Put(r)
	}
	return err
}

// read reads a value of a type; nil has none.
func read(data []byte, t reflect.Type) (any, error) {
	if t == nil {
		if len(data) > 0 {
			return nil, fmt.Errorf("%w: something follows nil", ErrMalformed)
		}
		return nil, nil
	}
	v := reflect.New(t)
	if err := Read(data, v.Interface()); err != nil {
		return nil, err
	}
	return v.Elem().Interface(), nil
}

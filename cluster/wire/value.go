package wire

import (
	"bytes"
	"fmt"

	"github.com/vmihailenco/msgpack/v5"
)

// appender lets an encoder write behind what is there already.
type appender struct{ b []byte }

func (a *appender) Write(p []byte) (int, error) {
	a.b = append(a.b, p...)
	return len(p), nil
}

func (a *appender) WriteByte(c byte) error {
	a.b = append(a.b, c)
	return nil
}

// appendValue writes a value as MessagePack.
func appendValue(dst []byte, v any) ([]byte, error) {
	out := &appender{dst}
	enc := msgpack.GetEncoder()
	defer msgpack.PutEncoder(enc)
	enc.Reset(out)
	enc.UseCompactInts(true)
	if err := enc.Encode(v); err != nil {
		return dst, err
	}
	return out.b, nil
}

// readValue reads a value into what into points at. The bytes are read over
// first: the library believes lengths, and goes as deep as it is led.
func readValue(data []byte, into any) error {
	if err := scan(data); err != nil {
		return fmt.Errorf("%w: %w", ErrMalformed, err)
	}
	in := bytes.NewReader(data)
	dec := msgpack.GetDecoder()
	defer msgpack.PutDecoder(dec)
	dec.Reset(in)
	if err := dec.Decode(into); err != nil {
		return fmt.Errorf("%w: %w", ErrMalformed, err)
	}
	if in.Len() > 0 {
		return fmt.Errorf("%w: a value is of another kind than expected", ErrMalformed)
	}
	return nil
}

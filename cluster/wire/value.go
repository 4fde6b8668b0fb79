package wire

import (
	"encoding/binary"
	"math"
)

// appendNumber writes a number in as few bytes as it needs.
func appendNumber(dst []byte, n int64) []byte {
	switch {
	case n >= 0 && n <= math.MaxInt8, n < 0 && n >= -32:
		return append(dst, byte(n))
	case n >= 0 && n <= math.MaxUint8:
		return append(dst, codeUint8, byte(n))
	case n >= 0 && n <= math.MaxUint16:
		return binary.BigEndian.AppendUint16(append(dst, codeUint16), uint16(n))
	case n >= 0 && n <= math.MaxUint32:
		return binary.BigEndian.AppendUint32(append(dst, codeUint32), uint32(n))
	case n >= 0:
		return binary.BigEndian.AppendUint64(append(dst, codeUint64), uint64(n))
	case n >= math.MinInt8:
		return append(dst, codeInt8, byte(n))
	case n >= math.MinInt16:
		return binary.BigEndian.AppendUint16(append(dst, codeInt16), uint16(n))
	case n >= math.MinInt32:
		return binary.BigEndian.AppendUint32(append(dst, codeInt32), uint32(n))
	}
	return binary.BigEndian.AppendUint64(append(dst, codeInt64), uint64(n))
}

// codes are what stands before a length: in itself up to a bound, else followed
// by the length in 1 (0 for none), 2 or 4 bytes.
type codes struct {
	fixed          byte
	bound          int // of the fixed one; 0 for none
	one, two, four byte
}

var (
	stringCodes = codes{codeString, 32, codeStr8, codeStr16, codeStr32}
	bytesCodes  = codes{0, 0, codeBin8, codeBin16, codeBin32}
	listCodes   = codes{codeList, 16, 0, codeList16, codeList32}
	mapCodes    = codes{codeMap, 16, 0, codeMap16, codeMap32}
)

func appendLength(dst []byte, n int, c codes) []byte {
	switch {
	case n < c.bound:
		return append(dst, c.fixed|byte(n))
	case n <= math.MaxUint8 && c.one != 0:
		return append(dst, c.one, byte(n))
	case n <= math.MaxUint16:
		return binary.BigEndian.AppendUint16(append(dst, c.two), uint16(n))
	}
	return binary.BigEndian.AppendUint32(append(dst, c.four), uint32(n))
}

func appendString(dst []byte, s string) []byte {
	return append(appendLength(dst, len(s), stringCodes), s...)
}

// appendBytes keeps nil and empty apart.
func appendBytes(dst, b []byte) []byte {
	if b == nil {
		return append(dst, codeNil)
	}
	return append(appendLength(dst, len(b), bytesCodes), b...)
}

// reader reads what scan has found whole.
type reader struct {
	rest  []byte
	all   []byte // rest at the beginning
	text  string // the same, once a string was read of what is short
	refer bool   // byte strings refer to it
}

// short is up to how many bytes a value has whose strings share one copy of it,
// which is most commands. Those of a longer one have each their own: an id that
// an actor keeps must not keep a document.
const short = 1 << 10

// isNil reads a nil, if one comes next.
func (r *reader) isNil() bool {
	if r.rest[0] != codeNil {
		return false
	}
	r.rest = r.rest[1:]
	return true
}

// head takes a code and the number behind it, 0 for none.
func (r *reader) head() (code byte, n uint64) {
	code = r.rest[0]
	w := width(code)
	for _, b := range r.rest[1 : 1+w] {
		n = n<<8 | uint64(b)
	}
	r.rest = r.rest[1+w:]
	return code, n
}

func (r *reader) bool() (bool, error) {
	switch code, _ := r.head(); code {
	case codeTrue:
		return true, nil
	case codeFalse:
		return false, nil
	}
	return false, errOther
}

func (r *reader) number() (int64, error) {
	code, n := r.head()
	switch code {
	case codeUint8, codeUint16, codeUint32, codeUint64, codeInt64:
		return int64(n), nil
	case codeInt8:
		return int64(int8(n)), nil
	case codeInt16:
		return int64(int16(n)), nil
	case codeInt32:
		return int64(int32(n)), nil
	}
	if !smallNumber(code) {
		return 0, errOther
	}
	return int64(int8(code)), nil
}

// length reads the head of a list or map.
func (r *reader) length(c codes) (int, error) {
	code, n := r.head()
	switch {
	case code == c.one && c.one != 0, code == c.two, code == c.four:
		return int(n), nil
	case c.bound > 0 && code >= c.fixed && int(code) < int(c.fixed)+c.bound:
		return int(code - c.fixed), nil
	}
	return 0, errOther
}

// bytes reads a string or byte string, which isn't copied.
func (r *reader) bytes() ([]byte, error) {
	code, n := r.head()
	switch {
	case smallString(code):
		n = uint64(code & 0x1f)
	case code >= codeStr8 && code <= codeStr32, code >= codeBin8 && code <= codeBin32:
	default:
		return nil, errOther
	}
	b := r.rest[:n:n]
	r.rest = r.rest[n:]
	return b, nil
}

// string reads a string.
func (r *reader) string() (string, error) {
	b, err := r.bytes()
	if len(r.all) > short {
		return string(b), err
	}
	if r.text == "" {
		r.text = string(r.all)
	}
	end := len(r.all) - len(r.rest)
	return r.text[end-len(b) : end], err
}

// skip passes over a value.
func (r *reader) skip() {
	for left := 1; left > 0; left-- {
		code, n := r.head()
		switch {
		case smallString(code):
			r.rest = r.rest[code&0x1f:]
		case code >= codeStr8 && code <= codeStr32, code >= codeBin8 && code <= codeBin32:
			r.rest = r.rest[n:]
		case smallList(code):
			left += int(code & 0x0f)
		case smallMap(code):
			left += 2 * int(code&0x0f)
		case code == codeList16, code == codeList32:
			left += int(n)
		case code == codeMap16, code == codeMap32:
			left += 2 * int(n)
		}
	}
}

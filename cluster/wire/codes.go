package wire

// The codes of MessagePack that are used. Those of short strings, lists and maps
// and of small numbers hold the length or the number itself.
const (
	codeMap      = 0x80 // and 15 more
	codeList     = 0x90 // and 15 more
	codeString   = 0xa0 // and 31 more
	codeNil      = 0xc0
	codeFalse    = 0xc2
	codeTrue     = 0xc3
	codeBin8     = 0xc4
	codeBin16    = 0xc5
	codeBin32    = 0xc6
	codeFloat    = 0xca // not written; read over
	codeDouble   = 0xcb // not written; read over
	codeUint8    = 0xcc
	codeUint16   = 0xcd
	codeUint32   = 0xce
	codeUint64   = 0xcf
	codeInt8     = 0xd0
	codeInt16    = 0xd1
	codeInt32    = 0xd2
	codeInt64    = 0xd3
	codeStr8     = 0xd9
	codeStr16    = 0xda
	codeStr32    = 0xdb
	codeList16   = 0xdc
	codeList32   = 0xdd
	codeMap16    = 0xde
	codeMap32    = 0xdf
	codeNegative = 0xe0 // and 31 more
)

func smallMap(code byte) bool    { return code&0xf0 == codeMap }
func smallList(code byte) bool   { return code&0xf0 == codeList }
func smallString(code byte) bool { return code&0xe0 == codeString }
func smallNumber(code byte) bool { return code < codeMap || code >= codeNegative }

// width is how many bytes of length or number follow a code: 0 for small ones,
// and for those that are not used. Extensions are among those.
func width(code byte) int {
	switch code {
	case codeUint8, codeInt8, codeStr8, codeBin8:
		return 1
	case codeUint16, codeInt16, codeStr16, codeBin16, codeList16, codeMap16:
		return 2
	case codeUint32, codeInt32, codeStr32, codeBin32, codeList32, codeMap32, codeFloat:
		return 4
	case codeUint64, codeInt64, codeDouble:
		return 8
	}
	return 0
}

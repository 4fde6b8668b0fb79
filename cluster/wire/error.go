package wire

import (
	"fmt"

	"ubl"
)

// wireError is an error as it travels. The cause stays behind: it is for the log
// of the node that knows it.
type wireError struct {
	Code    ubl.Code
	Message string
	Details map[string]string
}

// EncodeError appends an error, as [ubl.AsError] shows it, to dst. err must not
// be nil.
func EncodeError(dst []byte, err error) []byte {
	e := ubl.AsError(err)
	out, failed := Append(append(dst, version), wireError{e.Code, e.Message, e.Details})
	if failed != nil { // impossible: it holds only strings
		panic(fmt.Sprintf("wire: couldn't encode an error: %v", failed))
	}
	return out
}

// DecodeError reads what EncodeError wrote. err says why it couldn't, and wraps
// one of this package's. A code that this program doesn't know is kept.
func DecodeError(data []byte) (e *ubl.Error, err error) {
	body, err := unversioned(data)
	if err != nil {
		return nil, fmt.Errorf("couldn't decode the error: %w", err)
	}
	var w wireError
	if err := Read(body, &w); err != nil {
		return nil, fmt.Errorf("couldn't decode the error: %w", err)
	}
	if w.Code == "" {
		return nil, fmt.Errorf("couldn't decode the error: %w: it has no code", ErrMalformed)
	}
	return &ubl.Error{Code: w.Code, Message: w.Message, Details: w.Details}, nil
}

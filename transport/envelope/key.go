package envelope

import (
	"net/http"

	"ubl"
)

// KeyHeader carries the idempotency key of a request.
const KeyHeader = "Idempotency-Key"

// SessionHeader, UBL-Session as HTTP has it in Go, names the run that a request is part of: s: and up to 128 of [A-Za-z0-9._-].
// It goes into the actions of the ledger.
const SessionHeader = "Ubl-Session"

// CheckKey refuses a request whose key is malformed, or one of several: whoever
// gives one relies on it.
func CheckKey(h http.Header) *ubl.Error {
	given := h[KeyHeader]
	if len(given) == 0 || len(given) == 1 && ubl.ValidKey(given[0]) {
		return nil
	}
	e := ubl.Errorf(ubl.CodeValidation, "the request is not as the API describes it; see details")
	e.Details = map[string]string{"header." + KeyHeader: "expected one key of 1 to 128 characters, none of them a control character"}
	return e
}

package envelope

import (
	"cmp"
	"net/http"

	"ubl"
)

// KeyHeader carries the idempotency key of a request.
const KeyHeader = "Idempotency-Key"

// SessionHeader, UBL-Session as HTTP has it in Go, names the run that a request is part of: s: and up to 128 of [A-Za-z0-9._-].
// It goes into the actions of the ledger.
const SessionHeader = "Ubl-Session"

// CheckKey refuses a request whose key or session is malformed, or one of several: whoever
// gives one relies on it.
func CheckKey(h http.Header) *ubl.Error {
	return cmp.Or(
		one(h, KeyHeader, ubl.ValidKey, "expected one key of 1 to 128 characters, none of them a control character"),
		one(h, SessionHeader, ubl.ValidSession, "expected one session: s: and up to 128 of [A-Za-z0-9._-]"),
	)
}

// one refuses a header that is there, but not once and valid.
func one(h http.Header, name string, valid func(string) bool, otherwise string) *ubl.Error {
	given := h[name]
	if len(given) == 0 || len(given) == 1 && valid(given[0]) {
		return nil
	}
	e := ubl.Errorf(ubl.CodeValidation, NotAsDescribed)
	e.Details = map[string]string{"header." + name: otherwise}
	return e
}

package ubl

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"strconv"
	"time"
)

// Code is an error code on the wire. The table below is the only one.
type Code string

// The codes, with the HTTP status that carries each.
const (
	CodeValidation          Code = "validation_error"       // 400
	CodeUnauthorized        Code = "unauthorized"           // 401
	CodeForbidden           Code = "forbidden"              // 403
	CodeNotAMember          Code = "not_a_member"           // 403
	CodeOriginNotAllowed    Code = "origin_not_allowed"     // 403
	CodeConfirmation        Code = "confirmation_required"  // 403, nothing was done: a person has to confirm it first
	CodeDeclined            Code = "declined"               // 403, nothing was done: a person was asked, and said no
	CodeNotFound            Code = "not_found"              // 404
	CodeUnknownTool         Code = "unknown_tool"           // 404
	CodeMethodNotAllowed    Code = "method_not_allowed"     // 405
	CodeConflict            Code = "conflict"               // 409
	CodeIdempotencyConflict Code = "idempotency_conflict"   // 409
	CodePrecondition        Code = "precondition_failed"    // 412, nothing was done: it isn't as If-Match says any more
	CodeCancelled           Code = "cancelled"              // 409, the caller gave it up: the outcome may be unknown
	CodeTooLarge            Code = "too_large"              // 413
	CodeUnsupportedMedia    Code = "unsupported_media_type" // 415
	CodeRateLimited         Code = "rate_limited"           // 429
	CodeInternal            Code = "internal"               // 500
	CodeOverloaded          Code = "overloaded"             // 503, nothing was done
	CodeUnavailable         Code = "unavailable"            // 503, the outcome may be unknown: retry with the same key
	CodeQuotaExceeded       Code = "quota_exceeded"         // 507, the tenant stores as much as it may
)

var statusOf = map[Code]int{
	CodeValidation:          http.StatusBadRequest,
	CodeUnauthorized:        http.StatusUnauthorized,
	CodeForbidden:           http.StatusForbidden,
	CodeNotAMember:          http.StatusForbidden,
	CodeOriginNotAllowed:    http.StatusForbidden,
	CodeConfirmation:        http.StatusForbidden,
	CodeDeclined:            http.StatusForbidden,
	CodeNotFound:            http.StatusNotFound,
	CodeUnknownTool:         http.StatusNotFound,
	CodeMethodNotAllowed:    http.StatusMethodNotAllowed,
	CodeConflict:            http.StatusConflict,
	CodeIdempotencyConflict: http.StatusConflict,
	CodePrecondition:        http.StatusPreconditionFailed,
	CodeCancelled:           http.StatusConflict,
	CodeTooLarge:            http.StatusRequestEntityTooLarge,
	CodeUnsupportedMedia:    http.StatusUnsupportedMediaType,
	CodeRateLimited:         http.StatusTooManyRequests,
	CodeInternal:            http.StatusInternalServerError,
	CodeOverloaded:          http.StatusServiceUnavailable,
	CodeUnavailable:         http.StatusServiceUnavailable,
	CodeQuotaExceeded:       http.StatusInsufficientStorage,
}

// Status is the HTTP status that carries the code; 500 for one not in the table.
func (c Code) Status() int {
	if s, ok := statusOf[c]; ok {
		return s
	}
	return http.StatusInternalServerError
}

// adviceOf says what a model does best about each code that its calls may meet, where the
// message doesn't say it.
var adviceOf = map[Code]string{
	CodeValidation:          "Mend the arguments and call again.",
	CodeForbidden:           "The same call will be refused again. agreement.get shows what is permitted to whom; an owner can permit more.",
	CodeNotAMember:          "Join the room with room.join if its rule lets you, or ask an owner to add you.",
	CodeConfirmation:        "Nothing was done. A person has to confirm it first.",
	CodeDeclined:            "Nothing was done. Don't repeat it: ask the person what they want instead.",
	CodeNotFound:            "Take ids from a list or a search instead of guessing them.",
	CodeUnknownTool:         "Take the name from a list of tools.",
	CodeConflict:            "Read how it is now, then decide.",
	CodeIdempotencyConflict: "A client_request_id stands for one act with the same arguments: give another act another one.",
	CodeCancelled:           "It may have been done or not. Look before you repeat it.",
	CodeTooLarge:            "Send less at once.",
	CodeOverloaded:          "Nothing was done. The same call may succeed later.",
	CodeUnavailable:         "It may have been done or not. Look before you repeat it; with the same client_request_id a repetition counts once.",
	CodeQuotaExceeded:       "An owner has to make room first.",
}

// Advice tells a model what to do after an error of the code, "" where nothing helps.
func (c Code) Advice() string { return adviceOf[c] }

// CodeForStatus is the code for a status that a library chose (a router's 404,
// a decoder's 422); statuses outside the table are validation errors below 500
// and internal ones above.
func CodeForStatus(status int) Code {
	switch status {
	case http.StatusUnauthorized:
		return CodeUnauthorized
	case http.StatusForbidden:
		return CodeForbidden
	case http.StatusNotFound:
		return CodeNotFound
	case http.StatusMethodNotAllowed:
		return CodeMethodNotAllowed
	case http.StatusConflict:
		return CodeConflict
	case http.StatusPreconditionFailed:
		return CodePrecondition
	case http.StatusRequestEntityTooLarge:
		return CodeTooLarge
	case http.StatusUnsupportedMediaType:
		return CodeUnsupportedMedia
	case http.StatusTooManyRequests:
		return CodeRateLimited
	case http.StatusServiceUnavailable:
		return CodeUnavailable
	case http.StatusInsufficientStorage:
		return CodeQuotaExceeded
	}
	if status >= 500 {
		return CodeInternal
	}
	return CodeValidation
}

// Error is an error that may be shown to a caller: its message names what was
// wrong and where, never the value that was sent.
type Error struct {
	Code    Code
	Message string
	// Details says more for programs, as field → reason.
	Details map[string]string
	// Cause is for logs and errors.Is; it is never shown.
	Cause error

	once bool // see Once
}

func (e *Error) Error() string {
	if e.Cause != nil {
		return fmt.Sprintf("%s: %s: %v", e.Code, e.Message, e.Cause)
	}
	return fmt.Sprintf("%s: %s", e.Code, e.Message)
}

func (e *Error) Unwrap() error { return e.Cause }

// Errorf makes an [Error]. The message must not contain submitted values.
func Errorf(code Code, format string, args ...any) *Error {
	return &Error{Code: code, Message: fmt.Sprintf(format, args...)}
}

// NoTool is the one answer to a caller who names a tool that isn't there, of our own
// or of another server.
func NoTool() *Error {
	return Errorf(CodeUnknownTool, "there is no such tool: list the tools to see their names")
}

// ErrDamaged is behind every error that tells of stored data which is not what
// was written: errors.Is finds it.
var ErrDamaged = errors.New("the data is damaged")

// Damaged tells of damage and its place. A number that should be there and isn't
// is damage, too: no answer may be shorter for it.
func Damaged(format string, args ...any) *Error {
	return Errorf(CodeInternal, "stored data is damaged: %s", fmt.Sprintf(format, args...)).Because(ErrDamaged)
}

// Because is e with a cause for the logs.
func (e *Error) Because(cause error) *Error {
	with := *e
	with.Cause = cause
	return &with
}

// retryAfter is the member of Details that says after how many seconds it is worth
// trying again. As a detail it goes with the error wherever that goes.
const retryAfter = "retry_after"

// Later is e with how long to wait before another try is worth it.
func (e *Error) Later(wait time.Duration) *Error {
	with := *e
	with.Details = map[string]string{}
	maps.Copy(with.Details, e.Details)
	with.Details[retryAfter] = strconv.FormatInt(int64((wait+time.Second-1)/time.Second), 10)
	return &with
}

// Once is e of an act that may have been done, and that another try could do twice: it
// names no time to wait.
func (e *Error) Once() *Error {
	with := *e
	with.once = true
	return &with
}

// RetryAfter is how many seconds to wait before another try is worth it: what
// [Error.Later] has said, else 1; 0 where waiting doesn't help.
func (e *Error) RetryAfter() int {
	if s := e.Code.Status(); e.once || s != http.StatusServiceUnavailable && s != http.StatusTooManyRequests {
		return 0
	}
	if seconds, err := strconv.Atoi(e.Details[retryAfter]); err == nil && seconds > 0 {
		return seconds
	}
	return 1
}

// AsError is the [Error] in err's chain. A cancelled or expired context becomes
// unavailable, damage and anything unknown internal: its text stays out of the answer.
func AsError(err error) *Error {
	if e, ok := errors.AsType[*Error](err); ok {
		return e
	}
	if errors.Is(err, context.DeadlineExceeded) || errors.Is(err, context.Canceled) {
		return Errorf(CodeUnavailable, "the request ended before its outcome was known").Because(err)
	}
	if errors.Is(err, ErrDamaged) {
		return Errorf(CodeInternal, "stored data is damaged").Because(err)
	}
	return Errorf(CodeInternal, "something went wrong inside; the request id finds it in the log").Because(err)
}

// CodeOf is the code a caller would see for err; "" for nil.
func CodeOf(err error) Code {
	if err == nil {
		return ""
	}
	return AsError(err).Code
}

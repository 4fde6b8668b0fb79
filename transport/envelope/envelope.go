// Package envelope is what all HTTP transports share: the request id, the
// caller, and the one shape of answers and errors under /api.
package envelope

import (
	"context"
	"encoding/json"
	"net/http"
	"strconv"
	"strings"
	"time"

	"ubl"
)

// Caller is who sent the request. Their tenant lets them in with the first
// question that is asked for them (see [Entering]), or with [Caller.Enter].
type Caller struct {
	Identity ubl.Identity
	// TokenID names the credential, as in revocations; "" where it has no name.
	TokenID string
	// ExpiresAt is when the credential ends; 0 for never.
	ExpiresAt ubl.Time
	// Revoked is closed once the credential is revoked on this node; nil if it
	// cannot be noticed that way.
	Revoked <-chan struct{}
	// Holds asks anew whether the credential holds; nil where nobody can say.
	Holds func(context.Context) error
	// Session says that the caller is a person at a browser, and ProvedAt when they last
	// proved who they are: 0 where that isn't known.
	Session  bool
	ProvedAt ubl.Time
	// Operates says that the node lets the caller do what operators do, though they aren't
	// in tenant 0: they are the first owner of a node alone.
	Operates bool
	// OneAddress says that the credential is taken at the request's own URL and nowhere else.
	OneAddress bool

	entry
}

// Operator refuses whoever doesn't run the platform: that are owners of tenant 0, and
// whom Operates marks while they own their tenant. The caller has been let in before, or
// is now.
func (c *Caller) Operator(ctx context.Context, refusal error) error {
	if !c.Runs(ubl.RoleOwner) {
		return refusal
	}
	role, err := c.Enter(ctx)
	if err == nil && !c.Runs(role) {
		err = refusal
	}
	return err
}

// Runs reports whether the caller, with a role in their tenant, runs the platform, as of
// [Caller.Operator].
func (c *Caller) Runs(role ubl.Role) bool {
	return role == ubl.RoleOwner && (c.Identity.TenantID == ubl.CoreTenant || c.Operates)
}

// FreshFor is how long a proof of who somebody is lasts for sensitive acts.
const FreshFor = 5 * time.Minute

// Confirmed refuses a session in which nobody has proved within [FreshFor] who they
// are: a browser that was left open, or a copy of its cookie, must not do what can't be
// taken back. Programs send tokens unattended: for them it is their token that counts.
func (c *Caller) Confirmed(now ubl.Time) error {
	if !c.Session || now < c.ProvedAt.Add(FreshFor) {
		return nil
	}
	return ubl.Errorf(ubl.CodeConfirmation, "this needs a recent sign-in: confirm that it is you, then repeat it within %d minutes", FreshFor/time.Minute)
}

// Over reports whether the credential has ended: it was revoked, its owner left the
// tenant, or its time is over.
func (c *Caller) Over(now ubl.Time) bool {
	return c.Doubtful() || c.ExpiresAt != 0 && now >= c.ExpiresAt
}

// Doubtful reports whether the credential was ended, or is no longer known to this node
// for another reason.
func (c *Caller) Doubtful() bool {
	select {
	case <-c.Revoked:
		return true
	default:
		return false
	}
}

// Request is what the outermost handler knows of a request.
type Request struct {
	// ID is in every answer, atom and log line of the request.
	ID string
	// Key is the idempotency key from the headers: Idempotency-Key, else a
	// client's X-Request-Id, else ID. A client_request_id in a body beats it.
	Key string
	// Parent is the id of the request that this one is made for, "" for none.
	Parent string
	// Session is what the caller calls the run that this is part of, "" for none.
	Session string
	// At is when the request came in.
	At ubl.Time
	// Caller is who sent it, nil until somebody was authenticated. It is for the
	// outermost handler; others ask [CallerOf].
	Caller *Caller
	// Answering adds to the headers of the answer in the last moment, before they leave;
	// nil for nothing.
	Answering func(http.Header)
}

type requestKey struct{}
type callerKey struct{}

// WithRequest puts the request into the context.
func WithRequest(ctx context.Context, r *Request) context.Context {
	return context.WithValue(ctx, requestKey{}, r)
}

// RequestOf is the request in the context; never nil.
func RequestOf(ctx context.Context) *Request {
	if r, ok := ctx.Value(requestKey{}).(*Request); ok {
		return r
	}
	return &Request{}
}

// WithCaller puts the caller into the context.
func WithCaller(ctx context.Context, c *Caller) context.Context {
	return context.WithValue(ctx, callerKey{}, c)
}

// CallerOf is the caller in the context, nil where nobody was authenticated.
func CallerOf(ctx context.Context) *Caller {
	c, _ := ctx.Value(callerKey{}).(*Caller)
	return c
}

// Command is the part of a command that says who asks. A non-empty key from
// the body beats those of the headers.
func Command(ctx context.Context, bodyKey string) ubl.Request {
	r := RequestOf(ctx)
	cmd := ubl.Request{ID: r.ID, Key: r.Key, Parent: r.Parent, Session: r.Session}
	if c := CallerOf(ctx); c != nil {
		cmd.Who, cmd.Under = c.Identity, c.decidedBy()
	}
	if bodyKey != "" {
		cmd.Key = bodyKey
	}
	return cmd
}

// ErrorBody is the shape of every error under /api.
type ErrorBody struct {
	Error struct {
		Code    ubl.Code          `json:"code"`
		Message string            `json:"message"`
		Details map[string]string `json:"details,omitempty"`
	} `json:"error"`
	RequestID  string   `json:"request_id"`
	ServerTime ubl.Time `json:"server_time"`
}

// NewError makes the error body of err as of now.
func NewError(ctx context.Context, err error) (status int, body ErrorBody) {
	e := ubl.AsError(err)
	body.Error.Code, body.Error.Message, body.Error.Details = e.Code, e.Message, e.Details
	r := RequestOf(ctx)
	body.RequestID, body.ServerTime = r.ID, r.At
	return e.Code.Status(), body
}

// WriteError answers with err in the envelope, or as [Refusing] says. A refusal for
// load says when to come back.
func WriteError(w http.ResponseWriter, r *http.Request, err error) {
	if write, ok := r.Context().Value(refusalKey{}).(func(http.ResponseWriter, *http.Request, error)); ok {
		write(w, r, err)
		return
	}
	status, body := NewError(r.Context(), err)
	SetHints(w.Header(), status, ubl.AsError(err).RetryAfter())
	Write(w, status, body)
}

// RefuseMethod answers a request by a method that its path hasn't, and OPTIONS, with those that
// has says there are.
func RefuseMethod(w http.ResponseWriter, r *http.Request, has func(method string) bool) {
	w.Header().Set("Allow", Allow(has))
	if r.Method == http.MethodOptions {
		w.WriteHeader(http.StatusNoContent)
		return
	}
	WriteError(w, r, ubl.Errorf(ubl.CodeMethodNotAllowed, "the path knows other methods only; see Allow"))
}

// Allow is the header that lists the methods that has says there are, and OPTIONS.
func Allow(has func(method string) bool) string {
	var allowed []string
	for _, method := range []string{"DELETE", "GET", "HEAD", "OPTIONS", "PATCH", "POST", "PUT"} {
		if method == http.MethodOptions || has(method) {
			allowed = append(allowed, method)
		}
	}
	return strings.Join(allowed, ", ")
}

// Only lets requests by one method through, HEAD as GET, and refuses others. It is for paths that
// are mounted for all methods, so that a browser's preflight finds the way.
func Only(method string, h http.Handler) http.Handler {
	has := func(asked string) bool {
		return asked == method || asked == http.MethodHead && method == http.MethodGet
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !has(r.Method) {
			RefuseMethod(w, r, has)
			return
		}
		h.ServeHTTP(w, r)
	})
}

// SetHints sets the headers that go with a status: after how many seconds to come
// back after a refusal for load, 0 where that doesn't help, and how to identify oneself where that was not
// enough.
func SetHints(h http.Header, status, retryAfter int) {
	if retryAfter > 0 && (status == http.StatusServiceUnavailable || status == http.StatusTooManyRequests) {
		h.Set("Retry-After", strconv.Itoa(retryAfter))
	}
	if status == http.StatusUnauthorized && h.Get("WWW-Authenticate") == "" {
		h.Set("WWW-Authenticate", `Bearer error="invalid_token"`)
	}
}

// Write answers with v as JSON.
func Write(w http.ResponseWriter, status int, v any) { WriteAs(w, status, "application/json", v) }

// WriteAs is Write for JSON of a media type of its own.
func WriteAs(w http.ResponseWriter, status int, mediaType string, v any) {
	data, err := json.Marshal(v)
	if err != nil { // a programming error: everything written here is our own type
		http.Error(w, `{"error":{"code":"internal","message":"couldn't encode the answer"}}`, http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", mediaType)
	w.Header().Set("Content-Length", strconv.Itoa(len(data)))
	w.WriteHeader(status)
	// A client that has gone is no error of ours.
	_, _ = w.Write(data)
}

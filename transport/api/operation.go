package api

import (
	"context"
	"encoding/json"
	"net/http"
	"strconv"
	"time"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/adapters/humachi"
	"github.com/go-chi/chi/v5"

	"ubl"
	"ubl/transport/envelope"
)

// operation describes one operation of the API.
type operation struct {
	method, path string
	id           string
	tool         string // the same as a tool, "" for none
	uses         string // where it is none, the tool that shows the same
	summary      string
	more         string // a longer description
	tag          string
	answers      string // the schema of a good answer
	// fixed are members of the body that have one good value: the tool gives it where it isn't given,
	// and shows no other.
	fixed      map[string]string
	people     bool   // for people alone: services are refused
	streams    string // the schema of the events of an answer that may be a stream
	creates    bool   // answers 201
	location   string // where that is, for a family's; see locations
	adds       bool   // leaves what was there, though it is no POST
	destroys   bool   // doesn't, though it is a POST
	large      bool   // takes a body of up to maxLargeBody
	slow       bool   // waits for somebody else: a model, another server
	streamed   bool   // is as long as the client takes to read it
	takesBytes bool   // takes bytes of any length instead of JSON: see [partialType]
	sendsBytes bool   // answers with bytes, or some of them, instead of JSON
	sendsZip   bool   // answers with a zip file, whose manifest is of the schema that answers names
	empty      bool   // answers 204
	retires    *retirement
	asks       asks // whether a session must be confirmed first; every write says so
	// foreign says what of a good answer other servers wrote, as [envelope.Act] has it.
	foreign func(answer json.RawMessage) (server string, failed bool)
	counts  ubl.Rate   // by which rate of the caller it is counted; every write says so
	also    []ubl.Code // errors beside those that every operation has
}

// asks says whether an operation asks people at a browser to prove once more who they
// are, if they haven't lately: what would a stolen session do that its owner can't take
// back? One principle decides:
//
//   - It asks where somebody is let into the tenant, where something private is opened to
//     more people by a rule (a room to the tenant, a tool to its callers), where power, a
//     credential or credits are given or a bound on what is spent is lifted, where people or data are removed for good, and where
//     everything is taken out at once.
//   - It doesn't ask for what is everyday, taken back easily, or only shuts something.
//     Adding a colleague as a member to a room is everyday in a messenger, and so is
//     reading, the ledger page by page too. So is taking back what one said or how one
//     reacted; to take away what others said asks.
type asks int

const (
	unsaid    asks = iota // for reads alone
	nothing               // everyday, or taken back easily, or only shuts something
	proof                 // sensitive: the guard refuses a session that isn't fresh
	sometimes             // sensitive with some arguments: the handler calls confirmed
)

// everywhere lists the errors that any operation may answer.
var everywhere = []ubl.Code{ubl.CodeValidation, ubl.CodeUnauthorized, ubl.CodeForbidden, ubl.CodeConfirmation, ubl.CodeNotFound,
	ubl.CodeRateLimited, ubl.CodeInternal, ubl.CodeOverloaded, ubl.CodeUnavailable}

// writes lists the errors that operations which change something may answer besides.
var writes = []ubl.Code{ubl.CodeConflict, ubl.CodeIdempotencyConflict, ubl.CodeTooLarge, ubl.CodeUnsupportedMedia, ubl.CodeQuotaExceeded}

// describe turns the description into huma's.
func (o operation) describe(status int, contentType string) huma.Operation {
	content := o.content(contentType)
	if o.streams != "" {
		content[streamType] = &huma.MediaType{Schema: refTo(o.streams)}
	}
	out := huma.Operation{
		Metadata: map[string]any{ours: o},
		Method:   o.method, Path: o.path, OperationID: o.id, Summary: o.summary, Description: o.more,
		Tags: []string{o.tag}, DefaultStatus: status, Deprecated: o.retires != nil,
		MaxBodyBytes: -1, BodyReadTimeout: bodyTimeout, // the guard bounds the size
		Responses: map[string]*huma.Response{strconv.Itoa(status): {
			Description: http.StatusText(status),
			Content:     content,
		}},
	}
	codes := append(append([]ubl.Code(nil), everywhere...), o.also...)
	if versions[o.id].conditional {
		codes = append(codes, ubl.CodePrecondition)
	}
	if o.method != http.MethodGet {
		codes = append(codes, writes...)
		out.Parameters = append(out.Parameters, idempotencyKey())
	}
	for _, code := range codes {
		addError(out.Responses, code)
	}
	if o.takesBytes {
		out.RequestBody = &huma.RequestBody{Required: true, Content: map[string]*huma.MediaType{partialType: {Schema: anyBytes()}}}
	}
	if o.sendsBytes {
		for _, status := range []int{http.StatusPartialContent, http.StatusNotModified, http.StatusRequestedRangeNotSatisfiable} {
			out.Responses[strconv.Itoa(status)] = &huma.Response{Description: http.StatusText(status)}
		}
		out.Responses[strconv.Itoa(http.StatusPartialContent)].Content = content
	}
	if o.tool != "" {
		out.Extensions = map[string]any{toolExtension: o.tool}
	}
	return out
}

// content is what a good answer holds.
func (o operation) content(contentType string) map[string]*huma.MediaType {
	switch {
	case o.empty:
		return nil
	case o.sendsBytes, o.sendsZip:
		return map[string]*huma.MediaType{contentType: {Schema: anyBytes()}}
	}
	return map[string]*huma.MediaType{contentType: {Schema: refTo(o.answers)}}
}

func anyBytes() *huma.Schema { return &huma.Schema{Type: huma.TypeString, Format: "binary"} }

// ours is the place of the operation in huma's metadata, membersKey that of the names that its
// body takes, toolExtension that of the tool's name in the OpenAPI document.
const (
	ours          = "operation"
	membersKey    = "members"
	toolExtension = "x-tool"
)

// addError describes a code under its status, beside others of that status.
func addError(to map[string]*huma.Response, code ubl.Code) {
	key := strconv.Itoa(code.Status())
	if r, ok := to[key]; ok {
		r.Description += ", " + string(code)
		return
	}
	to[key] = &huma.Response{Description: string(code),
		Content: map[string]*huma.MediaType{jsonType[0]: {Schema: refTo("ubl.api.error.v1")}}}
}

func idempotencyKey() *huma.Param {
	return &huma.Param{
		Name: envelope.KeyHeader, In: "header",
		Description: "The same key gives the same outcome, within the scope of caller and operation; " +
			"another body under it is a 409. A client_request_id in the body beats it.",
		Schema: &huma.Schema{Type: "string", MinLength: new(1), MaxLength: new(128)},
	}
}

// refTo points at a published schema, which the OpenAPI document quotes.
func refTo(id string) *huma.Schema { return &huma.Schema{Ref: "#/components/schemas/" + id} }

// bodyTimeout is how long a body may take to come in.
const bodyTimeout = 30 * time.Second

// reply is what huma gets of a handler: the way to write the answer.
type reply struct{ Body func(huma.Context) }

// handle adds an operation that huma decodes and validates. fn returns an
// object to answer with.
func handle[I any](a *API, o operation, fn func(context.Context, *I) (any, error)) {
	status := o.status()
	write(a, o, func(w http.ResponseWriter, r *http.Request, in *I) {
		out, err := fn(r.Context(), in)
		if err != nil {
			envelope.WriteError(w, r, err)
			return
		}
		o.answer(w, r, status, out)
	})
}

// write adds an operation that huma decodes and validates, and fn answers.
func write[I any](a *API, o operation, fn func(http.ResponseWriter, *http.Request, *I)) {
	huma.Register(a.huma, o.describe(o.status(), jsonType[0]), func(_ context.Context, in *I) (*reply, error) {
		return &reply{Body: func(c huma.Context) {
			r, w := humachi.Unwrap(c)
			fn(w, r, in)
		}}, nil
	})
}

// direct adds an operation with a handler of its own, which huma describes as
// taking I and never calls.
func direct[I any](a *API, o operation, contentType string, h http.HandlerFunc) {
	unused := func(context.Context, *I) (*reply, error) { return nil, nil }
	huma.Register(byHand{a.huma, a, h}, o.describe(o.status(), contentType), unused)
}

// byHand is huma with another handler in place of its own.
type byHand struct {
	huma.API
	a *API
	h http.HandlerFunc
}

func (b byHand) Adapter() huma.Adapter { return b }

func (b byHand) Handle(op *huma.Operation, _ func(huma.Context)) { b.a.add(op, b.h) }

func (b byHand) ServeHTTP(w http.ResponseWriter, r *http.Request) { b.a.router.ServeHTTP(w, r) }

// route is an operation with the handler that serves it, guarded.
type route struct {
	operation
	described *huma.Operation
	handler   http.HandlerFunc
}

// add puts an operation into the table.
func (a *API) add(op *huma.Operation, h http.HandlerFunc) {
	o := op.Metadata[ours].(operation)
	op.Metadata[membersKey] = bodyMembers(a.huma.OpenAPI().Components.Schemas, op)
	switch {
	case o.slow:
		h = a.unhurried(h)
	case !o.streamed:
		h = timely(h)
	}
	a.table = append(a.table, route{o, op, guard(o, op, h)})
}

// mount routes it; what answers GET answers HEAD.
func (t route) mount(r chi.Router) {
	r.Method(t.method, t.path, t.handler)
	if t.method == http.MethodGet {
		r.Method(http.MethodHead, t.path, t.handler)
	}
}

// destructive reports whether it replaces or takes away what was there.
func (o operation) destructive() bool {
	return o.method != http.MethodGet && !o.adds && (o.destroys || o.method != http.MethodPost)
}

func (o operation) status() int {
	switch {
	case o.creates:
		return http.StatusCreated
	case o.empty:
		return http.StatusNoContent
	}
	return http.StatusOK
}

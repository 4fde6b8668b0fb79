package api

import (
	"context"
	"net/http"
	"strconv"
	"time"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/adapters/humachi"

	"ubl"
	"ubl/transport/envelope"
)

// operation describes one operation of the API.
type operation struct {
	method, path string
	id           string
	summary      string
	more         string // a longer description
	tag          string
	answers      string     // the schema of a good answer
	creates      bool       // answers 201
	also         []ubl.Code // errors beside those that every operation has
}

// everywhere lists the errors that any operation may answer.
var everywhere = []ubl.Code{ubl.CodeValidation, ubl.CodeUnauthorized, ubl.CodeForbidden, ubl.CodeNotFound,
	ubl.CodeRateLimited, ubl.CodeInternal, ubl.CodeOverloaded, ubl.CodeUnavailable}

// writes lists the errors that operations which change something may answer besides.
var writes = []ubl.Code{ubl.CodeConflict, ubl.CodeIdempotencyConflict, ubl.CodeTooLarge, ubl.CodeUnsupportedMedia}

// describe turns the description into huma's.
func (o operation) describe(status int, contentType string) huma.Operation {
	out := huma.Operation{
		Method: o.method, Path: o.path, OperationID: o.id, Summary: o.summary, Description: o.more,
		Tags: []string{o.tag}, DefaultStatus: status,
		MaxBodyBytes: -1, BodyReadTimeout: bodyTimeout, // the guard bounds the size
		Responses: map[string]*huma.Response{strconv.Itoa(status): {
			Description: http.StatusText(status),
			Content:     map[string]*huma.MediaType{contentType: {Schema: refTo(o.answers)}},
		}},
	}
	codes := append(append([]ubl.Code(nil), everywhere...), o.also...)
	if o.method != http.MethodGet {
		codes = append(codes, writes...)
		out.Parameters = append(out.Parameters, idempotencyKey())
	}
	for _, code := range codes {
		addError(out.Responses, code)
	}
	return out
}

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
		Name: "Idempotency-Key", In: "header",
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
	huma.Register(a.huma, o.describe(status, jsonType[0]), func(ctx context.Context, in *I) (*reply, error) {
		out, err := fn(ctx, in)
		return &reply{Body: func(c huma.Context) {
			r, w := humachi.Unwrap(c)
			if err != nil {
				envelope.WriteError(w, r, err)
				return
			}
			answer(w, r, status, out)
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

// add routes an operation; what answers GET answers HEAD.
func (a *API) add(op *huma.Operation, h http.HandlerFunc) {
	g := guard(op, h)
	a.router.Method(op.Method, op.Path, g)
	if op.Method == http.MethodGet {
		a.router.Method(http.MethodHead, op.Path, g)
	}
}

func (o operation) status() int {
	if o.creates {
		return http.StatusCreated
	}
	return http.StatusOK
}

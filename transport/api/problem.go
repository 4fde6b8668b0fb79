package api

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"sync"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/adapters/humachi"
	"github.com/danielgtaylor/huma/v2/validation"

	"ubl"
	"ubl/transport/envelope"
)

// problem is an error that huma writes: our envelope instead of its own form,
// which would echo submitted values.
type problem struct {
	status int
	body   envelope.ErrorBody
}

func (p *problem) Error() string                { return p.body.Error.Message }
func (p *problem) GetStatus() int               { return p.status }
func (p *problem) MarshalJSON() ([]byte, error) { return json.Marshal(p.body) }

// Schema keeps huma from describing the type: errors are ubl.api.error.v1.
func (*problem) Schema(huma.Registry) *huma.Schema { return refTo("ubl.api.error.v1") }

// teachHuma replaces huma's error constructors, which are variables of its
// package. Once is enough, and a second server must not race with the first.
var teachHuma = sync.OnceFunc(func() {
	huma.NewError = func(status int, msg string, _ ...error) huma.StatusError {
		return &problem{status: status, body: envelope.ErrorBody{}}
	}
	huma.NewErrorWithContext = func(ctx huma.Context, status int, msg string, errs ...error) huma.StatusError {
		p := &problem{}
		url := ctx.URL()
		takes, _ := ctx.Operation().Metadata[membersKey].(map[string][]string)
		p.status, p.body = envelope.NewError(ctx.Context(), translate(status, msg, errs, url.Query(), takes))
		return p
	}
})

// translate makes huma's findings one error of ours. huma's messages are fixed
// texts; its values are left out, and of the sender's own names what [shown] leaves out.
// The query tells parameters that are empty from those that are missing, and takes what the
// body may hold.
func translate(status int, msg string, errs []error, query url.Values, takes map[string][]string) *ubl.Error {
	e := ubl.Errorf(ubl.CodeForStatus(status), "%s", msg)
	if status == http.StatusUnprocessableEntity || status == http.StatusBadRequest {
		e = ubl.Errorf(ubl.CodeValidation, envelope.NotAsDescribed)
		e.Details = map[string]string{}
	}
	for _, err := range errs {
		if cut, ok := errors.AsType[*http.MaxBytesError](err); ok {
			return tooLarge(cut.Limit)
		}
		if detail, ok := err.(*huma.ErrorDetail); ok && e.Details != nil {
			if detail.Message == longContent {
				return ubl.Errorf(ubl.CodeTooLarge, "the content is longer than %d characters", ubl.MaxContentChars)
			}
			where, what := finding(detail)
			if detail.Message == validation.MsgUnexpectedProperty {
				what = unexpected(detail.Location, takes)
			}
			if name, ok := strings.CutPrefix(where, "query."); ok && what == missingQuery && query.Has(name) {
				what = "is empty"
			}
			e.Details[where] = what
		}
	}
	switch {
	case e.Code == ubl.CodeValidation && len(e.Details) == 0:
		return invalid("body", msg)
	case e.Code == ubl.CodeInternal: // the only one is a body that ended early
		return invalid("body", "couldn't be read")
	}
	return e
}

// longContent is what huma says of a document's content that is too long: nothing
// else has that limit.
var longContent = fmt.Sprintf(validation.MsgExpectedMaxLength, ubl.MaxContentChars)

// missingQuery is what huma says of a query parameter without a value.
const missingQuery = "required query parameter is missing"

// finding is where huma found something, and what. A member that is missing is the
// place, not a word of the text.
func finding(d *huma.ErrorDetail) (where, what string) {
	before, after, _ := strings.Cut(validation.MsgExpectedRequiredProperty, "%s")
	if name, ok := strings.CutPrefix(d.Message, before); ok && strings.HasSuffix(name, after) {
		return shown(d.Location) + "." + strings.TrimSuffix(name, after), "is missing"
	}
	if d.Message == momentPattern {
		return shown(d.Location), expectedMoment
	}
	return shown(d.Location), d.Message
}

// momentPattern is what huma says of a text that is no moment, and expectedMoment what
// people understand.
var momentPattern = fmt.Sprintf(validation.MsgExpectedMatchPattern, `^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}\.\d{3}Z$`)

const expectedMoment = "expected a moment like 2027-01-01T00:00:00.000Z"

// adapter puts huma's operations on our router, behind the guard.
type adapter struct{ a *API }

func (ad adapter) Handle(op *huma.Operation, handler func(huma.Context)) {
	ad.a.add(op, func(w http.ResponseWriter, r *http.Request) {
		handler(humachi.NewContext(op, r, w))
	})
}

func (ad adapter) ServeHTTP(w http.ResponseWriter, r *http.Request) { ad.a.router.ServeHTTP(w, r) }

// newHuma sets huma up with our errors and decoder and none of its own routes:
// its docs page loads from other hosts, its schemas are not ours.
func newHuma(a *API) huma.API {
	teachHuma()
	cfg := huma.DefaultConfig("UBL", a.Version)
	cfg.OpenAPIPath, cfg.DocsPath, cfg.SchemasPath = "", "", ""
	cfg.CreateHooks = nil // they add $schema to answers
	cfg.Formats = map[string]huma.Format{"application/json": {
		Marshal: func(w io.Writer, v any) error { return json.NewEncoder(w).Encode(v) },
		Unmarshal: func(data []byte, v any) error {
			if err := decode(data, v); err != nil {
				return errors.New(reasonOf(err)) // huma quotes the text
			}
			return nil
		},
	}}
	return huma.NewAPI(cfg, adapter{a})
}

package api

import (
	"cmp"
	"context"
	"maps"
	"mime"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/danielgtaylor/huma/v2"

	"ubl"
	"ubl/transport/envelope"
)

// The largest request bodies in bytes: of most operations, and of those that
// take documents, prompts or arguments of tools.
const (
	maxBody      = 1 << 20
	maxLargeBody = 8 << 20
)

// guard checks what all operations share, before anything is decoded, and
// bounds the body. It reads the operation's description, so that what is
// documented is what is enforced. What it lets through is for the tenant to
// decide, which hears of the tool with the first question.
func guard(o operation, op *huma.Operation, next http.HandlerFunc) http.HandlerFunc {
	var known parameters
	for _, p := range op.Parameters {
		if p.In != "query" {
			continue
		}
		known.names = append(known.names, p.Name)
		if p.Explode != nil && *p.Explode {
			known.lists = append(known.lists, p.Name)
		}
	}
	short := prefixed(op)
	return func(w http.ResponseWriter, r *http.Request) {
		secure(w.Header())
		o.retires.tell(w.Header())
		complete(r, short)
		if err := check(o, op.RequestBody, known, r); err != nil {
			if err.Code == ubl.CodeUnauthorized {
				w.Header().Set("WWW-Authenticate", "Bearer")
			}
			envelope.WriteError(w, r, err)
			return
		}
		r, err := o.conditioned(r)
		if err != nil {
			envelope.WriteError(w, r, err)
			return
		}
		if r.ContentLength < 0 && !o.takesBytes { // a declared length bounds itself
			r.Body = http.MaxBytesReader(w, r.Body, o.maxBody())
		}
		caller := envelope.CallerOf(r.Context())
		caller.Uses(cmp.Or(o.tool, o.uses), o.counts)
		if o.destructive() {
			caller.Destroys()
		}
		next(w, r)
	}
}

// maxBody bounds the operation's body in bytes.
func (o operation) maxBody() int64 {
	if o.large {
		return maxLargeBody
	}
	return maxBody
}

func check(o operation, body *huma.RequestBody, query parameters, r *http.Request) *ubl.Error {
	switch caller := envelope.CallerOf(r.Context()); {
	case caller == nil:
		return ubl.Errorf(ubl.CodeUnauthorized, "the request needs a credential")
	case o.people && caller.Identity.IsService:
		return ubl.Errorf(ubl.CodeForbidden, "this is for people alone: no agent or other service may use it")
	}
	if r.URL.RawQuery != "" {
		if err := checkQuery(query, r.URL.RawQuery); err != nil {
			return err
		}
	}
	if r.Method != http.MethodGet && r.Method != http.MethodHead {
		if err := envelope.CheckKey(r.Header); err != nil {
			return err
		}
	}
	if err := o.checkBody(body, r); err != nil {
		return err
	}
	if o.asks == proof {
		if err := confirmed(r.Context()); err != nil {
			return ubl.AsError(err)
		}
	}
	return nil
}

// confirmed refuses a session whose person hasn't lately proved who they are.
func confirmed(ctx context.Context) error {
	return envelope.CallerOf(ctx).Confirmed(envelope.RequestOf(ctx).At)
}

// parameters are those of an operation's query, and which of them may be given several times.
type parameters struct{ names, lists []string }

// checkQuery refuses parameters that the operation does not have, so that a
// misspelt one is noticed, parameters given twice, of which readers could see
// different ones, and broken texts, which no atom could hold.
func checkQuery(known parameters, raw string) *ubl.Error {
	values, err := url.ParseQuery(raw)
	if err != nil {
		return invalid("query", "not a valid query string")
	}
	for _, name := range slices.Sorted(maps.Keys(values)) {
		given := values[name]
		if !slices.Contains(known.names, name) {
			return invalid(envelope.Under("query", name), "unknown query parameter"+meantOr(name, known.names, "the operation"))
		}
		if len(given) > 1 && !slices.Contains(known.lists, name) {
			return invalid("query."+name, "given more than once")
		}
		if slices.ContainsFunc(given, func(text string) bool { return !utf8.ValidString(text) }) {
			return invalid("query."+name, "not valid UTF-8")
		}
	}
	return nil
}

func (o operation) checkBody(want *huma.RequestBody, r *http.Request) *ubl.Error {
	limit := o.maxBody()
	switch {
	case o.takesBytes && r.Header.Get("Content-Type") != partialType:
		return ubl.Errorf(ubl.CodeUnsupportedMedia, "the body is not declared as %s", partialType)
	case o.takesBytes:
		return nil
	case r.ContentLength == 0:
		return nil // where one is required, the decoder misses it
	case want == nil:
		return invalid("body", "the operation takes no body")
	case r.ContentLength > limit:
		return tooLarge(limit)
	case !isJSON(r.Header["Content-Type"]):
		return ubl.Errorf(ubl.CodeUnsupportedMedia, "the body is not declared as application/json in UTF-8")
	}
	return nil
}

func isJSON(contentType []string) bool {
	if len(contentType) != 1 {
		return false
	}
	if contentType[0] == jsonType[0] {
		return true
	}
	kind, params, err := mime.ParseMediaType(contentType[0])
	if err != nil || kind != jsonType[0] {
		return false
	}
	charset, given := params["charset"]
	return !given || strings.EqualFold(charset, "utf-8")
}

// invalid is the refusal of one part of a request, named as in huma's
// locations: path.roomId, query.limit, body.name.
func invalid(location, reason string) *ubl.Error {
	e := ubl.Errorf(ubl.CodeValidation, envelope.NotAsDescribed)
	e.Details = map[string]string{location: reason}
	return e
}

// shown is a place in a body as an error may repeat it: names that the sender made up
// are shown where they are spelled as the API's own, so that a misspelt one is found.
// Any other could be a value or a secret, and the place ends before it.
func shown(location string) string {
	if !strings.HasPrefix(location, "body.") {
		return location
	}
	names := strings.Split(location, ".")
	for i, name := range names {
		bare, _, _ := strings.Cut(name, "[") // of an index
		if !envelope.PlainName(bare) {
			return strings.Join(names[:i], ".")
		}
	}
	return location
}

func tooLarge(limit int64) *ubl.Error {
	return ubl.Errorf(ubl.CodeTooLarge, "the body is larger than %d bytes", limit)
}

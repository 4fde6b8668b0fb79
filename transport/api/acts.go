package api

import (
	"cmp"
	"context"
	"encoding/json"
	"net/http"
	"slices"

	"ubl"
	"ubl/transport/envelope"
)

// Acts is every operation that is a tool, by name. It needs no [API.Mount].
func (a *API) Acts() []envelope.Act {
	doc := a.rich()
	var out []envelope.Act
	for i := range a.table {
		if t := &a.table[i]; t.tool != "" {
			out = append(out, a.act(t, newForm(doc, t)))
		}
	}
	slices.SortFunc(out, func(x, y envelope.Act) int { return cmp.Compare(x.Name, y.Name) })
	return out
}

// act makes a tool of an operation.
func (a *API) act(t *route, f *form) envelope.Act {
	reads, words, b := t.method == http.MethodGet, t.words(), briefs[t.tool]
	if b != nil {
		f.briefly(b)
	}
	act := envelope.Act{
		Name: t.tool, Title: words.title, Description: words.description,
		Input: f.input, Output: f.output,
		ReadOnly:    reads,
		Destructive: t.destructive(),
		Idempotent:  t.method != http.MethodPost,
		People:      t.people,
		Foreign:     t.foreign,
		Do: func(ctx context.Context, args json.RawMessage) (json.RawMessage, error) {
			if b != nil {
				return a.brief(ctx, t, f, b, args)
			}
			return t.do(ctx, f, args, nil)
		},
	}
	if t.streams != "" {
		act.Stream = func(ctx context.Context, args json.RawMessage, piece func(string)) (json.RawMessage, error) {
			return t.do(ctx, f, args, piece)
		}
	}
	return act
}

// do serves the operation in-process: through the same guard and handler as
// over HTTP.
func (t *route) do(ctx context.Context, f *form, args json.RawMessage, piece func(string)) (json.RawMessage, error) {
	ctx, err := t.enter(ctx)
	if err != nil {
		return nil, err
	}
	r, err := f.request(args)
	if err != nil {
		return nil, err
	}
	return t.serve(ctx, r, piece)
}

// enter has the caller come in for this operation, once it asks for something.
func (t *route) enter(ctx context.Context) (context.Context, error) {
	c := envelope.CallerOf(ctx)
	if c == nil {
		return nil, ubl.Errorf(ubl.CodeUnauthorized, "the request needs a credential")
	}
	return envelope.WithCaller(ctx, c.Anew(t.method != http.MethodGet, t.tool)), nil
}

// serve answers a request that says what the arguments said.
func (t *route) serve(ctx context.Context, r *http.Request, piece func(string)) (json.RawMessage, error) {
	ctx = context.WithValue(ctx, actKey{}, true)
	if key := r.Header.Get(envelope.KeyHeader); key != "" {
		req := *envelope.RequestOf(ctx)
		req.Key = key
		ctx = envelope.WithRequest(ctx, &req)
	}
	if piece != nil {
		ctx = context.WithValue(ctx, pieceKey{}, piece)
	}
	w := &recorder{header: http.Header{}}
	t.handler(w, r.WithContext(ctx))
	return w.answer()
}

type actKey struct{}

// asTool reports whether the operation is done as a tool: by an agent, who may
// follow what a stranger wrote.
func asTool(ctx context.Context) bool { return ctx.Value(actKey{}) != nil }

type pieceKey struct{}

// pieceOf is where an act's answer goes piece by piece; nil where it comes whole.
func pieceOf(ctx context.Context) func(text string) {
	piece, _ := ctx.Value(pieceKey{}).(func(string))
	return piece
}

// recorder is where an operation writes its answer when it is done as an act.
// It belongs to the goroutine of the act.
type recorder struct {
	header http.Header
	status int
	body   []byte
}

// Header implements [http.ResponseWriter].
func (w *recorder) Header() http.Header { return w.header }

// WriteHeader implements [http.ResponseWriter].
func (w *recorder) WriteHeader(status int) { w.status = status }

// Write implements [http.ResponseWriter].
func (w *recorder) Write(p []byte) (int, error) {
	w.body = append(w.body, p...)
	return len(p), nil
}

// answer is the body, or the error in it.
func (w *recorder) answer() (json.RawMessage, error) {
	if w.status < http.StatusBadRequest {
		return w.body, nil
	}
	var body envelope.ErrorBody
	if err := json.Unmarshal(w.body, &body); err != nil {
		return nil, ubl.Errorf(ubl.CodeInternal, "the operation ended without an answer").Because(err)
	}
	e := ubl.Errorf(body.Error.Code, "%s", body.Error.Message)
	if len(body.Error.Details) > 0 {
		e.Details = make(map[string]string, len(body.Error.Details))
		for place, reason := range body.Error.Details {
			e.Details[argument(place)] = reason
		}
	}
	return nil, e
}

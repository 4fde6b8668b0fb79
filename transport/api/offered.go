package api

import (
	"context"
	"maps"
	"net/http"
	"net/url"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/danielgtaylor/huma/v2"
	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"ubl/offer"
	"ubl/transport/envelope"
)

// offered is an operation that a family of actors brings along. Its input is one object:
// where each member comes from follows from the path and the method.
type offered struct {
	offer.Operation
	api    *API
	as     operation
	input  *huma.Schema     // all of it as one object
	keyed  *huma.Schema     // of the idempotency key that a body may hold
	paging *huma.Schema     // of the page that the query of a list may ask for; empty for no list
	places map[string]place // by member
}

// place is where a member of the input stands in a request. One of the query has a type.
type place struct{ in, name, kind string }

func (p place) String() string { return p.in + "." + p.name }

// answerSuffix ends the names of schemas of families' answers.
const answerSuffix = ".answer"

// pathParameter finds those of a path.
var pathParameter = regexp.MustCompile(`\{(\w+)\}`)

// offer adds an operation of a family to the table.
func (a *API) offer(op offer.Operation) {
	components := a.huma.OpenAPI().Components.Schemas
	t := &offered{
		Operation: op, api: a, places: map[string]place{},
		input: components.Schema(op.Input, false, ""), keyed: components.Schema(reflect.TypeFor[KeyBody](), false, ""), paging: &huma.Schema{},
	}
	if op.Part != nil {
		t.paging = components.Schema(reflect.TypeFor[PageQuery](), false, "")
	}
	for _, found := range pathParameter.FindAllStringSubmatch(op.Path, -1) {
		t.places[snake(found[1])] = place{in: "path", name: found[1]}
	}
	family, _, _ := strings.Cut(op.Tool, ".")
	o := operation{
		method: op.Method, path: op.Path, id: strings.ReplaceAll(op.Tool, ".", "-"), tool: op.Tool, tag: family, answers: op.Tool + answerSuffix,
		summary: op.Summary, more: op.More, counts: op.Counts, creates: op.Creates, location: op.Location, destroys: op.Destroys,
		people: op.People,
	}
	if op.Method != http.MethodGet {
		o.asks = nothing
	}
	if op.Sensitive {
		o.asks = proof
	}
	answer := answerSchema(*components.Schema(op.Output, false, ""))
	if op.Part != nil {
		answer.Properties["next_cursor"] = components.Schema(reflect.TypeFor[Paged](), false, "").Properties["next_cursor"]
		answer.Required = append(answer.Required, "next_cursor")
	}
	components.Map()[o.answers] = answer
	if o.creates && o.location == "" {
		panic("say where what " + op.Tool + " makes is")
	}
	t.as = o
	described := o.describe(o.status(), jsonType[0])
	t.describe(&described)
	a.huma.OpenAPI().AddOperation(&described)
	a.add(&described, t.serve)
}

// answerSchema is a schema of an answer, with what every answer has. Other operations may
// take or answer the same type, so it is a copy.
func answerSchema(s huma.Schema) *huma.Schema {
	s.Properties = maps.Clone(s.Properties)
	s.Properties["request_id"] = refTo("ubl.common.v1/$defs/request_id")
	s.Properties["server_time"] = refTo("ubl.common.v1/$defs/time")
	s.Required = append(slices.Clone(s.Required), "request_id", "server_time")
	return &s
}

// describe says where the members of the input stand.
func (t *offered) describe(op *huma.Operation) {
	body := &huma.Schema{Type: huma.TypeObject, AdditionalProperties: false, Properties: map[string]*huma.Schema{}}
	members := maps.Clone(t.input.Properties)
	maps.Copy(members, t.paging.Properties)
	for _, name := range slices.Sorted(maps.Keys(members)) {
		s, required := members[name], slices.Contains(t.input.Required, name)
		at, inPath := t.places[name]
		switch {
		case inPath:
			op.Parameters = append(op.Parameters, &huma.Param{Name: at.name, In: "path", Required: true, Schema: s})
		case t.Method == http.MethodGet:
			t.places[name] = place{"query", name, s.Type}
			op.Parameters = append(op.Parameters, &huma.Param{Name: name, In: "query", Required: required, Schema: s})
		default:
			t.places[name] = place{in: "body", name: name}
			body.Properties[name] = s
			if required {
				body.Required = append(body.Required, name)
			}
		}
	}
	if t.Method == http.MethodGet {
		return
	}
	body.Properties[keyArgument] = t.keyed.Properties[keyArgument]
	op.RequestBody = &huma.RequestBody{Required: len(body.Required) > 0, Content: map[string]*huma.MediaType{jsonType[0]: {Schema: body}}}
}

// serve asks, and writes what the actor answers.
func (t *offered) serve(w http.ResponseWriter, r *http.Request) {
	out, err := t.ask(r.Context(), r)
	if err != nil {
		envelope.WriteError(w, r, err)
		return
	}
	t.as.answer(w, r, t.as.status(), out)
}

func (t *offered) ask(ctx context.Context, r *http.Request) (any, error) {
	var in request
	if err := t.read(r, &in); err != nil {
		return nil, err
	}
	to, cmd := t.Ask(envelope.Command(ctx, in.Key), in.input)
	out, err := t.api.Asker.Ask(ctx, to, cmd)
	switch {
	case err != nil:
		return nil, err
	case t.Part != nil:
		return t.pageOf(in.PageQuery, out)
	case out == nil:
		out = struct{}{}
	}
	return out, nil
}

// request is what somebody asks for: the input, and what isn't the family's business.
type request struct {
	KeyBody
	PageQuery
	input any
}

// read makes out what a request asks for.
func (t *offered) read(r *http.Request, in *request) error {
	given := map[string]jsontext.Value{}
	if r.ContentLength != 0 {
		if err := readBody(r, &given); err != nil {
			return err
		}
		if given == nil {
			return invalid("body", envelope.Mistyped('n', huma.TypeObject))
		}
	}
	for name := range given {
		if at, ok := t.places[name]; ok && at.in != "body" {
			return invalid("body."+name, "belongs into the "+at.in)
		}
	}
	if err := t.take(given, t.keyed, &in.KeyBody); err != nil {
		return err
	}
	query := r.URL.Query()
	for name, at := range t.places {
		switch {
		case at.in == "path":
			given[name] = text(pathValue(r, at.name))
		case at.in == "query" && query.Has(at.name):
			given[name] = literally(at.kind, query.Get(at.name))
		}
	}
	if err := t.take(given, t.paging, &in.PageQuery); err != nil {
		return err
	}
	in.input = reflect.New(t.Input).Interface()
	return t.check(t.input, given, in.input)
}

// take takes out of what is given the members that a schema describes, and decodes them.
func (t *offered) take(given map[string]jsontext.Value, as *huma.Schema, into any) error {
	taken := map[string]jsontext.Value{}
	for name := range as.Properties {
		if value, ok := given[name]; ok {
			taken[name] = value
			delete(given, name)
		}
	}
	if len(taken) == 0 {
		return nil
	}
	return t.check(as, taken, into)
}

// check holds an object against its description, and decodes it.
func (t *offered) check(as *huma.Schema, given map[string]jsontext.Value, into any) error {
	object, err := json.Marshal(given)
	if err != nil {
		return invalid("body", "not valid JSON in UTF-8").Because(err)
	}
	var plain map[string]any
	if err := json.Unmarshal(object, &plain); err != nil {
		return invalid("body", "not valid JSON in UTF-8").Because(err)
	}
	at, found := huma.NewPathBuffer(nil, 0), &huma.ValidateResult{}
	at.Push("body")
	huma.Validate(t.api.huma.OpenAPI().Components.Schemas, as, at, huma.ModeWriteToServer, plain, found)
	if len(found.Errors) > 0 {
		e := translate(http.StatusUnprocessableEntity, "", found.Errors, nil, map[string][]string{"body": slices.Sorted(maps.Keys(as.Properties))})
		details := make(map[string]string, len(e.Details))
		for where, what := range e.Details {
			details[t.where(where)] = what
		}
		e.Details = details
		return e
	}
	return decode(object, into)
}

// where is the place in the request of a place in the input.
func (t *offered) where(location string) string {
	member, ok := strings.CutPrefix(location, "body.")
	name, deeper, _ := strings.Cut(member, ".")
	if at, known := t.places[name]; ok && known && deeper == "" {
		return at.String()
	}
	return location
}

// literally is a text of the query as the type that is expected there, or as it is.
func literally(kind, given string) jsontext.Value {
	switch kind {
	case huma.TypeBoolean:
		if yes, err := strconv.ParseBool(given); err == nil {
			return strconv.AppendBool(nil, yes)
		}
	case huma.TypeInteger:
		if n, err := strconv.ParseInt(given, 10, 64); err == nil {
			return strconv.AppendInt(nil, n, 10)
		}
	}
	return text(given)
}

// text is a JSON string.
func text(s string) jsontext.Value {
	quoted, _ := jsontext.AppendQuote(nil, s) // what is broken in it is replaced, and fails the pattern or isn't found
	return quoted
}

// pathValue is a parameter of the path. The router hands it over as it was sent, still
// escaped where the path held an escape.
func pathValue(r *http.Request, name string) string {
	value := r.PathValue(name)
	if r.URL.RawPath != "" {
		if plain, err := url.PathUnescape(value); err == nil {
			return plain
		}
	}
	return value
}

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
	places map[string]place // by member
}

// place is where a member of the input stands in a request.
type place struct{ in, name string }

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
		input: components.Schema(op.Input, false, ""), keyed: components.Schema(reflect.TypeFor[KeyBody](), false, ""),
	}
	for _, found := range pathParameter.FindAllStringSubmatch(op.Path, -1) {
		t.places[snake(found[1])] = place{"path", found[1]}
	}
	family, _, _ := strings.Cut(op.Tool, ".")
	o := operation{
		method: op.Method, path: op.Path, id: strings.ReplaceAll(op.Tool, ".", "-"), tool: op.Tool, tag: family, answers: op.Tool + answerSuffix,
		summary: op.Summary, more: op.More, counts: op.Counts, creates: op.Creates, location: op.Location, destroys: op.Destroys,
	}
	if op.Method != http.MethodGet {
		o.asks = nothing
	}
	if op.Sensitive {
		o.asks = proof
	}
	components.Map()[o.answers] = answerSchema(*components.Schema(op.Output, false, ""))
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
	for _, name := range slices.Sorted(maps.Keys(t.input.Properties)) {
		s, required := t.input.Properties[name], slices.Contains(t.input.Required, name)
		at, inPath := t.places[name]
		switch {
		case inPath:
			op.Parameters = append(op.Parameters, &huma.Param{Name: at.name, In: "path", Required: true, Schema: s})
		case t.Method == http.MethodGet:
			t.places[name] = place{"query", name}
			op.Parameters = append(op.Parameters, &huma.Param{Name: name, In: "query", Required: required, Schema: s})
		default:
			t.places[name] = place{"body", name}
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
	input, key, err := t.read(r)
	if err != nil {
		return nil, err
	}
	to, cmd := t.Ask(envelope.Command(ctx, key), input)
	out, err := t.api.Asker.Ask(ctx, to, cmd)
	if out == nil {
		out = struct{}{}
	}
	return out, err
}

// read makes the input of a request, and its idempotency key where the body has one.
func (t *offered) read(r *http.Request) (input any, key string, err error) {
	given := map[string]jsontext.Value{}
	if r.ContentLength != 0 {
		if err := readBody(r, &given); err != nil {
			return nil, "", err
		}
	}
	for name := range given {
		if at, ok := t.places[name]; ok && at.in != "body" {
			return nil, "", invalid("body."+name, "belongs into the "+at.in)
		}
	}
	if quoted, ok := given[keyArgument]; ok {
		var in KeyBody
		if err := t.check(t.keyed, map[string]jsontext.Value{keyArgument: quoted}, &in); err != nil {
			return nil, "", err
		}
		key = in.Key
		delete(given, keyArgument)
	}
	query := r.URL.Query()
	for name, at := range t.places {
		switch {
		case at.in == "path":
			given[name] = text(pathValue(r, at.name))
		case at.in == "query" && query.Has(at.name):
			given[name] = t.literal(name, query.Get(at.name))
		}
	}
	input = reflect.New(t.Input).Interface()
	return input, key, t.check(t.input, given, input)
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

// literal is a text of the query as the type that is expected there, or as it is.
func (t *offered) literal(name, given string) jsontext.Value {
	switch t.input.Properties[name].Type {
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

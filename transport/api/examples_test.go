package api

import (
	"bytes"
	"cmp"
	"encoding/json"
	"maps"
	"net/http/httptest"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"
)

// unexampled are operations whose answers are no JSON, or need more than one request.
var unexampled = []string{"append-upload", "read-file", "read-room-file", "get-thumbnail", "get-preview-image", "export-ledger", "export-own-data"}

// ask asks for an operation as somebody would who has read the document.
func (s *server) ask(t *testing.T, name, id string, header ...string) *httptest.ResponseRecorder {
	t.Helper()
	method, path, _ := strings.Cut(name, " ")
	target, who := places.Replace(path), ana
	if q := queries[id]; q != "" {
		target += "?" + q
	}
	if strings.HasPrefix(path, "/api/platform/") {
		who = root
	}
	s.caller = &who
	defer func() { s.caller = nil }()
	w := s.doWith(who, method, target, exampleBody(name), header...)
	s.takeAsked()
	return w
}

// exampleBody is the good body of an operation, with a key where that is all that it may have; "" where it
// takes none.
func exampleBody(name string) string {
	if body, takes := bodies[name]; takes {
		return cmp.Or(body, `{"client_request_id":"order-7-note"}`)
	}
	return ""
}

// TestExamples: the examples in the OpenAPI document are what the operations were asked and
// have answered here, and are valid by the schemas beside them.
func TestExamples(t *testing.T) {
	s := newServer(t)
	c := newContract(t, s)
	made := map[string]example{}
	for name, op := range operations(s) {
		id := op["operationId"].(string)
		if slices.Contains(unexampled, id) {
			continue
		}
		w := s.ask(t, name, id)
		kind := w.Header().Get("Content-Type")
		if w.Code >= 300 || kind != jsonType[0] {
			t.Errorf("%s: answered %d %s %s", name, w.Code, kind, w.Body)
			continue
		}
		method, path, _ := strings.Cut(name, " ")
		c.validate(t, c.promised(t, s, method, places.Replace(path), w.Code, kind), w.Body.Bytes())
		made[id] = example{Request: json.RawMessage(exampleBody(name)), Answer: w.Body.Bytes()}
	}
	text := written(t, made)
	if *update {
		if err := os.WriteFile("examples.json", text, 0o644); err != nil {
			t.Fatal(err)
		}
	} else if !bytes.Equal(text, examplesFile) {
		t.Errorf("the examples differ from examples.json, -update writes them: now\n%s", text)
	}
	checkExamples(t, s, made)
}

func written(t *testing.T, made map[string]example) []byte {
	t.Helper()
	var out bytes.Buffer
	enc := json.NewEncoder(&out)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", " ")
	if err := enc.Encode(made); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

// checkExamples holds each against the flat schema of its place in the document.
func checkExamples(t *testing.T, s *server, made map[string]example) {
	t.Helper()
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(s.api.spec()))
	if err != nil {
		t.Fatal(err)
	}
	compiler := jsonschema.NewCompiler()
	const at = "https://ubl.invalid/openapi.json"
	if err := compiler.AddResource(at, doc); err != nil {
		t.Fatal(err)
	}
	valid := func(place string, data json.RawMessage) {
		schema, err := compiler.Compile(at + "#/paths/" + place)
		if err != nil {
			t.Fatal(err)
		}
		v, err := jsonschema.UnmarshalJSON(bytes.NewReader(data))
		if err == nil {
			err = schema.Validate(v)
		}
		if err != nil {
			t.Errorf("%s: the example %s isn't valid: %v", place, data, err)
		}
	}
	for name, op := range operations(s) {
		e := made[op["operationId"].(string)]
		method, path, _ := strings.Cut(name, " ")
		place := strings.NewReplacer("~", "~0", "/", "~1", "{", "%7B", "}", "%7D").Replace(path) + "/" + strings.ToLower(method) + "/"
		const media = "content/application~1json/schema"
		if len(e.Request) > 0 {
			valid(place+"requestBody/"+media, e.Request)
		}
		for status := range maps.Keys(op["responses"].(map[string]any)) {
			if status[0] == '2' && len(e.Answer) > 0 {
				valid(place+"responses/"+status+"/"+media, e.Answer)
			}
		}
	}
}

// TestEverythingHasAnExample: each body and each good answer in JSON, but those of what needs more than one
// request.
func TestEverythingHasAnExample(t *testing.T) {
	s := newServer(t)
	for name, op := range operations(s) {
		id := op["operationId"].(string)
		lacks := func(place string, content any) {
			media, inJSON := asObject(asObject(content)["content"])[jsonType[0]].(map[string]any)
			if inJSON && media["example"] == nil && !slices.Contains(unexampled, id) {
				t.Errorf("%s: %s has no example", name, place)
			}
		}
		lacks("the body", op["requestBody"])
		for status, r := range op["responses"].(map[string]any) {
			if status[0] == '2' {
				lacks("the answer "+status, r)
			}
		}
	}
}

// TestFlat: the document has what generators of clients take, and nothing else.
func TestFlat(t *testing.T) {
	s := newServer(t)
	doc := parse(s.api.spec())
	for name, schema := range doc["components"].(map[string]any)["schemas"].(map[string]any) {
		flatEnough(t, name, schema)
	}
	for name, op := range operations(s) {
		for _, p := range items[map[string]any](op["parameters"]) {
			flatEnough(t, name, p["schema"])
		}
	}
}

func flatEnough(t *testing.T, place string, v any) {
	t.Helper()
	schema, ok := v.(map[string]any)
	if !ok {
		t.Errorf("%s is no object: %v", place, v)
		return
	}
	for _, k := range []string{"$defs", "if", "then", "else", "not", "const", "dependentRequired", "contains", "patternProperties"} {
		if _, has := schema[k]; has {
			t.Errorf("%s has %s", place, k)
		}
	}
	if _, several := schema["type"].([]any); several {
		t.Errorf("%s has several types", place)
	}
	if ref, ok := schema["$ref"].(string); ok && strings.Contains(strings.TrimPrefix(ref, schemaPlace), "/") {
		t.Errorf("%s refers into a component: %s", place, ref)
	}
	for name, member := range asObject(schema["properties"]) {
		flatEnough(t, place+"."+name, member)
	}
	if list, ok := schema["items"]; ok {
		flatEnough(t, place+"[]", list)
	}
	for _, k := range []string{"anyOf", "oneOf", "allOf"} {
		for _, member := range items[any](schema[k]) {
			flatEnough(t, place+" "+k, member)
		}
	}
}

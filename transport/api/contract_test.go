package api

import (
	"bytes"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"testing"

	"github.com/go-chi/chi/v5"
	"github.com/santhosh-tekuri/jsonschema/v6"

	"ubl/schemas"
)

// base is where the schemas stand for the compiler.
const base = "https://ubl.invalid/schemas/"

// contract validates answers against the schema that the OpenAPI document
// promises for them.
type contract struct {
	spec     map[string]any
	compiler *jsonschema.Compiler
}

func newContract(t testing.TB, s *server) *contract {
	c := &contract{spec: parse(s.api.spec), compiler: jsonschema.NewCompiler()}
	c.compiler.AssertFormat()
	for _, id := range schemas.List() {
		data, _ := schemas.Read(id)
		doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(data))
		if err != nil {
			t.Fatal(err)
		}
		if err := c.compiler.AddResource(base+id, doc); err != nil {
			t.Fatal(err)
		}
	}
	return c
}

// promised is the schema of an answer.
func (c *contract) promised(t testing.TB, s *server, method, target string, status int) string {
	t.Helper()
	ctx := chi.NewRouteContext()
	path, _, _ := strings.Cut(target, "?")
	if !s.router.Match(ctx, method, path) {
		return "ubl.api.error.v1"
	}
	item := c.spec["paths"].(map[string]any)[ctx.RoutePattern()].(map[string]any)
	responses := item[strings.ToLower(method)].(map[string]any)["responses"].(map[string]any)
	response, ok := responses[strconv.Itoa(status)].(map[string]any)
	if !ok {
		t.Fatalf("%s %s answers %d, which is not documented", method, ctx.RoutePattern(), status)
	}
	for _, media := range response["content"].(map[string]any) {
		ref := media.(map[string]any)["schema"].(map[string]any)["$ref"].(string)
		return strings.TrimPrefix(ref, "#/components/schemas/")
	}
	t.Fatalf("%s %s documents no body for %d", method, ctx.RoutePattern(), status)
	return ""
}

// check validates an answer, but for exports, whose lines are checked apart.
func (c *contract) check(t testing.TB, s *server, method, target string, w *httptest.ResponseRecorder) {
	t.Helper()
	if w.Header().Get("Content-Type") == exportType || method == http.MethodHead {
		return
	}
	c.validate(t, c.promised(t, s, method, target, w.Code), w.Body.Bytes())
}

func (c *contract) validate(t testing.TB, id string, data []byte) {
	t.Helper()
	schema, err := c.compiler.Compile(base + id)
	if err != nil {
		t.Fatal(err)
	}
	v, err := jsonschema.UnmarshalJSON(bytes.NewReader(data))
	if err != nil {
		t.Fatalf("%q is no JSON: %v", data, err)
	}
	if err := schema.Validate(v); err != nil {
		t.Errorf("%s is no %s: %v", data, id, err)
	}
}

package api

import (
	"bytes"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/go-chi/chi/v5"
	"github.com/santhosh-tekuri/jsonschema/v6"

	"ubl/schemas"
	"ubl/test/events"
)

// base is where the schemas stand for the compiler.
const base = "https://ubl.invalid/schemas/"

// contract validates answers against the schema that the OpenAPI document
// promises for them.
type contract struct{ spec map[string]any }

// common is the document of servers without a trial: they all have the same, which takes long to
// make under the race detector.
var common struct {
	once sync.Once
	spec map[string]any
}

func newContract(t testing.TB, s *server) *contract {
	t.Helper()
	if s.trial {
		return &contract{parse(s.api.spec())}
	}
	common.once.Do(func() { common.spec = parse(s.api.spec()) })
	return &contract{common.spec}
}

// compiler has the published schemas, and those that were compiled. It is for one at a time.
var compiler struct {
	sync.Mutex
	*jsonschema.Compiler
}

// schemaOf is the published schema of an id.
func schemaOf(t testing.TB, id string) *jsonschema.Schema {
	t.Helper()
	compiler.Lock()
	defer compiler.Unlock()
	if compiler.Compiler == nil {
		c := jsonschema.NewCompiler()
		c.AssertFormat()
		for _, id := range schemas.List() {
			data, _ := schemas.Read(id)
			doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(data))
			if err != nil {
				t.Fatal(err)
			}
			if err := c.AddResource(base+id, doc); err != nil {
				t.Fatal(err)
			}
		}
		compiler.Compiler = c
	}
	schema, err := compiler.Compile(base + id)
	if err != nil {
		t.Fatal(err)
	}
	return schema
}

// promised is the schema of an answer.
func (c *contract) promised(t testing.TB, s *server, method, target string, status int, kind string) string {
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
	media, ok := response["content"].(map[string]any)[kind].(map[string]any)
	if !ok {
		t.Fatalf("%s %s documents no %s for %d", method, ctx.RoutePattern(), kind, status)
	}
	return strings.TrimPrefix(media["schema"].(map[string]any)["$ref"].(string), "#/components/schemas/")
}

// check validates an answer, but for exports, whose lines are checked apart.
func (c *contract) check(t testing.TB, s *server, method, target string, w *httptest.ResponseRecorder) {
	t.Helper()
	kind := w.Header().Get("Content-Type")
	if kind == exportType || method == http.MethodHead {
		return
	}
	id := c.promised(t, s, method, target, w.Code, kind)
	for _, data := range dataOf(kind, w.Body.Bytes()) {
		c.validate(t, id, data)
	}
}

// dataOf is what an answer says: the body, or the data of each event.
func dataOf(kind string, body []byte) [][]byte {
	if kind != streamType {
		return [][]byte{body}
	}
	var out [][]byte
	for e := range events.All(bytes.NewReader(body)) {
		if e.Data != "" {
			out = append(out, []byte(e.Data))
		}
	}
	return out
}

// validate holds an answer against a published schema. Those of families' answers are in the document
// alone: TestToolsAreREST has them.
func (c *contract) validate(t testing.TB, id string, data []byte) {
	t.Helper()
	if strings.HasSuffix(id, answerSuffix) {
		return
	}
	schema := schemaOf(t, id)
	v, err := jsonschema.UnmarshalJSON(bytes.NewReader(data))
	if err != nil {
		t.Fatalf("%q is no JSON: %v", data, err)
	}
	if err := schema.Validate(v); err != nil {
		t.Errorf("%s is no %s: %v", data, id, err)
	}
}

package api

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"
)

// TestPublicExamples: what anyone may read has an example of each answer in JSON, which is valid.
func TestPublicExamples(t *testing.T) {
	s := newServer(t)
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(s.api.spec()))
	if err != nil {
		t.Fatal(err)
	}
	compiler := jsonschema.NewCompiler()
	const at = "https://ubl.invalid/openapi.json"
	if err := compiler.AddResource(at, doc); err != nil {
		t.Fatal(err)
	}
	seen := 0
	for path, item := range parse(s.api.spec())["paths"].(map[string]any) {
		if !strings.HasPrefix(path, public) || strings.HasSuffix(path, "/content") {
			continue
		}
		seen++
		place := strings.NewReplacer("~", "~0", "/", "~1", "{", "%7B", "}", "%7D").Replace(path) + "/get/responses/200/content/application~1json/schema"
		schema, err := compiler.Compile(at + "#/paths/" + place)
		if err != nil {
			t.Fatal(err)
		}
		media := asObject(asObject(asObject(asObject(asObject(item)["get"])["responses"])["200"])["content"])[jsonType[0]]
		text, err := json.Marshal(asObject(media)["example"])
		if err != nil {
			t.Fatal(err)
		}
		example, err := jsonschema.UnmarshalJSON(bytes.NewReader(text))
		if err == nil {
			err = schema.Validate(example)
		}
		if err != nil {
			t.Errorf("%s: the example %s isn't valid: %v", path, text, err)
		}
	}
	if seen != 9 {
		t.Errorf("%d paths have examples", seen)
	}
}

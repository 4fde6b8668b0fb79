package openapi

import (
	"encoding/json"
	"fmt"
	"maps"
	"regexp"
	"strings"

	"github.com/getkin/kin-openapi/openapi3"
	"go.yaml.in/yaml/v4"
)

// within is a reference to what is inside a schema.
var within = regexp.MustCompile(`#/components/schemas/[^"'\s/]+/`)

// load loads a document. References to what is inside a schema, which 3.1 allows, as
// #/components/schemas/Pet/$defs/Name, are rewritten first: the library doesn't resolve all of them.
func load(document []byte) (*openapi3.T, error) {
	if within.Match(document) {
		if flat := flattened(document); flat != nil {
			document = flat
		}
	}
	loader := openapi3.NewLoader()
	loader.IsExternalRefsAllowed = false
	return loader.LoadFromData(document)
}

// flattened is the document as JSON with each such schema beside the others, nil where there is
// none.
func flattened(document []byte) []byte {
	var root any
	if yaml.Unmarshal(document, &root) != nil {
		return nil
	}
	doc, _ := named(root).(map[string]any)
	components, _ := doc["components"].(map[string]any)
	schemas, _ := components["schemas"].(map[string]any)
	f := flat{schemas: schemas, moved: map[string]any{}}
	f.walk(doc)
	if len(f.moved) == 0 {
		return nil
	}
	maps.Copy(schemas, f.moved)
	out, err := json.Marshal(doc)
	if err != nil {
		return nil
	}
	return out
}

type flat struct {
	schemas, moved map[string]any
}

func (f *flat) walk(v any) {
	switch v := v.(type) {
	case []any:
		for _, each := range v {
			f.walk(each)
		}
	case map[string]any:
		for _, each := range v {
			f.walk(each)
		}
		ref, _ := v["$ref"].(string)
		inside, ok := strings.CutPrefix(ref, refThere)
		if !ok || !strings.Contains(inside, "/") {
			return
		}
		var target any = f.schemas
		for part := range strings.SplitSeq(inside, "/") {
			members, _ := target.(map[string]any)
			target = members[strings.NewReplacer("~1", "/", "~0", "~").Replace(part)]
		}
		name := strings.NewReplacer("/", ".", "$", "", "~", "_").Replace(inside)
		if _, isSchema := target.(map[string]any); isSchema && f.schemas[name] == nil {
			f.moved[name] = target
			v["$ref"] = refThere + name
		}
	}
}

// named has all members by texts: the statuses of answers are often numbers in YAML.
func named(v any) any {
	switch v := v.(type) {
	case []any:
		for i := range v {
			v[i] = named(v[i])
		}
	case map[string]any:
		for k := range v {
			v[k] = named(v[k])
		}
	case map[any]any:
		out := make(map[string]any, len(v))
		for k, each := range v {
			out[fmt.Sprint(k)] = named(each)
		}
		return out
	}
	return v
}

package portal_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"ubl"
	"ubl/portal"
)

// TestSchemas holds schemas against arguments: what is refused, and where.
func TestSchemas(t *testing.T) {
	const shared = `{"type":"object","$defs":{"city":{"type":"string","minLength":2},"place":{"type":"object","properties":{"city":{"$ref":"#/$defs/city"}},"required":["city"]}},
		"properties":{"from":{"$ref":"#/$defs/place"},"to":{"$ref":"#/$defs/place"},"via":{"type":"array","items":{"$ref":"#/$defs/city"},"maxItems":2},"class":{"enum":["a","b"]},"n":{"type":["integer","null"]}}}`
	for _, c := range []struct {
		args  string
		place string // "" for none: it fits
		want  string
	}{
		{`{}`, "", ""},
		{`{"from":{"city":"Rio"},"to":{"city":"Ulm"},"via":["Bonn"],"class":"a","n":null}`, "", ""},
		{`{"from":{}}`, "arguments.from", "must have city"},
		{`{"from":{"city":"R"}}`, "arguments.from.city", "must fit the schema's minLength"},
		{`{"via":["Bonn",4]}`, "arguments.via.1", "must be string"},
		{`{"via":["aa","bb","cc"]}`, "arguments.via", "must fit the schema's maxItems"},
		{`{"class":"c"}`, "arguments.class", "must fit the schema's enum"},
		{`{"n":1.5}`, "arguments.n", "must be null or integer"},
		{`{"n":9007199254740993}`, "", ""},
	} {
		err := portal.CheckArguments(`{"inputSchema":`+shared+`}`, []byte(c.args))
		if c.place == "" {
			if err != nil {
				t.Errorf("%s: %v", c.args, err)
			}
			continue
		}
		if e := ubl.AsError(err); err == nil || e.Code != ubl.CodeValidation || e.Details[c.place] != c.want {
			t.Errorf("%s: %v %v", c.args, err, ubl.AsError(err).Details)
		}
	}
}

// TestWhatIsChecked says which schemas are.
func TestWhatIsChecked(t *testing.T) {
	for schema, want := range map[string]bool{
		`{"type":"object"}`: true,
		`{"$schema":"http://json-schema.org/draft-07/schema#","type":"object","definitions":{"a":{"type":"string"}},"properties":{"a":{"$ref":"#/definitions/a"}}}`: true,
		`{"$defs":{"a/b":{"type":"string"}},"properties":{"a":{"$ref":"#/$defs/a~1b"}}}`:                                                                            true,
		`true`: true,
		`{"$defs":{"t":{"properties":{"next":{"$ref":"#/$defs/t"}}}},"$ref":"#/$defs/t"}`: false,
		`{"$ref":"other.json"}`: false,
		`7`:                     false,
		``:                      false,
		`{"allOf":[` + strings.Repeat(`{"allOf":[{},{}]},`, 4000) + `{}]}`: false,

		// Each definition doubles the one after it.
		`{` + doubling(`#/$defs/a%d`) + `,"$ref":"#/$defs/a0"}`:                                false,
		`{` + doubling(`#/$defs/a%d`) + `,"properties":{"definitions":{"$ref":"#/$defs/a0"}}}`: false,
		`{` + doubling(`#/$defs/a%d`) + `,"properties":{"$defs":{"$ref":"#/$defs/a0"}}}`:       false,
		// A reference that another reader decodes leads elsewhere.
		`{` + doubling(`#/$defs/%%61%d`) + `,"properties":{"a":{"$ref":"#/$defs/%610"}}}`: false,
		// A name of its own makes a subschema a document: references in it begin there.
		`{"properties":{"a":{"$id":"urn:x","allOf":[{"$ref":"#/$defs/a0"}],` + doubling(`#/$defs/a%d`) + `}},"$defs":{"a0":{}}}`: false,
		`{"$schema":"http://json-schema.org/draft-04/schema#","properties":{"a":{"id":"urn:x","type":"string"}}}`:                false,
		`{"$id":"https://example.com/a","properties":{"id":{"type":"string"},"$id":{"$ref":"#/properties/id"}}}`:                 true,

		// A pattern costs what it is written out.
		`{"pattern":"^[a-z]{1,64}$"}`:                                            true,
		`{"pattern":"(x{100}){10}"}`:                                             true,
		`{"pattern":"` + strings.Repeat(`x{1000}`, 11) + `"}`:                    false,
		`{"patternProperties":{"` + strings.Repeat(`x{1000}`, 11) + `":true}}`:   false,
		`{"propertyNames":{"pattern":"` + strings.Repeat(`[ab]`, 10_001) + `"}}`: false,
		`{"pattern":"("}`: false,
		// Arguments that are patterns would have to be compiled.
		`{"$schema":"http://json-schema.org/draft-07/schema#","format":"regex"}`: false,
	} {
		if got := portal.Checkable(`{"inputSchema":` + schema + `}`); got != want {
			t.Errorf("%.80s: %v", schema, got)
		}
	}
}

// doubling is sixty definitions, a0 to a59, of which each asks for the next twice,
// and sixty empty ones whose names read as the others' once they are decoded.
func doubling(ref string) string {
	var defs []string
	for i := range 60 {
		next := fmt.Sprintf(ref, i+1)
		defs = append(defs, fmt.Sprintf(`"a%d":{"allOf":[{"$ref":%q},{"$ref":%q}]},"%%61%d":{}`, i, next, next, i))
	}
	return `"$defs":{` + strings.Join(defs, ",") + `,"a60":{},"%6160":{}}`
}

// FuzzSchemas: no schema and no arguments make us fail or take long, and no answer
// quotes a value.
func FuzzSchemas(f *testing.F) {
	f.Add(`{"type":"object","properties":{"a":{"type":"string"}}}`, `{"a":4711}`)
	f.Add(`{"$ref":"#"}`, `{}`)
	f.Add(`{"$defs":{"a":{"$ref":"#/$defs/b"},"b":{"$ref":"#/$defs/a"}},"$ref":"#/$defs/a"}`, `{}`)
	f.Add(`{"pattern":"("}`, `"x"`)
	f.Add(`{"uniqueItems":true,"contains":{"const":1},"unevaluatedItems":false}`, `[1,1]`)
	f.Add(`{"properties":{"__proto__":{"if":true,"then":false}}}`, `{"__proto__":1}`)
	f.Fuzz(func(t *testing.T, schema, args string) {
		began := time.Now()
		err := portal.CheckArguments(`{"inputSchema":`+schema+`}`, []byte(args))
		if took := time.Since(began); took > time.Minute {
			t.Errorf("it took %v", took)
		}
		if err != nil && ubl.CodeOf(err) != ubl.CodeValidation {
			t.Errorf("it failed with %v", err)
		}
	})
}

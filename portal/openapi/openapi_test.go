package openapi_test

import (
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"

	"ubl"
	"ubl/portal/openapi"
)

const pets = `
openapi: 3.0.3
info: {title: Pets, version: "1"}
servers: [{url: "https://elsewhere.example"}]
paths:
  /pets/{petId}:
    parameters:
      - {name: petId, in: path, required: true, schema: {type: string}}
      - {name: X-Trace, in: header, schema: {type: string}}
      - {name: Authorization, in: header, required: true, schema: {type: string}}
    get:
      operationId: showPet
      summary: Shows a pet.
      parameters:
        - {name: fields, in: query, explode: false, schema: {type: array, items: {type: string}}}
      responses:
        "200": {description: ok, content: {application/json: {schema: {$ref: "#/components/schemas/Pet"}}}}
    put:
      summary: Changes a pet.
      requestBody: {required: true, content: {application/json: {schema: {$ref: "#/components/schemas/Pet"}}}}
      responses: {"204": {description: done}}
  /pets:
    get:
      operationId: list pets
      parameters:
        - {name: tag, in: query, schema: {type: array, items: {type: string}}}
        - {name: where, in: query, style: deepObject, schema: {type: object}}
        - {name: limit, in: query, schema: {type: integer, format: int64, minimum: 0, exclusiveMinimum: true, maximum: 9223372036854775807}}
      responses: {"200": {description: ok, content: {application/json: {schema: {type: array, items: {}}}}}}
    post:
      operationId: upload
      requestBody: {required: true, content: {multipart/form-data: {schema: {type: object}}}}
      responses: {"201": {description: ok}}
  /needs-a-cookie:
    get:
      parameters: [{name: sid, in: cookie, required: true, schema: {type: string}}]
      responses: {"200": {description: ok}}
  /../admin:
    get:
      responses: {"200": {description: ok}}
  /unfilled/{x}:
    get:
      responses: {"200": {description: ok}}
components:
  schemas:
    Pet:
      type: object
      required: [name]
      example: {name: Rex}
      x-internal: true
      properties:
        name: {type: string, nullable: true}
        example: {type: string}
        parent: {$ref: "#/components/schemas/Pet"}
`

func read(t *testing.T, document string) map[string]openapi.Operation {
	t.Helper()
	ops, _, err := openapi.Read([]byte(document), "")
	if err != nil {
		t.Fatal(err)
	}
	byName := map[string]openapi.Operation{}
	for _, o := range ops {
		byName[o.Name] = o
	}
	return byName
}

func text(t *testing.T, v any) string {
	t.Helper()
	raw, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(raw)
}

// TestRead: what an operation becomes, and which are left out.
func TestRead(t *testing.T) {
	ops, left, err := openapi.Read([]byte(pets), "x-trace")
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, o := range ops {
		names = append(names, o.Name)
	}
	if want := []string{"list_pets", "showPet", "put_pets_petId"}; !slices.Equal(names, want) || left != 4 {
		t.Fatalf("the operations are %q, and %d are left out", names, left)
	}
	list, show, put := ops[0], ops[1], ops[2]
	if !list.ReadOnly || put.ReadOnly || !put.Idempotent || show.Title != "Shows a pet." || !strings.Contains(show.Description, "GET /pets/{petId}") {
		t.Errorf("they are %+v", ops)
	}
	pet := `{"properties":{"example":{"type":"string"},"name":{"type":["string","null"]},"parent":{"$ref":"#/$defs/Pet"}},"required":["name"],"type":"object"}`
	for _, c := range []struct {
		what      string
		got, want any
	}{
		{"a list's input", list.Input, `{"additionalProperties":false,"properties":{"limit":{"exclusiveMinimum":0,"format":"int64","type":"integer"},"tag":{"items":{"type":"string"},"type":"array"},"where":{"type":"object"}},"type":"object"}`},
		{"what is no object", list.Output, `null`},
		{"an input", show.Input, `{"additionalProperties":false,"properties":{"fields":{"items":{"type":"string"},"type":"array"},"petId":{"type":"string"}},"required":["petId"],"type":"object"}`},
		{"an output", show.Output, `{"$defs":{"Pet":` + pet + `},"properties":{"example":{"type":"string"},"name":{"type":["string","null"]},"parent":{"$ref":"#/$defs/Pet"}},"required":["name"],"type":"object"}`},
		{"a body", put.Input, `{"$defs":{"Pet":` + pet + `},"additionalProperties":false,"properties":{"body":{"$ref":"#/$defs/Pet"},"petId":{"type":"string"}},"required":["petId","body"],"type":"object"}`},
	} {
		if got := text(t, c.got); got != c.want {
			t.Errorf("%s is\n%s\nwant\n%s", c.what, got, c.want)
		}
	}
}

// TestOf31: keywords of OpenAPI 3.1 are those of JSON Schema.
func TestOf31(t *testing.T) {
	ops := read(t, `{"openapi":"3.1.0","info":{"title":"x","version":"1"},"paths":{"/x":{"post":{"operationId":"x","requestBody":{"content":{"application/vnd.x+json":{"schema":
		{"type":["object","null"],"properties":{"a":{"const":1},"b":{"type":"array","prefixItems":[{"type":"string"}]}},"if":{"required":["a"]},"then":{"required":["b"]}}}}},
		"responses":{"200":{"description":"ok"}}}}}}`)
	if got, want := text(t, ops["x"].Input), `{"additionalProperties":false,"properties":{"body":{"if":{"required":["a"]},"properties":{"a":{"const":1},"b":{"prefixItems":[{"type":"string"}],"type":"array"}},"then":{"required":["b"]},"type":["object","null"]}},"type":"object"}`; got != want {
		t.Errorf("the input is\n%s\nwant\n%s", got, want)
	}
}

// TestNestedReferences: a reference to what is inside a schema is one like others.
func TestNestedReferences(t *testing.T) {
	ops := read(t, `
openapi: 3.1.0
info: {title: x, version: "1"}
paths:
  /x:
    post:
      operationId: x
      requestBody: {content: {application/json: {schema: {$ref: "#/components/schemas/a.v1/$defs/b"}}}}
      responses: {200: {description: ok}}
components:
  schemas:
    a.v1: {type: object, $defs: {b: {type: string, minLength: 1}}}
`)
	if got, want := text(t, ops["x"].Input), `{"$defs":{"a.v1.defs.b":{"minLength":1,"type":"string"}},"additionalProperties":false,"properties":{"body":{"$ref":"#/$defs/a.v1.defs.b"}},"type":"object"}`; got != want {
		t.Errorf("the input is\n%s\nwant\n%s", got, want)
	}
}

// TestMake: where arguments go, and which are refused.
func TestMake(t *testing.T) {
	ops := read(t, pets)
	for _, c := range []struct {
		op, base, args string
		want           string // method, URL and body, or what is wrong
	}{
		{"showPet", "https://api.example/v1/", `{"petId":"a/b?c#d e","fields":["x","y"],"X-Trace":"t"}`, `GET https://api.example/v1/pets/a%2Fb%3Fc%23d%20e?fields=x%2Cy`},
		{"showPet", "https://api.example/v1?version=2", `{"petId":7}`, `GET https://api.example/v1/pets/7?version=2`},
		{"showPet", "https://api.example", `{"petId":"{petId}"}`, `GET https://api.example/pets/%7BpetId%7D`},
		{"list_pets", "https://api.example", `{"tag":["a","b&c"],"where":{"z":1,"a":true},"limit":12345678901234567890}`, `GET https://api.example/pets?limit=12345678901234567890&tag=a&tag=b%26c&where%5Ba%5D=true&where%5Bz%5D=1`},
		{"put_pets_petId", "https://api.example", `{"petId":"x","body":{"name":"Rex","n":12345678901234567890}}`, `PUT https://api.example/pets/x {"n":12345678901234567890,"name":"Rex"}`},
		{"showPet", "https://api.example", `{}`, "petId"},
		{"showPet", "https://api.example", `{"petId":".."}`, "petId"},
		{"showPet", "https://api.example", `{"petId":"."}`, "petId"},
		{"showPet", "https://api.example", `{"petId":""}`, "petId"},
		{"showPet", "https://api.example", `{"petId":{"a":1}}`, "petId"},
		{"showPet", "https://api.example", `{"petId":"x","X-Trace":"a\r\nHost: b"}`, "X-Trace"},
		{"showPet", "https://api.example", `[]`, "arguments"},
	} {
		r := ops[c.op].Request
		req, err := r.Make(t.Context(), c.base, []byte(c.args))
		if err != nil {
			if ubl.CodeOf(err) != ubl.CodeValidation || !strings.Contains(err.Error(), c.want) {
				t.Errorf("%s %s: %v", c.op, c.args, err)
			}
			continue
		}
		got := req.Method + " " + req.URL.String()
		if req.Body != nil {
			body, _ := io.ReadAll(req.Body)
			got += " " + string(body)
		}
		if got != c.want {
			t.Errorf("%s %s is %s, want %s", c.op, c.args, got, c.want)
		}
		if strings.Contains(c.args, `"t"`) && req.Header.Get("X-Trace") != "t" {
			t.Errorf("the header is %v", req.Header)
		}
	}
}

// TestHostileDocuments end in an error, or in operations less.
func TestHostileDocuments(t *testing.T) {
	wrap := func(schema string) string {
		return `{"openapi":"3.0.0","info":{"title":"x","version":"1"},"paths":{"/x":{"post":{"operationId":"x","requestBody":{"content":{"application/json":{"schema":` + schema + `}}},"responses":{"200":{"description":"ok"}}}}}}`
	}
	var bomb strings.Builder
	bomb.WriteString("a0: &a0 [x,x,x,x,x,x,x,x,x,x]\n")
	for i := range 12 {
		fmt.Fprintf(&bomb, "a%d: &a%d [%s]\n", i+1, i+1, strings.TrimSuffix(strings.Repeat(fmt.Sprintf("*a%d,", i), 10), ","))
	}
	for name, document := range map[string]string{
		"nothing":          ``,
		"no document":      `[1,2,3]`,
		"of Swagger 2":     `{"swagger":"2.0","paths":{}}`,
		"of a far version": `{"openapi":"4.0.0","info":{"title":"x","version":"1"},"paths":{}}`,
		"another file":     wrap(`{"$ref":"file:///etc/passwd"}`),
		"another page":     wrap(`{"$ref":"http://169.254.169.254/latest#/x"}`),
		"a relative file":  wrap(`{"$ref":"secrets.json#/x"}`),
		"too large":        strings.Repeat(" ", openapi.MaxDocument+1),
		"deep":             wrap(strings.Repeat(`{"items":`, 5000) + `{}` + strings.Repeat(`}`, 5000)),
		"aliases":          bomb.String() + "openapi: 3.0.0\ninfo: {title: x, version: '1'}\n",
	} {
		if ops, _, err := openapi.Read([]byte(document), ""); ubl.CodeOf(err) != ubl.CodeUnavailable {
			t.Errorf("%s is read as %d operations, %v", name, len(ops), err)
		}
	}
	members := make([]string, 2001)
	for i := range members {
		members[i] = fmt.Sprintf(`"m%d":{"type":"object","properties":{"a":{"type":"string"},"b":{"type":"string"}}}`, i)
	}
	if _, _, err := openapi.Read([]byte(wrap(`{"type":"object","properties":{`+strings.Join(members, ",")+`}}`)), ""); ubl.CodeOf(err) != ubl.CodeUnavailable {
		t.Errorf("an object of many members is read: %v", err)
	}
	if ops, left, err := openapi.Read([]byte(wrap(`{"type":"object","properties":{`+strings.Join(members[1:], ",")+`}}`)), ""); len(ops) != 0 || left != 1 || err != nil {
		t.Errorf("a huge schema is %d operations, %d left out, %v", len(ops), left, err)
	}
	paths := make([]string, 1500)
	for i := range paths {
		paths[i] = fmt.Sprintf(`"/p%d":{"get":{"operationId":"same","responses":{"200":{"description":"ok"}}}}`, i)
	}
	ops, _, err := openapi.Read([]byte(`{"openapi":"3.0.0","info":{"title":"x","version":"1"},"paths":{`+strings.Join(paths, ",")+`}}`), "")
	if len(ops) != openapi.MaxOperations || err != nil || ops[1].Name != "same_2" {
		t.Errorf("many paths are %d operations, %v", len(ops), err)
	}
}

package api

import (
	_ "embed"
	"encoding/json"
	"maps"
	"net/http"
	"slices"
	"strings"
)

// What the OpenAPI document says beyond what each operation says of itself: what its tags
// are about, which headers answers have, and an example of each request and answer.

// tags are those of the operations, and what they are about. A family's is its name.
var tags = map[string]string{
	"agreements": "Agreements: who may do what, where, under which terms.",
	"containers": "Containers of credits, documents or links, and transfers between them.",
	"documents":  "Documents with all their versions, in workspaces and other containers.",
	"files":      "Files of any kind and size, and the uploads that bring them.",
	"identity":   "Who the caller is.",
	"ledger":     "The tenant's ledger: receipts, atoms and the export that anyone can verify.",
	"members":    "Who is in a room.",
	"messages":   "Messages of a room, and everything else in its timeline.",
	"platform":   "The server itself, for its operators.",
	"portal":     "Tools: of the server's own and of external MCP servers, who may use them, and what was called.",
	"public":     "What anyone may read without an identity.",
	"rooms":      "Rooms and their policies.",
	"streams":    "Live streams of events (text/event-stream).",
	"tenant":     "The caller's tenant: members, invitations, domains, defaults.",
	"tokens":     "Service tokens, sessions, bearer tokens and passkeys.",
	"workspaces": "Workspaces, and models that work in them.",
}

// headers are those that answers have.
var headers = map[string]struct{ about, kind, example string }{
	"X-Request-Id":     {"Names the request in logs and atoms. It is the client's own where one was sent.", "string", "req_2f6c1e0a"},
	"Location":         {"Where what was made is.", "string", "/api/rooms/r:general"},
	"ETag":             {"The version that is shown. If-None-Match asks whether it is still right; If-Match, on operations that change it, whether it is still this one.", "string", `"v2.5f1c"`},
	"Retry-After":      {"After how many seconds another try is worth it.", "integer", ""},
	"RateLimit-Policy": {"The limits that the request counted for, as in draft-ietf-httpapi-ratelimit-headers-10: q is how many at once, w in how many seconds as many come back.", "string", `"requests-identity";q=2000;w=10`},
	"RateLimit":        {"What is left of each: r is how many more at once, t in how many seconds all of them are back.", "string", `"requests-identity";r=1999;t=1`},
	"WWW-Authenticate": {"How to sign in.", "string", "Bearer"},
}

// furnish adds them to a document.
func (a *API) furnish(doc map[string]any) {
	shown := examples()
	named := map[string]any{}
	for name, h := range headers {
		described := map[string]any{"description": h.about, "schema": map[string]any{"type": h.kind}}
		if h.example != "" {
			described["example"] = h.example
		}
		named[name] = described
	}
	doc["components"].(map[string]any)["headers"] = named
	used := map[string]bool{}
	for path, item := range doc["paths"].(map[string]any) {
		for method, op := range item.(map[string]any) {
			op := op.(map[string]any)
			used[op["tags"].([]any)[0].(string)] = true
			furnishOperation(op, method == "get", !strings.HasPrefix(path, public))
			furnishExamples(op, shown[op["operationId"].(string)])
		}
	}
	var list []any
	for _, name := range slices.Sorted(maps.Keys(used)) {
		about, ok := tags[name]
		if !ok {
			about = "Operations of the family " + name + "."
		}
		list = append(list, map[string]any{"name": name, "description": about})
	}
	doc["tags"] = list
}

func furnishOperation(op map[string]any, reads, signedIn bool) {
	id := op["operationId"].(string)
	if op["description"] == nil {
		op["description"] = op["summary"].(string) + "."
	}
	for _, p := range items[map[string]any](op["parameters"]) {
		if p["schema"].(map[string]any)["deprecated"] == true {
			p["deprecated"] = true
		}
	}
	responses := op["responses"].(map[string]any)
	if versions[id].of != nil && reads {
		responses["304"] = map[string]any{"description": http.StatusText(http.StatusNotModified)}
		op["parameters"] = append(items[any](op["parameters"]), headerParam("If-None-Match", "An ETag: who has that version already gets 304, without a body."))
	}
	for status, r := range responses {
		r := r.(map[string]any)
		of, _ := r["headers"].(map[string]any)
		if of == nil {
			of = map[string]any{}
			r["headers"] = of
		}
		for _, name := range headersOf(id, status, signedIn) {
			of[name] = map[string]any{"$ref": "#/components/headers/" + name}
		}
	}
	if versions[id].conditional {
		op["parameters"] = append(items[any](op["parameters"]), headerParam(matchHeader,
			"An ETag: where what is to be changed is not that version any more, nothing is done (precondition_failed)."))
	}
	if versions[id].begins {
		op["parameters"] = append(items[any](op["parameters"]), headerParam(noneHeader,
			"With *: where there is a record already, nothing is done (precondition_failed)."))
	}
}

func headerParam(name, about string) map[string]any {
	return map[string]any{"name": name, "in": "header", "schema": map[string]any{"type": "string"}, "description": about}
}

// headersOf names those of an operation's answers of a status.
func headersOf(id, status string, signedIn bool) []string {
	names := []string{"X-Request-Id"}
	switch status {
	case "201":
		names = append(names, "Location")
	case "429", "503":
		names = append(names, "Retry-After")
	case "401":
		names = append(names, "WWW-Authenticate")
	}
	if signedIn && (status[0] == '2' || status == "429") {
		names = append(names, "RateLimit-Policy", "RateLimit")
	}
	if versions[id].of != nil && (status[0] == '2' || status == "304") {
		names = append(names, "ETag")
	}
	return names
}

// examplesFile has a request and an answer of operations, by their ids, from the tests.
// "go test ./transport/api -run TestExamples -update" writes it.
//
//go:embed examples.json
var examplesFile []byte

// example is what an operation was asked and has answered.
type example struct {
	Request json.RawMessage `json:"request,omitempty"`
	Answer  json.RawMessage `json:"answer,omitempty"`
}

func examples() map[string]example {
	var all map[string]example
	if err := json.Unmarshal(examplesFile, &all); err != nil {
		panic("examples.json is no JSON: " + err.Error())
	}
	return all
}

func furnishExamples(op map[string]any, e example) {
	put := func(content any, data json.RawMessage) {
		media, ok := asObject(content)[jsonType[0]].(map[string]any)
		if ok && len(data) > 0 {
			media["example"] = data
		}
	}
	put(asObject(op["requestBody"])["content"], e.Request)
	for status, r := range op["responses"].(map[string]any) {
		if status[0] == '2' {
			put(r.(map[string]any)["content"], e.Answer)
		}
	}
}

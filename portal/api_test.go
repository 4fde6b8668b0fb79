package portal_test

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"

	"ubl"
)

const petsDocument = `{"openapi":"3.1.0","info":{"title":"Pets","version":"1"},"paths":{
	"/pets/{id}":{
		"get":{"operationId":"showPet","summary":"Shows\u202e a pet.","parameters":[{"name":"id","in":"path","required":true,"schema":{"type":"string"}}],
			"responses":{"200":{"description":"ok","content":{"application/json":{"schema":{"type":"object","properties":{"id":{"type":"string"}}}}}}}},
		"put":{"operationId":"changePet","parameters":[{"name":"id","in":"path","required":true,"schema":{"type":"string"}},{"name":"X-Key","in":"header","required":true,"schema":{"type":"string"}}],
			"requestBody":{"required":true,"content":{"application/json":{"schema":{"type":"object","required":["name"],"properties":{"name":{"type":"string"}}}}}},
			"responses":{"200":{"description":"ok"}}},
		"post":{"operationId":"form","requestBody":{"required":true,"content":{"text/csv":{}}},"responses":{"200":{"description":"ok"}}}}}}`

// pets is an API with its document. It wants a key, and tells it to whoever asks.
func pets(document *atomic.Value, key string) http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /openapi.json", func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("X-Key") != key {
			w.WriteHeader(http.StatusUnauthorized)
			return
		}
		fmt.Fprint(w, document.Load())
	})
	mux.HandleFunc("/v1/pets/", func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		switch id := strings.TrimPrefix(r.URL.Path, "/v1/pets/"); id {
		case "none":
			w.Header().Set("Content-Type", "application/problem+json")
			w.WriteHeader(http.StatusNotFound)
			fmt.Fprint(w, `{"detail":"no such pet"}`)
		case "busy":
			w.WriteHeader(http.StatusTooManyRequests)
		case "broken":
			w.WriteHeader(http.StatusInternalServerError)
		case "away":
			http.Redirect(w, r, "https://elsewhere.example/", http.StatusFound)
		case "picture":
			w.Header().Set("Content-Type", "image/png")
			fmt.Fprint(w, "png")
		case "bytes":
			w.Header().Set("Content-Type", "application/zip")
			_, _ = w.Write([]byte{0xff, 0xfe})
		case "list":
			w.Header().Set("Content-Type", "application/json")
			fmt.Fprint(w, `[1,2]`)
		case "huge":
			w.Header().Set("Content-Type", "text/plain")
			for range 9 {
				fmt.Fprint(w, strings.Repeat("x", 1<<20))
			}
		case "nothing":
			w.WriteHeader(http.StatusNoContent)
		default:
			w.Header().Set("Content-Type", "application/json")
			said, _ := json.Marshal(map[string]any{"id": id, "method": r.Method, "body": string(body), "key": r.Header.Get("X-Key"), "n": json.Number("12345678901234567890")})
			_, _ = w.Write(said)
		}
	})
	return mux
}

// TestAPI: the operations of an API are tools like others, and its answers are results.
func TestAPI(t *testing.T) {
	const key = "kkkk-secret-kkkk"
	inBubble(t, func(t *testing.T, w *world) {
		var document atomic.Value
		document.Store(petsDocument)
		at := w.network.Start(t, pets(&document, key))
		got := w.add(ubl.Server{ServerID: "pets", Kind: ubl.ServerOpenAPI, URL: at + "/v1", DocumentURL: at + "/openapi.json", Auth: ubl.AuthHeader, Header: "X-Key"}, key)
		if got.Status != ubl.ServerUp || got.Tools != 2 || !strings.HasPrefix(got.Problem, "tools left out: 1 ") {
			t.Fatalf("the server is %+v", got)
		}
		w.refused(ubl.CodeForbidden, "pets.showPet", `{"id":"1"}`)
		w.allow("pets.showPet", "pets.changePet")
		w.sees(w.bob, "pets.changePet", "pets.showPet")
		tools, _ := w.Tools(t.Context(), w.bob)
		if show := string(tools[1].Definition); !strings.Contains(show, `"readOnlyHint":true`) || !strings.Contains(show, `Shows a pet.`) || !strings.Contains(show, `"outputSchema"`) {
			t.Errorf("the tool is %s", show)
		}
		if change := string(tools[0].Definition); strings.Contains(change, `"readOnlyHint":true`) || strings.Contains(change, "X-Key") {
			t.Errorf("the tool is %s", change)
		}

		r := w.must("pets.showPet", `{"id":"a/b"}`)
		if got, want := string(r.Structured), `{"body":"","id":"a/b","key":"[secret]","method":"GET","n":12345678901234567890}`; got != want {
			t.Errorf("the answer is %s", got)
		}
		if r.Foreign != "pets" || r.IsError || r.Receipt.Seq == 0 {
			t.Errorf("the result is %+v", r)
		}
		r = w.must("pets.changePet", `{"id":"1","body":{"name":"Rex"}}`)
		if !strings.Contains(string(r.Structured), `"body":"{\"name\":\"Rex\"}"`) || !strings.Contains(string(r.Structured), `"method":"PUT"`) {
			t.Errorf("the answer is %s", r.Structured)
		}
		w.refused(ubl.CodeValidation, "pets.changePet", `{"id":"1","body":{}}`)
		w.refused(ubl.CodeValidation, "pets.showPet", `{"id":".."}`)
		w.refused(ubl.CodeValidation, "pets.showPet", `{"id":"1","other":1}`)
		for _, c := range []struct {
			id, content string
			failed      bool
		}{
			{"none", `[{"text":"HTTP 404 Not Found","type":"text"},{"text":"{\"detail\":\"no such pet\"}","type":"text"}]`, true},
			{"broken", `[{"text":"HTTP 500 Internal Server Error","type":"text"}]`, true},
			{"picture", `[{"data":"cG5n","mimeType":"image/png","type":"image"}]`, false},
			{"bytes", `[{"resource":{"blob":"//4=","mimeType":"application/zip","uri":"answer:body"},"type":"resource"}]`, false},
			{"list", `[{"text":"[1,2]","type":"text"}]`, false},
			{"nothing", `[{"text":"HTTP 204 No Content","type":"text"}]`, false},
		} {
			r := w.must("pets.showPet", fmt.Sprintf(`{"id":%q}`, c.id))
			if got := canonical(t, r.Content); got != c.content || r.IsError != c.failed || r.Structured != nil {
				t.Errorf("%s is answered %s, %s, failed %v", c.id, got, r.Structured, r.IsError)
			}
		}
		w.refused(ubl.CodeRateLimited, "pets.showPet", `{"id":"busy"}`)
		w.refused(ubl.CodeUnavailable, "pets.showPet", `{"id":"away"}`)
		w.refused(ubl.CodeUnavailable, "pets.showPet", `{"id":"huge"}`)
		if row := w.log()[0]; row.Capability != "pets.showPet" || row.Status != "error" || row.Server != "pets" {
			t.Errorf("the log has %+v", row)
		}

		// Where an operation is asked for is pinned: a document that has it elsewhere changes nothing,
		// until an owner approves that.
		document.Store(strings.Replace(petsDocument, `"/pets/{id}"`, `"/v2/pets/{id}"`, 1))
		if after, err := w.Sync(t.Context(), w.house.Request(w.owner), true, "pets"); err != nil || after.Held != 2 {
			t.Fatalf("the server is %+v, %v", after, err)
		}
		w.refused(ubl.CodeForbidden, "pets.showPet", `{"id":"1"}`)
		document.Store(petsDocument)
		if after, err := w.Sync(t.Context(), w.house.Request(w.owner), true, "pets"); err != nil || after.Held != 0 {
			t.Fatalf("the server is %+v, %v", after, err)
		}
		w.must("pets.showPet", `{"id":"1"}`)
		w.house.VerifyLedger(w.owner.TenantID)
	})
}

// TestAPIDocumentElsewhere: a document on another server is read without the API's key, and what
// can't be read is why the server is down.
func TestAPIDocumentElsewhere(t *testing.T) {
	const key = "kkkk-secret-kkkk"
	inBubble(t, func(t *testing.T, w *world) {
		var document atomic.Value
		document.Store(petsDocument)
		api := w.network.Start(t, pets(&document, key))
		var told atomic.Bool
		var answer atomic.Value
		answer.Store(petsDocument)
		other := w.network.Start(t, http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
			told.Store(told.Load() || r.Header.Get("X-Key") != "")
			fmt.Fprint(rw, answer.Load())
		}))
		w.add(ubl.Server{ServerID: "pets", Kind: ubl.ServerOpenAPI, URL: api + "/v1", DocumentURL: other, Auth: ubl.AuthHeader, Header: "X-Key"}, key)
		w.allow("pets.showPet")
		w.must("pets.showPet", `{"id":"1"}`)
		if told.Load() {
			t.Error("the key was sent to the document's server")
		}
		for _, c := range []struct{ document, problem string }{
			{"<html>", "OpenAPI 3.0 or 3.1"},
			{strings.Repeat(" ", 3<<20), "larger than 2 MiB"},
			{strings.Replace(petsDocument, `{"type":"string"}`, `{"$ref":"`+other+`/x#/y"}`, 1), "refers to other documents"},
		} {
			answer.Store(c.document)
			if got, err := w.Sync(t.Context(), w.house.Request(w.owner), true, "pets"); err != nil || got.Status != ubl.ServerDown || !strings.Contains(got.Problem, c.problem) {
				t.Errorf("the server is %+v, %v: want %q", got, err, c.problem)
			}
		}
		w.must("pets.showPet", `{"id":"1"}`) // what is pinned needs no document
	})
}

// TestAPIServers: what an owner may set of an API.
func TestAPIServers(t *testing.T) {
	w := newWorld(t, allowHTTP)
	for place, s := range map[string]ubl.Server{
		"document_url":   {Kind: ubl.ServerOpenAPI},
		"document_url:":  {DocumentURL: "https://a.example/openapi.json"},
		"document_url::": {Kind: ubl.ServerOpenAPI, DocumentURL: "https://a.example/openapi.json?api_key=abc"},
		"kind":           {Kind: "soap"},
		"auth":           {Kind: ubl.ServerOpenAPI, DocumentURL: "https://a.example/openapi.json", Auth: ubl.AuthUser},
	} {
		s.ServerID, s.Name, s.URL = "pets", "Pets", "https://a.example"
		if s.Auth == "" {
			s.Auth = ubl.AuthNone
		}
		_, err := w.Add(t.Context(), w.house.Request(w.owner), true, s, "")
		if want := strings.Trim(place, ":"); ubl.CodeOf(err) != ubl.CodeValidation || !strings.HasPrefix(ubl.AsError(err).Message, want+":") {
			t.Errorf("%s: %v", place, err)
		}
	}
}

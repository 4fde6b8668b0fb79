package api

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/go-chi/chi/v5"
	"github.com/santhosh-tekuri/jsonschema/v6"

	"ubl"
	"ubl/schemas"
)

// TestRefusalsOfActors keep their codes, and say when to come back where it is
// a matter of load.
func TestRefusalsOfActors(t *testing.T) {
	refusals := []error{
		ubl.Errorf(ubl.CodeNotAMember, "not a member"), ubl.Errorf(ubl.CodeForbidden, "owners only"),
		ubl.Errorf(ubl.CodeNotFound, "no such room"), ubl.Errorf(ubl.CodeConflict, "taken"),
		ubl.Errorf(ubl.CodeIdempotencyConflict, "another body"), ubl.Errorf(ubl.CodeTooLarge, "too long"),
		ubl.Errorf(ubl.CodeOverloaded, "busy"), ubl.Errorf(ubl.CodeUnavailable, "closed"), ubl.Errorf(ubl.CodeRateLimited, "slow down").Later(37 * time.Second),
		fmt.Errorf("a secret cause"), io.ErrUnexpectedEOF,
	}
	s := newServer(t)
	for _, s.refuse = range refusals {
		for _, request := range []string{"GET /api/rooms", "POST /api/rooms", "POST /api/rooms/r:general/messages",
			"GET /api/rooms/r:general/history", "GET /api/export", "GET /api/agreements", "DELETE /api/tokens/jti-1"} {
			method, target, _ := strings.Cut(request, " ")
			w := s.do(method, target, bodies[strings.Replace(request, "r:general", "{roomId}", 1)])
			want := ubl.CodeOf(s.refuse)
			if got := codeIn(t, w); got != want || w.Code != want.Status() {
				t.Errorf("%s: answered %d %s for %v", request, w.Code, got, s.refuse)
			}
			after := map[ubl.Code]string{ubl.CodeOverloaded: "1", ubl.CodeUnavailable: "1", ubl.CodeRateLimited: "37"}[want]
			if got := w.Header().Get("Retry-After"); got != after {
				t.Errorf("%s: %s has Retry-After %q, want %q", request, want, got, after)
			}
			if strings.Contains(w.Body.String(), "secret") {
				t.Errorf("%s: the answer shows the cause: %s", request, w.Body)
			}
		}
	}
}

// TestRepeatedServiceToken has no secret to show: only its hash was kept.
func TestRepeatedServiceToken(t *testing.T) {
	s := newServer(t)
	c := newContract(t, s)
	s.known = &ubl.ServiceToken{ClientID: "earlier", Name: "bot", UserID: "u:svc", CreatedAt: now, CreatedBy: "u:ana"}
	w := s.do("POST", "/api/service-tokens", `{"name":"bot"}`)
	c.check(t, s, "POST", "/api/service-tokens", w)
	if w.Code != http.StatusCreated || !strings.Contains(w.Body.String(), `"client_secret":null`) ||
		!strings.Contains(w.Body.String(), `"client_id":"earlier"`) {
		t.Errorf("answered %d %s", w.Code, w.Body)
	}
}

// TestRepeatedInvitation has no link to show: only the hash of its secret was kept.
func TestRepeatedInvitation(t *testing.T) {
	s := newServer(t)
	c := newContract(t, s)
	s.invited = "i:earlier"
	w := s.do("POST", "/api/invitations", `{"email":"eve@else.org"}`)
	c.check(t, s, "POST", "/api/invitations", w)
	if w.Code != http.StatusCreated || !strings.Contains(w.Body.String(), `"link":null`) || !strings.Contains(w.Body.String(), `"id":"i:earlier"`) {
		t.Errorf("answered %d %s", w.Code, w.Body)
	}
}

// TestService has a caller without an address.
func TestService(t *testing.T) {
	s := newServer(t)
	bot := ubl.Identity{UserID: "u:bot", TenantID: "t:acme.com", IsService: true}
	s.actors.caller = &bot
	w := s.serve(as(httptest.NewRequest("GET", "/api/whoami", nil), bot))
	newContract(t, s).check(t, s, "GET", "/api/whoami", w)
	if !strings.Contains(w.Body.String(), `"email":null`) || !strings.Contains(w.Body.String(), `"expires_at":null`) {
		t.Errorf("answered %s", w.Body)
	}
}

// TestAgreementsListLeavesOutWhatIsGone has a caller who left the room while the
// list was put together.
func TestAgreementsListLeavesOutWhatIsGone(t *testing.T) {
	s := newServer(t)
	leaving := &leavingActors{actors: s.actors}
	s.api.Asker = leaving
	w := s.do("GET", "/api/agreements", "")
	if w.Code != http.StatusOK || strings.Contains(w.Body.String(), "a:room:r:general") || !strings.Contains(w.Body.String(), "a:tenant:t:acme.com") {
		t.Errorf("answered %d %s", w.Code, w.Body)
	}
}

func TestExport(t *testing.T) {
	s := newServer(t)
	c := newContract(t, s)
	for _, sends := range []int{0, 1, 250, 251, 600} {
		s.atoms = chain(sends)
		w := s.do("GET", "/api/export", "")
		got, err := ubl.Verify(bytes.NewReader(w.Body.Bytes()), ubl.VerifyOptions{Head: s.head().HeadHash})
		if err != nil || got.Atoms != int64(2*sends) {
			t.Fatalf("the export of %d sends does not verify: %v %+v", sends, err, got)
		}
		header, rest, _ := strings.Cut(w.Body.String(), "\n")
		c.validate(t, "ubl.export.header.v2", []byte(header))
		if line, _, _ := strings.Cut(rest, "\n"); line != "" {
			c.validate(t, "ubl.export.line.v1", []byte(line))
		}
	}
	if w := s.do("HEAD", "/api/export", ""); w.Body.Len() > 0 || w.Header().Get("Content-Type") != exportType {
		t.Errorf("HEAD answers %v %q", w.Header(), w.Body)
	}
}

// TestExportThatFails before its first line is refused in the envelope, and
// after it cuts the connection: it must not look whole.
func TestExportThatFails(t *testing.T) {
	s := newServer(t)
	s.atoms = chain(600)
	s.failFrom = 1
	if w := s.do("GET", "/api/export", ""); codeIn(t, w) != ubl.CodeUnavailable {
		t.Errorf("answered %s", w.Body)
	}
	s.failFrom = 501
	defer func() {
		if recover() != http.ErrAbortHandler {
			t.Error("an export that failed half-way was not cut")
		}
	}()
	s.do("GET", "/api/export", "")
}

// TestExportThatMeetsDamage has all before it, and ends with a line that says where it
// is; it doesn't verify.
func TestExportThatMeetsDamage(t *testing.T) {
	s := newServer(t)
	s.atoms = chain(600)
	s.damagedAt = 700
	body := s.do("GET", "/api/export", "").Body.Bytes()
	lines := bytes.SplitAfter(body, []byte("\n"))
	why, broken := ubl.BrokenExport(lines[len(lines)-2])
	if !broken || why != "atom 700 can't be read: stored data is damaged" || len(lines) != 702 {
		t.Errorf("%d lines, the last says %q", len(lines), why)
	}
	if _, err := ubl.Verify(bytes.NewReader(body), ubl.VerifyOptions{}); err == nil || !strings.Contains(err.Error(), "the export ends at damage: "+why) {
		t.Errorf("verified with %v", err)
	}
}

// TestOpenAPI has every route described, every reference answered, and every
// schema compiled.
func TestOpenAPI(t *testing.T) {
	s := newServer(t)
	w := s.serve(httptest.NewRequest("GET", "/api/openapi.json", nil))
	spec := parse(w.Body.Bytes())
	if w.Code != http.StatusOK || spec["openapi"] != "3.1.0" {
		t.Fatalf("answered %d, OpenAPI %v", w.Code, spec["openapi"])
	}
	described := operations(s)
	err := chi.Walk(s.router, func(method, route string, _ http.Handler, _ ...func(http.Handler) http.Handler) error {
		path := strings.TrimSuffix(strings.Replace(route, "/*/", "/", 1), "/*")
		if method == "HEAD" || path == "/schemas" || Public(httptest.NewRequest("GET", path, nil)) {
			return nil
		}
		if _, ok := described[method+" "+path]; !ok {
			t.Errorf("%s %s is not described", method, path)
		}
		delete(described, method+" "+path)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	for name := range described {
		t.Errorf("%s is described and not served", name)
	}
	ids := map[any]bool{}
	for name, op := range operations(s) {
		if ids[op["operationId"]] || op["operationId"] == "" {
			t.Errorf("%s has no operationId of its own", name)
		}
		ids[op["operationId"]] = true
		if _, takes := bodies[name]; takes != (op["requestBody"] != nil) && !bringsBytes(op) {
			t.Errorf("%s takes a body: %t; bodies (bad_input_test.go) has one: %t", name, !takes, takes)
		}
	}
	compileComponents(t, spec)
}

func compileComponents(t *testing.T, spec map[string]any) {
	t.Helper()
	data, _ := json.Marshal(spec)
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(data))
	if err != nil {
		t.Fatal(err)
	}
	compiler := jsonschema.NewCompiler()
	if err := compiler.AddResource("https://ubl.invalid/openapi.json", doc); err != nil {
		t.Fatal(err)
	}
	components := spec["components"].(map[string]any)["schemas"].(map[string]any)
	for name := range components {
		if _, err := compiler.Compile("https://ubl.invalid/openapi.json#/components/schemas/" + name); err != nil {
			t.Errorf("%s doesn't compile: %v", name, err)
		}
	}
	for ref := range strings.SplitSeq(string(data), `"$ref":"`) {
		if ref, _, _ = strings.Cut(ref, `"`); strings.HasPrefix(ref, "#/components/schemas/") {
			name, _, _ := strings.Cut(strings.TrimPrefix(ref, "#/components/schemas/"), "/")
			if components[name] == nil {
				t.Errorf("%s refers to nothing", ref)
			}
		}
	}
}

func TestDocsLoadNothingFromElsewhere(t *testing.T) {
	s := newServer(t)
	for _, path := range []string{"/api/docs", "/api/docs/docs.js", "/api/docs/docs.css"} {
		w := s.serve(httptest.NewRequest("GET", path, nil))
		if w.Code != http.StatusOK || !Public(httptest.NewRequest("GET", path, nil)) || !strings.Contains(w.Header().Get("Content-Security-Policy"), "default-src 'none'") {
			t.Errorf("%s answers %d %v", path, w.Code, w.Header())
		}
		if strings.Contains(w.Body.String(), "//cdn") || strings.Contains(w.Body.String(), "https://") {
			t.Errorf("%s names another host", path)
		}
	}
}

// TestDocsShowEveryMethod: white letters on no colour are nothing in the light theme.
func TestDocsShowEveryMethod(t *testing.T) {
	s := newServer(t)
	css := s.serve(httptest.NewRequest("GET", "/api/docs/docs.css", nil)).Body.String()
	var doc struct {
		Paths map[string]map[string]json.RawMessage
	}
	if err := json.Unmarshal(s.serve(httptest.NewRequest("GET", "/api/openapi.json", nil)).Body.Bytes(), &doc); err != nil {
		t.Fatal(err)
	}
	for path, item := range doc.Paths {
		for method := range item {
			if !strings.Contains(css, "."+method+" { background: ") {
				t.Errorf("%s of %s has no colour", method, path)
			}
		}
	}
}

func TestSchemas(t *testing.T) {
	s := newServer(t)
	var list struct {
		Schemas []schemaEntry `json:"schemas"`
	}
	w := s.serve(httptest.NewRequest("GET", "/schemas/", nil))
	if err := json.Unmarshal(w.Body.Bytes(), &list); err != nil || len(list.Schemas) != len(schemas.List()) {
		t.Fatalf("the list is %s: %v", w.Body, err)
	}
	for _, e := range list.Schemas {
		for _, path := range []string{e.URL, "/schemas/" + e.ID} {
			if w := s.serve(httptest.NewRequest("GET", path, nil)); w.Code != http.StatusOK || parse(w.Body.Bytes())["$id"] != e.ID {
				t.Errorf("%s answers %d %s", path, w.Code, w.Body)
			}
		}
	}
	for _, path := range []string{"/schemas/nothing", "/schemas/..%2fapi.go", "/schemas/a/b"} {
		if w := s.serve(httptest.NewRequest("GET", path, nil)); codeIn(t, w) != ubl.CodeNotFound {
			t.Errorf("%s answers %s", path, w.Body)
		}
	}
	if w := s.serve(httptest.NewRequest("POST", "/schemas/", nil)); codeIn(t, w) != ubl.CodeMethodNotAllowed {
		t.Errorf("POST answers %s", w.Body)
	}
}

// TestServersSideBySide are built while others answer.
func TestServersSideBySide(t *testing.T) {
	for i := range 4 {
		t.Run(fmt.Sprint(i), func(t *testing.T) {
			t.Parallel()
			s := newServer(t)
			s.expect(t, "a bad name", s.do("POST", "/api/rooms", `{"name":7}`), ubl.CodeValidation)
		})
	}
}

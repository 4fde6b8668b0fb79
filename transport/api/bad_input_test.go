package api

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"ubl"
)

// bodies has a good body for every operation that takes one; "" where it may
// be absent. The test fails for an operation that is missing here.
var bodies = map[string]string{
	"PATCH /api/tenant/defaults":                 `{"retention_days":30}`,
	"PATCH /api/tenant/members/{userId}":         `{"role":"owner"}`,
	"POST /api/agreements/{agreementId}/end":     ``,
	"POST /api/rooms":                            `{"name":"Launch"}`,
	"PATCH /api/rooms/{roomId}/policy":           `{"retention_days":30}`,
	"POST /api/rooms/{roomId}/members":           `{"user_id":"u:bob"}`,
	"PATCH /api/rooms/{roomId}/members/{userId}": `{"role":"owner"}`,
	"POST /api/rooms/{roomId}/join":              ``,
	"POST /api/rooms/{roomId}/leave":             ``,
	"POST /api/rooms/{roomId}/messages":          `{"type":"text","body":{"text":"hello"}}`,
	"POST /api/service-tokens":                   `{"name":"bot"}`,
}

// places fills a path's parameters with good values.
var places = strings.NewReplacer("{roomId}", "r:general", "{userId}", "u:bob", "{agreementId}", "a:room:r:general",
	"{seq}", "1", "{clientId}", "c1", "{jti}", "jti-1", "{nodeId}", "n1")

// operations lists what the OpenAPI document has, without the streams and the
// backup, which other packages serve.
func operations(s *server) map[string]map[string]any {
	out := map[string]map[string]any{}
	for path, item := range parse(s.api.spec)["paths"].(map[string]any) {
		for method, op := range item.(map[string]any) {
			if !strings.HasPrefix(path, "/api/events") && path != "/api/platform/backup" {
				out[strings.ToUpper(method)+" "+path] = op.(map[string]any)
			}
		}
	}
	return out
}

// expect sends nothing but checks an answer: its code, its headers, that no
// actor was asked, and that nothing secret of the request came back.
func (s *server) expect(t *testing.T, what string, w *httptest.ResponseRecorder, code ubl.Code) {
	t.Helper()
	if got := codeIn(t, w); got != code || w.Code != code.Status() {
		t.Errorf("%s: answered %d %s, want %d %s: %s", what, w.Code, got, code.Status(), code, w.Body)
	}
	if strings.Contains(w.Body.String(), "s3cr3t") {
		t.Errorf("%s: the answer echoes what was sent: %s", what, w.Body)
	}
	if w.Header().Get("Cache-Control") != "no-store" || w.Header().Get("X-Content-Type-Options") != "nosniff" {
		t.Errorf("%s: headers are missing: %v", what, w.Header())
	}
	if asked := s.takeAsked(); len(asked) > 0 {
		t.Errorf("%s: an actor was asked: %q", what, asked)
	}
}

// TestEveryOperationRefuses what none may accept.
func TestEveryOperationRefuses(t *testing.T) {
	s := newServer(t)
	c := newContract(t, s)
	for name := range operations(s) {
		t.Run(name, func(t *testing.T) {
			method, pattern, _ := strings.Cut(name, " ")
			target, good := places.Replace(pattern), bodies[name]
			refused := func(what string, code ubl.Code, target, body string, header ...string) {
				t.Helper()
				w := s.do(method, target, body, header...)
				s.expect(t, what, w, code)
				c.check(t, s, method, target, w)
			}
			s.expect(t, "nobody", s.serve(httptest.NewRequest(method, target, nil)), ubl.CodeUnauthorized)
			refused("an unknown parameter", ubl.CodeValidation, target+"?s3cr3t=1", good)
			refused("a broken query", ubl.CodeValidation, target+"?%zz", good)
			if method != http.MethodGet {
				refused("a long key", ubl.CodeValidation, target, good, "Idempotency-Key", strings.Repeat("s3c", 43))
				refused("a key of other characters", ubl.CodeValidation, target, good, "Idempotency-Key", "s3cr3t\tkey")
				refused("a key of 129 characters", ubl.CodeValidation, target, good, "Idempotency-Key", strings.Repeat("k", 129))
			}
			if _, takes := bodies[name]; !takes {
				refused("a body", ubl.CodeValidation, target, `{"s3cr3t":1}`)
				return
			}
			for what, bad := range badBodies(good) {
				refused(what, bad.code, target, bad.body)
			}
			if good != "" {
				refused("no body", ubl.CodeValidation, target, "")
			}
			refused("another media type", ubl.CodeUnsupportedMedia, target, "{}", "Content-Type", "text/plain")
			refused("a form", ubl.CodeUnsupportedMedia, target, "{}", "Content-Type", "application/x-www-form-urlencoded")
			refused("another charset", ubl.CodeUnsupportedMedia, target, "{}", "Content-Type", "application/json; charset=latin1")
			refused("no media type", ubl.CodeUnsupportedMedia, target, "{}", "Content-Type", "")
		})
	}
}

type badBody struct {
	body string
	code ubl.Code
}

// badBodies are a good body spoilt in every way that none may accept.
func badBodies(good string) map[string]badBody {
	if good == "" {
		good = `{"client_request_id":"k1"}`
	}
	start := strings.TrimSuffix(good, "}")
	key := func(v string) badBody { return badBody{start + `,"client_request_id":` + v + `}`, ubl.CodeValidation} }
	if strings.Contains(good, "client_request_id") {
		key = func(v string) badBody { return badBody{`{"client_request_id":` + v + `}`, ubl.CodeValidation} }
	}
	bad := func(body string) badBody { return badBody{body, ubl.CodeValidation} }
	name := good[strings.Index(good, `"`)+1:]
	name = name[:strings.Index(name, `"`)]
	return map[string]badBody{
		"no JSON":                   bad(`s3cr3t`),
		"half an object":            bad(start),
		"an array":                  bad(`["s3cr3t"]`),
		"null":                      bad(`null`),
		"a string":                  bad(`"s3cr3t"`),
		"trailing data":             bad(good + `{"s3cr3t":1}`),
		"an unknown member":         bad(start + `,"s3cr3t":1}`),
		"a member twice":            bad(start + `,` + good[1:]),
		"a member in another case":  bad(strings.Replace(good, name, strings.ToUpper(name), 1)),
		"a member in both cases":    bad(start + `,"` + strings.ToUpper(name) + `":"s3cr3t"}`),
		"a number for a key":        key(`7`),
		"an empty key":              key(`""`),
		"a key of 129 characters":   key(`"` + strings.Repeat("k", 129) + `"`),
		"a key with a control":      key(`"s3cr3t\u0007"`),
		"a key with broken UTF-8":   key("\"k\xff\""),
		"a key that is half a pair": key(`"\ud800"`),
		"a huge body":               {`{"` + strings.Repeat("s3cr3t", maxBody/6+1) + `":1}`, ubl.CodeTooLarge},
		"a deep body":               bad(strings.Repeat(`[`, 100_000)),
	}
}

// TestBadInput has what is particular to one operation.
func TestBadInput(t *testing.T) {
	const (
		messages = "POST /api/rooms/r:general/messages"
		history  = "GET /api/rooms/r:general/history"
		policy   = "PATCH /api/rooms/r:general/policy"
		defaults = "PATCH /api/tenant/defaults"
		members  = "POST /api/rooms/r:general/members"
		tokens   = "POST /api/service-tokens"
	)
	text := func(s string) string {
		b, _ := json.Marshal(s)
		return `{"type":"text","body":{"text":` + string(b) + `}}`
	}
	tests := []struct {
		name, request, body string
		code                ubl.Code
	}{
		{"a room id without its prefix", "GET /api/rooms/s3cr3t", "", ubl.CodeValidation},
		{"a room id of another kind", "GET /api/rooms/u:s3cr3t", "", ubl.CodeValidation},
		{"a room id that is too long", "GET /api/rooms/r:" + strings.Repeat("x", 129), "", ubl.CodeValidation},
		{"a room id with a slash", "GET /api/rooms/r%3Aa%2Fb", "", ubl.CodeValidation},
		{"a room id with a bar, as in an actor's name", "GET /api/rooms/r:a%7Cledger%7C0", "", ubl.CodeValidation},
		{"a room id of broken UTF-8", "GET /api/rooms/r:%FF", "", ubl.CodeValidation},
		{"messages of no room id", "POST /api/rooms/s3cr3t/messages", text("hi"), ubl.CodeValidation},
		{"messages of a room id with a bar", "POST /api/rooms/r:a%7Cb/messages", text("hi"), ubl.CodeValidation},
		{"history of no room id", "GET /api/rooms/u:s3cr3t/history", "", ubl.CodeValidation},
		{"a user id without its prefix", "DELETE /api/tenant/members/s3cr3t", "", ubl.CodeValidation},
		{"a user id without its prefix in a room", "PATCH /api/rooms/r:general/members/s3cr3t", `{"role":"owner"}`, ubl.CodeValidation},
		{"an Agreement id without its prefix", "GET /api/agreements/s3cr3t", "", ubl.CodeValidation},
		{"an Agreement of another tenant", "POST /api/agreements/a:tenant:t:s3cr3t/end", "", ubl.CodeNotFound},
		{"an Agreement of no room", "GET /api/agreements/a:room:x", "", ubl.CodeNotFound},
		{"a client id of other characters", "DELETE /api/service-tokens/s3cr3t%20", "", ubl.CodeValidation},
		{"a jti of other characters", "DELETE /api/tokens/s3cr3t%20", "", ubl.CodeValidation},

		{"seq 0", "GET /api/receipts/0", "", ubl.CodeValidation},
		{"a seq below it", "GET /api/receipts/-1", "", ubl.CodeValidation},
		{"a seq that is no number", "GET /api/receipts/s3cr3t", "", ubl.CodeValidation},
		{"a seq beyond 2^53-1", "GET /api/receipts/9007199254740992", "", ubl.CodeValidation},
		{"a seq beyond 64 bits", "GET /api/receipts/92233720368547758070", "", ubl.CodeValidation},
		{"from 0", "GET /api/atoms?from=0", "", ubl.CodeValidation},
		{"from no number", "GET /api/atoms?from=s3cr3t", "", ubl.CodeValidation},
		{"501 atoms", "GET /api/atoms?limit=501", "", ubl.CodeValidation},
		{"no atoms", "GET /api/atoms?limit=0", "", ubl.CodeValidation},
		{"101 Agreements", "GET /api/agreements?limit=101", "", ubl.CodeValidation},
		{"a cursor that is no Agreement", "GET /api/agreements?cursor=s3cr3t", "", ubl.CodeValidation},
		{"details that are neither", "GET /api/rooms?details=s3cr3t", "", ubl.CodeValidation},
		{"a cursor that is no number", history + "?cursor=s3cr3t", "", ubl.CodeValidation},
		{"cursor 0", history + "?cursor=0", "", ubl.CodeValidation},
		{"a cursor below it", history + "?cursor=-5", "", ubl.CodeValidation},
		{"a cursor beyond 64 bits", history + "?cursor=92233720368547758070", "", ubl.CodeValidation},
		{"a cursor with a fraction", history + "?cursor=1.5", "", ubl.CodeValidation},
		{"201 messages", history + "?limit=201", "", ubl.CodeValidation},
		{"no messages", history + "?limit=0", "", ubl.CodeValidation},
		{"two limits", history + "?limit=1&limit=2", "", ubl.CodeValidation},

		{"a system message", messages, `{"type":"system","body":{"text":"s3cr3t"}}`, ubl.CodeForbidden},
		{"a message of another type", messages, `{"type":"s3cr3t","body":{"text":"hi"}}`, ubl.CodeValidation},
		{"a message of no type", messages, `{"body":{"text":"hi"}}`, ubl.CodeValidation},
		{"a message without a body", messages, `{"type":"text"}`, ubl.CodeValidation},
		{"a message with a null body", messages, `{"type":"text","body":null}`, ubl.CodeValidation},
		{"a message without a text", messages, `{"type":"text","body":{}}`, ubl.CodeValidation},
		{"an empty text", messages, text(""), ubl.CodeValidation},
		{"a text that is a number", messages, `{"type":"text","body":{"text":7}}`, ubl.CodeValidation},
		{"a text of 8,001 bytes", messages, text(strings.Repeat("x", 8001)), ubl.CodeTooLarge},
		{"a text of 8,001 bytes in 2,667 characters", messages, text(strings.Repeat("会", 2667)), ubl.CodeTooLarge},
		{"a text of broken UTF-8", messages, "{\"type\":\"text\",\"body\":{\"text\":\"s3cr3t\xff\"}}", ubl.CodeValidation},
		{"a text with half a surrogate pair", messages, `{"type":"text","body":{"text":"s3cr3t\ud83d"}}`, ubl.CodeValidation},
		{"a text with the other half", messages, `{"type":"text","body":{"text":"\ude00"}}`, ubl.CodeValidation},
		{"a text with a control character", messages, "{\"type\":\"text\",\"body\":{\"text\":\"a\nb\"}}", ubl.CodeValidation},
		{"an unknown member of the body", messages, `{"type":"text","body":{"text":"hi","s3cr3t":1}}`, ubl.CodeValidation},
		{"the body's text twice", messages, `{"type":"text","body":{"text":"hi","text":"ho"}}`, ubl.CodeValidation},
		{"the body's text in another case", messages, `{"type":"text","body":{"Text":"hi"}}`, ubl.CodeValidation},
		{"a reply to no message", messages, `{"type":"text","body":{"text":"hi"},"reply_to":"s3cr3t"}`, ubl.CodeValidation},
		{"a reply to a number", messages, `{"type":"text","body":{"text":"hi"},"reply_to":7}`, ubl.CodeValidation},
		{"an empty reply", messages, `{"type":"text","body":{"text":"hi"},"reply_to":""}`, ubl.CodeValidation},

		{"a room of no name", "POST /api/rooms", `{}`, ubl.CodeValidation},
		{"a room of a null name", "POST /api/rooms", `{"name":null}`, ubl.CodeValidation},
		{"a room of an empty name", "POST /api/rooms", `{"name":""}`, ubl.CodeValidation},
		{"a room of a blank name", "POST /api/rooms", `{"name":"  "}`, ubl.CodeValidation},
		{"a room of a name with a newline", "POST /api/rooms", `{"name":"s3cr3t\n"}`, ubl.CodeValidation},
		{"a room of a long name", "POST /api/rooms", `{"name":"` + strings.Repeat("会", 129) + `"}`, ubl.CodeValidation},
		{"a room of a number", "POST /api/rooms", `{"name":7}`, ubl.CodeValidation},
		{"a policy that changes nothing", policy, `{}`, ubl.CodeValidation},
		{"a policy of a key alone", policy, `{"client_request_id":"k1"}`, ubl.CodeValidation},
		{"a retention of less than nothing", policy, `{"retention_days":-1}`, ubl.CodeValidation},
		{"a retention of ages", policy, `{"retention_days":36501}`, ubl.CodeValidation},
		{"a retention of half a day", policy, `{"retention_days":0.5}`, ubl.CodeValidation},
		{"a retention in words", policy, `{"retention_days":"s3cr3t"}`, ubl.CodeValidation},
		{"a larger message than the largest", policy, `{"max_message_bytes":8001}`, ubl.CodeValidation},
		{"no message at all", policy, `{"max_message_bytes":0}`, ubl.CodeValidation},
		{"a number beyond any", policy, `{"max_message_bytes":1e400}`, ubl.CodeValidation},
		{"another join rule", policy, `{"join":"s3cr3t"}`, ubl.CodeValidation},
		{"defaults that change nothing", defaults, `{}`, ubl.CodeValidation},
		{"a default retention of less than nothing", defaults, `{"retention_days":-1}`, ubl.CodeValidation},
		{"defaults of a room's policy", defaults, `{"join":"tenant"}`, ubl.CodeValidation},

		{"an invitation of nobody", members, `{}`, ubl.CodeValidation},
		{"an invitation by id and address", members, `{"user_id":"u:bob","email":"bob@acme.com"}`, ubl.CodeValidation},
		{"an invitation of no user id", members, `{"user_id":"s3cr3t"}`, ubl.CodeValidation},
		{"an invitation as king", members, `{"user_id":"u:bob","role":"s3cr3t"}`, ubl.CodeValidation},
		{"a role that is none", "PATCH /api/tenant/members/u:bob", `{"role":"s3cr3t"}`, ubl.CodeValidation},
		{"a role that is null", "PATCH /api/rooms/r:general/members/u:bob", `{"role":null}`, ubl.CodeValidation},

		{"a token of no name", tokens, `{}`, ubl.CodeValidation},
		{"a token of a blank name", tokens, `{"name":" "}`, ubl.CodeValidation},
		{"a token that ends on no day", tokens, `{"name":"bot","expires_at":"2027-02-30T00:00:00.000Z"}`, ubl.CodeValidation},
		{"a token that ends in another form", tokens, `{"name":"bot","expires_at":"2027-01-01"}`, ubl.CodeValidation},
		{"a token with a secret of one's own", tokens, `{"name":"bot","client_secret":"s3cr3t"}`, ubl.CodeValidation},

		{"a path of nothing", "GET /api/s3cr3t", "", ubl.CodeNotFound},
		{"the root", "GET /api/", "", ubl.CodeNotFound},
		{"a slash too many", "GET /api/rooms/", "", ubl.CodeNotFound},
		{"another method", "PUT /api/rooms", "", ubl.CodeMethodNotAllowed},
		{"another method of a path with a parameter", "DELETE /api/rooms/r:general", "", ubl.CodeMethodNotAllowed},
	}
	s := newServer(t)
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			method, target, _ := strings.Cut(test.request, " ")
			s.expect(t, test.name, s.do(method, target, test.body), test.code)
		})
	}
}

func TestTextAtTheLimit(t *testing.T) {
	s := newServer(t)
	for name, text := range map[string]string{
		"8,000 letters":                      strings.Repeat("x", 8000),
		"2,666 characters of three bytes":    strings.Repeat("会", 2666) + "xx",
		"2,000 characters of four bytes":     strings.Repeat("😀", 2000),
		"8,000 bytes escaped to 48,000":      strings.Repeat("\x01", 8000),
		"a NUL, which is a character as any": "a\x00b",
	} {
		body, _ := json.Marshal(map[string]any{"type": "text", "body": map[string]string{"text": text}})
		if w := s.do("POST", "/api/rooms/r:general/messages", string(body)); w.Code != http.StatusCreated {
			t.Errorf("%s: answered %d %s", name, w.Code, w.Body)
		}
	}
}

// TestChunkedBody has a body whose length is not known beforehand.
func TestChunkedBody(t *testing.T) {
	s := newServer(t)
	for target, huge := range map[string]string{
		"/api/rooms":                    `{"name":"` + strings.Repeat("x", maxBody) + `"}`,
		"/api/rooms/r:general/messages": `{"type":"` + strings.Repeat("x", maxBody) + `"}`,
	} {
		r := httptest.NewRequest("POST", target, strings.NewReader(huge))
		r.ContentLength = -1
		r.Header.Set("Content-Type", "application/json")
		s.expect(t, target, s.serve(as(r, ana)), ubl.CodeTooLarge)
	}
}

func TestMethodNotAllowedSaysWhichAre(t *testing.T) {
	s := newServer(t)
	for target, want := range map[string]string{
		"/api/rooms":                           "GET, HEAD, POST",
		"/api/rooms/r:general/members/u%3Abob": "DELETE, PATCH",
		"/api/openapi.json":                    "GET, HEAD",
	} {
		if got := s.do("PUT", target, "").Header().Get("Allow"); got != want {
			t.Errorf("PUT %s allows %q, want %q", target, got, want)
		}
	}
}

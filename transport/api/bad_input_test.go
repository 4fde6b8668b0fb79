package api

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"ubl"
)

// bodies has a good body for every operation that takes one; "" where it may
// be absent. The test fails for an operation that is missing here.
var bodies = map[string]string{
	"PATCH /api/tenant/defaults":                         `{"retention_days":30}`,
	"PATCH /api/tenant/members/{userId}":                 `{"role":"owner"}`,
	"POST /api/agreements/{agreementId}/end":             ``,
	"POST /api/agreements/{agreementId}/heir":            `{"user_id":"u:bob"}`,
	"PUT /api/agreements/{agreementId}/heir":             `{"user_id":"u:bob"}`,
	"PUT /api/agreements/{agreementId}/proposal":         `{"terms":{"permits":[{"did":"agreement.*","to":["owners"]}]}}`,
	"POST /api/agreements/{agreementId}/proposal/accept": `{"terms_hash":"b:cbbbdcd27692344de5dbab3abcaba413fb0f45307267de7081401576df1cb176"}`,
	"POST /api/domains":                                  `{"domain":"corp.example"}`,
	"POST /api/domains/{domain}/verify":                  ``,
	"POST /api/invitations":                              `{"email":"eve@else.org"}`,
	"POST /api/rooms":                                    `{"name":"Launch"}`,
	"POST /api/dms":                                      `{"with":["u:bob"]}`,
	"PATCH /api/rooms/{roomId}/about":                    `{"topic":"All about the launch"}`,
	"PATCH /api/rooms/{roomId}/policy":                   `{"retention_days":30}`,
	"POST /api/rooms/{roomId}/read":                      `{"read_seq":41}`,
	"POST /api/me/presence":                              `{"present":true}`,
	"POST /api/rooms/{roomId}/typing":                    `{"typing":true}`,
	"POST /api/rooms/{roomId}/calls":                     ``,
	"POST /api/rooms/{roomId}/calls/{callId}/callers":    `{"session":"phone-4711","servers":true,"signals":[{"to":"desk-0815","data":"{}"}]}`,
	"POST /api/rooms/{roomId}/calls/{callId}/end":        ``,
	"POST /api/rooms/{roomId}/members":                   `{"user_id":"u:bob"}`,
	"PATCH /api/rooms/{roomId}/members/{userId}":         `{"role":"owner"}`,
	"POST /api/rooms/{roomId}/join":                      ``,
	"POST /api/rooms/{roomId}/leave":                     ``,
	"POST /api/rooms/{roomId}/messages":                  `{"type":"text","body":{"text":"hello"}}`,
	"POST /api/rooms/{roomId}/entries":                   `{"body":{"content_type":"application/mls-ciphertext","bytes":"AAEC"}}`,
	"POST /api/rooms/{roomId}/uploads":                   `{"name":"x.txt","bytes":9}`,
	"POST /api/service-tokens":                           `{"name":"bot"}`,
	"PUT /api/service-tokens/{clientId}/mandate":         `{"tools":["messenger.*"]}`,
	"POST /api/service-tokens/{clientId}/renew":          `{"new_secret":true}`,

	"POST /api/rooms/{roomId}/entries/{entryId}/edits":     `{"text":"hello!"}`,
	"POST /api/rooms/{roomId}/entries/{entryId}/reactions": `{"reaction":"👍"}`,
	"POST /api/rooms/{roomId}/entries/{entryId}/redaction": ``,
	"POST /api/rooms/{roomId}/entries/{entryId}/pin":       `{"pinned":true}`,
	"POST /api/rooms/{roomId}/polls":                       `{"question":"Where?","options":["Here","There"]}`,
	"POST /api/rooms/{roomId}/polls/{pollId}/votes":        `{"choices":[1]}`,
	"POST /api/rooms/{roomId}/polls/{pollId}/end":          ``,
	"POST /api/rooms/{roomId}/forms":                       `{"text":"May I?","fields":[{"name":"ok","label":"OK","type":"button","options":["Yes","No"]}]}`,
	"POST /api/rooms/{roomId}/forms/{formId}/answers":      `{"values":{"ok":"Yes"}}`,

	"POST /api/workspaces":                                       `{"name":"Plans"}`,
	"POST /api/workspaces/{workspaceId}/complete":                `{"prompt":"Say hello"}`,
	"POST /api/workspaces/{workspaceId}/documents":               `{"title":"Plan","content":"All of it"}`,
	"POST /api/workspaces/{workspaceId}/publish":                 `{"documents":[{"type":"pattern","id":"cells","path":"patterns/cells.md","title":"Cells","content":"All of it"}]}`,
	"PATCH /api/workspaces/{workspaceId}/documents/{documentId}": `{"content":"More of it"}`,
	"PUT /api/kinds/{kind}":                                      `{"physics":{"fungibility":"versioned","topology":"objects","permeability":"collaborative","execution":"sandboxed"}}`,
	"POST /api/workspaces/{workspaceId}/files":                   `{"name":"x.txt","text":"All of it"}`,
	"POST /api/workspaces/{workspaceId}/uploads":                 `{"name":"x.txt","bytes":9}`,
	"POST /api/containers":                                       `{"kind":"wallet","name":"Cash"}`,
	"POST /api/containers/{containerId}/members":                 `{"user_id":"u:bob"}`,
	"PATCH /api/containers/{containerId}/members/{userId}":       `{"role":"owner"}`,
	"POST /api/containers/{containerId}/leave":                   ``,
	"POST /api/containers/{containerId}/transfer":                `{"to":"k:till","amount":5}`,
	"POST /api/containers/{containerId}/credits":                 `{"amount":5}`,

	"POST /api/portal/servers":                 `{"server_id":"weather","name":"Weather","url":"https://mcp.example.com/mcp"}`,
	"PATCH /api/portal/servers/{serverId}":     `{"disabled":true}`,
	"POST /api/portal/servers/{serverId}/sync": ``,
	"POST /api/portal/discover":                `{"registry_url":"https://registry.example.com"}`,
	"PUT /api/portal/tools/{tool}/access":      `{"allowed":true}`,
	"POST /api/portal/tools/{tool}/approve":    `{"hash":"b:cbbbdcd27692344de5dbab3abcaba413fb0f45307267de7081401576df1cb176"}`,
	"POST /api/portal/tools/{tool}/call":       `{"arguments":{"city":"Lisbon"}}`,
	"PATCH /api/portal/budget":                 `{"tokens_per_day":100000,"requests_per_minute":60}`,
	"POST /api/dead-letters/redrive":           `{"subject":"r:general","key":"retention"}`,
	"POST /api/dead-letters/discard":           `{"subject":"r:general","key":"retention"}`,

	"PATCH /api/me/notifications":            `{"keywords":["launch"],"quiet":{"from":"22:00","to":"07:00","zone":"Europe/Berlin"}}`,
	"PATCH /api/me/rooms/{roomId}":           `{"level":"all","favourite":true}`,
	"POST /api/me/push-key":                  ``,
	"POST /api/me/devices":                   `{"name":"Firefox on Linux","endpoint":"https://push.example/abc","p256dh":"BCVxsr7N","auth":"BTBZMqHH"}`,
	"DELETE /api/me/devices/{deviceId}":      ``,
	"POST /api/me/reminders":                 `{"room_id":"r:general","msg_id":"m:1","at":"2026-11-22T09:00:00.000Z"}`,
	"DELETE /api/me/reminders/{reminderId}":  ``,
	"POST /api/me/scheduled":                 `{"room_id":"r:general","text":"Good morning","at":"2026-11-23T09:00","rule":"FREQ=WEEKLY;COUNT=10"}`,
	"PATCH /api/me/scheduled/{scheduledId}":  `{"text":"Good morning, all"}`,
	"DELETE /api/me/scheduled/{scheduledId}": ``,

	"POST /api/webhooks":                                     `{"name":"Build server","url":"https://hooks.example/ubl","rooms":["r:general"]}`,
	"PATCH /api/webhooks/{webhookId}":                        `{"paused":true}`,
	"DELETE /api/webhooks/{webhookId}":                       ``,
	"POST /api/webhooks/{webhookId}/rotate":                  ``,
	"POST /api/webhooks/{webhookId}/test":                    ``,
	"POST /api/webhooks/{webhookId}/deliveries/{deliveryId}": ``,
}

// places fills a path's parameters with good values.
var places = strings.NewReplacer("{roomId}", "r:general", "{entryId}", string(saidID), "{userId}", "u:bob", "{agreementId}", "a:room:r:general",
	"{seq}", "1", "{clientId}", "c1", "{invitationId}", "i:1", "{domain}", "corp.example", "{jti}", "jti-1", "{passkeyId}", string(passkey.ID), "{nodeId}", "n1", "{workspaceId}", "w:general", "{documentId}", "d:1",
	"{pollId}", string(pollID), "{callId}", "41", "{formId}", string(formID), "{fileId}", "f:1", "{number}", "0", "{uploadId}", string(uploadID),
	"{containerId}", "k:cash", "{kind}", "case", "{serverId}", "weather", "{tool}", "weather.forecast",
	"{deviceId}", device.DeviceID, "{reminderId}", reminder.ReminderID, "{scheduledId}", weekly.ScheduledID, "{webhookId}", hook.WebhookID, "{deliveryId}", delivery.DeliveryID)

// elsewhere are paths that the OpenAPI document has and other packages serve,
// and those that are served without a guard.
var elsewhere = []string{"/api/events", "/api/events/rooms/{roomId}", "/api/portal/logs/live", "/api/platform/backup", "/api" + callbackPath}

// bringsBytes reports whether an operation takes bytes instead of JSON.
func bringsBytes(op map[string]any) bool {
	body, _ := op["requestBody"].(map[string]any)
	content, _ := body["content"].(map[string]any)
	return content[partialType] != nil
}

// operations lists what the OpenAPI document has, without what is elsewhere.
func operations(s *server) map[string]map[string]any {
	out := map[string]map[string]any{}
	for path, item := range parse(s.api.spec())["paths"].(map[string]any) {
		for method, op := range item.(map[string]any) {
			if !slices.Contains(elsewhere, path) && !strings.HasPrefix(path, public) {
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
	for name, op := range operations(s) {
		if bringsBytes(op) {
			continue // TestHostileUploads has it
		}
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
			refused("an unknown parameter", ubl.CodeValidation, target+"?s3cr3t-x=1", good)
			refused("a broken query", ubl.CodeValidation, target+"?%zz", good)
			if method != http.MethodGet {
				refused("a long key", ubl.CodeValidation, target, good, "Idempotency-Key", strings.Repeat("s3c", 43))
				refused("a key of other characters", ubl.CodeValidation, target, good, "Idempotency-Key", "s3cr3t\tkey")
				refused("a key of 129 characters", ubl.CodeValidation, target, good, "Idempotency-Key", strings.Repeat("k", 129))
			}
			_, takes := bodies[name]
			if described := op["requestBody"] != nil; takes != described {
				t.Fatalf("it takes a body: %t; bodies has one: %t", described, takes)
			}
			if !takes {
				refused("a body", ubl.CodeValidation, target, `{"s3cr3t":1}`)
				return
			}
			for what, bad := range badBodies(good, s.limit(method, pattern)) {
				refused(what, bad.code, target, bad.body)
			}
			if needs, _ := op["requestBody"].(map[string]any)["required"].(bool); needs {
				refused("no body", ubl.CodeValidation, target, "")
			}
			refused("another media type", ubl.CodeUnsupportedMedia, target, "{}", "Content-Type", "text/plain")
			refused("a form", ubl.CodeUnsupportedMedia, target, "{}", "Content-Type", "application/x-www-form-urlencoded")
			refused("another charset", ubl.CodeUnsupportedMedia, target, "{}", "Content-Type", "application/json; charset=latin1")
			refused("no media type", ubl.CodeUnsupportedMedia, target, "{}", "Content-Type", "")
		})
	}
}

// limit is how large a body of the operation may be.
func (s *server) limit(method, pattern string) int64 {
	i := slices.IndexFunc(s.api.table, func(t route) bool { return t.method == method && "/api"+t.path == pattern })
	return s.api.table[i].maxBody()
}

type badBody struct {
	body string
	code ubl.Code
}

// badBodies are a good body spoilt in every way that none may accept.
func badBodies(good string, limit int64) map[string]badBody {
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
		"an unknown member":         bad(start + `,"s3cr3t-x":1}`),
		"a member twice":            bad(start + `,` + good[1:]),
		"a member in another case":  bad(strings.Replace(good, name, strings.ToUpper(name), 1)),
		"a member in both cases":    bad(start + `,"` + strings.ToUpper(name) + `":"s3cr3t"}`),
		"a number for a key":        key(`7`),
		"an empty key":              key(`""`),
		"a key of 129 characters":   key(`"` + strings.Repeat("k", 129) + `"`),
		"a key with a control":      key(`"s3cr3t\u0007"`),
		"a key with broken UTF-8":   key("\"k\xff\""),
		"a key that is half a pair": key(`"\ud800"`),
		"a huge body":               {`{"` + strings.Repeat("s3cr3t", int(limit)/6+1) + `":1}`, ubl.CodeTooLarge},
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

		documents = "POST /api/workspaces/w:general/documents"
		document  = "GET /api/workspaces/w:general/documents/d:1"
		update    = "PATCH /api/workspaces/w:general/documents/d:1"
		search    = "GET /api/workspaces/w:general/search"
		complete  = "POST /api/workspaces/w:general/complete"
		transfer  = "POST /api/containers/k:cash/transfer"
		servers   = "POST /api/portal/servers"
		access    = "PUT /api/portal/tools/weather.forecast/access"
		call      = "POST /api/portal/tools/weather.forecast/call"
	)
	text := func(s string) string {
		b, _ := json.Marshal(s)
		return `{"type":"text","body":{"text":` + string(b) + `}}`
	}
	tests := []struct {
		name, request, body string
		code                ubl.Code
	}{
		{"a room id of other letters", "GET /api/rooms/s3cr3t%20", "", ubl.CodeValidation},
		{"a room id of another kind", "GET /api/rooms/u:s3cr3t", "", ubl.CodeValidation},
		{"a room id that is too long", "GET /api/rooms/r:" + strings.Repeat("x", 129), "", ubl.CodeValidation},
		{"a room id with a slash", "GET /api/rooms/r%3Aa%2Fb", "", ubl.CodeValidation},
		{"a room id with a bar, as in an actor's name", "GET /api/rooms/r:a%7Cledger%7C0", "", ubl.CodeValidation},
		{"a room id of broken UTF-8", "GET /api/rooms/r:%FF", "", ubl.CodeValidation},
		{"messages of no room id", "POST /api/rooms/u:s3cr3t/messages", text("hi"), ubl.CodeValidation},
		{"messages of a room id with a bar", "POST /api/rooms/r:a%7Cb/messages", text("hi"), ubl.CodeValidation},
		{"history of no room id", "GET /api/rooms/u:s3cr3t/history", "", ubl.CodeValidation},
		{"a user id without its prefix", "DELETE /api/tenant/members/s3cr3t", "", ubl.CodeValidation},
		{"a user id without its prefix in a room", "PATCH /api/rooms/r:general/members/s3cr3t", `{"role":"owner"}`, ubl.CodeValidation},
		{"an Agreement id without its prefix", "GET /api/agreements/s3cr3t", "", ubl.CodeValidation},
		{"the end of the record about a tool of our own", "POST /api/agreements/a:tool:messenger.send/end", "", ubl.CodeConflict},
		{"an Agreement of another tenant", "POST /api/agreements/a:tenant:t:s3cr3t/end", "", ubl.CodeNotFound},
		{"an Agreement of no room", "GET /api/agreements/a:room:x", "", ubl.CodeNotFound},
		{"a client id of other characters", "DELETE /api/service-tokens/s3cr3t%20", "", ubl.CodeValidation},
		{"a passkey of no such form", "DELETE /api/passkeys/p:s3cr3t", "", ubl.CodeValidation},
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
		{"senders that are neither", history + "?senders=s3cr3t", "", ubl.CodeValidation},
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
		{"an unknown member of the body", messages, `{"type":"text","body":{"text":"hi","s3cr3t-x":1}}`, ubl.CodeValidation},
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
		{"a retention of a day in hours", policy, `{"retention_hours":24}`, ubl.CodeValidation},
		{"a retention of less than no hours", policy, `{"retention_hours":-1}`, ubl.CodeValidation},
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
		{"a name of two lines", "PATCH /api/tenant/members/u:bob", `{"name":"s3cr3t\nx"}`, ubl.CodeValidation},
		{"a name without end", "PATCH /api/tenant/members/u:bob", `{"name":"` + strings.Repeat("s3cr3t", 11) + `"}`, ubl.CodeValidation},
		{"a name that is a number", "PATCH /api/tenant/members/u:bob", `{"name":7}`, ubl.CodeValidation},
		{"a role that is null", "PATCH /api/rooms/r:general/members/u:bob", `{"role":null}`, ubl.CodeValidation},

		{"a token of no name", tokens, `{}`, ubl.CodeValidation},
		{"a token of a blank name", tokens, `{"name":" "}`, ubl.CodeValidation},
		{"a token that ends on no day", tokens, `{"name":"bot","expires_at":"2027-02-30T00:00:00.000Z"}`, ubl.CodeValidation},
		{"a token that ends in another form", tokens, `{"name":"bot","expires_at":"2027-01-01"}`, ubl.CodeValidation},
		{"a token with a secret of one's own", tokens, `{"name":"bot","client_secret":"s3cr3t"}`, ubl.CodeValidation},

		{"a workspace id of another kind", "GET /api/workspaces/r:s3cr3t/documents", "", ubl.CodeValidation},
		{"a workspace id with a bar", "GET /api/workspaces/w:a%7Cportal/documents", "", ubl.CodeValidation},
		{"a workspace of a blank name", "POST /api/workspaces", `{"name":" "}`, ubl.CodeValidation},
		{"a workspace of half its physics", "POST /api/workspaces", `{"name":"x","physics":{"fungibility":"strict"}}`, ubl.CodeValidation},
		{"a workspace of other physics", "POST /api/workspaces", `{"name":"x","physics":{"fungibility":"s3cr3t","topology":"objects","permeability":"gated","execution":"full"}}`, ubl.CodeValidation},
		{"a document id of another kind", "GET /api/workspaces/w:general/documents/m:s3cr3t", "", ubl.CodeValidation},
		{"version 0", document + "?version=0", "", ubl.CodeValidation},
		{"a version that is no number", document + "?version=s3cr3t", "", ubl.CodeValidation},
		{"a document without a title", documents, `{"content":"x"}`, ubl.CodeValidation},
		{"a document of an empty title", documents, `{"title":"","content":"x"}`, ubl.CodeValidation},
		{"a document of a long title", documents, `{"title":"` + strings.Repeat("会", 257) + `","content":"x"}`, ubl.CodeValidation},
		{"a document without a content", documents, `{"title":"x"}`, ubl.CodeValidation},
		{"a document of a null content", documents, `{"title":"x","content":null}`, ubl.CodeValidation},
		{"a document of broken UTF-8", documents, "{\"title\":\"x\",\"content\":\"s3cr3t\xff\"}", ubl.CodeValidation},
		{"an update that changes nothing", update, `{}`, ubl.CodeValidation},
		{"an update of a condition alone", update, `{"if_version":1}`, ubl.CodeValidation},
		{"an update if version 0", update, `{"title":"x","if_version":0}`, ubl.CodeValidation},
		{"101 documents", "GET /api/workspaces/w:general/documents?limit=101", "", ubl.CodeValidation},
		{"a cursor that is no document", "GET /api/workspaces/w:general/documents?cursor=s3cr3t", "", ubl.CodeValidation},
		{"a search for nothing", search, "", ubl.CodeValidation},
		{"a search for an empty text", search + "?query=", "", ubl.CodeValidation},
		{"a search for a long text", search + "?query=" + strings.Repeat("x", 501), "", ubl.CodeValidation},
		{"a search for broken UTF-8", search + "?query=s3cr3t%FF", "", ubl.CodeValidation},
		{"101 hits", search + "?query=x&limit=101", "", ubl.CodeValidation},
		{"a prompt of nothing", complete, `{"prompt":""}`, ubl.CodeValidation},
		{"a prompt that is too long", complete, `{"prompt":"` + strings.Repeat("x", 100_001) + `"}`, ubl.CodeValidation},
		{"no tokens", complete, `{"prompt":"x","max_tokens":0}`, ubl.CodeValidation},
		{"a temperature beyond the hottest", complete, `{"prompt":"x","temperature":2.1}`, ubl.CodeValidation},
		{"a tool that is no name", complete, `{"prompt":"x","tools":["s3cr3t tool"]}`, ubl.CodeValidation},
		{"17 steps", complete, `{"prompt":"x","max_steps":17}`, ubl.CodeValidation},

		{"a container of no kind", "POST /api/containers", `{"name":"x"}`, ubl.CodeValidation},
		{"a container id of another kind", "GET /api/containers/d:s3cr3t", "", ubl.CodeValidation},
		{"a transfer to nowhere", transfer, `{"amount":5}`, ubl.CodeValidation},
		{"a transfer to a room", transfer, `{"to":"r:s3cr3t","amount":5}`, ubl.CodeValidation},
		{"a transfer of less than nothing", transfer, `{"to":"k:till","amount":-5}`, ubl.CodeValidation},
		{"a transfer of nothing", transfer, `{"to":"k:till","amount":0}`, ubl.CodeValidation},
		{"a transfer of half a credit", transfer, `{"to":"k:till","amount":0.5}`, ubl.CodeValidation},
		{"a transfer of more than there can be", transfer, `{"to":"k:till","amount":1125899906842625}`, ubl.CodeValidation},
		{"a transfer of a content without a title", transfer, `{"to":"k:till","content":"s3cr3t"}`, ubl.CodeValidation},
		{"credits of no amount", "POST /api/containers/k:cash/credits", `{}`, ubl.CodeValidation},
		{"an invitation of nobody into a container", "POST /api/containers/k:cash/members", `{}`, ubl.CodeValidation},

		{"a server of another id", servers, `{"server_id":"S3cr3t","name":"x","url":"https://x.example.com"}`, ubl.CodeValidation},
		{"a server of a blank name", servers, `{"server_id":"x","name":" ","url":"https://x.example.com"}`, ubl.CodeValidation},
		{"a server without an address", servers, `{"server_id":"x","name":"x"}`, ubl.CodeValidation},
		{"a server of another auth", servers, `{"server_id":"x","name":"x","url":"https://x.example.com","auth":"s3cr3t"}`, ubl.CodeValidation},
		{"a header that is none", servers, `{"server_id":"x","name":"x","url":"https://x.example.com","auth":"header","header":"s3cr3t: x"}`, ubl.CodeValidation},
		{"a server that changes nothing", "PATCH /api/portal/servers/weather", `{}`, ubl.CodeValidation},
		{"a server of another id in the path", "DELETE /api/portal/servers/S3cr3t", "", ubl.CodeValidation},
		{"a registry of no address", "POST /api/portal/discover", `{"registry_url":""}`, ubl.CodeValidation},
		{"a tool of ours with underscores", "PUT /api/portal/tools/messenger_send/access", `{"allowed":false}`, ubl.CodeUnknownTool},
		{"a tool of other characters", "PUT /api/portal/tools/s3cr3t%20/access", `{"allowed":true}`, ubl.CodeValidation},
		{"access that says nothing", access, `{}`, ubl.CodeValidation},
		{"access of somebody who is none", access, `{"allowed":true,"users":["s3cr3t"]}`, ubl.CodeValidation},
		{"access too often", access, `{"allowed":true,"per_minute":100001}`, ubl.CodeValidation},
		{"a hash of another kind", "POST /api/portal/tools/x/approve", `{"hash":"c:s3cr3t"}`, ubl.CodeValidation},
		{"arguments that are none", call, `{}`, ubl.CodeValidation},
		{"arguments that are a list", call, `{"arguments":["s3cr3t"]}`, ubl.CodeValidation},
		{"arguments that are null", call, `{"arguments":null}`, ubl.CodeValidation},
		{"arguments that name a member twice", call, `{"arguments":{"s3cr3t":1,"s3cr3t":2}}`, ubl.CodeValidation},
		{"rows before the first", "GET /api/portal/logs?before=0", "", ubl.CodeValidation},
		{"201 rows", "GET /api/portal/logs?limit=201", "", ubl.CodeValidation},
		{"half a budget", "PATCH /api/portal/budget", `{"tokens_per_day":5}`, ubl.CodeValidation},
		{"a budget of less than nothing", "PATCH /api/portal/budget", `{"tokens_per_day":-1,"requests_per_minute":0}`, ubl.CodeValidation},

		{"an invitation of nobody", "POST /api/invitations", `{}`, ubl.CodeValidation},
		{"an invitation of no address", "POST /api/invitations", `{"email":"s3cr3t"}`, ubl.CodeValidation},
		{"an invitation in a third role", "POST /api/invitations", `{"email":"eve@else.org","role":"s3cr3t"}`, ubl.CodeValidation},
		{"an invitation for no time", "POST /api/invitations", `{"email":"eve@else.org","ttl_hours":0}`, ubl.CodeValidation},
		{"an invitation for longer than a month", "POST /api/invitations", `{"email":"eve@else.org","ttl_hours":721}`, ubl.CodeValidation},
		{"an invitation for an hour and a half", "POST /api/invitations", `{"email":"eve@else.org","ttl_hours":1.5}`, ubl.CodeValidation},
		{"an invitation of another id", "DELETE /api/invitations/s3cr3t", "", ubl.CodeValidation},
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

// TestWordsOfRefusals: a refusal names what is missing, empty or of another form in words,
// not by the rule that was broken.
func TestWordsOfRefusals(t *testing.T) {
	s := newServer(t)
	for _, c := range []struct{ request, body, want string }{
		{"POST /api/rooms/r:general/messages", `{"body":{"text":"hi"}}`, `"body.type":"is missing: expected text"`},
		{"GET /api/workspaces/w:general/search?query=", "", `"query.query":"is empty"`},
		{"GET /api/workspaces/w:general/search", "", `"query.query":"required query parameter is missing"`},
		{"POST /api/service-tokens", `{"name":"bot","expires_at":"2020-01-01T00:00:00Z"}`, `"body.expires_at":"expected a moment like 2027-01-01T00:00:00.000Z"`},
	} {
		method, target, _ := strings.Cut(c.request, " ")
		if w := s.do(method, target, c.body); !strings.Contains(w.Body.String(), c.want) {
			t.Errorf("%s %s was answered %s, without %s", c.request, c.body, w.Body, c.want)
		}
	}
}

func TestTextAtTheLimit(t *testing.T) {
	s := newServer(t)
	for name, text := range map[string]string{
		"8,000 letters":                      strings.Repeat("x", 8000),
		"2,666 characters of three bytes":    strings.Repeat("会", 2666) + "xx",
		"2,000 characters of four bytes":     strings.Repeat("😀", 2000),
		"8,000 bytes escaped to 47,995":      "x" + strings.Repeat("\x01", 7999),
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
		"/api/rooms":                           "GET, HEAD, OPTIONS, POST",
		"/api/rooms/r:general/members/u%3Abob": "DELETE, OPTIONS, PATCH",
		"/api/openapi.json":                    "GET, HEAD, OPTIONS",
	} {
		if got := s.do("PUT", target, "").Header().Get("Allow"); got != want {
			t.Errorf("PUT %s allows %q, want %q", target, got, want)
		}
	}
}

package api

import (
	"encoding/json"
	"maps"
	"strings"
	"testing"

	"ubl"
	"ubl/transport/envelope"
)

// TestErrorsNameTheCulprit: names that the API knows, and misspelt ones, are in the
// details; what could be a value or a secret is not.
func TestErrorsNameTheCulprit(t *testing.T) {
	const history, rooms = "GET /api/rooms/r:general/history", "POST /api/rooms"
	const queries = "unknown query parameter: the operation takes cursor, limit, senders"
	const members = "an unexpected member: the object takes client_request_id, name, physics"
	long := strings.Repeat("a", 41)
	s := newServer(t)
	for _, c := range []struct {
		request, body string
		want          map[string]string
	}{
		{history + "?limt=3", "", map[string]string{"query.limt": "unknown query parameter: did you mean limit?"}},
		{history + "?Bearer%20abc=3", "", map[string]string{"query": queries}},
		{history + "?" + long + "=3", "", map[string]string{"query": queries}},
		{rooms, `{"name":"x","nam":"y"}`, map[string]string{"body.nam": "an unexpected member: did you mean name?"}},
		{rooms, `{"name":"x","eyJhbGciOi.J9":"y"}`, map[string]string{"body": "an unexpected member"}},
		{rooms, `{"name":"x","` + long + `":"y"}`, map[string]string{"body": members}},
		{rooms, `{"name":"x","":"y"}`, map[string]string{"body": members}},
		{"POST /api/rooms/r:general/messages", `{"text":"hi"}`, map[string]string{
			"body.text": "an unexpected member of the request itself, which takes type, body {text, mentions}, reply_to, thread, attachments, forward, client_request_id"}},
		{"POST /api/rooms/r:general/messages", `{"type":"text","body":{"txt":"hi"}}`, map[string]string{"body.body.txt": "an unexpected member"}},
		{history + "?page=2", "", map[string]string{"query.page": queries}},
		{"GET /api/whoami?limit=2", "", map[string]string{"query.limit": "unknown query parameter: the operation takes none"}},
		{rooms, `{"name":"x","physics":{"fungibility":"strict","topology":"values","permeability":"gated","executon":"full"}}`, map[string]string{
			"body.physics.executon": "an unexpected member: did you mean execution?", "body.physics.execution": "is missing"}},
		{"POST /api/rooms/r:general/messages", `{"type":"text","bdy":{"text":"hi"}}`, map[string]string{
			"body.bdy": "an unexpected member of the request itself, which takes type, body {text, mentions}, reply_to, thread, attachments, forward, client_request_id: did you mean body?"}},
		{rooms, `{}`, map[string]string{"body.name": "is missing"}},
	} {
		method, target, _ := strings.Cut(c.request, " ")
		w := s.do(method, target, c.body)
		s.expect(t, c.request, w, ubl.CodeValidation)
		var got envelope.ErrorBody
		if err := json.Unmarshal(w.Body.Bytes(), &got); err != nil || !maps.Equal(got.Error.Details, c.want) {
			t.Errorf("%s %s: %v, want %v (%v)", c.request, c.body, got.Error.Details, c.want, err)
		}
	}
}

// TestToolsNameTheCulprit: a tool says which argument is wrong, in the caller's own words
// for it, and what would be right there.
func TestToolsNameTheCulprit(t *testing.T) {
	const sending = "It takes attachments, body, client_request_id, forward, reply_to, room_id, thread, type"
	s := newServer(t)
	for _, c := range []struct {
		tool, args string
		want       map[string]string
	}{
		{"messenger.send", `{}`, map[string]string{"room_id": `is missing; right is a text like "r:general"`}},
		{"messenger.send", `{"room":"r:general"}`, map[string]string{"room": "there is no such argument. Did you mean room_id? " + sending}},
		{"messenger.send", `{"room_id":"r:general","type":"text","text":"hi"}`, map[string]string{"text": "there is no such argument. Did you mean body.text? " + sending}},
		{"messenger.send", `{"roomId":"r:general"}`, map[string]string{"roomId": "there is no such argument. Did you mean room_id? " + sending}},
		{"messenger.send", `{"clientRequestId":"x"}`, map[string]string{"clientRequestId": "there is no such argument. Did you mean client_request_id? " + sending}},
		{"messenger.send", `{"eyJhbGciOi.J9":1}`, map[string]string{"arguments": "there is no such argument. " + sending}},
		{"messenger.send", `{"room_id":7}`, map[string]string{"room_id": `a number, where a string is expected; right is a text like "r:general"`}},
		{"messenger.send", `{"room_id":"the general","type":"text","body":{"text":"hi"}}`, map[string]string{"room_id": `not a room id, like r:general`}},
		{"messenger.send", `{"room_id":"r:general","type":"text","body":{"txt":"hi"}}`, map[string]string{"body.txt": "there is no such argument. Did you mean text? It takes mentions, text"}},
		{"messenger.send", `{"room_id":"r:general","type":"shout","body":{"text":"hi"}}`, map[string]string{"type": "expected text"}},
		{"office.document.get", `{"workspace_id":""}`, map[string]string{
			"workspace_id": `is missing; right is a text like "w:general"`, "document_id": `is missing; right is a text like "d:0199a1b2"`}},
		{"office.document.get", `{"workspace_id":"the general","document_id":"d:x","version":0}`, map[string]string{
			"workspace_id": `has another form than it should; right is a text like "w:general"`,
			"version":      `expected number >= 1; right is a whole number from 1 like 2`}},
		{"office.document.create", `{"workspace_id":"w:general","titel":"x","content":"y"}`, map[string]string{"titel": "there is no such argument. Did you mean title? It takes client_request_id, content, title, workspace_id"}},
		{"office.llm.complete", `{"workspace_id":"w:general","prompt":"x","tools":["a b"],"max_steps":"4"}`, map[string]string{
			"max_steps": "expected integer; right is a whole number from 1 to 16, and without it 4",
			"tools[0]":  `has another form than it should; right is a text like "messenger.send"`}},
	} {
		act := s.act(t, c.tool)
		_, err := act.Do(anaActs(), json.RawMessage(c.args))
		if got := ubl.AsError(act.Explain(err)); got.Code != ubl.CodeValidation || !maps.Equal(got.Details, c.want) {
			t.Errorf("%s %s: %v %v, want %v", c.tool, c.args, got.Code, got.Details, c.want)
		}
	}
}

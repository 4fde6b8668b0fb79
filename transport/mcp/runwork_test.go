package mcp_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"ubl"
	"ubl/test/harness"
)

// work is one piece of work: as an agent does it by single calls, and as one program.
type work struct {
	name string
	// calls are the single ones: each is a tool with its arguments. What later ones need of
	// earlier answers is known here, as an agent would have read it.
	calls   [][2]string
	program string
	args    string
}

// TestRoundTripsAndTokens compares both ways of the same work: what goes over the wire, requests
// and answers, with four bytes for a token.
func TestRoundTripsAndTokens(t *testing.T) {
	w := newWorld(t, withScripts)
	rooms, documents := w.furnish(t)
	summary, _ := json.Marshal(strings.Repeat("Team: Message 9: the deployment went through, and nobody had to get up for it.\n", len(rooms)))
	each := func(tool, args string, of []string) (calls [][2]string) {
		for _, id := range of {
			calls = append(calls, [2]string{tool, fmt.Sprintf(args, id)})
		}
		return calls
	}
	for _, job := range []work{
		{"the newest messages of 20 rooms in one document", slices.Concat(
			[][2]string{{"messenger.list_rooms", `{"limit":100}`}},
			each("messenger.history", `{"room_id":"%s","limit":10}`, rooms),
			[][2]string{{"office.document.create", `{"workspace_id":"w:general","title":"What is new","content":` + string(summary) + `}`}},
		), `const {rooms} = await tools.messenger.list_rooms({limit: 100});
let text = "";
for (const r of rooms) {
  const {messages} = await tools.messenger.history({room_id: r.room_id, limit: 10});
  const last = messages.filter(m => m.type === "text").pop();
  if (last) text += r.name + ": " + last.body.text + "\n";
}
const d = await tools.office.document.create({workspace_id: "w:general", title: "What is new", content: text});
return d.document.document_id`, `{}`},
		{"who has edited the documents that mention a word", slices.Concat(
			[][2]string{{"office.document.search", `{"workspace_id":"w:general","query":"budget","limit":20}`}},
			each("office.document.versions", `{"workspace_id":"w:general","document_id":"%s"}`, documents),
		), `const found = await tools.office.document.search({workspace_id: "w:general", query: "budget", limit: 20});
const authors = {};
for (const {document_id} of found.documents) {
  const {versions} = await tools.office.document.versions({workspace_id: "w:general", document_id});
  for (const v of versions) authors[v.updated_by] = (authors[v.updated_by] ?? 0) + 1;
}
return authors`, `{}`},
	} {
		single, trips := 0, 0
		for _, call := range job.calls {
			body := `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"` + call[0] + `","arguments":` + call[1] + `}}`
			a := w.do(t, "POST", w.url+"/mcp", "ana", body)
			if !strings.Contains(a.body, `"structuredContent"`) || strings.Contains(a.body, `"isError":true`) {
				t.Fatalf("%s answers %s", call[0], a.body)
			}
			single, trips = single+len(body)+len(a.body), trips+1
		}
		got := w.program(t, "/mcp", "ana", job.program, `"arguments":`+job.args)
		if got.isError || len(got.Calls) != trips {
			t.Fatalf("%s: %d calls for %d, answered %s", job.name, len(got.Calls), trips, got.raw)
		}
		asked, _ := json.Marshal(map[string]any{"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": map[string]any{"name": "tool.run", "arguments": map[string]any{"program": job.program}}})
		program := len(asked) + len(got.raw)
		t.Logf("%s: %d round trips, %d bytes (%d tokens) by single calls; 1 round trip, %d bytes (%d tokens) as a program", job.name, trips, single, single/4, program, program/4)
		if program*3 > single {
			t.Errorf("%s: a program takes %d bytes, single calls %d", job.name, program, single)
		}
	}
}

// room makes one and answers its id.
func (w *world) room(t *testing.T, name string) string {
	t.Helper()
	var made struct {
		RoomID string `json:"room_id"`
		Room   struct {
			RoomID string `json:"room_id"`
		}
	}
	structured(t, w.use(t, "/mcp", "ana", "test", "room.create", `{"name":"`+name+`"}`), &made)
	return max(made.RoomID, made.Room.RoomID)
}

// furnish makes 20 rooms with messages, and 12 documents; it answers their ids.
func (w *world) furnish(t *testing.T) (rooms, documents []string) {
	general := ubl.ContainerName(ana.TenantID, ubl.GeneralWorkspace)
	for i := range 19 {
		rooms = append(rooms, w.room(t, fmt.Sprint("Team ", i)))
	}
	rooms = append(rooms, "r:general")
	for _, room := range rooms {
		for i := range 10 {
			w.say(t, ana, ubl.RoomID(room), fmt.Sprintf("Message %d: the deployment went through, and nobody had to get up for it.", i))
		}
	}
	for i := range 12 {
		who := []ubl.Identity{ana, bob}[i%2]
		made := harness.Must[*ubl.DocumentResult](w.House, general, ubl.CreateDocument{Request: w.Request(who), Title: fmt.Sprintf("Plan %d", i),
			Content: "The budget of the year. " + strings.Repeat("What we want to do with it is told here at some length. ", 20)})
		documents = append(documents, string(made.Document.DocumentID))
	}
	return rooms, documents
}

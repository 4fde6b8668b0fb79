package e2e

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"text/tabwriter"

	"ubl/test/poll"
)

// commitments says of every act with a commitment to content whether its reader opens it, with what
// they were answered. An act that ended in an error has the error's code behind the member.
//
// These aren't: a token that is made as one has no client; a call that ended in an error is shut, since an error has no salt with it (one
// whose tool says that it failed, a conflict, is an answer); a redaction is never imported, since
// what is imported has its content; a poll is imported with what came of it, and no votes, a form without answers; and messages and edits alone have files.
const commitments = `
agreement.propose          body_hash         opened
container.receive          content_hash      opened
container.receive          name_hash         opened
container.transfer         content_hash      opened
messenger.call.begin       body_hash         opened
messenger.call.end         body_hash         opened
messenger.edit             attachments_hash  opened
messenger.edit             body_hash         opened
messenger.edit             imported_hash     opened
messenger.form.answer      attachments_hash  absent
messenger.form.answer      body_hash         opened
messenger.form.answer      imported_hash     absent
messenger.form.create      body_hash         opened
messenger.form.create      imported_hash     opened
messenger.pin              attachments_hash  absent
messenger.pin              body_hash         opened
messenger.pin              imported_hash     opened
messenger.poll.create      body_hash         opened
messenger.poll.create      imported_hash     opened
messenger.poll.end         attachments_hash  absent
messenger.poll.end         body_hash         opened
messenger.poll.end         imported_hash     absent
messenger.poll.vote        attachments_hash  absent
messenger.poll.vote        body_hash         opened
messenger.poll.vote        imported_hash     absent
messenger.react            attachments_hash  absent
messenger.react            body_hash         opened
messenger.react            imported_hash     opened
messenger.redact           attachments_hash  absent
messenger.redact           body_hash         opened
messenger.redact           imported_hash     absent
messenger.search           query_hash        opened
messenger.send             attachments_hash  opened
messenger.send             body_hash         opened
messenger.send             forwarded_hash    opened
messenger.send             imported_hash     opened
office.document.create     content_hash      opened
office.document.create     imported_hash     opened
office.document.create     title_hash        opened
office.document.publish    content_hash      opened
office.document.publish    published_hash    opened
office.document.publish    title_hash        opened
office.document.search     query_hash        opened
office.document.update     content_hash      opened
office.document.update     imported_hash     opened
office.document.update     title_hash        opened
office.file.put            content_hash      opened
office.file.put            imported_hash     opened
office.file.put            name_hash         opened
office.llm.complete        input_hash        opened
office.llm.complete        output_hash       opened
office.llm.complete        prompt_hash       opened
office.tool.call           input_hash        opened
office.tool.call           input_hash        forbidden         shut
office.tool.call           input_hash        validation_error  shut
office.tool.call           output_hash       opened
person.device.add          content_hash      opened
person.device.remove       content_hash      opened
person.preferences.update  content_hash      opened
person.reminder.add        content_hash      opened
person.reminder.remove     content_hash      opened
person.room.update         content_hash      opened
person.scheduled.add       content_hash      opened
person.scheduled.remove    content_hash      opened
person.scheduled.update    content_hash      opened
portal.call                input_hash        opened
portal.call                input_hash        conflict          opened
portal.call                input_hash        forbidden         shut
portal.call                input_hash        validation_error  shut
portal.call                output_hash       opened
portal.call                output_hash       conflict  opened
portal.server.add          terms_hash        opened
portal.server.add          url_hash          opened
portal.server.update       terms_hash        opened
portal.server.update       url_hash          opened
room.invite                body_hash         opened
room.update                body_hash         opened
tenant.agent.connect       client_hash       opened
tenant.agent.connect       mandate_hash      opened
token.create               client_hash       absent
token.create               mandate_hash      opened
token.mandate              client_hash       absent
token.mandate              mandate_hash      opened
webhook.create             content_hash      opened
webhook.remove             content_hash      opened
webhook.rotate             content_hash      opened
webhook.update             content_hash      opened
`

// TestCommitmentsOpen: who does each act that has a commitment, by REST and MCP, and reads what they
// may, opens every commitment in the ledger by themselves.
func TestCommitmentsOpen(t *testing.T) {
	tools, model := forecasts(t), newModel(t)
	config := filepath.Join(t.TempDir(), "ubl.yaml")
	must(t, os.WriteFile(config, []byte("gateway: {providers: [{name: local, url: "+model.URL+"/v1, models: {\"*\": local}}]}\n"), 0o600))
	n := newNode(t, "--config", config)
	link := n.signInLink(t) // while it is in the end of the log
	w := &committing{t: t, a: n.bearer("the owner", n.token("owner@localhost")), reader: &reader{t: t, known: map[string]bool{}}}
	w.inRooms()
	w.inWorkspaces()
	w.outside(tools)
	w.withModels()
	w.byThemselves()
	w.withAgents(n, link)

	export := n.exported(t, strings.TrimPrefix(w.a.headers["Authorization"], "Bearer "))
	if acts := unhashed(t, export); len(acts) > 0 {
		t.Errorf("these acts don't have the hash of the record that they name: %q", acts)
	}
	rows := w.walk(export)
	for _, must := range committed(t) {
		if !slices.ContainsFunc(slices.Collect(maps.Keys(rows)), func(row string) bool { return row == must || strings.HasPrefix(row, must+" ") }) {
			rows[must] = "absent"
		}
	}
	var got strings.Builder
	out := tabwriter.NewWriter(&got, 0, 8, 2, ' ', 0)
	for _, row := range slices.Sorted(maps.Keys(rows)) {
		fmt.Fprintf(out, "%s\t%s\n", strings.ReplaceAll(row, " ", "\t"), rows[row])
	}
	out.Flush()
	if g, want := got.String(), strings.TrimPrefix(commitments, "\n"); g != want {
		t.Errorf("the commitments are\n%s\nwant\n%s", g, want)
	}
}

// committing is a person at work.
type committing struct {
	*reader
	t *testing.T
	a *agent
}

// ask asks by REST, and reads the answer.
func (w *committing) ask(method, path, body string) string {
	w.t.Helper()
	status, answer := w.a.ask(method, path, body)
	if status >= 400 {
		w.t.Fatalf("%s %s %s is answered %d %s", method, path, body, status, answer)
	}
	w.reads(answer)
	return answer
}

// tool asks by MCP.
func (w *committing) tool(name, args string) string {
	w.t.Helper()
	status, answer := w.a.ask("POST", "/portal/mcp", fmt.Sprintf(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":%q,"arguments":%s}}`, name, args))
	if status != http.StatusOK {
		w.t.Fatalf("%s %s is answered %d %s", name, args, status, answer)
	}
	return answer
}

// id is a member of an answer, by its name, wherever it is first.
func (w *committing) id(answer, name string) string {
	w.t.Helper()
	_, rest, ok := strings.Cut(answer, `"`+name+`":"`)
	if !ok {
		w.t.Fatalf("no %s in %s", name, answer)
	}
	id, _, _ := strings.Cut(rest, `"`)
	return id
}

// elsewhere is where an import comes from.
var elsewhere = `"imported_from":{"author_id":"u:eve","author_name":"Eve","at":"2026-01-31T12:00:00.000Z","cid":"c:` + strings.Repeat("0", 64) + `","seq":7,"tenant_id":"t:else.example"}`

func (w *committing) inRooms() {
	room := "/api/rooms/" + w.id(w.ask("POST", "/api/rooms", `{"name":"Harbour"}`), "room_id")
	entries := room + "/entries"
	for _, more := range []string{"", "," + elsewhere} {
		msg := w.id(w.ask("POST", entries, `{"body":{"content_type":"application/vnd.ubl.text+json","json":{"text":"The pin is 4711"}}`+more+`}`), "entry_id")
		w.ask("POST", entries, `{"body":{"content_type":"application/mls-ciphertext","bytes":"AAEC"}`+more+`}`)
		w.ask("POST", entries+"/"+msg+"/edits", `{"text":"The pin is 4712"`+more+`}`)
		w.ask("POST", entries+"/"+msg+"/reactions", `{"reaction":"👍"`+more+`}`)
		w.ask("POST", entries+"/"+msg+"/pin", `{"pinned":true`+more+`}`)
		w.ask("POST", entries, `{"body":{"content_type":"application/vnd.ubl.poll+json","json":{"question":"Where?","options":["Here","There"]}}`+more+`}`)
		w.ask("POST", entries, `{"body":{"content_type":"application/vnd.ubl.form+json","json":{"text":"May I?","fields":[{"name":"ok","label":"OK","type":"yes_no"}]}}`+more+`}`)
	}
	poll := room + "/polls/" + w.id(w.ask("POST", room+"/polls", `{"question":"When?","options":["Now","Later"]}`), "entry_id")
	w.ask("POST", room+"/calls/"+w.id(w.ask("POST", room+"/calls", ""), "call_id")+"/end", "")
	w.ask("POST", poll+"/votes", `{"choices":[2]}`)
	w.ask("POST", poll+"/end", "")
	form := room + "/forms/" + w.id(w.ask("POST", room+"/forms", `{"text":"May I?","private":true,"fields":[{"name":"ok","label":"OK","type":"yes_no"}]}`), "entry_id")
	w.ask("POST", form+"/answers", `{"values":{"ok":true}}`)
	w.ask("GET", form, "")
	w.ask("POST", room+"/members", fmt.Sprintf(`{"user_id":%q}`, w.id(w.ask("POST", "/api/service-tokens", `{"name":"bot"}`), "user_id")))
	w.ask("PUT", "/api/agreements/a:room:"+strings.TrimPrefix(room, "/api/rooms/")+"/proposal",
		`{"terms":{"form":"terms.v1","accept":"proposer","permits":[{"did":"*","to":["owners"]}]}}`)
	w.ask("POST", room+"/messages", `{"type":"text","body":{"text":"Hello","mentions":["@room"]}}`)
	gone := w.id(w.ask("POST", room+"/messages", `{"type":"text","body":{"text":"Never mind"}}`), "msg_id")
	w.ask("POST", room+"/messages", fmt.Sprintf(`{"type":"text","body":{"text":"See"},"forward":"r:harbour/%s"}`, gone))
	w.ask("PATCH", room+"/policy", `{"retention_hours":8}`)
	w.withFiles(room)
	w.ask("GET", entries, "") // before it is gone
	w.ask("POST", entries+"/"+gone+"/redaction", "")
	w.ask("GET", entries, "")
	w.ask("GET", "/api/rooms/r:general/entries", "")
}

// withFiles sends a message with two files, of which an edit leaves one.
func (w *committing) withFiles(room string) {
	var sent struct {
		Message struct {
			ID    string `json:"msg_id"`
			Files []struct {
				ID string `json:"file_id"`
			} `json:"attachments"`
		}
	}
	var uploads []string
	for i := range 2 {
		uploads = append(uploads, w.id(w.ask("POST", room+"/uploads", fmt.Sprintf(`{"name":"map%d.txt","text":"Here"}`, i)), "upload_id"))
	}
	must(w.t, json.Unmarshal([]byte(w.ask("POST", room+"/messages", fmt.Sprintf(`{"type":"text","body":{"text":"Two maps"},"attachments":[%q,%q]}`, uploads[0], uploads[1]))), &sent))
	w.ask("GET", room+"/entries", "") // before one is gone
	w.ask("POST", room+"/entries/"+sent.Message.ID+"/edits", fmt.Sprintf(`{"text":"One map","attachments":[%q]}`, sent.Message.Files[0].ID))
	w.opensJSON(w.id(w.ask("GET", "/api/search?query=harbour", ""), "salt"), map[string]string{"query": "harbour"})
}

func (w *committing) inWorkspaces() {
	const work = "/api/workspaces/w:general"
	there := w.id(w.ask("POST", "/api/workspaces", `{"name":"Archive"}`), "container_id")
	for _, more := range []string{"", "," + elsewhere} {
		doc := w.id(w.ask("POST", work+"/documents", `{"title":"Plan","content":"Buy the harbour"`+more+`}`), "document_id")
		w.ask("PATCH", work+"/documents/"+doc, `{"content":"Sell the harbour"`+more+`}`)
		w.ask("PATCH", work+"/documents/"+doc, `{"title":"The plan"}`)
		w.ask("POST", work+"/files", fmt.Sprintf(`{"name":"map.txt","text":"Here","document_id":%q%s}`, doc, more))
		w.ask("POST", "/api/containers/w:general/transfer", fmt.Sprintf(`{"to":%q,"document_id":%q}`, there, doc))
		for v := 1; v <= 3; v++ {
			w.ask("GET", fmt.Sprintf("%s/documents/%s?version=%d", work, doc, v), "")
		}
		w.ask("DELETE", work+"/documents/"+doc, "")
	}
	pages := `{"documents":[{"type":"tag","id":"tide","path":"tags/tide.md","title":"Tide","content":"The sea rises","metadata":{"tags":["sea"]}}]}`
	tide := w.id(w.ask("POST", work+"/publish", pages), "document_id")
	w.ask("POST", work+"/publish", strings.Replace(pages, "rises", "falls", 1))
	for v := 1; v <= 2; v++ {
		w.ask("GET", fmt.Sprintf("%s/documents/%s?version=%d", work, tide, v), "")
	}
	passage := w.id(w.ask("POST", "/api/containers", `{"kind":"container","name":"Inbox","physics":{"fungibility":"transient","topology":"links","permeability":"open","execution":"disabled"}}`), "container_id")
	w.ask("POST", "/api/containers/"+passage+"/transfer", `{"to":"w:general","title":"Note","content":"Passing by"}`)
	for _, at := range []string{work, "/api/workspaces/" + there} {
		answer := w.ask("GET", at+"/documents", "")
		for _, rest := range strings.Split(answer, `"document_id":"`)[1:] {
			id, _, _ := strings.Cut(rest, `"`)
			w.ask("GET", at+"/documents/"+id, "")
		}
		w.ask("GET", at+"/files", "")
	}

	w.opensJSON(w.id(w.ask("GET", work+"/search?query=harbour", ""), "salt"), map[string]string{"query": "harbour"})
	for _, full := range []bool{false, true} {
		query := fmt.Sprintf("harbour %t", full)
		w.opensJSON(w.overMCP("", w.tool("office.document.search", fmt.Sprintf(`{"workspace_id":"w:general","query":%q,"full":%t}`, query, full))), map[string]string{"query": query})
	}
}

func (w *committing) outside(tools string) {
	w.ask("POST", "/api/portal/servers", fmt.Sprintf(`{"server_id":"weather","name":"Weather","url":%q}`, tools))
	poll.Until(w.t, "its tools are known", func() bool { return strings.Contains(w.ask("GET", "/api/portal/servers", ""), `"status":"up"`) })
	for _, tool := range []string{"forecast", "fail"} {
		w.ask("PUT", "/api/portal/tools/weather."+tool+"/access", `{"allowed":true}`)
		args := fmt.Sprintf(`{"city":%q}`, "Lisbon "+tool)
		w.overREST(args, w.ask("POST", "/api/portal/tools/weather."+tool+"/call", `{"arguments":`+args+`}`))
		w.overMCP(args, w.tool("weather."+tool, args))
	}
	if status, answer := w.a.ask("POST", "/api/portal/tools/weather.forecast/call", `{"arguments":{"city":7}}`); status != http.StatusBadRequest {
		w.t.Fatalf("a city that is a number is answered %d %s", status, answer)
	}

	query := `{"workspace_id":"w:general","query":"boats"}`
	var searched struct {
		Led struct{ Salt string } `json:"led_to"`
	}
	answer := w.ask("POST", "/api/portal/tools/office.document.search/call", `{"arguments":`+query+`}`)
	w.overREST(query, answer)
	must(w.t, json.Unmarshal([]byte(answer), &searched))
	w.opensJSON(searched.Led.Salt, map[string]string{"query": "boats"})

	own := `{"room_id":"r:general"}`
	w.overREST(own, w.ask("POST", "/api/portal/tools/messenger.history/call", `{"arguments":`+own+`}`))
	var told struct {
		Result struct{ StructuredContent json.RawMessage }
	}
	must(w.t, json.Unmarshal([]byte(w.tool("office.tool.call", `{"tool":"messenger.list_rooms","arguments":{}}`)), &told))
	w.overREST(`{}`, string(told.Result.StructuredContent))

	program := w.tool("tool.run", `{"program":"await tool('office.document.search', {workspace_id: 'w:general', query: 'programs'})"}`)
	w.opensJSON(w.id(program, "salt"), map[string]string{"query": "programs"})

	w.ask("PATCH", "/api/portal/servers/weather", `{"name":"The weather"}`)
	w.ask("PATCH", "/api/portal/servers/weather", `{"disabled":true}`)
	if status, answer := w.a.ask("POST", "/api/portal/tools/weather.forecast/call", `{"arguments":{"city":"Porto"}}`); status < 400 {
		w.t.Fatalf("a disabled server's tool is answered %d %s", status, answer)
	}
	w.ask("PATCH", "/api/portal/servers/weather", `{"disabled":false}`)
	poll.Until(w.t, "its tools are known again", func() bool { return strings.Contains(w.ask("GET", "/api/portal/servers", ""), `"status":"up"`) })
}

func (w *committing) withModels() {
	tools := []string{"weather.forecast", "office.document.search"}
	for i, completes := range []func(body string) string{
		func(body string) string { return w.ask("POST", "/api/workspaces/w:general/complete", body) },
		func(body string) string {
			var told struct {
				Result struct{ StructuredContent json.RawMessage }
			}
			answer := w.tool("office.llm.complete", `{"workspace_id":"w:general",`+strings.TrimPrefix(body, "{"))
			must(w.t, json.Unmarshal([]byte(answer), &told))
			return string(told.Result.StructuredContent)
		},
	} {
		prompt := fmt.Sprintf("Will it rain, %d?", i)
		list, err := json.Marshal(tools)
		must(w.t, err)
		steps := w.completed(prompt, tools, []byte(completes(fmt.Sprintf(`{"prompt":%q,"tools":%s}`, prompt, list))))
		if len(steps) != 2 {
			w.t.Fatalf("the model made %d calls", len(steps))
		}
		w.called(steps[0], modelCalls["weather_forecast"], json.RawMessage(`[{"type":"text","text":"{\"sky\":\"rain in Faro\"}"}]`), false, json.RawMessage(`{"sky":"rain in Faro"}`))
		w.opensJSON(steps[1], map[string]string{"query": "umbrella"})
	}
}

package mcp_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"ubl/test/harness"
)

// TestBytesForWhatIsSaid: what the tools that agents read by most cost for each thing that they tell,
// in bytes of structured content, beside what full costs. Lower the bounds where answers get leaner;
// never raise them for what a model doesn't need. Each thing comes twice in an answer: as text, too.
func TestBytesForWhatIsSaid(t *testing.T) {
	w := newWorld(t)
	_, documents := w.furnish(t)
	for _, m := range manyPeople {
		w.Enter(harness.User(m))
	}
	document := `{"workspace_id":"w:general","document_id":"` + documents[0] + `"`
	for _, c := range []struct {
		tool, args string // args lack their end
		things     string // the list that is counted, "" for the answer as one thing
		most       int    // bytes each
	}{
		{"messenger.history", `{"room_id":"r:general","limit":10`, "messages", 285},
		{"messenger.entries", `{"room_id":"r:general","limit":10`, "entries", 370},
		{"messenger.stream_room", `{"room_id":"r:general","from_seq":2,"limit":10`, "messages", 305},
		{"messenger.list_rooms", `{"limit":20`, "rooms", 160},
		{"messenger.list_rooms", `{"limit":20,"details":true`, "rooms", 530},
		{"room.member.list", `{"room_id":"r:general"`, "members", 125},
		{"tenant.member.list", `{"limit":20`, "members", 125},
		{"office.workspace.list", `{`, "workspaces", 160},
		{"office.document.list", `{"workspace_id":"w:general","limit":10`, "documents", 220},
		{"office.document.search", `{"workspace_id":"w:general","query":"budget","limit":10`, "documents", 440},
		{"office.document.versions", document, "versions", 270},
		{"office.document.get", document, "", 1500},
		{"agreement.list", `{"limit":10`, "agreements", 610},
		{"agreement.get", `{"agreement_id":"a:room:r:general"`, "", 4250},
		{"ledger.atoms", `{`, "atoms", 245},
	} {
		brief, things := w.weigh(t, c.tool, c.args+`}`, c.things)
		more := `,"full":true}`
		if c.args == `{` {
			more = more[1:]
		}
		full, of := w.weigh(t, c.tool, c.args+more, c.things)
		t.Logf("%-26s %5d bytes each, in full %5d", c.tool, brief/things, full/of)
		if brief/things > c.most {
			t.Errorf("%s takes %d bytes each, more than %d", c.tool, brief/things, c.most)
		}
	}
}

var manyPeople = func() (out []string) {
	for i := range 10 {
		out = append(out, fmt.Sprintf("person%d@acme.com", i))
	}
	return out
}()

// weigh is how many bytes a tool answers, and how many things that list has.
func (w *world) weigh(t *testing.T, tool, args, list string) (size, things int) {
	t.Helper()
	var answer map[string]json.RawMessage
	structured(t, w.use(t, "/mcp", "ana", "test", tool, args), &answer)
	whole, err := json.Marshal(answer)
	if err != nil {
		t.Fatal(err)
	}
	if list == "" {
		return len(whole), 1
	}
	var items []json.RawMessage
	if err := json.Unmarshal(answer[list], &items); err != nil || len(items) == 0 {
		t.Fatalf("%s answers %s, %v", tool, whole, err)
	}
	return len(whole), len(items)
}

// TestBytesOfLists: what lists of tools take that an agent is shown, all their pages together.
func TestBytesOfLists(t *testing.T) {
	w, _ := withFiles(t, withScripts)
	for set, most := range map[string]int{
		"": 15_400, "messenger": 33_650, "office": 16_500, "files": 13_900, "containers": 20_500, "agreements": 16_000, "portal": 17_700,
		"tenant": 25_500, "admin": 5_600, "polls": 6_700, "forms": 7_200, "person": 16_100, "webhook": 10_400, "all": 167_300,
	} {
		if size := w.listSize(t, strings.TrimSuffix("/mcp/"+set, "/")); size > most || size < most*9/10 {
			t.Errorf("the list of %q takes %d bytes, and %d are meant", set, size, most)
		}
	}
}

func (w *world) listSize(t *testing.T, path string) (size int) {
	t.Helper()
	session, cursor := w.begin(t, w.url+path, "ana", "test"), ""
	for {
		a := w.do(t, "POST", w.url+path, "ana", `{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{`+cursor+`}}`, "Mcp-Session-Id", session)
		var got struct{ Result struct{ NextCursor string } }
		if err := json.Unmarshal([]byte(a.body), &got); err != nil {
			t.Fatalf("tools/list answers %s", a.body)
		}
		size += len(a.body)
		if got.Result.NextCursor == "" {
			return size
		}
		cursor = `"cursor":"` + got.Result.NextCursor + `"`
	}
}

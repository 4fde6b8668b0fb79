package e2e

import (
	"encoding/json"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestKindOfTheFile: a kind in the server's file makes containers like those that the program knows,
// with its physics, terms and content types.
func TestKindOfTheFile(t *testing.T) {
	config := filepath.Join(t.TempDir(), "ubl.yaml")
	must(t, os.WriteFile(config, []byte(`kinds:
  - name: case
    ids: case-
    physics: {fungibility: versioned, topology: objects, permeability: open, execution: disabled}
    content: [application/json]
    terms:
      permits:
        - {did: container.get, to: [tenant]}
        - {did: office.document.*, to: [tenant]}
        - {did: "*", to: [owners]}
      obligations: ["What is in a case stays in the case."]
`), 0o600))
	n := newNode(t, "--config", config)
	ana, bob := n.bearer("ana", n.token("ana@ours.example")), n.bearer("bob", n.token("bob@ours.example"))
	if _, kinds := ana.ask("GET", "/api/kinds", ""); !strings.Contains(kinds, `"name":"case"`) {
		t.Errorf("the kinds are %s", kinds)
	}
	id := told(t, ana, "POST", "/api/containers", `{"kind":"case","name":"One"}`, "container", "container_id")
	if id != "k:case-one" {
		t.Errorf("the case is %s", id)
	}
	agreement := told(t, bob, "GET", "/api/containers/"+id, "", "container", "agreement_id")
	if _, record := ana.ask("GET", "/api/agreements/"+agreement, ""); agreement != "a:case:"+id || !strings.Contains(record, "stays in the case") {
		t.Errorf("the Agreement %s is %s", agreement, record)
	}
	for _, do := range []struct {
		what, path, body, want string
		who                    *agent
	}{
		{"one of the tenant writes JSON", "documents", `{"title":"Facts","content":"{}"}`, "yes", bob},
		{"text is none", "documents", `{"title":"Facts","content":"prose"}`, "validation_error", bob},
		{"files are the owners'", "files", `{"name":"facts.json","text":"{}","content_type":"application/json"}`, "no", bob},
		{"who puts JSON", "files", `{"name":"facts.json","text":"{}","content_type":"application/json"}`, "yes", ana},
		{"and no text", "files", `{"name":"facts.txt","text":"prose"}`, "validation_error", ana},
	} {
		status, answer := do.who.ask("POST", "/api/workspaces/"+id+"/"+do.path, do.body)
		if do.want == "validation_error" && strings.Contains(answer, do.want) {
			continue
		}
		if got := verdict(t, status, answer); got != do.want {
			t.Errorf("%s: %s, %s", do.what, got, answer)
		}
	}
}

// TestPlacesAsContainers: the tenant and rooms answer as containers, and nothing is carried into them.
func TestPlacesAsContainers(t *testing.T) {
	n := newNode(t)
	ana, bob, eve := n.bearer("ana", n.token("ana@ours.example")), n.bearer("bob", n.token("bob@ours.example")), n.bearer("eve", n.token("eve@theirs.example"))
	told(t, bob, "GET", "/api/whoami", "")
	told(t, eve, "GET", "/api/whoami", "")
	room := told(t, ana, "POST", "/api/rooms", `{"name":"Plans"}`, "room", "room_id")
	for _, place := range []struct {
		id, agreement, topology string
		bob, eve                string
	}{
		{"t:ours.example", "a:tenant:t:ours.example", "subjects", "yes", "hidden"},
		{room, "a:room:" + room, "objects", "no", "hidden"},
	} {
		status, answer := ana.ask("GET", "/api/containers/"+place.id, "")
		var shown struct {
			Container struct {
				ID        string `json:"container_id"`
				Agreement string `json:"agreement_id"`
				Physics   struct{ Topology string }
			}
		}
		if err := json.Unmarshal([]byte(answer), &shown); err != nil || status != http.StatusOK {
			t.Fatalf("%s is %d %s", place.id, status, answer)
		}
		if c := shown.Container; c.ID != place.id || c.Agreement != place.agreement || c.Physics.Topology != place.topology {
			t.Errorf("%s is %+v", place.id, c)
		}
		for who, want := range map[*agent]string{bob: place.bob, eve: place.eve} {
			status, answer := who.ask("GET", "/api/containers/"+place.id, "")
			if got := verdict(t, status, answer); got != want {
				t.Errorf("%s looks at %s: %s, %s", who.name, place.id, got, answer)
			}
		}
	}

	doc := told(t, ana, "POST", "/api/workspaces/w:general/documents", `{"title":"Plan","content":"dig"}`, "document", "document_id")
	refused := func(from, to string) {
		t.Helper()
		status, answer := ana.ask("POST", "/api/containers/"+from+"/transfer", `{"to":"`+to+`","document_id":"`+doc+`"}`)
		if status != http.StatusBadRequest || !strings.Contains(answer, "validation_error") {
			t.Errorf("from %s to %s: %d %s", from, to, status, answer)
		}
	}
	head := told(t, ana, "GET", "/api/ledger/head", "", "head_hash")
	refused("w:general", room)
	refused("w:general", "t:ours.example")
	refused(room, "w:general")
	if now := told(t, ana, "GET", "/api/ledger/head", "", "head_hash"); now != head {
		t.Error("a refusal is on record, though nothing was let go")
	}
	told(t, ana, "GET", "/api/workspaces/w:general/documents/"+doc, "", "document", "document_id")
}

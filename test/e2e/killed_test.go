package e2e

import (
	"context"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"ubl/test/built"
	"ubl/test/ports"
)

// acknowledged is a message or a document that a client had been told of.
type acknowledged struct {
	RoomID     string `json:"room_id"`
	RoomSeq    int64  `json:"room_seq"`
	Key        string `json:"key"`
	DocumentID string `json:"document_id"`
	Text       string `json:"text"`
	Seq        int64  `json:"seq"`
}

// TestUpgradeOfAKilledNode: testdata/killed is the data directory of a node of the version before
// salts and entries, killed while eight clients wrote into it, and what those had been told. This
// version has all of it, knows the keys, and goes on with the same chain.
func TestUpgradeOfAKilledNode(t *testing.T) {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	n := &node{t: t, path: built.Path(t), dir: filepath.Join(t.TempDir(), "data"), addr: ports.Free(t), log: &tail{}}
	must(t, os.Mkdir(n.dir, 0o700))
	if out, err := exec.Command("tar", "-xzf", "testdata/killed/data.tar.gz", "-C", n.dir).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	n.start()
	defer n.kill()
	var all []acknowledged
	data, err := os.ReadFile("testdata/killed/acknowledged.json")
	must(t, err)
	must(t, json.Unmarshal(data, &all))

	people := map[string]*client{"r:plans": n.client(n.token("ana@load.example")), "r:bobs": n.client(n.token("bob@load.example"))}
	ana := people["r:plans"]
	texts := map[string]map[int64]string{}
	for room, by := range people {
		list, err := by.history(ctx, room)
		must(t, err)
		texts[room] = map[int64]string{}
		for _, m := range list {
			texts[room][m.RoomSeq] = m.Body.Text
		}
	}
	retried := 0
	for _, a := range all {
		if a.DocumentID != "" {
			var got struct{ Document struct{ Content string } }
			must(t, ana.do(ctx, "GET", "/api/workspaces/w:general/documents/"+a.DocumentID, "", nil, &got))
			if got.Document.Content != a.Text {
				t.Errorf("the document %s holds %q, want %q", a.DocumentID, got.Document.Content, a.Text)
			}
			continue
		}
		if got := texts[a.RoomID][a.RoomSeq]; got != a.Text {
			t.Errorf("message %d of %s says %q, want %q", a.RoomSeq, a.RoomID, got, a.Text)
		}
		if retried++; retried%20 == 0 { // as a client does that didn't hear the answer
			var again struct{ Message message }
			must(t, people[a.RoomID].do(ctx, "POST", "/api/rooms/"+a.RoomID+"/messages", a.Key, text(a.Text), &again))
			if again.Message.RoomSeq != a.RoomSeq {
				t.Errorf("the key %s leads to message %d, want %d", a.Key, again.Message.RoomSeq, a.RoomSeq)
			}
		}
	}
	must(t, ana.do(ctx, "POST", "/api/rooms/r:plans/messages", "", text("and on"), nil))
	export := filepath.Join(t.TempDir(), "ledger.ndjson")
	t.Setenv("UBL_TOKEN", ana.token)
	t.Setenv("UBL_URL", ana.base)
	ledger := n.run("export")
	for _, kind := range []string{"action.v1", "effect.v1", "action.v2", "effect.v2"} {
		if !strings.Contains(ledger, `"kind":"`+kind+`"`) {
			t.Errorf("the ledger has no %s", kind)
		}
	}
	must(t, os.WriteFile(export, []byte(ledger), 0o600))
	if said := n.run("verify", export); !strings.HasPrefix(said, "ok: t:load.example") {
		t.Errorf("verify says: %s", said)
	}
}

package mcp_test

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"ubl/test/poll"
)

// commons makes a public workspace with a few documents, and answers the address of its MCP.
func (p *program) commons(t *testing.T) string {
	t.Helper()
	var made struct {
		Container struct {
			ID string `json:"container_id"`
		}
	}
	if err := json.Unmarshal([]byte(p.api(t, "POST", "/containers", `{"kind":"container","name":"Handbook","physics":{"fungibility":"versioned","topology":"objects","permeability":"public","execution":"disabled"}}`)), &made); err != nil {
		t.Fatal(err)
	}
	var me struct {
		Tenant string `json:"tenant_id"`
	}
	if err := json.Unmarshal([]byte(p.api(t, "GET", "/whoami", "")), &me); err != nil {
		t.Fatal(err)
	}
	c := made.Container
	p.api(t, "POST", "/workspaces/"+c.ID+"/publish", `{"documents":[
		{"type":"tag","id":"circle","path":"tags/circle.md","title":"Circle","metadata":{"aliases":["Working circle"],"description":"People with one purpose."},"content":"A circle has a steward."},
		{"type":"pattern","id":"cells","path":"patterns/cells.md","title":"Cells","metadata":{"group":"governance","release":["r1"],"tags":["circle"]},"content":"# Cells\n\nEach cell has a purpose."},
		{"type":"group","id":"governance","path":"groups/governance.md","title":"Governance","metadata":{"description":"Those who decide how we decide."},"content":"We decide."}]}`)
	at := "http://" + p.address + "/public/" + me.Tenant + "/" + c.ID
	poll.Until(t, "the documents are found", func() bool {
		return strings.Contains(p.api(t, "GET", "/workspaces/"+c.ID+"/search?query=purpose", ""), `"cells"`)
	})
	return at + "/mcp"
}

// TestCommonsForClients: both TypeScript clients read a commons that they have no account at, and their
// reads leave no receipt.
func TestCommonsForClients(t *testing.T) {
	box := tools(t)
	p := start(t, product)
	at := p.commons(t)
	head := func() (hash string) {
		var is struct {
			Hash string `json:"head_hash"`
		}
		if err := json.Unmarshal([]byte(p.api(t, "GET", "/ledger/head", "")), &is); err != nil || is.Hash == "" {
			t.Fatalf("the ledger has no head: %v", err)
		}
		return is.Hash
	}
	before := head()
	out, code := box.run(t, box.script(t, "commons.mjs"), at)
	var visits []struct {
		Tools, Whole, Lexicon, Resources, Texts, Prompts []string
		Read, Defined, Failed, Prompt                    string
		Groups, Releases                                 []struct {
			Name, ID  string
			Documents int
		}
	}
	if err := json.Unmarshal([]byte(lastLine(out)), &visits); err != nil || code != 0 || len(visits) != 2 {
		t.Fatalf("ended with %d: %s", code, out)
	}
	for i, got := range visits {
		if len(got.Tools) != 7 || got.Read != "# Cells\n\nEach cell has a purpose." || !slices.Contains(got.Whole, got.Read) || got.Defined != "People with one purpose." ||
			!slices.Equal(got.Lexicon, []string{"Circle"}) || got.Failed != "not_found" || len(got.Prompts) != 3 || !strings.Contains(got.Prompt, "circles") {
			t.Errorf("visit %d heard %+v", i, got)
		}
		if len(got.Groups) != 1 || got.Groups[0].ID != "governance" || got.Groups[0].Documents != 1 || len(got.Releases) != 1 || got.Releases[0].Name != "r1" {
			t.Errorf("visit %d was told of the groups %+v and releases %+v", i, got.Groups, got.Releases)
		}
		if len(got.Resources) != 4 || !strings.Contains(strings.Join(got.Texts, "\n"), "Those who decide") || !slices.Contains(got.Resources, "mcp://handbook/data/ontology") {
			t.Errorf("visit %d read %q of %q", i, got.Texts, got.Resources)
		}
	}
	if after := head(); after != before {
		t.Errorf("reads have moved the ledger's head from %s to %s", before, after)
	}
}

// TestCommonsConforms: what the protocol's own suite asks of every server holds for a commons, in each
// revision. Its other scenarios need tools of the suite's own.
func TestCommonsConforms(t *testing.T) {
	box := tools(t)
	p := start(t, product)
	at := strings.Replace(p.commons(t), "127.0.0.1", "localhost", 1)
	for revision, scenarios := range map[string][]string{
		"2025-11-25": {"server-initialize", "ping", "tools-list", "resources-list", "prompts-list"},
		"2026-07-28": {"tools-list", "resources-list", "prompts-list", "caching", "http-header-validation", "sep-2164-resource-not-found"},
	} {
		for _, scenario := range scenarios {
			t.Run(revision+" "+scenario, func(t *testing.T) {
				results := t.TempDir()
				out, code := box.run(t, box.module("@modelcontextprotocol", "conformance", "dist", "index.js"), "server",
					"--url", at, "--scenario", scenario, "--spec-version", revision, "--output-dir", results)
				if code != 0 {
					t.Errorf("the suite ended with %d:\n%s\n%s", code, failures(results), out)
				}
			})
		}
	}
}

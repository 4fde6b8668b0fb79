package mcp_test

import (
	"regexp"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"ubl/transport/mcp"
)

func TestNamesForClients(t *testing.T) {
	long := "server." + strings.Repeat("x", 100)
	for _, c := range []struct{ client, name, want string }{
		{"", "messenger.send", "messenger.send"},
		{"inspector", "messenger.send", "messenger.send"},
		{"claude-ai", "messenger.send", "messenger_send"},
		{"Claude Desktop", "messenger.send", "messenger_send"},
		{"claude-code", "office.llm.complete", "office_llm_complete"},
		{"claude-ai (via mcp-remote 0.15.1)", "messenger.send", "messenger_send"},
		{"inspector (via mcp-remote 0.15.1)", "messenger.send", "messenger.send"},
		{"cursor-vscode", "messenger.send", "messenger_send"},
		{"codex-mcp-client", "messenger.send", "messenger_send"},
		{"openai-mcp", "messenger.send", "messenger_send"},
		{"Visual Studio Code", "messenger.send", "messenger_send"},
		{"GitHub-Copilot", "messenger.send", "messenger_send"},
		{"gemini-cli-mcp-client", "messenger.send", "messenger_send"},
		{"", long, long},
		{"claude-ai", long, "server_" + strings.Repeat("x", 48) + "_1697f41a"},
		{"cursor", long, "server_" + strings.Repeat("x", 32) + "_1697f41a"},
	} {
		if got := mcp.Spell(c.client, c.name); got != c.want {
			t.Errorf("%s sees %s as %s, want %s", c.client, c.name, got, c.want)
		}
	}
}

// TestNamesAreUnderstood: whatever a client is shown it may call, and clients
// that refuse dots are shown nothing else they refuse.
func TestNamesAreUnderstood(t *testing.T) {
	plain := regexp.MustCompile(`^[a-zA-Z0-9_-]{1,64}$`)
	name := rapid.StringMatching(`[a-z0-9-]{1,32}\.[A-Za-z0-9_.-]{1,90}`)
	client := rapid.SampledFrom([]string{"", "claude-ai", "cursor", "Visual Studio Code", "codex", "gemini"})
	rapid.Check(t, func(t *rapid.T) {
		tool, who := name.Draw(t, "tool"), client.Draw(t, "client")
		shown := mcp.Spell(who, tool)
		if who != "" && !plain.MatchString(shown) {
			t.Fatalf("%s sees %s", who, shown)
		}
		if !mcp.Means(shown, tool) {
			t.Fatalf("%s does not mean %s", shown, tool)
		}
		if other := name.Draw(t, "other"); len(tool) > 70 && other != tool && len(other) > 70 && mcp.Means(shown, other) && shown != mcp.Spell(who, other) {
			t.Fatalf("%s means %s, too", shown, other)
		}
	})
}

func TestURIs(t *testing.T) {
	for uri, want := range map[string]string{
		"ubl://rooms/r:general":          "ubl://rooms/r:general",
		"ubl://rooms/r%3Ageneral":        "ubl://rooms/r:general",
		"ubl://documents/w:general/d:1":  "ubl://documents/w:general/d:1",
		"ubl://documents/w%3Ageneral/d:": "",
		"ubl://documents/w:general":      "",
		"ubl://documents/w:a/d:1/more":   "",
		"ubl://receipts/42":              "ubl://receipts/42",
		"ubl://receipts/042":             "ubl://receipts/42",
		"ubl://receipts/0":               "",
		"ubl://receipts/-1":              "",
		"ubl://receipts/":                "",
		"ubl://rooms/general":            "",
		"ubl://rooms/r:a/b":              "",
		"ubl://rooms/r:%zz":              "",
		"ubl://":                         "",
		"file:///etc/passwd":             "",
		"":                               "",
	} {
		if got := mcp.KeyOf(uri); got != want {
			t.Errorf("%s is %q, want %q", uri, got, want)
		}
	}
}

func FuzzURI(f *testing.F) {
	f.Add("ubl://rooms/r:general")
	f.Add("ubl://documents/w:general/d%3A1")
	f.Fuzz(func(t *testing.T, uri string) {
		if key := mcp.KeyOf(uri); key != "" && mcp.KeyOf(key) != key {
			t.Errorf("%q is %q, which is %q", uri, key, mcp.KeyOf(key))
		}
	})
}

func TestSchemasArePortable(t *testing.T) {
	for schema, want := range map[string]string{
		`{"type":"object","additionalProperties":false}`: `{"additionalProperties":false,"type":"object"}`,
		`{"properties":{"a":false,"b":true}}`:            `{"properties":{"a":{"not":{}},"b":{}}}`,
		`{"else":{"properties":{"a":false}},"not":true}`: `{"else":{"properties":{"a":{"not":{}}}},"not":{}}`,
		`{"anyOf":[false,{"items":true}]}`:               `{"anyOf":[{"not":{}},{"items":{}}]}`,
		`{"properties":{"x":{"default":false}}}`:         `{"properties":{"x":{"default":false}}}`,
	} {
		if got := mcp.Portable(schema); got != want {
			t.Errorf("%s became %s, want %s", schema, got, want)
		}
	}
}

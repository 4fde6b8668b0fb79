package web_test

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"flag"
	"net/url"
	"os"
	"strings"
	"testing"

	"ubl/transport/mcp"
	"ubl/transport/web"
)

var update = flag.Bool("update", false, "write the files that the app has from Go")

// filled is a snippet as it is shown, for one address and token.
type filled struct {
	Client string `json:"client"`
	Way    string `json:"way"`
	URL    string `json:"url"`
	Token  string `json:"token"`
	Text   string `json:"text"`
	Link   string `json:"link"`
}

const filledFile = "app/test/filled.json"

// TestClientsAreFilledAlike: the app's own test reads what is filled in here, and fills in the same.
func TestClientsAreFilledAlike(t *testing.T) {
	var all []filled
	for _, c := range web.Clients() {
		for _, server := range []string{"https://ubl.example.com/portal/mcp", "http://127.0.0.1:8080/portal/mcp"} {
			for i, snippet := range []web.Snippet{c.Token, c.SignIn} {
				text, link := snippet.Fill(server, "ubl_0a1b_2c3d_example.com")
				all = append(all, filled{c.ID, []string{"token", "sign_in"}[i], server, "ubl_0a1b_2c3d_example.com", text, link})
			}
		}
	}
	kept(t, filledFile, all)
}

// TestClientsAreInOrder: each client says where, what is JSON parses, and no value is left out.
func TestClientsAreInOrder(t *testing.T) {
	const server, token = "https://ubl.example.com/portal/mcp", "ubl_0a1b_2c3d_example.com"
	seen := map[string]bool{}
	for _, c := range web.Clients() {
		if found, ok := web.ClientOf(c.ID); !ok || found.Label != c.Label || seen[c.ID] {
			t.Errorf("%s is there twice, or not found", c.ID)
		}
		seen[c.ID] = true
		for way, s := range map[string]web.Snippet{"with a token": c.Token, "by signing in": c.SignIn} {
			text, link := s.Fill(server, token)
			if !strings.HasSuffix(s.Where, ":") || !strings.Contains(text, server) || strings.Contains(text, "{url}") || strings.Contains(text, "{token}") {
				t.Errorf("%s %s: %s\n%s", c.ID, way, s.Where, text)
			}
			if s.Form == "json" && !json.Valid([]byte(text)) {
				t.Errorf("%s %s is no JSON: %s", c.ID, way, text)
			}
			if has := strings.Contains(text, token); has != (way == "with a token") {
				t.Errorf("%s %s: has a token: %v", c.ID, way, has)
			}
			if link != "" {
				config := configIn(t, link)
				if config["url"] != server || strings.Contains(link, "+") {
					t.Errorf("%s %s installs %v by %s", c.ID, way, config, link)
				}
			}
		}
	}
	for _, id := range []string{"claude-code", "claude-desktop", "cursor", "vs-code", "codex", "gemini-cli", "windsurf", "zed", "other"} {
		if !seen[id] {
			t.Errorf("%s is missing", id)
		}
	}
	if _, ok := web.ClientOf("emacs"); ok {
		t.Error("a client that isn't in the table")
	}
}

// configIn is the configuration in a link, read as Cursor and VS Code do.
func configIn(t *testing.T, link string) (config map[string]any) {
	t.Helper()
	at, err := url.Parse(link)
	if err != nil {
		t.Fatal(err)
	}
	var text []byte
	switch at.Scheme {
	case "cursor":
		text, err = base64.StdEncoding.DecodeString(at.Query().Get("config"))
	case "vscode":
		var plain string
		plain, err = url.PathUnescape(at.RawQuery)
		text = []byte(plain)
	default:
		t.Fatalf("%s: nobody answers to that", link)
	}
	if err == nil {
		err = json.Unmarshal(text, &config)
	}
	if err != nil {
		t.Fatalf("%s: %v", link, err)
	}
	return config
}

const grantsFile = "app/src/screens/agents/grants.json"

// TestGrants: what an owner may let an agent use in the app is what the page that lets agents in
// offers, in the same words.
func TestGrants(t *testing.T) {
	grants, err := mcp.Grants("/mcp", nil)
	if err != nil {
		t.Fatal(err)
	}
	type grant struct {
		Name   string   `json:"name"`
		Says   string   `json:"says"`
		Tools  []string `json:"tools"`
		Chosen bool     `json:"chosen"`
	}
	all := make([]grant, len(grants))
	for i, g := range grants {
		all[i] = grant{g.Name, g.Says, g.Tools, g.Chosen}
	}
	kept(t, grantsFile, all)
}

// kept compares a value with the file that has it, or writes that.
func kept(t *testing.T, file string, value any) {
	t.Helper()
	var got bytes.Buffer
	out := json.NewEncoder(&got)
	out.SetEscapeHTML(false)
	out.SetIndent("", " ")
	if err := out.Encode(value); err != nil {
		t.Fatal(err)
	}
	if *update {
		if err := os.WriteFile(file, got.Bytes(), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if got.String() != string(want) {
		t.Errorf("%s is not what Go has: go test ./transport/web -run 'TestClients|TestGrants' -update, and look at the difference", file)
	}
}

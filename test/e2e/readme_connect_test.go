package e2e

import (
	"encoding/json"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"ubl/test/need"
)

// TestReadmeConnect does what the README says of connecting an agent: its token is made by
// the commands there, and each client's snippet, with that token in the place that the
// client puts it, lists the tools, writes into a room and reads it.
func TestReadmeConnect(t *testing.T) {
	need.Tool(t, "bash")
	n := newNode(t)
	out := n.runSection("connect", "\necho \"the token: $AGENT_TOKEN\"\n")
	inOrder(t, out, []string{"r:general", "claude acts in t:localhost", "messenger.send", "sent as 4 in r:general, receipt ", "claude  hello from ubl mcp-check", "the token: "})
	_, rest, _ := strings.Cut(out, "the token: ")
	token := strings.TrimSpace(rest)

	readme, err := os.ReadFile("../../README.md")
	must(t, err)
	_, agents, _ := strings.Cut(string(readme), "<!-- end of connect -->")
	for client, read := range map[string]func(*testing.T, string) snippet{
		"Claude Code": ofClaudeCode, "Claude Desktop": ofClaudeDesktop, "VS Code": ofVSCode, "Cursor": ofCursor,
	} {
		t.Run(client, func(t *testing.T) {
			_, rest, _ := strings.Cut(agents, "**"+client+"**")
			_, rest, _ = strings.Cut(rest, "```")
			_, rest, _ = strings.Cut(rest, "\n")
			block, _, found := strings.Cut(rest, "```")
			if !found {
				t.Fatalf("the README has no snippet for %s", client)
			}
			s := read(t, block)
			for _, place := range []string{"$AGENT_TOKEN", "${input:ubl}", "${env:AGENT_TOKEN}", "…"} {
				s.authorization = strings.ReplaceAll(s.authorization, place, token)
			}
			s.url = strings.ReplaceAll(s.url, "127.0.0.1:8080", n.addr)
			n.talks(t, client, s)
		})
	}
}

// TestReadmeOneRoom makes the agent for one room as the README does: it reads and writes there
// over both transports, is refused elsewhere, and ends when the owner says so.
func TestReadmeOneRoom(t *testing.T) {
	need.Tool(t, "bash")
	n := newNode(t)
	owner := n.client(n.token("owner@localhost"))
	must(t, owner.do(t.Context(), "POST", "/api/rooms", "", map[string]any{"name": "board"}, nil))
	out := n.runSection("connect", section(t, "one room")+"\necho \"the token: $AGENT_TOKEN\"\n")
	inOrder(t, out, []string{"scribe acts in t:localhost", "sent as ", "minutes follow", "the token: ubl_"})
	_, rest, _ := strings.Cut(out, "the token: ")
	token := strings.TrimSpace(rest)

	n.talks(t, "the scribe", snippet{"http://" + n.addr + "/portal/mcp", "Bearer " + token})
	scribe := n.bearer("the scribe", token)
	for _, path := range []string{"/api/rooms/r:board/history", "/api/atoms"} {
		if status, answer := scribe.ask("GET", path, ""); status != http.StatusForbidden {
			t.Errorf("%s: %d %s", path, status, answer)
		}
	}
	n.run("token", "revoke", "scribe", "--url", "http://"+n.addr, "--token-file", n.tokenFile("owner@localhost"))
	if status, answer := scribe.ask("GET", "/api/whoami", ""); status != http.StatusUnauthorized {
		t.Errorf("a revoked agent: %d %s", status, answer)
	}
}

// tokenFile keeps a token of somebody in a file.
func (n *node) tokenFile(email string) string {
	n.t.Helper()
	file := filepath.Join(n.t.TempDir(), "token")
	must(n.t, os.WriteFile(file, []byte(n.token(email)+"\n"), 0o600))
	return file
}

// snippet is what a client is told: where the server is, and what to send with each request.
type snippet struct{ url, authorization string }

func ofClaudeCode(t *testing.T, block string) snippet {
	t.Helper()
	found := regexp.MustCompile(`claude mcp add --transport http ubl (\S+) --header "Authorization: ([^"]+)"`).FindStringSubmatch(block)
	if found == nil {
		t.Fatalf("no command: %s", block)
	}
	return snippet{found[1], found[2]}
}

func ofClaudeDesktop(t *testing.T, block string) snippet {
	t.Helper()
	var config struct {
		Servers map[string]struct {
			Args []string
			Env  map[string]string
		} `json:"mcpServers"`
	}
	must(t, json.Unmarshal([]byte(block), &config))
	s := config.Servers["ubl"]
	last := s.Args[len(s.Args)-1] // Authorization:${NAME}
	name := strings.TrimSuffix(strings.TrimPrefix(last, "Authorization:${"), "}")
	if s.Env[name] == "" {
		t.Fatalf("%s isn't in env", last)
	}
	return snippet{s.Args[2], s.Env[name]}
}

func ofVSCode(t *testing.T, block string) snippet {
	t.Helper()
	var config struct {
		Inputs  []struct{ ID string }
		Servers map[string]remoteServer
	}
	must(t, json.Unmarshal([]byte(block), &config))
	if len(config.Inputs) != 1 || config.Inputs[0].ID != "ubl" {
		t.Errorf("the token is asked for as %v", config.Inputs)
	}
	return config.Servers["ubl"].snippet()
}

func ofCursor(t *testing.T, block string) snippet {
	t.Helper()
	var config struct {
		Servers map[string]remoteServer `json:"mcpServers"`
	}
	must(t, json.Unmarshal([]byte(block), &config))
	return config.Servers["ubl"].snippet()
}

type remoteServer struct {
	URL     string
	Headers map[string]string
}

func (s remoteServer) snippet() snippet { return snippet{s.URL, s.Headers["Authorization"]} }

// RoundTrip sends what the snippet says.
func (s snippet) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	r.Header.Set("Authorization", s.authorization)
	return http.DefaultTransport.RoundTrip(r)
}

// talks is what a client does first: it lists tools, writes and reads.
func (n *node) talks(t *testing.T, name string, s snippet) {
	t.Helper()
	client := mcp.NewClient(&mcp.Implementation{Name: "readme", Version: "1"}, nil)
	session, err := client.Connect(t.Context(), &mcp.StreamableClientTransport{
		Endpoint: s.url, HTTPClient: &http.Client{Transport: s}, DisableStandaloneSSE: true}, nil)
	must(t, err)
	defer session.Close()
	tools, err := session.ListTools(t.Context(), nil)
	must(t, err)
	if len(tools.Tools) == 0 {
		t.Error("no tool is listed")
	}
	use := func(tool string, args map[string]any) string {
		t.Helper()
		got, err := session.CallTool(t.Context(), &mcp.CallToolParams{Name: tool, Arguments: args})
		must(t, err)
		said, err := json.Marshal(got)
		must(t, err)
		if got.IsError {
			t.Fatalf("%s: %s", tool, said)
		}
		return string(said)
	}
	text := "hello from " + name
	use("messenger.send", map[string]any{"room_id": "r:general", "type": "text", "body": map[string]any{"text": text}})
	if said := use("messenger.history", map[string]any{"room_id": "r:general"}); !strings.Contains(said, text) {
		t.Errorf("the room doesn't have it: %s", said)
	}
}

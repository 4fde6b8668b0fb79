package e2e

import (
	"cmp"
	"encoding/json"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/BurntSushi/toml"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"ubl/test/need"
	"ubl/transport/web"
)

// TestReadmeConnect does what the README says of connecting an agent: its token is made by
// the commands there, its snippets are the table's, and what each client of that is told, with
// the token in it, lists the tools, writes into a room and reads it.
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
	for _, client := range []string{"claude-code", "claude-desktop", "vs-code", "cursor"} {
		c, _ := web.ClientOf(client)
		_, rest, _ := strings.Cut(agents, "**"+c.Label+"**")
		_, rest, _ = strings.Cut(rest, "```")
		_, rest, _ = strings.Cut(rest, "\n")
		block, _, _ := strings.Cut(rest, "\n```")
		if told, _ := c.Token.Fill("http://127.0.0.1:8080/portal/mcp", "$AGENT_TOKEN"); block != told {
			t.Errorf("the README tells %s\n%s\nand the table has\n%s", c.Label, block, told)
		}
	}
	for _, c := range web.Clients() {
		t.Run(c.Label, func(t *testing.T) {
			text, _ := c.Token.Fill("http://"+n.addr+"/portal/mcp", token)
			n.talks(t, c.Label, toldTo(t, c, text))
		})
	}
}

// TestTokenForClient makes an agent at the command line as its client is told of it.
func TestTokenForClient(t *testing.T) {
	n := newNode(t)
	must(t, n.client(n.token("owner@localhost")).do(t.Context(), "GET", "/api/whoami", "", nil, nil))
	codex, _ := web.ClientOf("codex")
	told := n.run("token", "owner@localhost", "--data", n.dir, "--service", "scribe", "--client", "codex")
	n.talks(t, "codex", toldTo(t, codex, told))
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

// toldTo reads what a client is told as that client does.
func toldTo(t *testing.T, c web.Client, text string) snippet {
	t.Helper()
	switch c.Token.Form {
	case "shell":
		return ofClaudeCode(t, text)
	case "text":
		address, header, _ := strings.Cut(text, "\n")
		return snippet{address, strings.TrimPrefix(header, "Authorization: ")}
	case "toml":
		var config struct {
			Servers map[string]remoteServer `toml:"mcp_servers"`
		}
		_, err := toml.Decode(text, &config)
		must(t, err)
		return config.Servers["ubl"].snippet(t)
	}
	var config map[string]map[string]remoteServer
	must(t, json.Unmarshal([]byte(text), &config))
	for _, servers := range config {
		return servers["ubl"].snippet(t)
	}
	t.Fatalf("%s is told nothing", c.Label)
	return snippet{}
}

// ofClaudeCode has Claude Code itself add the server where it is installed: it refuses what it doesn't know.
func ofClaudeCode(t *testing.T, command string) snippet {
	t.Helper()
	found := regexp.MustCompile(`^claude mcp add --transport http ubl (\S+) --header "Authorization: ([^"]+)"$`).FindStringSubmatch(command)
	if found == nil {
		t.Fatalf("no command: %s", command)
	}
	if _, err := exec.LookPath("claude"); err == nil {
		home := t.TempDir()
		add := exec.CommandContext(t.Context(), "bash", "-c", command)
		add.Env = append(os.Environ(), "HOME="+home, "CLAUDE_CONFIG_DIR="+home)
		add.Dir = home
		if out, err := add.CombinedOutput(); err != nil {
			t.Errorf("Claude Code says %s (%v)", out, err)
		}
	}
	return snippet{found[1], found[2]}
}

// remoteServer is a server in a client's configuration. Each client has its own word for the address;
// Claude Desktop starts mcp-remote, which replaces ${NAME} by what is in env.
type remoteServer struct {
	URL       string            `toml:"url"`
	ServerURL string            `json:"serverUrl"`
	HTTPURL   string            `json:"httpUrl"`
	Headers   map[string]string `toml:"http_headers"`
	Args      []string
	Env       map[string]string
}

func (s remoteServer) snippet(t *testing.T) snippet {
	t.Helper()
	if len(s.Args) == 0 {
		return snippet{cmp.Or(s.URL, s.ServerURL, s.HTTPURL), s.Headers["Authorization"]}
	}
	last := s.Args[len(s.Args)-1] // Authorization:${NAME}
	name := strings.TrimSuffix(strings.TrimPrefix(last, "Authorization:${"), "}")
	if s.Env[name] == "" {
		t.Fatalf("%s isn't in env", last)
	}
	return snippet{s.Args[2], s.Env[name]}
}

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

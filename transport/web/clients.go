package web

import (
	"bytes"
	_ "embed"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net/url"
	"strings"
)

// clientsJSON is the one table of how MCP clients are told of the server. The app reads it
// too (app/src/screens/agents/clients.ts), and the README's snippets are its own.
//
//go:embed app/src/screens/agents/clients.json
var clientsJSON []byte

// Client is an MCP client, and the two ways in which it is told of the server.
type Client struct {
	ID    string `json:"id"` // as in "ubl token --client ID"
	Label string `json:"label"`
	// Token has the agent's own token in it, SignIn nothing but the address: the client
	// opens a browser, and a person lets the agent in.
	Token  Snippet `json:"token"`
	SignIn Snippet `json:"sign_in"`
}

// Snippet is what to paste, and where. {url}, {token} and {allow_http} stand in the table for
// what [Snippet.Fill] puts there.
type Snippet struct {
	Where string   `json:"where"` // what to do with it, a sentence with a colon
	Form  string   `json:"form"`  // shell, json, toml or text
	Text  []string `json:"text"`  // its lines
	// Link is for clients that install from an address, nil for others.
	Link *InstallLink `json:"link"`
}

// InstallLink is the address by which a client installs a configuration. As is how that is
// written into it: base64 or uri.
type InstallLink struct {
	Start  string          `json:"start"`
	As     string          `json:"as"`
	Config json.RawMessage `json:"config"`
}

// Clients are all clients of the table, in its order, the last of them any other.
func Clients() []Client {
	var all []Client
	if err := json.Unmarshal(clientsJSON, &all); err != nil { // a test reads it
		panic(fmt.Sprintf("web: couldn't read the table of clients: %v", err))
	}
	return all
}

// ClientOf is the client of an id, false where there is none.
func ClientOf(id string) (Client, bool) {
	for _, c := range Clients() {
		if c.ID == id {
			return c, true
		}
	}
	return Client{}, false
}

// Fill puts an MCP server's address and an agent's token into the snippet: what to paste, and
// the link, "" for none. Neither value may need escapes in JSON, TOML or a shell: addresses of
// ours and service tokens don't.
func (s Snippet) Fill(address, token string) (text, link string) {
	allow := ""
	if strings.HasPrefix(address, "http:") {
		allow = `"--allow-http", `
	}
	values := strings.NewReplacer("{url}", address, "{token}", token, "{allow_http}", allow)
	text = values.Replace(strings.Join(s.Text, "\n"))
	if s.Link == nil {
		return text, ""
	}
	var config bytes.Buffer
	if err := json.Compact(&config, s.Link.Config); err != nil { // it was read from JSON
		panic(fmt.Sprintf("web: couldn't write a configuration: %v", err))
	}
	filled := values.Replace(config.String())
	if s.Link.As == "base64" {
		filled = base64.StdEncoding.EncodeToString([]byte(filled))
	}
	return text, s.Link.Start + strings.ReplaceAll(url.QueryEscape(filled), "+", "%20")
}

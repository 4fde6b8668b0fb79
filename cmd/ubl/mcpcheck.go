package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"ubl"
)

// mcpCheckCmd is an agent that looks at everything once.
type mcpCheckCmd struct {
	remote
	format
	Path   string        `default:"/portal/mcp" help:"Where the server speaks MCP: /portal/mcp or /mcp." placeholder:"PATH"`
	Room   string        `default:"general" help:"The room to send to; - sends nothing." placeholder:"ROOM"`
	Text   string        `default:"hello from ubl mcp-check" help:"What to send." placeholder:"TEXT"`
	Within time.Duration `default:"30s" help:"How long the whole check may take."`
}

// checked is what a check found, as --json writes it.
type checked struct {
	Server   string          `json:"server"`
	Version  string          `json:"version"`
	Protocol string          `json:"protocol"`
	Tools    []checkedTool   `json:"tools"`
	Message  json.RawMessage `json:"message,omitempty"`
	// Receipt is the pair of atoms that the ledger has for the message. Unproven says why there is
	// none.
	Receipt  json.RawMessage `json:"receipt,omitempty"`
	Unproven string          `json:"unproven,omitempty"`
}

type checkedTool struct {
	Name  string `json:"name"`
	Title string `json:"title"`
}

// Run connects as agents do, lists the tools, sends a message, and looks its
// receipt up in the ledger.
func (c *mcpCheckCmd) Run(ctx context.Context, p *program) error {
	ctx, cancel := context.WithTimeout(ctx, c.Within)
	defer cancel()
	session, err := c.connect(ctx, p)
	if err != nil {
		return err
	}
	defer session.Close()
	found, err := c.look(ctx, session)
	if err == nil && c.Room != "-" {
		err = c.send(ctx, session, found)
	}
	if err != nil {
		return err
	}
	return c.print(p, found)
}

// connect opens a session with the token in every request.
func (c *mcpCheckCmd) connect(ctx context.Context, p *program) (*mcp.ClientSession, error) {
	server, err := c.client(p)
	if err != nil {
		return nil, err
	}
	agent := mcp.NewClient(&mcp.Implementation{Name: "ubl-mcp-check", Version: version()}, nil)
	session, err := agent.Connect(ctx, &mcp.StreamableClientTransport{
		Endpoint:             server.base + "/" + strings.TrimPrefix(c.Path, "/"),
		HTTPClient:           &http.Client{Transport: bearer{server.token, server.http.Transport}, CheckRedirect: server.http.CheckRedirect},
		DisableStandaloneSSE: true,
	}, nil)
	if err != nil {
		return nil, fmt.Errorf("couldn't connect: %w", err)
	}
	return session, nil
}

// bearer sends the token with each request.
type bearer struct {
	token string
	next  http.RoundTripper
}

// RoundTrip implements [http.RoundTripper].
func (b bearer) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	r.Header.Set("Authorization", "Bearer "+b.token)
	return b.next.RoundTrip(r)
}

// look says who answers, and with which tools.
func (c *mcpCheckCmd) look(ctx context.Context, session *mcp.ClientSession) (*checked, error) {
	hello := session.InitializeResult()
	found := &checked{Protocol: hello.ProtocolVersion, Tools: []checkedTool{}}
	if hello.ServerInfo != nil {
		found.Server, found.Version = hello.ServerInfo.Name, hello.ServerInfo.Version
	}
	for tool, err := range session.Tools(ctx, nil) {
		if err != nil {
			return nil, fmt.Errorf("couldn't list the tools: %w", err)
		}
		found.Tools = append(found.Tools, checkedTool{tool.Name, tool.Title})
	}
	return found, nil
}

// send uses messenger.send, and receipt.get for what it left in the ledger.
func (c *mcpCheckCmd) send(ctx context.Context, session *mcp.ClientSession, found *checked) error {
	room, err := roomID(c.Room)
	if err != nil {
		return err
	}
	var sent struct {
		Message json.RawMessage `json:"message"`
	}
	if err := use(ctx, session, "messenger.send", map[string]any{"room_id": room, "type": "text", "body": map[string]any{"text": c.Text}}, &sent); err != nil {
		return notSent(err)
	}
	m, err := formed[ubl.Message]("a message", sent.Message)
	if err != nil {
		return err
	}
	var pair struct {
		Atoms json.RawMessage `json:"atoms"`
	}
	found.Message = sent.Message
	err = use(ctx, session, "receipt.get", map[string]any{"seq": m.Receipt.Seq}, &pair)
	if refusal, ok := errors.AsType[*apiError](err); ok && refusal.body.Error.Code == ubl.CodeForbidden {
		found.Unproven = "the agent may not look receipts up"
		return nil
	}
	found.Receipt = pair.Atoms
	return err
}

// notSent says what to do where the caller has no such room, and returns err for any
// other reason.
func notSent(err error) error {
	refusal, ok := errors.AsType[*apiError](err)
	if !ok || refusal.body.Error.Code != ubl.CodeNotFound && refusal.body.Error.Code != ubl.CodeNotAMember {
		return err
	}
	return fmt.Errorf("couldn't send: %w; choose one of your rooms with --room (\"ubl rooms\" lists them), or send nothing with --room -", refusal)
}

// use calls a tool and decodes what it answers.
func use(ctx context.Context, session *mcp.ClientSession, tool string, args, answer any) error {
	res, err := session.CallTool(ctx, &mcp.CallToolParams{Name: tool, Arguments: args})
	if err != nil {
		return fmt.Errorf("couldn't use %s: %w", tool, err)
	}
	data, err := json.Marshal(res.StructuredContent)
	if err != nil {
		return err
	}
	if res.IsError {
		return failed(tool, res, data)
	}
	if err := json.Unmarshal(data, answer); err != nil {
		return errors.Join(fmt.Errorf("%s answered in another form", tool), err)
	}
	return nil
}

// failed is a call that failed, by its code where the answer has one.
func failed(tool string, res *mcp.CallToolResult, structured []byte) error {
	said := new(apiError)
	if err := errors.Join(json.Unmarshal(structured, &said.body.Error), json.Unmarshal(structured, &said.body)); err != nil || said.body.Error.Code == "" {
		return fmt.Errorf("%s failed: %s", tool, clean(textOf(res)))
	}
	said.status = said.body.Error.Code.Status()
	return fmt.Errorf("couldn't use %s: %w", tool, said)
}

func textOf(res *mcp.CallToolResult) string {
	var texts []string
	for _, content := range res.Content {
		if text, ok := content.(*mcp.TextContent); ok {
			texts = append(texts, text.Text)
		}
	}
	return strings.Join(texts, " ")
}

func (c *mcpCheckCmd) print(p *program, found *checked) error {
	if c.JSON {
		return json.NewEncoder(p.out).Encode(found)
	}
	fmt.Fprintf(p.out, "%s %s speaks MCP %s and shows %d tools:\n", clean(found.Server), clean(found.Version), clean(found.Protocol), len(found.Tools))
	table := tabwriter.NewWriter(p.out, 0, 0, 2, ' ', 0)
	for _, t := range found.Tools {
		fmt.Fprintf(table, "  %s\t%s\n", clean(t.Name), clean(t.Title))
	}
	if err := table.Flush(); err != nil || found.Message == nil {
		return err
	}
	var m ubl.Message
	if err := json.Unmarshal(found.Message, &m); err != nil {
		return err
	}
	fmt.Fprintf(p.out, "sent as %d in %s, receipt %d %s\n", m.RoomSeq, m.RoomID, m.Receipt.Seq, clean(m.Receipt.HeadHash))
	if found.Unproven != "" {
		fmt.Fprintf(p.out, "not looked up in the ledger: %s\n", found.Unproven)
	}
	return nil
}

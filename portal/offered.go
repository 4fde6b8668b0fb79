package portal

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"ubl"
)

const (
	// maxCompletions is the protocol's.
	maxCompletions = 100
	// oldResourceNotFound is what servers of before 2026-07-28 answer for a resource that they
	// don't have; newer ones refuse the arguments.
	oldResourceNotFound = -32002
)

// useOffer makes a call by which a prompt is written out, or a resource read.
func (s *session) useOffer(ctx context.Context, stands string, args json.RawMessage) (*ubl.ToolResult, error) {
	if stands == ubl.ToolPrompts {
		return s.getPrompt(ctx, args)
	}
	return s.readResource(ctx, args)
}

// getPrompt answers the messages as structured content, and what they hold as content.
func (s *session) getPrompt(ctx context.Context, args json.RawMessage) (*ubl.ToolResult, error) {
	params := new(mcp.GetPromptParams)
	if err := json.Unmarshal(args, params); err != nil {
		return nil, ubl.Errorf(ubl.CodeValidation, "arguments: not those of a prompt")
	}
	r, err := s.client.GetPrompt(ctx, &mcp.GetPromptParams{Name: params.Name, Arguments: params.Arguments})
	if err != nil {
		return nil, err
	}
	if r.NeedsInput() || r.InputRequests != nil {
		return nil, errQuestion
	}
	blocks := make([]mcp.Content, len(r.Messages))
	for i, m := range r.Messages {
		blocks[i] = m.Content
	}
	out := new(ubl.ToolResult)
	if out.Content, err = withoutMeta(blocks); err != nil {
		return nil, unreadable(err)
	}
	var contents []json.RawMessage
	if err := json.Unmarshal(out.Content, &contents); err != nil {
		return nil, unreadable(err)
	}
	messages := make([]promptMessage, len(contents))
	for i, content := range contents {
		messages[i] = promptMessage{Content: content, Role: r.Messages[i].Role}
	}
	out.Structured, err = json.Marshal(writtenPrompt{r.Description, messages})
	return out, err
}

// writtenPrompt is a prompt that was written out, as MCP has it.
type writtenPrompt struct {
	Description string          `json:"description,omitempty"`
	Messages    []promptMessage `json:"messages"`
}

type promptMessage struct {
	Content json.RawMessage `json:"content"`
	Role    mcp.Role        `json:"role"`
}

// readResource answers the contents as content that holds resources.
func (s *session) readResource(ctx context.Context, args json.RawMessage) (*ubl.ToolResult, error) {
	var asked struct {
		URI string `json:"uri"`
	}
	if err := json.Unmarshal(args, &asked); err != nil || !ubl.ValidResourceURI(asked.URI) {
		return nil, ubl.Errorf(ubl.CodeValidation, "arguments.uri: not a URI of visible ASCII")
	}
	r, err := s.client.ReadResource(ctx, &mcp.ReadResourceParams{URI: asked.URI})
	wire, _ := errors.AsType[*jsonrpc.Error](err)
	switch {
	case wire != nil && (wire.Code == oldResourceNotFound || wire.Code == jsonrpc.CodeInvalidParams):
		return nil, ubl.Errorf(ubl.CodeNotFound, "the server has no such resource").Because(err)
	case err != nil:
		return nil, err
	case r.NeedsInput() || r.InputRequests != nil:
		return nil, errQuestion
	}
	blocks := make([]mcp.Content, len(r.Contents))
	for i, c := range r.Contents {
		blocks[i] = &mcp.EmbeddedResource{Resource: c}
	}
	content, err := withoutMeta(blocks)
	if err != nil {
		return nil, unreadable(err)
	}
	return &ubl.ToolResult{Content: content}, nil
}

func unreadable(err error) error {
	return ubl.Errorf(ubl.CodeUnavailable, "the server's answer can't be read").Because(err)
}

// resources lists what a server lists now, at most MaxResources. It is kept for as long as a
// catalogue is, or until the server says that it has changed.
func (s *session) resources(ctx context.Context, now ubl.Time) ([]ubl.OfferedResource, error) {
	s.mu.Lock()
	list, at, changes := s.listed, s.listedAt, s.listChanges
	s.mu.Unlock()
	if at != 0 && now < at.Add(catalogueLife) {
		return list, nil
	}
	hide, list := s.guard.shown.get(), []ubl.OfferedResource{}
	seen := map[string]bool{}
	left := 0
	err := each(ctx, func(ctx context.Context, cursor string) ([]*mcp.Resource, string, error) {
		r, err := s.client.ListResources(ctx, &mcp.ListResourcesParams{Cursor: cursor})
		if err != nil {
			return nil, "", err
		}
		return r.Resources, r.NextCursor, nil
	}, func(r *mcp.Resource) bool {
		if r == nil || seen[r.URI] || !hide.mayName(r.URI) {
			left++
			return left < ubl.MaxResources
		}
		seen[r.URI] = true
		list = append(list, ubl.OfferedResource{
			URI: r.URI, Name: hide.words(r.Name), Title: hide.words(r.Title), Description: hide.words(r.Description), MIMEType: hide.words(r.MIMEType), Size: max(r.Size, 0),
		})
		return len(list) < ubl.MaxResources
	})
	if err != nil {
		return nil, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.listChanges == changes {
		s.listed, s.listedAt = list, now
	}
	return list, nil
}

// forgetResources has them listed anew.
func (s *session) forgetResources() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.listed, s.listedAt = nil, 0
	s.listChanges++
}

// mayUse is the tool by which the caller may use what a server offers, for a look that is no
// call of it: they are admitted, and an owner has seen it.
func (p *Portal) mayUse(ctx context.Context, who ubl.Identity, tool string) (*catalogue, *ubl.PortalTool, error) {
	c, err := p.catalogue(ctx, who)
	if err != nil {
		return nil, nil, err
	}
	t, r := c.byName[tool], c.access[tool]
	if t == nil || r == nil || !r.Admits(who) || !t.Callable() || c.servers[t.ServerID] == nil || p.schemas.of(t).stands == "" {
		return nil, nil, ubl.NoTool()
	}
	return c, t, nil
}

// Resources lists what the server of a tool that stands for resources lists now. Callers who may use
// the tool; they must not change what they get. Listing is not on record, as that of tools isn't: what is read is.
func (p *Portal) Resources(ctx context.Context, who ubl.Identity, tool string) (out []ubl.OfferedResource, err error) {
	c, t, err := p.mayUse(ctx, who, tool)
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, connectTimeout)
	defer cancel()
	err = p.with(ctx, who, c.servers[t.ServerID], c.number, func(ctx context.Context, s *session) error {
		out, err = s.resources(ctx, ubl.TimeOf(p.now()))
		return err
	})
	return out, err
}

// Complete asks a server what an argument may be, for callers who may use what it belongs to. It
// is not on record: it comes with each key that is pressed, and changes nothing. A
// server that completes nothing has no suggestions.
func (p *Portal) Complete(ctx context.Context, who ubl.Identity, what ubl.Completing) (values []string, more bool, err error) {
	c, t, err := p.mayUse(ctx, who, what.Tool)
	if err != nil {
		return nil, false, err
	}
	ctx, cancel := context.WithTimeout(ctx, connectTimeout)
	defer cancel()
	err = p.with(ctx, who, c.servers[t.ServerID], c.number, func(ctx context.Context, s *session) error {
		values, more, err = s.complete(ctx, p.schemas.of(t).stands, what)
		return err
	})
	return values, more, err
}

func (s *session) complete(ctx context.Context, stands string, what ubl.Completing) (values []string, more bool, err error) {
	if caps := s.client.InitializeResult().Capabilities; caps == nil || caps.Completions == nil {
		return nil, false, nil
	}
	ref := &mcp.CompleteReference{Type: "ref/prompt", Name: what.Ref}
	if stands == ubl.ToolResources {
		ref = &mcp.CompleteReference{Type: "ref/resource", URI: what.Ref}
	}
	params := &mcp.CompleteParams{Ref: ref, Argument: mcp.CompleteParamsArgument{Name: what.Argument, Value: what.Value}}
	if len(what.Known) > 0 {
		params.Context = &mcp.CompleteContext{Arguments: what.Known}
	}
	r, err := s.client.Complete(ctx, params)
	if declines(err) {
		return nil, false, nil
	}
	if err != nil {
		return nil, false, fmt.Errorf("couldn't ask for completions: %w", err)
	}
	hide := s.guard.shown.get()
	for _, v := range r.Completion.Values {
		if len(values) == maxCompletions {
			return values, true, nil
		}
		if len(v) <= maxWords { // one that is cut off would be another
			values = append(values, hide.words(v))
		}
	}
	return values, r.Completion.HasMore, nil
}

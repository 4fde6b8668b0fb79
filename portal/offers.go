package portal

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"ubl"
)

const (
	// maxWords bounds a title or a description in an offer, in bytes.
	maxWords = 2000
	// maxSummary bounds what the description of a tool tells of what it offers.
	maxSummary = 4000
	// maxArguments bounds a prompt's arguments.
	maxArguments = 50
)

// offers are the definitions of the tools by which a server's prompts and resources are used, for
// each that it has. A tool of the server's own that has the name stands before ours.
func (s *session) offers(ctx context.Context, own []ubl.ToolDefinition) ([]ubl.ToolDefinition, error) {
	caps := s.client.InitializeResult().Capabilities
	if caps == nil {
		return nil, nil
	}
	taken := func(name string) bool {
		return slices.ContainsFunc(own, func(d ubl.ToolDefinition) bool { return d.Name == name })
	}
	var out []ubl.ToolDefinition
	if caps.Prompts != nil && !taken(ubl.ToolPrompts) {
		o, err := s.prompts(ctx)
		if err != nil {
			return nil, err
		}
		if len(o.Prompts) > 0 {
			out = append(out, offerTool(o, promptsTool))
		}
	}
	if caps.Resources != nil && !taken(ubl.ToolResources) {
		o, err := s.templates(ctx)
		if err != nil {
			return nil, err
		}
		out = append(out, offerTool(o, resourcesTool))
	}
	size := 0
	for _, d := range own {
		size += len(d.Definition)
	}
	for i, d := range out {
		out[i] = slim(s.access.Server.ServerID, d, size)
		size += len(out[i].Definition)
	}
	return out, nil
}

// declines reports whether a server answered a question by an error of its own: it says that it
// has such things, and then has none.
func declines(err error) bool {
	wire, ok := errors.AsType[*jsonrpc.Error](err)
	return ok && wire.Code != notSent
}

// each reads page after page until fn has enough; what a server declines is empty.
func each[P any](ctx context.Context, page func(ctx context.Context, cursor string) ([]P, string, error), fn func(P) (more bool)) error {
	cursor := ""
	for range maxPages {
		list, next, err := page(ctx, cursor)
		if declines(err) {
			return nil
		}
		if err != nil {
			return err
		}
		for _, p := range list {
			if !fn(p) {
				return nil
			}
		}
		if next == "" {
			return nil
		}
		cursor = next
	}
	return nil // what comes behind so many pages is left out
}

func (s *session) prompts(ctx context.Context) (*ubl.Offer, error) {
	o := &ubl.Offer{Stands: ubl.ToolPrompts}
	hide := s.guard.shown.get()
	seen := map[string]bool{}
	err := each(ctx, func(ctx context.Context, cursor string) ([]*mcp.Prompt, string, error) {
		r, err := s.client.ListPrompts(ctx, &mcp.ListPromptsParams{Cursor: cursor})
		if err != nil {
			return nil, "", err
		}
		return r.Prompts, r.NextCursor, nil
	}, func(p *mcp.Prompt) bool {
		made, ok := promptOf(p, hide)
		if !ok || seen[made.Name] || len(o.Prompts) == ubl.MaxPrompts || !ubl.ValidToolName(s.access.Server.ServerID+"."+made.Name) {
			o.Left++
			return o.Left < maxTools
		}
		seen[made.Name] = true
		o.Prompts = append(o.Prompts, made)
		return true
	})
	slices.SortFunc(o.Prompts, func(a, b ubl.OfferedPrompt) int { return cmp.Compare(a.Name, b.Name) })
	return o, err
}

func promptOf(p *mcp.Prompt, hide secrets) (out ubl.OfferedPrompt, ok bool) {
	if p == nil || len(p.Arguments) > maxArguments || hide.redact(p.Name) != p.Name {
		return out, false
	}
	out = ubl.OfferedPrompt{Name: p.Name, Title: hide.words(p.Title), Description: hide.words(p.Description)}
	for _, a := range p.Arguments {
		if a == nil || a.Name == "" || !validText(a.Name, maxName) || ubl.Plain(a.Name) != a.Name || hide.redact(a.Name) != a.Name {
			return out, false
		}
		out.Arguments = append(out.Arguments, ubl.OfferedArgument{
			Name: a.Name, Title: hide.words(a.Title), Description: hide.words(a.Description), Required: a.Required,
		})
	}
	return out, true
}

func (s *session) templates(ctx context.Context) (*ubl.Offer, error) {
	o := &ubl.Offer{Stands: ubl.ToolResources}
	hide := s.guard.shown.get()
	seen := map[string]bool{}
	err := each(ctx, func(ctx context.Context, cursor string) ([]*mcp.ResourceTemplate, string, error) {
		r, err := s.client.ListResourceTemplates(ctx, &mcp.ListResourceTemplatesParams{Cursor: cursor})
		if err != nil {
			return nil, "", err
		}
		return r.ResourceTemplates, r.NextCursor, nil
	}, func(t *mcp.ResourceTemplate) bool {
		if t == nil || seen[t.URITemplate] || len(o.Templates) == ubl.MaxTemplates || !hide.mayName(t.URITemplate) {
			o.Left++
			return o.Left < maxTools
		}
		seen[t.URITemplate] = true
		o.Templates = append(o.Templates, ubl.OfferedTemplate{
			URITemplate: t.URITemplate, Name: hide.words(t.Name), Title: hide.words(t.Title), Description: hide.words(t.Description), MIMEType: hide.words(t.MIMEType),
		})
		return true
	})
	slices.SortFunc(o.Templates, func(a, b ubl.OfferedTemplate) int { return cmp.Compare(a.URITemplate, b.URITemplate) })
	return o, err
}

// words is a text of a server's as it is kept: without what can't be seen and secrets, and short.
func (ss secrets) words(text string) string {
	text = ss.redact(ubl.Plain(strings.ToValidUTF8(text, "")))
	for len(text) > maxWords {
		_, n := utf8.DecodeLastRuneInString(text)
		text = text[:len(text)-n]
	}
	return text
}

// mayName reports whether a URI of a server's can be handed on: one with a secret in it couldn't
// be read by what is left of it.
func (ss secrets) mayName(uri string) bool { return ubl.ValidResourceURI(uri) && ss.redact(uri) == uri }

// offeredTool is the definition that an owner sees, and pins.
type offeredTool struct {
	mcp.Tool
	*ubl.Offer
}

// offerTool writes the definition of an offer. Where it is too large, half of what is offered goes,
// and half of that, until it fits.
func offerTool(o *ubl.Offer, tool func(*ubl.Offer) mcp.Tool) ubl.ToolDefinition {
	for {
		made := tool(o)
		made.Annotations = &mcp.ToolAnnotations{ReadOnlyHint: true, OpenWorldHint: new(true)}
		raw, err := json.Marshal(offeredTool{made, o})
		if err == nil {
			raw, err = ubl.Canonical(raw)
		}
		if size := len(o.Prompts) + len(o.Templates); err != nil || len(raw) <= ubl.MaxDefinition || size == 0 {
			return ubl.ToolDefinition{Name: made.Name, Definition: raw} // our own form has a canonical one
		}
		smaller := *o
		smaller.Prompts, smaller.Templates = o.Prompts[:len(o.Prompts)/2], o.Templates[:len(o.Templates)/2]
		smaller.Left += len(o.Prompts) - len(smaller.Prompts) + len(o.Templates) - len(smaller.Templates)
		o = &smaller
	}
}

func promptsTool(o *ubl.Offer) mcp.Tool {
	names := make([]string, 0, len(o.Prompts))
	lines := make([]string, 0, len(o.Prompts))
	for _, p := range o.Prompts {
		var args []string
		for _, a := range p.Arguments {
			optional := "?"
			if a.Required {
				optional = ""
			}
			args = append(args, a.Name+optional)
		}
		names = append(names, p.Name)
		lines = append(lines, fmt.Sprintf("%s(%s): %s", p.Name, strings.Join(args, ", "), cmp.Or(p.Description, p.Title)))
	}
	return mcp.Tool{
		Name: ubl.ToolPrompts, Title: "Prompts", Description: "Writes out one of the server's prompts." + summary(lines),
		InputSchema: map[string]any{
			"type": "object", "additionalProperties": false, "required": []string{"name"},
			"properties": map[string]any{
				"name":      map[string]any{"type": "string", "enum": names, "description": "The prompt's name."},
				"arguments": map[string]any{"type": "object", "additionalProperties": map[string]any{"type": "string"}, "description": "The prompt's arguments, all texts."},
			},
		},
	}
}

func resourcesTool(o *ubl.Offer) mcp.Tool {
	lines := make([]string, 0, len(o.Templates))
	for _, t := range o.Templates {
		lines = append(lines, t.URITemplate+": "+cmp.Or(t.Description, t.Title, t.Name))
	}
	return mcp.Tool{
		Name: ubl.ToolResources, Title: "Resources", Description: "Reads one of the server's resources by its URI, as the server itself spells it." + summary(lines),
		InputSchema: map[string]any{
			"type": "object", "additionalProperties": false, "required": []string{"uri"},
			"properties": map[string]any{"uri": map[string]any{"type": "string", "minLength": 1, "maxLength": ubl.MaxResourceURI, "description": "The server's own URI of the resource."}},
		},
	}
}

// summary tells models what there is, as far as there is room.
func summary(lines []string) string {
	var b strings.Builder
	for _, line := range lines {
		if b.Len()+len(line) > maxSummary {
			b.WriteString("\n…")
			break
		}
		b.WriteString("\n" + line)
	}
	return b.String()
}

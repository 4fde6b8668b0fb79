package mcp

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"strings"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"ubl"
)

// definition is what another server said of its tool. Its name is not taken
// from there.
type definition struct {
	Title       string               `json:"title"`
	Description string               `json:"description"`
	Input       json.RawMessage      `json:"inputSchema"`
	Output      json.RawMessage      `json:"outputSchema"`
	Annotations *sdk.ToolAnnotations `json:"annotations"`
}

// others lists the tools of other servers for a caller of the portal. A portal
// that can't be asked hides its tools and not ours.
func (s *Server) others(ctx context.Context, v *visit) []*ubl.PortalTool {
	if !v.portal || s.opts.Portal == nil {
		return nil
	}
	list, err := s.opts.Portal.Tools(ctx, v.who())
	if err != nil {
		s.opts.Log.WarnContext(ctx, "couldn't list the tools of other servers", "error", err)
	}
	return list
}

// otherTools are they as the client sees them, but those whose name another
// tool has already.
func (s *Server) otherTools(ctx context.Context, v *visit) []*sdk.Tool {
	d, taken := v.names(), make(map[string]bool)
	var out []*sdk.Tool
	for _, t := range s.others(ctx, v) {
		name := d.spell(t.Tool)
		if s.tools.find(name) != nil || taken[name] {
			continue
		}
		if tool := otherTool(t, name); tool != nil {
			taken[name] = true
			out = append(out, tool)
		}
	}
	return out
}

// otherTool is nil for a definition that would break the list for its readers.
func otherTool(t *ubl.PortalTool, name string) *sdk.Tool {
	var def definition
	var root struct {
		Type string `json:"type"`
	}
	if json.Unmarshal(ubl.PlainJSON(t.Definition), &def) != nil || json.Unmarshal(def.Input, &root) != nil || root.Type != "object" {
		return nil
	}
	server, _, _ := strings.Cut(t.Tool, ".")
	tool := &sdk.Tool{
		Meta: sdk.Meta{ubl.MetaForeign: foreign{server}},
		Name: name, Title: def.Title, Description: ubl.ForeignTool(server, def.Description), InputSchema: def.Input, Annotations: def.Annotations,
	}
	if len(def.Output) > 0 && string(def.Output) != "null" {
		tool.OutputSchema = def.Output
	}
	return tool
}

// foreign is the value of [ubl.MetaForeign].
type foreign struct {
	Server string `json:"server"`
}

// appendContent writes the content items of a result, those of another server between
// marks whose number random draws.
func (r *Result) appendContent(dst []byte, random io.Reader) ([]byte, error) {
	switch {
	case r.Foreign == "" && r.Content == nil:
		return appendText(dst, r.Structured)
	case r.Foreign == "":
		return append(dst, r.Content...), nil
	}
	items := bytes.TrimSpace(r.Content)
	if r.Content == nil { // an answer of ours that holds their words
		var err error
		if items, err = appendText(nil, r.Structured); err != nil {
			return nil, err
		}
	}
	if len(items) < 2 || items[0] != '[' || items[len(items)-1] != ']' {
		return nil, errors.New("the content of a result is no list")
	}
	before, after, err := ubl.ForeignMark(r.Foreign, items, random)
	if err != nil {
		return nil, err
	}
	if dst, err = appendText(dst, []byte(before)); err != nil {
		return nil, err
	}
	dst = append(dst[:len(dst)-1], ',')
	if items = bytes.TrimSpace(items[1 : len(items)-1]); len(items) > 0 {
		dst = append(append(dst, items...), ',')
	}
	last, err := appendText(nil, []byte(after))
	if err != nil {
		return nil, err
	}
	return append(dst, last[1:]...), nil
}

// otherName is the portal's name of the tool that the client means. One that
// names a server is tried as it is: the portal knows whether there is such a tool.
func (s *Server) otherName(ctx context.Context, v *visit, called string) (string, error) {
	if !v.portal || s.opts.Portal == nil {
		return "", ubl.NoTool()
	}
	list, err := s.opts.Portal.Tools(ctx, v.who())
	for _, t := range list {
		if means(called, t.Tool) {
			return t.Tool, nil
		}
	}
	if server, _, ok := strings.Cut(called, "."); ok && ubl.ValidServerID(server) && ubl.ValidToolName(called) {
		return called, nil
	}
	if err != nil { // the tool may be there
		return "", err
	}
	return "", ubl.NoTool()
}

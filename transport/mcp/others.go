package mcp

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"io"
	"strings"
	"sync"

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

// otherForm is another server's tool as a client of the dialect sees it, and false for a
// definition that would break the list for its readers.
func (s *Server) otherForm(t *ubl.PortalTool, d *dialect, output bool) (form, bool) {
	key := formKey{t.Tool, cmp.Or(t.Hash, string(t.Definition)), d.plain, d.max, output}
	if f, ok := s.forms.get(key); ok {
		return f, f.tool != nil
	}
	var f form
	if def, ok := defined(t); ok {
		f, _ = formOf(otherTool(t, def, d.spell(t.Tool), output)) // what was decoded can be encoded
	}
	s.forms.put(key, f, 2*len(t.Definition))
	return f, f.tool != nil
}

// defined reads a definition; false for one that no tool can have.
func defined(t *ubl.PortalTool) (def definition, ok bool) {
	var root struct {
		Type string `json:"type"`
	}
	if json.Unmarshal(ubl.PlainJSON(t.Definition), &def) != nil || json.Unmarshal(def.Input, &root) != nil || root.Type != "object" {
		return definition{}, false
	}
	return def, true
}

func otherTool(t *ubl.PortalTool, def definition, name string, output bool) *sdk.Tool {
	server := serverOf(t)
	tool := &sdk.Tool{
		Meta: sdk.Meta{ubl.MetaForeign: foreign{server}},
		Name: name, Title: def.Title, Description: ubl.ForeignTool(server, def.Description), InputSchema: def.Input, Annotations: def.Annotations,
	}
	if output && len(def.Output) > 0 && string(def.Output) != "null" {
		tool.OutputSchema = def.Output
	}
	return tool
}

// reads reports whether another server's tool only reads, as its definition says that an owner
// has approved. One that doesn't say so may do more.
func (s *Server) reads(t *ubl.PortalTool) bool {
	f, ok := s.otherForm(t, asIs, false)
	return ok && t.Callable() && f.tool.Annotations != nil && f.tool.Annotations.ReadOnlyHint
}

// formKey tells forms apart. Definition is its hash or, where it has none, the text.
type formKey struct {
	tool, definition string
	plain            bool
	max              int
	output           bool
}

// maxForms bounds what forms hold, in bytes.
const maxForms = 64 << 20

// forms keeps the forms of other servers' tools, so that a list doesn't decode and measure
// them again. It is safe for concurrent use.
type forms struct {
	mu    sync.Mutex
	known map[formKey]form
	size  int
}

func (c *forms) get(key formKey) (form, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	f, ok := c.known[key]
	return f, ok
}

// put keeps a form of so many bytes. Where there are too many, all others go.
func (c *forms) put(key formKey, f form, size int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.known == nil || c.size+size > maxForms {
		c.known, c.size = make(map[formKey]form), 0
	}
	c.known[key] = f
	c.size += size + 512 // for what is small
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

// otherName is the portal's name of the tool that the client means, and the tool where it is one
// that the caller may use. One that names a server is tried as it is: the portal knows whether
// there is such a tool.
func (s *Server) otherName(ctx context.Context, v *visit, called string) (string, *ubl.PortalTool, error) {
	if !v.portal || s.opts.Portal == nil {
		return "", nil, ubl.NoTool()
	}
	list, err := s.opts.Portal.Tools(ctx, v.who())
	for _, t := range list {
		if means(called, t.Tool) {
			return t.Tool, t, nil
		}
	}
	if server, _, ok := strings.Cut(called, "."); ok && ubl.ValidServerID(server) && ubl.ValidToolName(called) {
		return called, nil, nil
	}
	if err != nil { // the tool may be there
		return "", nil, err
	}
	return "", nil, ubl.NoTool()
}

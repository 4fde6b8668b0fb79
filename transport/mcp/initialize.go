package mcp

import (
	"encoding/json"
	"net/http"

	strict "github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// greeting is the result of initialize, as [sdk.InitializeResult] is.
type greeting struct {
	Capabilities any             `json:"capabilities"`
	Instructions string          `json:"instructions,omitempty"`
	Protocol     string          `json:"protocolVersion"`
	Server       json.RawMessage `json:"serverInfo"`
}

// initialize begins a session. The SDK would say the same, but leave a third of a
// megabyte of garbage, ten times what an idle session costs.
func (s *Server) initialize(w http.ResponseWriter, r *http.Request, v *visit, m *message) {
	var p struct {
		Protocol     string         `json:"protocolVersion"`
		Client       client         `json:"clientInfo"`
		Capabilities jsontext.Value `json:"capabilities"`
	}
	if err := strict.Unmarshal(m.Params, &p); err != nil {
		s.refuse(w, r, m.ID, wrongType("params", err))
		return
	}
	if err := s.checkChoice(r.Context(), v); err != nil {
		s.refuse(w, r, m.ID, err)
		return
	}
	v.can = readAbilities(p.Capabilities)
	begun, err := s.sessions.issue(v.who(), p.Protocol, p.Client.Name, v.can, s.opts.Now(), s.opts.Random)
	if err != nil {
		s.refuse(w, r, m.ID, err)
		return
	}
	v.client = p.Client.Name
	result, err := json.Marshal(greeting{s.greeted(v, negotiate(p.Protocol)), s.instructions(r.Context(), v), negotiate(p.Protocol), s.info})
	if err != nil { // impossible: our own types
		s.answerError(r.Context(), w, v, m.ID, err)
		return
	}
	w.Header().Set(headerSession, begun.id)
	answerWith(w, m.ID, result)
}

// greeted are the capabilities that initialize tells: those of all, and in 2025-11-25 tasks.
func (s *Server) greeted(v *visit, protocol string) any {
	all := s.capabilitiesFor(v)
	if s.opts.Calls == nil || !v.portal || protocol != newestLegacy {
		return all
	}
	type none struct{}
	type call struct {
		Call none `json:"call"`
	}
	type requests struct {
		Tools call `json:"tools"`
	}
	type tasks struct {
		List     none     `json:"list"`
		Cancel   none     `json:"cancel"`
		Requests requests `json:"requests"`
	}
	return struct {
		*sdk.ServerCapabilities
		Tasks tasks `json:"tasks"`
	}{all, tasks{}}
}

// capabilities are what clients are told that the server has. Our own prompts never change; those
// of other servers do.
func capabilities(portal bool) *sdk.ServerCapabilities {
	return &sdk.ServerCapabilities{
		Tools:       &sdk.ToolCapabilities{ListChanged: true},
		Resources:   &sdk.ResourceCapabilities{ListChanged: true, Subscribe: true},
		Prompts:     &sdk.PromptCapabilities{ListChanged: portal},
		Completions: &sdk.CompletionCapabilities{},
	}
}

// capabilitiesFor are those that a client is told of: views only where it shows them.
func (s *Server) capabilitiesFor(v *visit) *sdk.ServerCapabilities {
	c := capabilities(v.portal)
	if v.can.apps && s.opts.View != nil {
		c.AddExtension(extensionApps, map[string]any{"mimeTypes": []string{mimeApp}})
	}
	return c
}

package api

import (
	"context"
	"encoding/json"
	"fmt"

	"ubl"
)

// What the double of the actors answers about containers, documents and the
// portal, and the doubles of the services behind the API.

var (
	workspace = ubl.ContainerSummary{ContainerID: "w:general", Kind: "workspace", Name: "general", Physics: ubl.Presets()["WORKSPACE"], CreatedAt: now}
	wallet    = ubl.ContainerSummary{ContainerID: "k:cash", Kind: "wallet", Name: "Cash", Physics: ubl.Presets()["WALLET_GATED"], CreatedAt: now}
	access    = ubl.ToolAccess{AgreementID: "a:tool:weather.forecast", Tool: "weather.forecast", Allowed: true, Users: []ubl.UserID{"u:ana"},
		Groups: []string{}, PerMinute: 10, UpdatedAt: now, UpdatedBy: "u:ana", Receipt: receipt}
	definition = json.RawMessage(`{"inputSchema":{"type":"object"},"name":"forecast"}`)
	forecast   = ubl.PortalTool{Tool: "weather.forecast", ServerID: "weather", Upstream: "forecast", Definition: definition, Hash: ubl.BodyHash(definition)}
	mail       = ubl.Server{ServerID: "mail", Name: "Mail", URL: "https://mail.example.com/mcp", Auth: ubl.AuthUser,
		Connected: new(true), Status: ubl.ServerUp, SyncedAt: new(now), CreatedAt: now, CreatedBy: "u:ana", Receipt: receipt}
	weather = ubl.Server{ServerID: "weather", Name: "Weather", URL: "https://mcp.example.com/mcp", Auth: ubl.AuthNone, Status: ubl.ServerNew, CreatedAt: now, CreatedBy: "u:ana", Receipt: receipt}
	call    = ubl.Call{N: 7, At: now, Did: ubl.DidPortalCall, Server: "weather", Capability: "weather.forecast", UserID: "u:ana", Status: "ok",
		DurationMS: 41, RequestID: "req:1234", Parent: "req:0001", Receipt: &receipt}
)

// document is a version, with its content or without.
func document(version int64, content string) *ubl.Document {
	return &ubl.Document{DocumentID: "d:1", WorkspaceID: "w:general", TenantID: "t:acme.com", Title: "Plan", Content: content,
		ContentHash: ubl.Salt{1}.CommitText("content", "All of it"), Salt: ubl.Salt{1}, Bytes: 9, Version: version, CreatedAt: now, CreatedBy: "u:ana", UpdatedAt: now, UpdatedBy: "u:ana", Receipt: receipt}
}

func answerHouse(to ubl.Name, cmd ubl.Command) (any, bool) {
	if answer, ok := answerDocuments(cmd); ok {
		return answer, true
	}
	if answer, ok := answerFiles(cmd); ok {
		return answer, true
	}
	next := int64(7)
	switch c := cmd.(type) {
	case ubl.CreateContainer:
		return &ubl.ContainerMade{Container: ubl.ContainerSummary{ContainerID: "w:plans", Kind: c.Kind, Name: c.Name, Physics: workspace.Physics, CreatedAt: now}, Receipt: receipt}, true
	case ubl.ListKinds:
		return []*ubl.Kind{new(ubl.WalletKind())}, true
	case ubl.SetKind:
		c.Kind.Did = ubl.DidContainerCreate
		return &c.Kind, true
	case ubl.RemoveKind:
		return &ubl.Kind{Name: c.Name, Agreement: "case_agreement", Physics: workspace.Physics, Did: ubl.DidContainerCreate}, true
	case ubl.ListContainers:
		if c.Receipted {
			return &ubl.ContainerList{Containers: []ubl.ContainerSummary{workspace}, Receipt: &receipt}, true
		}
		return &ubl.ContainerList{Containers: []ubl.ContainerSummary{wallet, workspace}}, true
	case ubl.GetContainer:
		return &ubl.Container{ContainerSummary: wallet, TenantID: "t:acme.com", AgreementID: "a:wallet:k:cash", Balance: 100, InTransit: 5, Member: true}, true
	case ubl.IssueCredits:
		return &ubl.Balance{ContainerID: c.To, Amount: c.Amount, Balance: 100 + c.Amount, Receipt: receipt}, true
	case ubl.Transfer:
		return &ubl.TransferResult{TransferID: "x:1", From: ubl.ContainerID(to.Local()), To: c.To, Op: ubl.OpTransfer, Amount: c.Amount, Receipt: receipt}, true
	case ubl.ListToolAccess:
		return []*ubl.ToolAccess{&access}, true
	case ubl.SetToolAccess:
		return &ubl.ToolAccess{AgreementID: ubl.ToolAgreement(c.Tool), Tool: c.Tool, Allowed: c.Allowed, Users: []ubl.UserID{}, Groups: []string{},
			PerMinute: c.PerMinute, UpdatedAt: now, UpdatedBy: "u:ana", Receipt: receipt}, true
	case ubl.ListServers:
		return []*ubl.Server{&mail, &weather}, true
	case ubl.ReadCalls:
		return &ubl.CallPage{Calls: []*ubl.Call{&call}, Next: &next}, true
	case ubl.GetBudget:
		return &ubl.Budget{TokensPerDay: 100_000, RequestsPerMinute: 60, UsedToday: 19}, true
	case ubl.SetBudget:
		return &ubl.Budget{TokensPerDay: c.TokensPerDay, RequestsPerMinute: c.RequestsPerMinute, UsedToday: 19}, true
	}
	return nil, false
}

func answerDocuments(cmd ubl.Command) (any, bool) {
	switch c := cmd.(type) {
	case ubl.CreateDocument:
		return &ubl.DocumentResult{Document: document(1, c.Content), Receipt: receipt}, true
	case ubl.GetDocument:
		if c.DocumentID == "d:none" {
			return &ubl.DocumentResult{Receipt: receipt}, true
		}
		return &ubl.DocumentResult{Document: document(2, "All of it"), Receipt: receipt}, true
	case ubl.UpdateDocument:
		return &ubl.DocumentResult{Document: document(3, "All of it"), Receipt: receipt}, true
	case ubl.DeleteDocument:
		d := document(3, "")
		d.Deleted = true
		return &ubl.DocumentResult{Document: d, Receipt: receipt}, true
	case ubl.PublishDocuments:
		return &ubl.DocumentsPublished{Changed: []ubl.PublishedVersion{{DocumentID: "d:1", Version: 2}}, Unchanged: 3, Receipt: receipt}, true
	case ubl.ListDocuments:
		return &ubl.DocumentList{Documents: []*ubl.Document{document(2, "")}, Next: "d:1", Receipt: receipt}, true
	case ubl.ListVersions:
		return &ubl.DocumentList{Documents: []*ubl.Document{document(1, ""), document(2, "")}, NextVersion: 2, Receipt: receipt}, true
	case ubl.SearchDocuments:
		return &ubl.DocumentHits{Documents: []*ubl.DocumentHit{{Document: *document(2, ""), Score: 1420, Excerpt: ubl.Excerpt{Snippet: "All of it", Highlights: []ubl.Highlight{{Start: 0, End: 3}}, Offset: 12, Under: "Scope"}}}, Next: 6, Receipt: receipt, Salt: ubl.Salt{2}}, true
	}
	return nil, false
}

// wrote notes what a service was asked, and answers with the refusal that is set.
func (s *actors) wrote(format string, args ...any) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.asked = append(s.asked, fmt.Sprintf(format, args...))
	return s.refuse
}

// Complete implements [Office]: it says two words, and fails after the first
// where the prompt wants it to.
func (s *actors) Complete(_ context.Context, req ubl.CompleteRequest, delta func(string)) (*ubl.Completion, error) {
	if err := s.wrote("Complete in %s by %s, key %s: %s, %d tokens, tools %q, %d steps: %s", req.WorkspaceID, req.Who.UserID, req.Key,
		req.Model, req.MaxTokens, req.Tools, req.MaxSteps, req.Prompt); err != nil {
		return nil, err
	}
	for _, word := range []string{"Hello", " world"} {
		if delta != nil {
			delta(word)
		}
		if req.Prompt == "break" {
			return nil, ubl.Errorf(ubl.CodeUnavailable, "the model stopped")
		}
	}
	score, topic := 3, ""
	return &ubl.Completion{Completion: "Hello world", FinishReason: "stop", Checks: ubl.Checks{Before: ubl.CheckResult{InjectionScore: &score, UnsafeTopic: &topic}}, Usage: ubl.Usage{PromptTokens: 12, CompletionTokens: 2, CostMicros: 30, Provider: "acme", Model: req.Model},
		Steps: []ubl.CompletionStep{{Tool: "weather.forecast", RequestID: "req:1235", Receipt: &receipt, Salt: ubl.Salt{3}}}, Receipt: receipt, Salt: ubl.Salt{2}}, nil
}

// CallTool implements [Office].
func (s *actors) CallTool(_ context.Context, req ubl.Request, tool string, args json.RawMessage) (*ubl.ToolResult, error) {
	if err := s.wrote("CallTool %s by %s, key %s: %s", tool, req.Who.UserID, req.Key, args); err != nil {
		return nil, err
	}
	return &ubl.ToolResult{Content: json.RawMessage(`[{"type":"text","text":"sunny"}]`), Structured: json.RawMessage(`{"sky":"clear"}`), IsError: true, Foreign: "weather", N: 7, Receipt: receipt, Salt: ubl.Salt{2}, Led: &ubl.LedAct{Receipt: &receipt, Salt: ubl.Salt{3}}}, nil
}

// outside is a double of the portal.
type outside struct{ *actors }

func (o outside) Add(_ context.Context, req ubl.Request, owner bool, server ubl.Server, secret string) (*ubl.Server, error) {
	b, _ := json.Marshal(server)
	err := o.wrote("Add by %s, owner %t, key %s, a secret of %d bytes: %s", req.Who.UserID, owner, req.Key, len(secret), b)
	return &weather, err
}

func (o outside) Update(_ context.Context, req ubl.Request, owner bool, serverID string, patch ubl.ServerPatch, secret *string) (*ubl.Server, error) {
	b, _ := json.Marshal(patch)
	err := o.wrote("Update %s by %s, owner %t, key %s, a new secret %t: %s", serverID, req.Who.UserID, owner, req.Key, secret != nil, b)
	return &weather, err
}

func (o outside) Remove(_ context.Context, req ubl.Request, owner bool, serverID string) (*ubl.Server, error) {
	return &weather, o.wrote("Remove %s by %s, owner %t, key %s", serverID, req.Who.UserID, owner, req.Key)
}

func (o outside) Sync(_ context.Context, req ubl.Request, owner bool, serverID string) (*ubl.Server, error) {
	return &weather, o.wrote("Sync %s by %s, owner %t, key %s", serverID, req.Who.UserID, owner, req.Key)
}

func (o outside) Commands(ubl.TenantID) []string { return []string{"files"} }

func (o outside) Discover(_ context.Context, who ubl.Identity, owner bool, registryURL string) ([]*ubl.RegistryServer, error) {
	return []*ubl.RegistryServer{{Name: "com.example/weather", Description: "Forecasts", Version: "1.0.0", URL: "https://mcp.example.com/mcp", Headers: []string{}}},
		o.wrote("Discover %s by %s, owner %t", registryURL, who.UserID, owner)
}

func (o outside) Listing(_ context.Context, who ubl.Identity, owner bool) ([]*ubl.ToolListing, error) {
	return []*ubl.ToolListing{{PortalTool: forecast, Access: &access}}, o.wrote("Listing by %s, owner %t", who.UserID, owner)
}

func (o outside) Tools(_ context.Context, who ubl.Identity) ([]*ubl.PortalTool, error) {
	prompts := ubl.PortalTool{Tool: "weather.prompts", ServerID: "weather", Upstream: ubl.ToolPrompts, Definition: json.RawMessage(`{"ubl/stands":"prompts"}`), Hash: forecast.Hash}
	return []*ubl.PortalTool{&forecast, &prompts}, o.wrote("Tools of %s", who.UserID)
}

func (o outside) Approve(_ context.Context, req ubl.Request, owner bool, tool, hash string) (*ubl.PortalTool, error) {
	return &forecast, o.wrote("Approve %s %s by %s, owner %t, key %s", tool, hash, req.Who.UserID, owner, req.Key)
}

func (o outside) FlushLog(_ context.Context, tenant ubl.TenantID) {
	_ = o.wrote("FlushLog of %s", tenant)
}

func (o outside) Connect(_ context.Context, who ubl.Identity, serverID string) (string, error) {
	return "https://id.example.com/authorize?state=x", o.wrote("Connect %s by %s", serverID, who.UserID)
}

func (o outside) Shown(_ ubl.TenantID, s *ubl.Server) *ubl.Server { return s }

func (o outside) Disconnect(_ context.Context, req ubl.Request, serverID string) (*ubl.Server, error) {
	return &weather, o.wrote("Disconnect %s by %s, key %s", serverID, req.Who.UserID, req.Key)
}

func (o outside) Pending(state string) (*ubl.SigningIn, error) {
	return &ubl.SigningIn{TenantID: "t:acme.com", UserID: "u:ana", Email: "ana@acme.com", Unproven: true, ServerID: "weather",
		ServerHost: "weather.example", TokenHost: "token.example"}, o.wrote("Pending %s", state)
}

func (o outside) Callback(_ context.Context, by ubl.Identity, state, code, issuer string) (*ubl.SigningIn, error) {
	return &ubl.SigningIn{UserID: "u:ana", ServerID: "weather"}, o.wrote("Callback by %s %s %s %q", by.UserID, state, code, issuer)
}

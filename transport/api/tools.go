package api

import (
	"context"
	"encoding/json"
	"maps"
	"slices"
	"strings"

	"github.com/danielgtaylor/huma/v2"

	"ubl"
	"ubl/transport/envelope"
)

type listToolsInput struct {
	Cursor string `query:"cursor" pattern:"^[A-Za-z0-9_.-]{1,128}$" doc:"The next_cursor of the page before."`
	Limit  int    `query:"limit" minimum:"1" maximum:"100" default:"50" doc:"At most so many on a page."`
	Usable bool   `query:"usable" doc:"Only what the caller may call of others."`
}

type toolsAnswer struct {
	Tools      []*ubl.ToolListing `json:"tools"`
	NextCursor *string            `json:"next_cursor"`
}

// listTools lists external tools with the definitions that were pinned or are
// held, and our own, each with who may use it.
func (a *API) listTools(ctx context.Context, in *listToolsInput) (any, error) {
	if in.Usable {
		return a.usableTools(ctx, in)
	}
	if err := owners(ctx); err != nil {
		return nil, err
	}
	tools, err := a.Portal.Listing(ctx, caller(ctx), true)
	if err != nil {
		return nil, err
	}
	for _, name := range a.ownNames() {
		own := ubl.PortalTool{Tool: name, ServerID: ubl.OwnServer, Upstream: name, Definition: a.ownDefinition(name)}
		tools = append(tools, &ubl.ToolListing{PortalTool: own})
	}
	slices.SortFunc(tools, func(x, y *ubl.ToolListing) int { return strings.Compare(x.Tool, y.Tool) })
	out, part := toolsPage(tools, in)
	if err := a.addAccess(ctx, part); err != nil {
		return nil, err
	}
	return out, nil
}

// usableTools lists what a caller may call of other servers. Prompts and resources aren't called by people.
func (a *API) usableTools(ctx context.Context, in *listToolsInput) (any, error) {
	if err := enter(ctx); err != nil {
		return nil, err
	}
	mine, err := a.Portal.Tools(ctx, caller(ctx))
	if err != nil {
		return nil, err
	}
	var tools []*ubl.ToolListing
	for _, t := range mine {
		if t.Offered() == nil {
			listed := *t
			listed.Definition = ubl.PlainJSON(t.Definition)
			tools = append(tools, &ubl.ToolListing{PortalTool: listed})
		}
	}
	out, _ := toolsPage(tools, in)
	return out, nil
}

func toolsPage(tools []*ubl.ToolListing, in *listToolsInput) (out toolsAnswer, part []*ubl.ToolListing) {
	part, more := page(tools, func(t *ubl.ToolListing) string { return t.Tool }, in.Cursor, in.Limit)
	out.Tools = list(part)
	if more {
		out.NextCursor = &part[len(part)-1].Tool
	}
	return out, part
}

// addAccess reads the records about those of a page that are our own; the portal knows
// the others'.
func (a *API) addAccess(ctx context.Context, page []*ubl.ToolListing) error {
	own := map[string]*ubl.ToolListing{}
	for _, t := range page {
		if t.ServerID == ubl.OwnServer {
			own[t.Tool] = t
		}
	}
	if len(own) == 0 {
		return nil
	}
	records, err := ubl.Ask[[]*ubl.ToolAccess](ctx, a.Asker, home(ctx), ubl.ListToolAccess{Who: caller(ctx), Only: slices.Sorted(maps.Keys(own))})
	for _, r := range records {
		if t := own[r.Tool]; t != nil {
			t.Access = r
		}
	}
	return err
}

// ownDefinition says what a tool of our own does, null for one that isn't in the table.
// Its schemas are in the API's description.
func (a *API) ownDefinition(name string) json.RawMessage {
	i := slices.IndexFunc(a.table, func(t route) bool { return t.tool == name })
	if i < 0 {
		return nil
	}
	definition, err := json.Marshal(map[string]string{"description": a.table[i].words().description})
	if err != nil { // impossible: strings
		return nil
	}
	return definition
}

func (a *API) ownNames() []string {
	names := slices.Clone(a.Beside)
	for _, t := range a.table {
		if t.tool != "" {
			names = append(names, t.tool)
		}
	}
	return names
}

type setToolAccessInput struct {
	ToolPath
	Body struct {
		Keyed
		Allowed   bool         `json:"allowed" doc:"Whether anyone may use the tool at all."`
		Users     []ubl.UserID `json:"users,omitempty" maxItems:"1000" pattern:"^u:[A-Za-z0-9._-]{1,256}$" nullable:"false" doc:"Narrows it to those; with groups, to either. Neither is everyone in the tenant." example:"[\"u:bob\"]"`
		Groups    []string     `json:"groups,omitempty" maxItems:"100" minLength:"1" maxLength:"128" nullable:"false" doc:"Groups that callers' identity providers vouch for."`
		PerMinute int          `json:"per_minute,omitempty" minimum:"0" maximum:"100000" doc:"At most so many calls of one caller; 0 is no bound." example:"60"`
		Confirm   string       `json:"confirm,omitempty" enum:"never,destructive,always" doc:"Before which uses by an agent a person is asked in its client: none, where the tool replaces or deletes, or all. A client without forms is refused."`
	}
}

type toolAccessAnswer struct {
	Access *ubl.ToolAccess `json:"access"`
}

// setToolAccess takes a tool of our own, or any name behind that of a server that the
// tenant has: access may be set before a server has listed its tools. A record about
// another name would open and close nothing.
func (a *API) setToolAccess(ctx context.Context, in *setToolAccessInput) (any, error) {
	if in.Body.Allowed {
		if err := confirmed(ctx); err != nil {
			return nil, err
		}
	}
	if err := owners(ctx); err != nil {
		return nil, err
	}
	if !slices.Contains(a.ownNames(), in.Tool) {
		if err := a.ofKnownServer(ctx, in.Tool); err != nil {
			return nil, err
		}
	}
	t, err := ubl.Ask[*ubl.ToolAccess](ctx, a.Asker, home(ctx), ubl.SetToolAccess{Request: envelope.Command(ctx, in.Body.Key), Expects: expects(ctx),
		Tool: in.Tool, Allowed: in.Body.Allowed, Users: in.Body.Users, Groups: in.Body.Groups, PerMinute: in.Body.PerMinute, Confirm: ubl.Confirm(in.Body.Confirm)})
	return toolAccessAnswer{t}, err
}

// ofKnownServer refuses a tool whose server the tenant doesn't have.
func (a *API) ofKnownServer(ctx context.Context, tool string) error {
	id, _, dotted := strings.Cut(tool, ".")
	if !dotted {
		return ubl.NoTool()
	}
	servers, err := ubl.Ask[[]*ubl.Server](ctx, a.Asker, portal(ctx), ubl.ListServers{Who: caller(ctx)})
	if err == nil && !slices.ContainsFunc(servers, func(s *ubl.Server) bool { return s.ServerID == id }) {
		none := ubl.NoTool()
		none.Details = map[string]string{"path.tool": "the tenant has no tool server of this name: add it first"}
		err = none
	}
	return err
}

type approveToolInput struct {
	ToolPath
	Body struct {
		Keyed
		Hash string `json:"hash" pattern:"^b:[0-9a-f]{64}$" doc:"The held_hash of the definition that was looked at: another one that came since stays held." example:"b:0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"`
	}
}

type portalToolAnswer struct {
	Tool *ubl.PortalTool `json:"tool"`
}

func (a *API) approveTool(ctx context.Context, in *approveToolInput) (any, error) {
	if err := owners(ctx); err != nil {
		return nil, err
	}
	t, err := a.Portal.Approve(ctx, envelope.Command(ctx, in.Body.Key), true, in.Tool, in.Body.Hash)
	return portalToolAnswer{t}, err
}

type callToolInput struct {
	ToolPath
	Body struct {
		Keyed
		Arguments arguments `json:"arguments" doc:"As the tool's input schema has them."`
	}
}

// arguments is a JSON object that is handed on as it came.
type arguments struct{ json.RawMessage }

// Schema says that it is an object of any members.
func (arguments) Schema(huma.Registry) *huma.Schema {
	return &huma.Schema{Type: huma.TypeObject, AdditionalProperties: true}
}

func (a *API) callTool(ctx context.Context, in *callToolInput) (any, error) {
	if err := enter(ctx); err != nil {
		return nil, err
	}
	r, err := a.Office.CallTool(ctx, envelope.Command(ctx, in.Body.Key), in.Tool, in.Body.Arguments.RawMessage)
	if !slices.Contains(a.ownNames(), in.Tool) { // with one of ours they may have left
		if gone := envelope.CallerOf(ctx).Remains(ctx); gone != nil {
			return nil, gone
		}
	}
	return r, err
}

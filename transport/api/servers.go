package api

import (
	"context"

	"ubl"
	"ubl/transport/envelope"
)

// portal addresses the Portal actor of the caller's tenant.
func portal(ctx context.Context) ubl.Name { return ubl.PortalName(caller(ctx).TenantID) }

type serversAnswer struct {
	Servers  []*ubl.Server `json:"servers"`
	Commands []string      `json:"commands"`
	Paged
}

func (a *API) listServers(ctx context.Context, in *PageQuery) (any, error) {
	s, err := ubl.Ask[[]*ubl.Server](ctx, a.Asker, portal(ctx), ubl.ListServers{Who: caller(ctx)})
	for i := range s {
		s[i] = a.Portal.Shown(caller(ctx).TenantID, s[i])
	}
	if err != nil {
		return nil, err
	}
	part, rest, err := cut(*in, s, ascending, func(s *ubl.Server) string { return s.ServerID })
	return serversAnswer{part, a.Portal.Commands(caller(ctx).TenantID), rest}, err
}

type addServerInput struct {
	Body struct {
		Keyed
		ServerID     string   `json:"server_id" pattern:"^[a-z0-9][a-z0-9-]{0,31}$" doc:"Its tools are named after it: server_id.tool." example:"weather"`
		Name         string   `json:"name" minLength:"1" maxLength:"128" doc:"What to call the server." example:"Weather"`
		URL          string   `json:"url,omitempty" minLength:"1" maxLength:"2048" doc:"Where it serves streamable HTTP; of an API, what its paths stand behind; of a program nothing." example:"https://mcp.example.com/mcp"`
		Kind         string   `json:"kind,omitempty" enum:"openapi,stdio" doc:"openapi for an HTTP API, whose operations become tools; stdio for a program that the server runs; nothing for a server of MCP at an address."`
		Command      string   `json:"command,omitempty" maxLength:"32" pattern:"^[a-z0-9][a-z0-9-]{0,31}$" doc:"Which of the programs that the operator allows, by name, of kind stdio and only there. The list of servers has the names in commands." example:"filesystem"`
		DocumentURL  string   `json:"document_url,omitempty" maxLength:"2048" doc:"Where the API's OpenAPI document is, 3.0 or 3.1 in JSON or YAML, of at most 2 MiB; for an API and only there." example:"https://api.example.com/openapi.json"`
		Auth         string   `json:"auth,omitempty" enum:"none,header,client_credentials,authorization_code,environment" default:"none" doc:"How it learns who is calling: not at all, by a fixed header, by OAuth for the tenant, by OAuth for each user, or, a program, by a variable of its environment."`
		Header       string   `json:"header,omitempty" minLength:"1" maxLength:"128" pattern:"^[A-Za-z0-9-]+$" doc:"The name of the fixed header; its value is the secret." example:"Authorization"`
		Secret       string   `json:"secret,omitempty" maxLength:"8192" doc:"The header's value with its scheme, the OAuth client's secret, or what a program needs: at least 8 bytes, behind the scheme and as the password of Basic, since shorter ones can't be kept out of what the server answers. Blanks around it are left out. It is sealed and never shown." example:"Bearer 0123456789abcdef"`
		TokenURL     string   `json:"token_url,omitempty" maxLength:"2048" doc:"OAuth's; needed with a secret, which goes nowhere else, and where it is on another host than the issuer." example:"https://id.example.com/token"`
		AuthorizeURL string   `json:"authorize_url,omitempty" maxLength:"2048" doc:"OAuth's, where it can't be discovered or is on another host than the issuer." example:"https://id.example.com/authorize"`
		ClientID     string   `json:"client_id,omitempty" maxLength:"256" doc:"OAuth's; one is registered where the server lets it." example:"ubl-acme"`
		Scopes       []string `json:"scopes,omitempty" maxItems:"50" minLength:"1" maxLength:"256" nullable:"false" doc:"What to ask the server for, in its own words."`
	}
}

type serverAnswer struct {
	Server *ubl.Server `json:"server"`
}

func (a *API) addServer(ctx context.Context, in *addServerInput) (any, error) {
	b := &in.Body
	if b.Kind != ubl.ServerStdio && b.URL == "" {
		return nil, invalid("body.url", "is missing")
	}
	if err := ubl.CheckName(b.Name); err != nil {
		return nil, err
	}
	if err := owners(ctx); err != nil {
		return nil, err
	}
	s, err := a.Portal.Add(ctx, envelope.Command(ctx, b.Key), true, ubl.Server{ServerID: b.ServerID, Name: b.Name, URL: b.URL, Auth: b.Auth, Kind: b.Kind, Command: b.Command, DocumentURL: b.DocumentURL,
		Header: b.Header, TokenURL: b.TokenURL, AuthorizeURL: b.AuthorizeURL, ClientID: b.ClientID, Scopes: b.Scopes}, b.Secret)
	return serverAnswer{s}, err
}

type updateServerInput struct {
	ServerPath
	Body struct {
		Keyed
		Name     *string `json:"name,omitempty" minLength:"1" maxLength:"128" doc:"What to call the server now." example:"Weather"`
		URL      *string `json:"url,omitempty" minLength:"1" maxLength:"2048" doc:"Where it serves MCP now." example:"https://mcp.example.com/mcp"`
		Disabled *bool   `json:"disabled,omitempty" doc:"A disabled server is hidden with its tools, and never asked."`
		Document *string `json:"document_url,omitempty" minLength:"1" maxLength:"2048" doc:"Of an API's document." example:"https://api.example.com/openapi.json"`
		Secret   *string `json:"secret,omitempty" maxLength:"8192" doc:"Replaces the secret; an empty one forgets it. At least 8 bytes, as when the server is added. Blanks around it are left out." example:"Bearer 0123456789abcdef"`
	}
}

func (a *API) updateServer(ctx context.Context, in *updateServerInput) (any, error) {
	patch := ubl.ServerPatch{Name: in.Body.Name, URL: in.Body.URL, Disabled: in.Body.Disabled, DocumentURL: in.Body.Document}
	if patch.Name == nil && patch.URL == nil && patch.DocumentURL == nil && patch.Disabled == nil && in.Body.Secret == nil {
		return nil, invalid("body", "changes nothing")
	}
	if patch.Name != nil {
		if err := ubl.CheckName(*patch.Name); err != nil {
			return nil, err
		}
	}
	if err := owners(ctx); err != nil {
		return nil, err
	}
	s, err := a.Portal.Update(ctx, envelope.Command(ctx, in.Body.Key), true, in.ServerID, patch, in.Body.Secret)
	return serverAnswer{s}, err
}

func (a *API) removeServer(ctx context.Context, in *ServerPath) (any, error) {
	if err := owners(ctx); err != nil {
		return nil, err
	}
	s, err := a.Portal.Remove(ctx, envelope.Command(ctx, ""), true, in.ServerID)
	return serverAnswer{s}, err
}

type serverActInput struct {
	ServerPath
	KeyInput
}

func (a *API) syncServer(ctx context.Context, in *serverActInput) (any, error) {
	if err := owners(ctx); err != nil {
		return nil, err
	}
	s, err := a.Portal.Sync(ctx, envelope.Command(ctx, in.key()), true, in.ServerID)
	return serverAnswer{s}, err
}

type connectAnswer struct {
	URL string `json:"url"`
}

func (a *API) connectServer(ctx context.Context, in *ServerPath) (any, error) {
	if err := enter(ctx); err != nil {
		return nil, err
	}
	url, err := a.Portal.Connect(ctx, caller(ctx), in.ServerID)
	return connectAnswer{url}, err
}

func (a *API) disconnectServer(ctx context.Context, in *ServerPath) (any, error) {
	if err := enter(ctx); err != nil {
		return nil, err
	}
	s, err := a.Portal.Disconnect(ctx, envelope.Command(ctx, ""), in.ServerID)
	return serverAnswer{s}, err
}

type discoverInput struct {
	Body struct {
		RegistryURL string `json:"registry_url" minLength:"1" maxLength:"2048" doc:"Of an MCP Registry." example:"https://registry.modelcontextprotocol.io"`
	}
}

type discoveredAnswer struct {
	Servers []*ubl.RegistryServer `json:"servers"`
}

func (a *API) discover(ctx context.Context, in *discoverInput) (any, error) {
	if err := owners(ctx); err != nil {
		return nil, err
	}
	s, err := a.Portal.Discover(ctx, caller(ctx), true, in.Body.RegistryURL)
	return discoveredAnswer{list(s)}, err
}

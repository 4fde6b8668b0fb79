package portal

import (
	"cmp"
	"context"
	"fmt"
	"net/textproto"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"ubl"
)

// Limits of what an owner sets.
const (
	maxName   = 128 // characters
	maxSecret = 8 << 10
)

// errShort says why a secret is refused that couldn't be told from other words.
var errShort = fmt.Sprintf("at least %d bytes, in a header behind the scheme and as the password of Basic: shorter ones can't be kept from callers", minSecret)

var errOwner = ubl.Errorf(ubl.CodeForbidden, "only an owner may do this")

// Add makes a server known, and has it synced soon. The secret is the header's
// value, or that of the OAuth client, which goes to TokenURL only; "" for none. Blanks
// around it are left out: they come with copying, and HTTP doesn't send them. Owners.
func (p *Portal) Add(ctx context.Context, req ubl.Request, owner bool, s ubl.Server, secret string) (*ubl.Server, error) {
	if !owner {
		return nil, errOwner
	}
	secret = trimmed(secret)
	if err := p.checkServer(&s, secret); err != nil {
		return nil, err
	}
	if err := p.checkAllowed(req.Who.TenantID, &s, secret); err != nil {
		return nil, err
	}
	sealed, mac, err := p.sealSecret(secretOf(req.Who.TenantID, &s), secret)
	if err != nil {
		return nil, err
	}
	return p.change(ctx, req, ubl.AddServer{Request: req, Owner: owner, Server: s, Secret: sealed, SecretMAC: mac})
}

// Update changes what the patch sets, and has the server synced soon. A secret
// that isn't nil replaces the old one, without blanks around it, and "" forgets it; the
// patch's own is not looked at. A new scheme or host needs the secret again: it must not be sent to
// whoever an address is changed to. Owners.
func (p *Portal) Update(ctx context.Context, req ubl.Request, owner bool, serverID string, patch ubl.ServerPatch, secret *string) (*ubl.Server, error) {
	if !owner {
		return nil, errOwner
	}
	a, err := p.openServer(ctx, req.Who, serverID)
	if err != nil {
		return nil, err
	}
	s := a.Server
	if patch.Name != nil {
		s.Name = *patch.Name
	}
	if patch.URL != nil {
		s.URL = *patch.URL
	}
	if patch.DocumentURL != nil {
		s.DocumentURL = *patch.DocumentURL
	}
	if secret != nil {
		secret = new(trimmed(*secret))
	}
	moved := originOf(s.URL) != originOf(a.Server.URL)
	if err := p.checkPatch(&s, secret, moved && len(a.Secret) > 0); err != nil {
		return nil, err
	}
	cmd := ubl.UpdateServer{Request: req, Owner: owner, ServerID: serverID, Patch: patch}
	if cmd.Patch.Secret = nil; secret != nil {
		sealed, mac, err := p.sealSecret(secretOf(req.Who.TenantID, &s), *secret)
		if err != nil {
			return nil, err
		}
		cmd.Patch.Secret = append([]byte{}, sealed...) // not nil where it is empty
		cmd.SecretMAC = mac
	}
	return p.change(ctx, req, cmd)
}

// trimmed is a secret without blanks around it. What is nothing else stays: it isn't meant
// to forget a secret.
func trimmed(secret string) string { return cmp.Or(strings.TrimSpace(secret), secret) }

// tooShort reports whether a secret is one that isn't looked for in what the server says.
func tooShort(s *ubl.Server, secret string) bool {
	if s.Auth != ubl.AuthHeader {
		return len(secret) < minSecret
	}
	return lengthOf(secret) < minSecret
}

// sealSecret is a server's secret as it is kept, and what a retry is known by.
func (p *Portal) sealSecret(its purpose, secret string) (sealed []byte, mac string, err error) {
	if sealed, err = p.sealer.seal(its, []byte(secret)); err == nil {
		mac, err = p.sealer.mac(its, []byte(secret))
	}
	return sealed, mac, err
}

func (p *Portal) checkPatch(s *ubl.Server, secret *string, needed bool) error {
	if secret == nil {
		if needed {
			return ubl.Errorf(ubl.CodeValidation, "secret: an address on another server needs it again")
		}
		if s.Auth == ubl.AuthHeader || s.Auth == ubl.AuthClient || s.Auth == ubl.AuthEnvironment {
			return p.checkPlace(s)
		}
		return p.checkServer(s, "")
	}
	return p.checkServer(s, *secret)
}

// change asks for a change of a server, and follows it.
func (p *Portal) change(ctx context.Context, req ubl.Request, cmd ubl.Command) (*ubl.Server, error) {
	who := req.Who
	s, err := ubl.Ask[*ubl.Server](ctx, p.asker, ubl.PortalName(who.TenantID), cmd)
	if err != nil {
		return nil, err
	}
	p.shopOf(who.TenantID).drop()
	if s.AsksItself() {
		end := p.asked.begin(place{tenant: who.TenantID, server: s.ServerID}) // before the answer, which says so
		if !p.spawn(func() {
			defer end()
			p.syncAs(p.ctx, platformOf(who.TenantID), s.ServerID)
		}) {
			end()
		}
	}
	return p.Shown(who.TenantID, s), nil
}

// Remove forgets a server with its tools, and answers what it was. Owners. Its tools
// are closed first: another server under the same id must be allowed anew.
func (p *Portal) Remove(ctx context.Context, req ubl.Request, owner bool, serverID string) (*ubl.Server, error) {
	if !owner {
		return nil, errOwner
	}
	if err := p.closeTools(ctx, req, serverID); err != nil {
		return nil, err
	}
	s, err := ubl.Ask[*ubl.Server](ctx, p.asker, ubl.PortalName(req.Who.TenantID), ubl.RemoveServer{Request: req, Owner: owner, ServerID: serverID})
	if err == nil {
		p.shopOf(req.Who.TenantID).drop()
	}
	return s, err
}

// closeTools ends what ToolAccess allows of a server's tools.
func (p *Portal) closeTools(ctx context.Context, req ubl.Request, serverID string) error {
	tenant := ubl.TenantName(req.Who.TenantID)
	records, err := ubl.Ask[[]*ubl.ToolAccess](ctx, p.asker, tenant, ubl.ListToolAccess{Who: req.Who})
	for _, r := range records {
		if err == nil && r.Allowed && strings.HasPrefix(r.Tool, serverID+".") {
			one := req
			one.Key = fmt.Sprintf("%x", ubl.Fingerprint(req.Key, r.Tool))
			_, err = p.asker.Ask(ctx, tenant, ubl.SetToolAccess{Request: one, Tool: r.Tool, Users: r.Users, Groups: r.Groups, PerMinute: r.PerMinute, Confirm: r.Confirm})
		}
	}
	return err
}

// Approve pins the held definition of a tool that has the hash. Owners.
func (p *Portal) Approve(ctx context.Context, req ubl.Request, owner bool, tool, hash string) (*ubl.PortalTool, error) {
	if !owner {
		return nil, errOwner
	}
	t, err := ubl.Ask[*ubl.PortalTool](ctx, p.asker, ubl.PortalName(req.Who.TenantID), ubl.ApproveTool{Request: req, Owner: owner, Tool: tool, Hash: hash})
	if err != nil {
		return nil, err
	}
	p.shopOf(req.Who.TenantID).drop()
	shown := plain(*t)
	return &shown, nil
}

// checkServer refuses what can't be a server. Its messages name the member.
func (p *Portal) checkServer(s *ubl.Server, secret string) error {
	if err := p.checkPlace(s); err != nil {
		return err
	}
	if err := unwanted(secret != "" && s.Auth != ubl.AuthNone && tooShort(s, secret), "secret", errShort); err != nil {
		return err
	}
	if len(secret) > maxSecret || strings.ContainsFunc(secret, unicode.IsControl) || !utf8.ValidString(secret) {
		return ubl.Errorf(ubl.CodeValidation, "secret: at most %d bytes without control characters", maxSecret)
	}
	switch s.Auth {
	case ubl.AuthNone:
		return unwanted(secret != "", "secret", "auth none has none")
	case ubl.AuthHeader:
		if err := unwanted(secret == "", "secret", "auth header needs one"); err != nil {
			return err
		}
		return checkHeader(s.Header)
	case ubl.AuthClient:
		if err := unwanted(secret == "", "secret", "auth client_credentials needs one"); err != nil {
			return err
		}
		return checkClient(s)
	case ubl.AuthEnvironment:
		if err := unwanted(s.Kind != ubl.ServerStdio, "auth", "environment is a program's alone"); err != nil {
			return err
		}
		return unwanted(secret == "", "secret", "auth environment needs one")
	case ubl.AuthUser:
		if secret == "" {
			return nil
		}
		return checkClient(s)
	}
	return ubl.Errorf(ubl.CodeValidation, "auth: none, header, client_credentials or authorization_code")
}

// checkClient checks what belongs to an OAuth client's secret. Where it goes is the
// owner's to say: a server may name another authorization server at any time.
func checkClient(s *ubl.Server) error {
	if err := unwanted(s.ClientID == "", "client_id", "a secret of OAuth needs one"); err != nil {
		return err
	}
	return unwanted(s.TokenURL == "", "token_url", "a secret of OAuth needs one: it goes nowhere else")
}

func unwanted(bad bool, place, why string) error {
	if bad {
		return ubl.Errorf(ubl.CodeValidation, "%s: %s", place, why)
	}
	return nil
}

// checkPlace checks everything but the secret.
func (p *Portal) checkPlace(s *ubl.Server) error {
	switch {
	case !ubl.ValidServerID(s.ServerID):
		return ubl.Errorf(ubl.CodeValidation, "server_id: ^[a-z0-9][a-z0-9-]{0,31}$, and not the first word of our own tools' names")
	case !validText(s.Name, maxName) || strings.TrimSpace(s.Name) == "":
		return ubl.Errorf(ubl.CodeValidation, "name: 1 to %d characters", maxName)
	case !ubl.ValidClientID(s.ClientID):
		return ubl.Errorf(ubl.CodeValidation, "client_id: at most %d characters without blanks", ubl.MaxClientID)
	case !ubl.ValidScopes(s.Scopes):
		return ubl.Errorf(ubl.CodeValidation, "scopes: at most %d, of at most %d characters without blanks", ubl.MaxScopes, ubl.MaxScope)
	}
	if s.Kind == ubl.ServerStdio {
		return checkProgram(s)
	}
	if err := unwanted(s.Command != "", "command", "only a program has one"); err != nil {
		return err
	}
	if err := p.checkURL("url", s.URL); err != nil {
		return err
	}
	if err := unwanted(bringsKey(s.URL), "url", "all members see it: no key in the query, set it as the secret"); err != nil {
		return err
	}
	if err := p.checkKind(s); err != nil {
		return err
	}
	if s.TokenURL != "" {
		if err := p.checkURL("token_url", s.TokenURL); err != nil {
			return err
		}
	}
	if s.AuthorizeURL == "" {
		return nil
	}
	return p.checkURL("authorize_url", s.AuthorizeURL)
}

// checkKind checks what only servers of one kind have.
func (p *Portal) checkKind(s *ubl.Server) error {
	if s.Kind != ubl.ServerOpenAPI {
		if err := unwanted(s.Kind != ubl.ServerMCP, "kind", "openapi, stdio, or none for a server of MCP over HTTP"); err != nil {
			return err
		}
		return unwanted(s.DocumentURL != "", "document_url", "only an API has a document")
	}
	if err := unwanted(s.Auth == ubl.AuthUser, "auth", "nobody signs in to an API: none, header or client_credentials"); err != nil {
		return err
	}
	if err := p.checkURL("document_url", s.DocumentURL); err != nil {
		return err
	}
	return unwanted(bringsKey(s.DocumentURL), "document_url", "all members see it: no key in the query")
}

func validText(s string, max int) bool {
	return utf8.ValidString(s) && utf8.RuneCountInString(s) <= max && !strings.ContainsFunc(s, unicode.IsControl)
}

// ownHeaders are set by HTTP or MCP itself.
var ownHeaders = []string{
	"Accept", "Connection", "Content-Length", "Content-Type", "Host", "Keep-Alive", "Last-Event-Id", "Te", "Trailer",
	"Transfer-Encoding", "Upgrade", "User-Agent",
}

// checkHeader refuses names that are none, or not an owner's to set.
func checkHeader(name string) error {
	canonical := textproto.CanonicalMIMEHeaderKey(name)
	if !ubl.ValidHeader(name) || slices.Contains(ownHeaders, canonical) || strings.HasPrefix(canonical, "Mcp-") {
		return ubl.Errorf(ubl.CodeValidation, "header: the name of a header that HTTP and MCP don't use themselves")
	}
	return nil
}

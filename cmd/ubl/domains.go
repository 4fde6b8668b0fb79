package main

import (
	"cmp"
	"context"
	"fmt"
	"net/url"

	"ubl"
)

// domainsCmd sees to the mail domains of the caller's tenant.
type domainsCmd struct {
	List    domainsListCmd    `cmd:"" help:"List your tenant's mail domains."`
	Claim   domainsClaimCmd   `cmd:"" help:"Claim a mail domain: prints the DNS record to publish."`
	Verify  domainsVerifyCmd  `cmd:"" help:"Look for a claim's DNS record, or confirm an unconfirmed domain: from then on new people of it join."`
	Release domainsReleaseCmd `cmd:"" help:"Release a domain: new people of it don't join any more."`
}

type domainsListCmd struct {
	remote
	format
}

type domainsClaimCmd struct {
	remote
	format
	Domain string `arg:"" help:"As in people's addresses: example.com."`
}

type domainsVerifyCmd struct {
	remote
	format
	Domain string `arg:"" help:"The claimed domain."`
}

type domainsReleaseCmd struct {
	remote
	format
	Domain string `arg:"" help:"The claimed domain."`
}

// domain is one as the server tells of it.
type domain struct {
	Domain   string       `json:"domain"`
	TenantID ubl.TenantID `json:"tenant_id"`
	State    string       `json:"state"`
	Record   *struct {
		Type  string `json:"type"`
		Name  string `json:"name"`
		Value string `json:"value"`
	} `json:"record"`
	ExpiresAt  ubl.Time `json:"expires_at"`
	VerifiedAt ubl.Time `json:"verified_at"`
}

// since is what there is to know of a domain's state.
func (d *domain) since() string {
	switch {
	case d.State == "unconfirmed":
		return "nobody new joins: verify or release it"
	case d.VerifiedAt != 0:
		return "since " + local(d.VerifiedAt)
	case d.ExpiresAt != 0:
		return "ends " + local(d.ExpiresAt)
	}
	return ""
}

// Run lists them, with --json one a line.
func (c *domainsListCmd) Run(ctx context.Context, p *program) error {
	return showList(ctx, p, &c.remote, c.format, "/api/domains", "domains", "a domain", "DOMAIN\tSTATE\tTENANT\tWHEN", func(d *domain) string {
		return cells(d.Domain, d.State, d.TenantID, cmp.Or(d.since(), "-"))
	})
}

// Run prints the record.
func (c *domainsClaimCmd) Run(ctx context.Context, p *program) error {
	d, err := c.domain(ctx, p, c.format, "POST", "/api/domains", map[string]any{"domain": c.Domain})
	if err != nil || d == nil {
		return err
	}
	if d.Record == nil {
		return fmt.Errorf("the server sent a claim without its record: see \"ubl domains list --json\"")
	}
	_, err = fmt.Fprintf(p.out, "Publish this %s record by %s, then run: %s %s\n%s\n%s\n", clean(d.Record.Type), local(d.ExpiresAt),
		p.copyable("ubl domains verify"), clean(d.Domain), clean(d.Record.Name), clean(d.Record.Value))
	return err
}

// Run says that the domain is verified, or fails with what is missing.
func (c *domainsVerifyCmd) Run(ctx context.Context, p *program) error {
	d, err := c.domain(ctx, p, c.format, "POST", "/api/domains/"+url.PathEscape(c.Domain)+"/verify", nil)
	if err != nil || d == nil {
		return err
	}
	_, err = fmt.Fprintf(p.out, "%s is verified: new people with addresses of it join %s.\n", clean(d.Domain), clean(string(d.TenantID)))
	return err
}

// Run says what was released.
func (c *domainsReleaseCmd) Run(ctx context.Context, p *program) error {
	d, err := c.domain(ctx, p, c.format, "DELETE", "/api/domains/"+url.PathEscape(c.Domain), nil)
	if err != nil || d == nil {
		return err
	}
	_, err = fmt.Fprintf(p.out, "%s is released: members of %s stay, new people of the domain don't join.\n", clean(d.Domain), clean(string(d.TenantID)))
	return err
}

// domain asks for a change of one. It answers nil where that was written as JSON.
func (c *remote) domain(ctx context.Context, p *program, f format, method, path string, body map[string]any) (*domain, error) {
	server, err := c.client(p)
	if err != nil {
		return nil, err
	}
	answer, err := server.act(ctx, p, method, path, body, "domain")
	if err != nil {
		return nil, err
	}
	if f.JSON {
		_, err := fmt.Fprintf(p.out, "%s\n", answer)
		return nil, err
	}
	d, err := formed[domain]("a domain", answer)
	return &d, err
}

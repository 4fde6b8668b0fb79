package api

import (
	"context"
	"slices"

	"ubl"
	"ubl/transport/envelope"
)

// caller is who asks; the guard has made sure that there is one.
func caller(ctx context.Context) ubl.Identity { return envelope.CallerOf(ctx).Identity }

// home addresses the caller's Tenant.
func home(ctx context.Context) ubl.Name { return ubl.TenantName(caller(ctx).TenantID) }

type identityView struct {
	UserID      ubl.UserID `json:"user_id"`
	Email       *string    `json:"email"` // null for a service without one
	EmailDomain string     `json:"email_domain"`
	Groups      []string   `json:"groups"`
	IsService   bool       `json:"is_service"`
	Unproven    bool       `json:"unproven,omitempty"`
}

type whoamiAnswer struct {
	Identity  identityView `json:"identity"`
	TenantID  ubl.TenantID `json:"tenant_id"`
	Name      string       `json:"name,omitempty"` // the member's
	Role      ubl.Role     `json:"role"`
	Operator  bool         `json:"operator,omitempty"` // whether the caller runs the platform
	ExpiresAt *ubl.Time    `json:"expires_at"`         // of the credential
	// Mandate bounds an agent, and AgreementID is that record; absent for who has none.
	Mandate     *ubl.Mandate    `json:"mandate,omitempty"`
	AgreementID ubl.AgreementID `json:"agreement_id,omitempty"`
}

func (a *API) whoami(ctx context.Context, _ *struct{}) (any, error) {
	c := envelope.CallerOf(ctx)
	id := c.Identity
	m, err := ubl.Ask[*ubl.Member](ctx, a.Asker, home(ctx), ubl.FindMember{Who: id, UserID: id.UserID})
	if err != nil {
		return nil, err
	}
	out := whoamiAnswer{TenantID: id.TenantID, Name: m.Name, Role: m.Role, Operator: c.Runs(m.Role), Identity: identityView{
		UserID: id.UserID, EmailDomain: id.EmailDomain, IsService: id.IsService, Unproven: id.Unproven, Groups: append([]string{}, id.Groups...)}}
	if id.Email != "" {
		out.Identity.Email = &id.Email
	}
	if c.ExpiresAt != 0 {
		out.ExpiresAt = &c.ExpiresAt
	}
	if out.Mandate = id.Mandate; out.Mandate != nil {
		out.AgreementID = ubl.AgentAgreement(id.Subject)
	}
	return out, nil
}

type tenantAnswer struct {
	Tenant *ubl.Tenant `json:"tenant"`
}

func (a *API) getTenant(ctx context.Context, _ *struct{}) (any, error) {
	t, err := ubl.Ask[*ubl.Tenant](ctx, a.Asker, home(ctx), ubl.GetTenant{Who: caller(ctx)})
	return tenantAnswer{t}, err
}

type defaultsInput struct {
	Body struct {
		Keyed
		RetentionDays   *int `json:"retention_days,omitempty" minimum:"0" maximum:"36500" doc:"How long messages are kept; 0 is for ever." example:"365"`
		MaxMessageBytes *int `json:"max_message_bytes,omitempty" minimum:"1" maximum:"8000" doc:"How long a message may be, in bytes of UTF-8." example:"4000"`
	}
}

func (a *API) setDefaults(ctx context.Context, in *defaultsInput) (any, error) {
	patch := ubl.TenantDefaultsPatch{RetentionDays: in.Body.RetentionDays, MaxMessageBytes: in.Body.MaxMessageBytes}
	if patch == (ubl.TenantDefaultsPatch{}) {
		return nil, invalid("body", "changes nothing")
	}
	if deletes(in.Body.RetentionDays, nil) { // in rooms to come
		if err := confirmed(ctx); err != nil {
			return nil, err
		}
	}
	t, err := ubl.Ask[*ubl.Tenant](ctx, a.Asker, home(ctx),
		ubl.SetDefaults{Request: envelope.Command(ctx, in.Body.Key), Expects: expects(ctx), Patch: patch})
	return tenantAnswer{t}, err
}

type membersAnswer struct {
	Members []ubl.Member       `json:"members"`
	Former  []ubl.FormerMember `json:"former,omitzero"`
	Paged
}

type memberAnswer struct {
	Member *ubl.Member `json:"member"`
}

type tenantMembersInput struct {
	PageQuery
	Former bool `query:"former" doc:"Adds who has left the tenant, by their names alone: all of them, on the first page."`
}

func (a *API) listTenantMembers(ctx context.Context, in *tenantMembersInput) (any, error) {
	m, err := ubl.Ask[[]ubl.Member](ctx, a.Asker, home(ctx), ubl.ListMembers{Who: caller(ctx)})
	if err != nil {
		return nil, err
	}
	part, rest, err := cut(in.PageQuery, m, ascending, memberKey)
	answer := membersAnswer{Members: part, Paged: rest}
	if err != nil || !in.Former || in.Cursor != "" {
		return answer, err
	}
	former, err := ubl.Ask[[]ubl.FormerMember](ctx, a.Asker, home(ctx), ubl.ListFormer{Who: caller(ctx)})
	answer.Former = list(former)
	return answer, err
}

type roleBody struct {
	Keyed
	Role ubl.Role `json:"role" enum:"owner,member" doc:"What they are to be: owners decide about it, members take part."`
}

type setTenantMemberInput struct {
	UserPath
	Body struct {
		Keyed
		Role ubl.Role `json:"role,omitempty" enum:"owner,member" doc:"What they are to be: owners decide about the organisation, members take part."`
		Name *string  `json:"name,omitempty" maxLength:"64" pattern:"^[^\\x00-\\x1f\\x7f-\\x9f]*$" doc:"What to call them. The empty name takes theirs away." example:"Bob"`
	}
}

func (a *API) setTenantMember(ctx context.Context, in *setTenantMemberInput) (any, error) {
	if in.Body.Role != "" {
		if err := confirmed(ctx); err != nil {
			return nil, err
		}
	}
	m, err := ubl.Ask[*ubl.Member](ctx, a.Asker, home(ctx),
		ubl.SetTenantMember{Request: envelope.Command(ctx, in.Body.Key), UserID: in.UserID, Role: in.Body.Role, Name: in.Body.Name})
	if err != nil {
		return nil, err
	}
	return a.forsaken(ctx, m, in.Body.Role == ubl.RoleMember), nil
}

func (a *API) removeTenantMember(ctx context.Context, in *UserPath) (any, error) {
	if in.UserID == caller(ctx).UserID {
		envelope.CallerOf(ctx).Leaves()
	}
	m, err := ubl.Ask[*ubl.Member](ctx, a.Asker, home(ctx),
		ubl.RemoveTenantMember{Request: envelope.Command(ctx, ""), UserID: in.UserID})
	if err != nil {
		return nil, err
	}
	out := a.forsaken(ctx, m, m.Role == ubl.RoleOwner)
	out.Ended = a.endedWith(ctx, m)
	return out, nil
}

// endedWith are the tokens that ended because a member has left. Owners alone may know, so
// for others there are none; the act is done, whether they can be listed now or not.
func (a *API) endedWith(ctx context.Context, m *ubl.Member) []ubl.ServiceToken {
	tokens, _ := ubl.Ask[[]ubl.ServiceToken](ctx, a.Asker, home(ctx), ubl.ListServiceTokens{Who: caller(ctx)})
	return slices.DeleteFunc(tokens, func(t ubl.ServiceToken) bool {
		return t.RevokedAt == nil || *t.RevokedAt < m.Since || !slices.Contains(t.EndsWith, m.UserID)
	})
}

// tenantMemberAnswer names the domains that nobody new can join by after the act, and the
// tokens of agents that ended with it.
type tenantMemberAnswer struct {
	memberAnswer
	Unconfirmed []string           `json:"unconfirmed_domains,omitempty"`
	Ended       []ubl.ServiceToken `json:"ended_service_tokens,omitempty"`
}

// forsaken is the answer about a member who may have been an owner before: with the
// domains that they stood for. The act is done, so a list that can't be had now fails
// nothing: the list of domains says the same.
func (a *API) forsaken(ctx context.Context, m *ubl.Member, owned bool) tenantMemberAnswer {
	out := tenantMemberAnswer{memberAnswer: memberAnswer{m}}
	if !owned || m.IsService {
		return out
	}
	claims, _ := ubl.Ask[[]ubl.DomainClaim](ctx, a.Asker, home(ctx), ubl.ListDomains{Who: caller(ctx)})
	for _, c := range claims {
		if c.Unconfirmed && c.Sponsor() == m.UserID {
			out.Unconfirmed = append(out.Unconfirmed, c.Domain)
		}
	}
	return out
}

// list is never null on the wire.
func list[T any](s []T) []T {
	if s == nil {
		return []T{}
	}
	return s
}

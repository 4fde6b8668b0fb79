package tenant

import (
	"context"
	"encoding/json"
	"slices"

	"ubl"
	"ubl/actors"
	"ubl/actors/agreement"
)

// event is a stored fact of a tenant. The struct is the disk form: fields are
// only ever added, and a change of meaning raises version.
type event struct {
	actors.Stamp
	Tenant    *ubl.Tenant           `json:"tenant,omitempty"`    // tenant.create
	Physics   *ubl.Physics          `json:"physics,omitempty"`   // tenant.create; before there were any, TenantPhysics
	Defaults  *ubl.TenantDefaults   `json:"defaults,omitempty"`  // tenant.update
	Amendment *agreement.Amendment  `json:"amendment,omitempty"` // agreement.propose, accept, withdraw
	Member    *ubl.Member           `json:"member,omitempty"`    // whom a membership event is about
	Along     []ubl.Member          `json:"along,omitempty"`     // the services that Member keeps or has made and that left with them, or stopped being owners
	Ended     []string              `json:"ended,omitempty"`     // their tokens, by client id
	Voucher   *voucher              `json:"voucher,omitempty"`   // with a new member; tenant.member.prove: who owns the id now
	Home      *home                 `json:"home,omitempty"`      // platform.home.set
	Domain    *ubl.DomainClaim      `json:"domain,omitempty"`    // tenant.domain.*: as the act left it, or found what it released
	Room      *ubl.RoomSummary      `json:"room,omitempty"`      // room.create
	Container *ubl.ContainerSummary `json:"container,omitempty"` // a container was made, by the act of its kind
	Kind      *ubl.Kind             `json:"kind,omitempty"`      // kind.set, kind.remove: as the act left it, or found it
	Passkey   *passkey              `json:"passkey,omitempty"`   // passkey.*: as the act left it, or found what it removed
	Access    *access               `json:"access,omitempty"`    // tool.access, and agreement.end of such a record
	Service   *service              `json:"service,omitempty"`   // token.*, tenant.agent.*, and agreement.end of a mandate
	// Closed are the invitations of Member's address, which end with their removal.
	Closed []ubl.InvitationID `json:"closed,omitempty"`
	// Invitation is as tenant.invitation.* left it; with accept come Member and Voucher.
	Invitation *invitation `json:"invitation,omitempty"`
	Token      *platform   `json:"token,omitempty"` // platform.token.*
	// Revoked are the ids that platform.token.revoke_all ended.
	Revoked []string `json:"revoked,omitempty"`
	// Keyless is whose passkeys platform.token.revoke_all removed, too.
	Keyless *person `json:"keyless,omitempty"`
	Link    *link   `json:"link,omitempty"` // platform.link.create; platform.token.create where a session used it up

	// secret says that Service has another secret, which is told and not stored.
	secret bool
}

// eventVersion 2: the physics of containers mean what [ubl.Physics] says. In version
// 1 collaborative let in everyone of the tenant ([ubl.Physics.AsPromised]).
const eventVersion = 2

// changes reports whether the event is a step of the history of a record that
// the Tenant holds.
func (e event) changes(id ubl.AgreementID) bool {
	if e.Access != nil {
		return id == ubl.ToolAgreement(e.Access.Tool)
	}
	_, tool := toolOf(id)
	_, agent := clientOf(id)
	switch {
	case agent && e.Service != nil && e.Did != ubl.DidAgentRedeem && e.Did != ubl.DidAgentRefresh:
		return e.Service.Mandate != nil && id == ubl.AgentAgreement(e.Service.ClientID)
	case agent:
		return slices.ContainsFunc(e.Ended, func(client string) bool { return id == ubl.AgentAgreement(client) })
	}
	return e.licenses() && !tool
}

// licenses reports whether the event is a step of the TenantLicense's history.
func (e event) licenses() bool {
	return e.Access == nil && (e.Member != nil || e.Amendment != nil || e.Did == ubl.DidAgreementEnd && e.Service == nil)
}

// hash is that of the record that the event has changed.
func hash(s *State, e event) string {
	switch {
	case e.Access != nil:
		record := s.Tools[e.Access.Tool].Agreement
		return record.Hash()
	case e.licenses():
		return s.License.Hash()
	case e.Service != nil && e.Service.Mandate != nil:
		record := e.Service.mandate(s.id())
		return record.Hash()
	}
	return ""
}

// recordHash is that of a record that the Tenant keeps, "" for any other.
func (s *State) recordHash(id ubl.AgreementID) string {
	if name, ok := toolOf(id); ok {
		record := s.Tools[name].Agreement
		if record.ID != id {
			return ""
		}
		return record.Hash()
	}
	if t, ok := s.agentOf(id); ok {
		record := t.mandate(s.id())
		return record.Hash()
	}
	return s.License.HashOf(id)
}

// tell publishes who leaves, who is a plain member, which tokens end, and that lists of tools change. Streams of
// a service's former secret, or of an agent with another mandate, come back, and find out what holds now.
func tell(_ *State, e event) (told []ubl.Event) {
	ended := func(ids ...string) {
		for _, id := range ids {
			told = append(told, ubl.Event{Kind: ubl.EventTokenRevoked, TokenID: id})
		}
	}
	switch {
	case e.Access != nil: // the name of a tool needs no escapes
		told = []ubl.Event{{Kind: ubl.EventToolsChanged, Payload: json.RawMessage(`{"tool":"` + e.Access.Tool + `"}`)}}
	case e.Did == ubl.DidTenantMemberRemove:
		for _, user := range e.gone() {
			told = append(told, ubl.Event{Kind: ubl.EventMemberLeft, UserID: user})
		}
		ended(e.Ended...)
	case e.Did == ubl.DidTenantMemberUpdate:
		for _, m := range append([]ubl.Member{*e.Member}, e.Along...) {
			if m.Role != ubl.RoleOwner {
				told = append(told, ubl.Event{Kind: ubl.EventMemberDemoted, UserID: m.UserID})
			}
		}
	case e.Did == ubl.DidTokenRevoke, e.Did == ubl.DidMandateSet, e.secret, e.Did == ubl.DidAgreementEnd && e.Service != nil:
		ended(e.Service.ClientID)
	case e.Did == ubl.DidPlatformTokenRevoke:
		ended(e.Token.JTI)
	case e.Did == ubl.DidAgreementEnd: // the license: what is public isn't any more
		told = []ubl.Event{{Kind: ubl.EventContainerChanged, UserID: e.By, Payload: ubl.ContainerPayload("")}}
	}
	ended(e.Revoked...)
	return told
}

// outcome is what a caller is answered for an event, now or at a retry. Where that is the
// whole tenant or record, the events up to this one are replayed, so that it is what was
// answered then.
func (x *Tenant) outcome(ctx context.Context, e event) (any, error) {
	switch {
	case e.Did == ubl.DidAgreementEnd && e.Service != nil:
		record := e.Service.mandate(x.id)
		return record.View(nil), nil
	case e.Did == ubl.DidAgentRedeem, e.Did == ubl.DidAgentRefresh:
		return x.caller(*e.Service, e.Service.end()), nil
	}
	if e.Did == ubl.DidTenantUpdate || e.Did == ubl.DidAgreementEnd || e.Amendment != nil {
		s, err := x.AsOf(ctx, e.N)
		switch {
		case err != nil:
			return nil, err
		case e.Did == ubl.DidTenantUpdate:
			return &s.Tenant, nil
		case e.Access != nil:
			record := s.Tools[e.Access.Tool].Agreement
			return record.View(nil), nil
		}
		return s.License.View(nil), nil
	}
	return e.outcome(), nil
}

// outcome is that of an event which says it itself.
func (e event) outcome() any {
	switch {
	case e.Container != nil:
		return &ubl.ContainerMade{Container: *e.Container, Receipt: e.Receipt}
	case e.Kind != nil:
		return e.Kind
	case e.Access != nil:
		return e.toolAccess()
	case e.Passkey != nil:
		return &e.Passkey.Passkey
	case e.Domain != nil:
		return e.Domain
	case e.Room != nil:
		return e.Room
	case e.Invitation != nil && e.Did == ubl.DidInvitationAccept:
		return e.Invitation.invitee()
	case e.Invitation != nil:
		return &e.Invitation.Invitation
	case e.Did == ubl.DidTokenRenew:
		return &ubl.ServiceRenewed{Token: e.Service.ServiceToken, SecretHash: e.Service.SecretHash}
	case e.Service != nil:
		return &e.Service.ServiceToken
	case e.Did == ubl.DidTenantMemberRemove:
		return e // removeMember makes the answer of it
	case e.Did == ubl.DidPlatformTokenRevokeAll:
		return len(e.Revoked)
	case e.Member != nil:
		return e.Member
	}
	return nil
}

package tenant

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"strings"

	"ubl"
	"ubl/actors"
	"ubl/actors/agreement"
)

// Places are what a Tenant needs of the families of rooms and containers: Room and
// Container make the appends that found one, the act, which comes first, and the first
// records; Credit is the command that puts issued credits into a container. Package
// families passes their own.
type Places struct {
	Room      func(req ubl.Request, tenant ubl.TenantID, room ubl.RoomSummary, policy ubl.RoomPolicy, physics ubl.Physics, random io.Reader) (*actors.Append, error)
	Direct    func(req ubl.Request, tenant ubl.TenantID, room ubl.RoomSummary, policy ubl.RoomPolicy, members []ubl.Member, random io.Reader) (*actors.Append, error)
	Container func(req ubl.Request, tenant ubl.TenantID, kind ubl.Kind, container ubl.ContainerSummary) (*actors.Append, error)
	Credit    func(req ubl.Request, amount int64) ubl.Command
	// Messages finds messages in rooms that the caller is in; nil where there is no search.
	Messages func(ctx context.Context, ask ubl.Asker, of ubl.Group, c ubl.SearchMessages, q *ubl.MessageQuery, in []ubl.RoomEntry) (*ubl.MessageHits, error)
}

// Family registers Tenants over a reader. Members may make containers of the
// kinds; [ubl.WorkspaceKind] is known to every tenant. The quota bounds what they make.
func Family(read ubl.Reader, found Places, kinds []ubl.Kind, quota ubl.Quota) actors.Family {
	with := makers{found, kinds, quota}
	kind := with.kind()
	return actors.Family{
		Name:    "tenant",
		Kind:    kind,
		Owns:    func(local string) bool { return local == "" },
		Unarmed: unarmed,
		Open: func(ctx context.Context, env actors.Env) (actors.Actor, error) {
			return open(ctx, kind, with, read, env)
		},
		Unplaced: true, // it has its own record of an agent's mandate
		Commands: []ubl.Command{
			ubl.Enter{}, ubl.GetTenant{}, ubl.GetContainer{}, ubl.SetDefaults{}, ubl.GetAgreement{}, ubl.ProposeTerms{}, ubl.AcceptTerms{}, ubl.WithdrawTerms{}, ubl.EndAgreement{},
			ubl.ListRooms{}, ubl.CreateRoom{}, ubl.OpenDirect{}, ubl.SweepRooms{}, ubl.NameHeir{}, ubl.ListSealed{},
			ubl.ListMembers{}, ubl.ListFormer{}, ubl.SetPresent{}, ubl.ListPresent{}, ubl.FindMember{}, ubl.SetTenantMember{}, ubl.RemoveTenantMember{}, ubl.ProveMember{},
			ubl.CreateServiceToken{}, ubl.RenewServiceToken{}, ubl.RevokeServiceToken{}, ubl.ListServiceTokens{}, ubl.CheckServiceToken{},
			ubl.SetMandate{}, ubl.ConnectAgent{}, ubl.RedeemAgentCode{}, ubl.RefreshAgent{}, ubl.RevokeAgent{}, ubl.CheckAgent{},
			ubl.AdmitToken{}, ubl.RevokeToken{}, ubl.ListTokens{}, ubl.RevokeTokens{}, ubl.EndSignIns{}, ubl.OfferLink{}, ubl.FindLink{},
			ubl.FindHome{}, ubl.FindStanding{}, ubl.KeepHome{},
			ubl.CreateInvitation{}, ubl.RevokeInvitation{}, ubl.ListInvitations{}, ubl.FindInvitation{}, ubl.AcceptInvitation{},
			ubl.ClaimDomain{}, ubl.CheckDomain{}, ubl.VerifyDomain{}, ubl.ReleaseDomain{}, ubl.ListDomains{}, ubl.KeepDomain{}, ubl.FindDomains{},
			ubl.RegisterPasskey{}, ubl.ListPasskeys{}, ubl.FindPasskey{}, ubl.UsePasskey{}, ubl.RemovePasskey{},
			ubl.SetKind{}, ubl.RemoveKind{}, ubl.ListKinds{}, ubl.CreateContainer{}, ubl.ListContainers{}, ubl.IssueCredits{}, ubl.SetToolAccess{}, ubl.ListToolAccess{}, ubl.FindUsable{}, ubl.CollectBlobs{}, ubl.RefuseFile{},
			ubl.SearchMessages{},
		},
		Answers: []any{
			(*ubl.Entered)(nil), (*ubl.Tenant)(nil), (*ubl.AgreementView)(nil), []ubl.RoomEntry(nil), (*ubl.RoomSummary)(nil), []ubl.SealedPlace(nil),
			(*ubl.Member)(nil), []ubl.Member(nil), []ubl.FormerMember(nil), (*ubl.Presence)(nil), []ubl.Presence(nil),
			(*ubl.ServiceToken)(nil), []ubl.ServiceToken(nil), (*ubl.ServiceCaller)(nil), (*ubl.ServiceRenewed)(nil),
			(*ubl.Identity)(nil), 0, []ubl.PlatformToken(nil), (*ubl.OneTimeLink)(nil), (*ubl.Home)(nil), (*ubl.Standing)(nil),
			(*ubl.Invitation)(nil), []*ubl.Invitation(nil), (*ubl.DomainClaim)(nil), []ubl.DomainClaim(nil),
			(*ubl.Passkey)(nil), (*ubl.Passkeys)(nil), (*ubl.PasskeyRecord)(nil),
			(*ubl.Container)(nil), (*ubl.Kind)(nil), []*ubl.Kind(nil), (*ubl.ContainerMade)(nil), (*ubl.ContainerList)(nil), (*ubl.Balance)(nil), (*ubl.ToolAccess)(nil), []*ubl.ToolAccess(nil), (*ubl.UsableTools)(nil), (*ubl.Collected)(nil), (*ubl.Receipt)(nil),
			(*ubl.MessageHits)(nil),
		},
		Numbers: runs(), Content: counted(),
	}
}

// plan is what a decision about a tenant leads to.
type plan = actors.Plan[event]

// makers are what tenants make rooms, containers and records with.
type makers struct {
	found Places
	kinds []ubl.Kind
	quota ubl.Quota
}

// kind is the family: all but what it reads, and what it asks of others.
func (with makers) kind() *actors.Kind[State, event] {
	return &actors.Kind[State, event]{
		Spaces: "st",
		Name:   "tenant", Version: eventVersion, Guests: true,
		Place: func(ubl.Name) actors.Place {
			return actors.Place{Key: eventKey, Counter: eventCounter(), Ref: refEvent, Passed: refDenial}
		},
		Apply: (*State).apply, Tell: tell, Snapshot: snapshots(), Adopt: (*State).adopt,
		Stands: (*State).stands, Counts: (*State).counts, Hash: hash,
		Under:    func(s *State, _ ubl.Identity) ubl.AgreementID { return ubl.TenantAgreement(s.id()) },
		Record:   (*State).recordHash,
		Newest:   (*State).newest,
		Pointers: func(s *State) ubl.Fields { return pointers(ubl.TenantAgreement(s.id())) },
		Rules: []actors.Rule[State, event]{
			actors.On(ubl.DidPlatformTokenCreate, admitContent, (*State).decideAdmit).Frees(),
			actors.On(ubl.DidPlatformTokenRenew, renewalContent, (*State).decideRenewal).Frees(),
			actors.On(ubl.DidPlatformTokenRevoke, revokeTokenContent, (*State).decideRevokePlatform).Frees(),
			actors.On(ubl.DidPlatformTokenRevokeAll, nil, (*State).decideRevokeAll).Frees(),
			actors.On(ubl.DidPlatformLinkCreate, linkContent, (*State).decideLink).Frees(),
			actors.On(ubl.DidPlatformHomeSet, homeContent, (*State).decideHome).Frees(),
			actors.On(ubl.DidPasskeyUse, useContent, (*State).decideUse).Frees(),
			actors.On(ubl.DidPasskeyRegister, registerContent, (*State).decideRegister),
			actors.On(ubl.DidPasskeyRemove, removePasskeyContent, (*State).decideRemovePasskey).Frees(),
			actors.On(ubl.DidRoomCreate, roomContent, with.decideRoom),
			actors.On(ubl.DidRoomCreate, directContent, with.decideDirect),
			actors.On(ubl.DidKindSet, kindContent, with.decideKind),
			actors.On(ubl.DidKindRemove, noKindContent, (*State).decideNoKind),
			actors.OnNamed(with.making, with.containerContent, with.decideContainer),
			actors.On(ubl.DidTenantMemberUpdate, memberContent, (*State).decideMember),
			actors.On(ubl.DidTenantMemberRemove, removeContent, (*State).decideRemove).Frees(),
			actors.On(ubl.DidTenantMemberProve, proveContent, (*State).decideProve).Frees(),
			actors.On(ubl.DidInvitationCreate, inviteContent, (*State).decideInvite),
			actors.On(ubl.DidInvitationRevoke, uninviteContent, (*State).decideUninvite).Frees(),
			actors.On(ubl.DidInvitationAccept, acceptContent, (*State).decideAccept),
			actors.On(ubl.DidTokenCreate, tokenContent, with.decideToken),
			actors.On(ubl.DidTokenRenew, renewContent, (*State).decideRenew),
			actors.On(ubl.DidTokenRevoke, revokeContent, (*State).decideRevoke).Frees(),
			actors.On(ubl.DidMandateSet, mandateContent, (*State).decideMandate),
			actors.On(ubl.DidAgentConnect, connectContent, with.decideConnect),
			actors.On(ubl.DidAgentRedeem, redeemContent, (*State).decideRedeem).Frees(),
			actors.On(ubl.DidAgentRefresh, refreshContent, (*State).decideRefresh).Frees(),
			actors.On(ubl.DidTokenRevoke, revokeAgentContent, (*State).decideRevokeAgent).Frees(),
			actors.On(ubl.DidToolAccess, accessContent, with.decideAccess),
			actors.On(ubl.DidTenantUpdate, defaultsContent, (*State).decideDefaults),
			actors.On(ubl.DidAgreementPropose, agreement.ProposeContent, (*State).decideProposeTerms),
			actors.On(ubl.DidAgreementAccept, agreement.AcceptContent, (*State).decideAcceptTerms),
			actors.On(ubl.DidAgreementWithdraw, agreement.WithdrawContent, (*State).decideWithdrawTerms).Frees(),
			actors.On(ubl.DidAgreementEnd, endContent, (*State).decideEnd).Frees(),
			actors.OnNamed(keeping, keepContent, (*State).decideKeep),
			actors.On(ubl.DidDomainVerify, verifyContent, (*State).decideConfirm),
			actors.On(ubl.DidDomainRelease, releaseContent, (*State).decideReleased).Frees(),
		},
	}
}

// newest is the version of what a command changes: the defaults, or the record of the tenant or
// of a tool.
func (s *State) newest(cmd ubl.Command) string {
	var about ubl.AgreementID
	switch c := cmd.(type) {
	case ubl.SetDefaults:
		return ubl.VersionOf(s.Tenant.Defaults)
	case ubl.SetToolAccess:
		about = ubl.ToolAgreement(c.Tool)
	case ubl.EndAgreement:
		about = c.Agreement
	}
	if tool, ok := toolOf(about); ok {
		return s.Tools[tool].version()
	}
	return s.License.Version()
}

// act is one with its effects.
func act(this ubl.Fields, effects ...ubl.Fields) actors.Act {
	return actors.Act{This: this, Effects: effects}
}

// pointers name the record that an act changes.
func pointers(about ubl.AgreementID) ubl.Fields { return ubl.Fields{ubl.Str("agreement_id", about)} }

// making names the act by which a container is made.
func (with makers) making(c ubl.CreateContainer) ubl.Did {
	kind, _ := with.nodeKind(c.Kind)
	return cmp.Or(kind.Did, ubl.DidContainerCreate)
}

// keeping names the act that tenant 0 decides.
func keeping(c ubl.KeepDomain) ubl.Did { return c.Did }

// What tells one command from another under the same key.

func admitContent(c ubl.AdmitToken) []string            { return []string{c.Token.JTI} }
func renewalContent(c renewal) []string                 { return []string{c.Token.JTI} }
func revokeTokenContent(c ubl.RevokeToken) []string     { return []string{c.JTI} }
func linkContent(c ubl.OfferLink) []string              { return []string{c.Link.Hash} }
func useContent(c ubl.UsePasskey) []string              { return []string{c.Attempt} }
func removePasskeyContent(c ubl.RemovePasskey) []string { return []string{string(c.PasskeyID)} }
func kindContent(c ubl.SetKind) []string                { return []string{string(kindText(c.Kind))} }
func noKindContent(c ubl.RemoveKind) []string           { return []string{c.Name} }
func removeContent(c ubl.RemoveTenantMember) []string   { return []string{string(c.UserID)} }
func uninviteContent(c ubl.RevokeInvitation) []string   { return []string{string(c.InvitationID)} }
func acceptContent(c accepting) []string                { return []string{string(c.by.ID)} }
func revokeContent(c ubl.RevokeServiceToken) []string   { return []string{c.ClientID} }
func accessContent(c ubl.SetToolAccess) []string        { return []string{termsOf(c).text()} }
func defaultsContent(c ubl.SetDefaults) []string        { return []string{c.Patch.String()} }
func verifyContent(c ubl.VerifyDomain) []string         { return []string{c.Domain, c.Value} }
func releaseContent(c ubl.ReleaseDomain) []string       { return []string{c.Domain} }

// roomContent tells of physics only where they are asked for, as keys from before have none.
func roomContent(c ubl.CreateRoom) []string {
	content := []string{strings.TrimSpace(c.Name)}
	if c.Physics != nil {
		content = append(content, c.Physics.String())
	}
	return content
}

func homeContent(c ubl.KeepHome) []string {
	return []string{c.Verified.Issuer, c.Verified.Subject, string(c.Home.TenantID), string(c.Home.UserID)}
}

func registerContent(c ubl.RegisterPasskey) []string {
	return []string{c.Name, string(c.Authenticator.CredentialID)}
}

func (with makers) containerContent(c ubl.CreateContainer) []string {
	kind, node := with.nodeKind(c.Kind)
	if !node {
		kind.Name = c.Kind
	}
	return []string{kind.Name, strings.TrimSpace(c.Name), physicsOf(c, kind).String()}
}

func memberContent(c ubl.SetTenantMember) []string {
	content := []string{string(c.UserID), string(c.Role)}
	if c.Name != nil {
		content = append(content, *c.Name)
	}
	return content
}

func proveContent(c ubl.ProveMember) []string {
	return []string{c.Verified.Issuer, c.Verified.Subject}
}

func inviteContent(c ubl.CreateInvitation) []string {
	return []string{c.Invitee.Email, string(c.Role), c.TTL.String()}
}

// tokenContent tells of a mandate only where there is one, as keys from before have none.
func tokenContent(c ubl.CreateServiceToken) []string {
	content := []string{c.Name, expiryText(c.ExpiresAt)}
	if c.Mandate != nil {
		content = append(content, mandateText(tidied(c.Mandate)))
	}
	return content
}

func mandateContent(c ubl.SetMandate) []string {
	return []string{c.ClientID, mandateText(tidied(&c.Mandate))}
}

func connectContent(c ubl.ConnectAgent) []string {
	return []string{c.Name, c.Client, c.Resource, mandateText(tidied(&c.Mandate)), expiryText(c.ExpiresAt)}
}

func redeemContent(c ubl.RedeemAgentCode) []string {
	return []string{c.ClientID, c.Client, c.CodeHash, c.FamilyHash, c.RefreshHash}
}

func refreshContent(c ubl.RefreshAgent) []string {
	return []string{c.ClientID, c.Client, c.FamilyHash, c.RefreshHash, c.NewHash}
}

func revokeAgentContent(c ubl.RevokeAgent) []string {
	return []string{c.ClientID, c.Client, c.FamilyHash}
}

func renewContent(c ubl.RenewServiceToken) []string {
	return []string{c.ClientID, expiryText(c.ExpiresAt), c.Grace.String(), fmt.Sprint(c.SecretHash != "")}
}

// endContent says nothing of the TenantLicense: there is one.
func endContent(c ubl.EndAgreement) []string {
	_, tool := toolOf(c.Agreement)
	if _, agent := clientOf(c.Agreement); tool || agent {
		return []string{string(c.Agreement)}
	}
	return nil
}

func keepContent(c ubl.KeepDomain) []string {
	if c.Did == ubl.DidDomainVerify {
		return []string{c.Domain, c.Value}
	}
	return []string{c.Domain}
}

// expiryText tells one expiry from another.
func expiryText(at *ubl.Time) string {
	if at == nil {
		return ""
	}
	return at.String()
}

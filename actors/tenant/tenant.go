package tenant

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"math"
	"slices"
	"sync"

	"ubl"
	"ubl/actors"
)

// Founders make the appends that found what a Tenant has: the act, which comes
// first, and the first records. cmd/ubl passes those of the Room and the
// Container family.
type Founders struct {
	Room      func(req ubl.Request, tenant ubl.TenantID, room ubl.RoomSummary, policy ubl.RoomPolicy, random io.Reader) (*actors.Append, error)
	Container func(req ubl.Request, tenant ubl.TenantID, kind ubl.Kind, container ubl.ContainerSummary) (*actors.Append, error)
}

// Family registers Tenants over a reader. Members may make containers of the
// kinds; [ubl.WorkspaceKind] is known to every tenant. The quota bounds what they make.
func Family(read ubl.Reader, found Founders, kinds []ubl.Kind, quota ubl.Quota) actors.Family {
	return actors.Family{
		Name: "tenant",
		Owns: func(local string) bool { return local == "" },
		Open: func(ctx context.Context, env actors.Env) (actors.Actor, error) {
			return open(ctx, read, found, kinds, quota, env)
		},
	}
}

// Tenant is one tenant. Its fields are owned by the mailbox, but for greeted.
type Tenant struct {
	env   actors.Env
	read  ubl.Reader
	group ubl.Group
	id    ubl.TenantID
	found Founders
	kinds []ubl.Kind
	quota ubl.Quota

	state State
	// saved is the head of the newest checkpoint, saving one on its way.
	saved       checkpointHead
	saving      *saving
	checkpoints checkpointing
	keys        *actors.Keys
	meters      meters
	// greeted holds the users whom the tenant's rooms have welcomed. It is no
	// state: asking once more changes nothing.
	greeted sync.Map
}

func open(ctx context.Context, read ubl.Reader, found Founders, kinds []ubl.Kind, quota ubl.Quota, env actors.Env) (*Tenant, error) {
	x := &Tenant{env: env, read: read, found: found, kinds: kinds, quota: quota, group: env.Name.Group(), checkpoints: usualCheckpoints}
	x.id = x.group.Tenant
	if !x.id.Valid() {
		return nil, ubl.Errorf(ubl.CodeNotFound, "there is no such tenant")
	}
	err := x.restore(ctx)
	if err == nil {
		err = x.stored().Each(ctx, x.state.Events+1, math.MaxInt64, func(e event) error {
			x.state.apply(e)
			return nil
		})
	}
	if err == nil {
		err = read.View(ctx, x.group, func(snap ubl.Snapshot) error {
			return actors.CheckEvents(snap, eventCounter(), x.state.Events)
		})
	}
	if err == nil {
		x.keys, err = actors.LoadKeys(ctx, read, env.Name, ubl.TimeOf(env.Now()))
	}
	if err != nil {
		return nil, fmt.Errorf("couldn't load a tenant: %w", err)
	}
	return x, nil
}

// Receive implements [actors.Actor].
func (x *Tenant) Receive(t *actors.Turn, cmd ubl.Command) {
	switch c := cmd.(type) {
	case ubl.Enter:
		x.enter(t, c)
	case ubl.FindHome:
		x.findHome(t, c)
	case ubl.FindStanding:
		t.Reply(x.standing(c.Who))
	default:
		if x.state.Events > 0 {
			x.receive(t, cmd)
		} else if _, ok := cmd.(ubl.CheckServiceToken); ok {
			t.Fail(errBadToken())
		} else {
			t.Fail(ubl.Errorf(ubl.CodeNotFound, "there is no such tenant"))
		}
	}
	if x.state.Events == 0 {
		t.Drop()
	}
}

func (x *Tenant) receive(t *actors.Turn, cmd ubl.Command) {
	switch c := cmd.(type) {
	case ubl.GetTenant:
		tenant := x.state.Tenant
		x.answer(t, c.Who, func() any { return &tenant })
	case ubl.SetDefaults:
		x.change(t, c.Request, ubl.DidTenantUpdate, x.decideDefaults(c), c.Patch.String())
	case ubl.ListRooms:
		x.listRooms(t, c)
	case ubl.CreateRoom:
		x.createRoom(t, c)
	case ubl.ListMembers:
		x.listMembers(t, c)
	case ubl.ListFormer:
		x.listFormer(t, c)
	case ubl.FindMember:
		x.findMember(t, c)
	case ubl.SetTenantMember:
		x.setMember(t, c)
	case ubl.RemoveTenantMember:
		x.removeMember(t, c)
	case ubl.NameHeir:
		x.nameHeir(t, c)
	case ubl.ListSealed:
		x.listSealed(t, c)
	case ubl.CreateServiceToken:
		x.change(t, c.Request, ubl.DidTokenCreate, x.decideToken(c), c.Name, expiryText(c.ExpiresAt))
	case ubl.RenewServiceToken:
		x.change(t, c.Request, ubl.DidTokenRenew, x.decideRenew(c), c.ClientID, expiryText(c.ExpiresAt), c.Grace.String(), fmt.Sprint(c.SecretHash != ""))
	case ubl.RevokeServiceToken:
		x.change(t, c.Request, ubl.DidTokenRevoke, x.decideRevoke(c), c.ClientID)
	case ubl.ListServiceTokens:
		x.listTokens(t, c)
	case ubl.CheckServiceToken:
		x.checkToken(t, c)
	case ubl.CreateInvitation:
		x.change(t, c.Request, ubl.DidInvitationCreate, x.decideInvite(c), c.Invitee.Email, string(c.Role), c.TTL.String())
	case ubl.RevokeInvitation:
		x.change(t, c.Request, ubl.DidInvitationRevoke, x.decideUninvite(c), string(c.InvitationID))
	case ubl.ListInvitations:
		x.listInvitations(t, c)
	case ubl.FindInvitation:
		x.findInvitation(t, c)
	case ubl.AcceptInvitation:
		x.acceptInvitation(t, c)
	case ubl.ProveMember:
		x.proveMember(t, c)
	case ubl.KeepHome:
		x.change(t, c.Request, ubl.DidPlatformHomeSet, x.decideHome(c), c.Verified.Issuer, c.Verified.Subject, string(c.Home.TenantID), string(c.Home.UserID))
	case ubl.ClaimDomain, ubl.CheckDomain, ubl.VerifyDomain, ubl.ReleaseDomain, ubl.ListDomains, ubl.KeepDomain, ubl.FindDomains, followDomains:
		x.receiveDomain(t, c)
	case ubl.RegisterPasskey, ubl.ListPasskeys, ubl.FindPasskey, ubl.UsePasskey, ubl.RemovePasskey:
		x.receivePasskey(t, c)
	case ubl.AdmitToken:
		x.admit(t, c)
	case ubl.RevokeToken:
		x.change(t, c.Request, ubl.DidPlatformTokenRevoke, x.decideRevokePlatform(c), c.JTI)
	case ubl.ListTokens:
		t.Reply(x.own(c.Who, t.Now()))
	case ubl.RevokeTokens:
		x.revokeAll(t, c)
	case ubl.EndSignIns:
		x.endSignIns(t, c)
	case ubl.OfferLink:
		x.change(t, c.Request, ubl.DidPlatformLinkCreate, x.decideLink(c), c.Link.Hash)
	case ubl.FindLink:
		x.findLink(t, c)
	case ubl.SweepRooms:
		x.sweepRooms(t, c)
	case ubl.CreateContainer:
		x.createContainer(t, c)
	case ubl.ListContainers:
		x.listContainers(t, c)
	case ubl.IssueCredits:
		x.issueCredits(t, c)
	case ubl.SetToolAccess:
		x.setToolAccess(t, c)
	case ubl.ListToolAccess:
		x.listToolAccess(t, c)
	case ubl.GetAgreement:
		x.agreement(t, c)
	case ubl.EndAgreement:
		x.endAgreement(t, c)
	default:
		t.Fail(ubl.Errorf(ubl.CodeNotFound, "a tenant doesn't answer this command"))
	}
}

// member is the caller's entry, with the role that counts, or the refusal.
func (x *Tenant) member(who ubl.Identity) (ubl.Member, error) {
	m, err := x.state.License.Entry(who, ubl.CodeForbidden)
	return x.state.capped(m), err
}

// owner refuses everyone but owners under a license in force.
func (x *Tenant) owner(who ubl.Identity) error {
	if err := x.lookOwner(who); err != nil {
		return err
	}
	return x.state.License.InForce()
}

// lookOwner refuses everyone but owners, who may still look where the license has
// ended.
func (x *Tenant) lookOwner(who ubl.Identity) error {
	m, err := x.member(who)
	if err == nil && m.Role != ubl.RoleOwner {
		err = ubl.Errorf(ubl.CodeForbidden, "only an owner of the tenant may do this")
	}
	return err
}

// answer replies to members.
func (x *Tenant) answer(t *actors.Turn, who ubl.Identity, value func() any) {
	if _, err := x.member(who); err != nil {
		t.Fail(err)
		return
	}
	t.Reply(value())
}

// listMembers sorts them on the asker's goroutine.
func (x *Tenant) listMembers(t *actors.Turn, c ubl.ListMembers) {
	if _, err := x.member(c.Who); err != nil {
		t.Fail(err)
		return
	}
	license, looks := x.state.License.Share(), x.state.Looks
	t.Later(func() (any, error) {
		if len(c.Only) == 0 {
			list := license.SortedMembers()
			looks.mark(list)
			return list, nil
		}
		list := []ubl.Member{}
		for _, id := range slices.Compact(slices.Sorted(slices.Values(c.Only))) {
			if m, ok := license.Members[id]; ok {
				list = append(list, m)
			}
		}
		looks.mark(list)
		return list, nil
	})
}

// listFormer tells of those who have left their names alone.
func (x *Tenant) listFormer(t *actors.Turn, c ubl.ListFormer) {
	if _, err := x.member(c.Who); err != nil {
		t.Fail(err)
		return
	}
	list, looks := make([]ubl.FormerMember, 0, len(x.state.Removed)), x.state.Looks
	for id, m := range x.state.Removed {
		list = append(list, ubl.FormerMember{UserID: id, Name: m.Name})
	}
	t.Later(func() (any, error) {
		slices.SortFunc(list, func(a, b ubl.FormerMember) int { return cmp.Compare(a.UserID, b.UserID) })
		looks.markFormer(list)
		return list, nil
	})
}

// findMember answers with a member whom the caller names.
func (x *Tenant) findMember(t *actors.Turn, c ubl.FindMember) {
	if _, err := x.member(c.Who); err != nil {
		t.Fail(err)
		return
	}
	m, ok := x.state.License.Members[c.UserID]
	unproven := false
	if c.UserID == "" {
		for _, by := range x.state.License.Members { // of several, the one whose id comes first
			switch same := !by.IsService && ubl.SameEmail(by.Email, c.Email); {
			case same && by.Unproven:
				unproven = true
			case same && (!ok || by.UserID < m.UserID):
				m, ok = by, true
			}
		}
	}
	switch {
	case !ok && unproven:
		t.Fail(ubl.Errorf(ubl.CodeConflict, "a member came by an invitation of that address, which nobody has verified: name them by user_id"))
		return
	case !ok:
		t.Fail(ubl.Errorf(ubl.CodeNotFound, "there is no such member of the tenant"))
		return
	}
	t.Reply(&m)
}

package tenant

import (
	"cmp"
	"context"
	"slices"
	"sync"

	"ubl"
	"ubl/actors"
	"ubl/actors/agreement"
)

// Tenant is one tenant. Its state and keys are owned by the mailbox.
type Tenant struct {
	*actors.Entity[State, event]
	makers
	id ubl.TenantID
	// greeted holds the users whom the tenant's rooms have welcomed. It is no
	// state: asking once more changes nothing.
	greeted sync.Map
	present presence
}

func open(ctx context.Context, kind *actors.Kind[State, event], with makers, read ubl.Reader, env actors.Env) (*Tenant, error) {
	x := &Tenant{makers: with, id: env.Name.Group().Tenant, present: presence{}}
	if !x.id.Valid() {
		return nil, errNotHere()
	}
	var err error
	x.Entity, err = kind.Load(ctx, read, env, actors.Hooks[event]{Outcome: x.outcome, Applied: x.applied, Errand: x.errand})
	if err != nil {
		return nil, err
	}
	return x, nil
}

func errNotHere() error { return ubl.Errorf(ubl.CodeNotFound, "there is no such tenant") }

// applied counts what people are paced by, and has who let go of be greeted again.
func (x *Tenant) applied(e event, _ *actors.Append) {
	switch {
	case e.Did == ubl.DidTenantMemberRemove:
		for _, user := range e.gone() {
			x.greeted.Delete(user)
		}
	case e.Did == ubl.DidPlatformTokenCreate && e.Token.Kind == ubl.TokenSession:
		x.State.meters.Take(pace(person{e.Token.TenantID, e.Token.UserID}, e.Did), e.At, pacedPerMinute)
	case e.Did == ubl.DidPasskeyUse, e.Did == ubl.DidPasskeyRegister:
		x.State.meters.Take(pace(e.Passkey.Owner.person, e.Did), e.At, pacedPerMinute)
	}
}

// Receive implements [actors.Actor].
func (x *Tenant) Receive(t *actors.Turn, cmd ubl.Command) {
	switch c := cmd.(type) {
	case ubl.Enter:
		x.enter(t, c)
	case ubl.FindHome:
		x.findHome(t, c)
	case ubl.FindStanding:
		t.Reply(x.State.standing(c.Who))
	default:
		if x.State.Events > 0 {
			x.receive(t, cmd)
		} else {
			t.Fail(absent(cmd))
		}
	}
	if x.State.Events == 0 {
		t.Drop()
	}
}

// absent refuses what is asked of a tenant that isn't there. A credential of it is a bad one.
func absent(cmd ubl.Command) error {
	switch cmd.(type) {
	case ubl.CheckServiceToken, ubl.CheckAgent, ubl.RedeemAgentCode, ubl.RefreshAgent, ubl.RevokeAgent:
		return errBadToken()
	}
	return errNotHere()
}

// receive answers what is asked of a tenant that is there.
func (x *Tenant) receive(t *actors.Turn, cmd ubl.Command) {
	switch c := cmd.(type) {
	case ubl.GetTenant:
		_, err := x.State.member(c.Who)
		tenant := x.State.Tenant
		t.Answer(err, func() any { return &tenant })
	case ubl.GetContainer:
		x.getContainer(t, c)
	case ubl.ListRooms:
		x.listRooms(t, c)
	case ubl.SearchMessages:
		x.searchMessages(t, c)
	case ubl.OpenDirect:
		x.openDirect(t, c)
	case ubl.ListMembers:
		x.listMembers(t, c)
	case ubl.ListFormer:
		x.listFormer(t, c)
	case ubl.SetPresent:
		x.setPresent(t, c)
	case ubl.ListPresent:
		x.listPresent(t, c)
	case ubl.FindMember:
		m, err := x.State.findMember(c)
		t.Answer(err, func() any { return &m })
	case ubl.RemoveTenantMember:
		x.removeMember(t, c)
	case ubl.NameHeir:
		x.nameHeir(t, c)
	case ubl.ListSealed:
		x.listSealed(t, c)
	case ubl.ListServiceTokens:
		list, err := x.State.listTokens(c.Who)
		t.Answer(err, func() any { return list })
	case ubl.CheckServiceToken:
		x.checkToken(t, c)
	case ubl.CheckAgent:
		x.checkAgent(t, c)
	case ubl.RedeemAgentCode, ubl.RefreshAgent:
		x.grants(t, cmd)
	case ubl.ListInvitations:
		t.Answer(x.State.shows("tenant.invitation.list", c.Who), func() any { return x.State.invitations() })
	case ubl.FindInvitation:
		x.findInvitation(t, c)
	case ubl.AcceptInvitation:
		x.acceptInvitation(t, c)
	case ubl.ProveMember:
		x.proveMember(t, c)
	case ubl.SweepRooms:
		x.sweepRooms(t, c)
	case ubl.ListKinds:
		_, err := x.State.member(c.Who)
		kinds := x.allKinds(&x.State)
		t.Answer(err, func() any { return kinds })
	case ubl.ListContainers:
		x.listContainers(t, c)
	case ubl.IssueCredits:
		x.issueCredits(t, c)
	case ubl.CollectBlobs:
		x.collectBlobs(t, c)
	case ubl.RefuseFile:
		x.refuseFile(t, c)
	case collection:
		x.collect(t, c)
	case ubl.ListToolAccess:
		x.listToolAccess(t, c)
	case ubl.FindUsable:
		_, err := x.State.member(c.Who)
		t.Answer(err, func() any { return x.usable(t.Now(), c) })
	case ubl.GetAgreement:
		x.agreement(t, c)
	case agreement.CheckLicense:
		t.Answer(x.State.License.InForce(), func() any { return nil })
	default:
		if !x.receiveSignIn(t, cmd) && !x.receiveDomain(t, cmd) && !x.Change(t, cmd) {
			t.Fail(ubl.Errorf(ubl.CodeNotFound, "a tenant doesn't answer this command"))
		}
	}
}

// receiveSignIn answers what signs people in and out, which is tenant 0's.
func (x *Tenant) receiveSignIn(t *actors.Turn, cmd ubl.Command) bool {
	switch c := cmd.(type) {
	case ubl.AdmitToken:
		x.admit(t, c)
	case ubl.ListTokens:
		t.Reply(x.State.own(personOf(c.Who), t.Now()))
	case ubl.RevokeTokens:
		x.revokeAll(t, c)
	case ubl.EndSignIns:
		x.endSignIns(t, c)
	case ubl.FindLink:
		x.findLink(t, c)
	case ubl.RegisterPasskey, ubl.ListPasskeys, ubl.FindPasskey, ubl.UsePasskey, ubl.RemovePasskey:
		x.receivePasskey(t, c)
	default:
		return false
	}
	return true
}

// member is the caller's entry, with the role that counts, or the refusal.
func (s *State) member(who ubl.Identity) (ubl.Member, error) {
	m, err := s.License.Entry(who, ubl.CodeForbidden)
	return s.capped(m), err
}

// listMembers sorts them on the asker's goroutine.
func (x *Tenant) listMembers(t *actors.Turn, c ubl.ListMembers) {
	_, err := x.State.member(c.Who)
	if err == nil && len(c.Only) == 0 {
		err = x.State.beyond(c.Who)
	}
	license, looks := x.State.License.Share(), x.State.Looks
	t.Read(err, func(context.Context) (any, error) {
		list := []ubl.Member{}
		if len(c.Only) == 0 {
			list = license.SortedMembers()
		}
		for _, id := range distinct(c.Only) {
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
	_, err := x.State.member(c.Who)
	list, looks := make([]ubl.FormerMember, 0, len(x.State.Removed)), x.State.Looks
	for id, m := range x.State.Removed {
		list = append(list, ubl.FormerMember{UserID: id, Name: m.Name})
	}
	t.Read(err, func(context.Context) (any, error) {
		slices.SortFunc(list, func(a, b ubl.FormerMember) int { return cmp.Compare(a.UserID, b.UserID) })
		looks.markFormer(list)
		return list, nil
	})
}

// findMember is a member whom the caller names.
func (s *State) findMember(c ubl.FindMember) (ubl.Member, error) {
	if _, err := s.member(c.Who); err != nil {
		return ubl.Member{}, err
	}
	m, ok := s.License.Members[c.UserID]
	unproven := false
	if c.UserID == "" {
		for _, by := range s.License.Members { // of several, the one whose id comes first
			switch same := !by.IsService && ubl.SameEmail(by.Email, c.Email); {
			case same && by.Unproven:
				unproven = true
			case same && (!ok || by.UserID < m.UserID):
				m, ok = by, true
			}
		}
	}
	switch {
	case ok:
		return m, nil
	case unproven:
		return m, ubl.Errorf(ubl.CodeConflict, "a member came by an invitation of that address, which nobody has verified: name them by user_id")
	}
	return m, ubl.Errorf(ubl.CodeNotFound, "there is no such member of the tenant")
}

package tenant

import (
	"encoding/json"
	"fmt"
	"io"
	"strings"

	"ubl"
	"ubl/actors"
	"ubl/actors/agreement"
)

// A mandate is kept with its service. The Agreement of it (a:agent:…) follows from that
// alone: the agent and its keeper are the entries, and it ends with the token.

// mandate is the record of a service's mandate.
func (t service) mandate(tenant ubl.TenantID) ubl.Agreement {
	entry := func(u ubl.UserID, role ubl.Role, isService bool) ubl.Member {
		return ubl.Member{UserID: u, Role: role, IsService: isService, Since: t.CreatedAt}
	}
	record := ubl.Agreement{
		ID: ubl.AgentAgreement(t.ClientID), Type: ubl.AgentMandateType, TenantID: tenant,
		CreatedAt: t.CreatedAt, CreatedBy: t.CreatedBy, Status: ubl.AgreementInForce,
		Terms: t.Mandate.Terms(t.UserID, t.ExpiresAt), Mandate: t.Mandate, Salt: t.Salt,
		Members: map[ubl.UserID]ubl.Member{
			t.UserID: entry(t.UserID, ubl.RoleMember, true), t.Keeper(): entry(t.Keeper(), ubl.RoleOwner, false),
		},
	}
	if t.RevokedAt != nil {
		record.Status, record.EndedAt = ubl.AgreementEnded, t.RevokedAt
	}
	return record
}

// clientOf is what stands before the tenant in the client id of an agent whose mandate an
// Agreement is.
func clientOf(id ubl.AgreementID) (string, bool) {
	return strings.CutPrefix(string(id), string(ubl.AgentAgreement("")))
}

// agentOf is the service whose mandate an Agreement is, false where it is another's.
func (s *State) agentOf(id ubl.AgreementID) (service, bool) {
	client, ok := clientOf(id)
	if !ok {
		return service{}, false
	}
	t, known := s.Services[client+"."+string(s.id())]
	if !known {
		t, known = s.Services[client]
	}
	return t, known && t.Mandate != nil && ubl.AgentAgreement(t.ClientID) == id
}

// mandateOf is the mandate of a member, nil for who has none.
func (s *State) mandateOf(user ubl.UserID) *ubl.Mandate {
	t, ok := s.tokenOf(user)
	if !ok {
		return nil
	}
	return t.Mandate
}

// reads says who may read the record of a mandate: owners, its keeper and the agent.
func (s *State) readsMandate(who ubl.Identity, t service) error {
	m, err := s.member(who)
	if err != nil || m.Role == ubl.RoleOwner && s.mandateOf(who.UserID) == nil || who.UserID == t.UserID || who.UserID == t.Keeper() {
		return err
	}
	return ubl.Errorf(ubl.CodeNotFound, "there is no such Agreement")
}

// keeps refuses who may not decide about a service: its keeper may, if it has a mandate, and
// whom the TenantLicense permits it. Nobody does it who is an agent with a mandate.
func (s *State) keeps(did ubl.Did, who ubl.Identity, t service) error {
	if s.mandateOf(who.UserID) != nil {
		return errMandated()
	}
	m, err := s.member(who)
	if err == nil && t.Mandate != nil && !m.IsService && t.Keeper() == who.UserID {
		return s.License.InForce()
	}
	return s.permits(did, who)
}

// errMandated refuses an agent what would lead it round its mandate.
func errMandated() error {
	return ubl.Errorf(ubl.CodeForbidden, "an agent with a mandate neither makes credentials nor decides about mandates")
}

// under has the keeper's act name the mandate as what authorises it: the TenantLicense gives
// members nothing to decide about tokens.
func (s *State) under(p *plan, who ubl.Identity, t service) *plan {
	if t.Mandate != nil && s.permits(ubl.DidTokenRevoke, who) != nil {
		p.Agreement = ubl.AgentAgreement(t.ClientID)
	}
	return p
}

// boundPlan puts what a mandate says into the act that sets it. The ledger has a commitment to the
// mandate, whose salt is kept with it: places and tools are easily guessed.
func boundPlan(p *plan, t *service, random io.Reader) (_ *plan, err error) {
	m := t.Mandate
	if m == nil {
		return p, nil
	}
	if t.Salt, err = ubl.NewSalt(random); err != nil {
		return nil, err
	}
	id := ubl.Str("agreement_id", ubl.AgentAgreement(t.ClientID))
	p.This = append(p.This, id, ubl.Str("mandate_hash", mandateHash(m, t.Salt)), ubl.Int("per_minute", int64(m.PerMinute)),
		ubl.Int("places", int64(len(m.Places))), ubl.Bool("read_only", m.ReadOnly), ubl.Int("tools", int64(len(m.Tools))))
	if m.Confirm != "" {
		p.This = append(p.This, ubl.Str("confirm", m.Confirm))
	}
	p.Pointers = ubl.Fields{id}
	return p, nil
}

// mandateHash commits to a mandate's canonical JSON.
func mandateHash(m *ubl.Mandate, salt ubl.Salt) string {
	canonical, err := ubl.Canonical([]byte(mandateText(m)))
	if err != nil { // strings and numbers
		panic(fmt.Sprintf("tenant: couldn't write a mandate: %v", err))
	}
	return salt.Commit(canonical)
}

// mandateText tells one mandate from another, "" for none.
func mandateText(m *ubl.Mandate) string {
	if m == nil {
		return ""
	}
	b, err := json.Marshal(m)
	if err != nil { // strings and numbers
		panic(fmt.Sprintf("tenant: couldn't encode a mandate: %v", err))
	}
	return string(b)
}

// tidied is a mandate as it is kept: its lists in order, each entry once, and never nil.
func tidied(m *ubl.Mandate) *ubl.Mandate {
	if m == nil {
		return nil
	}
	kept := *m
	kept.Confirm = m.Confirm.Kept()
	kept.Sets, kept.Tools, kept.Places = distinct(m.Sets), distinct(m.Tools), distinct(m.Places)
	return &kept
}

// decideMandate gives a service another mandate. One that was a full member gets its first;
// none loses it, which is another token.
func (s *State) decideMandate(c ubl.SetMandate, at actors.Moment) (*plan, error) {
	t, ok := s.Services[c.ClientID]
	if err := s.keeps(ubl.DidMandateSet, c.Who, t); err != nil {
		return nil, err
	}
	if err := c.Mandate.Check(); err != nil {
		return nil, err
	}
	switch {
	case !ok:
		return nil, ubl.Errorf(ubl.CodeNotFound, "there is no such service token")
	case t.RevokedAt != nil:
		return nil, ubl.Errorf(ubl.CodeConflict, "the service token was revoked already")
	}
	before := t
	t.Mandate = tidied(&c.Mandate)
	token := ubl.Str("token_id", c.ClientID)
	p := &plan{
		Act:   act(ubl.Fields{token, ubl.Str("user_id", t.UserID)}, ubl.Fields{ubl.Str("op", ubl.DidMandateSet), token}),
		Event: event{Service: &t}, Frees: t.Mandate.Within(before.Mandate),
	}
	if _, err := boundPlan(p, &t, at.Random); err != nil {
		return nil, err
	}
	return s.under(p, c.Who, before), nil
}

// endMandate ends an agent with its mandate.
func (s *State) endMandate(c ubl.EndAgreement, t service, at actors.Moment) (*plan, error) {
	if err := s.keeps(ubl.DidAgreementEnd, c.Who, t); err != nil {
		return nil, err
	}
	record := t.mandate(s.id())
	if err := record.InForce(); err != nil {
		return nil, err
	}
	ending, _, _ := agreement.Ending(record, at.Now)
	p := &plan{Act: ending, Event: event{Service: &t}}
	t.RevokedAt = &at.Now
	p.Pointers = pointers(record.ID)
	return s.under(p, c.Who, t), nil
}

// mandated holds the use of a tool against the mandate of an agent.
func (s *State) mandated(p actors.Proposal) error {
	m := s.mandateOf(p.Who.UserID)
	if err := m.May(p.Did, p.Acts, p.External); err != nil || m == nil || p.Still {
		return err
	}
	if p.Unconfirmed && m.Asks(p.Destroys) {
		return ubl.ErrUnconfirmed()
	}
	if wait := s.meters.Wait(ofAgent(p.Who.UserID), p.At, m.PerMinute); wait > 0 {
		return ubl.Errorf(ubl.CodeRateLimited, "the agent has used tools as often as its mandate allows in a minute").Later(wait)
	}
	return nil
}

// ofAgent is what counts an agent's uses of tools against its mandate.
func ofAgent(user ubl.UserID) agreement.Use {
	return agreement.Use{User: user, Of: string(ubl.AgentAgreement(""))}
}

// beyond refuses what an agent with places may not see, as the tenant's own records.
func (s *State) beyond(who ubl.Identity) error {
	if s.mandateOf(who.UserID).Placed() {
		return ubl.ErrElsewhere()
	}
	return nil
}

package tenant

import (
	"cmp"
	"context"
	"crypto/subtle"
	"slices"
	"unicode/utf8"

	"ubl"
	"ubl/actors"
)

// An agent that a person connects has no secret of its own: a code once, and then a refresh
// token at a time, of which the newest counts. Whoever shows a former one has a copy, or was
// copied, and nobody can tell which: the agent ends.

// grant is what is kept of them. Only hashes are.
type grant struct {
	CodeHash  string   `json:"code_hash"`
	CodeUntil ubl.Time `json:"code_until"`
	// Family is that of all refresh tokens of the grant, "" before the code was redeemed.
	Family string `json:"family_hash,omitempty"`
	Newest string `json:"newest_hash,omitempty"`
	// Former is that of the token that Newest was given for, which may ask again until
	// FormerUntil.
	Former      string   `json:"former_hash,omitempty"`
	FormerUntil ubl.Time `json:"former_until,omitzero"`
}

// same compares hashes in constant time. No hash is empty.
func same(kept, shown string) bool {
	return kept != "" && subtle.ConstantTimeCompare([]byte(kept), []byte(shown)) == 1
}

// decideConnect records an agent of a person, with its mandate and its code.
func (with makers) decideConnect(s *State, c ubl.ConnectAgent, at actors.Moment) (*plan, error) {
	m, err := s.member(c.Who)
	switch {
	case err != nil:
		return nil, err
	case m.IsService || m.Unproven:
		return nil, ubl.Errorf(ubl.CodeForbidden, "only a person of the tenant whose address is proven connects agents")
	}
	use := actors.Proposal{At: at.Now, Who: c.Who, Did: ubl.DidAgentConnect, Uses: true, Still: true}
	ends, err := tokenEnd(c.ExpiresAt, at.Now)
	err = cmp.Or(s.License.May(ubl.OpCreate), s.uses(use), ubl.CheckName(c.Name), c.Mandate.Check(), err)
	if err != nil {
		return nil, err
	}
	_, taken := s.Services[c.ClientID]
	switch {
	case utf8.RuneCountInString(c.Name) > ubl.MaxMemberName:
		return nil, ubl.Errorf(ubl.CodeValidation, "a service's name has at most %d characters", ubl.MaxMemberName)
	case c.Client == "" || c.CodeHash == "":
		return nil, ubl.Errorf(ubl.CodeValidation, "the agent has no client or no code")
	case taken:
		return nil, ubl.Errorf(ubl.CodeConflict, "the client id is taken")
	case s.agents(m.UserID, at.Now) >= ubl.MaxAgents:
		return nil, ubl.Errorf(ubl.CodeConflict, "nobody connects more than %d agents: end one of them first", ubl.MaxAgents)
	}
	if err := with.quota.Within(ubl.QuotaTokens, s.goodServices(at.Now)); err != nil {
		return nil, err
	}
	made := service{
		ServiceToken: newService(c.ClientID, c.Name, c.Who.UserID, m.UserID, at.Now, ends),
		Grant:        &grant{CodeHash: c.CodeHash, CodeUntil: at.Now.Add(ubl.AgentCodeTTL)},
	}
	made.Mandate, made.Client, made.Resource = tidied(&c.Mandate), c.Client, c.Resource
	if made.ClientSalt, err = ubl.NewSalt(at.Random); err != nil {
		return nil, err
	}
	p, err := becoming(ubl.DidAgentConnect, &made, at)
	if err != nil {
		return nil, err
	}
	p.This = append(p.This, ubl.Str("client_hash", made.ClientSalt.Commit([]byte(c.Client))))
	return p, nil
}

// agents counts those that a person has connected and that hold.
func (s *State) agents(of ubl.UserID, now ubl.Time) (n int) {
	for _, t := range s.Services {
		if t.Grant != nil && t.Keeper() == of && t.holds(now) {
			n++
		}
	}
	return n
}

// holds reports whether a service may come in at a moment, by whatever it shows: not after its
// end, nor where its code was never redeemed.
func (t *service) holds(now ubl.Time) bool {
	late := t.Grant != nil && t.Grant.Family == "" && now >= t.Grant.CodeUntil
	return t.RevokedAt == nil && (t.ExpiresAt == nil || now < *t.ExpiresAt) && !late
}

// granted is the agent that somebody shows a code or a token of, who says by which client.
func (s *State) granted(who ubl.Identity, clientID, client string, now ubl.Time) (service, error) {
	t, ok := s.Services[clientID]
	m, member := s.License.Members[t.UserID]
	switch {
	case !who.IsPlatform():
		return t, ubl.Errorf(ubl.CodeForbidden, "only the platform asks this")
	case !ok || t.Grant == nil || t.Client != client || !member || s.orphan(m) || t.RevokedAt != nil || t.ExpiresAt != nil && now >= *t.ExpiresAt:
		return t, errBadToken()
	}
	kept := *t.Grant
	t.Grant = &kept
	return t, nil
}

func (s *State) decideRedeem(c ubl.RedeemAgentCode, at actors.Moment) (*plan, error) {
	t, err := s.granted(c.Who, c.ClientID, c.Client, at.Now)
	switch {
	case err != nil:
		return nil, err
	case !same(t.Grant.CodeHash, c.CodeHash) || c.FamilyHash == "" || c.RefreshHash == "":
		return nil, errBadToken()
	case t.Grant.Family != "":
		return reused(ubl.DidAgentRedeem, t, at.Now), nil
	case at.Now >= t.Grant.CodeUntil:
		return nil, errBadToken()
	}
	t.Grant.Family, t.Grant.Newest = c.FamilyHash, c.RefreshHash
	return refreshing(ubl.DidAgentRedeem, t), nil
}

func (s *State) decideRefresh(c ubl.RefreshAgent, at actors.Moment) (*plan, error) {
	t, err := s.granted(c.Who, c.ClientID, c.Client, at.Now)
	switch {
	case err != nil:
		return nil, err
	case !same(t.Grant.Family, c.FamilyHash) || c.RefreshHash == "" || c.NewHash == "":
		return nil, errBadToken()
	case same(t.Grant.Newest, c.RefreshHash):
		t.Grant.Former, t.Grant.FormerUntil = t.Grant.Newest, at.Now.Add(ubl.AgentCodeTTL)
	case same(t.Grant.Former, c.RefreshHash) && at.Now < t.Grant.FormerUntil: // whose answer was lost, or one of several at once
	default:
		return reused(ubl.DidAgentRefresh, t, at.Now), nil
	}
	t.Grant.Newest = c.NewHash
	return refreshing(ubl.DidAgentRefresh, t), nil
}

func (s *State) decideRevokeAgent(c ubl.RevokeAgent, at actors.Moment) (*plan, error) {
	t, err := s.granted(c.Who, c.ClientID, c.Client, at.Now)
	if err == nil && !same(t.Grant.Family, c.FamilyHash) {
		err = errBadToken()
	}
	if err != nil {
		return nil, err
	}
	p := refreshing(ubl.DidTokenRevoke, t)
	p.Event.Service.RevokedAt = &at.Now
	return p, nil
}

// refreshing is the act by which an agent gets its next token.
func refreshing(did ubl.Did, t service) *plan {
	token := ubl.Str("token_id", t.ClientID)
	p := &plan{
		Act:   act(ubl.Fields{token, ubl.Str("user_id", t.UserID)}, ubl.Fields{ubl.Str("op", did), token}),
		Event: event{Service: &t},
	}
	p.Agreement = ubl.AgentAgreement(t.ClientID)
	p.Pointers = pointers(p.Agreement)
	return p
}

// reused ends an agent whose code or token was shown twice: the refusal goes on record, and
// then the end.
func reused(did ubl.Did, t service, now ubl.Time) *plan {
	first := refreshing(did, t).Act
	first.Effects, first.Status = nil, ubl.StatusDenied
	first.Error = &ubl.AtomError{Code: ubl.CodeUnauthorized, Message: "the credential was used before"}
	p := refreshing(ubl.DidTokenRevoke, t)
	p.Did, p.First = ubl.DidTokenRevoke, &first
	p.Event.Service.RevokedAt = &now
	return p
}

// grants answers a code or a refresh token. One that has ended its agent is refused, to a
// retry too.
func (x *Tenant) grants(t *actors.Turn, cmd ubl.Command) {
	x.ChangeThen(t, cmd, func(_ context.Context, answer any) (any, error) {
		if caller, ok := answer.(*ubl.ServiceCaller); ok {
			return caller, nil
		}
		return nil, errRevoked()
	})
}

// caller is who calls as a service, until its end or an earlier one.
func (x *Tenant) caller(t service, until ubl.Time) *ubl.ServiceCaller {
	return &ubl.ServiceCaller{ExpiresAt: until, Resource: t.Resource, Identity: ubl.Identity{
		UserID: t.UserID, IsService: true, TenantID: x.id, Issuer: ServiceIssuer, Subject: t.ClientID, Mandate: t.Mandate,
	}}
}

// end is when a service ends, 0 for never.
func (t *service) end() (at ubl.Time) {
	if t.ExpiresAt != nil {
		at = *t.ExpiresAt
	}
	return at
}

// checkAgent answers with a connected agent, whose access token transport/auth has verified.
func (x *Tenant) checkAgent(t *actors.Turn, c ubl.CheckAgent) {
	a, ok := x.State.Services[c.ClientID]
	m, member := x.State.License.Members[a.UserID]
	if !ok || a.Grant == nil || a.Grant.Family == "" || !a.holds(t.Now()) || !member || x.State.orphan(m) {
		t.Fail(errBadToken())
		return
	}
	t.Reply(x.caller(a, a.end()))
}

// listTokens lists the service tokens: all to whom the TenantLicense shows them, else the
// agents that somebody keeps.
func (s *State) listTokens(who ubl.Identity) ([]ubl.ServiceToken, error) {
	refused := s.shows("token.list", who)
	m, err := s.member(who)
	if refused != nil && (err != nil || m.IsService) {
		return nil, refused
	}
	list := s.serviceTokens()
	if refused != nil {
		list = slices.DeleteFunc(list, func(t ubl.ServiceToken) bool { return t.Mandate == nil || t.Keeper() != who.UserID })
	}
	return list, nil
}

package tenant

import (
	"maps"
	"slices"
	"time"
	"unicode/utf8"

	"ubl"
	"ubl/actors"
)

// ServiceIssuer vouches for the identities of service tokens.
const ServiceIssuer = "urn:ubl:service"

// errBadToken looks the same whatever was wrong.
func errBadToken() *ubl.Error {
	return ubl.Errorf(ubl.CodeUnauthorized, "the credentials are not valid")
}

// errRevoked is errBadToken for who shows a token that was good: a browser whose
// session was ended deletes what it kept, one whose session expired doesn't.
func errRevoked() *ubl.Error {
	err := errBadToken()
	err.Details = map[string]string{"credential": "revoked"}
	return err
}

// decideToken records a service token, whose service becomes a member.
func (with makers) decideToken(s *State, c ubl.CreateServiceToken, at actors.Moment) (*plan, error) {
	if err := s.mayCreate(ubl.DidTokenCreate, c.Who, c.Name); err != nil {
		return nil, err
	}
	if c.Mandate != nil {
		if err := c.Mandate.Check(); err != nil {
			return nil, err
		}
	}
	if s.mandateOf(c.Who.UserID) != nil {
		return nil, errMandated()
	}
	if utf8.RuneCountInString(c.Name) > ubl.MaxMemberName {
		return nil, ubl.Errorf(ubl.CodeValidation, "a service's name has at most %d characters", ubl.MaxMemberName)
	}
	if err := with.quota.Within(ubl.QuotaTokens, s.goodServices(at.Now)); err != nil {
		return nil, err
	}
	ends, err := tokenEnd(c.ExpiresAt, at.Now)
	if err != nil {
		return nil, err
	}
	if _, taken := s.Services[c.ClientID]; taken {
		return nil, ubl.Errorf(ubl.CodeConflict, "the client id is taken")
	}
	keeper, ok := s.keeper(c.Who.UserID)
	if !ok {
		return nil, errUnkept()
	}
	made := service{SecretHash: c.SecretHash, ServiceToken: newService(c.ClientID, c.Name, c.Who.UserID, keeper.UserID, at.Now, ends)}
	made.Mandate = tidied(c.Mandate)
	return becoming(ubl.DidTokenCreate, &made, at)
}

// newService is one that somebody makes now.
func newService(clientID, name string, by, keeper ubl.UserID, now ubl.Time, ends *ubl.Time) ubl.ServiceToken {
	return ubl.ServiceToken{
		ClientID: clientID, Name: name, UserID: ubl.UserIDFor(ServiceIssuer, clientID, false),
		CreatedAt: now, CreatedBy: by, KeptBy: keeper, ExpiresAt: ends,
	}
}

// becoming is the act by which a service becomes a member of the tenant.
func becoming(did ubl.Did, made *service, at actors.Moment) (*plan, error) {
	m := ubl.Member{UserID: made.UserID, Name: ubl.FitMemberName(made.Name), Role: ubl.RoleMember, IsService: true, Since: made.CreatedAt}
	token, user := ubl.Str("token_id", made.ClientID), ubl.Str("user_id", made.UserID)
	return boundPlan(&plan{
		Act: act(ubl.Fields{ubl.Str("expires_at", made.ExpiresAt.String()), ubl.Str("name", made.Name), token, user},
			ubl.Fields{ubl.Str("op", did), token, user}),
		Event: event{Service: made, Member: &m, Voucher: &voucher{ServiceIssuer, made.ClientID}},
	}, made, at.Random)
}

// tokenEnd is when a token made or renewed now ends: as asked for, else as
// [ubl.ServiceTokenTTL] says.
func tokenEnd(asked *ubl.Time, now ubl.Time) (*ubl.Time, error) {
	if asked == nil {
		ends := now.Add(ubl.ServiceTokenTTL)
		return &ends, nil
	}
	switch {
	case *asked <= now:
		return nil, ubl.Errorf(ubl.CodeValidation, "expires_at is in the past")
	case *asked > now.Add(ubl.MaxServiceTokenTTL):
		return nil, ubl.Errorf(ubl.CodeValidation, "expires_at is more than %d days ahead", ubl.MaxServiceTokenTTL/(24*time.Hour))
	}
	return asked, nil
}

// goodServices counts the service tokens that are neither revoked nor expired.
func (s *State) goodServices(now ubl.Time) (n int) {
	for _, t := range s.Services {
		if t.holds(now) {
			n++
		}
	}
	return n
}

func (s *State) decideRevoke(c ubl.RevokeServiceToken, at actors.Moment) (*plan, error) {
	ended, ok := s.Services[c.ClientID]
	if err := s.keeps(ubl.DidTokenRevoke, c.Who, ended); err != nil {
		return nil, err
	}
	if !ok {
		return nil, ubl.Errorf(ubl.CodeNotFound, "there is no such service token")
	}
	if ended.RevokedAt != nil {
		return nil, ubl.Errorf(ubl.CodeConflict, "the service token was revoked already")
	}
	ended.RevokedAt = &at.Now
	token := ubl.Str("token_id", c.ClientID)
	return s.under(&plan{
		Act:   act(ubl.Fields{token, ubl.Str("user_id", ended.UserID)}, ubl.Fields{ubl.Str("op", ubl.DidTokenRevoke), token}),
		Event: event{Service: &ended},
	}, c.Who, ended), nil
}

// serviceTokens lists them by client id, with who keeps each now and with whom it ends.
func (s *State) serviceTokens() []ubl.ServiceToken {
	list := []ubl.ServiceToken{}
	for _, id := range slices.Sorted(maps.Keys(s.Services)) {
		token := s.Services[id].ServiceToken
		if keeper, ok := s.keeper(token.UserID); ok {
			token.KeptBy = keeper.UserID
		}
		if token.RevokedAt == nil {
			token.EndsWith = s.endsWith(token.UserID)
		}
		list = append(list, token)
	}
	return list
}

// checkToken answers with the service behind a client id and secret.
func (x *Tenant) checkToken(t *actors.Turn, c ubl.CheckServiceToken) {
	s, ok := x.State.Services[c.ClientID]
	ends, match := s.opens(c.SecretHash, t.Now())
	m, member := x.State.License.Members[s.UserID]
	if !ok || !match || !member || x.State.orphan(m) {
		t.Fail(errBadToken())
		return
	}
	t.Reply(x.caller(s, ends))
}

// opens reports whether a secret with the hash lets the service in at a moment, and
// until when it does: 0 for a token without an end.
func (s *service) opens(hash string, now ubl.Time) (until ubl.Time, ok bool) {
	newest, before := same(s.SecretHash, hash), same(s.FormerHash, hash)
	until = s.end()
	if !newest && before && (until == 0 || s.FormerUntil < until) {
		until = s.FormerUntil
	}
	return until, (newest || before) && s.RevokedAt == nil && (until == 0 || now < until)
}

// decideRenew gives a token another end and, where it brings one, another secret. Any
// owner may do the first, and keeps the service from then on if they are a person: who
// keeps a service that another service has renewed stays the same. A secret is the service
// itself, with all its rooms, so only the maker, who has had one, gets another.
func (s *State) decideRenew(c ubl.RenewServiceToken, at actors.Moment) (*plan, error) {
	renewed, ok := s.Services[c.ClientID]
	if err := s.mayRenew(c, renewed); err != nil {
		return nil, err
	}
	if err := s.License.May(ubl.OpCreate); err != nil {
		return nil, err
	}
	ends, err := tokenEnd(c.ExpiresAt, at.Now)
	_, member := s.License.Members[renewed.UserID]
	switch {
	case err != nil:
		return nil, err
	case !ok:
		return nil, ubl.Errorf(ubl.CodeNotFound, "there is no such service token")
	case renewed.RevokedAt != nil || !member:
		return nil, ubl.Errorf(ubl.CodeConflict, "the service token was revoked: make another one")
	case s.mandateOf(c.Who.UserID) != nil:
		return nil, errMandated()
	case c.SecretHash != "" && renewed.Grant != nil:
		return nil, ubl.Errorf(ubl.CodeConflict, "the agent was connected by its client and has no secret: connect it again")
	case c.SecretHash != "" && c.Who.UserID != renewed.CreatedBy:
		return nil, ubl.Errorf(ubl.CodeForbidden, "only who made the service token may get a new secret for it: renew it without one, or make another token")
	case c.Grace < 0 || c.Grace > ubl.MaxRenewalGrace:
		return nil, ubl.Errorf(ubl.CodeValidation, "the former secret goes on for at most %d days", ubl.MaxRenewalGrace/(24*time.Hour))
	}
	renewed.ExpiresAt = ends
	token, user := ubl.Str("token_id", c.ClientID), ubl.Str("user_id", renewed.UserID)
	p := &plan{Act: act(ubl.Fields{ubl.Str("expires_at", ends.String()), token, user}, ubl.Fields{ubl.Str("op", ubl.DidTokenRenew), token, user})}
	if before := renewed.Keeper(); !c.Who.IsPlatform() {
		keeper, ok := s.renewer(c.Who, renewed.UserID)
		if !ok {
			return nil, errUnkept()
		}
		renewed.KeptBy = keeper.UserID
		if before != renewed.KeptBy {
			p.This = append(p.This, ubl.Str("kept_before_by", before), ubl.Str("kept_by", renewed.KeptBy))
		}
	}
	if c.SecretHash != "" {
		renewed.FormerHash, renewed.FormerUntil = renewed.SecretHash, at.Now.Add(c.Grace)
		renewed.SecretHash = c.SecretHash
	}
	p.Event = event{Service: &renewed, secret: c.SecretHash != ""}
	return p, nil
}

// renewer is who keeps a service after a renewal: the person who renews it, else who has
// kept it before.
func (s *State) renewer(who ubl.Identity, service ubl.UserID) (ubl.Member, bool) {
	if who.IsService {
		return s.keeper(service)
	}
	return s.keeper(who.UserID)
}

// errUnkept refuses what would leave a service without a keeper.
func errUnkept() *ubl.Error {
	return ubl.Errorf(ubl.CodeForbidden, "a person of the tenant has to keep the service: an owner makes or renews its token")
}

// mayRenew lets owners renew, and the platform give an end to a token without one.
func (s *State) mayRenew(c ubl.RenewServiceToken, token service) error {
	if c.Who.IsPlatform() && token.ExpiresAt == nil && c.SecretHash == "" {
		return nil
	}
	return s.permits(ubl.DidTokenRenew, c.Who)
}

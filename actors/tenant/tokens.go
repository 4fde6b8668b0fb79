package tenant

import (
	"crypto/subtle"
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
func (x *Tenant) decideToken(c ubl.CreateServiceToken) func(ubl.Time) (*plan, error) {
	return func(now ubl.Time) (*plan, error) {
		if err := x.owner(c.Who); err != nil {
			return nil, err
		}
		if err := x.state.License.May(ubl.OpCreate); err != nil {
			return nil, err
		}
		if err := ubl.CheckName(c.Name); err != nil {
			return nil, err
		}
		if utf8.RuneCountInString(c.Name) > ubl.MaxMemberName {
			return nil, ubl.Errorf(ubl.CodeValidation, "a service's name has at most %d characters", ubl.MaxMemberName)
		}
		if err := x.quota.Within(ubl.QuotaTokens, x.state.goodServices(now)); err != nil {
			return nil, err
		}
		ends, err := tokenEnd(c.ExpiresAt, now)
		if err != nil {
			return nil, err
		}
		if _, taken := x.state.Services[c.ClientID]; taken {
			return nil, ubl.Errorf(ubl.CodeConflict, "the client id is taken")
		}
		keeper, ok := x.state.keeper(c.Who.UserID)
		if !ok {
			return nil, errUnkept()
		}
		s := service{SecretHash: c.SecretHash, ServiceToken: ubl.ServiceToken{
			ClientID: c.ClientID, Name: c.Name, UserID: ubl.UserIDFor(ServiceIssuer, c.ClientID, false),
			CreatedAt: now, CreatedBy: c.Who.UserID, KeptBy: keeper.UserID, ExpiresAt: ends,
		}}
		m := ubl.Member{UserID: s.UserID, Name: ubl.FitMemberName(c.Name), Role: ubl.RoleMember, IsService: true, Since: now}
		return &plan{
			event: event{Service: &s, Member: &m, Voucher: &voucher{ServiceIssuer, c.ClientID}},
			this: ubl.Fields{
				ubl.Str("expires_at", ends.String()), ubl.Str("name", c.Name), ubl.Str("token_id", c.ClientID), ubl.Str("user_id", s.UserID),
			},
			effect: ubl.Fields{
				ubl.Str("op", ubl.DidTokenCreate), ubl.Str("token_id", c.ClientID), ubl.Str("user_id", s.UserID),
			},
		}, nil
	}
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
		if t.RevokedAt == nil && (t.ExpiresAt == nil || *t.ExpiresAt > now) {
			n++
		}
	}
	return n
}

// expiryText tells one expiry from another under the same key.
func expiryText(at *ubl.Time) string {
	if at == nil {
		return ""
	}
	return at.String()
}

func (x *Tenant) decideRevoke(c ubl.RevokeServiceToken) func(ubl.Time) (*plan, error) {
	return func(now ubl.Time) (*plan, error) {
		if err := x.owner(c.Who); err != nil {
			return nil, err
		}
		s, ok := x.state.Services[c.ClientID]
		if !ok {
			return nil, ubl.Errorf(ubl.CodeNotFound, "there is no such service token")
		}
		if s.RevokedAt != nil {
			return nil, ubl.Errorf(ubl.CodeConflict, "the service token was revoked already")
		}
		s.RevokedAt = &now
		return &plan{
			event:  event{Service: &s},
			this:   ubl.Fields{ubl.Str("token_id", c.ClientID), ubl.Str("user_id", s.UserID)},
			effect: ubl.Fields{ubl.Str("op", ubl.DidTokenRevoke), ubl.Str("token_id", c.ClientID)},
			tells:  []ubl.Event{{Kind: ubl.EventTokenRevoked, TokenID: c.ClientID}},
		}, nil
	}
}

func (x *Tenant) listTokens(t *actors.Turn, c ubl.ListServiceTokens) {
	if err := x.lookOwner(c.Who); err != nil {
		t.Fail(err)
		return
	}
	list := []ubl.ServiceToken{}
	for _, id := range slices.Sorted(maps.Keys(x.state.Services)) {
		token := x.state.Services[id].ServiceToken
		if keeper, ok := x.state.keeper(token.UserID); ok {
			token.KeptBy = keeper.UserID
		}
		list = append(list, token)
	}
	t.Reply(list)
}

// checkToken answers with the service behind a client id and secret.
func (x *Tenant) checkToken(t *actors.Turn, c ubl.CheckServiceToken) {
	s, ok := x.state.Services[c.ClientID]
	ends, match := s.opens(c.SecretHash, t.Now())
	m, member := x.state.License.Members[s.UserID]
	if !ok || !match || !member || x.state.orphan(m) {
		t.Fail(errBadToken())
		return
	}
	t.Reply(&ubl.ServiceCaller{ExpiresAt: ends, Identity: ubl.Identity{
		UserID: s.UserID, IsService: true, TenantID: x.id, Issuer: ServiceIssuer, Subject: c.ClientID,
	}})
}

// opens reports whether a secret with the hash lets the service in at a moment, and
// until when it does: 0 for a token without an end.
func (s *service) opens(hash string, now ubl.Time) (until ubl.Time, ok bool) {
	newest := subtle.ConstantTimeCompare([]byte(s.SecretHash), []byte(hash)) == 1
	before := subtle.ConstantTimeCompare([]byte(s.FormerHash), []byte(hash)) == 1 && s.FormerHash != ""
	if s.ExpiresAt != nil {
		until = *s.ExpiresAt
	}
	if !newest && before && (until == 0 || s.FormerUntil < until) {
		until = s.FormerUntil
	}
	return until, (newest || before) && s.RevokedAt == nil && (until == 0 || now < until)
}

// decideRenew gives a token another end and, where it brings one, another secret. Any
// owner may do the first, and keeps the service from then on if they are a person: who
// keeps a service that another service has renewed stays the same. A secret is the service
// itself, with all its rooms, so only the maker, who has had one, gets another.
func (x *Tenant) decideRenew(c ubl.RenewServiceToken) func(ubl.Time) (*plan, error) {
	return func(now ubl.Time) (*plan, error) {
		s, ok := x.state.Services[c.ClientID]
		if err := x.mayRenew(c, s); err != nil {
			return nil, err
		}
		if err := x.state.License.May(ubl.OpCreate); err != nil {
			return nil, err
		}
		ends, err := tokenEnd(c.ExpiresAt, now)
		_, member := x.state.License.Members[s.UserID]
		switch {
		case err != nil:
			return nil, err
		case !ok:
			return nil, ubl.Errorf(ubl.CodeNotFound, "there is no such service token")
		case s.RevokedAt != nil || !member:
			return nil, ubl.Errorf(ubl.CodeConflict, "the service token was revoked: make another one")
		case c.SecretHash != "" && c.Who.UserID != s.CreatedBy:
			return nil, ubl.Errorf(ubl.CodeForbidden, "only who made the service token may get a new secret for it: renew it without one, or make another token")
		case c.Grace < 0 || c.Grace > ubl.MaxRenewalGrace:
			return nil, ubl.Errorf(ubl.CodeValidation, "the former secret goes on for at most %d days", ubl.MaxRenewalGrace/(24*time.Hour))
		}
		s.ExpiresAt = ends
		p := &plan{
			this: ubl.Fields{ubl.Str("expires_at", ends.String()), ubl.Str("token_id", c.ClientID), ubl.Str("user_id", s.UserID)},
			effect: ubl.Fields{
				ubl.Str("op", ubl.DidTokenRenew), ubl.Str("token_id", c.ClientID), ubl.Str("user_id", s.UserID),
			},
		}
		if before := s.Keeper(); !c.Who.IsPlatform() {
			keeper, ok := x.state.renewer(c.Who, s.UserID)
			if !ok {
				return nil, errUnkept()
			}
			s.KeptBy = keeper.UserID
			if before != s.KeptBy {
				p.this = append(p.this, ubl.Str("kept_before_by", before), ubl.Str("kept_by", s.KeptBy))
			}
		}
		if c.SecretHash != "" {
			s.FormerHash, s.FormerUntil = s.SecretHash, now.Add(c.Grace)
			s.SecretHash = c.SecretHash
			// Streams of the former secret come back, and find out how long it goes on.
			p.tells = []ubl.Event{{Kind: ubl.EventTokenRevoked, TokenID: c.ClientID}}
		}
		p.event.Service = &s
		return p, nil
	}
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
func (x *Tenant) mayRenew(c ubl.RenewServiceToken, s service) error {
	if c.Who.IsPlatform() && s.ExpiresAt == nil && c.SecretHash == "" {
		return nil
	}
	return x.owner(c.Who)
}

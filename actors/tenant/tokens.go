package tenant

import (
	"crypto/subtle"
	"maps"
	"slices"

	"ubl"
	"ubl/actors"
)

// ServiceIssuer vouches for the identities of service tokens.
const ServiceIssuer = "urn:ubl:service"

// errBadToken looks the same whatever was wrong.
func errBadToken() *ubl.Error {
	return ubl.Errorf(ubl.CodeUnauthorized, "the credentials are not valid")
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
		if c.ExpiresAt != nil && *c.ExpiresAt <= now {
			return nil, ubl.Errorf(ubl.CodeValidation, "expires_at is in the past")
		}
		if _, taken := x.state.Services[c.ClientID]; taken {
			return nil, ubl.Errorf(ubl.CodeConflict, "the client id is taken")
		}
		s := service{SecretHash: c.SecretHash, ServiceToken: ubl.ServiceToken{
			ClientID: c.ClientID, Name: c.Name, UserID: ubl.UserIDFor(ServiceIssuer, c.ClientID, false),
			CreatedAt: now, CreatedBy: c.Who.UserID, ExpiresAt: c.ExpiresAt,
		}}
		m := ubl.Member{UserID: s.UserID, Name: ubl.FitMemberName(c.Name), Role: ubl.RoleMember, IsService: true, Since: now}
		return &plan{
			event: event{Service: &s, Member: &m, Voucher: &voucher{ServiceIssuer, c.ClientID}},
			this:  ubl.Fields{ubl.Str("name", c.Name), ubl.Str("token_id", c.ClientID), ubl.Str("user_id", s.UserID)},
			effect: ubl.Fields{
				ubl.Str("op", ubl.DidTokenCreate), ubl.Str("token_id", c.ClientID), ubl.Str("user_id", s.UserID),
			},
		}, nil
	}
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
		list = append(list, x.state.Services[id].ServiceToken)
	}
	t.Reply(list)
}

// checkToken answers with the service behind a client id and secret.
func (x *Tenant) checkToken(t *actors.Turn, c ubl.CheckServiceToken) {
	s, ok := x.state.Services[c.ClientID]
	match := subtle.ConstantTimeCompare([]byte(s.SecretHash), []byte(c.SecretHash)) == 1
	_, member := x.state.License.Members[s.UserID]
	if !ok || !match || !member || s.RevokedAt != nil || s.ExpiresAt != nil && *s.ExpiresAt <= t.Now() {
		t.Fail(errBadToken())
		return
	}
	t.Reply(&ubl.Identity{
		UserID: s.UserID, IsService: true, TenantID: x.id, Issuer: ServiceIssuer, Subject: c.ClientID,
	})
}

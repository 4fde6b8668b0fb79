package api

import (
	"cmp"
	"context"
	"time"

	"ubl"
	"ubl/transport/envelope"
)

type serviceTokensAnswer struct {
	Tokens []ubl.ServiceToken `json:"service_tokens"`
	Paged
}

func (a *API) listServiceTokens(ctx context.Context, in *PageQuery) (any, error) {
	t, err := ubl.Ask[[]ubl.ServiceToken](ctx, a.Asker, home(ctx), ubl.ListServiceTokens{Who: caller(ctx)})
	if err != nil {
		return nil, err
	}
	part, rest, err := cut(*in, t, ascending, func(t ubl.ServiceToken) string { return t.ClientID })
	return serviceTokensAnswer{part, rest}, err
}

type createServiceTokenInput struct {
	Body struct {
		Keyed
		Name      string  `json:"name" minLength:"1" maxLength:"64" doc:"What to call the service: people see it." example:"build robot"`
		ExpiresAt *string `json:"expires_at,omitempty" nullable:"true" pattern:"^\\d{4}-\\d{2}-\\d{2}T\\d{2}:\\d{2}:\\d{2}\\.\\d{3}Z$" example:"2027-01-01T00:00:00.000Z" doc:"When the token ends, at most 366 days ahead; null or absent for 90 days from now."`
		// Mandate, where there is one, bounds what the service may do.
		Mandate *MandateBody `json:"mandate,omitempty" doc:"What the service may do, and no further. Absent for one that is a member as others are."`
	}
}

type serviceTokenAnswer struct {
	Token *ubl.ServiceToken `json:"service_token"`
}

type serviceTokenCreatedAnswer struct {
	serviceTokenAnswer
	// ClientSecret is null where the request repeats an earlier one: the secret
	// was shown then, and only its hash was kept.
	ClientSecret *string `json:"client_secret"`
}

// createServiceToken draws a credential and has its hash recorded. A
// repetition finds the earlier record under another client id than it drew.
func (a *API) createServiceToken(ctx context.Context, in *createServiceTokenInput) (any, error) {
	if err := ubl.CheckName(in.Body.Name); err != nil {
		return nil, err
	}
	expires, err := expiry(in.Body.ExpiresAt)
	if err != nil {
		return nil, err
	}
	clientID, secret, hash, err := a.NewServiceToken(caller(ctx).TenantID, a.Random)
	if err != nil {
		return nil, err
	}
	t, err := ubl.Ask[*ubl.ServiceToken](ctx, a.Asker, home(ctx), ubl.CreateServiceToken{
		Request: envelope.Command(ctx, in.Body.Key), Name: in.Body.Name,
		ClientID: clientID, SecretHash: hash, ExpiresAt: expires, Mandate: in.Body.Mandate.mandate()})
	if err != nil {
		return nil, err
	}
	out := serviceTokenCreatedAnswer{serviceTokenAnswer: serviceTokenAnswer{t}}
	if t.ClientID == clientID {
		out.ClientSecret = &secret
	}
	return out, nil
}

type renewServiceTokenInput struct {
	ClientID string `path:"clientId" pattern:"^[A-Za-z0-9._:-]{1,256}$" doc:"The credential, by its client_id." example:"c1"`
	Body     struct {
		Keyed
		ExpiresAt *string `json:"expires_at,omitempty" nullable:"true" pattern:"^\\d{4}-\\d{2}-\\d{2}T\\d{2}:\\d{2}:\\d{2}\\.\\d{3}Z$" example:"2027-01-01T00:00:00.000Z" doc:"When the token ends now, at most 366 days ahead; null or absent for 90 days from now."`
		NewSecret bool    `json:"new_secret,omitempty" doc:"Whether to replace the secret. Only the owner who made the token may."`
		Grace     int     `json:"grace_seconds,omitempty" minimum:"0" maximum:"604800" doc:"For how long the former secret goes on beside a new one." example:"3600"`
	}
}

// renewServiceToken draws another secret where one is asked for. A repetition finds
// that its own isn't the one that was recorded.
func (a *API) renewServiceToken(ctx context.Context, in *renewServiceTokenInput) (any, error) {
	expires, err := expiry(in.Body.ExpiresAt)
	if err != nil {
		return nil, err
	}
	renew := ubl.RenewServiceToken{
		Request: envelope.Command(ctx, in.Body.Key), ClientID: in.ClientID, ExpiresAt: expires,
		Grace: time.Duration(in.Body.Grace) * time.Second,
	}
	var secret string
	if in.Body.NewSecret {
		if _, secret, renew.SecretHash, err = a.NewServiceToken(caller(ctx).TenantID, a.Random); err != nil {
			return nil, err
		}
	}
	renewed, err := ubl.Ask[*ubl.ServiceRenewed](ctx, a.Asker, home(ctx), renew)
	if err != nil {
		return nil, err
	}
	out := serviceTokenCreatedAnswer{serviceTokenAnswer: serviceTokenAnswer{&renewed.Token}}
	if in.Body.NewSecret && renewed.SecretHash == renew.SecretHash {
		out.ClientSecret = &secret
	}
	return out, nil
}

// expiry reads a moment; the Tenant checks that it lies ahead.
func expiry(s *string) (*ubl.Time, error) { return momentIn("body.expires_at", s) }

// momentIn reads a moment of a body; nil for none.
func momentIn(place string, s *string) (*ubl.Time, error) {
	if s == nil {
		return nil, nil
	}
	var t ubl.Time
	if err := t.UnmarshalText([]byte(*s)); err != nil {
		return nil, invalid(place, expectedMoment)
	}
	return &t, nil
}

type clientPath struct {
	ClientID string `path:"clientId" pattern:"^[A-Za-z0-9._:-]{1,256}$" doc:"The credential, by its client_id." example:"c1"`
}

func (a *API) revokeServiceToken(ctx context.Context, in *clientPath) (any, error) {
	t, err := ubl.Ask[*ubl.ServiceToken](ctx, a.Asker, home(ctx),
		ubl.RevokeServiceToken{Request: envelope.Command(ctx, ""), ClientID: in.ClientID})
	return serviceTokenAnswer{t}, err
}

type tokenPath struct {
	JTI string `path:"jti" pattern:"^[A-Za-z0-9._:-]{1,128}$" doc:"The session, by its jti." example:"jti-1"`
}

type tokenRevokedAnswer struct {
	JTI     string `json:"jti"`
	Revoked bool   `json:"revoked"`
}

// revokeToken asks tenant 0, which keeps the tokens of the node's key for
// every tenant. The caller's own lets them in before.
func (a *API) revokeToken(ctx context.Context, in *tokenPath) (any, error) {
	if err := enter(ctx); err != nil {
		return nil, err
	}
	_, err := a.Asker.Ask(ctx, ubl.TenantName(ubl.CoreTenant),
		ubl.RevokeToken{Request: envelope.Command(ctx, ""), JTI: in.JTI})
	return tokenRevokedAnswer{in.JTI, true}, err
}

// tokenAnswer is a platform token as its owner sees it.
type tokenAnswer struct {
	JTI       string            `json:"jti"`
	Kind      ubl.TokenKind     `json:"kind"`
	Label     string            `json:"label"`
	Method    *ubl.SignInMethod `json:"method"`
	CreatedAt ubl.Time          `json:"created_at"`
	ExpiresAt ubl.Time          `json:"expires_at"`
	Current   bool              `json:"current"`
}

type tokensAnswer struct {
	Tokens []tokenAnswer `json:"tokens"`
	Paged
}

// listTokens asks tenant 0, as revokeToken does.
func (a *API) listTokens(ctx context.Context, in *PageQuery) (any, error) {
	if err := enter(ctx); err != nil {
		return nil, err
	}
	mine, err := ubl.Ask[[]ubl.PlatformToken](ctx, a.Asker, ubl.TenantName(ubl.CoreTenant), ubl.ListTokens{Who: caller(ctx)})
	if err != nil {
		return nil, err
	}
	mine, rest, err := cut(*in, mine, descending, func(t ubl.PlatformToken) string { return t.CreatedAt.String() + t.JTI })
	out := tokensAnswer{make([]tokenAnswer, len(mine)), rest}
	for i, t := range mine {
		out.Tokens[i] = tokenAnswer{
			JTI: t.JTI, Kind: cmp.Or(t.Kind, ubl.TokenBearer), Label: t.Label,
			CreatedAt: t.CreatedAt, ExpiresAt: t.ExpiresAt, Current: t.JTI == envelope.CallerOf(ctx).TokenID,
		}
		if t.Method != "" {
			out.Tokens[i].Method = &t.Method
		}
	}
	return out, err
}

type tokensRevokedAnswer struct {
	Revoked int `json:"revoked"`
}

func (a *API) revokeTokens(ctx context.Context, _ *struct{}) (any, error) {
	if err := enter(ctx); err != nil {
		return nil, err
	}
	n, err := ubl.Ask[int](ctx, a.Asker, ubl.TenantName(ubl.CoreTenant), ubl.RevokeTokens{Request: envelope.Command(ctx, "")})
	return tokensRevokedAnswer{n}, err
}

package auth

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/go-jose/go-jose/v4"
	"github.com/go-jose/go-jose/v4/jwt"

	"ubl"
)

// What a platform token says about where it comes from and what it is for.
const (
	LocalIssuer = ubl.LocalIssuer
	Audience    = "ubl"
)

// maxServiceName bounds the name of a service.
const maxServiceName = 64

// TokenSpec says what token to make.
type TokenSpec struct {
	// Email is the address of the bearer or, for a service, of its maker.
	Email string
	// Service is the service's name, 1 to 64 of [A-Za-z0-9._-]; "" for a person.
	// Its identity is its own (name and maker), its tenant the maker's.
	Service string
	// TTL is how long the token holds, from a second to [ubl.MaxServiceTokenTTL].
	TTL time.Duration
	// Now is when the token is made.
	Now time.Time
	// Random draws the token's id.
	Random io.Reader
}

// Sign makes a platform token: a JWT that this node and all that share its key
// accept, after tenant 0 has admitted it. It also returns what tenant 0 will
// remember of it, but for the tenant, which a server finds at the first use.
func (k *Key) Sign(spec TokenSpec) (string, ubl.PlatformToken, error) {
	c, err := spec.claims()
	if err != nil {
		return "", ubl.PlatformToken{}, err
	}
	id, err := localIdentity(c)
	if err != nil {
		return "", ubl.PlatformToken{}, err
	}
	token, err := k.sign(c)
	if err != nil {
		return "", ubl.PlatformToken{}, fmt.Errorf("couldn't sign a token: %w", err)
	}
	return token, platformToken(c, id), nil
}

func (k *Key) sign(c any) (string, error) { return k.signAs("JWT", c) }

// signAs is sign for a token of another type, which its header tells.
func (k *Key) signAs(kind jose.ContentType, c any) (string, error) {
	signer, err := jose.NewSigner(
		jose.SigningKey{Algorithm: jose.EdDSA, Key: k.private},
		(&jose.SignerOptions{}).WithType(kind).WithHeader("kid", k.id))
	if err != nil {
		return "", err
	}
	return jwt.Signed(signer).Claims(c).Serialize()
}

func (s TokenSpec) claims() (*claims, error) {
	email := lowerEmail(s.Email)
	switch {
	case !validEmail(email):
		return nil, ubl.Errorf(ubl.CodeValidation, "the email address is not one that can be used")
	case s.Service != "" && !validServiceName(s.Service):
		return nil, ubl.Errorf(ubl.CodeValidation, "a service's name has 1 to %d of [A-Za-z0-9._-]", maxServiceName)
	case s.TTL < time.Second:
		return nil, ubl.Errorf(ubl.CodeValidation, "a token must hold for a second at least")
	case s.TTL > ubl.MaxServiceTokenTTL:
		return nil, ubl.Errorf(ubl.CodeValidation, "a token holds for %d hours at most, which is %d days: make another one before it ends",
			ubl.MaxServiceTokenTTL/time.Hour, ubl.MaxServiceTokenTTL/(24*time.Hour))
	}
	id, err := drawID(s.Random)
	if err != nil {
		return nil, err
	}
	verified := flag(true)
	return &claims{
		Claims: jwt.Claims{
			Issuer:   LocalIssuer,
			Audience: jwt.Audience{Audience},
			Subject:  ubl.LocalSubject(s.Service, email),
			IssuedAt: jwt.NewNumericDate(s.Now),
			Expiry:   jwt.NewNumericDate(s.Now.Add(s.TTL)),
			ID:       id,
		},
		Email:         email,
		EmailVerified: &verified,
		IsService:     s.Service != "",
	}, nil
}

func validServiceName(s string) bool {
	return len(s) <= maxServiceName && ubl.UserID("u:"+s).Valid()
}

// verifyLocal checks a platform token's signature and claims.
func (k *Key) verifyLocal(token *jwt.JSONWebToken, now time.Time) (*claims, error) {
	c := &claims{signer: k.signerOf(token, now)}
	if err := token.Claims(c.signer.key.public, c); err != nil {
		return nil, notValid(err)
	}
	if err := c.check(LocalIssuer, Audience, now); err != nil {
		return nil, err
	}
	if c.ID == "" || len(c.ID) > maxTokenID {
		return nil, notValid(errors.New("no usable jti"))
	}
	return c, nil
}

// localAtHome is who a platform token of these claims is about, where they belong: a
// service where its maker does.
func (a *Authenticator) localAtHome(ctx context.Context, c *claims) (ubl.Identity, error) {
	id, err := localIdentity(c)
	if err != nil {
		return id, err
	}
	person, err := a.atHome(ctx, localPerson("", c.Email))
	if err != nil || !id.IsService {
		return person, err
	}
	id.TenantID = person.TenantID
	return id, nil
}

// localIdentity is who a platform token of these claims is about, without a tenant.
func localIdentity(c *claims) (ubl.Identity, error) {
	if err := c.checkAddress(nil); err != nil {
		return ubl.Identity{}, err
	}
	service := serviceName(c)
	if c.IsService != validServiceName(service) || c.Subject != ubl.LocalSubject(service, c.Email) {
		return ubl.Identity{}, notValid(errors.New("subject and address disagree"))
	}
	id := ubl.Identity{
		UserID:  ubl.UserIDFor(LocalIssuer, c.Subject, false),
		Groups:  []string{},
		Issuer:  LocalIssuer,
		Subject: c.Subject,
	}
	if id.IsService = c.IsService; !id.IsService {
		id.Email, id.EmailDomain = c.Email, ubl.EmailDomain(c.Email)
	}
	return id, nil
}

// serviceName is the name of the service that a platform token is of, "" for a person's.
func serviceName(c *claims) string {
	if !c.IsService {
		return ""
	}
	name, _, _ := ubl.LocalService(c.Subject)
	return name
}

func platformToken(c *claims, id ubl.Identity) ubl.PlatformToken {
	known := ubl.PlatformToken{
		JTI:       c.ID,
		UserID:    id.UserID,
		TenantID:  id.TenantID,
		ExpiresAt: ubl.TimeOf(c.Expiry.Time()),
		Kind:      ubl.TokenBearer,
	}
	if c.IssuedAt != nil {
		known.CreatedAt = ubl.TimeOf(c.IssuedAt.Time())
	}
	return known
}

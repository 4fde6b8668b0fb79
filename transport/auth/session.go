package auth

import (
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/go-jose/go-jose/v4"
	"github.com/go-jose/go-jose/v4/jwt"

	"ubl"
)

// SessionAudience keeps sessions and bearer tokens apart: neither is accepted in
// the other's place.
const SessionAudience = "ubl-session"

const (
	// sessionIdle is how long a cookie holds. One that is used is made anew before.
	sessionIdle = 12 * time.Hour
	// sessionMost is how long a session lasts, however much it is used.
	sessionMost = 30 * 24 * time.Hour
	// sessionTurn is how old a cookie gets before a request is answered with a
	// fresh one.
	sessionTurn = time.Hour
	// maxSessionGroups bounds the names of groups in a cookie, in bytes: browsers
	// drop a cookie of more than 4 KiB. Groups only ever let somebody in, so that
	// leaving some out takes rights away and gives none.
	maxSessionGroups = 1 << 10
)

// sessionClaims is a session as its cookie has it: the whole identity, so that
// no request has to look for it. The id (jti) is the session's and stays, the
// turn rises each time the cookie is made anew.
type sessionClaims struct {
	jwt.Claims
	IdentityIssuer string           `json:"identity_issuer"`
	UserID         ubl.UserID       `json:"user_id"`
	TenantID       ubl.TenantID     `json:"tenant_id"`
	Email          string           `json:"email"`
	Groups         []string         `json:"groups,omitempty"`
	Began          *jwt.NumericDate `json:"auth_time"`
	// Proved is when the person proved who they are after that, or before it where a
	// provider says so; nil for when the session began.
	Proved *jwt.NumericDate `json:"proved_at,omitempty"`
	Method ubl.SignInMethod `json:"method"`
	Label  string           `json:"label,omitempty"`
	Turn   int64            `json:"turn,omitempty"`

	signer earlierKey // of ours, that a cookie was found to be signed with
}

// newSession is a session that begins now.
func newSession(who ubl.Identity, method ubl.SignInMethod, label string, now time.Time, random io.Reader) (*sessionClaims, error) {
	id, err := drawID(random)
	if err != nil {
		return nil, err
	}
	c := &sessionClaims{
		Claims: jwt.Claims{
			Issuer: LocalIssuer, Audience: jwt.Audience{SessionAudience},
			Subject: who.Subject, ID: id,
		},
		IdentityIssuer: who.Issuer, UserID: who.UserID, TenantID: who.TenantID,
		Email: who.Email, Groups: fewGroups(who.Groups),
		Began: jwt.NewNumericDate(now), Method: method, Label: label,
	}
	c.hold(now)
	return c, nil
}

// hold has the cookie begin now: it holds until it idles out or the session ends.
func (c *sessionClaims) hold(now time.Time) {
	end := now.Add(sessionIdle)
	if most := c.Began.Time().Add(sessionMost); most.Before(end) {
		end = most
	}
	c.IssuedAt, c.Expiry = jwt.NewNumericDate(now), jwt.NewNumericDate(end)
}

// next is the session's next cookie; nil where the one at hand still does, or
// nothing would be won by another.
func (c *sessionClaims) next(now time.Time) *sessionClaims {
	if now.Sub(c.IssuedAt.Time()) < sessionTurn {
		return nil
	}
	next := *c
	next.Turn++
	next.hold(now)
	if !next.Expiry.Time().After(c.Expiry.Time()) {
		return nil
	}
	return &next
}

// provedAt is when the person last proved who they are.
func (c *sessionClaims) provedAt() ubl.Time {
	if c.Proved != nil {
		return ubl.TimeOf(c.Proved.Time())
	}
	return ubl.TimeOf(c.Began.Time())
}

// confirmed is the session that takes this one's place once its person has proved again
// who they are. It has another id, so that no copy of the cookie counts for it, and ends
// no later than this one would have: its groups are no newer.
func (c *sessionClaims) confirmed(now time.Time, method ubl.SignInMethod, random io.Reader) (*sessionClaims, error) {
	id, err := drawID(random)
	if err != nil {
		return nil, err
	}
	next := *c
	next.ID, next.Turn, next.Method, next.Proved = id, 0, method, jwt.NewNumericDate(now)
	next.hold(now)
	return &next, nil
}

// drawID is the id of a token of any kind.
func drawID(random io.Reader) (string, error) {
	var id [16]byte
	if _, err := io.ReadFull(random, id[:]); err != nil {
		return "", fmt.Errorf("couldn't draw a token's id: %w", err)
	}
	return hex.EncodeToString(id[:]), nil
}

// fewGroups is as many of the groups as a cookie has room for.
func fewGroups(groups []string) []string {
	size := 0
	for i, g := range groups {
		if size += len(g) + len(`"",`); size > maxSessionGroups {
			return groups[:i]
		}
	}
	return groups
}

// identity is whose session it is. Services have none.
func (c *sessionClaims) identity() ubl.Identity {
	return ubl.Identity{
		UserID: c.UserID, Email: c.Email, EmailDomain: ubl.EmailDomain(c.Email),
		Groups: append([]string{}, c.Groups...), TenantID: c.TenantID,
		Issuer: c.IdentityIssuer, Subject: c.Subject,
	}
}

// known is what tenant 0 remembers of the session.
func (c *sessionClaims) known() ubl.PlatformToken {
	return ubl.PlatformToken{
		JTI: c.ID, UserID: c.UserID, TenantID: c.TenantID,
		ExpiresAt: ubl.TimeOf(c.Expiry.Time()), CreatedAt: ubl.TimeOf(c.Began.Time()),
		Kind: ubl.TokenSession, Label: c.Label, Method: c.Method, Turn: c.Turn,
	}
}

// bearer is what tenant 0 remembers of a command line's token.
func (c *sessionClaims) bearer() ubl.PlatformToken {
	return ubl.PlatformToken{
		JTI: c.ID, UserID: c.UserID, TenantID: c.TenantID,
		ExpiresAt: ubl.TimeOf(c.Expiry.Time()), CreatedAt: ubl.TimeOf(c.Began.Time()),
		Kind: ubl.TokenBearer, Label: c.Label,
	}
}

// verifySession checks a cookie's signature and times.
func (k *Key) verifySession(raw string, now time.Time) (*sessionClaims, error) {
	return k.verifyWhole(raw, SessionAudience, now)
}

// verifyWhole checks the signature and times of a token that carries the whole identity.
// What else it says is believed: nobody but a node signs with the key.
func (k *Key) verifyWhole(raw, audience string, now time.Time) (*sessionClaims, error) {
	token, err := jwt.ParseSigned(raw, []jose.SignatureAlgorithm{jose.EdDSA})
	if err != nil {
		return nil, notValid(err)
	}
	c := &sessionClaims{signer: k.signerOf(token, now)}
	if err := token.Claims(c.signer.key.public, c); err != nil {
		return nil, notValid(err)
	}
	common := claims{Claims: c.Claims}
	if err := common.check(LocalIssuer, audience, now); err != nil {
		return nil, err
	}
	if c.ID == "" || len(c.ID) > maxTokenID || c.IssuedAt == nil || c.Began == nil || !c.TenantID.Valid() {
		return nil, notValid(errors.New("a session without its claims"))
	}
	return c, nil
}

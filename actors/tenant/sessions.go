package tenant

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	"ubl"
	"ubl/actors"
	"ubl/actors/agreement"
)

const (
	// turnGrace is how long the cookie before the newest is taken: a browser's other
	// tabs and requests on their way still send it.
	turnGrace = time.Minute
	// turnKept is how long a session is remembered beyond its newest cookie that is
	// known here: the next one may be out already, and be used late.
	turnKept = 24 * time.Hour
	// maxSessions bounds how many sessions of one person live at a time.
	maxSessions = 100
	// pacedPerMinute is how often a person may sign in, as often use passkeys, and
	// as often register one. What ends those can't be done more often than they are.
	pacedPerMinute = 10
	// rememberRevoked is how long the revocation of a token that was never used is
	// kept: longer than any sensible token lives.
	rememberRevoked = 366 * 24 * time.Hour
)

// platform is a platform token as tenant 0 knows it: a bearer token, or a session
// as its newest cookie left it.
type platform struct {
	ubl.PlatformToken
	Revoked bool `json:"revoked"`
	// Since is when the newest cookie was first used; 0 before a second one.
	Since ubl.Time `json:"since,omitzero"`
}

// forgotten reports whether nothing depends on the token any more: an expired one
// is refused before it is looked up.
func (p platform) forgotten(now ubl.Time) bool {
	until := p.ExpiresAt
	if p.Kind == ubl.TokenSession {
		until = until.Add(turnKept)
	}
	return until < now
}

// lives reports whether the token may still let somebody in: a session may past
// its newest cookie that is known here, since the next one may be out already.
func (p platform) lives(now ubl.Time) bool { return !p.Revoked && !p.forgotten(now) }

func (p platform) of(who ubl.Identity) bool {
	return p.UserID == who.UserID && p.TenantID == who.TenantID
}

// admit receipts a platform token at its first use, and a session's next cookie at
// that one's. The cookie before goes on for a moment.
func (x *Tenant) admit(t *actors.Turn, c ubl.AdmitToken) {
	known, ok := x.State.Tokens[c.Token.JTI]
	switch {
	case x.id != ubl.CoreTenant || !c.Who.IsPlatform():
		t.Fail(ubl.Errorf(ubl.CodeForbidden, "only the platform admits tokens, in tenant 0"))
	case ok && known.Revoked:
		t.Fail(errRevoked())
	case !ok && c.Token.Turn > 0:
		t.Fail(errBadToken())
	case !ok:
		x.ChangeThen(t, c, func(ctx context.Context, _ any) (any, error) {
			x.tellOperators(ctx, c.Request, firstUse(c.Token))
			return nil, nil
		})
	case c.Token.Turn > known.Turn:
		x.Change(t, renewal{c})
	case c.Token.Turn == known.Turn, c.Token.Turn == known.Turn-1 && t.Now() < known.Since.Add(turnGrace):
		t.Reply(nil)
	default:
		t.Fail(errBadToken())
	}
}

// renewal is the next cookie of a session that is known.
type renewal struct{ ubl.AdmitToken }

// tellOperators puts a message into the audit room of tenant 0. The receipt is what
// counts; the message is a courtesy.
func (x *Tenant) tellOperators(ctx context.Context, req ubl.Request, text string) {
	_, err := x.Ask.Ask(ctx, ubl.RoomName(x.id, ubl.AuditRoom), ubl.Announce{Request: req, Text: text})
	if err != nil {
		x.Log.Warn("couldn't tell the operators", "error", err)
	}
}

func firstUse(p ubl.PlatformToken) string {
	if p.Kind == ubl.TokenSession {
		return fmt.Sprintf("%s in %s signed in from a browser (%s).", p.UserID, p.TenantID, p.Method)
	}
	return fmt.Sprintf("A token of %s in %s was used for the first time.", p.UserID, p.TenantID)
}

// decideAdmit admits a token. It may use up a link, in the same commit.
func (s *State) decideAdmit(c ubl.AdmitToken, at actors.Moment) (*plan, error) {
	p := tokenPlan(platform{PlatformToken: c.Token}, ubl.DidTokenCreate)
	if c.Token.Kind != ubl.TokenSession {
		return p, s.useLink(p, c, at.Now)
	}
	if err := s.paced(person{c.Token.TenantID, c.Token.UserID}, ubl.DidPlatformTokenCreate, at.Now); err != nil {
		return nil, err
	}
	if s.sessionsOf(c.Token, at.Now) >= maxSessions {
		return nil, ubl.Errorf(ubl.CodeRateLimited, "there are %d sessions already; sign out of some", maxSessions)
	}
	return p, s.useLink(p, c, at.Now)
}

// paced refuses what a person does in tenant 0 more often than anybody needs to:
// signing in and out takes no right of theirs, and each turn of it writes there. What is
// done is counted once it is ([Tenant.applied]).
func (s *State) paced(whose person, did ubl.Did, now ubl.Time) error {
	wait := s.meters.Wait(pace(whose, did), now, pacedPerMinute)
	if wait == 0 {
		return nil
	}
	return ubl.Errorf(ubl.CodeRateLimited, "that was done %d times within a minute: wait a little", pacedPerMinute).Later(wait)
}

func pace(whose person, did ubl.Did) agreement.Use {
	return agreement.Use{User: ubl.UserID(whose.TenantID) + "\n" + whose.UserID, Of: string(did)}
}

// sessionsOf counts the person's living sessions.
func (s *State) sessionsOf(p ubl.PlatformToken, now ubl.Time) (n int) {
	for jti := range s.tokensOf[person{p.TenantID, p.UserID}] {
		if p := s.Tokens[jti]; p.Kind == ubl.TokenSession && p.lives(now) {
			n++
		}
	}
	return n
}

// decideRenewal lets a session's next cookie follow the one that is known.
func (s *State) decideRenewal(c renewal, at actors.Moment) (*plan, error) {
	known := s.Tokens[c.Token.JTI]
	known.Turn, known.ExpiresAt, known.Since = c.Token.Turn, c.Token.ExpiresAt, at.Now
	return tokenPlan(known, ubl.DidPlatformTokenRenew), nil
}

// tokenPlan leaves the token as p.
func tokenPlan(p platform, op ubl.Did) *plan {
	return &plan{
		Act:   act(tokenFields(p), ubl.Fields{ubl.Str("op", op), ubl.Str("token_id", p.JTI)}),
		Event: event{Token: &p},
	}
}

// tokenFields names the token, and whose it is where that is known.
func tokenFields(p platform) ubl.Fields {
	if p.UserID == "" {
		return ubl.Fields{ubl.Str("token_id", p.JTI)}
	}
	var f ubl.Fields
	if p.Kind == ubl.TokenSession {
		f = ubl.Fields{ubl.Str("kind", p.Kind), ubl.Str("method", p.Method)}
	}
	return append(f, ubl.Str("tenant_id", p.TenantID), ubl.Str("token_id", p.JTI), ubl.Str("user_id", p.UserID))
}

// decideRevokePlatform ends a platform token: owners of tenant 0 any, even ahead
// of its first use, everyone else their own. One that isn't theirs looks like
// one that isn't there.
func (s *State) decideRevokePlatform(c ubl.RevokeToken, at actors.Moment) (*plan, error) {
	p, known := s.Tokens[c.JTI]
	operator := c.Who.TenantID == s.id() && s.permits(ubl.DidPlatformTokenRevoke, c.Who) == nil
	switch {
	case !(known && p.of(c.Who)) && !operator:
		return nil, ubl.Errorf(ubl.CodeNotFound, "there is no such token")
	case p.Revoked:
		return nil, ubl.Errorf(ubl.CodeConflict, "the token was revoked already")
	case !known:
		p.JTI, p.ExpiresAt = c.JTI, at.Now.Add(rememberRevoked)
	}
	p.Revoked = true
	return tokenPlan(p, ubl.DidTokenRevoke), nil
}

// own lists the living tokens of a person, the newest first.
func (s *State) own(who person, now ubl.Time) []ubl.PlatformToken {
	list := []ubl.PlatformToken{}
	for jti := range s.tokensOf[who] {
		if p := s.Tokens[jti]; p.lives(now) {
			list = append(list, p.PlatformToken)
		}
	}
	newestFirst(list)
	return list
}

func newestFirst(list []ubl.PlatformToken) {
	slices.SortFunc(list, func(a, b ubl.PlatformToken) int {
		return cmp.Or(cmp.Compare(b.CreatedAt, a.CreatedAt), cmp.Compare(a.JTI, b.JTI))
	})
}

// revokeAll ends all tokens of a caller in one act, and their passkeys where that
// is asked for. Where there are none nothing happens, and nothing is written.
func (x *Tenant) revokeAll(t *actors.Turn, c ubl.RevokeTokens) {
	if tokens, keys := x.State.theirs(c, t.Now()); len(tokens)+keys == 0 && !x.Knows(t, c) {
		t.Reply(0)
		return
	}
	x.Change(t, c)
}

func (s *State) decideRevokeAll(c ubl.RevokeTokens, at actors.Moment) (*plan, error) {
	tokens, keys := s.theirs(c, at.Now)
	return revokeAllPlan(personOf(c.Who), tokens, keys), nil
}

// theirs are a caller's tokens, and how many passkeys are to go with them.
func (s *State) theirs(c ubl.RevokeTokens, now ubl.Time) (tokens []ubl.PlatformToken, keys int) {
	if c.Passkeys {
		keys = len(s.Rings[personOf(c.Who)].Keys)
	}
	return s.own(personOf(c.Who), now), keys
}

// revokeAllPlan ends the tokens of a person, and all their passkeys where there are any
// to remove.
func revokeAllPlan(who person, mine []ubl.PlatformToken, keys int) *plan {
	p := &plan{}
	this := ubl.Fields{ubl.Int("count", int64(len(mine)))}
	if keys > 0 {
		p.Event.Keyless = &who
		this = append(this, ubl.Int("passkeys", int64(keys)))
	}
	p.Act = act(append(this, ubl.Str("tenant_id", who.TenantID), ubl.Str("user_id", who.UserID)),
		ubl.Fields{ubl.Str("op", ubl.DidPlatformTokenRevokeAll), ubl.Str("user_id", who.UserID)})
	for _, m := range mine {
		p.Event.Revoked = append(p.Event.Revoked, m.JTI)
	}
	return p
}

// token remembers a platform token as the event left it, and forgets those that
// nothing depends on by then. It looks for them once there are twice as many as
// were left the last time, so that a long history is replayed without going
// through all tokens at each event.
func (s *State) token(e event) {
	p := *e.Token
	if e.Did == ubl.DidPlatformTokenCreate && p.CreatedAt == 0 { // from before that was kept
		p.CreatedAt = e.At
	}
	s.remember(p)
	s.link(e)
	if len(s.Tokens) > 2*s.lastingTokens {
		for _, t := range s.Tokens {
			if t.forgotten(e.At) {
				s.forget(t)
			}
		}
		s.lastingTokens = max(len(s.Tokens), 100)
	}
}

// remember puts a token in, or replaces it: one that was revoked ahead of its first use
// is nobody's until then.
func (s *State) remember(p platform) {
	s.forget(s.Tokens[p.JTI])
	s.Tokens[p.JTI] = p
	s.index(p)
}

func (s *State) index(p platform) {
	whose := person{p.TenantID, p.UserID}
	if s.tokensOf[whose] == nil {
		s.tokensOf[whose] = make(map[string]struct{})
	}
	s.tokensOf[whose][p.JTI] = struct{}{}
}

func (s *State) forget(p platform) {
	delete(s.Tokens, p.JTI)
	whose := person{p.TenantID, p.UserID}
	if delete(s.tokensOf[whose], p.JTI); len(s.tokensOf[whose]) == 0 {
		delete(s.tokensOf, whose)
	}
}

// revoked marks what an act ended. What was forgotten meanwhile has ended anyway.
func (s *State) revoked(jtis []string) {
	for _, jti := range jtis {
		if p, ok := s.Tokens[jti]; ok {
			p.Revoked = true
			s.Tokens[jti] = p
		}
	}
}

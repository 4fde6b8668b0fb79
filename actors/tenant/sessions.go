package tenant

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"time"

	"ubl"
	"ubl/actors"
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
	known, ok := x.state.Tokens[c.Token.JTI]
	switch {
	case x.id != ubl.CoreTenant || !c.Who.IsPlatform():
		t.Fail(ubl.Errorf(ubl.CodeForbidden, "only the platform admits tokens, in tenant 0"))
	case ok && known.Revoked:
		t.Fail(errRevoked())
	case !ok && c.Token.Turn > 0:
		t.Fail(errBadToken())
	case !ok:
		x.admitNew(t, c)
	case c.Token.Turn > known.Turn:
		x.change(t, c.Request, ubl.DidPlatformTokenRenew, renewing(known, c.Token), c.Token.JTI)
	case c.Token.Turn == known.Turn, c.Token.Turn == known.Turn-1 && t.Now() < known.Since.Add(turnGrace):
		t.Reply(nil)
	default:
		t.Fail(errBadToken())
	}
}

// admitNew receipts the token, and tells the operators of it.
func (x *Tenant) admitNew(t *actors.Turn, c ubl.AdmitToken) {
	_, _, ok := x.decided(t, c.Request, ubl.DidPlatformTokenCreate, x.decideAdmit(c), []string{c.Token.JTI})
	if !ok {
		return
	}
	ctx := t.Context()
	t.Later(func() (any, error) {
		x.tellOperators(ctx, c.Request, firstUse(c.Token))
		return nil, nil
	})
}

// tellOperators puts a message into the audit room of tenant 0. The receipt is what
// counts; the message is a courtesy.
func (x *Tenant) tellOperators(ctx context.Context, req ubl.Request, text string) {
	_, err := x.env.Ask.Ask(ctx, ubl.RoomName(x.id, ubl.AuditRoom), ubl.Announce{Request: req, Text: text})
	if err != nil {
		x.env.Log.Warn("couldn't tell the operators", "error", err)
	}
}

func firstUse(p ubl.PlatformToken) string {
	if p.Kind == ubl.TokenSession {
		return fmt.Sprintf("%s in %s signed in from a browser (%s).", p.UserID, p.TenantID, p.Method)
	}
	return fmt.Sprintf("A token of %s in %s was used for the first time.", p.UserID, p.TenantID)
}

func (x *Tenant) decideAdmit(c ubl.AdmitToken) func(ubl.Time) (*plan, error) {
	return func(now ubl.Time) (*plan, error) {
		plan := tokenPlan(platform{PlatformToken: c.Token}, ubl.DidTokenCreate)
		if c.Token.Kind != ubl.TokenSession {
			return plan, nil
		}
		if err := x.paced(person{c.Token.TenantID, c.Token.UserID}, "sign-in", now); err != nil {
			return nil, err
		}
		if x.sessionsOf(c.Token, now) >= maxSessions {
			return nil, ubl.Errorf(ubl.CodeRateLimited, "there are %d sessions already; sign out of some", maxSessions)
		}
		return plan, x.useLink(plan, c, now)
	}
}

// paced refuses what a person does in tenant 0 more often than anybody needs to:
// signing in and out takes no right of theirs, and each turn of it writes there.
func (x *Tenant) paced(whose person, what string, now ubl.Time) error {
	wait := x.meters.take(use{ubl.UserID(whose.TenantID) + "\n" + whose.UserID, what}, now, pacedPerMinute)
	if wait == 0 {
		return nil
	}
	return ubl.Errorf(ubl.CodeRateLimited, "that was done %d times within a minute: wait a little", pacedPerMinute).Later(wait)
}

// sessionsOf counts the person's living sessions. It goes through all tokens,
// which nobody but who signs in waits for.
func (x *Tenant) sessionsOf(p ubl.PlatformToken, now ubl.Time) (n int) {
	who := ubl.Identity{UserID: p.UserID, TenantID: p.TenantID}
	for _, s := range x.state.Tokens {
		if s.Kind == ubl.TokenSession && s.of(who) && s.lives(now) {
			n++
		}
	}
	return n
}

// renewing lets a session's next cookie follow the one that is known.
func renewing(known platform, next ubl.PlatformToken) func(ubl.Time) (*plan, error) {
	return func(now ubl.Time) (*plan, error) {
		known.Turn, known.ExpiresAt, known.Since = next.Turn, next.ExpiresAt, now
		return tokenPlan(known, ubl.DidPlatformTokenRenew), nil
	}
}

// tokenPlan leaves the token as p.
func tokenPlan(p platform, op ubl.Did) *plan {
	return &plan{
		event:  event{Token: &p},
		this:   tokenFields(p),
		effect: ubl.Fields{ubl.Str("op", op), ubl.Str("token_id", p.JTI)},
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
func (x *Tenant) decideRevokePlatform(c ubl.RevokeToken) func(ubl.Time) (*plan, error) {
	return func(now ubl.Time) (*plan, error) {
		p, known := x.state.Tokens[c.JTI]
		operator := c.Who.TenantID == x.id && x.owner(c.Who) == nil
		switch {
		case !(known && p.of(c.Who)) && !operator:
			return nil, ubl.Errorf(ubl.CodeNotFound, "there is no such token")
		case p.Revoked:
			return nil, ubl.Errorf(ubl.CodeConflict, "the token was revoked already")
		case !known:
			p.JTI, p.ExpiresAt = c.JTI, now.Add(rememberRevoked)
		}
		p.Revoked = true
		plan := tokenPlan(p, ubl.DidTokenRevoke)
		plan.tells = []ubl.Event{{Kind: ubl.EventTokenRevoked, TokenID: c.JTI}}
		return plan, nil
	}
}

// own lists the living tokens of a caller, the newest first.
func (x *Tenant) own(who ubl.Identity, now ubl.Time) []ubl.PlatformToken {
	list := []ubl.PlatformToken{}
	for _, p := range x.state.Tokens {
		if p.of(who) && p.lives(now) {
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
	if _, ok := x.fresh(t, c.Request, ubl.DidPlatformTokenRevokeAll, nil); !ok {
		return
	}
	mine := x.own(c.Who, t.Now())
	keys := 0
	if c.Passkeys {
		keys = len(x.state.Rings[personOf(c.Who)].Keys)
	}
	if len(mine)+keys == 0 {
		t.Reply(0)
		return
	}
	x.change(t, c.Request, ubl.DidPlatformTokenRevokeAll, func(ubl.Time) (*plan, error) { return revokeAllPlan(personOf(c.Who), mine, keys), nil })
}

// revokeAllPlan ends the tokens of a person, and all their passkeys where there are any
// to remove.
func revokeAllPlan(who person, mine []ubl.PlatformToken, keys int) *plan {
	p := &plan{
		this:   ubl.Fields{ubl.Int("count", int64(len(mine)))},
		effect: ubl.Fields{ubl.Str("op", ubl.DidPlatformTokenRevokeAll), ubl.Str("user_id", who.UserID)},
	}
	if keys > 0 {
		p.event.Keyless = &who
		p.this = append(p.this, ubl.Int("passkeys", int64(keys)))
	}
	p.this = append(p.this, ubl.Str("tenant_id", who.TenantID), ubl.Str("user_id", who.UserID))
	for _, m := range mine {
		p.event.Revoked = append(p.event.Revoked, m.JTI)
		p.tells = append(p.tells, ubl.Event{Kind: ubl.EventTokenRevoked, TokenID: m.JTI})
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
	s.Tokens[p.JTI] = p
	s.link(e)
	if len(s.Tokens) > 2*s.lastingTokens {
		maps.DeleteFunc(s.Tokens, func(_ string, t platform) bool { return t.forgotten(e.At) })
		s.lastingTokens = max(len(s.Tokens), 100)
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

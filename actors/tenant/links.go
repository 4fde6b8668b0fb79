package tenant

import (
	"maps"

	"ubl"
	"ubl/actors"
)

// link is a one-time link as tenant 0 knows it, until it expires.
type link struct {
	ubl.OneTimeLink
	Used bool `json:"used"`
}

// errNoLink looks the same for one that was used, is too old, or never was.
func errNoLink() *ubl.Error {
	return ubl.Errorf(ubl.CodeNotFound, "there is no such sign-in link")
}

// openLink is a link that may still be used.
func (s *State) openLink(hash string, now ubl.Time) (link, error) {
	l, ok := s.Links[hash]
	if !ok || l.Used || l.ExpiresAt <= now {
		return link{}, errNoLink()
	}
	return l, nil
}

// decideLink records a link that a node is about to print. One that is there stays as it
// is until it expires: what was used isn't open again.
func (s *State) decideLink(c ubl.OfferLink, at actors.Moment) (*plan, error) {
	if s.id() != ubl.CoreTenant || !c.Who.IsPlatform() {
		return nil, ubl.Errorf(ubl.CodeForbidden, "only the platform offers links, in tenant 0")
	}
	if l, ok := s.Links[c.Link.Hash]; ok && l.ExpiresAt > at.Now {
		return nil, ubl.Errorf(ubl.CodeConflict, "there is such a sign-in link already")
	}
	hash := ubl.Str("link_hash", c.Link.Hash)
	return &plan{
		Act: act(ubl.Fields{
			ubl.Str("expires_at", c.Link.ExpiresAt.String()), hash, ubl.Str("tenant_id", c.Link.TenantID), ubl.Str("user_id", c.Link.UserID),
		}, ubl.Fields{hash, ubl.Str("op", ubl.DidPlatformLinkCreate)}),
		Event: event{Link: &link{OneTimeLink: c.Link}},
	}, nil
}

// findLink answers the platform with a link that may still be used.
func (x *Tenant) findLink(t *actors.Turn, c ubl.FindLink) {
	l, err := x.State.openLink(c.Hash, t.Now())
	if x.id != ubl.CoreTenant || !c.Who.IsPlatform() || err != nil {
		t.Fail(errNoLink())
		return
	}
	t.Reply(&l.OneTimeLink)
}

// useLink has the admission of a session use up the link that it came by, if any:
// one commit does both, so that neither is ever there without the other.
func (s *State) useLink(p *plan, c ubl.AdmitToken, now ubl.Time) error {
	if c.Link == "" {
		return nil
	}
	l, err := s.openLink(c.Link, now)
	if err != nil || l.UserID != c.Token.UserID || l.TenantID != c.Token.TenantID {
		return errNoLink()
	}
	l.Used = true
	p.Event.Link = &l
	p.This = append(p.This, ubl.Str("link_hash", c.Link))
	return nil
}

// link remembers a link as the event left it, and forgets those that have expired.
func (s *State) link(e event) {
	if e.Link == nil {
		return
	}
	s.Links[e.Link.Hash] = *e.Link
	maps.DeleteFunc(s.Links, func(_ string, l link) bool { return l.ExpiresAt < e.At })
}

package portal

import (
	"context"
	"encoding/json"
	"maps"
	"slices"
	"strings"

	"ubl"
	"ubl/actors"
)

// The decisions about servers. Each reads the state, changes nothing, and returns
// a plan or a refusal.

func (x *Portal) decideAdd(c ubl.AddServer) func(ubl.Time) (*plan, error) {
	return func(now ubl.Time) (*plan, error) {
		if err := x.owner(c.Who, c.Owner); err != nil {
			return nil, err
		}
		s := c.Server
		if err := checkServer(&s, c.Secret); err != nil {
			return nil, err
		}
		if x.state.Servers[s.ServerID] != nil {
			return nil, ubl.Errorf(ubl.CodeConflict, "the server id is taken")
		}
		if len(x.state.Servers) >= ubl.MaxServers {
			return nil, ubl.Errorf(ubl.CodeConflict, "a tenant has at most %d servers", ubl.MaxServers)
		}
		s.CreatedAt, s.CreatedBy, s.Receipt = now, c.Who.UserID, ubl.Receipt{}
		terms, err := termsHash(s)
		if err != nil {
			return nil, err
		}
		return &plan{
			event: event{Server: x.state.view(&server{config: s})},
			this: ubl.Fields{
				ubl.Str("auth", s.Auth), ubl.Str("name", s.Name), ubl.Str("server", s.ServerID), terms, urlHash(s.URL),
			},
			effect:  ubl.Fields{ubl.Str("server", s.ServerID)},
			records: []actors.Record{put(secretKey(s.ServerID), sealed{ServerID: s.ServerID, Sealed: c.Secret})},
			tools:   true,
		}, nil
	}
}

// terms are what owners set of a server, but for its secret. Their canonical JSON is
// what an act's terms_hash is of.
type terms struct {
	Server       string   `json:"server"`
	Name         string   `json:"name"`
	URL          string   `json:"url"`
	Auth         string   `json:"auth"`
	Header       string   `json:"header"`
	TokenURL     string   `json:"token_url"`
	AuthorizeURL string   `json:"authorize_url"`
	ClientID     string   `json:"client_id"`
	Scopes       []string `json:"scopes"`
	Disabled     bool     `json:"disabled"`
}

// termsHash stands for all of a server's terms in the ledger.
func termsHash(s ubl.Server) (f ubl.Field, err error) {
	data, err := json.Marshal(terms{
		Server: s.ServerID, Name: s.Name, URL: s.URL, Auth: s.Auth, Header: s.Header, TokenURL: s.TokenURL,
		AuthorizeURL: s.AuthorizeURL, ClientID: s.ClientID, Scopes: append([]string{}, s.Scopes...), Disabled: s.Disabled,
	})
	if err == nil {
		data, err = ubl.Canonical(data)
	}
	return ubl.Str("terms_hash", ubl.BodyHash(data)), err
}

// urlHash stands for a URL in the ledger, which all members read: many a server
// is given its secret in the path.
func urlHash(url string) ubl.Field {
	data, err := ubl.Fields{ubl.Str("url", url)}.MarshalBinary()
	if err != nil {
		panic("portal: a URL that was checked is not UTF-8")
	}
	return ubl.Str("url_hash", ubl.BodyHash(data))
}

func (x *Portal) decideUpdate(c ubl.UpdateServer) func(ubl.Time) (*plan, error) {
	return func(ubl.Time) (*plan, error) {
		if err := x.owner(c.Who, c.Owner); err != nil {
			return nil, err
		}
		was, err := x.server(c.ServerID)
		if err != nil {
			return nil, err
		}
		now, changed := patched(was.config, c.Patch)
		if len(changed) == 0 {
			return nil, bad("patch", "it changes nothing")
		}
		if err := checkServer(&now, c.Patch.Secret); err != nil {
			return nil, err
		}
		terms, err := termsHash(now)
		if err != nil {
			return nil, err
		}
		after := &server{config: now, sync: was.sync}
		p := &plan{
			frees: now.Disabled && !was.config.Disabled,
			this: ubl.Fields{
				ubl.Str("changed", strings.Join(changed, ",")), ubl.Bool("disabled", now.Disabled),
				ubl.Str("name", now.Name), ubl.Str("server", c.ServerID), terms, urlHash(now.URL),
			},
			effect:  ubl.Fields{ubl.Str("server", c.ServerID)},
			records: x.secretsAfter(&was.config, &now, c.Patch.Secret),
			tools:   true, // another address or secret too: nodes hold sessions
		}
		if startsAnew(&was.config, &now) {
			after.sync = nil
			p.records = append(p.records, actors.Record{Key: syncKey(c.ServerID)})
		}
		p.event.Server = x.state.view(after)
		return p, nil
	}
}

// secretsAfter is what becomes of a server's secrets: a new one replaces the
// owners', and none of them moves with the server to another place.
func (x *Portal) secretsAfter(was, now *ubl.Server, secret []byte) (records []actors.Record) {
	moved := movesAway(was, now)
	if moved {
		records = x.forgottenGrants(was.ServerID)
	}
	if moved || secret != nil {
		records = append(records, put(secretKey(was.ServerID), sealed{ServerID: was.ServerID, Sealed: secret}))
	}
	return records
}

// patched is a server with a patch, and the names of what the patch sets.
func patched(s ubl.Server, p ubl.ServerPatch) (now ubl.Server, changed []string) {
	if p.Disabled != nil {
		s.Disabled = *p.Disabled
		changed = append(changed, "disabled")
	}
	if p.Name != nil {
		s.Name = *p.Name
		changed = append(changed, "name")
	}
	if p.Secret != nil {
		changed = append(changed, "secret")
	}
	if p.URL != nil {
		s.URL = *p.URL
		changed = append(changed, "url")
	}
	return s, changed
}

// patchContent leaves the secret out, for which its MAC stands.
func patchContent(p ubl.ServerPatch) string {
	hasSecret := p.Secret != nil
	p.Secret = nil
	return content(p) + content(hasSecret)
}

// startsAnew says that what the newest sync said no longer holds.
func startsAnew(was, now *ubl.Server) bool {
	return was.URL != now.URL || was.Disabled != now.Disabled
}

// movesAway says that a server is at another place from now on: secrets were
// given to the old one, and must not be sent to whoever has the new one.
func movesAway(was, now *ubl.Server) bool { return origin(was.URL) != origin(now.URL) }

func (x *Portal) decideRemove(c ubl.RemoveServer) func(ubl.Time) (*plan, error) {
	return func(ubl.Time) (*plan, error) {
		if err := x.owner(c.Who, c.Owner); err != nil {
			return nil, err
		}
		s, err := x.server(c.ServerID)
		if err != nil {
			return nil, err
		}
		tools := x.state.toolsOf(c.ServerID)
		records := []actors.Record{{Key: secretKey(c.ServerID)}, {Key: syncKey(c.ServerID)}}
		for _, t := range tools {
			records = append(records, actors.Record{Key: toolKey(c.ServerID, t.Upstream)})
		}
		return &plan{
			event:   event{Server: x.state.view(s)},
			this:    ubl.Fields{ubl.Str("server", c.ServerID)},
			effect:  ubl.Fields{ubl.Str("server", c.ServerID), ubl.Int("tools", int64(len(tools)))},
			records: append(records, x.forgottenGrants(c.ServerID)...),
			tools:   true,
		}, nil
	}
}

// forgottenGrants deletes what users signed in to a server with.
func (x *Portal) forgottenGrants(id string) []actors.Record {
	var out []actors.Record
	for _, user := range x.state.grantsOf(id) {
		out = append(out, actors.Record{Key: grantKey(id, user)})
	}
	return out
}

// server is a known one, or not_found.
func (x *Portal) server(id string) (*server, error) {
	if s := x.state.Servers[id]; s != nil {
		return s, nil
	}
	return nil, ubl.Errorf(ubl.CodeNotFound, "there is no such server")
}

// enabled is a known server that no owner has disabled.
func (x *Portal) enabled(id string) (*server, error) {
	s, err := x.server(id)
	if err == nil && s.config.Disabled {
		err = ubl.Errorf(ubl.CodeForbidden, "an owner of the tenant has disabled this server")
	}
	return s, err
}

func (x *Portal) listServers(t *actors.Turn, who ubl.Identity) {
	if err := x.member(who); err != nil {
		t.Fail(err)
		return
	}
	list := []*ubl.Server{}
	var receipts []*ubl.Receipt
	counts := x.state.counts()
	for _, id := range slices.Sorted(maps.Keys(x.state.Servers)) {
		s := x.state.Servers[id]
		shown := s.view(counts[id])
		if s.config.Auth == ubl.AuthUser {
			shown.Connected = new(x.state.Grants[grant{id, who.UserID}])
		}
		list, receipts = append(list, shown), append(receipts, s.receipt)
	}
	t.Later(func() (any, error) {
		for i, s := range list {
			s.Receipt = *receipts[i]
		}
		return list, nil
	})
}

// openServer answers with what the store has of secrets: the Portal keeps none in
// memory.
func (x *Portal) openServer(t *actors.Turn, c ubl.OpenServer) {
	err := x.member(c.Who)
	var s *server
	if err == nil {
		s, err = x.server(c.ServerID)
	}
	if err != nil {
		t.Fail(err)
		return
	}
	ctx, view, receipt := t.Context(), x.state.view(s), s.receipt
	t.Later(func() (any, error) {
		access := &ubl.ServerAccess{Server: *receipted(view, receipt)}
		var err error
		if access.Secret, err = x.secret(ctx, secretKey(c.ServerID)); err != nil {
			return nil, err
		}
		access.Grant, err = x.secret(ctx, grantKey(c.ServerID, c.Who.UserID))
		return access, err
	})
}

// secret reads what is sealed under a key, nil where nothing is.
func (x *Portal) secret(ctx context.Context, key []byte) (found []byte, err error) {
	err = x.read.View(ctx, x.group, func(snap ubl.Snapshot) error {
		return actors.EachEvent(snap, key, append(slices.Clone(key), 0), version, func(s sealed) { found = s.Sealed })
	})
	return found, err
}

// saveGrant keeps or forgets a user's own credentials.
func (x *Portal) saveGrant(t *actors.Turn, c ubl.SaveGrant) {
	key := actors.NewKey(ubl.DidServerConnect, c.Request, c.ServerID, content(len(c.Sealed) > 0))
	ref, err := x.keys.Find(t.Context(), key)
	if err == nil && ref == nil {
		err = x.checkGrant(c)
	}
	if err == nil && ref == nil && len(c.Sealed) > 0 {
		err = x.env.Usage.May(c.Who, ubl.DidServerConnect)
	}
	switch {
	case err != nil:
		t.Fail(err)
		return
	case ref != nil:
		t.Reply(nil)
		return
	}
	a := &actors.Append{Records: []actors.Record{
		put(grantKey(c.ServerID, c.Who.UserID), sealed{ServerID: c.ServerID, UserID: c.Who.UserID, Sealed: c.Sealed}),
	}}
	about := ubl.Fields{ubl.Bool("connected", len(c.Sealed) > 0), ubl.Str("server", c.ServerID), ubl.Str("user_id", c.Who.UserID)}
	x.act(a, t.Now(), c.Request, ubl.DidServerConnect, about, slices.Clone(about))
	x.keys.Add(a, key, t.Now(), actors.Ref{Kind: refDone})
	x.state.granted(grant{c.ServerID, c.Who.UserID}, len(c.Sealed) > 0)
	t.Commit(a)
	t.Reply(nil)
}

func (x *Portal) checkGrant(c ubl.SaveGrant) error {
	if err := x.member(c.Who); err != nil {
		return err
	}
	s, err := x.server(c.ServerID)
	switch {
	case err != nil:
		return err
	case s.config.Auth != ubl.AuthUser:
		return ubl.Errorf(ubl.CodeConflict, "nobody signs in to this server")
	case len(c.Sealed) > ubl.MaxSealed:
		return ubl.Errorf(ubl.CodeTooLarge, "the credentials are larger than %d bytes", ubl.MaxSealed)
	case (c.Renews || len(c.Sealed) == 0) && !x.state.Grants[grant{c.ServerID, c.Who.UserID}]:
		return ubl.Errorf(ubl.CodeNotFound, "the caller hasn't signed in to this server")
	}
	return nil
}

package portal

import (
	"context"
	"encoding/json"
	"io"
	"maps"
	"slices"
	"strings"

	"ubl"
	"ubl/actors"
)

// The decisions about servers. Each reads the state, changes nothing, and returns
// a plan or a refusal.

func (s *State) decideAdd(c ubl.AddServer, at actors.Moment) (*plan, error) {
	if err := s.owner(c.Who, c.Owner); err != nil {
		return nil, err
	}
	made := c.Server
	if err := checkServer(&made, c.Secret); err != nil {
		return nil, err
	}
	if !ubl.FreeServerID(made.ServerID) {
		return nil, bad("server_id", "our own tools have this word in their names; choose another")
	}
	if s.Servers[made.ServerID] != nil {
		return nil, ubl.Errorf(ubl.CodeConflict, "the server id is taken")
	}
	if len(s.Servers) >= ubl.MaxServers {
		return nil, ubl.Errorf(ubl.CodeConflict, "a tenant has at most %d servers", ubl.MaxServers)
	}
	made.CreatedAt, made.CreatedBy, made.Receipt = at.Now, c.Who.UserID, ubl.Receipt{}
	terms, err := committed(&made, at.Random)
	if err != nil {
		return nil, err
	}
	return &plan{
		Act: executed(ubl.DidServerAdd, append(ubl.Fields{
			ubl.Str("auth", made.Auth), ubl.Str("name", made.Name), ubl.Str("server", made.ServerID),
		}, terms...), ubl.Fields{ubl.Str("server", made.ServerID)}),
		Event:   event{Server: s.view(&server{config: made})},
		Records: []actors.Record{put(secretKey(made.ServerID), sealed{ServerID: made.ServerID, Sealed: c.Secret})},
		Alarms:  []actors.Alarm{s.asking(&server{config: made}, at.Now)},
	}, nil
}

// put is a record of something sealed, or its deletion where there is nothing.
func put(key []byte, what sealed) actors.Record {
	if len(what.Sealed) == 0 {
		return actors.Record{Key: key}
	}
	what.form = form{version}
	return actors.Record{Key: key, Value: encode(what)}
}

// terms are what owners set of a server, but for its secret. Their canonical JSON is
// what an act's terms_hash commits to.
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
	Kind         string   `json:"kind,omitempty"`
	DocumentURL  string   `json:"document_url,omitempty"`
	Command      string   `json:"command,omitempty"`
}

// committed draws the server's salt and commits to its terms, and to its URL by itself. All
// members read the ledger, and many a server is given its secret in the path.
func committed(s *ubl.Server, random io.Reader) (fields ubl.Fields, err error) {
	if s.Salt, err = ubl.NewSalt(random); err != nil {
		return nil, err
	}
	data, err := json.Marshal(terms{
		Server: s.ServerID, Name: s.Name, URL: s.URL, Auth: s.Auth, Header: s.Header, TokenURL: s.TokenURL,
		AuthorizeURL: s.AuthorizeURL, ClientID: s.ClientID, Scopes: append([]string{}, s.Scopes...), Disabled: s.Disabled,
		Kind: s.Kind, DocumentURL: s.DocumentURL, Command: s.Command,
	})
	if err == nil {
		data, err = ubl.Canonical(data)
	}
	return ubl.Fields{ubl.Str("terms_hash", s.Salt.Commit(data)), ubl.Str("url_hash", s.Salt.CommitText("url", s.URL))}, err
}

func (s *State) decideUpdate(c ubl.UpdateServer, at actors.Moment) (*plan, error) {
	if err := s.owner(c.Who, c.Owner); err != nil {
		return nil, err
	}
	was, err := s.server(c.ServerID)
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
	terms, err := committed(&now, at.Random)
	if err != nil {
		return nil, err
	}
	after := &server{config: now, sync: was.sync}
	p := &plan{
		Act: executed(ubl.DidServerUpdate, append(ubl.Fields{
			ubl.Str("changed", strings.Join(changed, ",")), ubl.Bool("disabled", now.Disabled),
			ubl.Str("name", now.Name), ubl.Str("server", c.ServerID),
		}, terms...), ubl.Fields{ubl.Str("server", c.ServerID)}),
		Records: s.secretsAfter(&was.config, &now, c.Patch.Secret),
		Frees:   now.Disabled && !was.config.Disabled,
	}
	if startsAnew(&was.config, &now) {
		after.sync = nil
		p.Records = append(p.Records, actors.Record{Key: syncKey(c.ServerID)})
		p.Alarms = []actors.Alarm{s.asking(after, at.Now)}
	}
	p.Event.Server = s.view(after)
	return p, nil
}

// secretsAfter is what becomes of a server's secrets: a new one replaces the
// owners', and none of them moves with the server to another place.
func (s *State) secretsAfter(was, now *ubl.Server, secret []byte) (records []actors.Record) {
	moved := movesAway(was, now)
	if moved {
		records = s.forgottenGrants(was.ServerID)
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
	if p.DocumentURL != nil {
		s.DocumentURL = *p.DocumentURL
		changed = append(changed, "document_url")
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

// startsAnew says that what the newest sync said no longer holds.
func startsAnew(was, now *ubl.Server) bool {
	return was.URL != now.URL || was.DocumentURL != now.DocumentURL || was.Disabled != now.Disabled
}

// movesAway says that a server is at another place from now on: secrets were
// given to the old one, and must not be sent to whoever has the new one.
func movesAway(was, now *ubl.Server) bool { return origin(was.URL) != origin(now.URL) }

func (s *State) decideRemove(c ubl.RemoveServer, _ actors.Moment) (*plan, error) {
	if err := s.owner(c.Who, c.Owner); err != nil {
		return nil, err
	}
	gone, err := s.server(c.ServerID)
	if err != nil {
		return nil, err
	}
	tools := s.toolsOf(c.ServerID)
	records := []actors.Record{{Key: secretKey(c.ServerID)}, {Key: syncKey(c.ServerID)}}
	for _, t := range tools {
		records = append(records, actors.Record{Key: toolKey(c.ServerID, t.Upstream)})
	}
	return &plan{
		Act: executed(ubl.DidServerRemove, ubl.Fields{ubl.Str("server", c.ServerID)},
			ubl.Fields{ubl.Str("server", c.ServerID), ubl.Int("tools", int64(len(tools)))}),
		Event:   event{Server: s.view(gone)},
		Records: append(records, s.forgottenGrants(c.ServerID)...),
		Alarms:  []actors.Alarm{{Key: askAlarm + c.ServerID}},
	}, nil
}

// forgottenGrants deletes what users signed in to a server with.
func (s *State) forgottenGrants(id string) []actors.Record {
	var out []actors.Record
	for _, user := range s.grantsOf(id) {
		out = append(out, actors.Record{Key: grantKey(id, user)})
	}
	return out
}

// server is a known one, or not_found.
func (s *State) server(id string) (*server, error) {
	if known := s.Servers[id]; known != nil {
		return known, nil
	}
	return nil, ubl.Errorf(ubl.CodeNotFound, "there is no such server")
}

// enabled is a known server that no owner has disabled.
func (s *State) enabled(id string) (*server, error) {
	known, err := s.server(id)
	if err == nil && known.config.Disabled {
		err = ubl.Errorf(ubl.CodeForbidden, "an owner of the tenant has disabled this server")
	}
	return known, err
}

// receipted is a server with its receipt, behind the gate.
func receipted(s *ubl.Server, receipt *ubl.Receipt) *ubl.Server {
	with := *s
	with.Receipt = *receipt
	return &with
}

func (x *Portal) listServers(t *actors.Turn, who ubl.Identity) {
	if err := x.State.member(who); err != nil {
		t.Fail(err)
		return
	}
	list := []*ubl.Server{}
	var receipts []*ubl.Receipt
	counts := x.State.counts()
	for _, id := range slices.Sorted(maps.Keys(x.State.Servers)) {
		s := x.State.Servers[id]
		shown := s.view(counts[id])
		if s.config.Auth == ubl.AuthUser {
			shown.Connected = new(x.State.Grants[grant{id, who.UserID}])
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
	err := x.State.member(c.Who)
	var s *server
	if err == nil {
		s, err = x.State.server(c.ServerID)
	}
	if err != nil {
		t.Fail(err)
		return
	}
	ctx, view, receipt := t.Context(), x.State.view(s), s.receipt
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
	err = x.Read.View(ctx, x.Name.Group(), func(snap ubl.Snapshot) error {
		return actors.EachEvent(snap, key, append(slices.Clone(key), 0), version, func(s sealed) { found = s.Sealed })
	})
	return found, err
}

// decideGrant keeps or forgets a user's own credentials.
func (s *State) decideGrant(c ubl.SaveGrant, _ actors.Moment) (*plan, error) {
	if err := s.member(c.Who); err != nil {
		return nil, err
	}
	known, err := s.server(c.ServerID)
	who, has := grant{c.ServerID, c.Who.UserID}, len(c.Sealed) > 0
	switch {
	case err != nil:
		return nil, err
	case known.config.Auth != ubl.AuthUser:
		return nil, ubl.Errorf(ubl.CodeConflict, "nobody signs in to this server")
	case len(c.Sealed) > ubl.MaxSealed:
		return nil, ubl.Errorf(ubl.CodeTooLarge, "the credentials are larger than %d bytes", ubl.MaxSealed)
	case (c.Renews || !has) && !s.Grants[who]:
		return nil, ubl.Errorf(ubl.CodeNotFound, "the caller hasn't signed in to this server")
	}
	return connecting(who, c.Sealed), nil
}

// connecting plans that a user's credentials are kept, or forgotten where there are none.
func connecting(who grant, credentials []byte) *plan {
	has := len(credentials) > 0
	about := ubl.Fields{ubl.Bool("connected", has), ubl.Str("server", who.server), ubl.Str("user_id", who.user)}
	kept := sealed{ServerID: who.server, UserID: who.user, Sealed: credentials}
	return &plan{
		Act:     executed(ubl.DidServerConnect, about, slices.Clone(about)),
		Event:   event{grant: &granting{who, has}},
		Records: []actors.Record{put(grantKey(who.server, who.user), kept)},
		Frees:   !has,
	}
}

// forgetPage is the most grants that one batch forgets.
const forgetPage = 100

// forgetGrants forgets the grants of people who were shut out, each by an act of its own, a
// page a batch, and asks again until none is left.
func (x *Portal) forgetGrants(t *actors.Turn, c ubl.ForgetGrants) {
	if err := platform(c.Who); err != nil {
		t.Fail(err)
		return
	}
	theirs := x.State.grantsBy(c.Users)
	theirs = theirs[:min(len(theirs), forgetPage)]
	if len(theirs) > 0 {
		if err := t.Reserve(len(theirs) * ubl.ActCost); err != nil {
			t.Fail(err)
			return
		}
	}
	for _, g := range theirs {
		x.Pass(t, x.Following(ubl.DidServerConnect, c.Request, connecting(g, nil)), nil)
	}
	if len(theirs) < forgetPage {
		t.Reply(len(theirs))
		return
	}
	ctx := t.Context()
	t.Later(func() (any, error) {
		more, err := ubl.Ask[int](ctx, x.Ask, x.Name, c)
		return forgetPage + more, err
	})
}

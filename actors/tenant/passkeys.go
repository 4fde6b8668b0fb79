package tenant

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"slices"

	"ubl"
	"ubl/actors"
	"ubl/actors/agreement"
)

// passkey is one as it is stored. An [ubl.Identity] keeps some of itself out of
// its JSON, so that its owner is written down apart.
type passkey struct {
	ubl.PasskeyRecord
	Owner owner `json:"owner"`
}

// owner is whom a passkey signs in. Their groups aren't kept: those are the
// provider's to say each time, and a passkey would have them for ever. Records from
// before that was seen have them, and they count for nothing.
type owner struct {
	person
	Email   string `json:"email"`
	Issuer  string `json:"issuer"`
	Subject string `json:"subject"`
}

// person is a user of a tenant: one user id may belong to several.
type person struct {
	TenantID ubl.TenantID `json:"tenant_id"`
	UserID   ubl.UserID   `json:"user_id"`
}

func personOf(who ubl.Identity) person { return person{who.TenantID, who.UserID} }

func (p person) compare(o person) int {
	return cmp.Or(cmp.Compare(p.TenantID, o.TenantID), cmp.Compare(p.UserID, o.UserID))
}

// ring is what a person has: their handle, which outlives the passkeys so that a
// device takes a new one for the old one's successor, and the passkeys.
type ring struct {
	Handle []byte
	Keys   []ubl.PasskeyID // in the order they were registered in
}

// record is the passkey with its owner as others know them.
func (p passkey) record() *ubl.PasskeyRecord {
	r := p.PasskeyRecord
	r.Who = ubl.Identity{
		UserID: p.Owner.UserID, Email: p.Owner.Email, EmailDomain: ubl.EmailDomain(p.Owner.Email),
		TenantID: p.Owner.TenantID, Issuer: p.Owner.Issuer, Subject: p.Owner.Subject,
	}
	return &r
}

// passkey writes or forgets one.
func (s *State) passkey(e event) {
	p := *e.Passkey
	r := s.Rings[p.Owner.person]
	switch e.Did {
	case ubl.DidPasskeyRegister:
		r.Handle, r.Keys = p.Handle, append(r.Keys, p.ID)
		s.Passkeys[p.ID] = p
	case ubl.DidPasskeyUse:
		s.Passkeys[p.ID] = p
	case ubl.DidPasskeyRemove:
		r.Keys = slices.DeleteFunc(r.Keys, func(id ubl.PasskeyID) bool { return id == p.ID })
		delete(s.Passkeys, p.ID)
	}
	s.Rings[p.Owner.person] = r
}

// keyless forgets all passkeys of somebody, if anybody's, and their handle: who
// comes after them is somebody else.
func (s *State) keyless(whose *person) {
	if whose == nil {
		return
	}
	for _, id := range s.Rings[*whose].Keys {
		delete(s.Passkeys, id)
	}
	delete(s.Rings, *whose)
}

// errNoPasskey looks the same for one that was removed, one that is another's and
// one that never was.
func errNoPasskey() *ubl.Error { return ubl.Errorf(ubl.CodeNotFound, "there is no such passkey") }

// receivePasskey answers what is asked about passkeys, in tenant 0 alone.
func (x *Tenant) receivePasskey(t *actors.Turn, cmd ubl.Command) {
	if x.id != ubl.CoreTenant {
		t.Fail(ubl.Errorf(ubl.CodeForbidden, "only tenant 0 keeps passkeys"))
		return
	}
	switch c := cmd.(type) {
	case ubl.ListPasskeys:
		t.Reply(x.State.passkeysOf(personOf(c.Who)))
	case ubl.FindPasskey:
		x.findPasskey(t, c)
	case ubl.UsePasskey:
		x.usePasskey(t, c)
	default:
		x.Change(t, cmd)
	}
}

func (s *State) decideRegister(c ubl.RegisterPasskey, at actors.Moment) (*plan, error) {
	if err := checkPasskey(c); err != nil {
		return nil, err
	}
	if err := s.paced(personOf(c.Who), ubl.DidPasskeyRegister, at.Now); err != nil {
		return nil, err
	}
	id := ubl.PasskeyIDOf(c.Authenticator.CredentialID)
	r := s.Rings[personOf(c.Who)]
	_, taken := s.Passkeys[id]
	switch {
	case taken:
		return nil, ubl.Errorf(ubl.CodeConflict, "the passkey is registered already")
	case len(r.Keys) >= ubl.MaxPasskeys:
		return nil, ubl.Errorf(ubl.CodeConflict, "nobody has more than %d passkeys: remove one first", ubl.MaxPasskeys)
	case r.Handle != nil && !bytes.Equal(r.Handle, c.Handle):
		return nil, ubl.Errorf(ubl.CodeConflict, "another passkey was registered meanwhile: begin again")
	}
	return passkeyPlan(ubl.DidPasskeyRegister, passkey{
		PasskeyRecord: ubl.PasskeyRecord{
			Passkey:       ubl.Passkey{ID: id, Name: c.Name, CreatedAt: at.Now},
			Authenticator: c.Authenticator, Handle: c.Handle,
		},
		Owner: owner{personOf(c.Who), c.Who.Email, c.Who.Issuer, c.Who.Subject},
	}), nil
}

// checkPasskey refuses what could not be stored, or would sign in nobody.
func checkPasskey(c ubl.RegisterPasskey) error {
	id, key := len(c.Authenticator.CredentialID), len(c.Authenticator.PublicKey)
	switch {
	case c.Who.IsService || c.Who.IsPlatform() || !c.Who.TenantID.Valid():
		return ubl.Errorf(ubl.CodeForbidden, "only people have passkeys")
	case id < ubl.MinCredentialID || id > ubl.MaxCredentialID:
		return ubl.Errorf(ubl.CodeValidation, "the credential's id has not %d to %d bytes", ubl.MinCredentialID, ubl.MaxCredentialID)
	case key == 0 || key > ubl.MaxPasskeyKey:
		return ubl.Errorf(ubl.CodeValidation, "the public key has not 1 to %d bytes", ubl.MaxPasskeyKey)
	case len(c.Handle) != ubl.PasskeyHandle:
		return ubl.Errorf(ubl.CodeValidation, "the user's handle has not %d bytes", ubl.PasskeyHandle)
	}
	return ubl.CheckName(c.Name)
}

// passkeyPlan names in the ledger whose passkey it is, and not what they call it.
func passkeyPlan(did ubl.Did, p passkey) *plan {
	return &plan{
		Act:   act(passkeyFields(p), ubl.Fields{ubl.Str("op", did), ubl.Str("passkey_id", p.ID)}),
		Event: event{Passkey: &p},
	}
}

func passkeyFields(p passkey) ubl.Fields {
	return ubl.Fields{
		ubl.Str("passkey_id", p.ID), ubl.Str("tenant_id", p.Owner.TenantID), ubl.Str("user_id", p.Owner.UserID),
	}
}

func (s *State) passkeysOf(whose person) *ubl.Passkeys {
	r := s.Rings[whose]
	answer := &ubl.Passkeys{Handle: r.Handle}
	for _, id := range r.Keys {
		answer.List = append(answer.List, s.Passkeys[id].record())
	}
	return answer
}

func (x *Tenant) findPasskey(t *actors.Turn, c ubl.FindPasskey) {
	p, ok := x.State.Passkeys[ubl.PasskeyIDOf(c.CredentialID)]
	if !ok {
		t.Fail(errNoPasskey())
		return
	}
	t.Reply(p.record())
}

// usePasskey signs in. A challenge that was used before is found by its key
// before anything else is looked at: the count has risen with its first use.
func (x *Tenant) usePasskey(t *actors.Turn, c ubl.UsePasskey) {
	p, ok := x.State.Passkeys[c.PasskeyID]
	switch {
	case !c.Who.IsPlatform():
		t.Fail(ubl.Errorf(ubl.CodeForbidden, "only the platform signs people in"))
	case ok && p.copied(c.SignCount) && !x.Knows(t, c):
		x.refuseCopy(t, c, p)
	default:
		x.Change(t, c)
	}
}

// copied reports whether another device seems to have the private key, too: a
// count of uses rises with each, unless it isn't kept at all.
func (p passkey) copied(count int64) bool {
	return count <= p.SignCount && (count != 0 || p.SignCount != 0)
}

func (s *State) decideUse(c ubl.UsePasskey, at actors.Moment) (*plan, error) {
	p, ok := s.Passkeys[c.PasskeyID]
	if !ok {
		return nil, errNoPasskey()
	}
	if err := s.paced(p.Owner.person, ubl.DidPasskeyUse, at.Now); err != nil {
		return nil, err
	}
	p.SignCount, p.BackedUp, p.LastUsedAt = c.SignCount, c.BackedUp, &at.Now
	return passkeyPlan(ubl.DidPasskeyUse, p), nil
}

// refuseCopy puts the refusal on record, as often as other refusals of a user, and
// tells the operators of it.
func (x *Tenant) refuseCopy(t *actors.Turn, c ubl.UsePasskey, p passkey) {
	refusal := ubl.Errorf(ubl.CodeForbidden, "the passkey seems to have been copied: sign in another way, and remove it")
	if x.State.meters.Take(agreement.Use{User: p.Owner.UserID}, t.Now(), toldPerMinute) > 0 {
		t.Fail(refusal)
		return
	}
	x.Refuse(t, ubl.DidPasskeyUse, c.Request, actors.Act{
		This:  append(ubl.Fields{ubl.Str("code", refusal.Code)}, passkeyFields(p)...),
		Error: &ubl.AtomError{Code: refusal.Code, Message: refusal.Message},
	}, nil)
	t.Read(nil, func(ctx context.Context) (any, error) {
		x.tellOperators(ctx, c.Request,
			fmt.Sprintf("A passkey of %s in %s was refused: it seems to have been copied.", p.Owner.UserID, p.Owner.TenantID))
		return nil, refusal
	})
}

// decideRemovePasskey forgets one of the caller's own, or for an operator anyone's.
func (s *State) decideRemovePasskey(c ubl.RemovePasskey, _ actors.Moment) (*plan, error) {
	p, known := s.Passkeys[c.PasskeyID]
	operator := c.Who.TenantID == s.id() && s.permits(ubl.DidPasskeyRemove, c.Who) == nil
	if !known || p.Owner.person != personOf(c.Who) && !operator {
		return nil, errNoPasskey()
	}
	return passkeyPlan(ubl.DidPasskeyRemove, p), nil
}

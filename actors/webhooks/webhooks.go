package webhooks

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"

	"ubl"
	"ubl/actors"
	"ubl/actors/agreement"
)

// Family registers the Webhooks actors over a reader. Sender reaches other servers; nil reaches none.
func Family(read ubl.Reader, sender Sender) actors.Family {
	kind := kind()
	return actors.Family{
		Name: "webhooks", Kind: kind, Follow: kind.Follow,
		Owns: func(local string) bool { return local == localName },
		Open: func(ctx context.Context, env actors.Env) (actors.Actor, error) {
			return load(ctx, kind, read, sender, env)
		},
		Commands: []ubl.Command{
			ListWebhooks{}, AddWebhook{}, UpdateWebhook{}, RemoveWebhook{}, RotateWebhook{}, TestWebhook{}, ListDeliveries{}, Redeliver{},
		},
		Answers: []any{(*WebhookList)(nil), (*Webhook)(nil), (*Delivery)(nil), (*DeliveryList)(nil)},
		Numbers: runs(), Content: counted(), Offers: offers, Acts: acts,
		Unplaced: true, // people's alone
	}
}

func kind() *actors.Kind[State, event] {
	return &actors.Kind[State, event]{
		Name: "webhooks", Version: eventVersion, Spaces: "WX", Place: place, Index: index, Empty: newState, Apply: (*State).apply,
		Under:    func(s *State, _ ubl.Identity) ubl.AgreementID { return ubl.TenantAgreement(s.Tenant) },
		Stands:   func(s *State, p actors.Proposal) error { return s.stands(p.Who) },
		Pointers: func(s *State) ubl.Fields { return ubl.Fields{ubl.Str("agreement_id", ubl.TenantAgreement(s.Tenant))} },
		Ended:    (*State).ended, Snapshot: snapshots(), Follow: follow(), Decide: (*State).decideEntry,
		Rules: []actors.Rule[State, event]{
			actors.On(didCreate, func(c *adding) []string {
				return []string{Patch{Name: &c.Name, URL: &c.URL, Events: &EntryTypeList{c.Events}, Rooms: &RoomList{c.Rooms}}.Told()}
			}, (*State).decideCreate),
			actors.On(didUpdate, func(c updating) []string { return []string{c.WebhookID, c.Patch.Told()} }, (*State).decideUpdate),
			actors.On(didRemove, func(c removing) []string { return []string{c.WebhookID} }, (*State).decideRemove).Frees(),
			actors.On(didRotate, func(c *rotating) []string { return []string{c.WebhookID} }, (*State).decideRotate),
			actors.On(didTest, func(c TestWebhook) []string { return []string{c.WebhookID} }, (*State).decideTest),
			actors.On(didRedeliver, func(c Redeliver) []string { return []string{c.WebhookID, c.DeliveryID} }, (*State).decideRedeliver),
		},
	}
}

// Webhooks is a tenant's actor.
type Webhooks struct {
	*actors.Entity[State, event]
	sender Sender
	// tried is what came of attempts that are followed by others, by delivery, since the actor was
	// loaded. Owned by the mailbox.
	tried map[string]tried
}

func load(ctx context.Context, kind *actors.Kind[State, event], read ubl.Reader, sender Sender, env actors.Env) (*Webhooks, error) {
	x := &Webhooks{sender: sender, tried: map[string]tried{}}
	var err error
	x.Entity, err = kind.Load(ctx, read, env, actors.Hooks[event]{Outcome: x.outcome, Send: x.send, Applied: x.applied})
	return x, err
}

// applied forgets attempts of what has ended.
func (x *Webhooks) applied(e event, _ *actors.Append) {
	if d := e.Delivery; d != nil && d.State != DeliveryWaiting {
		delete(x.tried, d.DeliveryID)
	}
}

// outcome is what an event is answered with.
func (x *Webhooks) outcome(_ context.Context, e event) (any, error) {
	switch e.Did {
	case didCreate, didUpdate, didRemove, didRotate:
		w := *e.Webhook
		w.Salt = e.Salt
		if len(e.Secrets) > 0 {
			if x.sender == nil {
				return nil, errNoWebhooks()
			}
			var err error
			if w.Secret, err = x.sender.Reveal(x.Name, e.Secrets[0].Sealed); err != nil {
				return nil, err
			}
		}
		return &w, nil
	case didTest, didRedeliver:
		d := *e.Asked
		return &d, nil
	}
	return nil, nil
}

// errNoWebhooks refuses where this server reaches nobody.
func errNoWebhooks() error {
	return ubl.Errorf(ubl.CodeUnavailable, "this server sends no webhooks")
}

// Receive implements [actors.Actor].
func (x *Webhooks) Receive(t *actors.Turn, cmd ubl.Command) {
	switch c := cmd.(type) {
	case ListWebhooks:
		x.list(t, c)
	case ListDeliveries:
		x.deliveries(t, c)
	case wanted:
		t.Reply(x.State.target(c, t.Now()))
	case attempted:
		x.tried[c.delivery] = c.tried
		t.Reply(nil)
	case AddWebhook:
		x.add(t, c)
	case UpdateWebhook:
		x.update(t, c)
	case RemoveWebhook:
		x.remove(t, c)
	case RotateWebhook:
		x.rotate(t, c)
	case TestWebhook, Redeliver:
		if x.sender == nil {
			t.Fail(errNoWebhooks())
			return
		}
		x.Change(t, cmd)
	default:
		if !x.Change(t, cmd) {
			t.Fail(ubl.Errorf(ubl.CodeNotFound, "webhooks don't answer this command"))
		}
	}
}

func (x *Webhooks) list(t *actors.Turn, c ListWebhooks) {
	if err := x.State.stands(c.Who); err != nil {
		t.Fail(err)
		return
	}
	all := []Webhook{}
	for _, h := range x.State.Hooks {
		all = append(all, h.Webhook)
	}
	ctx := t.Context()
	t.Later(func() (any, error) {
		owner, err := x.owns(ctx, c.Who)
		return list(all, c.Who.UserID, owner), err
	})
}

func (x *Webhooks) deliveries(t *actors.Turn, c ListDeliveries) {
	h := x.State.find(c.WebhookID)
	err := x.State.stands(c.Who)
	if err == nil && h == nil {
		err = unknown()
	}
	if err != nil {
		t.Fail(err)
		return
	}
	all := &DeliveryList{Deliveries: append([]Delivery{}, h.Deliveries...)}
	for i, d := range all.Deliveries {
		if last, ok := x.tried[d.DeliveryID]; ok {
			d.Status, d.Attempts, d.Message = last.status, last.tries, last.message
			all.Deliveries[i] = d
		}
	}
	ctx, mine := t.Context(), h.MadeBy == c.Who.UserID
	t.Later(func() (any, error) {
		if mine {
			return all, nil
		}
		owner, err := x.owns(ctx, c.Who)
		if err == nil && !owner {
			err = unknown()
		}
		return all, err
	})
}

// owns reports whether somebody owns the tenant.
func (x *Webhooks) owns(ctx context.Context, who ubl.Identity) (bool, error) {
	m, err := x.member(ctx, who, who.UserID)
	return err == nil && m.Role == ubl.RoleOwner, err
}

// add looks first whether somebody may tell of these rooms.
func (x *Webhooks) add(t *actors.Turn, c AddWebhook) {
	adds := &adding{AddWebhook: c}
	if x.Knows(t, adds) {
		x.Change(t, adds)
		return
	}
	err := x.State.stands(c.Who)
	switch {
	case err != nil:
	case x.sender == nil:
		err = errNoWebhooks()
	default:
		if err = x.sender.Check(c.URL); err == nil {
			adds.sealed, err = x.sender.NewSecret(x.Name)
		}
	}
	if err != nil {
		t.Fail(err)
		return
	}
	ctx := t.Context()
	t.Later(func() (any, error) {
		if err := x.mayTell(ctx, c.Who, c.Rooms); err != nil {
			return nil, err
		}
		return x.Ask.Ask(ctx, x.Name, adds)
	})
}

func (x *Webhooks) update(t *actors.Turn, c UpdateWebhook) {
	if x.Knows(t, updating{c}) {
		x.Change(t, updating{c})
		return
	}
	h, err := x.State.of(c.Who, c.WebhookID)
	if err == nil && c.Patch.URL != nil {
		if x.sender == nil {
			err = errNoWebhooks()
		} else {
			err = x.sender.Check(*c.Patch.URL)
		}
	}
	if err != nil {
		t.Fail(err)
		return
	}
	rooms := h.Rooms
	if c.Patch.Rooms != nil {
		rooms = c.Patch.Rooms.Rooms
	}
	ctx := t.Context()
	t.Later(func() (any, error) {
		if p := c.Patch; p.URL != nil || p.Events != nil || p.Rooms != nil {
			if err := x.mayTell(ctx, c.Who, rooms); err != nil {
				return nil, err
			}
		}
		return x.Ask.Ask(ctx, x.Name, updating{c})
	})
}

func (x *Webhooks) remove(t *actors.Turn, c RemoveWebhook) {
	removes := removing{RemoveWebhook: c}
	h := x.State.find(c.WebhookID)
	if h == nil || h.MadeBy == c.Who.UserID || x.Knows(t, removes) || c.Who.IsService {
		x.Change(t, removes)
		return
	}
	ctx := t.Context()
	t.Later(func() (any, error) {
		owner, err := x.owns(ctx, c.Who)
		if err != nil {
			return nil, err
		}
		removes.owner = owner
		return x.Ask.Ask(ctx, x.Name, removes)
	})
}

func (x *Webhooks) rotate(t *actors.Turn, c RotateWebhook) {
	rotates := &rotating{RotateWebhook: c}
	if !x.Knows(t, rotates) {
		_, err := x.State.of(c.Who, c.WebhookID)
		switch {
		case err != nil:
		case x.sender == nil:
			err = errNoWebhooks()
		default:
			rotates.sealed, err = x.sender.NewSecret(x.Name)
		}
		if err != nil {
			t.Fail(err)
			return
		}
	}
	x.Change(t, rotates)
}

// mayTell refuses who may not have others told of rooms. Of a room its owners may, and owners of the
// tenant who are in it.
func (x *Webhooks) mayTell(ctx context.Context, who ubl.Identity, rooms []ubl.RoomID) error {
	owner, err := x.owns(ctx, who)
	if err != nil {
		return err
	}
	return x.Read.View(ctx, x.Name.Group(), func(snap ubl.Snapshot) error {
		for i, room := range rooms {
			if i == maxRooms { // which the decision refuses
				return nil
			}
			role, err := roleIn(snap, who.UserID, room)
			switch {
			case err != nil:
				return err
			case role == "":
				return wrong("rooms", fmt.Sprintf("has %q, which you aren't in", room))
			case role != ubl.RoleOwner && !owner:
				return ubl.Errorf(ubl.CodeForbidden, "only owners of a room have others told of it")
			}
		}
		return nil
	})
}

// roleIn is somebody's role in a room, "" where they are no member.
func roleIn(snap ubl.Snapshot, user ubl.UserID, room ubl.RoomID) (ubl.Role, error) {
	v, err := snap.Get(agreement.MemberIndex(user, room))
	if err != nil || v == nil {
		return "", err
	}
	var in agreement.RoomIndex
	if err := json.Unmarshal(slices.Clone(v), &in); err != nil {
		return "", ubl.Damaged("the index of a member can't be read")
	}
	return in.Role, nil
}

// wrong refuses a field of what somebody asks for.
func wrong(field, what string) error {
	err := ubl.Errorf(ubl.CodeValidation, "the %s %s", field, what)
	err.Details = map[string]string{field: what}
	return err
}

package webhooks

import (
	"encoding/json"
	"fmt"
	"io"
	"slices"

	"ubl"
	"ubl/actors"
)

// The acts, which are also the ops of their effects.
const (
	didCreate    ubl.Did = "webhook.create"
	didUpdate    ubl.Did = "webhook.update"
	didRemove    ubl.Did = "webhook.remove"
	didRotate    ubl.Did = "webhook.rotate"
	didTest      ubl.Did = "webhook.test"
	didRedeliver ubl.Did = "webhook.redeliver"
	didDeliver   ubl.Did = "webhook.deliver"
	didPause     ubl.Did = "webhook.pause"
	didRemind    ubl.Did = "webhook.remind"
)

// What has been looked at before the decision, where the mailbox may not ask others.
type (
	// adding is of somebody who may, with a secret that was drawn.
	adding struct {
		AddWebhook
		sealed []byte
	}
	// updating is of somebody who may tell of the rooms that they name.
	updating struct{ UpdateWebhook }
	// removing is by somebody who owns the tenant, if owner says so.
	removing struct {
		RemoveWebhook
		owner bool
	}
	// rotating comes with the secret that was drawn.
	rotating struct {
		RotateWebhook
		sealed []byte
	}
)

// stands lets people act, and the platform put on record what follows.
func (s *State) stands(who ubl.Identity) error {
	if !who.IsPlatform() && (who.IsService || who.TenantID != s.Tenant) {
		return ubl.Errorf(ubl.CodeForbidden, "webhooks are made by people of the organisation, for themselves")
	}
	return nil
}

// about is an act on a webhook: the ledger says on which, and no more.
func (s *State) about(did ubl.Did, id string, e event) *plan {
	hook := ubl.Str("webhook_id", id)
	return &plan{
		Act:   actors.Act{Did: did, This: ubl.Fields{hook}, Effects: []ubl.Fields{{ubl.Str("op", did), hook}}},
		Event: e,
	}
}

// setting is an act on what a maker sets, with a commitment to it.
func (s *State) setting(did ubl.Did, w Webhook, e event, at actors.Moment) (*plan, error) {
	salt, err := ubl.NewSalt(at.Random)
	if err != nil {
		return nil, err
	}
	w.Salt, w.Secret = ubl.Salt{}, ""
	content, err := json.Marshal(w)
	if err != nil {
		return nil, fmt.Errorf("couldn't encode a webhook: %w", err)
	}
	if content, err = ubl.Canonical(content); err != nil {
		return nil, err
	}
	e.Salt, e.Webhook = salt, &w
	p := s.about(did, w.WebhookID, e)
	p.This = append(ubl.Fields{ubl.Str("content_hash", salt.Commit(content))}, p.This...)
	return p, nil
}

// of is the caller's webhook.
func (s *State) of(who ubl.Identity, id string) (*hook, error) {
	if err := s.stands(who); err != nil {
		return nil, err
	}
	h := s.find(id)
	switch {
	case h == nil:
		return nil, unknown()
	case h.MadeBy != who.UserID:
		return nil, ubl.Errorf(ubl.CodeForbidden, "the webhook is somebody else's")
	}
	return h, nil
}

func unknown() error { return ubl.Errorf(ubl.CodeNotFound, "there is no such webhook") }

func draw(at actors.Moment, prefix string) (string, error) {
	var id [10]byte
	if _, err := io.ReadFull(at.Random, id[:]); err != nil {
		return "", fmt.Errorf("couldn't draw an id: %w", err)
	}
	return fmt.Sprintf("%s%x", prefix, id), nil
}

func (s *State) decideCreate(c *adding, at actors.Moment) (*plan, error) {
	if len(s.Hooks) >= maxHooks {
		return nil, ubl.Errorf(ubl.CodeConflict, "the organisation has %d webhooks: remove one first", maxHooks)
	}
	mine := 0
	for _, h := range s.Hooks {
		if h.MadeBy == c.Who.UserID {
			mine++
		}
	}
	if mine >= maxOfOne {
		return nil, ubl.Errorf(ubl.CodeConflict, "you have %d webhooks: remove one first", mine)
	}
	id, err := draw(at, "wh:")
	if err != nil {
		return nil, err
	}
	w := Webhook{
		WebhookID: id, Name: c.Name, URL: c.URL, Events: slices.Clone(c.Events), Rooms: slices.Clone(c.Rooms), MadeBy: c.Who.UserID, MadeAt: at.Now,
	}
	if len(w.Events) == 0 {
		w.Events = []ubl.EntryType{ubl.EntryMessage}
	}
	if err := w.Check(); err != nil {
		return nil, err
	}
	return s.setting(didCreate, w, event{Secrets: []secret{{Sealed: c.sealed}}}, at)
}

func (s *State) decideUpdate(c updating, at actors.Moment) (*plan, error) {
	h, err := s.of(c.Who, c.WebhookID)
	if err != nil {
		return nil, err
	}
	w, err := h.shown().Apply(c.Patch, at.Now)
	if err != nil {
		return nil, err
	}
	return s.setting(didUpdate, w, event{}, at)
}

func (s *State) decideRemove(c removing, at actors.Moment) (*plan, error) {
	h := s.find(c.WebhookID)
	switch {
	case h == nil:
		return nil, unknown()
	case !c.owner:
		if _, err := s.of(c.Who, c.WebhookID); err != nil {
			return nil, err
		}
	}
	return s.setting(didRemove, h.shown(), event{Gone: true}, at)
}

func (s *State) decideRotate(c *rotating, at actors.Moment) (*plan, error) {
	h, err := s.of(c.Who, c.WebhookID)
	if err != nil {
		return nil, err
	}
	w, until := h.shown(), at.Now.Add(secretOverlap)
	w.OldSecretUntil = until
	// One before the last ends at once: whoever rotates twice wants to be rid of it.
	secrets := []secret{{Sealed: c.sealed}, {Sealed: h.Secrets[0].Sealed, Until: until}}
	return s.setting(didRotate, w, event{Secrets: secrets}, at)
}

func (s *State) decideTest(c TestWebhook, at actors.Moment) (*plan, error) {
	h, err := s.of(c.Who, c.WebhookID)
	if err != nil {
		return nil, err
	}
	id, err := draw(at, "msg_")
	if err != nil {
		return nil, err
	}
	return s.sending(didTest, h, Delivery{DeliveryID: id, Event: EventTest}, at)
}

func (s *State) decideRedeliver(c Redeliver, at actors.Moment) (*plan, error) {
	h, err := s.of(c.Who, c.WebhookID)
	if err != nil {
		return nil, err
	}
	i := slices.IndexFunc(h.Deliveries, func(d Delivery) bool { return d.DeliveryID == c.DeliveryID })
	switch {
	case i < 0:
		return nil, ubl.Errorf(ubl.CodeNotFound, "there is no such delivery among the newest")
	case h.Deliveries[i].State == DeliveryWaiting:
		return nil, ubl.Errorf(ubl.CodeConflict, "the delivery is being sent")
	case h.Paused != nil:
		return nil, ubl.Errorf(ubl.CodeConflict, "the webhook is paused: have it tell again first")
	}
	d := h.Deliveries[i]
	return s.sending(didRedeliver, h, Delivery{
		DeliveryID: d.DeliveryID, Event: d.Event, RoomID: d.RoomID, RoomSeq: d.RoomSeq, MsgID: d.MsgID,
	}, at)
}

// sending is an act of the maker's that a delivery follows from.
func (s *State) sending(did ubl.Did, h *hook, d Delivery, at actors.Moment) (*plan, error) {
	if h.Waiting >= maxWaiting {
		return nil, ubl.Errorf(ubl.CodeConflict, "%d deliveries wait: wait, too", h.Waiting)
	}
	next, err := s.delivering(h, d, at)
	if err != nil {
		return nil, err
	}
	p := s.about(did, h.WebhookID, event{Of: h.WebhookID})
	p.Also = next
	answer := d
	answer.State, answer.At = DeliveryWaiting, at.Now
	p.Event.Asked = &answer
	return p, nil
}

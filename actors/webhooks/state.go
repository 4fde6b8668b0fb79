package webhooks

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"

	"ubl"
	"ubl/actors"
)

// State is what follows from a tenant's events. Hooks are in the order of their ids.
type State struct {
	Tenant ubl.TenantID
	Hooks  []hook
}

// hook is a webhook with what its list doesn't show.
type hook struct {
	Webhook
	Since      ubl.Time   `json:"since,omitzero"`       // when it was to tell again, after a pause
	Secrets    []secret   `json:"secrets"`              // the newest first
	Deliveries []Delivery `json:"deliveries,omitempty"` // the newest first
}

// secret is a key that signs, sealed by the node, until a time where it was replaced.
type secret struct {
	Sealed []byte   `json:"sealed"`
	Until  ubl.Time `json:"until,omitzero"`
}

// eventVersion of the stored form.
const eventVersion = 1

// event is stored under W tail|webhooks 0 n. Each member is what it changes, as it is afterwards.
type event struct {
	actors.Stamp
	Salt ubl.Salt `json:"salt,omitzero"` // of the act's commitment, if it has one
	// Webhook is what a maker sets, without what became of deliveries.
	Webhook *Webhook `json:"webhook,omitempty"`
	Secrets []secret `json:"secrets,omitempty"` // all, where they have changed
	Gone    bool     `json:"gone,omitempty"`
	// Delivery is of the webhook Of; Asked is one that the maker has sent, as it was then.
	Of       string    `json:"of,omitempty"`
	Delivery *Delivery `json:"delivery,omitempty"`
	Asked    *Delivery `json:"asked,omitempty"`
}

type plan = actors.Plan[event]

func newState(of ubl.Name) State { return State{Tenant: of.Group().Tenant} }

func (s *State) find(id string) *hook {
	i, found := slices.BinarySearchFunc(s.Hooks, id, func(h hook, id string) int { return cmp.Compare(h.WebhookID, id) })
	if !found {
		return nil
	}
	return &s.Hooks[i]
}

// put puts h where its id belongs, in the place of another of that id.
func (s *State) put(h hook) {
	i, found := slices.BinarySearchFunc(s.Hooks, h.WebhookID, func(h hook, id string) int { return cmp.Compare(h.WebhookID, id) })
	s.Hooks = slices.Clone(s.Hooks)
	if found {
		s.Hooks[i] = h
		return
	}
	s.Hooks = slices.Insert(s.Hooks, i, h)
}

// apply is the only way in which events change the state.
func (s *State) apply(e event) {
	switch w := e.Webhook; {
	case w != nil && e.Gone:
		s.Hooks = slices.DeleteFunc(slices.Clone(s.Hooks), func(h hook) bool { return h.WebhookID == w.WebhookID })
	case w != nil:
		s.set(*w, e.Secrets, e.At)
	}
	if h := s.find(e.Of); h != nil && e.Delivery != nil {
		s.put(h.with(*e.Delivery))
	}
}

// set takes over what a maker sets. A webhook that tells again begins without failures, and with
// what happens from then on.
func (s *State) set(w Webhook, secrets []secret, at ubl.Time) {
	next := hook{Webhook: w, Secrets: secrets}
	if was := s.find(w.WebhookID); was != nil {
		next.Last, next.Waiting, next.Deliveries, next.Since = was.Last, was.Waiting, was.Deliveries, was.Since
		if was.Paused != nil && w.Paused == nil {
			next.Since = at
		}
		if was.Paused == nil || w.Paused != nil {
			next.FailingSince, next.Failures = was.FailingSince, was.Failures
		}
		if secrets == nil {
			next.Secrets = was.Secrets
		}
	}
	s.put(next)
}

// with is the webhook with another state of a delivery.
func (h *hook) with(d Delivery) hook {
	next := *h
	i := slices.IndexFunc(h.Deliveries, func(x Delivery) bool { return x.DeliveryID == d.DeliveryID })
	switch {
	case i >= 0 && d.State != DeliveryWaiting:
		next.Deliveries = slices.Clone(h.Deliveries)
		next.Deliveries[i] = d
	case d.State == DeliveryWaiting:
		rest := h.Deliveries
		if i >= 0 { // it is sent again
			rest = slices.Delete(slices.Clone(rest), i, i+1)
		}
		next.Deliveries = append([]Delivery{d}, rest[:min(len(rest), maxDeliveries-1)]...)
	}
	switch d.State {
	case DeliveryWaiting:
		next.Waiting++
		return next
	case DeliveryDelivered:
		next.Failures, next.FailingSince = 0, 0
	case DeliveryFailed:
		if d.Attempts == 0 || d.Event == EventTest {
			break // this house's own fault, or nobody misses it
		}
		next.Failures, next.FailingSince = h.Failures+1, cmp.Or(h.FailingSince, d.At)
	}
	next.Waiting--
	next.Last = &d
	return next
}

// shown is a webhook without what became of deliveries: what its maker has set.
func (h *hook) shown() Webhook {
	w := h.Webhook
	w.Last, w.FailingSince, w.Failures, w.Waiting = nil, 0, 0, 0
	return w
}

// signing are the secrets that sign at a time.
func (h *hook) signing(now ubl.Time) (sealed [][]byte) {
	for _, s := range h.Secrets {
		if s.Until == 0 || now < s.Until {
			sealed = append(sealed, s.Sealed)
		}
	}
	return sealed
}

// snapshotVersion of the stored form of a State, which is JSON of the whole.
const snapshotVersion = 1

func snapshots() *actors.Snapshots[State] {
	return &actors.Snapshots[State]{
		Version: snapshotVersion, Encode: (*State).encode,
		Decode: func(b []byte) (s State, err error) { return s, json.Unmarshal(b, &s) },
		Size: func(s *State) int {
			n := len(s.Hooks)
			for _, h := range s.Hooks {
				n += len(h.Deliveries)
			}
			return n
		},
	}
}

func (s *State) encode() []byte {
	b, err := json.Marshal(s)
	if err != nil { // texts, numbers and times
		panic(fmt.Sprintf("webhooks: couldn't encode a snapshot: %v", err))
	}
	return b
}

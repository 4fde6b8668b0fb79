package webhooks

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"time"
	"unicode/utf8"

	"ubl"
	"ubl/webhook"
)

// localName is the local name of a tenant's Webhooks actor, which follows its ledger.
const localName = "tail|webhooks"

// ActorName addresses a tenant's Webhooks actor.
func ActorName(t ubl.TenantID) ubl.Name { return ubl.Name(string(t) + "|" + localName) }

// Limits of a tenant's webhooks.
const (
	maxHooks      = 50
	maxOfOne      = 20 // of one maker, so that others have room
	maxRooms      = 50
	maxName       = 100
	maxWaiting    = 1000 // deliveries of one; it is paused with more
	maxDeliveries = 50   // that are listed of one: the newest
	// secretOverlap is how long the secret before a rotation signs, too.
	secretOverlap = 24 * time.Hour
)

// Webhook is one, as its maker and the tenant's owners see it.
type Webhook struct {
	WebhookID string `json:"webhook_id"`
	Name      string `json:"name"`
	URL       string `json:"url"`
	// Events are the types of entries that it tells of.
	Events []ubl.EntryType `json:"events"`
	// Rooms are what it tells of.
	Rooms  []ubl.RoomID `json:"rooms"`
	MadeBy ubl.UserID   `json:"made_by"`
	MadeAt ubl.Time     `json:"made_at"`
	// Paused is why it tells nothing now; nil while it does.
	Paused *Pause `json:"paused,omitempty"`
	// OldSecretUntil is until when the secret before the newest signs, too; 0 where there is none.
	OldSecretUntil ubl.Time `json:"old_secret_until,omitzero"`
	// Last is the newest delivery that has ended, FailingSince when the first of those began that
	// have failed in a row, of which there are Failures, and Waiting how many haven't ended.
	Last         *Delivery `json:"last,omitempty"`
	FailingSince ubl.Time  `json:"failing_since,omitzero"`
	Failures     int64     `json:"failures,omitempty"`
	Waiting      int64     `json:"waiting,omitempty"`
	// Secret is the key that signs. Only the answers to making it and to its rotation have it.
	Secret string `json:"secret,omitempty"`
	// Salt opens the commitment of the act that is answered. Lists leave it out.
	Salt ubl.Salt `json:"salt,omitzero"`
}

// Pause says why a webhook tells nothing, and since when.
type Pause struct {
	At     ubl.Time `json:"at"`
	Reason string   `json:"reason"` // one of the words below
}

// Why a webhook is paused.
const (
	PausedByMaker   = "maker"    // its maker wants that
	PausedByFailing = "failing"  // for days every delivery has failed
	PausedByBacklog = "backlog"  // too many deliveries wait
	PausedByGone    = "gone"     // the other server has answered 410: it wants none
	PausedByLeaving = "no_maker" // its maker is no member of the tenant any more
	PausedByRights  = "rights"   // its maker may not have others told of one of its rooms any more
)

// WebhookList are webhooks, by id.
type WebhookList struct {
	Webhooks []Webhook `json:"webhooks"`
}

// DeliveryState says how far a delivery is.
type DeliveryState string

// States of deliveries.
const (
	DeliveryWaiting   DeliveryState = "waiting"
	DeliveryDelivered DeliveryState = "delivered" // the other server has answered 2xx
	DeliveryFailed    DeliveryState = "failed"
	DeliverySkipped   DeliveryState = "skipped" // nothing was left to tell, or not to the maker
)

// EventTest is of a delivery that only tries a webhook.
const EventTest ubl.EntryType = "test"

// Delivery is one event of one webhook.
type Delivery struct {
	// DeliveryID is the header webhook-id, the same however often it is sent.
	DeliveryID string        `json:"delivery_id"`
	Event      ubl.EntryType `json:"event"` // of entries, or [EventTest]
	RoomID     ubl.RoomID    `json:"room_id,omitempty"`
	RoomSeq    int64         `json:"room_seq,omitempty"`
	MsgID      ubl.MessageID `json:"msg_id,omitempty"`
	State      DeliveryState `json:"state"`
	At         ubl.Time      `json:"at"` // when it was intended last
	EndedAt    ubl.Time      `json:"ended_at,omitzero"`
	// Status is what the other server answered, 0 where it didn't. Of a waiting one it is that of
	// the newest attempt, as far as the node that leads the tenant knows.
	Status   int    `json:"status,omitempty"`
	Attempts int    `json:"attempts,omitempty"`
	Message  string `json:"message,omitempty"` // why it failed or was skipped
}

// DeliveryList are the newest deliveries of a webhook, the newest first.
type DeliveryList struct {
	Deliveries []Delivery `json:"deliveries"`
}

// Patch changes the members that are set.
type Patch struct {
	Name   *string
	URL    *string
	Events *EntryTypeList
	Rooms  *RoomList
	Paused *bool
}

// EntryTypeList is a list to put in the place of another one.
type EntryTypeList struct{ Types []ubl.EntryType }

// RoomList is a list to put in the place of another one.
type RoomList struct{ Rooms []ubl.RoomID }

// Commands of the Webhooks family. People only, no services.
type (
	// ListWebhooks lists the caller's, and all of the tenant's to its owners. Answers *WebhookList.
	ListWebhooks struct{ Who ubl.Identity }
	// AddWebhook makes one. Owners of all of its rooms, or of the tenant where they are members of
	// these. Answers *Webhook, with its secret.
	AddWebhook struct {
		ubl.Request
		Name   string
		URL    string
		Events []ubl.EntryType // none is messages
		Rooms  []ubl.RoomID
	}
	// UpdateWebhook changes one. Its maker. Answers *Webhook.
	UpdateWebhook struct {
		ubl.Request
		WebhookID string
		Patch     Patch
	}
	// RemoveWebhook ends one. Its maker, and owners of the tenant. Answers *Webhook.
	RemoveWebhook struct {
		ubl.Request
		WebhookID string
	}
	// RotateWebhook gives it another secret; the one before signs for [secretOverlap]. Its maker.
	// Answers *Webhook, with its secret.
	RotateWebhook struct {
		ubl.Request
		WebhookID string
	}
	// TestWebhook sends an event that tells of nothing. Its maker. Answers *Delivery.
	TestWebhook struct {
		ubl.Request
		WebhookID string
	}
	// ListDeliveries lists the newest. Its maker, and owners of the tenant. Answers *DeliveryList.
	ListDeliveries struct {
		Who       ubl.Identity
		WebhookID string
	}
	// Redeliver sends one that has ended again, under the same id. Its maker. Answers *Delivery.
	Redeliver struct {
		ubl.Request
		WebhookID  string
		DeliveryID string
	}
)

// Cost is 0: it reads.
func (ListWebhooks) Cost() int { return 0 }

// Cost is one act.
func (AddWebhook) Cost() int { return 4 * ubl.ActCost }

// Cost is one act.
func (UpdateWebhook) Cost() int { return 4 * ubl.ActCost }

// Cost is one act.
func (RemoveWebhook) Cost() int { return 2 * ubl.ActCost }

// Cost is one act.
func (RotateWebhook) Cost() int { return 4 * ubl.ActCost }

// Cost is an act, and the delivery's two.
func (TestWebhook) Cost() int { return 3 * ubl.ActCost }

// Cost is 0: it reads.
func (ListDeliveries) Cost() int { return 0 }

// Cost is an act, and the delivery's two.
func (Redeliver) Cost() int { return 3 * ubl.ActCost }

// Sender reaches the servers that webhooks tell. Safe for concurrent use.
type Sender interface {
	// NewSecret draws a secret, as Standard Webhooks writes it, and seals it for the actor of.
	NewSecret(of ubl.Name) (sealed []byte, err error)
	// Reveal opens one.
	Reveal(of ubl.Name, sealed []byte) (string, error)
	// Check refuses an address that nothing is ever sent to.
	Check(url string) error
	// Deliver posts a message, signed with each of the secrets, and answers the status that the other
	// server gave. Unavailable, overloaded and rate_limited say that there was none.
	Deliver(ctx context.Context, of ubl.Name, url string, sealed [][]byte, m webhook.Message) (status int, err error)
}

// Check refuses what a webhook can't be.
func (w *Webhook) Check() error {
	switch {
	case w.Name == "" || utf8.RuneCountInString(w.Name) > maxName || ubl.CheckTitle(w.Name) != nil:
		return wrong("name", "is empty, too long, or not a line of text")
	case len(w.Events) == 0:
		return wrong("events", "are none")
	case len(w.Rooms) == 0 || len(w.Rooms) > maxRooms:
		return wrong("rooms", fmt.Sprintf("are none, or more than %d", maxRooms))
	}
	for i, e := range w.Events {
		if !slices.Contains(types(), e) || slices.Contains(w.Events[:i], e) {
			return wrong("events", fmt.Sprintf("has one twice, or one that isn't of these: %q", types()))
		}
	}
	for i, r := range w.Rooms {
		if !r.Valid() || slices.Contains(w.Rooms[:i], r) {
			return wrong("rooms", "has one twice, or one that isn't a room's id")
		}
		if r.IsDirect() {
			return wrong("rooms", "has direct messages: no webhook tells of them")
		}
	}
	return nil
}

// Told tells one patch from another.
func (p Patch) Told() string {
	told, _ := json.Marshal(p) // texts and lists of them
	return string(told)
}

// Apply is the webhook with a patch's members, or what is wrong with one. A webhook that is to tell
// again has no failures.
func (w Webhook) Apply(p Patch, now ubl.Time) (Webhook, error) {
	if p.Name != nil {
		w.Name = *p.Name
	}
	if p.URL != nil {
		w.URL = *p.URL
	}
	if p.Events != nil {
		w.Events = slices.Clone(p.Events.Types)
	}
	if p.Rooms != nil {
		w.Rooms = slices.Clone(p.Rooms.Rooms)
	}
	if p.Paused != nil && *p.Paused != (w.Paused != nil) {
		w.Paused = nil
		if *p.Paused {
			w.Paused = &Pause{now, PausedByMaker}
		}
	}
	return w, w.Check()
}

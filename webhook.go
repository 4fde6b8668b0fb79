package ubl

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode/utf8"
)

// A webhook has another server told of what happens in rooms, signed as Standard Webhooks says
// (standardwebhooks.com). DESIGN.md ("Webhooks") has the way.

// WebhooksLocal is the local name of a tenant's Webhooks actor, which follows its ledger.
const WebhooksLocal = "tail|webhooks"

// WebhooksName addresses a tenant's Webhooks actor.
func WebhooksName(t TenantID) Name { return Name(string(t) + "|" + WebhooksLocal) }

// Limits of a tenant's webhooks.
const (
	MaxWebhooks       = 50
	MaxWebhookRooms   = 50
	MaxWebhookName    = 100
	MaxWebhookURL     = 2048
	MaxWebhookWaiting = 1000 // deliveries of one; it is paused with more
	MaxDeliveries     = 50   // that are listed of one: the newest
	// WebhookOverlap is how long the secret before a rotation signs, too.
	WebhookOverlap = 24 * time.Hour
)

// Webhook is one, as its maker and the tenant's owners see it.
type Webhook struct {
	WebhookID string `json:"webhook_id"`
	Name      string `json:"name"`
	URL       string `json:"url"`
	// Events are the types of entries that it tells of.
	Events []EntryType `json:"events"`
	// Rooms are those of which it tells; none is every room that its maker is in, but for direct
	// messages, of which no webhook tells.
	Rooms  []RoomID `json:"rooms,omitempty"`
	MadeBy UserID   `json:"made_by"`
	MadeAt Time     `json:"made_at"`
	// Paused is why it tells nothing now; nil while it does.
	Paused *WebhookPause `json:"paused,omitempty"`
	// OldSecretUntil is until when the secret before the newest signs, too; 0 where there is none.
	OldSecretUntil Time `json:"old_secret_until,omitzero"`
	// Last is the newest delivery that has ended, FailingSince when the first of those began that
	// have failed in a row, of which there are Failures, and Waiting how many haven't ended.
	Last         *WebhookDelivery `json:"last,omitempty"`
	FailingSince Time             `json:"failing_since,omitzero"`
	Failures     int64            `json:"failures,omitempty"`
	Waiting      int64            `json:"waiting,omitempty"`
	// Secret is the key that signs. Only the answers to making it and to its rotation have it.
	Secret string `json:"secret,omitempty"`
	// Salt opens the commitment of the act that is answered. Lists leave it out.
	Salt Salt `json:"salt,omitzero"`
}

// WebhookPause says why a webhook tells nothing, and since when.
type WebhookPause struct {
	At     Time   `json:"at"`
	Reason string `json:"reason"` // one of the words below
}

// Why a webhook is paused.
const (
	PausedByMaker   = "maker"    // its maker wants that
	PausedByFailing = "failing"  // for days every delivery has failed
	PausedByBacklog = "backlog"  // too many deliveries wait
	PausedByGone    = "gone"     // the other server has answered 410: it wants none
	PausedByLeaving = "no_maker" // its maker is no member of the tenant any more
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
const EventTest EntryType = "test"

// WebhookDelivery is one event of one webhook.
type WebhookDelivery struct {
	// DeliveryID is the header webhook-id, the same however often it is sent.
	DeliveryID string        `json:"delivery_id"`
	Event      EntryType     `json:"event"` // of entries, or [EventTest]
	RoomID     RoomID        `json:"room_id,omitempty"`
	RoomSeq    int64         `json:"room_seq,omitempty"`
	MsgID      MessageID     `json:"msg_id,omitempty"`
	State      DeliveryState `json:"state"`
	At         Time          `json:"at"` // when it was intended last
	EndedAt    Time          `json:"ended_at,omitzero"`
	// Status is what the other server answered, 0 where it didn't. Of a waiting one it is that of
	// the newest attempt, as far as the node that leads the tenant knows.
	Status   int    `json:"status,omitempty"`
	Attempts int    `json:"attempts,omitempty"`
	Message  string `json:"message,omitempty"` // why it failed or was skipped
}

// DeliveryList are the newest deliveries of a webhook, the newest first.
type DeliveryList struct {
	Deliveries []WebhookDelivery `json:"deliveries"`
}

// WebhookPatch changes the members that are set.
type WebhookPatch struct {
	Name   *string
	URL    *string
	Events *EntryTypeList
	Rooms  *RoomList
	Paused *bool
}

// EntryTypeList is a list to put in the place of another one.
type EntryTypeList struct{ Types []EntryType }

// RoomList is a list to put in the place of another one.
type RoomList struct{ Rooms []RoomID }

// Commands of the Webhooks family. People only, no services.
type (
	// ListWebhooks lists the caller's, and all of the tenant's to its owners. Answers *WebhookList.
	ListWebhooks struct{ Who Identity }
	// AddWebhook makes one. Owners of all of its rooms, or of the tenant where they are members of
	// these. Answers *Webhook, with its secret.
	AddWebhook struct {
		Request
		Name   string
		URL    string
		Events []EntryType // none is messages
		Rooms  []RoomID
	}
	// UpdateWebhook changes one. Its maker. Answers *Webhook.
	UpdateWebhook struct {
		Request
		WebhookID string
		Patch     WebhookPatch
	}
	// RemoveWebhook ends one. Its maker, and owners of the tenant. Answers *Webhook.
	RemoveWebhook struct {
		Request
		WebhookID string
	}
	// RotateWebhook gives it another secret; the one before signs for [WebhookOverlap]. Its maker.
	// Answers *Webhook, with its secret.
	RotateWebhook struct {
		Request
		WebhookID string
	}
	// TestWebhook sends an event that tells of nothing. Its maker. Answers *WebhookDelivery.
	TestWebhook struct {
		Request
		WebhookID string
	}
	// ListDeliveries lists the newest. Its maker, and owners of the tenant. Answers *DeliveryList.
	ListDeliveries struct {
		Who       Identity
		WebhookID string
	}
	// Redeliver sends one that has ended again, under the same id. Its maker. Answers *WebhookDelivery.
	Redeliver struct {
		Request
		WebhookID  string
		DeliveryID string
	}
)

// Cost is 0: it reads.
func (ListWebhooks) Cost() int { return 0 }

// Cost is one act.
func (AddWebhook) Cost() int { return 4 * writeCost }

// Cost is one act.
func (UpdateWebhook) Cost() int { return 4 * writeCost }

// Cost is one act.
func (RemoveWebhook) Cost() int { return 2 * writeCost }

// Cost is one act.
func (RotateWebhook) Cost() int { return 4 * writeCost }

// Cost is an act, and the delivery's two.
func (TestWebhook) Cost() int { return 3 * writeCost }

// Cost is 0: it reads.
func (ListDeliveries) Cost() int { return 0 }

// Cost is an act, and the delivery's two.
func (Redeliver) Cost() int { return 3 * writeCost }

// WebhookSender reaches the servers that webhooks tell. Safe for concurrent use.
type WebhookSender interface {
	// NewSecret draws a secret, as Standard Webhooks writes it, and seals it for the actor of.
	NewSecret(of Name) (sealed []byte, err error)
	// Reveal opens one.
	Reveal(of Name, sealed []byte) (string, error)
	// Check refuses an address that nothing is ever sent to.
	Check(url string) error
	// Deliver posts a message, signed with each of the secrets, and answers the status that the other
	// server gave. Unavailable, overloaded and rate_limited say that there was none.
	Deliver(ctx context.Context, of Name, url string, sealed [][]byte, m WebhookMessage) (status int, err error)
}

// WebhookMessage is what is posted: at every attempt with the same id.
type WebhookMessage struct {
	ID   string
	At   time.Time // of the attempt
	Body []byte    // JSON
}

// Check refuses what a webhook can't be.
func (w *Webhook) Check() error {
	switch {
	case w.Name == "" || utf8.RuneCountInString(w.Name) > MaxWebhookName || !utf8.ValidString(w.Name) || !seen(w.Name) || strings.ContainsAny(w.Name, "\r\n\t"):
		return wrong("name", "is empty, too long, or not a line of text")
	case len(w.Events) == 0:
		return wrong("events", "are none")
	case len(w.Rooms) > MaxWebhookRooms:
		return wrong("rooms", "are too many: name none for every room that you are in")
	}
	for i, e := range w.Events {
		if !slices.Contains(EntryTypes(), e) || slices.Contains(w.Events[:i], e) {
			return wrong("events", "has one twice, or one that isn't a type of entries")
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
func (p WebhookPatch) Told() []string {
	told := []string{patchText("name", p.Name), patchText("url", p.URL), patchText("paused", p.Paused), "", ""}
	if p.Events != nil {
		told[3] = fmt.Sprintf("events=%q", p.Events.Types)
	}
	if p.Rooms != nil {
		told[4] = fmt.Sprintf("rooms=%q", p.Rooms.Rooms)
	}
	return told
}

// Apply is the webhook with a patch's members, or what is wrong with one. A webhook that is to tell
// again has no failures.
func (w Webhook) Apply(p WebhookPatch, now Time) (Webhook, error) {
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
			w.Paused = &WebhookPause{now, PausedByMaker}
		}
	}
	return w, w.Check()
}

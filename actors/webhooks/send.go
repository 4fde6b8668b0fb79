package webhooks

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"

	"ubl"
	"ubl/actors"
	"ubl/webhook"
)

// Payload is the body of a post, in the form that Standard Webhooks recommends.
type Payload struct {
	Type      string   `json:"type"` // "webhook.test", or "entry." and the type of the entry
	Timestamp ubl.Time `json:"timestamp"`
	Data      Data     `json:"data"`
}

// Data says what has happened.
type Data struct {
	WebhookID  string       `json:"webhook_id"`
	TenantID   ubl.TenantID `json:"tenant_id"`
	RoomID     ubl.RoomID   `json:"room_id,omitempty"`
	RoomName   string       `json:"room_name,omitempty"`
	RoomSeq    int64        `json:"room_seq,omitempty"`
	AuthorName string       `json:"author_name,omitempty"`
	// AuthorUnproven says that they came by a link, and nobody has proven their address.
	AuthorUnproven bool `json:"author_unproven,omitempty"`
	// Entry is the entry as the maker of the webhook reads it now (ubl.entry.v2). One that is too
	// large is left out, and Truncated says so.
	Entry     json.RawMessage `json:"entry,omitempty"`
	Truncated bool            `json:"truncated,omitempty"`
}

// maxBody bounds a post.
const maxBody = 64 << 10

// wanted asks what is to be sent, as it is by now. Only [Webhooks.send] asks it. Answers target.
type wanted struct{ job }

// Cost is 0: it reads.
func (wanted) Cost() int { return 0 }

// target is a webhook, if it is there still.
type target struct {
	hook  Webhook
	sign  [][]byte
	found bool
	held  string // why nothing is to be sent; "" where it is
}

func (s *State) target(c wanted, now ubl.Time) target {
	h := s.find(c.Webhook)
	if h == nil {
		return target{held: "the webhook was removed"}
	}
	t := target{hook: h.Webhook, sign: h.signing(now), found: true}
	switch p := h.Paused; {
	case c.Delivery.Event == EventTest:
	case p != nil && p.Reason != PausedByBacklog:
		t.held = "the webhook is paused"
	case c.Delivery.At < h.Since:
		t.held = "the webhook was paused meanwhile"
	}
	return t
}

// attempted tells of an attempt that will be followed by another one. It is kept in memory alone.
type attempted struct {
	delivery string
	tried
}

type tried struct {
	status, tries int
	message       string
}

// Cost is 0: it writes nothing.
func (attempted) Cost() int { return 0 }

// send makes an attempt of a delivery, or reminds the maker.
func (x *Webhooks) send(ctx context.Context, a actors.Attempt) (json.RawMessage, error) {
	var j job
	if err := json.Unmarshal(a.Content, &j); err != nil || j.Form > jobVersion {
		return nil, ubl.Errorf(ubl.CodeUnavailable, "a delivery is of a version that this program doesn't know")
	}
	to, err := ubl.Ask[target](ctx, x.Ask, x.Name, wanted{j})
	if err != nil {
		return nil, err
	}
	if j.What == jobRemind {
		if !to.found {
			return json.RawMessage(`{}`), nil
		}
		return json.RawMessage(`{}`), x.remind(ctx, a, j, to.hook)
	}
	r, err := x.deliver(ctx, j, to)
	if err != nil {
		return nil, err
	}
	r.Tries = a.Failed + 1
	again := r.State == DeliveryFailed && r.Status != http.StatusGone && j.Delivery.Event != EventTest
	if again && a.Failed < lastTry {
		_, err := x.Ask.Ask(ctx, x.Name, attempted{j.Delivery.DeliveryID, tried{r.Status, r.Tries, r.Message}})
		if err != nil {
			x.Log.Warn("couldn't note an attempt of a webhook", "error", err)
		}
		return nil, ubl.Errorf(ubl.CodeUnavailable, "%s", r.Message)
	}
	return json.Marshal(r)
}

// deliver posts what there is to tell. Its error is one of this house's: nothing was posted.
func (x *Webhooks) deliver(ctx context.Context, j job, to target) (result, error) {
	skipped := func(why string) (result, error) { return result{State: DeliverySkipped, Message: why}, nil }
	if to.held != "" {
		return skipped(to.held)
	}
	if x.sender == nil {
		return result{}, errNoWebhooks()
	}
	p := Payload{Type: "webhook.test", Timestamp: j.Delivery.At, Data: Data{WebhookID: j.Webhook, TenantID: x.Name.Group().Tenant}}
	who := ubl.Identity{UserID: to.hook.MadeBy, TenantID: p.Data.TenantID}
	switch _, err := x.member(ctx, who, who.UserID); ubl.CodeOf(err) {
	case "":
	case ubl.CodeNotFound, ubl.CodeForbidden, ubl.CodeNotAMember:
		return result{State: DeliverySkipped, Pause: PausedByLeaving, Message: "its maker is no member any more"}, nil
	default:
		return result{}, err
	}
	if j.Delivery.Event != EventTest {
		switch err := x.mayTell(ctx, who, []ubl.RoomID{j.Delivery.RoomID}); ubl.CodeOf(err) {
		case "":
		case ubl.CodeForbidden, ubl.CodeValidation:
			return result{State: DeliverySkipped, Pause: PausedByRights, Message: "its maker may not have others told of the room any more"}, nil
		default:
			return result{}, err
		}
		if why, err := x.fill(ctx, &p, who, j.Delivery); why != "" || err != nil {
			r, _ := skipped(why)
			return r, err
		}
	}
	body, err := json.Marshal(p)
	if err == nil && len(body) > maxBody {
		p.Data.Entry, p.Data.Truncated = nil, true
		body, err = json.Marshal(p)
	}
	if err != nil {
		return result{}, err
	}
	status, err := x.sender.Deliver(ctx, x.Name, to.hook.URL, to.sign, webhook.Message{ID: j.Delivery.DeliveryID, At: x.Now(), Body: body})
	switch {
	case ubl.CodeOf(err) == ubl.CodeUnavailable:
		return result{State: DeliveryFailed, Message: ubl.AsError(err).Message}, nil
	case err != nil:
		return result{}, err
	case status/100 != 2:
		return result{State: DeliveryFailed, Status: status, Message: fmt.Sprintf("the server answered %d", status)}, nil
	}
	return result{State: DeliveryDelivered, Status: status}, nil
}

// impersonal is an entry without what only its reader sees of it: who made the webhook may have voted
// without a name, or answered a form for its author alone.
func impersonal(e ubl.Entry, as json.RawMessage) json.RawMessage {
	if (e.Poll == nil || e.Poll.Mine == nil) && (e.Form == nil || e.Form.Mine == nil) {
		return as
	}
	if e.Poll != nil {
		e.Poll.Mine = nil
	}
	if e.Form != nil {
		e.Form.Mine = nil
	}
	return e.Encode()
}

// fill reads the entry as the maker, or says why there is nothing to tell.
func (x *Webhooks) fill(ctx context.Context, p *Payload, who ubl.Identity, d Delivery) (why string, err error) {
	room := ubl.RoomName(who.TenantID, d.RoomID)
	page, err := ubl.Ask[*ubl.HistoryPage](ctx, x.Ask, room, ubl.ReadHistory{Who: who, Before: d.RoomSeq + 1, Limit: 1, Entries: true, Now: true})
	switch ubl.CodeOf(err) {
	case "":
	case ubl.CodeNotAMember, ubl.CodeNotFound, ubl.CodeForbidden:
		return "its maker may not read the room", nil
	default:
		return "", err
	}
	var e ubl.Entry
	if len(page.Entries) > 0 {
		if err := json.Unmarshal(page.Entries[0], &e); err != nil {
			return "", err
		}
	}
	if e.RoomSeq != d.RoomSeq { // retention has taken it, or it is older than what the maker may read
		return "the entry is gone", nil
	}
	if e.Redacted != nil {
		return "the entry was redacted", nil
	}
	p.Type, p.Timestamp = "entry."+string(d.Event), e.SentAt
	p.Data.RoomID, p.Data.RoomSeq = d.RoomID, d.RoomSeq
	p.Data.Entry = impersonal(e, page.Entries[0])
	// Names are for people who read what comes of it: without them it is told all the same.
	if r, err := ubl.Ask[*ubl.Room](ctx, x.Ask, room, ubl.GetRoom{Who: who}); err == nil {
		p.Data.RoomName = r.Name
	}
	if m, err := x.member(ctx, who, e.AuthorID); err == nil {
		p.Data.AuthorName, p.Data.AuthorUnproven = m.Name, m.Unproven
	}
	return "", nil
}

func (x *Webhooks) member(ctx context.Context, who ubl.Identity, user ubl.UserID) (*ubl.Member, error) {
	return ubl.Ask[*ubl.Member](ctx, x.Ask, ubl.TenantName(who.TenantID), ubl.FindMember{Who: who, UserID: user})
}

// paused says in a person's words why a webhook was paused.
var paused = map[string]string{
	PausedByFailing: "for three days every delivery has failed",
	PausedByBacklog: "too many deliveries wait",
	PausedByGone:    "the other server wants no more (410)",
}

// remind has the maker be reminded, as they are of a message that they want to come back to.
func (x *Webhooks) remind(ctx context.Context, a actors.Attempt, j job, w Webhook) error {
	id, err := ubl.NewRequestID(x.Random)
	if err != nil {
		return err
	}
	_, err = x.Ask.Ask(ctx, ubl.PersonName(x.Name.Group().Tenant, w.MadeBy), ubl.AddReminder{
		Request: ubl.Request{Who: ubl.Platform(), ID: id, Key: a.IdempotencyKey}, RoomID: j.Delivery.RoomID, MsgID: j.Delivery.MsgID,
		At:   j.At,
		Note: fmt.Sprintf("Your webhook %q was paused: %s.", w.Name, paused[j.Reason]),
	})
	return err
}

// list shows what a caller may see: their own, or all.
func list(all []Webhook, who ubl.UserID, owner bool) *WebhookList {
	return &WebhookList{Webhooks: slices.DeleteFunc(all, func(w Webhook) bool { return !owner && w.MadeBy != who })}
}

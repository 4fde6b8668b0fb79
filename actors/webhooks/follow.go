package webhooks

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"time"

	"ubl"
	"ubl/actors"
)

// followEvery is how long the actor waits after an act, so that one look takes in many.
const followEvery = 300 * time.Millisecond

// kinds are the entries of the acts that say no content type, as posts don't.
var kinds = map[ubl.Did]ubl.EntryType{
	ubl.DidSend: ubl.EntryMessage, ubl.DidEdit: ubl.EntryEdit, ubl.DidReact: ubl.EntryReaction, ubl.DidRedact: ubl.EntryRedaction, ubl.DidPin: ubl.EntryPin,
	ubl.DidPollCreate: ubl.EntryMessage, ubl.DidPollVote: ubl.EntryVote, ubl.DidPollEnd: ubl.EntryPollEnd,
	ubl.DidFormCreate: ubl.EntryMessage, ubl.DidFormAnswer: ubl.EntryAnswer,
}

// contents are the entries of those that come of other acts.
var contents = map[string]ubl.EntryType{
	ubl.ContentMembership: ubl.EntryMembership, ubl.ContentProposal: ubl.EntryProposal, ubl.ContentRoom: ubl.EntryRoom,
}

// types are the types of entries that webhooks tell of.
func types() []ubl.EntryType {
	list := slices.AppendSeq(slices.Collect(maps.Values(kinds)), maps.Values(contents))
	slices.Sort(list)
	return slices.Compact(list)
}

func follow() *actors.Follow {
	return &actors.Follow{
		Name: "webhooks", Local: localName, Every: followEvery,
		Dids: slices.AppendSeq([]ubl.Did{
			ubl.DidRoomJoin, ubl.DidRoomInvite, ubl.DidRoomMemberUpdate, ubl.DidRoomRemove, ubl.DidRoomLeave, ubl.DidRoomDescribe, ubl.DidRoomUpdate,
			ubl.DidAgreementPropose, ubl.DidAgreementAccept, ubl.DidAgreementWithdraw, ubl.DidAgreementEnd, ubl.DidAgreementHeir,
		}, maps.Keys(kinds)),
		Subject: func(e actors.Entry) string { return e.Pointer("room_id") },
		Wanted:  anyActive,
	}
}

// appended is the entry that an act has put into a room, and when.
func appended(e actors.Entry) (d Delivery, when ubl.Time, ok bool) {
	var atom struct {
		When    ubl.Time `json:"when"`
		Effects []struct {
			Op      string        `json:"op"`
			Room    ubl.RoomID    `json:"room_id"`
			Seq     int64         `json:"room_seq"`
			MsgID   ubl.MessageID `json:"msg_id"`
			Content string        `json:"content_type"`
		} `json:"effects"`
	}
	// What is imported was said long ago, and elsewhere.
	if e.Effect == nil || bytes.Contains(e.Action, []byte(`"imported_hash":`)) || json.Unmarshal(e.Effect, &atom) != nil {
		return d, 0, false
	}
	for _, f := range atom.Effects {
		if f.Op != "room.append" {
			continue
		}
		kind := contents[f.Content]
		if kind == "" {
			kind = kinds[e.Did]
		}
		id := cmp.Or(f.MsgID, ubl.MessageID(e.Pointer("msg_id")))
		return Delivery{Event: kind, RoomID: f.Room, RoomSeq: f.Seq, MsgID: id}, atom.When, kind != "" && f.Seq > 0
	}
	return d, 0, false
}

// decideEntry has each webhook that tells of an entry do so.
func (s *State) decideEntry(e actors.Entry, at actors.Moment) (ubl.Did, *plan, error) {
	if len(s.Hooks) == 0 {
		return "", nil, nil
	}
	d, when, ok := appended(e)
	if !ok || d.RoomID.IsDirect() {
		return "", nil, nil
	}
	var first, last *plan
	for i := range s.Hooks {
		h := &s.Hooks[i]
		if h.Paused != nil || when < max(h.MadeAt, h.Since) || !slices.Contains(h.Events, d.Event) || !slices.Contains(h.Rooms, d.RoomID) {
			continue
		}
		var p *plan
		var err error
		if h.Waiting >= maxWaiting {
			p, err = s.pausing(h, PausedByBacklog, d, at)
		} else {
			own := d
			own.DeliveryID = deliveryOf(h.WebhookID, d)
			p, err = s.delivering(h, own, at)
		}
		if err != nil {
			return "", nil, err
		}
		if first == nil {
			first, last = p, p
		} else {
			last.Also = p
		}
		for last.Also != nil {
			last = last.Also
		}
	}
	if first == nil {
		return "", nil, nil
	}
	return first.Did, first, nil
}

// deliveryOf is the id by which a receiver knows an entry again.
func deliveryOf(hook string, d Delivery) string {
	sum := sha256.Sum256(fmt.Appendf(nil, "%s\n%s\n%d", hook, d.RoomID, d.RoomSeq))
	return fmt.Sprintf("msg_%x", sum[:10])
}

// job is what the outbox is to do. It holds no more than ids: what an entry says is read when it is sent.
type job struct {
	Form     int      `json:"v"`
	What     string   `json:"what"`
	Webhook  string   `json:"webhook_id"`
	Delivery Delivery `json:"delivery,omitzero"`
	// Reason is of a pause that the maker is reminded of at a time.
	Reason string   `json:"reason,omitempty"`
	At     ubl.Time `json:"at,omitzero"`
}

const jobVersion = 1

// What the outbox does.
const (
	jobDeliver = "deliver"
	jobRemind  = "remind"
)

const (
	// lastTry is how many attempts have failed before the last one, about a day after the first.
	lastTry = 16
	// deliverFor ends a delivery where no node was there to make its last attempt.
	deliverFor = 3 * 24 * time.Hour
	remindFor  = 24 * time.Hour
	// remindAfter leaves the outbox a moment, since nobody is reminded of what is past.
	remindAfter = time.Minute
	// failingFor and failingAtLeast are how long, and how often, everything fails before a pause.
	failingFor     = 3 * 24 * time.Hour
	failingAtLeast = 3
)

// delivering is the plan of one delivery.
func (s *State) delivering(h *hook, d Delivery, at actors.Moment) (*plan, error) {
	d.State, d.At = DeliveryWaiting, at.Now
	return s.intending(didDeliver, d.DeliveryID, deliverFor, job{What: jobDeliver, Webhook: h.WebhookID, Delivery: d}, event{Of: h.WebhookID, Delivery: &d}, at)
}

// intending is the plan of something that the outbox does, for so long at the most.
func (s *State) intending(did ubl.Did, key string, last time.Duration, j job, e event, at actors.Moment) (*plan, error) {
	j.Form = jobVersion
	content, err := json.Marshal(j)
	if err != nil {
		return nil, fmt.Errorf("couldn't encode what is to be done: %w", err)
	}
	p := s.about(did, j.Webhook, e)
	p.Status, p.Effects = ubl.StatusIntended, nil
	p.Intends = &actors.Outbound{Key: key, Content: content, Deadline: at.Now.Add(last)}
	return p, nil
}

// pausing is the plan of a pause that nobody asked for, of which the maker is reminded where a
// message is known that couldn't be told.
func (s *State) pausing(h *hook, reason string, d Delivery, at actors.Moment) (*plan, error) {
	w := h.shown()
	w.Paused = &Pause{At: at.Now, Reason: reason}
	p := s.about(didPause, w.WebhookID, event{Webhook: &w})
	if reason == PausedByLeaving || reason == PausedByRights || d.MsgID == "" {
		return p, nil
	}
	key := fmt.Sprintf("remind:%s:%d", w.WebhookID, at.Now)
	next, err := s.intending(didRemind, key, remindFor, job{What: jobRemind, Webhook: w.WebhookID, Delivery: d, Reason: reason, At: at.Now.Add(remindAfter)}, event{Of: w.WebhookID}, at)
	p.Also = next
	return p, err
}

// result is what [Webhooks.send] answers of a delivery.
type result struct {
	State   DeliveryState `json:"state"`
	Status  int           `json:"status,omitempty"`
	Tries   int           `json:"tries"`
	Message string        `json:"message,omitempty"`
	Pause   string        `json:"pause,omitempty"` // why nothing more may be told
}

// ended puts on record what came of a delivery, and pauses a webhook of which nothing comes.
func (s *State) ended(out actors.Sent, at actors.Moment) (ubl.Did, *plan, error) {
	var j job
	if err := json.Unmarshal(out.Content, &j); err != nil {
		return "", nil, err
	}
	if j.What == jobRemind {
		p := s.about(didRemind, j.Webhook, event{Of: j.Webhook})
		if out.Err != nil {
			p.Error = &ubl.AtomError{Code: out.Err.Code, Message: out.Err.Message}
		}
		return didRemind, p, nil
	}
	r := result{State: DeliveryFailed}
	if out.Err != nil {
		r.Message = out.Err.Message
	} else if err := json.Unmarshal(out.Answer, &r); err != nil {
		return "", nil, err
	}
	d := j.Delivery
	d.State, d.EndedAt, d.Status, d.Attempts, d.Message = r.State, at.Now, r.Status, r.Tries, r.Message
	p := s.about(didDeliver, j.Webhook, event{Of: j.Webhook, Delivery: &d})
	if d.State == DeliveryFailed {
		p.Error = &ubl.AtomError{Code: ubl.CodeUnavailable, Message: d.Message}
	}
	h := s.find(j.Webhook)
	if h == nil || h.Paused != nil && h.Paused.Reason != PausedByBacklog {
		return didDeliver, p, nil
	}
	reason := ""
	switch next := h.with(d); {
	case r.Pause != "":
		reason = r.Pause
	case r.Status == http.StatusGone:
		reason = PausedByGone
	case h.Paused != nil:
		return didDeliver, p, nil
	case next.Failures >= failingAtLeast && at.Now >= next.FailingSince.Add(failingFor):
		reason = PausedByFailing
	default:
		return didDeliver, p, nil
	}
	also, err := s.pausing(h, reason, d, at)
	p.Also = also
	return didDeliver, p, err
}

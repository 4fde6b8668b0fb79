package actors_test

import (
	"crypto/rand"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	standardwebhooks "github.com/standard-webhooks/standard-webhooks/libraries/go"

	"ubl"
	"ubl/actors/webhooks"
	"ubl/portal"
	"ubl/test/harness"
	"ubl/test/poll"
	"ubl/webhook"
)

// post is what a server was told.
type post struct {
	header http.Header
	body   []byte
}

// hooked is a tenant of two, with a server that notes what it is told and answers as it is set to.
type hooked struct {
	*harness.House
	t        *testing.T
	server   *httptest.Server
	ana, bob ubl.Identity
	at       ubl.Name

	mu     sync.Mutex
	posts  []post
	status int
}

func openHooked(t *testing.T, o harness.Options) *hooked {
	w := &hooked{t: t, status: http.StatusNoContent, ana: harness.User("ana@example.com"), bob: harness.User("bob@example.com")}
	w.server = httptest.NewServer(http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		w.mu.Lock()
		defer w.mu.Unlock()
		w.posts = append(w.posts, post{r.Header.Clone(), body})
		rw.WriteHeader(w.status)
	}))
	t.Cleanup(w.server.Close)
	key := []byte(strings.Repeat("k", 32))
	o.Webhooks = webhook.New(webhook.Options{
		Sealer: portal.NewKeeper("webhook secret", func() [][]byte { return [][]byte{key} }, rand.Reader),
		Client: func(ubl.TenantID) *http.Client { return w.server.Client() }, Random: rand.Reader,
	})
	w.House = harness.Open(t, o)
	w.Enter(w.ana)
	w.Enter(w.bob)
	w.at = webhooks.ActorName(w.ana.TenantID)
	return w
}

// add makes a webhook, a second after all that was.
func (w *hooked) add() *webhooks.Webhook {
	w.t.Helper()
	w.Clock.Add(time.Second)
	return harness.Must[*webhooks.Webhook](w.House, w.at, webhooks.AddWebhook{
		Request: w.Request(w.ana), Name: "Build", URL: w.server.URL, Rooms: []ubl.RoomID{ubl.GeneralRoom},
	})
}

func (w *hooked) say(text string) {
	w.t.Helper()
	harness.Must[*ubl.Sent](w.House, ubl.RoomName(w.ana.TenantID, ubl.GeneralRoom), ubl.SendMessage{Request: w.Request(w.bob), Text: text})
}

func (w *hooked) answer(status int) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.status = status
}

func (w *hooked) all() []post {
	w.mu.Lock()
	defer w.mu.Unlock()
	return append([]post{}, w.posts...)
}

// ended waits until the newest delivery has come to a state.
func (w *hooked) ended(id string, state webhooks.DeliveryState) (d webhooks.Delivery) {
	w.t.Helper()
	poll.Until(w.t, "a delivery is "+string(state), func() bool {
		w.Alarms()
		list := harness.Must[*webhooks.DeliveryList](w.House, w.at, webhooks.ListDeliveries{Who: w.ana, WebhookID: id})
		if len(list.Deliveries) > 0 {
			d = list.Deliveries[0]
		}
		return d.State == state
	})
	return d
}

// TestWebhookTells: a message of another member arrives, signed so that the standard's verifier
// takes it, with its text as the maker reads it. A message before the webhook isn't told.
func TestWebhookTells(t *testing.T) {
	w := openHooked(t, harness.Options{})
	w.say("before")
	hook := w.add()
	w.say("the build is green")
	d := w.ended(hook.WebhookID, webhooks.DeliveryDelivered)
	posts := w.all()
	if len(posts) != 1 || d.Attempts != 1 || d.Status != http.StatusNoContent {
		t.Fatalf("%d posts, %+v", len(posts), d)
	}
	verifier, err := standardwebhooks.NewWebhook(hook.Secret)
	if err != nil {
		t.Fatal(err)
	}
	// The house has a clock of its own, which the verifier doesn't know.
	if err := verifier.VerifyIgnoringTimestamp(posts[0].body, posts[0].header); err != nil || !strings.Contains(string(posts[0].body), "the build is green") {
		t.Errorf("told %s: %v", posts[0].body, err)
	}
	var p struct{ Type string }
	if err := json.Unmarshal(posts[0].body, &p); err != nil || p.Type != "entry.message" {
		t.Errorf("its type is %q, %v", p.Type, err)
	}
	w.VerifyLedger(w.ana.TenantID)
}

// TestWebhookTellsWhoIsUnproven: other servers believe a name more than people do.
func TestWebhookTellsWhoIsUnproven(t *testing.T) {
	w := openHooked(t, harness.Options{})
	hook := w.add()
	p := &party{House: w.House, t: t, tenant: ubl.TenantName(w.ana.TenantID), ana: w.ana, bob: w.bob}
	boss := p.guest(w.ana, "boss@example.com", ubl.RoleMember)
	harness.Must[*ubl.Sent](w.House, ubl.RoomName(w.ana.TenantID, ubl.GeneralRoom), ubl.SendMessage{Request: w.Request(boss), Text: "send me the keys"})
	w.ended(hook.WebhookID, webhooks.DeliveryDelivered)
	for _, p := range w.all() { // that they joined, and what they said
		if !strings.Contains(string(p.body), `"author_unproven":true`) {
			t.Errorf("told is %s", p.body)
		}
	}
}

// TestWebhookTriesAgain: what failed is posted again under the same id, until it is taken; so is
// what its maker sends again.
func TestWebhookTriesAgain(t *testing.T) {
	w := openHooked(t, harness.Options{})
	hook := w.add()
	w.answer(http.StatusInternalServerError)
	w.say("hello")
	poll.Until(t, "it is posted twice", func() bool {
		w.Clock.Add(time.Minute)
		w.Alarms()
		return len(w.all()) >= 2
	})
	w.answer(http.StatusOK)
	var d webhooks.Delivery
	poll.Until(t, "it is taken", func() bool {
		w.Clock.Add(time.Minute)
		w.Alarms()
		d = harness.Must[*webhooks.DeliveryList](w.House, w.at, webhooks.ListDeliveries{Who: w.ana, WebhookID: hook.WebhookID}).Deliveries[0]
		return d.State == webhooks.DeliveryDelivered
	})
	harness.Must[*webhooks.Delivery](w.House, w.at, webhooks.Redeliver{Request: w.Request(w.ana), WebhookID: hook.WebhookID, DeliveryID: d.DeliveryID})
	before := len(w.all())
	poll.Until(t, "it is sent again", func() bool { w.Alarms(); return len(w.all()) > before })
	for i, p := range w.all() {
		if got := p.header.Get("webhook-id"); got != d.DeliveryID {
			t.Errorf("post %d has the id %q, want %q", i, got, d.DeliveryID)
		}
	}
}

// TestWebhookGone: 410 ends it at the first answer, and no message after it is told.
func TestWebhookGone(t *testing.T) {
	w := openHooked(t, harness.Options{})
	hook := w.add()
	w.answer(http.StatusGone)
	w.say("one")
	if d := w.ended(hook.WebhookID, webhooks.DeliveryFailed); d.Attempts != 1 {
		t.Errorf("it ended %+v", d)
	}
	list := harness.Must[*webhooks.WebhookList](w.House, w.at, webhooks.ListWebhooks{Who: w.ana})
	if len(list.Webhooks) != 1 || list.Webhooks[0].Paused == nil || list.Webhooks[0].Paused.Reason != webhooks.PausedByGone || list.Webhooks[0].Secret != "" {
		t.Errorf("it is %+v", list.Webhooks)
	}
	w.answer(http.StatusOK)
	w.say("two")
	w.Clock.Add(time.Second)
	yes := false
	harness.Must[*webhooks.Webhook](w.House, w.at, webhooks.UpdateWebhook{Request: w.Request(w.ana), WebhookID: hook.WebhookID, Patch: webhooks.Patch{Paused: &yes}})
	w.say("three")
	w.ended(hook.WebhookID, webhooks.DeliveryDelivered)
	var texts []string
	for _, p := range w.all() {
		var body struct {
			Data struct {
				Entry struct {
					Body struct {
						JSON struct{ Text string } `json:"json"`
					}
				}
			}
		}
		if err := json.Unmarshal(p.body, &body); err != nil {
			t.Fatal(err)
		}
		texts = append(texts, body.Data.Entry.Body.JSON.Text)
	}
	if strings.Join(texts, " ") != "one three" {
		t.Errorf("told is %q", texts)
	}
}

// TestWebhooksAreTheirMakers: no other member changes one or sees its deliveries, who owns no room
// makes none for it, and people of another tenant know of none.
func TestWebhooksAreTheirMakers(t *testing.T) {
	w := openHooked(t, harness.Options{})
	hook := w.add()
	eve := harness.User("eve@other.com")
	w.Enter(eve)
	for _, who := range []ubl.Identity{w.bob, eve} {
		for _, cmd := range []ubl.Command{
			webhooks.RotateWebhook{Request: w.Request(who), WebhookID: hook.WebhookID},
			webhooks.TestWebhook{Request: w.Request(who), WebhookID: hook.WebhookID},
			webhooks.RemoveWebhook{Request: w.Request(who), WebhookID: hook.WebhookID},
			webhooks.ListDeliveries{Who: who, WebhookID: hook.WebhookID},
			webhooks.AddWebhook{Request: w.Request(who), Name: "x", URL: w.server.URL, Rooms: []ubl.RoomID{ubl.GeneralRoom}},
		} {
			if _, err := w.Ask(t.Context(), w.at, cmd); ubl.CodeOf(err) != ubl.CodeForbidden && ubl.CodeOf(err) != ubl.CodeNotFound {
				t.Errorf("%s asks %T: %v", who.Email, cmd, err)
			}
		}
	}
	if list := harness.Must[*webhooks.WebhookList](w.House, webhooks.ActorName(eve.TenantID), webhooks.ListWebhooks{Who: eve}); len(list.Webhooks) > 0 {
		t.Errorf("another tenant sees %+v", list.Webhooks)
	}
	if len(w.all()) > 0 {
		t.Error("something was told")
	}
}

// TestWebhookWithoutMaker: of somebody who is no member any more nothing is told, and their webhook
// is paused. An owner sees it, and removes it.
func TestWebhookWithoutMaker(t *testing.T) {
	w := openHooked(t, harness.Options{})
	hook, at := w.add(), ubl.TenantName(w.ana.TenantID)
	harness.Must[*ubl.Member](w.House, at, ubl.SetTenantMember{Request: w.Request(w.ana), UserID: w.bob.UserID, Role: ubl.RoleOwner})
	harness.Must[*ubl.Member](w.House, at, ubl.RemoveTenantMember{Request: w.Request(w.bob), UserID: w.ana.UserID})
	w.say("one")
	var list *webhooks.WebhookList
	poll.Until(t, "it is paused", func() bool {
		w.Alarms()
		list = harness.Must[*webhooks.WebhookList](w.House, w.at, webhooks.ListWebhooks{Who: w.bob})
		return len(list.Webhooks) == 1 && list.Webhooks[0].Paused != nil
	})
	if got := list.Webhooks[0].Paused.Reason; got != webhooks.PausedByLeaving || len(w.all()) > 0 {
		t.Errorf("it is paused by %q, and %d posts were made", got, len(w.all()))
	}
	harness.Must[*webhooks.Webhook](w.House, w.at, webhooks.RemoveWebhook{Request: w.Request(w.bob), WebhookID: hook.WebhookID})
	w.VerifyLedger(w.ana.TenantID)
}

// enter posts an entry of bob's into a room.
func (w *hooked) enter(room ubl.RoomID, kind ubl.EntryType, target ubl.MessageID, body ubl.TypedBody) ubl.MessageID {
	w.t.Helper()
	return w.enterAs(w.bob, room, kind, target, body)
}

func (w *hooked) enterAs(who ubl.Identity, room ubl.RoomID, kind ubl.EntryType, target ubl.MessageID, body ubl.TypedBody) ubl.MessageID {
	w.t.Helper()
	posted := harness.Must[*ubl.Posted](w.House, ubl.RoomName(w.ana.TenantID, room), ubl.PostEntry{Request: w.Request(who), Type: kind, Target: target, Body: body})
	var e ubl.Entry
	if err := json.Unmarshal(posted.Entry, &e); err != nil {
		w.t.Fatal(err)
	}
	return e.ID
}

// bodies are all that was posted, in one text.
func (w *hooked) bodies() string {
	var all strings.Builder
	for _, p := range w.all() {
		all.Write(p.body)
	}
	return all.String()
}

// TestWebhookTellsOfPolls, and never of direct messages.
func TestWebhookTellsOfPolls(t *testing.T) {
	w := openHooked(t, harness.Options{})
	w.Clock.Add(time.Second)
	hook := harness.Must[*webhooks.Webhook](w.House, w.at, webhooks.AddWebhook{
		Request: w.Request(w.ana), Name: "All", URL: w.server.URL, Rooms: []ubl.RoomID{ubl.GeneralRoom}, Events: []ubl.EntryType{ubl.EntryMessage, ubl.EntryVote},
	})
	direct := harness.Must[*ubl.RoomSummary](w.House, ubl.TenantName(w.ana.TenantID), ubl.OpenDirect{Request: w.Request(w.bob), With: []ubl.UserID{w.ana.UserID}})
	w.enter(direct.RoomID, ubl.EntryMessage, "", ubl.TextContent("between us"))
	asked := w.enter(ubl.GeneralRoom, ubl.EntryMessage, "", ubl.TypedBody{Type: ubl.ContentPoll, JSON: json.RawMessage(`{"question":"Where to?","options":["Here","There"]}`)})
	w.enter(ubl.GeneralRoom, ubl.EntryVote, asked, ubl.TypedBody{Type: ubl.ContentVote, JSON: json.RawMessage(`{"choices":[1]}`)})
	poll.Until(t, "both are told", func() bool { w.Alarms(); return len(w.all()) == 2 })
	if told := w.bodies(); !strings.Contains(told, "Where to?") || !strings.Contains(told, `"entry.vote"`) || strings.Contains(told, "between us") {
		t.Errorf("told is %s", told)
	}
	if list := harness.Must[*webhooks.DeliveryList](w.House, w.at, webhooks.ListDeliveries{Who: w.ana, WebhookID: hook.WebhookID}); len(list.Deliveries) != 2 {
		t.Errorf("its deliveries are %+v", list)
	}
	for _, c := range []webhooks.AddWebhook{
		{Name: "Calls", Rooms: []ubl.RoomID{ubl.GeneralRoom}, Events: []ubl.EntryType{ubl.EntryCall}},
		{Name: "Direct", Rooms: []ubl.RoomID{direct.RoomID}},
		{Name: "None"},
	} {
		c.Request, c.URL = w.Request(w.ana), w.server.URL
		if _, err := w.Ask(t.Context(), w.at, c); ubl.CodeOf(err) != ubl.CodeValidation {
			t.Errorf("the webhook %s was answered %v", c.Name, err)
		}
	}
}

// TestWebhookKeepsItsMakersAnswers: what is told late is read as the maker, who has voted without a name
// and answered a form for its author alone by then. Neither is told.
func TestWebhookKeepsItsMakersAnswers(t *testing.T) {
	w := openHooked(t, harness.Options{})
	w.add()
	w.answer(http.StatusInternalServerError)
	asked := w.enter(ubl.GeneralRoom, ubl.EntryMessage, "", ubl.TypedBody{Type: ubl.ContentPoll, JSON: json.RawMessage(`{"question":"Where to?","options":["Here","There"],"anonymous":true}`)})
	form := w.enter(ubl.GeneralRoom, ubl.EntryMessage, "", ubl.FormContent(ubl.FormBody{Text: "How much?", Private: true, Fields: []ubl.FormField{{Name: "pay", Label: "Pay", Type: ubl.FieldLine}}}))
	poll.Until(t, "both were tried", func() bool { w.Alarms(); return len(w.all()) >= 2 })
	w.enterAs(w.ana, ubl.GeneralRoom, ubl.EntryVote, asked, ubl.TypedBody{Type: ubl.ContentVote, JSON: json.RawMessage(`{"choices":[1]}`)})
	w.enterAs(w.ana, ubl.GeneralRoom, ubl.EntryAnswer, form, ubl.AnswerContent(json.RawMessage(`{"pay":"4711 a month"}`)))
	w.answer(http.StatusOK)
	w.mu.Lock()
	w.posts = nil
	w.mu.Unlock()
	poll.Until(t, "both are told", func() bool { w.Clock.Add(time.Minute); w.Alarms(); return len(w.all()) >= 2 })
	told := w.bodies()
	if !strings.Contains(told, "Where to?") || !strings.Contains(told, "How much?") || !strings.Contains(told, `"answered":1`) {
		t.Errorf("told is %s", told)
	}
	if strings.Contains(told, "a month") || strings.Contains(told, `"mine"`) {
		t.Errorf("the maker's own is told: %s", told)
	}
}

// TestWebhookReadsWhenItSends: what a delivery tells is what its maker may read and tell by then.
// Edits count, what was taken back isn't told, nor what a maker who owns nothing any more would tell.
func TestWebhookReadsWhenItSends(t *testing.T) {
	w := openHooked(t, harness.Options{})
	hook := w.add()
	w.answer(http.StatusInternalServerError)
	said := w.enter(ubl.GeneralRoom, ubl.EntryMessage, "", ubl.TextContent("lunch at one"))
	sorry := w.enter(ubl.GeneralRoom, ubl.EntryMessage, "", ubl.TextContent("my pin is 1234"))
	poll.Until(t, "both were tried", func() bool { w.Alarms(); return len(w.all()) >= 2 })
	w.enter(ubl.GeneralRoom, ubl.EntryEdit, said, ubl.TextContent("lunch at two"))
	w.enter(ubl.GeneralRoom, ubl.EntryRedaction, sorry, ubl.RedactionContent(""))
	w.answer(http.StatusOK)
	w.mu.Lock()
	w.posts = nil
	w.mu.Unlock()
	states := func() (skipped, delivered int, why string) {
		w.Clock.Add(time.Minute)
		w.Alarms()
		for _, d := range harness.Must[*webhooks.DeliveryList](w.House, w.at, webhooks.ListDeliveries{Who: w.ana, WebhookID: hook.WebhookID}).Deliveries {
			switch d.State {
			case webhooks.DeliverySkipped:
				skipped, why = skipped+1, d.Message
			case webhooks.DeliveryDelivered:
				delivered++
			}
		}
		return skipped, delivered, why
	}
	poll.Until(t, "one is told, and one skipped", func() bool { skipped, delivered, _ := states(); return skipped == 1 && delivered == 1 })
	if told := w.bodies(); !strings.Contains(told, "lunch at two") || strings.Contains(told, "1234") {
		t.Errorf("told is %s", told)
	}

	w.VerifyLedger(w.ana.TenantID)
}

// TestWebhookLosesRights: a maker who owns neither the room nor the organisation any more has nobody
// told of it, and can't send the webhook elsewhere.
func TestWebhookLosesRights(t *testing.T) {
	w := openHooked(t, harness.Options{})
	tenant := ubl.TenantName(w.ana.TenantID)
	made := harness.Must[*ubl.RoomSummary](w.House, tenant, ubl.CreateRoom{Request: w.Request(w.bob), Name: "plans"})
	harness.Must[*ubl.Member](w.House, ubl.RoomName(w.ana.TenantID, made.RoomID), ubl.AddMember{Request: w.Request(w.bob), Member: ubl.Member{UserID: w.ana.UserID, Email: w.ana.Email, Role: ubl.RoleMember}})
	hook := harness.Must[*webhooks.Webhook](w.House, w.at, webhooks.AddWebhook{Request: w.Request(w.ana), Name: "x", URL: w.server.URL, Rooms: []ubl.RoomID{made.RoomID}})
	w.Clock.Add(time.Second)
	harness.Must[*ubl.Member](w.House, tenant, ubl.SetTenantMember{Request: w.Request(w.ana), UserID: w.bob.UserID, Role: ubl.RoleOwner})
	harness.Must[*ubl.Member](w.House, tenant, ubl.SetTenantMember{Request: w.Request(w.bob), UserID: w.ana.UserID, Role: ubl.RoleMember})
	url := w.server.URL + "/elsewhere"
	update := webhooks.UpdateWebhook{Request: w.Request(w.ana), WebhookID: hook.WebhookID, Patch: webhooks.Patch{URL: &url}}
	if _, err := w.Ask(t.Context(), w.at, update); ubl.CodeOf(err) != ubl.CodeForbidden {
		t.Errorf("the change was answered %v", err)
	}
	w.enter(made.RoomID, ubl.EntryMessage, "", ubl.TextContent("for owners"))
	poll.Until(t, "it is paused", func() bool {
		w.Alarms()
		list := harness.Must[*webhooks.WebhookList](w.House, w.at, webhooks.ListWebhooks{Who: w.ana}).Webhooks
		return list[0].Paused != nil && list[0].Paused.Reason == webhooks.PausedByRights
	})
	if len(w.all()) > 0 {
		t.Errorf("told is %s", w.bodies())
	}
	w.VerifyLedger(w.ana.TenantID)
}

// TestWebhooksOfOneMaker: they leave room for those of others.
func TestWebhooksOfOneMaker(t *testing.T) {
	w := openHooked(t, harness.Options{})
	for range 20 {
		w.add()
	}
	w.Refused(ubl.CodeConflict, w.at, webhooks.AddWebhook{
		Request: w.Request(w.ana), Name: "Build", URL: w.server.URL, Rooms: []ubl.RoomID{ubl.GeneralRoom},
	})
	list := harness.Must[*webhooks.WebhookList](w.House, w.at, webhooks.ListWebhooks{Who: w.ana}).Webhooks
	harness.Must[*webhooks.Webhook](w.House, w.at, webhooks.RemoveWebhook{Request: w.Request(w.ana), WebhookID: list[0].WebhookID})
	w.add()
}

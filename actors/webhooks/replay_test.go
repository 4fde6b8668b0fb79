package webhooks_test

import (
	"context"
	"fmt"
	"net/http"
	"testing"
	"time"

	"pgregory.net/rapid"

	"ubl"
	"ubl/actors/webhooks"
	"ubl/test/harness"
	"ubl/test/poll"
)

// TestStateIsDerived: over random histories, with servers that take, refuse and want no more,
// webhooks loaded from what is stored know exactly what the live ones know, and so do those made of
// a snapshot.
func TestStateIsDerived(t *testing.T) {
	server := harness.Answering(http.StatusOK)
	h := harness.OpenLive(t, "webhooks", func(local string) bool { return local == webhooks.LocalName }, webhooks.Watch(server))
	filled := harness.Filled{}
	n := 0
	rapid.Check(t, func(rt *rapid.T) {
		n++
		ana, bob := harness.User(fmt.Sprintf("ana@example%d.com", n)), harness.User(fmt.Sprintf("bob@example%d.com", n))
		h.Enter(ana)
		h.Enter(bob)
		at := webhooks.ActorName(ana.TenantID)
		server.Status.Store(http.StatusOK)
		ask := func(cmd ubl.Command) any {
			answer, _ := h.Ask(context.Background(), at, cmd)
			return answer
		}
		one := func(rt *rapid.T) string {
			list := ask(webhooks.ListWebhooks{Who: ana}).(*webhooks.WebhookList).Webhooks
			if len(list) == 0 {
				return "wh:none"
			}
			return rapid.SampledFrom(list).Draw(rt, "webhook").WebhookID
		}
		events := rapid.SampledFrom([][]ubl.EntryType{nil, {ubl.EntryMessage}, {ubl.EntryMessage, ubl.EntryEdit}})
		rooms := rapid.SampledFrom([][]ubl.RoomID{{ubl.GeneralRoom}, {"r:elsewhere"}, {ubl.GeneralRoom}})
		step := 0
		rt.Repeat(map[string]func(*rapid.T){
			"make": func(rt *rapid.T) {
				ask(webhooks.AddWebhook{Request: h.Request(ana), Name: "x", URL: "https://a.example", Events: events.Draw(rt, "events"), Rooms: rooms.Draw(rt, "rooms")})
			},
			"change": func(rt *rapid.T) {
				patch := webhooks.Patch{Paused: rapid.Ptr(rapid.Bool(), true).Draw(rt, "paused")}
				if list := events.Draw(rt, "events"); list != nil {
					patch.Events = &webhooks.EntryTypeList{Types: list}
				}
				ask(webhooks.UpdateWebhook{Request: h.Request(ana), WebhookID: one(rt), Patch: patch})
			},
			"rotate":  func(rt *rapid.T) { ask(webhooks.RotateWebhook{Request: h.Request(ana), WebhookID: one(rt)}) },
			"test":    func(rt *rapid.T) { ask(webhooks.TestWebhook{Request: h.Request(ana), WebhookID: one(rt)}) },
			"another": func(rt *rapid.T) { ask(webhooks.RotateWebhook{Request: h.Request(bob), WebhookID: one(rt)}) },
			"remove": func(rt *rapid.T) {
				if rapid.Bool().Draw(rt, "really") {
					ask(webhooks.RemoveWebhook{Request: h.Request(ana), WebhookID: one(rt)})
				}
			},
			"again": func(rt *rapid.T) {
				id := one(rt)
				if list, ok := ask(webhooks.ListDeliveries{Who: ana, WebhookID: id}).(*webhooks.DeliveryList); ok && len(list.Deliveries) > 0 {
					ask(webhooks.Redeliver{Request: h.Request(ana), WebhookID: id, DeliveryID: list.Deliveries[0].DeliveryID})
				}
			},
			"say": func(*rapid.T) {
				_, _ = h.Ask(context.Background(), ubl.RoomName(ana.TenantID, ubl.GeneralRoom), ubl.SendMessage{Request: h.Request(bob), Text: "x"})
			},
			"server": func(rt *rapid.T) {
				server.Status.Store(rapid.SampledFrom([]int64{http.StatusOK, http.StatusInternalServerError, http.StatusGone}).Draw(rt, "status"))
			},
			"time": func(rt *rapid.T) {
				h.Clock.Add(time.Duration(rapid.SampledFrom([]int{1, 60, 1500}).Draw(rt, "minutes")) * time.Minute)
			},
			"": func(rt *rapid.T) {
				if step++; step%4 > 0 { // what differs now does so later, too
					return
				}
				h.Alarms()
				// What was decided and isn't stored yet is in the live state alone, for a moment.
				poll.Within(rt, 10*time.Second, "what is loaded, and restored, is the live state", func() bool {
					return ask(webhooks.Peek{At: func(x *webhooks.Webhooks) any {
						x.Look(filled.Look)
						loaded, err := h.Loaded(at)
						return err == nil && loaded.Snapshot() == x.Snapshot() && x.Restored() == x.Snapshot()
					}}) == true
				})
			},
		})
	})
	filled.Want(t)
}

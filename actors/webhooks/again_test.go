package webhooks_test

import (
	"net/http"
	"testing"

	"ubl"
	"ubl/actors/webhooks"
	"ubl/test/harness"
)

// TestAnsweredAgain: each command of the family's table is answered from memory as a retry is,
// while the actor is in memory and after it was loaded.
func TestAnsweredAgain(t *testing.T) {
	h := harness.Open(t, harness.Options{Webhooks: harness.Answering(http.StatusOK)})
	ana := harness.User("ana@example.com")
	h.Enter(ana)
	at := webhooks.ActorName(ana.TenantID)
	again := &harness.Again{House: h}
	hook := again.Ask(at, webhooks.AddWebhook{
		Request: h.Request(ana), Name: "Build", URL: "https://hooks.example/1", Events: []ubl.EntryType{ubl.EntryMessage}, Rooms: []ubl.RoomID{ubl.GeneralRoom},
	}).(*webhooks.Webhook)
	if hook.Secret == "" {
		t.Error("the secret isn't told")
	}
	name, url, yes := "Deploy", "https://hooks.example/2", false
	again.Ask(at, webhooks.UpdateWebhook{Request: h.Request(ana), WebhookID: hook.WebhookID, Patch: webhooks.Patch{
		Name: &name, URL: &url, Paused: &yes, Events: &webhooks.EntryTypeList{Types: []ubl.EntryType{ubl.EntryEdit}}, Rooms: &webhooks.RoomList{Rooms: []ubl.RoomID{ubl.GeneralRoom}},
	}})
	again.Ask(at, webhooks.RotateWebhook{Request: h.Request(ana), WebhookID: hook.WebhookID})
	d := again.Ask(at, webhooks.TestWebhook{Request: h.Request(ana), WebhookID: hook.WebhookID}).(*webhooks.Delivery)
	h.Alarms()
	again.Ask(at, webhooks.Redeliver{Request: h.Request(ana), WebhookID: hook.WebhookID, DeliveryID: d.DeliveryID})
	h.Alarms()
	again.Ask(at, webhooks.RemoveWebhook{Request: h.Request(ana), WebhookID: hook.WebhookID})
	again.End(webhooks.Changing())
	h.VerifyLedger(ana.TenantID)
}

package forward

import (
	"ubl"
	"ubl/actors/webhooks"
	"ubl/test/poll"
)

// webhooks has another server told of what happens in a room.
func (w *world) webhooks() {
	at := webhooks.ActorName(w.ana.TenantID)
	hook := must[*webhooks.Webhook](w.forwarder, at, webhooks.AddWebhook{
		Request: w.h.Request(w.ana), Name: "<build>", URL: "https://hooks.example", Events: []ubl.EntryType{ubl.EntryEdit}, Rooms: []ubl.RoomID{ubl.GeneralRoom},
	})
	yes := true
	must[*webhooks.Webhook](w.forwarder, at, webhooks.UpdateWebhook{Request: w.h.Request(w.ana), WebhookID: hook.WebhookID, Patch: webhooks.Patch{
		Paused: &yes, Events: &webhooks.EntryTypeList{Types: []ubl.EntryType{ubl.EntryPin}}, Rooms: &webhooks.RoomList{Rooms: []ubl.RoomID{ubl.GeneralRoom}},
	}})
	if list := must[*webhooks.WebhookList](w.forwarder, at, webhooks.ListWebhooks{Who: w.ana}); len(list.Webhooks) != 1 || list.Webhooks[0].Paused.Reason != webhooks.PausedByMaker {
		w.t.Errorf("ana has %+v", list)
	}
	no := false
	must[*webhooks.Webhook](w.forwarder, at, webhooks.UpdateWebhook{Request: w.h.Request(w.ana), WebhookID: hook.WebhookID, Patch: webhooks.Patch{Paused: &no}})
	must[*webhooks.Webhook](w.forwarder, at, webhooks.RotateWebhook{Request: w.h.Request(w.ana), WebhookID: hook.WebhookID})
	d := must[*webhooks.Delivery](w.forwarder, at, webhooks.TestWebhook{Request: w.h.Request(w.ana), WebhookID: hook.WebhookID})
	poll.Until(w.t, "the try has ended", func() bool {
		w.h.Alarms()
		list := must[*webhooks.DeliveryList](w.forwarder, at, webhooks.ListDeliveries{Who: w.ana, WebhookID: hook.WebhookID})
		return list.Deliveries[0].State == webhooks.DeliveryDelivered
	})
	must[*webhooks.Delivery](w.forwarder, at, webhooks.Redeliver{Request: w.h.Request(w.ana), WebhookID: hook.WebhookID, DeliveryID: d.DeliveryID})
	refused(w.forwarder, ubl.CodeForbidden, at, webhooks.RotateWebhook{Request: w.h.Request(w.bob), WebhookID: hook.WebhookID})
	must[*webhooks.Webhook](w.forwarder, at, webhooks.RemoveWebhook{Request: w.h.Request(w.ana), WebhookID: hook.WebhookID})
}

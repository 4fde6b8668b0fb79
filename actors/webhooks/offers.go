package webhooks

import (
	"ubl"
	"ubl/offer"
)

// What the operations take.
type (
	listInput struct{}

	createInput struct {
		Name   string          `json:"name" minLength:"1" maxLength:"100" doc:"What you call it." example:"Build server"`
		URL    string          `json:"url" minLength:"1" maxLength:"2048" example:"https://hooks.example/ubl" doc:"Where events are posted: https, or http in a private network that the operator allows."`
		Events []ubl.EntryType `json:"events,omitempty" maxItems:"11" doc:"Types of entries: message (polls and forms too), edit, reaction, redaction, pin, membership, proposal, room, vote, poll_end, answer. Empty is message."`
		Rooms  []ubl.RoomID    `json:"rooms" minItems:"1" maxItems:"50" doc:"Rooms that it tells of: you own them, or the organisation and are in them."`
	}
	updateInput struct {
		WebhookID string           `json:"webhook_id" pattern:"^wh:[0-9a-f]{20}$" doc:"The webhook, by its id." example:"wh:00112233445566778899"`
		Name      *string          `json:"name,omitempty" minLength:"1" maxLength:"100" doc:"What you call it." example:"Build server"`
		URL       *string          `json:"url,omitempty" minLength:"1" maxLength:"2048" doc:"Where events are posted." example:"https://hooks.example/ubl"`
		Events    *[]ubl.EntryType `json:"events,omitempty" maxItems:"11" doc:"The whole new list."`
		Rooms     *[]ubl.RoomID    `json:"rooms,omitempty" minItems:"1" maxItems:"50" doc:"The whole new list."`
		Paused    *bool            `json:"paused,omitempty" doc:"true: it tells nothing. false: it tells again, after it was paused."`
	}
	hookRef struct {
		WebhookID string `json:"webhook_id" pattern:"^wh:[0-9a-f]{20}$" doc:"The webhook, by its id." example:"wh:00112233445566778899"`
	}
	deliveryRef struct {
		WebhookID  string `json:"webhook_id" pattern:"^wh:[0-9a-f]{20}$" doc:"The webhook, by its id." example:"wh:00112233445566778899"`
		DeliveryID string `json:"delivery_id" pattern:"^msg_[0-9a-f]{20}$" doc:"One of its newest deliveries, by its id." example:"msg_00112233445566778899"`
	}
)

func at(req ubl.Request) ubl.Name { return ActorName(req.Who.TenantID) }

// offers are the operations over REST and MCP.
var offers = []offer.Operation{
	offer.Paged(offer.Of[listInput, WebhookList](offer.Operation{
		Method: "GET", Path: "/webhooks", Tool: "webhook.list", People: true, Summary: "List webhooks, and how their deliveries fare",
		More: "Lists your webhooks: where they post, of what, whether they are paused or failing, and the newest delivery. Use it to see how they fare, or for the id that the others take; owners of the organisation see those of all. For single deliveries use webhook.deliveries. For people alone; cursor reads on.",
	}, func(req ubl.Request, _ listInput) (ubl.Name, ubl.Command) {
		return at(req), ListWebhooks{Who: req.Who}
	}), func(l *WebhookList) *[]Webhook { return &l.Webhooks }, func(w Webhook) string { return w.WebhookID }),
	offer.Of[createInput, Webhook](offer.Operation{
		Method: "POST", Path: "/webhooks", Tool: string(didCreate), People: true, Counts: ubl.Creations, Creates: true, Location: "/webhooks/{webhook_id}", Sensitive: true,
		Summary: "Make a webhook: post what happens in rooms to a URL",
		More:    "Has another server told of new messages and other entries, signed by Standard Webhooks; its secret is told in this answer only. Use it to connect a program that reacts to rooms. It tells what you may read, and no direct messages; to post into a room from outside use token.create. For owners of the rooms or the organisation who are people.",
	}, func(req ubl.Request, in createInput) (ubl.Name, ubl.Command) {
		return at(req), AddWebhook{Request: req, Name: in.Name, URL: in.URL, Events: in.Events, Rooms: in.Rooms}
	}),
	offer.Of[updateInput, Webhook](offer.Operation{
		Method: "PATCH", Path: "/webhooks/{webhookId}", Tool: string(didUpdate), People: true, Counts: ubl.Sends, Sensitive: true, Summary: "Change a webhook, pause it, or resume it",
		More: "Changes where one of your webhooks posts, of which events and rooms, or has it pause or tell again; what isn't given stays. Use it to move, pause or resume a webhook. For another secret use webhook.rotate. For its maker alone; answers what it is now.",
	}, func(req ubl.Request, in updateInput) (ubl.Name, ubl.Command) {
		patch := Patch{Name: in.Name, URL: in.URL, Paused: in.Paused}
		if in.Events != nil {
			patch.Events = &EntryTypeList{Types: *in.Events}
		}
		if in.Rooms != nil {
			patch.Rooms = &RoomList{Rooms: *in.Rooms}
		}
		return at(req), UpdateWebhook{Request: req, WebhookID: in.WebhookID, Patch: patch}
	}),
	offer.Of[hookRef, Webhook](offer.Operation{
		Method: "DELETE", Path: "/webhooks/{webhookId}", Tool: string(didRemove), People: true, Counts: ubl.Sends, Destroys: true, Summary: "Remove a webhook",
		More: "Ends a webhook: nothing more is posted, nor what waits. Use it when the other server is gone. To have it rest a while use webhook.update. For its maker, and owners of the organisation.",
	}, func(req ubl.Request, in hookRef) (ubl.Name, ubl.Command) {
		return at(req), RemoveWebhook{Request: req, WebhookID: in.WebhookID}
	}),
	offer.Of[hookRef, Webhook](offer.Operation{
		Method: "POST", Path: "/webhooks/{webhookId}/rotate", Tool: string(didRotate), People: true, Counts: ubl.Creations, Sensitive: true, Summary: "Replace a webhook's secret",
		More: "Gives a webhook another secret, told in this answer only. Use it when a secret leaked. The one before signs, too, for 24 hours, and one before that ends at once. For its maker alone; other changes are made by webhook.update.",
	}, func(req ubl.Request, in hookRef) (ubl.Name, ubl.Command) {
		return at(req), RotateWebhook{Request: req, WebhookID: in.WebhookID}
	}),
	offer.Of[hookRef, Delivery](offer.Operation{
		Method: "POST", Path: "/webhooks/{webhookId}/test", Tool: string(didTest), People: true, Counts: ubl.Sends, Summary: "Try a webhook",
		More: "Posts an event of type webhook.test, which tells of nothing, even while the webhook is paused. Use it to see whether the other server answers. What came of it is in webhook.deliveries a moment later. For its maker alone.",
	}, func(req ubl.Request, in hookRef) (ubl.Name, ubl.Command) {
		return at(req), TestWebhook{Request: req, WebhookID: in.WebhookID}
	}),
	offer.Paged(offer.Of[hookRef, DeliveryList](offer.Operation{
		Method: "GET", Path: "/webhooks/{webhookId}/deliveries", Tool: "webhook.deliveries", People: true, Falling: true, Summary: "List the newest deliveries of a webhook",
		More: "Lists the newest 50 deliveries of a webhook, the newest first: what was told, what the other server answered, and why one failed. Use it to find out why nothing arrives there. To send one again use webhook.redeliver. For its maker, and owners of the organisation; cursor reads on.",
	}, func(req ubl.Request, in hookRef) (ubl.Name, ubl.Command) {
		return at(req), ListDeliveries{Who: req.Who, WebhookID: in.WebhookID}
	}), func(l *DeliveryList) *[]Delivery { return &l.Deliveries }, func(d Delivery) string { return d.At.String() + d.DeliveryID }),
	offer.Of[deliveryRef, Delivery](offer.Operation{
		Method: "POST", Path: "/webhooks/{webhookId}/deliveries/{deliveryId}", Tool: string(didRedeliver), People: true, Counts: ubl.Sends, Summary: "Repeat a delivery of a webhook",
		More: "Posts one of the newest deliveries again, under the same webhook-id. Use it after the other server was mended; the ids are in webhook.deliveries. To try without an event use webhook.test. For its maker alone.",
	}, func(req ubl.Request, in deliveryRef) (ubl.Name, ubl.Command) {
		return at(req), Redeliver{Request: req, WebhookID: in.WebhookID, DeliveryID: in.DeliveryID}
	}),
}

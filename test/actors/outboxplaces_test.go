package actors_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"ubl"
	"ubl/actors/webhooks"
	"ubl/test/harness"
	"ubl/test/poll"
	"ubl/webhook"
)

// silent is a server of webhooks that answers nobody before the test ends.
type silent struct {
	*harness.Server
	asked, ends chan struct{}
}

func (s silent) Deliver(context.Context, ubl.Name, string, [][]byte, webhook.Message) (int, error) {
	s.asked <- struct{}{}
	<-s.ends
	return 0, ubl.Errorf(ubl.CodeUnavailable, "the server was silent")
}

// TestSilentServersHoldUpNoOtherFamily: as many posts as a tenant may have under way are out, at
// servers that say nothing, and a scheduled message is sent when it is due.
func TestSilentServersHoldUpNoOtherFamily(t *testing.T) {
	const hooks, atOnce = 12, 8
	server := silent{Server: harness.Answering(204), asked: make(chan struct{}, hooks), ends: make(chan struct{})}
	w := openScheduler(t, harness.Options{Webhooks: server})
	t.Cleanup(func() { close(server.ends) })
	for i := range hooks {
		harness.Must[*webhooks.Webhook](w.House, webhooks.ActorName(w.ana.TenantID), webhooks.AddWebhook{
			Request: w.Request(w.ana), Name: fmt.Sprint("Build ", i), URL: "https://hooks.example/", Rooms: []ubl.RoomID{ubl.GeneralRoom},
		})
	}
	w.schedule(w.ana, "later", w.in(time.Hour), "")
	w.Clock.Add(time.Second)
	harness.Must[*ubl.Sent](w.House, ubl.RoomName(w.ana.TenantID, ubl.GeneralRoom), ubl.SendMessage{Request: w.Request(w.ana), Text: "now"})
	for range atOnce {
		poll.Until(t, "a post is under way", func() bool {
			w.Look()
			select {
			case <-server.asked:
				return true
			default:
				return false
			}
		})
	}
	w.Clock.Add(2 * time.Hour)
	poll.Until(t, "the scheduled message is sent", func() bool {
		w.Look()
		return w.said("later", w.ana) > 0
	})
}

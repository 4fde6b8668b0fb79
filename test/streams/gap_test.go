// Package streams tests live streams over the real actors and engine, with a
// clock that the test owns.
package streams

import (
	"context"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/go-chi/chi/v5"

	"ubl"
	"ubl/actors/families"
	"ubl/test/events"
	"ubl/test/harness"
	"ubl/transport/envelope"
	"ubl/transport/sse"
)

// TestGapThroughRetention: a client that comes back after its messages were
// removed is told from where on the room is kept, and gets everything from there.
func TestGapThroughRetention(t *testing.T) {
	h := harness.Open(t, harness.Options{})
	ana := harness.User("ana@example.com")
	h.Enter(ana)
	room := ubl.RoomName(ana.TenantID, ubl.GeneralRoom)
	days := 1
	harness.Must[*ubl.Room](h, room, ubl.SetRoomPolicy{Request: h.Request(ana), Patch: ubl.RoomPolicyPatch{RetentionDays: &days}})
	harness.Must[*ubl.Sent](h, room, ubl.SendMessage{Request: h.Request(ana), Text: "old"})
	h.Clock.Add(36 * time.Hour)
	harness.Must[*ubl.Sent](h, room, ubl.SendMessage{Request: h.Request(ana), Text: "new"})
	h.Alarms()

	stream := follow(t, h, ana, "/api/events/rooms/r:general?from_seq=0")
	for _, want := range []events.Event{
		{ID: "3", Name: "room.gap", Data: `{"event":"room.gap","payload":{"available_from":4,"from_seq":1},"room_id":"r:general"`},
		{ID: "4", Name: "message.created", Data: `"text":"new"`},
	} {
		got, ok := stream.Next()
		for ok && got.Name == "" {
			got, ok = stream.Next()
		}
		if got.ID != want.ID || got.Name != want.Name || !strings.Contains(got.Data, want.Data) {
			t.Errorf("the stream tells %+v, want %+v", got, want)
		}
	}
}

// follow opens a stream as the user, until the test ends.
func follow(t *testing.T, h *harness.House, who ubl.Identity, path string) *events.Reader {
	t.Helper()
	hub := sse.New(sse.Options{Asker: h, Feed: h, Now: time.Now, Told: families.All.Told()})
	router := chi.NewRouter()
	router.Get("/api/events/rooms/{roomId}", hub.Room)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		caller := &envelope.Caller{Identity: who}
		caller.Let(ubl.RoleOwner)
		router.ServeHTTP(w, r.WithContext(envelope.WithCaller(r.Context(), caller)))
	}))
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	t.Cleanup(func() {
		cancel()
		stopping, done := context.WithTimeout(context.Background(), time.Minute)
		defer done()
		if err := hub.Shutdown(stopping); err != nil {
			t.Error(err)
		}
		server.Close()
	})
	req, err := http.NewRequestWithContext(ctx, "GET", server.URL+path, nil)
	if err != nil {
		t.Fatal(err)
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = resp.Body.Close() })
	if resp.StatusCode != http.StatusOK {
		t.Fatalf("the stream is answered %d", resp.StatusCode)
	}
	return events.NewReader(resp.Body)
}

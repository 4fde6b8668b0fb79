package main

import (
	"crypto/rand"
	"encoding/json"
	"net"
	"net/http"
	"testing"
	"time"

	"ubl"
	"ubl/transport/envelope"
)

// TestWaitingNodeAnswers: while a node waits for its cluster it answers as it does later,
// with an id, its time and when to come back.
func TestWaitingNodeAnswers(t *testing.T) {
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer ln.Close()
	at := time.Date(2026, 11, 24, 3, 0, 0, 0, time.UTC)
	w := (&doors{main: ln}).wait(&program{now: func() time.Time { return at }, random: rand.Reader})
	defer w.end()
	resp, err := http.Get("http://" + ln.Addr().String() + "/api/whoami")
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	var body envelope.ErrorBody
	if err := json.NewDecoder(resp.Body).Decode(&body); err != nil {
		t.Fatal(err)
	}
	if resp.StatusCode != http.StatusServiceUnavailable || resp.Header.Get("Retry-After") != "1" || body.Error.Code != ubl.CodeUnavailable {
		t.Errorf("it answers %d, Retry-After %q, %+v", resp.StatusCode, resp.Header.Get("Retry-After"), body)
	}
	if body.RequestID == "" || resp.Header.Get("X-Request-Id") != body.RequestID || body.ServerTime != ubl.TimeOf(at) {
		t.Errorf("it answers with %+v and the id %q", body, resp.Header.Get("X-Request-Id"))
	}
}

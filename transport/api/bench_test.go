package api

import (
	"context"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"ubl"
	"ubl/transport/envelope"
)

// instant answers at once, so that a benchmark measures this package alone.
type instant struct{ answer any }

func (i instant) Ask(context.Context, ubl.Name, ubl.Command) (any, error) { return i.answer, nil }

// sink is a response writer that costs nothing.
type sink struct{ header http.Header }

func (s sink) Header() http.Header         { return s.header }
func (s sink) Write(b []byte) (int, error) { return len(b), nil }
func (s sink) WriteHeader(int)             {}

type body struct{ *strings.Reader }

func (body) Close() error { return nil }

func benchmark(b *testing.B, answer any, method, target, content string) {
	s := newServer(b)
	s.api.Asker = instant{answer}
	r := httptest.NewRequest(method, target, nil)
	ctx := envelope.WithRequest(r.Context(), &envelope.Request{ID: "req:1234", Key: "req:1234", At: now})
	ctx = envelope.WithCaller(ctx, &envelope.Caller{Identity: ana})
	r = r.WithContext(ctx)
	if content != "" {
		r.Header.Set("Content-Type", "application/json")
		r.ContentLength = int64(len(content))
	}
	b.ReportAllocs()
	for b.Loop() {
		if content != "" {
			r.Body = body{strings.NewReader(content)}
		}
		s.router.ServeHTTP(sink{http.Header{}}, r)
	}
}

// BenchmarkSend is one message through everything of this package.
func BenchmarkSend(b *testing.B) {
	benchmark(b, &ubl.Sent{Message: message(42, "hello"), RoomSeq: 42}, "POST", "/api/rooms/r:general/messages",
		`{"type":"text","body":{"text":"hello"},"reply_to":null,"client_request_id":"0123456789abcdef"}`)
}

// BenchmarkSendAsTool is the same message as an act in-process, for comparison.
func BenchmarkSendAsTool(b *testing.B) {
	s := newServer(b)
	s.api.Asker = instant{&ubl.Sent{Message: message(42, "hello"), RoomSeq: 42}}
	act, ctx := s.act(b, "messenger.send"), anaActs()
	args := json.RawMessage(`{"room_id":"r:general","type":"text","body":{"text":"hello"},"reply_to":null,"client_request_id":"0123456789abcdef"}`)
	b.ReportAllocs()
	for b.Loop() {
		if _, err := act.Do(ctx, args); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkHistory is a page of 50.
func BenchmarkHistory(b *testing.B) {
	page := &ubl.HistoryPage{}
	for seq := range int64(50) {
		page.Messages = append(page.Messages, message(seq+1, "hello"))
	}
	benchmark(b, page, "GET", "/api/rooms/r:general/history", "")
}

// BenchmarkCreateRoom goes through huma, for comparison.
func BenchmarkCreateRoom(b *testing.B) {
	room := general
	benchmark(b, &room, "POST", "/api/rooms", `{"name":"general","client_request_id":"0123456789abcdef"}`)
}

// BenchmarkBareDecode is what a bare program would do with the body of a send.
func BenchmarkBareDecode(b *testing.B) {
	b.ReportAllocs()
	for b.Loop() {
		var in sendBody
		err := json.NewDecoder(strings.NewReader(`{"type":"text","body":{"text":"hello"},"reply_to":null,"client_request_id":"0123456789abcdef"}`)).Decode(&in)
		if err != nil {
			b.Fatal(err)
		}
	}
}

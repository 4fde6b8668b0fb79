package transport_test

import (
	"context"
	"io"
	"log/slog"
	"net/http"
	"strings"
	"testing"

	"github.com/go-chi/chi/v5"

	"ubl"
	"ubl/transport"
	"ubl/transport/envelope"
)

// BenchmarkRequest is one request through everything of this package, access log
// and metrics included; its handler does nothing.
func BenchmarkRequest(b *testing.B) {
	s := transport.New(transport.Options{
		Log: slog.New(slog.NewTextHandler(io.Discard, nil)),
		Authenticate: func(next http.Handler) http.Handler {
			caller := &envelope.Caller{Identity: ubl.Identity{UserID: "u:ana", TenantID: "t:example.com"}}
			return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				next.ServeHTTP(w, r.WithContext(envelope.WithCaller(r.Context(), caller)))
			})
		},
		API: func(r chi.Router) {
			r.Post("/rooms/{roomId}/messages", func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusCreated) })
		},
	})
	r, err := http.NewRequestWithContext(context.Background(), http.MethodPost, "/api/rooms/r:general/messages", strings.NewReader("{}"))
	if err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	for b.Loop() {
		s.Handler().ServeHTTP(nowhere{http.Header{}}, r)
	}
}

// nowhere is a response writer that costs nothing.
type nowhere struct{ header http.Header }

func (n nowhere) Header() http.Header         { return n.header }
func (n nowhere) Write(b []byte) (int, error) { return len(b), nil }
func (n nowhere) WriteHeader(int)             {}

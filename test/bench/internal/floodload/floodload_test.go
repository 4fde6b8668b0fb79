package floodload

import (
	"encoding/json"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"
	"time"

	"ubl/test/bench/internal/load"
)

// A flood sends, makes rooms and holds streams, from an address of its own. Who waits as
// told asks little more than they get; who doesn't is refused all the time.
func TestRun(t *testing.T) {
	const most = 10 // of each kind
	for name, rude := range map[string]bool{"patient": false, "rude": true} {
		t.Run(name, func(t *testing.T) {
			var mu sync.Mutex
			granted := map[string]int{}
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				if host, _, _ := net.SplitHostPort(r.RemoteAddr); host != Address().String() {
					t.Errorf("a request came from %s", host)
				}
				if r.URL.Path == "/send" {
					var m struct{ Body struct{ Text string } }
					if err := json.NewDecoder(r.Body).Decode(&m); err != nil || len(m.Body.Text) != textBytes {
						t.Errorf("a message of %d bytes, %v", len(m.Body.Text), err)
					}
				}
				mu.Lock()
				ok := granted[r.URL.Path] < most
				if ok {
					granted[r.URL.Path]++
				}
				mu.Unlock()
				switch {
				case !ok:
					w.Header().Set("Retry-After", "60")
					w.WriteHeader(http.StatusTooManyRequests)
				case r.URL.Path == "/listen":
					w.WriteHeader(http.StatusOK)
					_ = http.NewResponseController(w).Flush()
					<-r.Context().Done()
				default:
					w.WriteHeader(http.StatusCreated)
				}
				_, _ = io.WriteString(w, "{}")
			}))
			defer server.Close()
			once := senders + makers + listeners
			for length := time.Second; ; length *= 4 { // until it is long enough for this machine
				mu.Lock()
				clear(granted)
				mu.Unlock()
				got, err := Run(t.Context(), Options{
					Host: server.Listener.Addr().String(), PostPath: "/send", RoomsPath: "/rooms", EventsPath: "/listen", Token: "t",
					Rude: rude, Plan: load.Plan{Length: length},
				})
				if err == nil && got.Messages == most && got.Rooms == most && got.Streams == most && rude == (got.Refused > once) {
					break
				}
				if err != nil || length > 10*time.Second {
					t.Fatalf("got %+v, with %d connections, %v", got, once, err)
				}
			}
		})
	}
}

// An answer that is no limit's ends the flood with an error.
func TestRunTellsFailures(t *testing.T) {
	server := httptest.NewServer(http.NotFoundHandler())
	defer server.Close()
	if got, err := Run(t.Context(), Options{Host: server.Listener.Addr().String(), Plan: load.Plan{Length: time.Second}, PostPath: "/", RoomsPath: "/", EventsPath: "/"}); err == nil {
		t.Errorf("got %+v", got)
	}
}

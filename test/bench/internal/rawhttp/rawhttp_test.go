package rawhttp

import (
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

// A stream that is granted is read until it is closed; a refusal leaves the connection as
// it was.
func TestListen(t *testing.T) {
	asked := 0
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if host, _, _ := net.SplitHostPort(r.RemoteAddr); host != "127.0.0.3" {
			t.Errorf("asked from %s", host)
		}
		if asked++; asked == 1 {
			w.Header().Set("Retry-After", "7")
			w.WriteHeader(http.StatusTooManyRequests)
			return
		}
		io.WriteString(w, "event")
		http.NewResponseController(w).Flush()
		<-r.Context().Done()
	}))
	defer server.Close()
	host := server.Listener.Addr().String()
	conn, err := DialFrom(host, net.IPv4(127, 0, 0, 3))
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []int{http.StatusTooManyRequests, http.StatusOK} {
		if status, err := conn.Listen(Get(host, "/", "", "text/event-stream")); err != nil || status != want || (status == 200) != (conn.RetryAfter == 0) {
			t.Fatalf("status %d, retry after %d, %v", status, conn.RetryAfter, err)
		}
	}
	ended := make(chan bool)
	go func() { conn.Drain(); close(ended) }()
	conn.Close()
	<-ended
}

func TestDo(t *testing.T) {
	long := strings.Repeat("x", 40_000)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		w.WriteHeader(http.StatusCreated)
		io.WriteString(w, r.Header.Get("Authorization")+r.Header.Get("Mcp-Name")+string(body))
		if r.URL.Path == "/chunked" {
			http.NewResponseController(w).Flush()
			io.WriteString(w, long)
		}
	}))
	defer server.Close()
	host := server.Listener.Addr().String()
	conn, err := Dial(host)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	for path, want := range map[string]string{"/plain": "Bearer abcx{}", "/chunked": "Bearer abcx{}" + long} {
		for range 2 { // twice: the connection is kept alive
			status, body, err := conn.Do(Post(host, path, "abc", []byte("{}"), "Mcp-Name: x"))
			if err != nil || status != http.StatusCreated || string(body) != want {
				t.Fatalf("%s: status %d, %d bytes, %v", path, status, len(body), err)
			}
		}
	}
}

package rawhttp

import (
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

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

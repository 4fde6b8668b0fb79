package rawgrpc

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
)

const path = "/test.Echo/Say"

// serve is a server of HTTP/2 without TLS; its address is returned.
func serve(t *testing.T, handler http.HandlerFunc) string {
	t.Helper()
	server := httptest.NewUnstartedServer(handler)
	server.Config.Protocols = new(http.Protocols)
	server.Config.Protocols.SetUnencryptedHTTP2(true)
	server.Start()
	t.Cleanup(server.Close)
	return server.Listener.Addr().String()
}

// echo answers a message with itself, unless it asks for something else.
func echo(w http.ResponseWriter, r *http.Request) {
	message, err := io.ReadAll(r.Body)
	if err != nil || r.Method != http.MethodPost || r.URL.Path != path || r.Header.Get("Te") != "trailers" ||
		r.Header.Get("Content-Type") != "application/grpc" || len(message) < prefix {
		http.Error(w, "not a call", http.StatusBadRequest)
		return
	}
	w.Header().Set("Trailer", "Grpc-Status, Grpc-Message")
	w.Header().Set("Content-Type", "application/grpc")
	switch string(message[prefix:]) {
	case "refuse":
		w.Header().Set("Grpc-Status", "8")
		w.Header().Set("Grpc-Message", "too many requests")
	case "break off":
		panic(http.ErrAbortHandler)
	case "cut short":
		w.Write(message[:len(message)-1])
		w.Header().Set("Grpc-Status", "0")
	default:
		w.Write(message)
		w.Header().Set("Grpc-Status", "0")
	}
}

// Callers of one connection get each their own replies, whatever others get.
func TestCallers(t *testing.T) {
	conn, err := Dial(serve(t, echo), path)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	var group sync.WaitGroup
	for i := range 50 {
		caller := conn.Caller()
		group.Go(func() {
			for n := range 40 {
				want := fmt.Sprintf("caller %d, call %d, %s", i, n, strings.Repeat("x", 100*i))
				if got, err := caller.Do(Message([]byte(want))); err != nil || string(got) != want {
					t.Errorf("got %.50q, %v, want %.50q", got, err, want)
				}
			}
		})
	}
	for text, want := range map[string]string{"refuse": "too many requests", "break off": "broke a call off", "cut short": "not one plain message"} {
		caller := conn.Caller()
		group.Go(func() {
			for range 20 {
				_, err := caller.Do(Message([]byte(text)))
				if err == nil || !strings.Contains(err.Error(), want) {
					t.Errorf("%s: %v", text, err)
				}
				if status, ok := errors.AsType[*Status](err); ok != (text == "refuse") || ok && status.Code != "8" {
					t.Errorf("%s: the status is %+v", text, status)
				}
			}
		})
	}
	group.Wait()
}

// A call can't be made where the server takes too little, is no gRPC server, or has
// gone; nobody waits for ever.
func TestFailures(t *testing.T) {
	conn, err := Dial(serve(t, echo), path)
	if err != nil {
		t.Fatal(err)
	}
	caller := conn.Caller()
	if _, err := caller.Do(make([]byte, 10<<20)); err == nil {
		t.Error("a message of 10 MB was taken")
	}
	if _, err := caller.Do([]byte("abc")); err == nil || !strings.Contains(err.Error(), "HTTP status 400") {
		t.Errorf("a call that is none: %v", err)
	}
	conn.Close()
	if _, err := caller.Do(Message(nil)); err == nil {
		t.Error("a call was made over a closed connection")
	}

	waiting := make(chan struct{})
	conn, err = Dial(serve(t, func(_ http.ResponseWriter, r *http.Request) {
		close(waiting)
		<-r.Context().Done()
	}), path)
	if err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() {
		_, err := conn.Caller().Do(Message(nil))
		ended <- err
	}()
	<-waiting
	conn.Close()
	if err := <-ended; err == nil {
		t.Error("a call outlived its connection")
	}
}

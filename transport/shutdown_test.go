package transport_test

import (
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"ubl/test/leaks"
	"ubl/test/poll"
	"ubl/transport"
)

// Stopping takes no new connection, lets the request under way finish, ends
// the streams meanwhile, and leaves no goroutine.
func TestShutdownIsGraceful(t *testing.T) {
	defer leaks.None(t, goleak.IgnoreCurrent())
	ended := make(chan struct{})
	w := newWorld(func(o *transport.Options) {
		o.EndStreams = func(context.Context) error { close(ended); return nil }
	})
	url, served := w.open(t)
	answer := make(chan string, 1)
	go func() { answer <- fetch(url + "/api/slow") }()
	<-w.in

	stopped := make(chan error, 1)
	go func() { stopped <- w.Shutdown(t.Context()) }()
	<-ended
	poll.Until(t, "new connections are refused", func() bool { return strings.Contains(fetch(url+"/api/public"), "refused") })
	select {
	case err := <-stopped:
		t.Errorf("stopped with a request under way: %v", err)
	default:
	}
	close(w.wait)
	if got := <-answer; got != "done" {
		t.Errorf("the request under way got %q", got)
	}
	if err := errors.Join(<-stopped, <-served); err != nil {
		t.Errorf("stopping = %v", err)
	}
}

func TestShutdownIsBounded(t *testing.T) {
	defer leaks.None(t, goleak.IgnoreCurrent())
	w := newWorld(nil)
	url, served := w.open(t)
	answer := make(chan string, 1)
	go func() { answer <- fetch(url + "/api/slow") }()
	<-w.in
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	if err := w.Shutdown(ctx); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("stopping with a stuck request = %v, want the deadline", err)
	}
	if got := <-answer; got == "done" {
		t.Error("the stuck request was answered")
	}
	close(w.wait)
	<-served
}

func (w *world) open(t *testing.T) (url string, served chan error) {
	t.Helper()
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	served = make(chan error, 1)
	go func() { served <- w.Serve(ln) }()
	return "http://" + ln.Addr().String(), served
}

// fetch is the answer's body, or the error's text.
func fetch(url string) string {
	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}, Timeout: time.Minute}
	r, _ := http.NewRequest("GET", url, nil)
	r.Header.Set("Authorization", "Bearer x")
	resp, err := client.Do(r)
	if err != nil {
		return err.Error()
	}
	defer resp.Body.Close()
	body, _ := io.ReadAll(resp.Body)
	return string(body)
}

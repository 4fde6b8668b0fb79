package envelope_test

import (
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"ubl"
	"ubl/transport/envelope"
)

// TestPatient: what a client reads of answers that take their time.
func TestPatient(t *testing.T) {
	const comment, events = ": keepalive\n\n", "text/event-stream"
	event := func(w http.ResponseWriter, data string) {
		w.Header().Set("Content-Type", events)
		_, _ = io.WriteString(w, "data: "+data+"\n\n")
	}
	refusal := func(w http.ResponseWriter) {
		envelope.WriteError(w, httptest.NewRequest("POST", "/", nil), ubl.Errorf(ubl.CodeOverloaded, "busy"))
	}
	const refused = `{"error":{"code":"overloaded","message":"busy"},"request_id":"","server_time":"1970-01-01T00:00:00.000Z"}`
	for name, c := range map[string]struct {
		do     func(http.ResponseWriter)
		status int
		kind   string
		body   string
	}{
		"at once":        {func(w http.ResponseWriter) { event(w, "a") }, 200, events, "data: a\n\n"},
		"silent before":  {func(w http.ResponseWriter) { time.Sleep(31 * time.Second); event(w, "a") }, 200, events, comment + comment + "data: a\n\n"},
		"silent between": {func(w http.ResponseWriter) { event(w, "a"); time.Sleep(16 * time.Second); event(w, "b") }, 200, events, "data: a\n\n" + comment + "data: b\n\n"},
		"never silent": {func(w http.ResponseWriter) {
			event(w, "a")
			time.Sleep(14 * time.Second)
			event(w, "b")
			time.Sleep(14 * time.Second)
			event(w, "c")
		}, 200, events, "data: a\n\ndata: b\n\ndata: c\n\n"},
		"refused soon":         {refusal, 503, "application/json", refused},
		"refused late":         {func(w http.ResponseWriter) { time.Sleep(16 * time.Second); refusal(w) }, 200, events, comment + "event: error\ndata: " + refused + "\n\n"},
		"silent after the end": {func(w http.ResponseWriter) { refusal(w); time.Sleep(time.Minute) }, 503, "application/json", refused},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := httptest.NewRecorder()
				p := envelope.Patiently(w, envelope.Silence, "error")
				c.do(p)
				p.Close()
				time.Sleep(time.Minute)
				kind := w.Result().Header.Get("Content-Type")
				if w.Code != c.status || !strings.HasPrefix(kind, c.kind) || w.Body.String() != c.body {
					t.Errorf("answered %d %s\n%s\nwant %d %s\n%s", w.Code, kind, w.Body, c.status, c.kind, c.body)
				}
			})
		})
	}
}

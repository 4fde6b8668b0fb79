package api

import (
	"bytes"
	"context"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"ubl"
	"ubl/transport/envelope"
)

// timed is a response writer that notes its deadlines, in order with what it writes.
type timed struct {
	*httptest.ResponseRecorder
	events []string
}

func (d *timed) SetWriteDeadline(t time.Time) error {
	if t.IsZero() {
		d.events = append(d.events, "none")
	} else {
		d.events = append(d.events, t.Sub(now.Std()).String())
	}
	return nil
}

func (d *timed) Write(p []byte) (int, error) {
	d.events = append(d.events, "answer")
	return d.ResponseRecorder.Write(p)
}

// TestSlowOperationsHaveTime: no deadline runs while somebody else is waited for,
// and each piece of the answer has one of its own.
func TestSlowOperationsHaveTime(t *testing.T) {
	s := newServer(t)
	const stream = "none, 1m0s, answer, 1m0s, answer, 1m0s, answer"
	for _, test := range []struct{ request, accept, want string }{
		{"POST /api/workspaces/{workspaceId}/complete", "", "none, 1m0s, answer"},
		{"POST /api/workspaces/{workspaceId}/complete", "text/event-stream", stream},
		{"POST /api/portal/tools/{tool}/call", "", "none, 1m0s, answer"},
		{"POST /api/portal/servers/{serverId}/connect", "", "none, 1m0s, answer"},
		{"POST /api/rooms", "", "answer"},
	} {
		method, target, _ := strings.Cut(test.request, " ")
		r := httptest.NewRequest(method, places.Replace(target), strings.NewReader(bodies[test.request]))
		r.Header.Set("Content-Type", "application/json")
		r.Header.Set("Accept", test.accept)
		w := &timed{ResponseRecorder: httptest.NewRecorder()}
		ctx := envelope.WithCaller(r.Context(), let(&envelope.Caller{Identity: ana}, ubl.RoleOwner))
		s.router.ServeHTTP(w, r.WithContext(ctx))
		if got := strings.Join(w.events, ", "); w.Code >= 400 || got != test.want {
			t.Errorf("%s, accepting %q: answered %d after: %s\nwant: %s", test.request, test.accept, w.Code, got, test.want)
		}
	}
}

// thoughtful is an office whose model thinks for 40 seconds.
type thoughtful struct{ Office }

// Complete implements [Office].
func (o thoughtful) Complete(ctx context.Context, req ubl.CompleteRequest, delta func(string)) (*ubl.Completion, error) {
	time.Sleep(40 * time.Second)
	return o.Office.Complete(ctx, req, delta)
}

// TestASlowStreamIsNotSilent: proxies would cut it off.
func TestASlowStreamIsNotSilent(t *testing.T) {
	s := newServer(t)
	s.api.Office = thoughtful{s.api.Office}
	synctest.Test(t, func(t *testing.T) {
		r := httptest.NewRequest("POST", "/api/workspaces/w:general/complete", strings.NewReader(bodies["POST /api/workspaces/{workspaceId}/complete"]))
		r.Header.Set("Content-Type", "application/json")
		r.Header.Set("Accept", streamType)
		w := s.serve(as(r, ana))
		if body := w.Body.String(); w.Code != 200 || !strings.HasPrefix(body, ": keepalive\n\n: keepalive\n\nevent: delta\n") || !strings.Contains(body, "event: completion\n") {
			t.Errorf("answered %d %s", w.Code, body)
		}
	})
}

// TestLargeBodies: documents have room for a million characters of any kind, and
// what is too long is too large and not invalid.
func TestLargeBodies(t *testing.T) {
	const documents, history = "/api/workspaces/w:general/documents", "/api/workspaces/w:general/documents/d:1"
	wide := strings.Repeat("😀", ubl.MaxContentChars)
	s := newServer(t)
	s.api.Asker = instant{&ubl.DocumentResult{Document: document(1, ""), Receipt: receipt}}
	for _, test := range []struct {
		what, method, target, body string
		code                       int
	}{
		{"a million characters of four bytes", "POST", documents, `{"title":"T","content":"` + wide + `"}`, http.StatusCreated},
		{"one more", "POST", documents, `{"title":"T","content":"` + wide + `x"}`, http.StatusRequestEntityTooLarge},
		{"one more in the next version", "PATCH", history, `{"content":"` + wide + `x"}`, http.StatusRequestEntityTooLarge},
		{"one more to pass through", "POST", "/api/containers/k:x/transfer", `{"to":"w:general","title":"T","content":"` + wide + `x"}`, http.StatusRequestEntityTooLarge},
		{"a body of 8 MiB and more", "POST", documents, `{"title":"T","content":"` + strings.Repeat("x", maxLargeBody) + `"}`, http.StatusRequestEntityTooLarge},
		{"a title that is too long", "POST", documents, `{"title":"` + strings.Repeat("x", 257) + `","content":""}`, http.StatusBadRequest},
		{"a body of 2 MiB elsewhere", "POST", "/api/rooms", `{"name":"` + strings.Repeat("x", 2<<20) + `"}`, http.StatusRequestEntityTooLarge},
	} {
		for _, chunked := range []bool{false, true} {
			r := httptest.NewRequest(test.method, test.target, bytes.NewReader([]byte(test.body)))
			if r.Header.Set("Content-Type", "application/json"); chunked {
				r.ContentLength = -1
			}
			if w := s.serve(as(r, ana)); w.Code != test.code || w.Body.Len() > 5000 {
				t.Errorf("%s, chunked %t: answered %d %.300s, want %d", test.what, chunked, w.Code, w.Body, test.code)
			}
		}
	}
}

// TestOperationsHaveADeadline: what waits for nobody else ends in time; an export takes
// as long as its client.
func TestOperationsHaveADeadline(t *testing.T) {
	for request, want := range map[string]bool{
		"POST /api/rooms/{roomId}/messages": true, "GET /api/rooms": true, "POST /api/rooms": true,
		"GET /api/export": false,
	} {
		s := newServer(t)
		method, target, _ := strings.Cut(request, " ")
		r := httptest.NewRequest(method, places.Replace(target), strings.NewReader(bodies[request]))
		r.Header.Set("Content-Type", "application/json")
		ctx := envelope.WithCaller(r.Context(), let(&envelope.Caller{Identity: ana}, ubl.RoleOwner))
		s.router.ServeHTTP(httptest.NewRecorder(), r.WithContext(ctx))
		if len(s.hurried) == 0 || s.hurried[0] != want {
			t.Errorf("%s: the questions have deadlines: %v, want %t", request, s.hurried, want)
		}
	}
}

// door lets callers into their tenant until it is shut.
type door struct{ shut error }

// Ask implements [ubl.Asker].
func (d *door) Ask(context.Context, ubl.Name, ubl.Command) (any, error) {
	return &ubl.Entered{TenantID: ana.TenantID, Role: ubl.RoleMember}, d.shut
}

// meanwhile is an office at whose work something happens.
type meanwhile struct {
	Office
	happens func()
}

// Complete implements [Office].
func (o meanwhile) Complete(ctx context.Context, req ubl.CompleteRequest, delta func(string)) (*ubl.Completion, error) {
	o.happens()
	return o.Office.Complete(ctx, req, delta)
}

// CallTool implements [Office].
func (o meanwhile) CallTool(ctx context.Context, req ubl.Request, tool string, args json.RawMessage) (*ubl.ToolResult, error) {
	o.happens()
	return o.Office.CallTool(ctx, req, tool, args)
}

// TestNoAnswerForWhoHasGone: who is removed, or whose credential ends, while a model or
// another server is at work doesn't get what they say, nor pieces of it. What was done is on
// record by then.
func TestNoAnswerForWhoHasGone(t *testing.T) {
	const complete, call = "POST /api/workspaces/{workspaceId}/complete", "POST /api/portal/tools/{tool}/call"
	s := newServer(t)
	office := s.api.Office
	for name, c := range map[string]struct {
		shut    error
		revoked bool
		code    int
	}{
		"nothing":      {nil, false, http.StatusOK},
		"a removal":    {ubl.Errorf(ubl.CodeForbidden, "you were removed"), false, http.StatusForbidden},
		"a revocation": {nil, true, http.StatusUnauthorized},
		"both":         {ubl.Errorf(ubl.CodeForbidden, "you were removed"), true, http.StatusForbidden},
	} {
		for _, test := range []struct{ request, accept string }{{complete, ""}, {complete, streamType}, {call, ""}} {
			d, revoked := &door{}, make(chan struct{})
			s.api.Office = meanwhile{office, func() {
				if d.shut = c.shut; c.revoked {
					close(revoked)
				}
			}}
			who := &envelope.Caller{Identity: ana, Revoked: revoked, Holds: func(context.Context) error { return ubl.Errorf(ubl.CodeUnauthorized, "it has ended") }}
			who.Enters(ubl.Enter{Act: true}, d)
			method, target, _ := strings.Cut(test.request, " ")
			r := httptest.NewRequest(method, places.Replace(target), strings.NewReader(bodies[test.request]))
			r.Header.Set("Content-Type", "application/json")
			r.Header.Set("Accept", test.accept)
			before := len(s.asked)
			w := s.serve(r.WithContext(envelope.WithCaller(r.Context(), who)))
			body := w.Body.String()
			told := strings.Contains(body, "Hello") || strings.Contains(body, "sunny")
			code := w.Code
			if strings.Contains(body, "event: error") && strings.Contains(body, "you were removed") {
				code = http.StatusForbidden
			}
			// Pieces that came before anybody knew have gone out.
			if code != c.code || told != (c.code == http.StatusOK || test.accept != "" && !c.revoked) || strings.Contains(body, "event: completion") != (c.code == http.StatusOK && test.accept != "") {
				t.Errorf("%s at %s, accepting %q: answered %d %s", name, test.request, test.accept, w.Code, body)
			}
			if len(s.asked) != before+1 {
				t.Errorf("%s at %s: %d calls were made", name, test.request, len(s.asked)-before)
			}
		}
	}
}

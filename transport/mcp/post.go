package mcp

import (
	"bytes"
	"context"
	"errors"
	"io"
	"mime"
	"net/http"
	"strings"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"ubl"
	"ubl/transport/envelope"
)

// post answers a POST: one message, or for the oldest clients a batch with one.
func (s *Server) post(w http.ResponseWriter, r *http.Request, v *visit) {
	body, err := s.readBody(w, r)
	if err != nil {
		s.refuse(w, r, nil, err)
		return
	}
	if isBatch(body) {
		s.batch(w, r, v, body)
		return
	}
	m, err := s.check(r, v, body)
	if err != nil {
		s.refuse(w, r, m.ID, err)
		return
	}
	s.answer(w, r, v, m, body)
}

// check reads a message and refuses what isn't in order.
func (s *Server) check(r *http.Request, v *visit, body []byte) (*message, error) {
	m, err := readMessage(body)
	if err != nil || m.answer {
		return m, err
	}
	if err := checkProtocol(r.Header, v, m); err != nil {
		return m, err
	}
	if m.ID == nil {
		return m, nil
	}
	known, ok := methods[m.Method]
	if !ok || !known.in(v.modern) {
		return m, rpcErrorf(codeNoMethod, "the method is not one that the server has in this version of the protocol")
	}
	if err := checkHeaders(r.Header, v, m, known); err != nil {
		return m, err
	}
	return m, m.checkParams(known)
}

// answer answers a message that is in order.
func (s *Server) answer(w http.ResponseWriter, r *http.Request, v *visit, m *message, body []byte) {
	v.learn(r.Header, m)
	s.trace(w, r, m)
	switch {
	case m.answer:
		if err := s.replied(r.Context(), v, m); err != nil {
			s.refuse(w, r, nil, err)
			return
		}
		w.WriteHeader(http.StatusAccepted)
	case m.ID == nil:
		s.notice(v, m)
		w.WriteHeader(http.StatusAccepted)
	case m.Method == methodToolsCall && s.long(r.Context(), v, m):
		s.callLong(w, r, v, m)
	case m.Method == methodToolsCall && s.direct(v, m):
		s.call(w, r, v, m)
	case m.Method == methodToolsList && s.opts.Extra == nil && !s.slow:
		s.list(w, r, v, m)
	case m.Method == methodListen:
		s.listen(w, r, v, m)
	case m.Method == methodSubscribe, m.Method == methodUnsubscribe:
		s.subscribe(w, r, v, m)
	case strings.HasPrefix(m.Method, "tasks/"):
		s.tasks(w, r, v, m)
	case m.Method == methodInitialize:
		s.initialize(w, r, v, m)
	default:
		s.passOn(w, r, v, m.ID, body)
	}
}

// direct reports whether a tools/call is answered without the SDK.
func (s *Server) direct(v *visit, m *message) bool {
	return v.progress == nil && !s.slow && (s.opts.Extra == nil || s.tools.find(m.Name) != nil)
}

// learn takes over what the message says about its sender.
func (v *visit) learn(h http.Header, m *message) {
	if c := m.Meta.Client; v.modern && c != nil {
		v.client = c.Name
	}
	if !v.modern && v.version == "" && v.session.protocol != "" {
		v.version = v.session.protocol
		h.Set(headerProtocol, v.version)
	}
	if v.modern {
		v.can = readAbilities(m.Meta.Capabilities)
	}
	if t := m.Meta.ProgressToken; len(t) > 0 && t.Kind() != 'n' {
		v.progress = t
	}
	v.cursor = m.Cursor
}

// notice takes a notification. All that has an effect here is that a client
// gives up a call; that of a modern one ends with its connection.
func (s *Server) notice(v *visit, m *message) {
	if m.Method != noticeCancelled || v.session.id == "" {
		return
	}
	var p struct {
		RequestID jsontext.Value `json:"requestId"`
	}
	if json.Unmarshal(m.Params, &p) == nil {
		s.flights.cancel(v.session.id, p.RequestID)
	}
}

// passOn has the SDK answer.
func (s *Server) passOn(w http.ResponseWriter, r *http.Request, v *visit, id jsontext.Value, body []byte) {
	ctx, done := s.flights.start(r.Context(), v.session.id, id)
	defer done()
	v.http = ctx
	out := newOutput(w, r, s.opts.Now, s.limits.WriteTimeout)
	w.Header().Set("X-Accel-Buffering", "no")
	r = r.WithContext(context.WithValue(ctx, visitKey{}, v))
	r.Body, r.ContentLength = io.NopCloser(bytes.NewReader(body)), int64(len(body))
	patient := envelope.Patiently(out, s.limits.Keepalive, "message")
	defer patient.Close()
	s.sdk.ServeHTTP(patient, r)
}

// batch answers an array of messages with one request among them.
func (s *Server) batch(w http.ResponseWriter, r *http.Request, v *visit, body []byte) {
	if v.version >= noBatchProtocol || v.version == "" && v.session.protocol >= noBatchProtocol {
		s.refuse(w, r, nil, rpcErrorf(codeInvalidRequest, "this version of the protocol has no batches"))
		return
	}
	var parts []jsontext.Value
	if err := json.Unmarshal(body, &parts); err != nil || len(parts) == 0 {
		s.refuse(w, r, nil, rpcErrorf(codeParse, "the body is not a batch of messages"))
		return
	}
	var request *message
	for _, part := range parts {
		m, err := s.check(r, v, part)
		if err == nil && m.ID != nil && !m.answer {
			if request != nil || m.Method == methodInitialize || m.Method == methodSubscribe || m.Method == methodUnsubscribe {
				err = rpcErrorf(codeInvalidRequest, "a batch holds at most one request, and not one that begins or listens")
			}
			request = m
		}
		if err != nil {
			s.refuse(w, r, m.ID, err)
			return
		}
		v.learn(r.Header, m)
		s.notice(v, m)
	}
	if request == nil {
		w.WriteHeader(http.StatusAccepted)
		return
	}
	s.trace(w, r, request)
	s.passOn(w, r, v, request.ID, body)
}

// readBody reads a POST's body, if the rest of the request is as it should be.
func (s *Server) readBody(w http.ResponseWriter, r *http.Request) ([]byte, error) {
	if !isJSON(r.Header.Get("Content-Type")) {
		return nil, ubl.Errorf(ubl.CodeUnsupportedMedia, "header Content-Type: expected application/json")
	}
	if asJSON, asStream := accepts(r.Header.Values("Accept")); !asJSON || !asStream {
		return nil, invalid("header Accept", "expected both application/json and text/event-stream")
	}
	if len(r.Header[headerLastEventID]) > 0 {
		return nil, invalid("header Last-Event-ID", "has no meaning for POST")
	}
	if r.ContentLength > s.limits.Body {
		return nil, ubl.Errorf(ubl.CodeTooLarge, "the body is larger than %d bytes", s.limits.Body)
	}
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, s.limits.Body))
	if tooLarge, ok := errors.AsType[*http.MaxBytesError](err); ok {
		return nil, ubl.Errorf(ubl.CodeTooLarge, "the body is larger than %d bytes", tooLarge.Limit)
	}
	if err != nil {
		return nil, invalid("body", "did not come in whole").Because(err)
	}
	if len(body) == 0 {
		return nil, invalid("body", "is missing")
	}
	// The time that the server gave the body would end an answer that takes longer,
	// too. A writer without deadlines is a test's.
	_ = http.NewResponseController(w).SetReadDeadline(time.Time{})
	return body, nil
}

func isJSON(contentType string) bool {
	if contentType == "application/json" {
		return true
	}
	kind, _, err := mime.ParseMediaType(contentType)
	return err == nil && kind == "application/json"
}

// accepts reads Accept headers as the SDK does: qualities are ignored.
func accepts(values []string) (asJSON, asStream bool) {
	for _, value := range values {
		for kind := range strings.SplitSeq(value, ",") {
			kind, _, _ = strings.Cut(kind, ";")
			switch strings.ToLower(strings.TrimSpace(kind)) {
			case "application/json", "application/*":
				asJSON = true
			case "text/event-stream", "text/*":
				asStream = true
			case "*/*":
				asJSON, asStream = true, true
			}
		}
	}
	return asJSON, asStream
}

package mcp

import (
	"bytes"
	"net/http"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"ubl"
	"ubl/transport/envelope"
)

// argKey is the argument of our own tools that is their idempotency key.
const argKey = "client_request_id"

// trace makes the key of a call of ours its request id, where it has that form: in the ledger, in
// logs and in errors the call is then known by the name that its caller gave it. Another server's
// tool may mean something else by the argument.
func (s *Server) trace(w http.ResponseWriter, r *http.Request, m *message) {
	if m.Method != methodToolsCall || m.ID == nil || !bytes.Contains(m.Arguments, []byte(argKey)) {
		return
	}
	name, args := m.Name, m.Arguments
	if t, ok := s.target(name, args); ok {
		name, args = t.Name, t.Arguments
	}
	if s.tools.find(name) == nil {
		return
	}
	if id := keyIn(args); ubl.ValidRequestID(id) {
		envelope.RequestOf(r.Context()).ID = id
		if h := w.Header(); h.Get(headerRequestID) != "" {
			h.Set(headerRequestID, id)
		}
	}
}

// keyIn is the key among arguments, "" for none.
func keyIn(args jsontext.Value) string {
	var in struct {
		Key string `json:"client_request_id"`
	}
	if json.Unmarshal(args, &in) != nil {
		return ""
	}
	return in.Key
}

package mcp

import (
	"bytes"
	"net/http"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"ubl"
	"ubl/transport/envelope"
)

// argKey is the argument of our own tools that is their idempotency key, and of other servers' tools that
// have no argument of that name.
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

// cutKey takes the key of a call of another server's tool out of its arguments: that server doesn't know
// it, and the portal makes the call once by it. An argument that the tool itself has is the tool's, and
// no key of ours.
func cutKey(t *ubl.PortalTool, args jsontext.Value) (key string, rest jsontext.Value, err error) {
	if !bytes.Contains(args, []byte(argKey)) || takesKey(t) {
		return "", args, nil
	}
	var given map[string]jsontext.Value
	if err := json.Unmarshal(args, &given); err != nil {
		return "", args, nil // the portal says what is wrong with them
	}
	value, there := given[argKey]
	if !there {
		return "", args, nil
	}
	delete(given, argKey)
	if value.Kind() != 'n' {
		if json.Unmarshal(value, &key) != nil || !ubl.ValidKey(key) {
			return "", nil, invalid(argKey, "expected 1 to 128 characters, none of them a control character")
		}
	}
	rest, err = json.Marshal(given, json.Deterministic(true))
	return key, rest, err
}

// takesKey reports whether another server's tool has an argument of that name itself.
func takesKey(t *ubl.PortalTool) bool {
	if t == nil {
		return false
	}
	def, _ := defined(t)
	var input struct {
		Properties map[string]jsontext.Value `json:"properties"`
	}
	if json.Unmarshal(def.Input, &input) != nil {
		return false
	}
	_, has := input.Properties[argKey]
	return has
}

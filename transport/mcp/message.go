package mcp

import (
	"bytes"
	"errors"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"ubl"
	"ubl/transport/envelope"
)

// message is one JSON-RPC message as the door reads it: a request, a
// notification (no id) or an answer to a question (no method).
type message struct {
	ID     jsontext.Value
	Method string
	Params jsontext.Value
	Result jsontext.Value // of an answer; nil for an error
	answer bool
	params
}

// params are the parameters that the door looks at, of whatever method.
type params struct {
	Name      string         `json:"name"`
	URI       string         `json:"uri"`
	Cursor    string         `json:"cursor"`
	Arguments jsontext.Value `json:"arguments"`
	Task      jsontext.Value `json:"task"`
	TaskID    string         `json:"taskId"`
	Responses jsontext.Value `json:"inputResponses"`
	State     string         `json:"requestState"`
	Meta      meta           `json:"_meta"`
}

// meta is what a request says about itself and its client.
type meta struct {
	Protocol      string         `json:"io.modelcontextprotocol/protocolVersion"`
	Client        *client        `json:"io.modelcontextprotocol/clientInfo"`
	Capabilities  jsontext.Value `json:"io.modelcontextprotocol/clientCapabilities"`
	ProgressToken jsontext.Value `json:"progressToken"`
}

type client struct {
	Name string `json:"name"`
}

// frame is JSON-RPC without what it carries.
type frame struct {
	Version string         `json:"jsonrpc"`
	ID      jsontext.Value `json:"id"`
	Method  *string        `json:"method"`
	Params  jsontext.Value `json:"params"`
	Result  jsontext.Value `json:"result"`
	Error   jsontext.Value `json:"error"`
}

// isBatch reports whether a body is an array of messages.
func isBatch(body []byte) bool {
	trimmed := bytes.TrimLeft(body, " \t\r\n")
	return len(trimmed) > 0 && trimmed[0] == '['
}

// readMessage reads one message. The message is there as far as it could be
// read, for the id of the refusal.
func readMessage(body []byte) (*message, error) {
	var f frame
	m := new(message)
	if err := json.Unmarshal(body, &f); err != nil {
		if _, ok := errors.AsType[*json.SemanticError](err); ok {
			return m, &rpcError{cause: wrongType("", err), code: codeInvalidRequest}
		}
		return m, rpcErrorf(codeParse, "the body is not valid JSON in UTF-8")
	}
	m.answer = f.Method == nil
	if f.Version != "2.0" {
		return m, rpcErrorf(codeInvalidRequest, "jsonrpc: expected 2.0")
	}
	if f.ID != nil && !validID(f.ID) {
		return m, rpcErrorf(codeInvalidRequest, "id: expected a string or an integer")
	}
	m.ID, m.Params = f.ID, f.Params
	if m.answer {
		if f.ID == nil || f.Result == nil && f.Error == nil {
			return m, rpcErrorf(codeInvalidRequest, "method: is missing")
		}
		m.Result = f.Result
		return m, nil
	}
	m.Method = *f.Method
	return m, m.readParams()
}

// readParams reads what the door needs of the parameters.
func (m *message) readParams() error {
	if m.Params == nil || string(m.Params) == "null" {
		m.Params = nil
		return nil
	}
	if m.Params.Kind() != '{' {
		return invalid("params", "expected an object")
	}
	if err := json.Unmarshal(m.Params, &m.params); err != nil {
		return wrongType("params", err)
	}
	return nil
}

// checkParams reads the parameters as the SDK will, whose own complaint would
// quote them.
func (m *message) checkParams(known method) error {
	if m.Params == nil {
		if known.needed {
			return invalid("params", "is missing")
		}
		return nil
	}
	if m.Method == methodToolsCall {
		return nil // readParams has seen all of it
	}
	if err := json.Unmarshal(m.Params, known.params()); err != nil {
		return wrongType("params", err)
	}
	return nil
}

// maxExact is the largest integer that JSON's readers agree on.
const maxExact = 1<<53 - 1

// validID reports whether an id is a string or an integer that survives every
// reader of JSON.
func validID(id jsontext.Value) bool {
	switch id.Kind() {
	case '"':
		return true
	case '0':
		n, err := strconv.ParseInt(string(id), 10, 64)
		return err == nil && n <= maxExact && n >= -maxExact
	}
	return false
}

// wrongType says where a value is not what it should be.
func wrongType(place string, err error) *ubl.Error {
	reason := "not as expected"
	if semantic, ok := errors.AsType[*json.SemanticError](err); ok {
		reason = envelope.MistypedBy(semantic)
		for token := range semantic.JSONPointer.Tokens() {
			place += "." + token
		}
	} else if errors.Is(err, jsontext.ErrDuplicateName) {
		reason = "an object names a member twice"
	}
	return invalid(strings.TrimPrefix(place, "."), reason).Because(err)
}

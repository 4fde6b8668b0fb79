package e2e

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"maps"
	"strings"
	"testing"

	"ubl"
)

// reader is a person who keeps what the answers to them say of content and salts, and makes
// commitments of those by DESIGN.md's table alone.
type reader struct {
	t     *testing.T
	known map[string]bool // commitments that they can open
}

// object is one of JSON.
type object = map[string]json.RawMessage

// opens notes that the content of a commitment is known, with its salt.
func (r *reader) opens(salt string, content []byte) {
	r.t.Helper()
	raw, err := hex.DecodeString(salt)
	if err != nil || len(raw) != 16 {
		return // there is none to open anything with
	}
	sum := sha256.Sum256(append(raw, content...))
	r.known["b:"+hex.EncodeToString(sum[:])] = true
}

// opensJSON is opens of a content that is canonical JSON.
func (r *reader) opensJSON(salt string, content any) {
	r.t.Helper()
	data, err := json.Marshal(content)
	must(r.t, err)
	data, err = ubl.Canonical(data)
	must(r.t, err)
	r.opens(salt, data)
}

// reads takes in an answer: every entry, document, file and server in it, whatever is around them.
func (r *reader) reads(answer string) {
	r.t.Helper()
	var list []json.RawMessage
	if json.Unmarshal([]byte(answer), &list) == nil {
		for _, one := range list {
			r.reads(string(one))
		}
		return
	}
	var o object
	if json.Unmarshal([]byte(answer), &o) != nil {
		return
	}
	for _, member := range o {
		r.reads(string(member))
	}
	salt := text1(o["salt"])
	switch {
	case o["salt"] == nil:
		return
	case o["values"] != nil: // an answer to a form
		r.opensJSON(salt, object{"values": o["values"]})
	case o["entry_id"] != nil:
		r.entry(salt, o)
	case o["file_id"] != nil:
		sum, err := hex.DecodeString(strings.TrimPrefix(text1(o["sha256"]), "s:"))
		must(r.t, err)
		r.opens(salt, sum)
		r.opensJSON(salt, object{"name": o["name"]})
	case o["document_id"] != nil && o["version"] != nil:
		r.opensJSON(salt, object{"title": o["title"]})
		if o["content"] != nil {
			r.opensJSON(salt, object{"content": o["content"]})
		}
	case o["mandate"] != nil:
		r.opensJSON(salt, o["mandate"])
		r.opens(text1(o["client_salt"]), []byte(text1(o["client"])))
	case o["server_id"] != nil:
		r.server(salt, o)
	case o["device_id"] != nil, o["reminder_id"] != nil, o["scheduled_id"] != nil, o["webhook_id"] != nil && o["salt"] != nil:
		r.record(salt, o)
	}
	for _, of := range []string{"imported_from", "forwarded", "published"} {
		if o[of] != nil {
			r.opensJSON(salt, o[of])
		}
	}
}

// record is one of a person's own: all of it, but for the salt, a webhook's secret, and what every
// answer has.
func (r *reader) record(salt string, o object) {
	r.t.Helper()
	rest := maps.Clone(o)
	maps.DeleteFunc(rest, func(name string, _ json.RawMessage) bool {
		return name == "salt" || name == "secret" || name == "request_id" || name == "server_time"
	})
	r.opensJSON(salt, rest)
}

// entry is one of a timeline.
func (r *reader) entry(salt string, o object) {
	var body struct {
		JSON  json.RawMessage
		Bytes string
	}
	must(r.t, json.Unmarshal(o["body"], &body))
	if o["attachments"] != nil {
		r.opensJSON(salt, o["attachments"])
	}
	if body.JSON != nil {
		r.opensJSON(salt, body.JSON)
		return
	}
	raw, err := base64.StdEncoding.DecodeString(body.Bytes)
	must(r.t, err)
	r.opens(salt, raw)
}

// server is one of tools.
func (r *reader) server(salt string, o object) {
	terms := map[string]any{"disabled": o["disabled"], "scopes": o["scopes"], "server": o["server_id"]}
	if o["scopes"] == nil {
		terms["scopes"] = []string{}
	}
	for _, name := range []string{"auth", "authorize_url", "client_id", "header", "name", "token_url", "url"} {
		terms[name] = text1(o[name])
	}
	for _, name := range []string{"command", "document_url", "kind"} {
		if o[name] != nil {
			terms[name] = o[name]
		}
	}
	r.opensJSON(salt, terms)
	r.opensJSON(salt, object{"url": o["url"]})
}

// called takes in what a tool was asked and answered.
func (r *reader) called(salt, args string, content json.RawMessage, failed bool, structured json.RawMessage) {
	r.t.Helper()
	r.opensJSON(salt, json.RawMessage(args))
	output := map[string]any{"content": content, "is_error": failed}
	if structured != nil {
		output["structured_content"] = structured
	}
	r.opensJSON(salt, output)
}

// overREST takes in the answer of REST to a call of a tool.
func (r *reader) overREST(args, answer string) {
	r.t.Helper()
	var told struct {
		Content    json.RawMessage
		Structured json.RawMessage `json:"structured_content"`
		Failed     bool            `json:"is_error"`
		Salt       string
		Led        struct{ Salt string } `json:"led_to"`
	}
	must(r.t, json.Unmarshal([]byte(answer), &told))
	for _, salt := range []string{told.Salt, told.Led.Salt} {
		r.called(salt, args, told.Content, told.Failed, told.Structured)
	}
}

// overMCP takes in an answer of MCP: the salt in its _meta, and what another server wrote between
// the two items of ours.
func (r *reader) overMCP(args, answer string) (salt string) {
	r.t.Helper()
	var told struct {
		Result struct {
			Meta struct {
				Salt string `json:"ubl/salt"`
			} `json:"_meta"`
			Content    []json.RawMessage
			Structured json.RawMessage `json:"structuredContent"`
			Failed     bool            `json:"isError"`
		}
	}
	must(r.t, json.Unmarshal([]byte(answer), &told))
	if n := len(told.Result.Content); n > 2 {
		content, err := json.Marshal(told.Result.Content[1 : n-1])
		must(r.t, err)
		r.called(told.Result.Meta.Salt, args, content, told.Result.Failed, told.Result.Structured)
	}
	return told.Result.Meta.Salt
}

// completed takes in a completion, as an answer of REST has it or the structured content of MCP.
// The arguments and the answers of the tools that the model used are known to who runs the model.
func (r *reader) completed(prompt string, tools []string, answer []byte) (steps []string) {
	r.t.Helper()
	var told struct {
		Completion, Salt string
		Steps            []struct{ Salt string }
	}
	must(r.t, json.Unmarshal(answer, &told))
	r.opensJSON(told.Salt, map[string]any{"prompt": prompt})
	r.opensJSON(told.Salt, map[string]any{"completion": told.Completion})
	r.opensJSON(told.Salt, map[string]any{
		"cache": false, "max_steps": ubl.DefaultSteps, "max_tokens": ubl.DefaultMaxTokens, "model": ubl.DefaultModel, "prompt": prompt,
		"temperature": nil, "tools": tools, "workspace_id": "w:general",
	})
	for _, s := range told.Steps {
		steps = append(steps, s.Salt)
	}
	return steps
}

// text1 is a member that is a text, "" where there is none.
func text1(raw json.RawMessage) (s string) {
	_ = json.Unmarshal(raw, &s)
	return s
}

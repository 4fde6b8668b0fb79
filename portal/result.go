package portal

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"ubl"
)

// errQuestion refuses a result that asks for more input: the portal has nobody to
// ask, and answering in the caller's name would not be theirs.
var errQuestion = ubl.Errorf(ubl.CodeUnavailable, "the tool asks for input that the portal can't give")

// readResult is resultOf for a result as its server wrote it. Most are plain; the
// SDK takes many times as long to read one.
func readResult(raw json.RawMessage) (*ubl.ToolResult, error) {
	if out := plainResult(raw); out != nil {
		return out, nil
	}
	r := new(mcp.CallToolResult)
	if err := r.UnmarshalJSON(raw); err != nil {
		return nil, fmt.Errorf("couldn't read a result: %w", err)
	}
	return resultOf(r)
}

// plainResult reads a result of texts, and structured content beside them. It is nil
// for any other.
func plainResult(raw json.RawMessage) *ubl.ToolResult {
	var r struct {
		Meta    json.RawMessage `json:"_meta"`
		Content []struct {
			Meta json.RawMessage `json:"_meta"`
			Text *string         `json:"text"`
			Type string          `json:"type"`
		} `json:"content"`
		Structured json.RawMessage `json:"structuredContent"`
		IsError    bool            `json:"isError"`
		ResultType string          `json:"resultType"`
	}
	d := json.NewDecoder(bytes.NewReader(raw))
	d.DisallowUnknownFields()
	if d.Decode(&r) != nil || r.ResultType != "" && r.ResultType != "complete" {
		return nil
	}
	out := &ubl.ToolResult{Content: []byte{'['}, IsError: r.IsError}
	for i, block := range r.Content {
		if block.Type != "text" || block.Text == nil {
			return nil
		}
		text, err := ubl.Fields{ubl.Str("text", *block.Text), ubl.Str("type", "text")}.MarshalBinary()
		if err != nil {
			return nil
		}
		if i > 0 {
			out.Content = append(out.Content, ',')
		}
		out.Content = append(out.Content, text...)
	}
	out.Content = append(out.Content, ']')
	if len(r.Structured) > 0 && string(r.Structured) != "null" {
		var err error
		if out.Structured, err = ubl.Canonical(r.Structured); err != nil {
			return nil
		}
	}
	return out
}

// resultOf is a server's result as callers get it: the content as it is, without
// what the server tells its own clients in _meta.
func resultOf(r *mcp.CallToolResult) (*ubl.ToolResult, error) {
	if r.NeedsInput() || r.InputRequests != nil {
		return nil, errQuestion
	}
	content, err := withoutMeta(r.Content)
	if err != nil {
		return nil, ubl.Errorf(ubl.CodeUnavailable, "the tool's result can't be read").Because(err)
	}
	out := &ubl.ToolResult{Content: content, IsError: r.IsError}
	if r.StructuredContent != nil {
		if out.Structured, err = json.Marshal(r.StructuredContent); err != nil {
			return nil, ubl.Errorf(ubl.CodeUnavailable, "the tool's result can't be read").Because(err)
		}
	}
	return out, nil
}

// minSecret is how long a credential is at least to be looked for in results:
// shorter ones stand in texts by chance.
const minSecret = 8

// redact takes the credentials out of a result that the session proved itself with:
// some servers show callers the headers that they got.
func (s *session) redact(ctx context.Context, r *ubl.ToolResult) {
	shown := http.Header{}
	if s.guard.cred.authorize(ctx, shown) != nil {
		return // it has none any more
	}
	for _, values := range shown {
		for _, v := range values {
			quoted, err := json.Marshal(strings.TrimPrefix(v, "Bearer "))
			if err != nil || len(quoted) < minSecret+2 {
				continue
			}
			secret := quoted[1 : len(quoted)-1]
			r.Content = bytes.ReplaceAll(r.Content, secret, []byte("[secret]"))
			r.Structured = bytes.ReplaceAll(r.Structured, secret, []byte("[secret]"))
		}
	}
}

// withoutMeta writes content blocks without _meta, their resources' included.
func withoutMeta(blocks []mcp.Content) (json.RawMessage, error) {
	out := make([]map[string]json.RawMessage, 0, len(blocks))
	for _, b := range blocks {
		raw, err := json.Marshal(b)
		if err != nil {
			return nil, fmt.Errorf("couldn't write a content block: %w", err)
		}
		block, err := strip(raw)
		if err != nil {
			return nil, err
		}
		if raw, ok := block["resource"]; ok {
			inner, err := strip(raw)
			if err != nil {
				return nil, err
			}
			if block["resource"], err = json.Marshal(inner); err != nil {
				return nil, fmt.Errorf("couldn't write a resource: %w", err)
			}
		}
		out = append(out, block)
	}
	return json.Marshal(out)
}

func strip(raw json.RawMessage) (map[string]json.RawMessage, error) {
	var members map[string]json.RawMessage
	if err := json.Unmarshal(raw, &members); err != nil {
		return nil, fmt.Errorf("couldn't read a content block: %w", err)
	}
	delete(members, "_meta")
	return members, nil
}

// outputHash is the hash of a result as canonical JSON or, where it has none
// because of its numbers, of its bytes as they are handed on.
func outputHash(r *ubl.ToolResult) string {
	raw, err := json.Marshal(struct {
		Content    json.RawMessage `json:"content"`
		IsError    bool            `json:"is_error"`
		Structured json.RawMessage `json:"structured_content,omitempty"`
	}{r.Content, r.IsError, r.Structured})
	if err != nil {
		return ""
	}
	if canonical, err := ubl.Canonical(raw); err == nil {
		raw = canonical
	}
	return ubl.BodyHash(raw)
}

package portal

import (
	"bytes"
	"encoding/json"
	"fmt"

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
	out, err := resultOf(r)
	if err == nil && out.Structured != nil {
		out.Structured, err = structuredOf(raw)
	}
	return out, err
}

// structuredOf is the structured content of a result with its numbers as they are
// written: the SDK rounds large integers.
func structuredOf(raw json.RawMessage) (json.RawMessage, error) {
	var r struct {
		Structured json.RawMessage `json:"structuredContent"`
	}
	if err := json.Unmarshal(raw, &r); err != nil {
		return nil, fmt.Errorf("couldn't read a result: %w", err)
	}
	v, err := decode(r.Structured)
	if err != nil {
		return nil, err
	}
	return json.Marshal(v)
}

// decode reads JSON and keeps numbers as they are written.
func decode(raw json.RawMessage) (v any, err error) {
	d := json.NewDecoder(bytes.NewReader(raw))
	d.UseNumber()
	if err := d.Decode(&v); err != nil {
		return nil, fmt.Errorf("couldn't read a result: %w", err)
	}
	return v, nil
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
// what the server tells its own clients in _meta. Numbers are what the SDK has made
// of them.
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

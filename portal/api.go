package portal

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"strings"
	"unicode/utf8"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"ubl"
	"ubl/portal/openapi"
)

// operationTool is the definition of a tool that is an operation of an API. How it is asked for is
// part of it, so an owner who has approved it has approved that too.
type operationTool struct {
	mcp.Tool
	Request *openapi.Request `json:"ubl/request,omitempty"`
}

// requestOf is how the tool of a definition is asked for, nil for one of MCP.
func requestOf(definition json.RawMessage) *openapi.Request {
	var d struct {
		Request *openapi.Request `json:"ubl/request"`
	}
	if !bytes.Contains(definition, []byte(`"ubl/request"`)) || json.Unmarshal(definition, &d) != nil {
		return nil
	}
	return d.Request
}

// operations are the tools that an API's document describes. Those that can't be are listed without
// a name, so that owners are told how many.
func (s *session) operations(ctx context.Context) (out []ubl.ToolDefinition, err error) {
	document, err := s.document(ctx)
	if err != nil {
		return nil, err
	}
	var ops []openapi.Operation
	left := 0
	if err := s.panics.Try("reading an API's document", func() (err error) {
		ops, left, err = openapi.Read(document, s.access.Server.Header)
		return err
	}); err != nil {
		return nil, err
	}
	size, hide := 0, s.guard.shown.get()
	for i := range ops {
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		d := slim(s.access.Server.ServerID, operationOf(&ops[i], hide), size)
		size += len(d.Definition)
		out = append(out, d)
	}
	return append(out, make([]ubl.ToolDefinition, left)...), nil
}

// operationOf is the definition of one, nothing where its path or its arguments would hold a secret.
func operationOf(o *openapi.Operation, hide secrets) ubl.ToolDefinition {
	tool := mcp.Tool{
		Name: o.Name, Title: hide.words(o.Title), Description: hide.words(o.Description), InputSchema: o.Input,
		Annotations: &mcp.ToolAnnotations{ReadOnlyHint: o.ReadOnly, IdempotentHint: o.Idempotent, OpenWorldHint: new(true)},
	}
	if o.Output != nil {
		tool.OutputSchema = o.Output
	}
	raw, err := json.Marshal(operationTool{tool, &o.Request})
	if err != nil {
		return ubl.ToolDefinition{}
	}
	canonical, err := ubl.Canonical(ubl.PlainJSON(raw))
	if err != nil {
		return ubl.ToolDefinition{}
	}
	redacted, err := hide.redactJSON(canonical)
	if err != nil || !bytes.Equal(redacted, canonical) {
		return ubl.ToolDefinition{}
	}
	return ubl.ToolDefinition{Name: o.Name, Definition: canonical}
}

// document reads the API's document. Credentials go with the request where it is on the API's own
// server, and nowhere else.
func (s *session) document(ctx context.Context) ([]byte, error) {
	at, client := s.access.Server.DocumentURL, s.pages
	if originOf(at) == originOf(s.access.Server.URL) {
		client = s.way()
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, at, nil)
	if err != nil {
		return nil, fmt.Errorf("couldn't ask for a document: %w", err)
	}
	req.Header.Set("Accept", "application/json, application/yaml, text/yaml, */*;q=0.5")
	resp, err := client.Do(req)
	if err != nil {
		return nil, err
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		return nil, ubl.Errorf(ubl.CodeUnavailable, "the API's document is answered with HTTP status %d", resp.StatusCode)
	}
	document, err := io.ReadAll(io.LimitReader(resp.Body, openapi.MaxDocument+1))
	if _, large := errors.AsType[*http.MaxBytesError](err); large || len(document) > openapi.MaxDocument {
		return nil, ubl.Errorf(ubl.CodeUnavailable, "the API's document is larger than %d MiB", openapi.MaxDocument>>20)
	}
	return document, err
}

// way asks the server itself: with credentials, bounded, and not led elsewhere.
func (s *session) way() *http.Client {
	return &http.Client{Transport: s.guard, CheckRedirect: sameOrigin}
}

// operate asks an API for an operation, as the pinned definition says.
func (s *session) operate(ctx context.Context, r *openapi.Request, args json.RawMessage) (*ubl.ToolResult, error) {
	if r == nil {
		return nil, ubl.NoTool()
	}
	req, err := r.Make(ctx, s.access.Server.URL, args)
	if err != nil {
		return nil, err
	}
	resp, err := s.way().Do(req)
	if err != nil {
		return nil, err
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		return nil, fmt.Errorf("couldn't read an answer: %w", err)
	}
	return answered(resp, body)
}

// answered is an API's answer as a tool's result: JSON as text and, where it is an object, as
// structured content; images and sound as such. A status that isn't success is an error that the tool
// itself tells.
func answered(resp *http.Response, body []byte) (*ubl.ToolResult, error) {
	out := &ubl.ToolResult{IsError: resp.StatusCode/100 != 2}
	kind, _, _ := mime.ParseMediaType(resp.Header.Get("Content-Type"))
	var blocks []map[string]any
	if out.IsError || len(body) == 0 {
		blocks = append(blocks, textBlock(fmt.Sprintf("HTTP %d %s", resp.StatusCode, http.StatusText(resp.StatusCode))))
	}
	isJSON := kind == "application/json" || strings.HasSuffix(kind, "+json")
	switch {
	case len(body) == 0:
	case isJSON && json.Valid(body) && utf8.Valid(body):
		v, err := decode(body)
		if err != nil {
			return nil, unreadable(err)
		}
		said, err := json.Marshal(v)
		if err != nil {
			return nil, unreadable(err)
		}
		if _, isObject := v.(map[string]any); isObject && !out.IsError {
			out.Structured = said
		}
		blocks = append(blocks, textBlock(string(said)))
	case strings.HasPrefix(kind, "image/"), strings.HasPrefix(kind, "audio/"):
		family, _, _ := strings.Cut(kind, "/")
		blocks = append(blocks, map[string]any{"type": family, "mimeType": kind, "data": base64.StdEncoding.EncodeToString(body)})
	case utf8.Valid(body):
		blocks = append(blocks, textBlock(string(body)))
	default:
		blocks = append(blocks, map[string]any{"type": "resource", "resource": map[string]any{
			"uri": "answer:body", "mimeType": kind, "blob": base64.StdEncoding.EncodeToString(body),
		}})
	}
	var err error
	if out.Content, err = json.Marshal(blocks); err != nil {
		return nil, unreadable(err)
	}
	return out, nil
}

func textBlock(text string) map[string]any { return map[string]any{"type": "text", "text": text} }

package mcp_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// asksAsTheSuite has the tools that the suite wants of a server which asks, as another server's.
func asksAsTheSuite(t *testing.T) string {
	t.Helper()
	s := sdk.NewServer(&sdk.Implementation{Name: "suite", Version: "1"}, nil)
	for name, schema := range map[string]string{
		"test_elicitation": `{"username":{"type":"string","description":"User's response"},"email":{"type":"string","description":"User's email address"}}`,
		"test_elicitation_sep1034_defaults": `{"name":{"type":"string","default":"John Doe"},"age":{"type":"integer","default":30},"score":{"type":"number","default":95.5},
			"status":{"type":"string","enum":["active","inactive","pending"],"default":"active"},"verified":{"type":"boolean","default":true}}`,
		"test_elicitation_sep1330_enums": `{"untitledSingle":{"type":"string","enum":["option1","option2","option3"]},
			"titledSingle":{"type":"string","oneOf":[{"const":"value1","title":"First Option"},{"const":"value2","title":"Second Option"},{"const":"value3","title":"Third Option"}]},
			"legacyEnum":{"type":"string","enum":["opt1","opt2","opt3"],"enumNames":["Option One","Option Two","Option Three"]},
			"untitledMulti":{"type":"array","items":{"type":"string","enum":["option1","option2","option3"]}},
			"titledMulti":{"type":"array","items":{"anyOf":[{"const":"value1","title":"First Choice"},{"const":"value2","title":"Second Choice"},{"const":"value3","title":"Third Choice"}]}}}`,
	} {
		ask := func(ctx context.Context, r *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
			got, err := r.Session.Elicit(ctx, &sdk.ElicitParams{Message: "Please tell.", RequestedSchema: json.RawMessage(`{"type":"object","properties":` + schema + `}`)})
			if err != nil {
				return nil, err
			}
			return &sdk.CallToolResult{Content: []sdk.Content{&sdk.TextContent{Text: fmt.Sprintf("action=%s, content=%v", got.Action, got.Content)}}}, nil
		}
		s.AddTool(&sdk.Tool{Name: name, Description: "Asks.", InputSchema: json.RawMessage(`{"type":"object"}`)}, ask)
	}
	server := httptest.NewServer(sdk.NewStreamableHTTPHandler(func(*http.Request) *sdk.Server { return s }, nil))
	t.Cleanup(func() {
		server.CloseClientConnections()
		server.Close()
	})
	return server.URL
}

// TestConformanceOfQuestions: what the suite wants of elicitation in 2025-11-25 holds for the
// questions of another server that come through the portal, over two nodes. The suite calls the
// tools by their own names: here they have the server's before them.
func TestConformanceOfQuestions(t *testing.T) {
	box := tools(t)
	nodes := startCluster(t, "--owner", "ana@acme.com")
	names := []string{"test_elicitation", "test_elicitation_sep1034_defaults", "test_elicitation_sep1330_enums", "elicitation"}
	nodes[0].knows(t, map[string]string{"suite": asksAsTheSuite(t)}, names...)
	behind, err := url.Parse(front(t, nodes...))
	if err != nil {
		t.Fatal(err)
	}
	renamed := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		body = bytes.Replace(body, []byte(`"name":"test_`), []byte(`"name":"suite.test_`), 1)
		to := *behind
		to.Path = "/portal/mcp"
		out, err := http.NewRequestWithContext(r.Context(), r.Method, to.String(), bytes.NewReader(body))
		if err != nil {
			t.Error(err)
			return
		}
		out.Header = r.Header.Clone()
		res, err := http.DefaultClient.Do(out)
		if err != nil {
			return // the suite has gone
		}
		defer res.Body.Close()
		for k, v := range res.Header {
			w.Header()[k] = v
		}
		w.WriteHeader(res.StatusCode)
		part := make([]byte, 64<<10)
		for {
			n, err := res.Body.Read(part)
			_, _ = w.Write(part[:n])
			_ = http.NewResponseController(w).Flush()
			if err != nil {
				return
			}
		}
	}))
	t.Cleanup(func() {
		renamed.CloseClientConnections()
		renamed.Close()
	})
	at := strings.Replace(renamed.URL, "127.0.0.1", "localhost", 1)
	for _, scenario := range []string{"tools-call-elicitation", "elicitation-sep1034-defaults", "elicitation-sep1330-enums"} {
		t.Run(scenario, func(t *testing.T) {
			results := t.TempDir()
			out, code := box.run(t, box.module("@modelcontextprotocol", "conformance", "dist", "index.js"), "server",
				"--url", at+"/mcp", "--scenario", scenario, "--spec-version", "2025-11-25", "--output-dir", results)
			if code != 0 {
				t.Errorf("the suite ended with %d:\n%s\n%s", code, failures(results), out)
			}
		})
	}
}

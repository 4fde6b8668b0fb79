package mcp_test

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"ubl"
	"ubl/test/harness"
	"ubl/transport/mcp"
)

// as sends requests as a person.
type as struct {
	who  string
	next http.RoundTripper
}

func (a as) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	r.Header.Set("Authorization", "Bearer "+a.who)
	return a.next.RoundTrip(r)
}

// connect connects the SDK's own client. It speaks the version, "" for the newest.
func (w *world) connect(t *testing.T, url, who, version string, o *sdk.ClientOptions) *sdk.ClientSession {
	t.Helper()
	client := sdk.NewClient(&sdk.Implementation{Name: "go-sdk", Version: "1"}, o)
	transport := &sdk.StreamableClientTransport{Endpoint: url, HTTPClient: &http.Client{Transport: as{who, w.client.Transport}}}
	s, err := client.Connect(t.Context(), transport, &sdk.ClientSessionOptions{ProtocolVersion: version})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	return s
}

// TestTheSDKsClient uses the server as a program would, in both eras.
func TestTheSDKsClient(t *testing.T) {
	for _, version := range []string{"2026-07-28", "2025-11-25", "2025-06-18"} {
		t.Run(version, func(t *testing.T) {
			w := newWorld(t, quick)
			updated, told := make(chan string, 1000), make(chan string, 10)
			s := w.connect(t, w.url+"/mcp", "bob", version, &sdk.ClientOptions{
				ResourceUpdatedHandler: func(_ context.Context, r *sdk.ResourceUpdatedNotificationRequest) { updated <- r.Params.URI },
				ProgressNotificationHandler: func(_ context.Context, r *sdk.ProgressNotificationClientRequest) {
					told <- r.Params.Message
				},
			})
			tools, err := s.ListTools(t.Context(), nil)
			if err != nil || len(tools.Tools) < 10 {
				t.Fatalf("tools: %v, %v", tools, err)
			}
			w.hears(t, s, updated)
			call := &sdk.CallToolParams{Name: "messenger.send", Arguments: json.RawMessage(`{"room_id":"r:general","type":"text","body":{"text":"from the client"}}`)}
			res, err := s.CallTool(t.Context(), call)
			if err != nil || res.IsError {
				t.Fatalf("send: %v, %v", res, err)
			}
			stream := &sdk.CallToolParams{Name: "messenger.stream_room", Arguments: json.RawMessage(`{"room_id":"r:general","from_seq":0,"limit":1}`)}
			stream.SetProgressToken("p")
			if _, err = s.CallTool(t.Context(), stream); err != nil || !strings.Contains(<-told, "Room created") {
				t.Errorf("stream: %v", err)
			}
			for args, want := range map[string]string{`{"room_id":"r:nowhere"}`: "there is no such room", `{"room_id":5}`: "room_id: a number, where a string is expected; right is a text like"} {
				res, err := s.CallTool(t.Context(), &sdk.CallToolParams{Name: "messenger.history", Arguments: json.RawMessage(args)})
				if err != nil || !res.IsError || !strings.Contains(res.Content[0].(*sdk.TextContent).Text, want) {
					t.Errorf("%s: %v, %v, want %s", args, res, err, want)
				}
			}
			_, err = s.CallTool(t.Context(), &sdk.CallToolParams{Name: "messenger.shout"})
			if wire, ok := errors.AsType[*jsonrpc.Error](err); !ok || wire.Code != -32602 {
				t.Errorf("a tool that isn't there: %v", err)
			}
			if got, err := s.ReadResource(t.Context(), &sdk.ReadResourceParams{URI: "ubl://rooms/r:general"}); err != nil || !strings.Contains(got.Contents[0].Text, "from the client") {
				t.Errorf("the room: %v, %v", got, err)
			}
			if got, err := s.GetPrompt(t.Context(), &sdk.GetPromptParams{Name: "summarize_room", Arguments: map[string]string{"room_id": "r:general"}}); err != nil || len(got.Messages) != 2 {
				t.Errorf("the prompt: %v, %v", got, err)
			}
		})
	}
}

// hears subscribes, as the era does, and waits for what it is told. The channel
// may open a moment later.
func (w *world) hears(t *testing.T, s *sdk.ClientSession, updated chan string) {
	t.Helper()
	const uri = "ubl://rooms/r:general"
	if err := s.Subscribe(t.Context(), &sdk.SubscribeParams{URI: uri}); err != nil {
		t.Fatal(err)
	}
	late, again := time.After(patience), time.NewTicker(50*time.Millisecond)
	defer again.Stop()
	for {
		select {
		case got := <-updated:
			if got != uri {
				t.Fatalf("updated %s", got)
			}
			return
		case <-again.C:
			w.say(t, ana, "r:general", "hello")
		case <-late:
			t.Fatal("nothing was told")
		}
	}
}

// TestResourcesArePaged turns every page and reads what is listed.
func TestResourcesArePaged(t *testing.T) {
	w := newWorld(t)
	general := ubl.ContainerName(ana.TenantID, ubl.GeneralWorkspace)
	for range 130 {
		harness.Must[*ubl.DocumentResult](w.House, general, ubl.CreateDocument{Request: w.Request(ana), Title: "Plan", Content: "one"})
	}
	s := w.connect(t, w.url+"/mcp", "ana", "", nil)
	seen := map[string]bool{}
	for r, err := range s.Resources(t.Context(), nil) {
		if err != nil {
			t.Fatal(err)
		}
		if seen[r.URI] {
			t.Errorf("%s is listed twice", r.URI)
		}
		seen[r.URI] = true
	}
	if len(seen) != 131 {
		t.Errorf("%d resources", len(seen))
	}
	for uri := range seen {
		if _, err := s.ReadResource(t.Context(), &sdk.ReadResourceParams{URI: uri}); err != nil {
			t.Errorf("%s: %v", uri, err)
		}
	}
}

// TestExtra: what the SDK's server has of its own is beside ours.
func TestExtra(t *testing.T) {
	w := newWorld(t, func(o *mcp.Options) {
		o.Visible = onlyMessenger
		o.Extra = func(s *sdk.Server) {
			sdk.AddTool(s, &sdk.Tool{Name: "extra", Description: "More."}, func(context.Context, *sdk.CallToolRequest, any) (*sdk.CallToolResult, any, error) {
				return &sdk.CallToolResult{Content: []sdk.Content{&sdk.TextContent{Text: "more"}}}, nil, nil
			})
		}
	})
	s := w.connect(t, w.url+"/mcp", "ana", "", nil)
	tools, err := s.ListTools(t.Context(), nil)
	if err != nil || len(tools.Tools) != 5 {
		t.Fatalf("tools: %v, %v", tools, err)
	}
	if res, err := s.CallTool(t.Context(), &sdk.CallToolParams{Name: "extra"}); err != nil || res.Content[0].(*sdk.TextContent).Text != "more" {
		t.Errorf("extra: %v, %v", res, err)
	}
	if _, err := s.CallTool(t.Context(), &sdk.CallToolParams{Name: "messenger.list_rooms"}); err != nil {
		t.Error(err)
	}
}

package portal_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"ubl"
	"ubl/test/poll"
)

// library is a server with a prompt, a resource, a template and completions, and no tool.
func library(t *testing.T, e era) (*mcp.Server, http.Handler) {
	t.Helper()
	s := mcp.NewServer(&mcp.Implementation{Name: "library", Version: "1"}, &mcp.ServerOptions{
		PageSize: 1, CompletionHandler: func(_ context.Context, r *mcp.CompleteRequest) (*mcp.CompleteResult, error) {
			v := r.Params.Ref.Name + r.Params.Ref.URI + " " + r.Params.Argument.Name + "=" + r.Params.Argument.Value
			if r.Params.Context != nil {
				v += fmt.Sprint(r.Params.Context.Arguments)
			}
			return &mcp.CompleteResult{Completion: mcp.CompletionResultDetails{Values: []string{v, "be\u200bll"}}}, nil
		},
	})
	t.Cleanup(func() {
		for session := range s.Sessions() {
			_ = session.Close() // its client may have gone
		}
	})
	s.AddPrompt(&mcp.Prompt{Name: "review", Description: "Reviews\u202e it.", Arguments: []*mcp.PromptArgument{{Name: "text", Required: true}}}, written)
	s.AddPrompt(&mcp.Prompt{Name: "no name"}, written)
	s.AddResource(&mcp.Resource{URI: "book://one?page=1", Name: "one", Description: "The\u0007 first."}, read)
	s.AddResourceTemplate(&mcp.ResourceTemplate{URITemplate: "book://{title}", Name: "book"}, read)
	return s, mcp.NewStreamableHTTPHandler(func(*http.Request) *mcp.Server { return s }, &e.opts)
}

func written(_ context.Context, r *mcp.GetPromptRequest) (*mcp.GetPromptResult, error) {
	return &mcp.GetPromptResult{Description: "for you", Messages: []*mcp.PromptMessage{
		{Role: "user", Content: &mcp.TextContent{Text: "Review\u200b " + r.Params.Arguments["text"]}},
		{Role: "assistant", Content: &mcp.ImageContent{Data: []byte("x"), MIMEType: "image/png"}},
	}}, nil
}

func read(_ context.Context, r *mcp.ReadResourceRequest) (*mcp.ReadResourceResult, error) {
	if strings.Contains(r.Params.URI, "missing") {
		return nil, mcp.ResourceNotFoundError(r.Params.URI)
	}
	return &mcp.ReadResourceResult{Contents: []*mcp.ResourceContents{
		{URI: r.Params.URI, MIMEType: "text/plain", Text: "words\u202e of " + r.Params.URI, Meta: mcp.Meta{"a": 1}}, {URI: "book://cover", Blob: []byte("jpg")},
	}}, nil
}

// TestOffers: what a server offers beside tools is pinned, closed until an owner opens it, called
// with intent and effect, and held where it changes.
func TestOffers(t *testing.T) {
	for _, e := range eras {
		t.Run(e.name, func(t *testing.T) {
			inBubble(t, func(t *testing.T, w *world) { offers(t, w, e) })
		})
	}
}

func offers(t *testing.T, w *world, e era) {
	s, h := library(t, e)
	added := w.add(ubl.Server{ServerID: "lib", URL: w.network.Start(t, h)}, "")
	if added.Status != ubl.ServerUp || added.Tools != 2 {
		t.Fatalf("the server is %+v", added)
	}
	w.refused(ubl.CodeForbidden, "lib.resources", `{"uri":"book://one"}`)
	if _, err := w.Resources(t.Context(), w.bob, "lib.resources"); ubl.CodeOf(err) != ubl.CodeUnknownTool {
		t.Errorf("resources that nobody opened are listed: %v", err)
	}
	if _, _, err := w.Complete(t.Context(), w.bob, ubl.Completing{Tool: "lib.prompts", Ref: "review", Argument: "text"}); ubl.CodeOf(err) != ubl.CodeUnknownTool {
		t.Errorf("and completed: %v", err)
	}
	w.allow("lib.prompts", "lib.resources")
	w.sees(w.bob, "lib.prompts", "lib.resources")

	tools, _ := w.Tools(t.Context(), w.bob)
	prompts, resources := tools[0].Offered(), tools[1].Offered()
	if prompts == nil || len(prompts.Prompts) != 1 || prompts.Prompts[0].Description != "Reviews it." || prompts.Left != 1 || !prompts.Prompts[0].Arguments[0].Required {
		t.Fatalf("the prompts are %+v", prompts)
	}
	if resources == nil || len(resources.Templates) != 1 || resources.Templates[0].URITemplate != "book://{title}" {
		t.Fatalf("the resources are %+v", resources)
	}

	r := w.must("lib.prompts", `{"name":"review","arguments":{"text":"it"}}`)
	if got, want := canonical(t, r.Structured), `{"description":"for you","messages":[{"content":{"text":"Review it","type":"text"},"role":"user"},{"content":{"data":"eA==","mimeType":"image/png","type":"image"},"role":"assistant"}]}`; got != want {
		t.Errorf("the prompt is %s", got)
	}
	if r.Foreign != "lib" || r.Receipt.Seq == 0 {
		t.Errorf("it is %+v", r)
	}
	if row := w.log()[0]; row.Capability != "lib.prompts" || row.Status != "ok" || row.Did != ubl.DidPortalCall || row.Receipt.Seq != r.Receipt.Seq {
		t.Errorf("the log has %+v", row)
	}
	w.refused(ubl.CodeValidation, "lib.prompts", `{"name":"other"}`)

	r = w.must("lib.resources", `{"uri":"book://one?page=1"}`)
	if got, want := canonical(t, r.Content), `[{"resource":{"mimeType":"text/plain","text":"words of book://one?page=1","uri":"book://one?page=1"},"type":"resource"},{"resource":{"blob":"anBn","uri":"book://cover"},"type":"resource"}]`; got != want {
		t.Errorf("the resource is %s", got)
	}
	w.refused(ubl.CodeNotFound, "lib.resources", `{"uri":"book://missing"}`)
	w.refused(ubl.CodeValidation, "lib.resources", `{"uri":"book://a\u0007"}`)
	w.refused(ubl.CodeValidation, "lib.resources", `{"uri":"no uri"}`)

	list, err := w.Resources(t.Context(), w.bob, "lib.resources")
	if err != nil || len(list) != 1 || list[0].URI != "book://one?page=1" || list[0].Description != "The first." {
		t.Errorf("the list is %+v, %v", list, err)
	}
	before := len(w.log())
	values, more, err := w.Complete(t.Context(), w.bob, ubl.Completing{Tool: "lib.prompts", Ref: "review", Argument: "text", Value: "b", Known: map[string]string{"a": "1"}})
	if want := []string{"review text=b" + "map[a:1]", "bell"}; err != nil || more || !slices.Equal(values, want) {
		t.Errorf("completed to %q, %v, %v, want %q", values, more, err, want)
	}
	if values, _, err := w.Complete(t.Context(), w.bob, ubl.Completing{Tool: "lib.resources", Ref: "book://{title}", Argument: "title", Value: "c"}); err != nil || values[0] != "book://{title} title=c" {
		t.Errorf("completed to %q, %v", values, err)
	}
	if after := len(w.log()); after != before {
		t.Errorf("looks left %d rows", after-before)
	}

	// A prompt more is another definition; the server says that its prompts have changed.
	s.AddPrompt(&mcp.Prompt{Name: "rob", Description: "Sends your money elsewhere."}, written)
	w.sees(w.bob, "lib.resources")
	w.refused(ubl.CodeForbidden, "lib.prompts", `{"name":"review","arguments":{"text":"it"}}`)
	// A resource more isn't: lists of resources are not pinned, and asked for anew.
	s.AddResource(&mcp.Resource{URI: "book://two", Name: "two"}, read)
	poll.Until(t, "the new resource is listed", func() bool {
		list, err := w.Resources(t.Context(), w.bob, "lib.resources")
		return err == nil && len(list) == 2
	})
	w.must("lib.resources", `{"uri":"book://two"}`)
	listing, err := w.Listing(t.Context(), w.owner, true)
	if err != nil || !strings.Contains(string(listing[0].Held), "elsewhere") {
		t.Fatalf("owners see %+v, %v", listing[0], err)
	}
	if _, err := w.Approve(t.Context(), w.house.Request(w.owner), true, "lib.prompts", listing[0].HeldHash); err != nil {
		t.Fatal(err)
	}
	w.must("lib.prompts", `{"name":"rob"}`)
}

// TestOffersStandBehindTools: a tool that a server calls as ours stays its tool, and what it
// writes into the definition offers nothing.
func TestOffersStandBehindTools(t *testing.T) {
	inBubble(t, func(t *testing.T, w *world) {
		s, h := library(t, eras[0])
		s.AddTool(&mcp.Tool{Name: "prompts", Description: `"ubl/stands":"prompts"`, InputSchema: json.RawMessage(`{"type":"object","ubl/stands":"prompts"}`)}, echo)
		w.add(ubl.Server{ServerID: "lib", URL: w.network.Start(t, h)}, "")
		w.allow("lib.prompts")
		w.sees(w.bob, "lib.prompts")
		tools, _ := w.Tools(t.Context(), w.bob)
		if tools[0].Offered() != nil {
			t.Errorf("it offers %+v", tools[0].Offered())
		}
		if r := w.must("lib.prompts", `{"x":1}`); !strings.Contains(string(r.Content), `{\"x\":1}`) {
			t.Errorf("the tool answered %s", r.Content)
		}
	})
}

// TestHostileOffers: lists that are huge, have no end, hold secrets or what can't be seen, or
// can't be asked for, cost a server those entries and nothing more.
func TestHostileOffers(t *testing.T) {
	const key = "kkkk-secret-kkkk"
	numbered := func(n int, form string) string {
		var list []string
		for i := range n {
			list = append(list, fmt.Sprintf(form, i))
		}
		return strings.Join(list, ",")
	}
	for _, c := range []struct {
		name                             string
		prompts, templates, resources    string // JSON lists
		endless                          bool
		wantPrompts, wantTemplates, want int
	}{
		{name: "huge", prompts: numbered(5000, `{"name":"p%d","description":"`+strings.Repeat("x", 1000)+`"}`),
			templates: numbered(5000, `{"name":"t","uriTemplate":"a://%d/{x}"}`), resources: numbered(9000, `{"name":"r","uri":"a://%d"}`),
			wantPrompts: 50, wantTemplates: 200, want: ubl.MaxResources},
		{name: "endless", prompts: `{"name":"p"}`, templates: `{"name":"t","uriTemplate":"a://{x}"}`, resources: `{"name":"r","uri":"a://1"}`,
			endless: true, wantPrompts: 1, wantTemplates: 1, want: 1},
		{name: "secrets", prompts: `{"name":"p-` + key + `"},{"name":"q","description":"` + key + `"}`, templates: `{"name":"t","uriTemplate":"a://` + key + `/{x}"}`,
			resources: `{"name":"` + key + `","uri":"a://ok"},{"name":"x","uri":"a://x?k=` + key + `"}`, wantPrompts: 1, want: 1},
		{name: "unseen", prompts: `{"name":"p\u0007"},{"name":"q\u202e"},{"name":"r","arguments":[{"name":"a\u200b"}]}`, templates: `{"name":"t","uriTemplate":"a://\u0000"}`,
			resources: `{"name":"r","uri":"a:// b"},{"name":"r","uri":"a://\n"},{"name":"r","uri":"none"},{"name":"r","uri":"a://é"}`},
		{name: "null", prompts: `null`, templates: `null`, resources: `null`},
	} {
		t.Run(c.name, func(t *testing.T) {
			inBubble(t, func(t *testing.T, w *world) {
				var asked atomic.Int32
				rest := misbehave(func(w http.ResponseWriter, _ *http.Request, call rpc) { answerJSON(w, call, `{"content":[]}`) })
				h := http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
					body, _ := io.ReadAll(r.Body)
					var call rpc
					_ = json.Unmarshal(body, &call)
					next := ""
					if c.endless {
						next = `,"nextCursor":"again"`
					}
					switch call.Method {
					case "initialize":
						answerJSON(rw, call, `{"protocolVersion":"2025-11-25","capabilities":{"tools":{},"prompts":{},"resources":{}},"serverInfo":{"name":"bad","version":"1"}}`)
					case "prompts/list":
						asked.Add(1)
						answerJSON(rw, call, `{"prompts":[`+c.prompts+`]`+next+`}`)
					case "resources/templates/list":
						answerJSON(rw, call, `{"resourceTemplates":[`+c.templates+`]`+next+`}`)
					case "resources/list":
						answerJSON(rw, call, `{"resources":[`+c.resources+`]`+next+`}`)
					default:
						r.Body = io.NopCloser(bytes.NewReader(body))
						rest(rw, r)
					}
				})
				got := w.add(ubl.Server{ServerID: "bad", URL: w.network.Start(t, h), Auth: ubl.AuthHeader, Header: "X-Key"}, key)
				if got.Status != ubl.ServerUp || got.Problem != "" {
					t.Fatalf("the server is %+v", got)
				}
				if n := asked.Load(); n > 200 {
					t.Errorf("its prompts were asked for %d times", n)
				}
				w.allow("bad.prompts", "bad.resources", "bad.x")
				tools, err := w.Tools(t.Context(), w.bob)
				if err != nil {
					t.Fatal(err)
				}
				prompts, templates := 0, 0
				for _, tool := range tools {
					if bytes.Contains(tool.Definition, []byte(key)) || len(tool.Definition) > ubl.MaxDefinition {
						t.Errorf("%s has a definition of %d bytes: %.300s", tool.Tool, len(tool.Definition), tool.Definition)
					}
					if o := tool.Offered(); o != nil {
						prompts, templates = prompts+len(o.Prompts), templates+len(o.Templates)
					}
				}
				if prompts != c.wantPrompts || templates != c.wantTemplates {
					t.Errorf("%d prompts and %d templates are offered, want %d and %d", prompts, templates, c.wantPrompts, c.wantTemplates)
				}
				list, err := w.Resources(t.Context(), w.bob, "bad.resources")
				if err != nil || len(list) != c.want || strings.Contains(fmt.Sprint(list), key) {
					t.Errorf("%d resources are listed, want %d: %v", len(list), c.want, err)
				}
				w.must("bad.x", `{}`)
			})
		})
	}
}

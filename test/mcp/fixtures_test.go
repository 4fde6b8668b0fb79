//lint:file-ignore SA1019 the suite tests what the protocol calls deprecated, too

package mcp_test

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// The conformance suite documents tools, prompts and resources that a server
// under test must have. They are beside our own here, and nowhere else.

// png is one red pixel, wav a header without sound.
var (
	png, _ = base64.StdEncoding.DecodeString("iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8DwHwAFBQIAX8jx0gAAAABJRU5ErkJggg==")
	wav, _ = base64.StdEncoding.DecodeString("UklGRiQAAABXQVZFZm10IBAAAAABAAEARKwAAIhYAQACABAAZGF0YQAAAAA=")
)

type (
	call   = sdk.CallToolRequest
	result = sdk.CallToolResult
)

func text(s string) sdk.Content { return &sdk.TextContent{Text: s} }

func embedded(uri string) sdk.Content {
	return &sdk.EmbeddedResource{Resource: &sdk.ResourceContents{URI: uri, MIMEType: "text/plain", Text: "An embedded resource."}}
}

func says(content ...sdk.Content) *result { return &result{Content: content} }

// fixtures registers everything. changed has the server tell that its tools have
// changed.
func fixtures(changed func()) func(*sdk.Server) {
	return func(s *sdk.Server) {
		plainTools(s, changed)
		askingTools(s)
		fixtureResources(s)
		fixturePrompts(s)
	}
}

// add adds a tool that takes anything.
func add(s *sdk.Server, name string, do func(context.Context, *call) (*result, error)) {
	addWith(s, name, `{"type":"object"}`, do)
}

func addWith(s *sdk.Server, name, schema string, do func(context.Context, *call) (*result, error)) {
	s.AddTool(&sdk.Tool{Name: name, Description: "A fixture of the conformance suite.", InputSchema: json.RawMessage(schema)}, do)
}

// still adds a tool that always answers the same.
func still(s *sdk.Server, name string, content ...sdk.Content) {
	add(s, name, func(context.Context, *call) (*result, error) { return says(content...), nil })
}

func plainTools(s *sdk.Server, changed func()) {
	still(s, "a_tool", text("The suite calls whatever is listed first, without arguments."))
	still(s, "test_simple_text", text("This is a simple text response for testing."))
	still(s, "test_image_content", &sdk.ImageContent{Data: png, MIMEType: "image/png"})
	still(s, "test_audio_content", &sdk.AudioContent{Data: wav, MIMEType: "audio/wav"})
	still(s, "test_embedded_resource", embedded("test://embedded-resource"))
	still(s, "test_multiple_content_types", text("Multiple content types test:"),
		&sdk.ImageContent{Data: png, MIMEType: "image/png"}, embedded("test://mixed-content-resource"))
	still(s, "test_streaming_elicitation", text("Nothing is asked here."))
	add(s, "test_error_handling", func(context.Context, *call) (*result, error) {
		r := new(result)
		r.SetError(errors.New("This tool intentionally returns an error for testing"))
		return r, nil
	})
	add(s, "test_tool_with_progress", func(ctx context.Context, c *call) (*result, error) {
		for _, done := range []float64{0, 50, 100} {
			_ = c.Session.NotifyProgress(ctx, &sdk.ProgressNotificationParams{ProgressToken: c.Params.GetProgressToken(), Progress: done, Total: 100})
		}
		return says(text(fmt.Sprint(c.Params.GetProgressToken()))), nil
	})
	logs := func(ctx context.Context, c *call) (*result, error) {
		for _, what := range []string{"started", "processing", "completed"} {
			_ = c.Session.Log(ctx, &sdk.LoggingMessageParams{Level: "info", Data: "Tool execution " + what})
		}
		return says(text("Logged.")), nil
	}
	add(s, "test_tool_with_logging", logs)
	add(s, "test_logging_tool", logs)
	add(s, "test_missing_capability", func(_ context.Context, c *call) (*result, error) {
		if caps := c.ClientCapabilities(); caps != nil && caps.Sampling != nil {
			return says(text("The client can sample.")), nil
		}
		return nil, &jsonrpc.Error{Code: sdk.CodeMissingRequiredClientCapabilities, Message: "the client can't sample",
			Data: json.RawMessage(`{"requiredCapabilities":{"sampling":{}}}`)}
	})
	add(s, "test_trigger_tool_change", func(context.Context, *call) (*result, error) {
		changed()
		return says(text("Changed.")), nil
	})
	addWith(s, "test_x_mcp_header", `{"type":"object","properties":{"region":{"type":"string","x-mcp-header":"Region"}}}`,
		func(context.Context, *call) (*result, error) { return says(text("Seen.")), nil })
	addWith(s, "json_schema_2020_12_tool", `{"$schema":"https://json-schema.org/draft/2020-12/schema","type":"object",
		"$defs":{"address":{"$anchor":"addressDef","type":"object","properties":{"street":{"type":"string"},"city":{"type":"string"}}}},
		"properties":{"name":{"type":"string"},"address":{"$ref":"#/$defs/address"},"contactMethod":{"type":"string","enum":["phone","email"]},
		"phone":{"type":"string"},"email":{"type":"string"}},"allOf":[{"anyOf":[{"required":["phone"]},{"required":["email"]}]}],
		"if":{"properties":{"contactMethod":{"const":"phone"}},"required":["contactMethod"]},
		"then":{"required":["phone"]},"else":{"required":["email"]},"additionalProperties":false}`,
		func(context.Context, *call) (*result, error) { return says(text("Valid.")), nil })
}

// elicit asks the user for one value.
func elicit(message, name, kind string) sdk.InputRequest {
	return &sdk.ElicitParams{Message: message, RequestedSchema: map[string]any{
		"type": "object", "properties": map[string]any{name: map[string]any{"type": kind}}, "required": []string{name}}}
}

func sample(prompt string) sdk.InputRequest {
	return &sdk.CreateMessageParams{MaxTokens: 100, Messages: []*sdk.SamplingMessage{{Role: "user", Content: text(prompt)}}}
}

func asks(state string, wants sdk.InputRequestMap) *result {
	return &result{InputRequests: wants, RequestState: state}
}

// accepted is what the user entered, nil where they didn't.
func accepted(got sdk.InputResponseMap, key string) map[string]any {
	if e, ok := got[key].(*sdk.ElicitResult); ok && e.Action == "accept" {
		return e.Content
	}
	return nil
}

// sampled is the text that the client's model answered.
func sampled(got sdk.InputResponseMap, key string) (string, bool) {
	r, ok := got[key].(*sdk.CreateMessageWithToolsResult)
	if !ok || len(r.Content) == 0 {
		return "", false
	}
	t, ok := r.Content[0].(*sdk.TextContent)
	return t.Text, ok
}

var badState = &jsonrpc.Error{Code: jsonrpc.CodeInvalidParams, Message: "the state is not one that was given out"}

// askingTools want something of the client before they answer, in the way of
// 2026-07-28. None of our own does.
func askingTools(s *sdk.Server) {
	add(s, "test_input_required_result_elicitation", func(_ context.Context, c *call) (*result, error) {
		if name, ok := accepted(c.Params.InputResponses, "user_name")["name"].(string); ok && name != "" {
			return says(text("Hello, " + name + "!")), nil
		}
		return asks("", sdk.InputRequestMap{"user_name": elicit("What is your name?", "name", "string")}), nil
	})
	add(s, "test_input_required_result_sampling", func(_ context.Context, c *call) (*result, error) {
		if said, ok := sampled(c.Params.InputResponses, "capital_question"); ok {
			return says(text(said)), nil
		}
		return asks("", sdk.InputRequestMap{"capital_question": sample("What is the capital of France?")}), nil
	})
	add(s, "test_input_required_result_list_roots", func(_ context.Context, c *call) (*result, error) {
		if roots, ok := c.Params.InputResponses["client_roots"].(*sdk.ListRootsResult); ok {
			return says(text(fmt.Sprintf("%d roots: %s", len(roots.Roots), roots.Roots[0].URI))), nil
		}
		return asks("", sdk.InputRequestMap{"client_roots": &sdk.ListRootsParams{}}), nil
	})
	confirmed := func(state string) func(context.Context, *call) (*result, error) {
		return func(_ context.Context, c *call) (*result, error) {
			if c.Params.RequestState != "" && c.Params.RequestState != state {
				return nil, badState
			}
			if c.Params.RequestState == state && accepted(c.Params.InputResponses, "confirm") != nil {
				return says(text("state-ok")), nil
			}
			return asks(state, sdk.InputRequestMap{"confirm": elicit("Please confirm", "ok", "boolean")}), nil
		}
	}
	add(s, "test_input_required_result_request_state", confirmed("state-1"))
	add(s, "test_input_required_result_tampered_state", confirmed("state-2"))
	add(s, "test_input_required_result_multiple_inputs", func(_ context.Context, c *call) (*result, error) {
		got := c.Params.InputResponses
		said, ok := sampled(got, "greeting")
		roots, alsoRoots := got["client_roots"].(*sdk.ListRootsResult)
		if name, named := accepted(got, "user_name")["name"].(string); ok && alsoRoots && named {
			return says(text(fmt.Sprintf("%s %s, %d roots", said, name, len(roots.Roots)))), nil
		}
		return asks("all", sdk.InputRequestMap{"user_name": elicit("What is your name?", "name", "string"),
			"greeting": sample("Generate a greeting"), "client_roots": &sdk.ListRootsParams{}}), nil
	})
	add(s, "test_input_required_result_multi_round", func(_ context.Context, c *call) (*result, error) {
		name, second := strings.CutPrefix(c.Params.RequestState, "second:")
		switch {
		case second:
			return says(text(fmt.Sprintf("%s likes %v", name, accepted(c.Params.InputResponses, "step2")["color"]))), nil
		case c.Params.RequestState == "first":
			said, _ := accepted(c.Params.InputResponses, "step1")["name"].(string)
			return asks("second:"+said, sdk.InputRequestMap{"step2": elicit("Which color?", "color", "string")}), nil
		}
		return asks("first", sdk.InputRequestMap{"step1": elicit("What is your name?", "name", "string")}), nil
	})
	add(s, "test_input_required_result_capabilities", func(_ context.Context, c *call) (*result, error) {
		caps, wants := c.ClientCapabilities(), sdk.InputRequestMap{}
		if caps != nil && caps.Elicitation != nil {
			wants["user_name"] = elicit("What is your name?", "name", "string")
		}
		if caps != nil && caps.Sampling != nil {
			wants["greeting"] = sample("Generate a greeting")
		}
		if len(c.Params.InputResponses) > 0 || len(wants) == 0 {
			return says(text("Done.")), nil
		}
		return asks("", wants), nil
	})
}

func fixtureResources(s *sdk.Server) {
	read := func(c sdk.ResourceContents) sdk.ResourceHandler {
		return func(_ context.Context, r *sdk.ReadResourceRequest) (*sdk.ReadResourceResult, error) {
			c := c
			c.URI = r.Params.URI
			c.Text = strings.ReplaceAll(c.Text, "ID", strings.TrimSuffix(strings.TrimPrefix(c.URI, "test://template/"), "/data"))
			return &sdk.ReadResourceResult{Contents: []*sdk.ResourceContents{&c}}, nil
		}
	}
	plain := sdk.ResourceContents{MIMEType: "text/plain", Text: "This is the content of the static text resource."}
	for _, name := range []string{"static-text", "watched-resource"} {
		s.AddResource(&sdk.Resource{URI: "test://" + name, Name: name, Description: "A fixture.", MIMEType: "text/plain"}, read(plain))
	}
	s.AddResource(&sdk.Resource{URI: "test://static-binary", Name: "static-binary", Description: "A fixture.", MIMEType: "image/png"},
		read(sdk.ResourceContents{MIMEType: "image/png", Blob: png}))
	s.AddResourceTemplate(&sdk.ResourceTemplate{URITemplate: "test://template/{id}/data", Name: "template", Description: "A fixture.", MIMEType: "application/json"},
		read(sdk.ResourceContents{MIMEType: "application/json", Text: `{"id":"ID","templateTest":true,"data":"Data for ID: ID"}`}))
}

func fixturePrompts(s *sdk.Server) {
	prompt := func(name string, arguments []string, content func(map[string]string) []sdk.Content) {
		p := &sdk.Prompt{Name: name, Description: "A fixture."}
		for _, a := range arguments {
			p.Arguments = append(p.Arguments, &sdk.PromptArgument{Name: a, Description: "An argument.", Required: true})
		}
		s.AddPrompt(p, func(_ context.Context, r *sdk.GetPromptRequest) (*sdk.GetPromptResult, error) {
			out := &sdk.GetPromptResult{}
			for _, c := range content(r.Params.Arguments) {
				out.Messages = append(out.Messages, &sdk.PromptMessage{Role: "user", Content: c})
			}
			return out, nil
		})
	}
	prompt("test_simple_prompt", nil, func(map[string]string) []sdk.Content {
		return []sdk.Content{text("This is a simple prompt for testing.")}
	})
	prompt("test_prompt_with_arguments", []string{"arg1", "arg2"}, func(a map[string]string) []sdk.Content {
		return []sdk.Content{text("Prompt with arguments: arg1='" + a["arg1"] + "', arg2='" + a["arg2"] + "'")}
	})
	prompt("test_prompt_with_embedded_resource", []string{"resourceUri"}, func(a map[string]string) []sdk.Content {
		return []sdk.Content{embedded(a["resourceUri"]), text("Please process the embedded resource above.")}
	})
	prompt("test_prompt_with_image", nil, func(map[string]string) []sdk.Content {
		return []sdk.Content{&sdk.ImageContent{Data: png, MIMEType: "image/png"}, text("Please analyze the image above.")}
	})
	s.AddPrompt(&sdk.Prompt{Name: "test_input_required_result_prompt", Description: "A fixture."},
		func(_ context.Context, r *sdk.GetPromptRequest) (*sdk.GetPromptResult, error) {
			if said := accepted(r.Params.InputResponses, "user_context"); said != nil {
				return &sdk.GetPromptResult{Messages: []*sdk.PromptMessage{{Role: "user", Content: text(fmt.Sprint(said["context"]))}}}, nil
			}
			return &sdk.GetPromptResult{InputRequests: sdk.InputRequestMap{"user_context": elicit("Please provide context", "context", "string")}}, nil
		})
}

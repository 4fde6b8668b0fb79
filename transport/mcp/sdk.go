package mcp

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// newSDK makes the SDK's part: one server without any tool of its own, and a
// middleware that answers for the caller whatever depends on one. Being without
// state it is shared by everyone; to build one costs far more than a request.
func (s *Server) newSDK(impl *sdk.Implementation) http.Handler {
	server := sdk.NewServer(impl, &sdk.ServerOptions{
		Capabilities: capabilities(true),
		SetCacheable: func(_ context.Context, _ sdk.Request, c *sdk.Cacheable) { *c = private },
	})
	if s.opts.Extra != nil {
		s.opts.Extra(server)
	}
	server.AddReceivingMiddleware(s.middleware)
	return sdk.NewStreamableHTTPHandler(func(*http.Request) *sdk.Server { return server }, &sdk.StreamableHTTPOptions{
		Stateless: true,
		// The door has seen to both: a proxy on this machine has another Host.
		DisableLocalhostProtection: true, MaxRequestBodyBytes: -1,
		PropagateRequestCancellation: true,
	})
}

// private is how long and for whom a list may be kept: not at all, since every
// caller has their own, and it changes with their rights.
var private = sdk.Cacheable{CacheScope: "private"}

// middleware answers what depends on the caller, and leaves the rest to the SDK.
func (s *Server) middleware(next sdk.MethodHandler) sdk.MethodHandler {
	return func(ctx context.Context, name string, req sdk.Request) (result sdk.Result, err error) {
		v := visitOf(ctx)
		if v == nil {
			return next(ctx, name, req)
		}
		ctx, cancel := context.WithCancel(ctx)
		defer cancel()
		defer context.AfterFunc(v.http, cancel)() // the SDK lets go of a legacy request's
		// The goroutine is the SDK's, which lets a panic end the process.
		err = s.opts.Panics.Try("a request of MCP", func() (err error) {
			result, err = s.dispatch(ctx, v, next, name, req)
			return err
		})
		if _, wire := errors.AsType[*jsonrpc.Error](err); err == nil || wire {
			return result, err
		}
		s.blame(ctx, "couldn't answer a request", err)
		return nil, problemOf(ctx, err).wire()
	}
}

func (s *Server) dispatch(ctx context.Context, v *visit, next sdk.MethodHandler, name string, req sdk.Request) (sdk.Result, error) {
	switch req := req.(type) {
	case *sdk.ListToolsRequest:
		return s.listTools(ctx, v, next, name, req)
	case *sdk.CallToolRequest:
		return s.callTool(ctx, v, next, name, req)
	case *sdk.ListResourcesRequest:
		return s.listResources(ctx, v, next, name, req)
	case *sdk.ListResourceTemplatesRequest:
		return s.listTemplates(ctx, v, next, name, req)
	case *sdk.ReadResourceRequest:
		return s.readResource(ctx, v, next, name, req)
	case *sdk.ListPromptsRequest:
		return s.listPrompts(ctx, v, next, name, req)
	case *sdk.GetPromptRequest:
		return s.getPrompt(ctx, v, next, name, req)
	case *sdk.CompleteRequest:
		return s.complete(ctx, v, req)
	}
	if name == methodDiscover {
		return s.discover(ctx, v, next, name, req)
	}
	return next(ctx, name, req)
}

// discover answers server/discover, with what this caller is told at this address.
func (s *Server) discover(ctx context.Context, v *visit, next sdk.MethodHandler, name string, req sdk.Request) (sdk.Result, error) {
	if err := s.checkChoice(ctx, v); err != nil {
		return nil, err
	}
	result, err := next(ctx, name, req)
	if found, ok := result.(*sdk.DiscoverResult); ok && err == nil {
		found.Instructions, found.Capabilities = s.instructions(ctx, v), s.capabilitiesFor(v)
		if s.opts.Calls != nil && v.portal {
			found.Capabilities.AddExtension(extensionTasks, nil)
		}
	}
	return result, err
}

// listTools is what [Server.list] does, beside tools of the SDK's own.
func (s *Server) listTools(ctx context.Context, v *visit, next sdk.MethodHandler, name string, req *sdk.ListToolsRequest) (sdk.Result, error) {
	var extra []*sdk.Tool
	if s.opts.Extra != nil {
		more, err := next(ctx, name, &sdk.ListToolsRequest{Session: req.Session})
		if err != nil {
			return nil, err
		}
		extra = more.(*sdk.ListToolsResult).Tools
	}
	page, cursor, err := s.page(ctx, v, extra)
	out := &sdk.ListToolsResult{Tools: make([]*sdk.Tool, len(page)), NextCursor: cursor, Cacheable: private}
	for i, f := range page {
		out.Tools[i] = f.tool
	}
	return out, err
}

// visible says which of our own tools the caller is shown.
func (s *Server) visible(ctx context.Context) (func(tool string) bool, error) {
	if s.opts.Visible == nil {
		return func(string) bool { return true }, nil
	}
	return s.opts.Visible(reading(ctx, ""))
}

// readable says which of our own tools that read the caller is shown and may use: an agent's list is
// shorter than others', and no error.
func (s *Server) readable(ctx context.Context, v *visit) (func(tool string) bool, error) {
	visible, err := s.visible(ctx)
	if err != nil {
		return nil, err
	}
	return func(tool string) bool { return visible(tool) && v.mayOwn(tool, true) == nil }, nil
}

// callTool is what [Server.call] does, for callers who want to see progress.
func (s *Server) callTool(ctx context.Context, v *visit, next sdk.MethodHandler, name string, req *sdk.CallToolRequest) (sdk.Result, error) {
	if s.opts.Extra != nil && s.tools.find(req.Params.Name) == nil && !v.portal {
		return next(ctx, name, req)
	}
	out, err := s.run(ctx, v, req.Params.Name, []byte(req.Params.Arguments), s.progress(ctx, req), nil)
	if err != nil {
		return nil, err
	}
	return s.resultOf(v, out)
}

// completed is an empty result that says that it is complete, as 2026-07-28 wants
// it. The SDK says so of results of its own; to others it gives this way alone.
func completed[R json.Unmarshaler](v *visit, result R) R {
	if v.modern {
		_ = result.UnmarshalJSON([]byte(`{"resultType":"complete"}`)) // which is valid
	}
	return result
}

// progress tells the caller how far a call is, nil where they don't want to know.
func (s *Server) progress(ctx context.Context, req *sdk.CallToolRequest) func(Progress) {
	token := req.Params.GetProgressToken()
	if token == nil {
		return nil
	}
	return func(p Progress) {
		// A client that has gone ends the call by itself.
		_ = req.Session.NotifyProgress(ctx, &sdk.ProgressNotificationParams{
			ProgressToken: token, Progress: p.Progress, Total: p.Total, Message: p.Message,
		})
	}
}

// resultOf makes the SDK's result.
func (s *Server) resultOf(v *visit, out *Result) (*sdk.CallToolResult, error) {
	content, err := out.appendContent(nil, s.opts.Random)
	if err != nil {
		return nil, err
	}
	items := new(sdk.CallToolResult)
	if err := items.UnmarshalJSON(append(append([]byte(`{"content":`), content...), '}')); err != nil {
		return nil, err
	}
	result := completed(v, new(sdk.CallToolResult))
	result.Content = items.Content
	if out.Structured != nil {
		result.StructuredContent = json.RawMessage(out.Structured)
	}
	result.IsError = out.IsError
	result.Meta = metaOf(out)
	return result, nil
}

package main

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"ubl"
	"ubl/portal"
	"ubl/transport/mcp"
)

// longCalls are calls that may outlive their requests, as MCP asks for them.
type longCalls struct{ *portal.Portal }

// Begin implements [mcp.Calls].
func (c longCalls) Begin(ctx context.Context, l mcp.Long) (mcp.Flight, error) {
	out := portal.Long{
		Request: l.Request, Tool: l.Tool, Args: l.Args, Parent: l.Request.Parent, Progress: toldOf(l.Tool, l.Progress), Keep: l.Keep, Form: l.Form, Destroys: l.Destroys,
	}
	if l.Own != nil {
		out.Own = func(ctx context.Context, confirmed bool) (*ubl.ToolResult, error) {
			r, err := l.Own(ctx, confirmed)
			if err != nil {
				return nil, err
			}
			content := r.Content
			if content == nil {
				content = json.RawMessage("null")
			}
			return &ubl.ToolResult{Content: content, Structured: r.Structured, IsError: r.IsError, Foreign: r.Foreign}, nil
		}
	}
	f, err := c.Portal.Begin(ctx, out)
	if err != nil {
		return nil, err
	}
	return flight{f}, nil
}

// Task implements [mcp.Calls].
func (c longCalls) Task(ctx context.Context, who ubl.Identity, n int64) (*ubl.Task, *mcp.News, error) {
	t, news, err := c.Portal.Task(ctx, who, n)
	return t, newsOf(news), err
}

// Follow implements [mcp.Calls].
func (c longCalls) Follow(ctx context.Context, who ubl.Identity, n int64, question int) (*ubl.Task, *mcp.News, error) {
	t, news, err := c.Portal.Follow(ctx, who, n, question)
	return t, newsOf(news), err
}

// flight is a call as MCP waits for it.
type flight struct{ *portal.Flight }

// Next implements [mcp.Flight].
func (f flight) Next(ctx context.Context, n int) (*mcp.News, error) {
	news, err := f.Flight.Next(ctx, n)
	return newsOf(news), err
}

func newsOf(n *portal.News) *mcp.News {
	if n == nil {
		return nil
	}
	out := &mcp.News{Question: n.Question, Ended: n.Ended, Err: n.Err}
	if n.Result != nil {
		out.Result = resultOf(n.Result)
	}
	return out
}

func resultOf(r *ubl.ToolResult) *mcp.Result {
	out := &mcp.Result{Content: r.Content, Structured: r.Structured, IsError: r.IsError, Foreign: r.Foreign, Receipt: &r.Receipt, Salt: r.Salt}
	if string(r.Content) == "null" { // of a tool of our own
		out.Content = nil
	}
	return out
}

// toldOf is progress with whose words it bears; nil asks the server for none.
func toldOf(tool string, progress func(mcp.Progress)) func(done, total float64, message string) {
	if progress == nil {
		return nil
	}
	server, _, _ := strings.Cut(tool, ".")
	return func(done, total float64, message string) {
		if message != "" {
			message = fmt.Sprintf("[%s] %s", server, message)
		}
		progress(mcp.Progress{Progress: done, Total: total, Message: message})
	}
}

// Package mcpload drives MCP servers over streamable HTTP: with ready-made
// bytes, as package load drives REST, or with the SDK's own client, as programs
// do. It also opens sessions and lets them be, for their memory to be read.
package mcpload

import (
	"encoding/json"
	"fmt"
	"maps"
)

// The versions of the protocol that are measured: the newest, whose requests
// stand by themselves, and the newest of those that begin with a session.
const (
	Modern = "2026-07-28"
	Legacy = "2025-11-25"
)

// Protocols lists them, newest first.
func Protocols() []string { return []string{Modern, Legacy} }

const (
	accept        = "application/json, text/event-stream"
	sessionHeader = "Mcp-Session-Id"
	clientName    = "ubl-bench"
	clientVersion = "1"
)

// Target is a server and how to speak to it.
type Target struct {
	Host     string // HOST:PORT
	Path     string
	Token    string
	Protocol string // Modern or Legacy
}

func (t Target) url() string { return "http://" + t.Host + t.Path }

// message makes a JSON-RPC message; a request says in Modern who asks. An id of
// 0 makes a notification.
func (t Target) message(id int, method string, params map[string]any) ([]byte, error) {
	if t.Protocol == Modern {
		params = maps.Clone(params)
		params["_meta"] = map[string]any{
			"io.modelcontextprotocol/protocolVersion":    Modern,
			"io.modelcontextprotocol/clientInfo":         map[string]string{"name": clientName, "version": clientVersion},
			"io.modelcontextprotocol/clientCapabilities": struct{}{},
		}
	}
	message := map[string]any{"jsonrpc": "2.0", "method": method, "params": params}
	if id != 0 {
		message["id"] = id
	}
	body, err := json.Marshal(message)
	if err != nil {
		return nil, fmt.Errorf("couldn't encode a message: %w", err)
	}
	return body, nil
}

// headers are those that a request needs beside a REST request's. Name is what a
// tools/call calls.
func (t Target) headers(method, name, session string) []string {
	out := []string{"Accept: " + accept, "MCP-Protocol-Version: " + t.Protocol}
	if t.Protocol == Modern {
		out = append(out, "Mcp-Method: "+method)
		if name != "" {
			out = append(out, "Mcp-Name: "+name)
		}
	}
	if session != "" {
		out = append(out, sessionHeader+": "+session)
	}
	return out
}

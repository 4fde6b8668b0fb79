//go:build !conformance

package main

import sdk "github.com/modelcontextprotocol/go-sdk/mcp"

// fixtures is for builds with the tag conformance.
func fixtures(*node) func(*sdk.Server) { return nil }

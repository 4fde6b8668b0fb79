package gateway

import (
	"encoding/json"

	"ubl"
)

// Roles of messages.
const (
	RoleUser      = "user"
	RoleAssistant = "assistant"
	RoleTool      = "tool"
)

// Choices of tools; empty is the provider's own, which is auto.
const (
	ChooseAuto = "auto"
	ChooseNone = "none"
)

// FinishLength is why a model stopped that reached MaxTokens.
const FinishLength = "length"

// Message is a part of a conversation.
type Message struct {
	Role    string
	Content string
	// ToolCalls are those of an assistant.
	ToolCalls []ToolCall
	// ToolCallID is which call a tool's message answers.
	ToolCallID string
}

// Tool is what a model may call. Name matches ^[A-Za-z0-9_-]{1,64}$, Parameters
// is a JSON Schema of an object.
type Tool struct {
	Name, Description string
	Parameters        json.RawMessage
}

// ToolCall is a model's wish. Arguments is text that should be a JSON object.
type ToolCall struct {
	ID, Name, Arguments string
}

// Request is what a model is asked.
type Request struct {
	Tenant ubl.TenantID
	// Model is what the caller calls it.
	Model     string
	Messages  []Message
	MaxTokens int
	// Temperature is the provider's own where it is nil.
	Temperature *float64
	Tools       []Tool
	ToolChoice  string
	// Cache says that an earlier answer to the same request will do, whatever the
	// temperature.
	Cache bool
}

// Answer is what came of it.
type Answer struct {
	Text      string
	ToolCalls []ToolCall
	// Finish is why the model stopped; "" where the provider didn't say.
	Finish string
	Usage  ubl.Usage
}

// bytesPerToken is how long a token is taken to be where nobody counted.
const bytesPerToken = 4

// EstimatePrompt is about how many tokens a request has before its answer.
func EstimatePrompt(r Request) int64 {
	n := 0
	for _, m := range r.Messages {
		n += len(m.Role) + len(m.Content) + lengthOf(m.ToolCalls)
	}
	for _, t := range r.Tools {
		n += len(t.Name) + len(t.Description) + len(t.Parameters)
	}
	return tokens(n)
}

func estimateAnswer(a *Answer) int64 { return tokens(len(a.Text) + lengthOf(a.ToolCalls)) }

func lengthOf(calls []ToolCall) int {
	n := 0
	for _, c := range calls {
		n += len(c.Name) + len(c.Arguments)
	}
	return n
}

func tokens(bytes int) int64 { return int64((bytes + bytesPerToken - 1) / bytesPerToken) }

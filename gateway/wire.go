package gateway

import "encoding/json"

// Forms of the chat completions API, as far as they are used.
type (
	wireRequest struct {
		Model               string        `json:"model"`
		Messages            []wireMessage `json:"messages"`
		MaxTokens           int           `json:"max_tokens,omitempty"`
		MaxCompletionTokens int           `json:"max_completion_tokens,omitempty"`
		Temperature         *float64      `json:"temperature,omitempty"`
		Tools               []wireTool    `json:"tools,omitempty"`
		ToolChoice          string        `json:"tool_choice,omitempty"`
		Stream              bool          `json:"stream,omitempty"`
		StreamOptions       *wireOptions  `json:"stream_options,omitempty"`
	}
	wireOptions struct {
		IncludeUsage bool `json:"include_usage"`
	}
	wireMessage struct {
		Role       string     `json:"role"`
		Content    *string    `json:"content"`
		ToolCalls  []wireCall `json:"tool_calls,omitempty"`
		ToolCallID string     `json:"tool_call_id,omitempty"`
	}
	wireTool struct {
		Type     string       `json:"type"`
		Function wireFunction `json:"function"`
	}
	wireFunction struct {
		Name        string          `json:"name"`
		Description string          `json:"description,omitempty"`
		Parameters  json.RawMessage `json:"parameters,omitempty"`
	}
	wireCall struct {
		// Index is which call a delta belongs to; nil in whole messages and from
		// servers that send calls in one piece.
		Index    *int         `json:"index,omitempty"`
		ID       string       `json:"id,omitempty"`
		Type     string       `json:"type,omitempty"`
		Function wireCallBody `json:"function"`
	}
	wireCallBody struct {
		Name      string `json:"name,omitempty"`
		Arguments string `json:"arguments"`
	}

	// wireAnswer is an answer in one piece or a chunk of a streamed one.
	wireAnswer struct {
		Choices []wireChoice `json:"choices"`
		Usage   *wireUsage   `json:"usage"`
		Error   *wireError   `json:"error"`
	}
	wireChoice struct {
		Message      *wireDelta `json:"message"`
		Delta        *wireDelta `json:"delta"`
		FinishReason string     `json:"finish_reason"`
	}
	wireDelta struct {
		Content   string     `json:"content"`
		ToolCalls []wireCall `json:"tool_calls"`
	}
	wireUsage struct {
		PromptTokens     int64 `json:"prompt_tokens"`
		CompletionTokens int64 `json:"completion_tokens"`
	}
	// wireError's members are of any type: servers send numbers and null too.
	wireError struct {
		Code any `json:"code"`
		Type any `json:"type"`
	}
)

// reason is the first of code and type that may be passed on.
func (e wireError) reason() string {
	for _, v := range []any{e.Code, e.Type} {
		if s, ok := v.(string); ok && reasons[s] {
			return s
		}
	}
	return ""
}

// encode writes a request as the provider wants it.
func (p *provider) encode(r Request, model string, stream bool) ([]byte, error) {
	w := wireRequest{Model: model, Temperature: r.Temperature, Stream: stream}
	if p.MaxTokensName == "max_completion_tokens" {
		w.MaxCompletionTokens = r.MaxTokens
	} else {
		w.MaxTokens = r.MaxTokens
	}
	if stream {
		w.StreamOptions = &wireOptions{IncludeUsage: true}
	}
	for _, m := range r.Messages {
		w.Messages = append(w.Messages, encodeMessage(m))
	}
	for _, t := range r.Tools {
		w.Tools = append(w.Tools, wireTool{Type: "function", Function: wireFunction(t)})
	}
	if len(r.Tools) > 0 {
		w.ToolChoice = r.ToolChoice
	}
	return json.Marshal(w)
}

// encodeMessage writes the content as null where an assistant only called tools.
func encodeMessage(m Message) wireMessage {
	w := wireMessage{Role: m.Role, Content: &m.Content, ToolCallID: m.ToolCallID}
	if m.Content == "" && len(m.ToolCalls) > 0 {
		w.Content = nil
	}
	for _, c := range m.ToolCalls {
		w.ToolCalls = append(w.ToolCalls, wireCall{ID: c.ID, Type: "function", Function: wireCallBody{Name: c.Name, Arguments: c.Arguments}})
	}
	return w
}

package office

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"unicode/utf8"

	"ubl"
	"ubl/gateway"
	"ubl/gateway/check"
)

const (
	// maxToolCalls is how many tools a model may call in one step.
	maxToolCalls = 16
	// maxToolAnswer bounds what a model is told of a tool's answer, in bytes.
	maxToolAnswer = 32 << 10
	// maxCutNote is room for what [cut] says.
	maxCutNote = 128
	// maxFinish bounds what a provider may say of why a model stopped.
	maxFinish = 64
)

// converse asks the model until it has an answer, or MaxSteps times.
func (c *completing) converse(ctx context.Context) error {
	messages := []gateway.Message{{Role: gateway.RoleUser, Content: c.Prompt}}
	for {
		a, err := c.ask(ctx, messages)
		if err != nil {
			return err
		}
		if len(a.ToolCalls) == 0 || c.asked == c.MaxSteps || len(c.tools.offered) == 0 {
			return nil
		}
		if c.left() < 1 {
			c.finish = gateway.FinishLength
			return nil
		}
		messages = append(messages, gateway.Message{Role: gateway.RoleAssistant, Content: a.Text, ToolCalls: a.ToolCalls})
		for i, call := range a.ToolCalls {
			answer, err := c.callTool(ctx, i, call)
			if err != nil {
				return err
			}
			messages = append(messages, gateway.Message{Role: gateway.RoleTool, Content: answer, ToolCallID: call.ID})
		}
	}
}

// ask makes one step, and adds up what came of it, however it ended.
func (c *completing) ask(ctx context.Context, messages []gateway.Message) (*gateway.Answer, error) {
	c.asked++
	var hear func(string)
	if c.onDelta != nil && !c.o.Models.Withholds() {
		hear = c.hearing()
	}
	a, err := c.o.Models.Complete(ctx, c.question(messages, c.left()), hear)
	if a != nil {
		c.count(a.Usage)
		c.finish = finish(a.Finish)
		c.answers = check.Worse(c.answers, c.o.Models.CheckAfter(said(a)))
		if c.text.Len() > 0 && a.Text != "" {
			c.text.WriteString(betweenSteps)
		}
		c.text.WriteString(a.Text)
	}
	if err == nil {
		err = blocked("answer", c.answers)
	}
	return a, err
}

// betweenSteps parts what a model says before and after it uses tools.
const betweenSteps = "\n\n"

// hearing passes a step's pieces on, apart from those of the steps before.
func (c *completing) hearing() func(string) {
	apart := c.text.Len() > 0
	return func(piece string) {
		if apart {
			piece, apart = betweenSteps+piece, false
		}
		c.onDelta(piece)
	}
}

// said is all that a model wrote, into its calls of tools too: they may carry out
// what an answer may not.
func said(a *gateway.Answer) string {
	var b strings.Builder
	b.WriteString(a.Text)
	for _, call := range a.ToolCalls {
		b.WriteString("\n" + call.Arguments)
	}
	return b.String()
}

// finish is what a provider says of why a model stopped, as far as it can stand in
// a receipt.
func finish(reason string) string {
	if len(reason) > maxFinish || strings.ContainsFunc(reason, func(c rune) bool { return c <= ' ' || c > '~' }) {
		return ""
	}
	return reason
}

// question is the next step's. In the last one no tools may be called.
func (c *completing) question(messages []gateway.Message, maxTokens int) gateway.Request {
	r := gateway.Request{
		Tenant: c.Who.TenantID, Model: c.Model, Messages: messages, MaxTokens: maxTokens,
		Temperature: c.Temperature, Cache: c.Cache, Tools: c.tools.offered,
	}
	if len(r.Tools) > 0 {
		r.ToolChoice = gateway.ChooseAuto
		if c.asked == c.MaxSteps {
			r.ToolChoice = gateway.ChooseNone
		}
	}
	return r
}

// left is how many tokens the answers to come may have.
func (c *completing) left() int { return c.MaxTokens - int(c.usage.CompletionTokens) }

// count adds a step's usage.
func (c *completing) count(u ubl.Usage) {
	c.usage.PromptTokens += u.PromptTokens
	c.usage.CompletionTokens += u.CompletionTokens
	c.usage.CostMicros += u.CostMicros
	c.usage.Provider, c.usage.Model, c.usage.Cached = u.Provider, u.Model, u.Cached
	c.usage.Estimated = c.usage.Estimated || u.Estimated
}

// callTool makes a call that the model wants, and answers what the model is told.
// The error ends the completion: the caller has gone, or the answer was blocked.
func (c *completing) callTool(ctx context.Context, i int, call gateway.ToolCall) (string, error) {
	result, err := c.use(ctx, i, call)
	if ctx.Err() != nil {
		return "", ctx.Err()
	}
	if err != nil {
		return toldError(err), nil
	}
	answer, err := c.o.tell(result)
	if err != nil {
		return "", err
	}
	told := cut(answer, maxToolAnswer)
	found := c.o.Models.CheckBefore(told)
	c.fromTools = check.Worse(c.fromTools, found)
	return told, blocked("tool's answer", found)
}

// use calls the tool for the caller, where it can be called at all.
func (c *completing) use(ctx context.Context, i int, call gateway.ToolCall) (*ubl.ToolResult, error) {
	if i >= maxToolCalls {
		return nil, ubl.Errorf(ubl.CodeTooLarge, "at most %d tools can be called at once", maxToolCalls)
	}
	tool, ok := c.tools.named[call.Name]
	if !ok {
		return nil, ubl.NoTool()
	}
	args, err := ubl.ToolArguments([]byte(call.Arguments))
	if err != nil {
		return nil, err
	}
	id, result, err := c.o.use(ctx, c.Request, tool, args)
	step := ubl.CompletionStep{Tool: tool, RequestID: id, Code: ubl.CodeOf(err)}
	if err == nil {
		step.IsError, step.Salt = result.IsError, result.Salt
		if result.Receipt != (ubl.Receipt{}) {
			step.Receipt = &result.Receipt
		}
	}
	c.steps = append(c.steps, step)
	return result, err
}

// toldError is an error as a model is told it: as a caller would be, and what to do next.
func toldError(err error) string {
	e := ubl.AsError(err)
	data, err := json.Marshal(map[string]any{"error": map[string]any{
		"code": e.Code, "message": e.Message, "details": e.Details, "advice": e.Code.Advice(),
	}})
	if err != nil { // strings only
		return `{"error":{}}`
	}
	return string(data)
}

// tell is a result as a model is told it: its structured content, else its texts.
func (o *Office) tell(r *ubl.ToolResult) (string, error) {
	text := string(r.Structured)
	if len(r.Structured) == 0 {
		text = texts(r.Content)
	}
	if r.Foreign != "" {
		before, after, err := ubl.ForeignMark(r.Foreign, []byte(text), o.Random)
		if err != nil {
			return "", err
		}
		text = before + "\n" + cut(text, maxToolAnswer-len(before)-len(after)-maxCutNote) + "\n" + after
	}
	if r.IsError {
		text = "The tool answered that it failed: " + text
	}
	return text, nil
}

// texts joins the texts of content blocks; of other blocks it tells what they are.
func texts(content json.RawMessage) string {
	var blocks []struct {
		Type string `json:"type"`
		Text string `json:"text"`
	}
	if json.Unmarshal(content, &blocks) != nil {
		return string(content)
	}
	parts := make([]string, len(blocks))
	for i, b := range blocks {
		if parts[i] = b.Text; b.Type != "text" {
			parts[i] = fmt.Sprintf("[%s]", b.Type)
		}
	}
	return strings.Join(parts, "\n")
}

// cut shortens a text to about max bytes, and says so.
func cut(text string, max int) string {
	if len(text) <= max {
		return text
	}
	for max > 0 && !utf8.RuneStart(text[max]) {
		max--
	}
	return fmt.Sprintf("%s\n[cut off here: %d more bytes]", text[:max], len(text)-max)
}

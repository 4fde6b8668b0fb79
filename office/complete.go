package office

import (
	"context"
	"slices"
	"strings"
	"unicode/utf8"

	"ubl"
	"ubl/gateway"
	"ubl/gateway/check"
)

// Complete asks a model for the caller, under the Agreement of a workspace in
// which they may execute. onDelta, unless nil, is called with each piece of the
// completion, in order, before Complete returns the whole. Members whom their
// tenant has let in.
func (o *Office) Complete(ctx context.Context, req ubl.CompleteRequest, onDelta func(string)) (completion *ubl.Completion, err error) {
	if err := settle(&req); err != nil {
		return nil, err
	}
	agreement, err := ubl.Ask[ubl.AgreementID](ctx, o.Asker, ubl.ContainerName(req.Who.TenantID, req.WorkspaceID),
		ubl.Authorize{Request: req.Request, Op: ubl.OpExecute, Tools: req.Tools})
	if err != nil {
		return nil, err
	}
	record, err := ubl.Ask[*ubl.AgreementView](ctx, o.Asker, ubl.ContainerName(req.Who.TenantID, req.WorkspaceID), ubl.GetAgreement{Who: req.Who, Brief: true})
	if err != nil {
		return nil, err
	}
	req.Under = append(slices.Clip(req.Under), ubl.RecordHash{Agreement: record.ID, Hash: record.Hash})
	input, err := canonical(inputOf(req))
	if err != nil {
		return nil, err
	}
	mine, first, err := o.replays.join(ctx, req.Request, ubl.BodyHash(input))
	if err != nil {
		return nil, err
	}
	if !first {
		return mine.wait(ctx, onDelta)
	}
	c := &completing{o: o, CompleteRequest: req, agreement: agreement, input: input, onDelta: onDelta, steps: []ubl.CompletionStep{}}
	err = ubl.Errorf(ubl.CodeInternal, "the completion was interrupted") // where run doesn't return
	defer func() { o.replays.settle(mine, completion, err) }()
	completion, err = c.run(mine.ctx)
	return completion, err
}

// settle fills in what was left open, and refuses what makes no sense.
func settle(r *ubl.CompleteRequest) error {
	if r.Model == "" {
		r.Model = ubl.DefaultModel
	}
	if r.MaxTokens == 0 {
		r.MaxTokens = ubl.DefaultMaxTokens
	}
	if r.MaxSteps == 0 {
		r.MaxSteps = ubl.DefaultSteps
	}
	chars := utf8.RuneCountInString(r.Prompt)
	switch {
	case !r.WorkspaceID.Valid():
		return wrong("workspace_id", "is not the id of a container")
	case chars < 1 || chars > ubl.MaxPromptChars || !utf8.ValidString(r.Prompt):
		return wrong("prompt", "must be 1 to 100000 characters of UTF-8")
	case len(r.Model) > ubl.MaxModelName || strings.ContainsFunc(r.Model, func(c rune) bool { return c <= ' ' || c > '~' }):
		return wrong("model", "must be 1 to 64 characters of ASCII, without blanks")
	case r.MaxTokens < 1 || r.MaxTokens > ubl.MaxTokens:
		return wrong("max_tokens", "must be 1 to 100000")
	case r.MaxSteps < 1 || r.MaxSteps > ubl.MaxSteps:
		return wrong("max_steps", "must be 1 to 16")
	case r.Temperature != nil && !(*r.Temperature >= 0 && *r.Temperature <= 2):
		return wrong("temperature", "must be 0 to 2")
	case len(r.Tools) > maxTools:
		return wrong("tools", "must be at most 100")
	}
	return nil
}

func wrong(field, reason string) error {
	e := ubl.Errorf(ubl.CodeValidation, "%s %s", field, reason)
	e.Details = map[string]string{field: reason}
	return e
}

// input is a request as the commitment to it covers it.
type input struct {
	Cache       bool            `json:"cache"`
	MaxSteps    int             `json:"max_steps"`
	MaxTokens   int             `json:"max_tokens"`
	Model       string          `json:"model"`
	Prompt      string          `json:"prompt"`
	Temperature *float64        `json:"temperature"`
	Tools       []string        `json:"tools"`
	WorkspaceID ubl.ContainerID `json:"workspace_id"`
}

func inputOf(r ubl.CompleteRequest) input {
	return input{r.Cache, r.MaxSteps, r.MaxTokens, r.Model, r.Prompt, r.Temperature, r.Tools, r.WorkspaceID}
}

// completing is one completion under way. It belongs to the caller's goroutine.
type completing struct {
	o *Office
	ubl.CompleteRequest
	agreement ubl.AgreementID
	input     []byte // canonical
	salt      ubl.Salt
	onDelta   func(string)
	tools     toolbox

	call   *recorded
	asked  int // how often the model was asked
	text   strings.Builder
	finish string
	usage  ubl.Usage
	steps  []ubl.CompletionStep
	// prompt, fromTools and answers are what was found where.
	prompt, fromTools, answers ubl.CheckResult
}

// run makes the call between its intent and its effect.
func (c *completing) run(ctx context.Context) (*ubl.Completion, error) {
	if err := c.o.Models.Serves(c.Model); err != nil {
		return nil, err
	}
	if err := c.findTools(ctx); err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, c.o.Timeout)
	defer cancel()
	c.prompt = c.o.Models.CheckBefore(c.Prompt)
	if err := c.begin(ctx); err != nil {
		return nil, err
	}
	err := blocked("prompt", c.prompt)
	if err == nil {
		err = c.converse(ctx)
	}
	if err := c.end(ctx, err); err != nil {
		return nil, err
	}
	if c.onDelta != nil && c.o.Models.Withholds() && c.text.Len() > 0 {
		c.onDelta(c.text.String())
	}
	return c.completion(), nil
}

// blocked refuses a text that a check has blocked.
func blocked(what string, r ubl.CheckResult) error {
	if r.Blocked == "" {
		return nil
	}
	e := ubl.Errorf(ubl.CodeForbidden, "the %s was blocked by the check %s", what, r.Blocked)
	e.Details = map[string]string{"check": r.Blocked, "text": what}
	return e
}

func (c *completing) begin(ctx context.Context) (err error) {
	if c.salt, err = ubl.NewSalt(c.o.Random); err != nil {
		return err
	}
	this := append(check.Fields("", c.prompt),
		ubl.Int("max_tokens", int64(c.MaxTokens)), ubl.Str("model", c.Model),
		ubl.Str("prompt_hash", c.salt.CommitText("prompt", c.Prompt)), ubl.Str("workspace_id", c.WorkspaceID))
	c.call, err = c.o.begin(ctx, ubl.BeginCall{
		Request: c.Request, Did: ubl.DidComplete, Agreement: c.agreement, Server: ubl.ModelServer, Capability: string(ubl.DidComplete),
		InputHash: ubl.BodyHash(c.input), Commitment: c.salt.Commit(c.input), This: this, Tokens: c.tokens(), Model: true,
	})
	return err
}

// tokens is about what the completion will use at most: the prompt as often as it
// may be sent, and the answers. What tools will answer nobody knows.
func (c *completing) tokens() int64 {
	prompt := gateway.EstimatePrompt(c.question([]gateway.Message{{Role: gateway.RoleUser, Content: c.Prompt}}, c.MaxTokens))
	times := int64(1)
	if len(c.tools.offered) > 0 {
		times = int64(c.MaxSteps)
	}
	return times*prompt + int64(c.MaxTokens)
}

func (c *completing) end(ctx context.Context, failed error) error {
	end := ubl.EndCall{Effect: append(check.Fields("", c.answers), check.Fields("tools_", c.fromTools)...)}
	end.Effect = append(end.Effect, ubl.Int("steps", int64(c.asked)), ubl.Int("tool_calls", int64(len(c.steps))))
	if c.finish != "" {
		end.Effect = append(end.Effect, ubl.Str("finish_reason", c.finish))
	}
	if c.usage.Provider != "" {
		end.Usage = &c.usage
	}
	if failed == nil {
		end.OutputHash = c.salt.CommitText("completion", c.text.String())
	}
	return c.call.end(ctx, end, failed)
}

func (c *completing) completion() *ubl.Completion {
	return &ubl.Completion{
		Completion: c.text.String(), FinishReason: c.finish, Usage: c.usage, Steps: c.steps, Receipt: c.call.ticket.Receipt, Salt: c.salt,
		Checks: ubl.Checks{Before: check.Worse(c.prompt, c.fromTools), After: c.answers},
	}
}

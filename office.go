package ubl

// What the office does outside for its callers: it asks models. The shapes
// here are shared by package office, which does it, and the transports.

// Limits of a completion, and what is taken where the caller says nothing.
const (
	MaxPromptChars   = 100_000
	MaxModelName     = 64
	DefaultModel     = "gpt-4"
	MaxTokens        = 100_000
	DefaultMaxTokens = 1000
	MaxSteps         = 16
	DefaultSteps     = 4
)

// CompleteRequest asks a model, under the Agreement of a workspace.
type CompleteRequest struct {
	Request
	WorkspaceID ContainerID
	Prompt      string // 1 to MaxPromptChars characters
	Model       string // "" for DefaultModel
	MaxTokens   int    // of the answers of all steps together; 0 for DefaultMaxTokens
	// Temperature is 0 to 2, nil for the provider's own. At 0 an earlier answer to
	// the same request of the tenant may be given again, as with Cache.
	Temperature *float64
	// Cache says that such an earlier answer will do at any temperature.
	Cache bool
	// Tools are those that the model may use for the caller; none means that it
	// uses none.
	Tools []string
	// MaxSteps bounds how often the model is asked, the first time included and
	// then with what its tools answered; 0 for DefaultSteps. The last time it may
	// call none.
	MaxSteps int
}

// Completion is a model's answer.
type Completion struct {
	Completion string `json:"completion"`
	// FinishReason is why the model stopped: stop, or length where MaxTokens was
	// reached, or what else its provider said.
	FinishReason string `json:"finish_reason"`
	// Usage sums up what all steps used.
	Usage Usage `json:"usage"`
	// Checks are what the heuristics found in the prompt and in the answer.
	Checks Checks `json:"checks"`
	// Steps are the calls of tools, in order.
	Steps []CompletionStep `json:"steps"`
	// Receipt is that of the act, whose intent was on record before the model was
	// asked.
	Receipt Receipt `json:"receipt"`
}

// Checks are what labelled heuristics found before and after a model.
type Checks struct {
	Before CheckResult `json:"before"`
	After  CheckResult `json:"after"`
}

// CheckResult is what they found in the texts of one stage; they are hints and no
// proof. What the operator has switched off is nil.
type CheckResult struct {
	PIIDetected    *bool `json:"pii_detected,omitempty"`
	InjectionScore *int  `json:"injection_score,omitempty"` // 0 to 100
	// UnsafeTopic is the topic's label, "" for none.
	UnsafeTopic *string `json:"unsafe_topic,omitempty"`
	// PII and Rules are the labels behind the first two, in order.
	PII   []string `json:"pii,omitempty"`
	Rules []string `json:"rules,omitempty"`
	// Blocked names the check because of which the text goes no further, "" where
	// it may. No answer has it: a blocked act is refused.
	Blocked string `json:"-"`
}

// CompletionStep is a call of a tool that a model made.
type CompletionStep struct {
	Tool string `json:"tool"`
	// RequestID is the call's own; its parent is the completion's.
	RequestID string `json:"request_id"`
	// Code says why the tool couldn't be called, "" where it was.
	Code Code `json:"code,omitempty"`
	// IsError is how a tool says that it failed.
	IsError bool `json:"is_error,omitempty"`
	// Receipt is that of the call; nil where there is none.
	Receipt *Receipt `json:"receipt,omitempty"`
}

package office

import (
	"context"
	"encoding/json"
	"io"
	"log/slog"
	"time"

	"ubl"
	"ubl/gateway"
)

// Models asks models and looks at texts; [gateway.Gateway] does. Safe for
// concurrent use.
type Models interface {
	// Serves refuses a model that nobody could be asked for.
	Serves(model string) error
	// CheckBefore and CheckAfter look at texts on their way into a model and out.
	CheckBefore(text string) ubl.CheckResult
	CheckAfter(text string) ubl.CheckResult
	// Withholds reports whether CheckAfter may block.
	Withholds() bool
	// Complete asks for an answer, as [gateway.Gateway.Complete].
	Complete(ctx context.Context, r gateway.Request, onDelta func(string)) (*gateway.Answer, error)
}

// Tools are what a caller may use: our own tools and those of external servers.
// Safe for concurrent use. Errors are [ubl.Error].
type Tools interface {
	// List lists the tools that the caller may use.
	List(ctx context.Context, who ubl.Identity) ([]Tool, error)
	// Call uses one for the caller, with the refusals and receipts that it has
	// anywhere. Args is a JSON object; parent is the request id of what the call is
	// made for.
	Call(ctx context.Context, req ubl.Request, tool string, args json.RawMessage, parent string) (*ubl.ToolResult, error)
}

// Tool describes a tool to a model. Input is the JSON Schema of its arguments.
type Tool struct {
	Name, Description string
	Input             json.RawMessage
}

// Options of an office.
type Options struct {
	Asker  ubl.Asker
	Models Models
	Tools  Tools // nil for none
	Now    func() time.Time
	Random io.Reader
	Log    *slog.Logger // nil for none
	// Timeout bounds a whole completion with all its steps, or a tool's call:
	// 5 minutes where it is 0, 50 at most.
	Timeout time.Duration
}

const (
	defaultTimeout = 5 * time.Minute
	maxTimeout     = 50 * time.Minute
	// grace is how long after its own timeout a call is given for its effect, before
	// the sweep ends it.
	grace = 15 * time.Second
	// endTimeout bounds writing the effect.
	endTimeout = 5 * time.Second
)

// Office acts outside for callers. Safe for concurrent use.
type Office struct {
	Options
	replays *replays
}

// New makes an office.
func New(o Options) *Office {
	if o.Timeout <= 0 {
		o.Timeout = defaultTimeout
	}
	o.Timeout = min(o.Timeout, maxTimeout)
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	return &Office{Options: o, replays: newReplays(o.Now)}
}

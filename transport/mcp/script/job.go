package script

import (
	"context"
	"encoding/json"
	"time"
)

// Bounds of what a program takes and gives, in bytes.
const (
	MaxProgram = 64 << 10
	// MaxArguments bounds the arguments of a run, and those of one call.
	MaxArguments = 512 << 10
	// MaxAnswer bounds the answer to one call, as the program gets it.
	MaxAnswer = 4 << 20
	// MaxResult bounds what a program returns.
	MaxResult = 256 << 10
	// MaxLog bounds all that a program logs.
	MaxLog = 16 << 10
)

// Job is a program to run.
type Job struct {
	// Program is the body of an async function, in JavaScript. It has tools, tool, args, log
	// and console.
	Program string
	// Arguments are a JSON object, which the program has as args.
	Arguments json.RawMessage
	// MaxCalls is how many calls it may make.
	MaxCalls int
	// Timeout bounds the whole run, calls included.
	Timeout time.Duration
	// Now is where the program's clock stands.
	Now time.Time
	// Seed is what its random numbers follow from.
	Seed uint64
}

// Call is what a program wants done.
type Call struct {
	// N counts the program's calls, from 1.
	N    int
	Tool string
	// Arguments are a JSON object.
	Arguments json.RawMessage
}

// Do does a call and answers a JSON value. A problem is thrown in the program, which may catch it.
type Do func(ctx context.Context, c Call) (json.RawMessage, *Problem)

// Problem is why a call failed, as the program is told.
type Problem struct {
	Code    string            `json:"code"`
	Message string            `json:"message"`
	Details map[string]string `json:"details,omitzero"`
	// Result is what a tool answered that says itself that it failed, nil for none.
	Result json.RawMessage `json:"result,omitzero"`
}

// Outcome is how a run ended.
type Outcome struct {
	// Result is the JSON value that the program returned, null for nothing.
	Result json.RawMessage
	// Log is what it logged, in order.
	Log []string
	// Failure is what it threw, nil for nothing.
	Failure *Failure
	// Stopped is the bound that ended it, "" where it came to an end by itself.
	Stopped Reason
}

// Failure is an error of the program itself.
type Failure struct {
	// Name is the error's class, as SyntaxError.
	Name    string `json:"name"`
	Message string `json:"message"`
	// Line and Column are where in the program, from 1; 0 where that isn't known.
	Line   int `json:"line,omitzero"`
	Column int `json:"column,omitzero"`
	// Code and Details are those of a call that failed and wasn't caught.
	Code    string            `json:"code,omitzero"`
	Details map[string]string `json:"details,omitzero"`
}

// Reason is why a program was stopped.
type Reason string

// Reasons.
const (
	StoppedTime    Reason = "time"
	StoppedCPU     Reason = "cpu"
	StoppedMemory  Reason = "memory"
	StoppedStack   Reason = "stack"
	StoppedCalls   Reason = "calls"
	StoppedCrashed Reason = "crashed"
)

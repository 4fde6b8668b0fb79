package mcp

import (
	"context"

	"ubl"
)

// Bounds are what an Agreement lets one agent do, beyond what its tenant lets it.
type Bounds struct {
	// Sets are listed where a request chooses none; nil for the default. One that there
	// isn't is passed over.
	Sets []string
	// ReadOnly has the agent use tools that only read.
	ReadOnly bool
	// Allows says of a tool, by its dotted name, whether the agent may use it; nil lets it
	// use all. [SetOf] knows the tool's set.
	Allows func(tool string) bool
}

// unbounded is what bounds nothing. Nobody changes it.
var unbounded = &Bounds{}

// bounds are the caller's; never nil.
func (s *Server) bounds(ctx context.Context) (*Bounds, error) {
	if s.opts.Mandate == nil {
		return unbounded, nil
	}
	b, err := s.opts.Mandate(ctx)
	if b == nil {
		b = unbounded
	}
	return b, err
}

// allows is always true of the ways to other tools: whether those may be used is asked of them.
func (b *Bounds) allows(tool string) bool {
	return b.Allows == nil || placeOf[tool].set == setTools || b.Allows(tool)
}

// admit refuses a call that the agent's bounds or the request's own choice rule out. reads says of
// the tool whether it only reads.
func (s *Server) admit(ctx context.Context, v *visit, tool string, reads func() bool) error {
	b, err := s.bounds(ctx)
	switch {
	case err != nil:
		return err
	case !b.allows(tool):
		return ubl.Errorf(ubl.CodeForbidden, "the agent's Agreement doesn't name this tool")
	case b.ReadOnly && !reads():
		return ubl.Errorf(ubl.CodeForbidden, "the agent's Agreement lets it read only, and this tool does more or doesn't say that it only reads")
	case v.choice.readOnly && !reads():
		return ubl.Errorf(ubl.CodeForbidden, "the request is read-only, as its path, query or header says, and this tool does more or doesn't say that it only reads")
	}
	return nil
}

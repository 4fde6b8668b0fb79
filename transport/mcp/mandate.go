package mcp

import (
	"errors"

	"ubl"
)

// errReadOnly is behind the refusal of what the address rules out: no owner can permit it there.
var errReadOnly = errors.New("the address is read-only")

// mandate is the Agreement that bounds the agent who calls, nil for who is bound by none. The
// Tenant holds agents to theirs at the door; here it says what they are shown, and refuses
// before anybody else is asked.
func (v *visit) mandate() *ubl.Mandate { return v.caller.Identity.Mandate }

// may refuses a tool that the agent's mandate or the request's own choice rules out. reads says
// that the tool only reads, external that it is another server's.
func (v *visit) may(tool string, reads, external bool) error {
	if err := v.mandate().May(ubl.Did(tool), !reads, external); err != nil {
		return err
	}
	if v.choice.readOnly && !reads {
		return ubl.Errorf(ubl.CodeForbidden, "the address is read-only, and this tool does more or doesn't say that it only reads").Because(errReadOnly)
	}
	return nil
}

// mayOwn is may of a tool of ours. One that passes on changes nothing itself: what it calls is asked
// about.
func (v *visit) mayOwn(tool string, reads bool) error {
	return v.may(tool, reads || passesOn(tool), false)
}

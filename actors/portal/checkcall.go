package portal

import (
	"slices"

	"ubl"
)

const (
	// maxAdded bounds what callers add to the atoms of a call, in bytes.
	maxAdded = 8 << 10
	// maxUsage bounds one call's tokens and costs: sums of many stay exact.
	maxUsage = 1 << 40
)

// checkBegin refuses a call that is not well formed. Nothing is put on record of
// it: the code that made it is wrong, and nobody asked for anything.
func (s *State) checkBegin(now ubl.Time, c ubl.BeginCall) error {
	if err := s.member(c.Who); err != nil {
		return err
	}
	switch {
	case !slices.Contains([]ubl.Did{ubl.DidPortalCall, ubl.DidToolCall, ubl.DidComplete}, c.Did):
		return bad("did", "it is not an act outside")
	case !c.Agreement.Valid():
		return bad("agreement_id", "it is not the id of an Agreement")
	case c.Server != ubl.OwnServer && c.Server != ubl.ModelServer && !ubl.ValidServerID(c.Server):
		return bad("server", "it is not the id of a server")
	case !ubl.ValidToolName(c.Capability):
		return bad("capability", "it is not the name of a tool")
	case c.Attempt != "" && !ubl.ValidRequestID(c.Attempt):
		return bad("attempt", "it is not a request id")
	case c.Parent != "" && !ubl.ValidRequestID(c.Parent):
		return bad("parent", "it is not a request id")
	case !ubl.ValidHash("b:", c.InputHash):
		return bad("input_hash", "it is not the hash of a body")
	case c.Commitment != "" && !ubl.ValidHash("b:", c.Commitment):
		return bad("commitment", "it is not a commitment")
	case c.Deadline <= now || c.Deadline > now.Add(maxDeadline):
		return bad("deadline", "it must be within the next hour")
	case c.Model != (c.Server == ubl.ModelServer):
		return bad("model", "models are asked under their own server, and nothing else is")
	case c.Model && (c.Tokens < 1 || c.Tokens > maxTokens), !c.Model && c.Tokens != 0:
		return bad("tokens", "a model needs a bound, and nothing else has one")
	case c.KeepMS < 0 || c.KeepMS > ubl.MaxKeep.Milliseconds() || c.Model && c.KeepMS != 0:
		return bad("keep_ms", "an answer is kept for a day at most, and a model's isn't")
	case c.KeepMS > 0 && s.tasksOf(c.Who.UserID, now) >= ubl.MaxUserTasks:
		return ubl.Errorf(ubl.CodeRateLimited, "you have %d tasks, those included whose answers are kept: wait until their time is over", ubl.MaxUserTasks)
	case c.KeepMS > 0 && s.tasksOf("", now) >= ubl.MaxTasks:
		return ubl.Errorf(ubl.CodeRateLimited, "the tenant has as many tasks as it may: wait until their time is over")
	case len(s.Open) >= maxOpen:
		return ubl.Errorf(ubl.CodeOverloaded, "too many calls of the tenant are under way")
	}
	return checkAdded("this", c.This, s.about(c), "call")
}

// checkEnd refuses an end that is not well formed. The call stays open.
func checkEnd(c ubl.EndCall, o *open) error {
	switch {
	case c.Code != "" && c.Code.Status() == ubl.CodeInternal.Status() && c.Code != ubl.CodeInternal:
		return bad("code", "it is not in the table of errors")
	case c.OutputHash != "" && !ubl.ValidHash("b:", c.OutputHash):
		return bad("output_hash", "it is not the hash of a body")
	case len(c.Kept) > ubl.MaxKept:
		return ubl.Errorf(ubl.CodeTooLarge, "the answer is larger than the %d bytes that are kept of one", ubl.MaxKept)
	case c.KeepMS < 0 || c.KeepMS > ubl.MaxKeep.Milliseconds():
		return bad("keep_ms", "an answer is kept for a day at most")
	case c.Usage != nil && !validUsage(c.Usage):
		return bad("usage", "a number is out of bounds")
	}
	return checkAdded("effect", c.Effect, called(o, c))
}

func validUsage(u *ubl.Usage) bool {
	for _, n := range []int64{u.PromptTokens, u.CompletionTokens, u.CostMicros} {
		if n < 0 || n > maxUsage {
			return false
		}
	}
	return true
}

// checkAdded refuses fields that are large, not JSON, or named like ours.
func checkAdded(field string, added, whole ubl.Fields, ours ...string) error {
	if len(added) == 0 { // ours alone are checked one by one
		return nil
	}
	data, err := added.MarshalBinary()
	if err == nil {
		_, err = whole.MarshalBinary()
	}
	switch {
	case err != nil:
		return bad(field, "a member is not JSON or is named like one of the portal's own")
	case len(data) > maxAdded:
		return ubl.Errorf(ubl.CodeTooLarge, "%s is larger than %d bytes", field, maxAdded)
	case slices.ContainsFunc(added, func(f ubl.Field) bool { return slices.Contains(ours, f.Name) }):
		return bad(field, "a member is named like one of the portal's own")
	}
	return nil
}

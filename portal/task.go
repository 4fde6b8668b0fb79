package portal

import (
	"context"
	"encoding/json"
	"strconv"
	"time"

	"ubl"
)

// kept is what a call has come to, as it is kept.
type kept struct {
	Result *ubl.ToolResult `json:"result,omitempty"`
	Error  *failed         `json:"error,omitempty"`
}

// failed is an error as it is kept.
type failed struct {
	Code    ubl.Code          `json:"code"`
	Message string            `json:"message"`
	Details map[string]string `json:"details,omitempty"`
	Once    bool              `json:"once,omitempty"`
}

// answerOf binds a kept answer to its call and its caller.
func answerOf(who ubl.Identity, n int64) purpose {
	return purpose{kind: "answer", tenant: who.TenantID, server: strconv.FormatInt(n, 10), user: who.UserID}
}

// keep seals the answer of a call whose caller may come back for it.
func (p *Portal) keep(c *call, end *ubl.EndCall, result *ubl.ToolResult, why error) error {
	if c.flight == nil {
		return nil
	}
	end.KeepMS = c.flight.kept().Milliseconds()
	if c.keep == 0 && end.KeepMS == 0 {
		return nil
	}
	k := kept{Result: result}
	if why != nil {
		e := ubl.AsError(why)
		k.Error = &failed{e.Code, e.Message, e.Details, e.RetryAfter() == 0}
	}
	plain, err := json.Marshal(k)
	if err != nil {
		return err
	}
	const overhead = 64 // of what is sealed, at most
	if len(plain) > ubl.MaxKept-overhead {
		plain, err = json.Marshal(kept{Error: &failed{Code: ubl.CodeTooLarge, Once: true,
			Message: "the tool ran, and its answer is larger than what is kept of one: call it again without a task, if it may run twice"}})
		if err != nil {
			return err
		}
	}
	end.Kept, err = p.sealer.seal(answerOf(c.req.Who, end.N), plain)
	return err
}

// Task reads a call that the caller has begun, on whatever node: one under way, or whose answer is
// kept. News has what it asks, or what it has come to.
func (p *Portal) Task(ctx context.Context, who ubl.Identity, n int64) (*ubl.Task, *News, error) {
	t, err := ubl.Ask[*ubl.Task](ctx, p.asker, ubl.PortalName(who.TenantID), ubl.ReadTask{Who: who, N: n})
	if err != nil {
		return nil, nil, err
	}
	news := &News{Question: t.Question}
	switch t.Status {
	case ubl.TaskWorking, ubl.TaskAsking:
		return t, news, nil
	case ubl.TaskCancelled:
		news.Ended, news.Err = true, ubl.Errorf(ubl.CodeCancelled, "the call was cancelled; the tool may have run all the same").Once()
		return t, news, nil
	}
	news.Ended = true
	var k kept
	plain, err := p.sealer.open(answerOf(who, n), t.Answer)
	if err == nil && len(plain) > 0 {
		err = json.Unmarshal(plain, &k)
	}
	switch {
	case err != nil:
		return nil, nil, ubl.Errorf(ubl.CodeInternal, "couldn't open a kept answer").Because(err)
	case k.Error != nil:
		e := ubl.Errorf(k.Error.Code, "%s", k.Error.Message)
		e.Details = k.Error.Details
		if news.Err = e; k.Error.Once {
			news.Err = e.Once()
		}
	case k.Result != nil:
		news.Result = k.Result
	default: // its node stopped
		news.Err = ubl.Errorf(ubl.CodeUnavailable, "the node that made the call stopped; the tool may have run all the same").Once()
	}
	return t, news, nil
}

// Tasks lists the caller's, oldest first, without what they came to.
func (p *Portal) Tasks(ctx context.Context, who ubl.Identity) ([]*ubl.Task, error) {
	return ubl.Ask[[]*ubl.Task](ctx, p.asker, ubl.PortalName(who.TenantID), ubl.ListTasks{Who: who})
}

// Follow waits for the end of a call, or for a question behind the nth, on whatever node it runs.
func (p *Portal) Follow(ctx context.Context, who ubl.Identity, n int64, question int) (*ubl.Task, *News, error) {
	for wait := firstLook; ; wait = min(wait*5/4, lastLook) {
		t, news, err := p.Task(ctx, who, n)
		if err != nil || news.Ended || news.Question != nil && news.Question.N > question {
			return t, news, err
		}
		timer := time.NewTimer(wait)
		select {
		case <-timer.C:
		case <-ctx.Done():
			timer.Stop()
			return nil, nil, ctx.Err()
		}
	}
}

// Reply replies to the question of a call, on whatever node it runs. It is not_found where the
// call doesn't ask that any more.
func (p *Portal) Reply(ctx context.Context, who ubl.Identity, n int64, question int, reply []byte) error {
	_, err := p.asker.Ask(ctx, ubl.PortalName(who.TenantID), ubl.ReplyCall{Who: who, N: n, Question: question, Reply: reply})
	return err
}

// CancelTask ends a call, on record as cancelled; the node that makes it hears of it within a
// second. It is a conflict where the call has ended.
func (p *Portal) CancelTask(ctx context.Context, req ubl.Request, n int64) (*ubl.Task, error) {
	return ubl.Ask[*ubl.Task](ctx, p.asker, ubl.PortalName(req.Who.TenantID), ubl.CancelCall{Request: req, N: n})
}

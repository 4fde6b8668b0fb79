package portal

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	"ubl"
)

const (
	// grace is how long after its own deadline a call is still given for its effect,
	// before the sweep of the Portal ends it.
	grace = 15 * time.Second
	// endTimeout bounds writing the effect, also for a caller that has gone.
	endTimeout = 10 * time.Second
)

// call is one call under way.
type call struct {
	req      ubl.Request
	tool     string
	server   string
	args     json.RawMessage // canonical
	salt     ubl.Salt
	began    time.Time
	progress func(done, total float64, message string)

	// Of a call that may outlive its request, and zero for others: the time it has for its
	// effect, how long its answer is kept from the beginning, and what runs it where the tool is
	// one of ours.
	limit, keep time.Duration
	own         func(ctx context.Context, confirmed bool) (*ubl.ToolResult, error)
	flight      *Flight
	asks        bool // the server may ask the caller
	confirm     bool // a person is asked before anything is done

	mu        sync.Mutex
	last      string        // the progress that was told last, "" for none
	questions int           // how often the caller was asked
	asking    time.Duration // spent so far
	asked     []asked
}

// Call calls an external tool for the caller, who may use it and hasn't called too
// often, as their Tenant says. The arguments are a JSON object. Parent is the
// request id of what the call is made for, "" for nothing. Progress, where it isn't
// nil, is told what the server tells; it must be quick.
//
// The key of the request makes the call once: a second try is told so, and how the
// first went ([ubl.CallTicket]). Cancelling ctx gives the call up, with its effect.
func (p *Portal) Call(ctx context.Context, req ubl.Request, tool string, args json.RawMessage, parent string, progress func(done, total float64, message string)) (*ubl.ToolResult, error) {
	req.Parent = parent
	c := &call{req: req, tool: tool, began: p.now(), progress: progress}
	if err := c.prepare(args); err != nil {
		return nil, err
	}
	caller := ctx
	ctx, cancel := context.WithTimeout(ctx, p.callTimeout)
	defer cancel()
	if !p.mayExist(ctx, c) {
		err := ubl.NoTool()
		p.turnedAway(ctx, c, err.Code)
		return nil, err
	}
	ticket, err := p.begin(ctx, c)
	if err != nil {
		return nil, err
	}
	result, err := p.make(ctx, c)
	if err != nil && errors.Is(caller.Err(), context.Canceled) && ubl.CodeOf(err) == ubl.CodeUnavailable {
		err = c.cancelled()
	}
	if err == nil {
		c.sign(ticket, result)
	}
	if err := p.end(ctx, c, ticket, result, err); err != nil {
		return nil, err
	}
	if err != nil {
		return nil, err
	}
	return result, nil
}

// sign puts on a result what the portal knows of it.
func (c *call) sign(ticket *ubl.CallTicket, result *ubl.ToolResult) {
	result.N, result.Receipt, result.Salt = ticket.N, ticket.Receipt, c.salt
	if c.own == nil {
		result.Foreign = c.server
	}
}

// cancelled is the error of a call that its caller gave up, with how far it was.
func (c *call) cancelled() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	e := ubl.Errorf(ubl.CodeCancelled, "the caller gave the call up%s; the tool may have run all the same, so look before you call it again", c.last)
	return e.Once()
}

// told passes progress on, and remembers it.
func (c *call) told(done, total float64, message string) {
	c.mu.Lock()
	c.last = fmt.Sprintf(" at progress %g", done)
	if total > 0 {
		c.last += fmt.Sprintf(" of %g", total)
	}
	c.mu.Unlock()
	c.progress(done, total, message)
}

// prepare checks the form of what was asked for.
func (c *call) prepare(args json.RawMessage) error {
	server, upstream, ok := strings.Cut(c.tool, ".")
	switch {
	case c.own != nil:
		server = ubl.OwnServer
	case !ok || upstream == "" || !ubl.ValidToolName(c.tool) || !ubl.ValidServerID(server):
		return ubl.NoTool()
	}
	c.server = server
	var err error
	c.args, err = ubl.ToolArguments(args)
	return err
}

// mayExist says whether the Tenant and the Portal have anything to decide about the
// tool: it is listed, its server is disabled, or an Agreement is about it. Where the
// catalogue can't be read, the Tenant says why, also to people who aren't in it.
func (p *Portal) mayExist(ctx context.Context, c *call) bool {
	look := p.catalogue
	for range 2 {
		cat, err := look(ctx, c.req.Who)
		if err != nil || cat.byName[c.tool] != nil || cat.access[c.tool] != nil {
			return true
		}
		if s := cat.servers[c.server]; s != nil && s.Disabled {
			return true
		}
		look = p.renew
	}
	return false
}

// begin asks the Tenant to let the caller in for the tool, and in the same go the
// Portal to put the intent on record.
func (p *Portal) begin(ctx context.Context, c *call) (*ubl.CallTicket, error) {
	attempt, err := ubl.NewRequestID(p.random)
	if err == nil {
		c.salt, err = ubl.NewSalt(p.random)
	}
	if err != nil {
		return nil, err
	}
	deadline := c.limit
	if end, ok := ctx.Deadline(); ok && deadline == 0 {
		deadline = time.Until(end)
	}
	agreement := ubl.ToolAgreement(c.tool)
	if c.own != nil {
		agreement = ubl.TenantAgreement(c.req.Who.TenantID)
	}
	enter := ubl.Enter{Request: c.req, Act: true, Tool: c.tool, External: c.own == nil, NoFounding: true}
	if enter.Still = c.own != nil; !enter.Still { // ours is counted when it runs
		cat, err := p.catalogue(ctx, c.req.Who)
		enter.Destroys = err != nil || cat.destroys(c.tool)
	}
	if c.confirm { // before anything is done
		enter.Confirmed = c.tool
	}
	entered, answer, err := p.asker.Visit(ctx, enter, ubl.PortalName(c.req.Who.TenantID), ubl.BeginCall{
		Request: c.req, Attempt: attempt, Did: ubl.DidPortalCall, Agreement: agreement, Server: c.server, Capability: c.tool,
		InputHash: ubl.BodyHash(c.args), Commitment: c.salt.Commit(c.args), Deadline: ubl.TimeOf(p.now().Add(deadline + grace)),
		KeepMS: c.keep.Milliseconds(),
	})
	if err != nil {
		if entered == nil {
			p.turnedAway(ctx, c, ubl.CodeOf(err))
		}
		return nil, err
	}
	ticket, ok := answer.(*ubl.CallTicket)
	if !ok {
		return nil, ubl.Errorf(ubl.CodeInternal, "the actor answered with another type")
	}
	return ticket, ticket.Repeated()
}

// turnedAway logs a refusal of the Tenant, which puts it on record itself, or of a tool
// that isn't there. Whom the Tenant doesn't let in at all can't write into its log.
func (p *Portal) turnedAway(ctx context.Context, c *call, code ubl.Code) {
	switch code {
	case ubl.CodeForbidden, ubl.CodeConfirmation, ubl.CodeRateLimited, ubl.CodeUnknownTool:
		if _, err := p.enter(ctx, c.req.Who); err != nil {
			return
		}
		p.Log(c.req.Who.TenantID, &ubl.Call{
			At: ubl.TimeOf(c.began), Did: ubl.DidPortalCall, Server: c.server, Capability: c.tool,
			UserID: c.req.Who.UserID, IsService: c.req.Who.IsService, Status: "denied", Code: code,
			DurationMS: p.since(c), RequestID: c.req.ID, Parent: c.req.Parent,
		})
	}
}

func (p *Portal) since(c *call) int64 { return p.now().Sub(c.began).Milliseconds() }

// make checks the arguments and calls the server.
func (p *Portal) make(ctx context.Context, c *call) (*ubl.ToolResult, error) {
	cat, tool, err := p.find(ctx, c)
	if err != nil {
		return nil, err
	}
	in := p.schemas.of(tool)
	if err := in.check(c.args); err != nil {
		return nil, err
	}
	var out *ubl.ToolResult
	asked := false
	err = p.within(ctx, c, cat, cat.servers[tool.ServerID], func(ctx context.Context, s *session) (err error) {
		asked = in.stands == "" // reading does nothing
		switch {
		case s.client == nil:
			out, err = s.operate(ctx, in.request, c.args)
		case in.stands != "":
			out, err = s.useOffer(ctx, in.stands, c.args)
		default:
			out, err = s.call(ctx, tool.Upstream, in.headers, c)
		}
		if err != nil {
			return err
		}
		out.Content, out.Structured = ubl.PlainJSON(out.Content), ubl.PlainJSON(out.Structured)
		return s.guard.shown.get().redactResult(out)
	})
	if asked && ubl.CodeOf(err) == ubl.CodeUnavailable && !unreached(err) {
		err = mayHaveRun(err)
	}
	if err != nil {
		return nil, err
	}
	return out, nil
}

// within has fn use a session with the server: the one that all share or, where the server may ask
// the caller something, one of the call's own.
func (p *Portal) within(ctx context.Context, c *call, cat *catalogue, s *ubl.Server, fn func(context.Context, *session) error) error {
	if !c.asks || s.Kind == ubl.ServerOpenAPI {
		return p.with(ctx, c.req.Who, s, cat.number, fn)
	}
	return p.alone(ctx, c, s.ServerID, fn)
}

// find is the tool's pinned definition. The Portal has just said that the tool can
// be called: a catalogue that doesn't know it is old.
func (p *Portal) find(ctx context.Context, c *call) (*catalogue, *ubl.PortalTool, error) {
	look := p.catalogue
	for range 2 {
		cat, err := look(ctx, c.req.Who)
		if err != nil {
			return nil, nil, err
		}
		if t := cat.byName[c.tool]; t != nil && t.Callable() && cat.servers[t.ServerID] != nil {
			return cat, t, nil
		}
		look = p.renew
	}
	return nil, nil, ubl.NoTool()
}

// end puts the effect on record, also where the caller has gone.
func (p *Portal) end(ctx context.Context, c *call, ticket *ubl.CallTicket, result *ubl.ToolResult, failed error) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), endTimeout)
	defer cancel()
	cmd := ubl.EndCall{Request: c.req, N: ticket.N, DurationMS: p.since(c)}
	switch {
	case failed != nil:
		e := ubl.AsError(failed)
		cmd.Code, cmd.Message = e.Code, e.Message
	case result.IsError:
		cmd.Code, cmd.Message = ubl.CodeConflict, "the tool answered that it failed"
	}
	if result != nil {
		cmd.OutputHash = result.Commitment(c.salt)
	}
	err := c.questioned(&cmd)
	if err == nil {
		err = p.keep(c, &cmd, result, failed)
	}
	if err == nil {
		err = ubl.Conclude(ctx, p.asker, cmd)
	}
	if err != nil {
		p.log.Error("couldn't put the effect of a call on record", "request_id", c.req.ID, "n", ticket.N, "error", err)
	}
	return err
}

package portal

import (
	"context"
	"encoding/json"
	"strings"
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
	if err := p.end(ctx, c, ticket, result, err); err != nil {
		return nil, err
	}
	if err != nil {
		return nil, err
	}
	result.N, result.Receipt, result.Foreign, result.Salt = ticket.N, ticket.Receipt, c.server, c.salt
	return result, nil
}

// prepare checks the form of what was asked for.
func (c *call) prepare(args json.RawMessage) error {
	server, upstream, ok := strings.Cut(c.tool, ".")
	if !ok || upstream == "" || !ubl.ValidToolName(c.tool) || !ubl.ValidServerID(server) {
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
	deadline := p.callTimeout
	if end, ok := ctx.Deadline(); ok {
		deadline = time.Until(end)
	}
	enter := ubl.Enter{Request: c.req, Act: true, Tool: c.tool, External: true, NoFounding: true}
	entered, answer, err := p.asker.Visit(ctx, enter, ubl.PortalName(c.req.Who.TenantID), ubl.BeginCall{
		Request: c.req, Attempt: attempt, Did: ubl.DidPortalCall, Agreement: ubl.ToolAgreement(c.tool), Server: c.server, Capability: c.tool,
		InputHash: ubl.BodyHash(c.args), Commitment: c.salt.Commit(c.args), Deadline: ubl.TimeOf(p.now().Add(deadline + grace)),
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
	case ubl.CodeForbidden, ubl.CodeRateLimited, ubl.CodeUnknownTool:
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
	err = p.with(ctx, c.req.Who, cat.servers[tool.ServerID], cat.number, func(ctx context.Context, s *session) (err error) {
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
	err := ubl.Conclude(ctx, p.asker, cmd)
	if err != nil {
		p.log.Error("couldn't put the effect of a call on record", "request_id", c.req.ID, "n", ticket.N, "error", err)
	}
	return err
}

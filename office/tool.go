package office

import (
	"context"
	"encoding/json"

	"ubl"
)

// CallTool uses a tool for the caller: office.tool.call. The act is on record
// under the TenantLicense, before and after; what the tool does is on record by its
// own rules, with this request's id as its parent. N and Receipt are those of this
// act. Members whom their tenant has let in.
func (o *Office) CallTool(ctx context.Context, req ubl.Request, tool string, args json.RawMessage) (*ubl.ToolResult, error) {
	if !ubl.ValidToolName(tool) || tool == string(ubl.DidToolCall) || o.Tools == nil {
		return nil, ubl.NoTool()
	}
	args, err := ubl.ToolArguments(args)
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, o.Timeout)
	defer cancel()
	salt, err := ubl.NewSalt(o.Random)
	if err != nil {
		return nil, err
	}
	call, err := o.begin(ctx, ubl.BeginCall{
		Request: req, Did: ubl.DidToolCall, Agreement: ubl.TenantAgreement(req.Who.TenantID),
		Server: ubl.OwnServer, Capability: tool, InputHash: ubl.BodyHash(args), Commitment: salt.Commit(args),
	})
	if err != nil {
		return nil, err
	}
	_, result, err := o.use(ctx, req, tool, args)
	var end ubl.EndCall
	if err == nil {
		end.OutputHash = result.Commitment(salt)
	}
	if err := call.end(ctx, end, err); err != nil {
		return nil, err
	}
	out := *result
	if !result.Salt.IsZero() {
		out.Led = &ubl.LedAct{Salt: result.Salt}
		if result.Receipt != (ubl.Receipt{}) {
			out.Led.Receipt = &result.Receipt
		}
	}
	out.N, out.Receipt, out.Salt = call.ticket.N, call.ticket.Receipt, salt
	return &out, nil
}

// use calls a tool under a request of its own, whose parent is the one given.
func (o *Office) use(ctx context.Context, parent ubl.Request, tool string, args json.RawMessage) (id string, r *ubl.ToolResult, err error) {
	id, err = ubl.NewRequestID(o.Random)
	if err != nil {
		return "", nil, err
	}
	r, err = o.Tools.Call(ctx, ubl.Request{Who: parent.Who, ID: id, Key: id, Session: parent.Session}, tool, args, parent.ID)
	return id, r, err
}

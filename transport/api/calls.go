package api

import (
	"cmp"
	"context"

	"ubl"
	"ubl/transport/envelope"
)

type readCallsInput struct {
	Cursor int64 `query:"cursor" minimum:"1" maximum:"9007199254740991" doc:"The next_cursor of the page before: reads rows with n below it; without one, the newest."`
	Before int64 `query:"before" minimum:"1" maximum:"9007199254740991" deprecated:"true" doc:"The same as cursor."`
	Limit  int   `query:"limit" minimum:"1" maximum:"200" default:"50" doc:"At most so many on a page."`
}

type callsAnswer struct {
	Calls      []*ubl.Call `json:"calls"`
	NextCursor *int64      `json:"next_cursor"`
	NextBefore *int64      `json:"next_before"` // the same, from before every list had a cursor
}

// readCalls reads the portal's log: owners all of it, others their own calls and those of agents
// that they keep. What this
// node has answered is in it; other nodes' rows may come a second later.
func (a *API) readCalls(ctx context.Context, in *readCallsInput) (any, error) {
	if in.Cursor != 0 && in.Before != 0 {
		return nil, invalid("query.before", "not together with cursor")
	}
	owner, err := isOwner(ctx)
	if err != nil {
		return nil, err
	}
	keeps, err := a.kept(ctx, owner)
	if err != nil {
		return nil, err
	}
	a.Portal.FlushLog(ctx, caller(ctx).TenantID)
	p, err := ubl.Ask[*ubl.CallPage](ctx, a.Asker, portal(ctx),
		ubl.ReadCalls{Who: caller(ctx), Owner: owner, Keeps: keeps, Before: cmp.Or(in.Cursor, in.Before), Limit: in.Limit})
	if err != nil {
		return nil, err
	}
	return callsAnswer{list(p.Calls), p.Next, p.Next}, nil
}

// kept are the agents that the caller keeps. Nobody asks for an owner, who sees all calls, nor for a
// service, which keeps none.
func (a *API) kept(ctx context.Context, owner bool) ([]ubl.UserID, error) {
	who := caller(ctx)
	if owner || who.IsService {
		return nil, nil
	}
	tokens, err := ubl.Ask[[]ubl.ServiceToken](ctx, a.Asker, home(ctx), ubl.ListServiceTokens{Who: who})
	if err != nil {
		return nil, err
	}
	var agents []ubl.UserID
	for _, t := range tokens {
		agents = append(agents, t.UserID)
	}
	return agents, nil
}

type budgetAnswer struct {
	Budget *ubl.Budget `json:"budget"`
}

func (a *API) getBudget(ctx context.Context, _ *struct{}) (any, error) {
	b, err := ubl.Ask[*ubl.Budget](ctx, a.Asker, portal(ctx), ubl.GetBudget{Who: caller(ctx)})
	return budgetAnswer{b}, err
}

type setBudgetInput struct {
	Body struct {
		Keyed
		TokensPerDay      int64 `json:"tokens_per_day" minimum:"0" maximum:"9007199254740991" doc:"Of all models together, counted from midnight UTC; 0 is no bound." example:"200000"`
		RequestsPerMinute int   `json:"requests_per_minute" minimum:"0" maximum:"100000" doc:"0 is no bound." example:"60"`
	}
}

func (a *API) setBudget(ctx context.Context, in *setBudgetInput) (any, error) {
	if err := owners(ctx); err != nil {
		return nil, err
	}
	if err := a.mayLift(ctx, in); err != nil {
		return nil, err
	}
	b, err := ubl.Ask[*ubl.Budget](ctx, a.Asker, portal(ctx), ubl.SetBudget{Request: envelope.Command(ctx, in.Body.Key), Expects: expects(ctx), Owner: true,
		TokensPerDay: in.Body.TokensPerDay, RequestsPerMinute: in.Body.RequestsPerMinute})
	return budgetAnswer{b}, err
}

// mayLift refuses a session that isn't fresh and would have the tenant spend more. What the
// bounds are is read for such a session alone.
func (a *API) mayLift(ctx context.Context, in *setBudgetInput) error {
	stale := confirmed(ctx)
	if stale == nil {
		return nil
	}
	now, err := ubl.Ask[*ubl.Budget](ctx, a.Asker, portal(ctx), ubl.GetBudget{Who: caller(ctx)})
	if err != nil {
		return err
	}
	if lifts(now.TokensPerDay, in.Body.TokensPerDay) || lifts(int64(now.RequestsPerMinute), int64(in.Body.RequestsPerMinute)) {
		return stale
	}
	return nil
}

// lifts reports whether a bound lets more through than the one that it replaces; 0 is none.
func lifts(was, is int64) bool { return was > 0 && (is == 0 || is > was) }

package api

import (
	"context"
	"slices"

	"ubl"
	"ubl/transport/envelope"
)

// MandateBody is a mandate as it is asked for. What is absent bounds nothing.
type MandateBody struct {
	Sets      []string `json:"sets,omitempty" maxItems:"32" example:"[\"messenger\"]" doc:"Tool sets that the agent is shown first, as messenger, office, or the id of a tool server."`
	Tools     []string `json:"tools,omitempty" maxItems:"64" example:"[\"messenger.*\"]" doc:"The tools that it may use: names, or the beginning of several with * behind it. Empty for every tool that the tenant lets it use."`
	ReadOnly  bool     `json:"read_only,omitempty" doc:"Refuses everything that changes something."`
	Places    []string `json:"places,omitempty" maxItems:"100" example:"[\"r:general\"]" doc:"The ids of the rooms and containers that it may touch. Empty for wherever it is let in. With any it sees nothing else of the tenant, nor the ledger."`
	PerMinute int      `json:"per_minute,omitempty" minimum:"0" maximum:"100000" doc:"How often it may use tools in a minute, all together; 0 is no limit." example:"60"`
	Confirm   string   `json:"confirm,omitempty" enum:"never,destructive,always" doc:"Before which uses of tools a person is asked in its client: none, those that replace or delete, or all."`
}

// mandate is the record, nil for none.
func (b *MandateBody) mandate() *ubl.Mandate {
	if b == nil {
		return nil
	}
	return &ubl.Mandate{Sets: list(b.Sets), Tools: list(b.Tools), ReadOnly: b.ReadOnly, Places: list(b.Places), PerMinute: b.PerMinute, Confirm: ubl.Confirm(b.Confirm).Kept()}
}

type setMandateInput struct {
	ClientID string `path:"clientId" pattern:"^[A-Za-z0-9._:-]{1,256}$" doc:"The credential, by its client_id." example:"c1"`
	Body     struct {
		Keyed
		MandateBody
	}
}

// setMandate gives a service another mandate.
func (a *API) setMandate(ctx context.Context, in *setMandateInput) (any, error) {
	mandate := in.Body.mandate()
	if err := a.mayWiden(ctx, in.ClientID, mandate); err != nil {
		return nil, err
	}
	t, err := ubl.Ask[*ubl.ServiceToken](ctx, a.Asker, home(ctx),
		ubl.SetMandate{Request: envelope.Command(ctx, in.Body.Key), ClientID: in.ClientID, Mandate: *mandate})
	return serviceTokenAnswer{t}, err
}

// mayWiden refuses a session that isn't fresh and would let an agent do more. What it may do
// now is read for such a session alone.
func (a *API) mayWiden(ctx context.Context, clientID string, to *ubl.Mandate) error {
	stale := confirmed(ctx)
	if stale == nil {
		return nil
	}
	tokens, err := ubl.Ask[[]ubl.ServiceToken](ctx, a.Asker, home(ctx), ubl.ListServiceTokens{Who: caller(ctx)})
	if err != nil {
		return err
	}
	i := slices.IndexFunc(tokens, func(t ubl.ServiceToken) bool { return t.ClientID == clientID })
	if i >= 0 && !to.Within(tokens[i].Mandate) {
		return stale
	}
	return nil
}

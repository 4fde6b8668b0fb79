package agreement

import (
	"context"
	"errors"

	"ubl"
)

// FollowAgents removes from a place the agents with a mandate whose keeper somebody else has
// removed there: else they would read on for them. Each is an act of its own of who removed the
// keeper, under a key that follows from theirs, so that a retry goes on where this one stopped.
// The Tenant knows who keeps whom. Who leaves by themselves leaves their agents, which are
// theirs to take along; whom the Tenant shuts out takes them along there.
func FollowAgents(ctx context.Context, ask ubl.Asker, place ubl.Name, c ubl.RemoveMember) error {
	if c.Expel || c.UserID == c.Who.UserID {
		return nil
	}
	tenant := place.Group().Tenant
	keeper := ubl.Identity{TenantID: tenant, UserID: c.UserID}
	kept, err := ubl.Ask[[]ubl.ServiceToken](ctx, ask, ubl.TenantName(tenant), ubl.ListServiceTokens{Who: keeper})
	if ubl.CodeOf(err) == ubl.CodeForbidden { // an agent, which keeps none, or nobody of the tenant any more
		return nil
	}
	for _, agent := range kept {
		if agent.Mandate == nil || agent.Keeper() != c.UserID {
			continue
		}
		follows := ubl.RemoveMember{Request: c.Request, UserID: agent.UserID}
		if c.Key != "" {
			follows.Key += "\n" + string(agent.UserID)
		}
		if _, failed := ask.Ask(ctx, place, follows); ubl.CodeOf(failed) != ubl.CodeNotFound { // it isn't there
			err = errors.Join(err, failed)
		}
	}
	return err
}

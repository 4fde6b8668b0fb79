package agreement

import (
	"context"
	"errors"
	"slices"
	"strconv"
	"strings"
	"time"

	"ubl"
	"ubl/actors"
)

// Who is removed from a place by somebody else takes along the agents with a mandate that
// they keep: else those would read on for them. The Tenant knows who keeps whom, so each is
// an act of its own behind theirs. The request waits until they are out ([FollowAgents]). An
// alarm of the removal's commit does it where the node stops in between ([FinishAgents]).
// Who leaves by themselves leaves their agents, which are theirs to take along; whom the
// Tenant shuts out takes them along there.

// FollowAgents removes the agents whose keeper c has removed, by who removed the keeper, under
// keys that follow from theirs, so that a retry goes on where this one stopped. It answers
// with whom c removed and the agents that left with them.
func FollowAgents(ctx context.Context, ask ubl.Asker, place ubl.Name, c ubl.RemoveMember, removed any) (any, error) {
	gone, ok := removed.(*ubl.Member)
	if c.Expel || c.UserID == c.Who.UserID || !ok {
		return removed, nil
	}
	kept, err := agentsOf(ctx, ask, place, c.UserID)
	with := *gone
	for _, agent := range kept {
		out, failed := takeOut(ctx, ask, place, c.Request, agent)
		if out {
			with.Agents = append(with.Agents, agent)
		}
		err = errors.Join(err, failed)
	}
	return &with, err
}

// agentsOf are the agents with a mandate that somebody keeps.
func agentsOf(ctx context.Context, ask ubl.Asker, place ubl.Name, keeper ubl.UserID) (agents []ubl.UserID, err error) {
	tenant := place.Group().Tenant
	who := ubl.Identity{TenantID: tenant, UserID: keeper}
	kept, err := ubl.Ask[[]ubl.ServiceToken](ctx, ask, ubl.TenantName(tenant), ubl.ListServiceTokens{Who: who})
	if ubl.CodeOf(err) == ubl.CodeForbidden { // an agent, which keeps none, or nobody of the tenant any more
		return nil, nil
	}
	for _, agent := range kept {
		if agent.Mandate != nil && agent.Keeper() == keeper {
			agents = append(agents, agent.UserID)
		}
	}
	return agents, err
}

// takeOut removes one agent, and says whether it was there.
func takeOut(ctx context.Context, ask ubl.Asker, place ubl.Name, req ubl.Request, agent ubl.UserID) (bool, error) {
	if req.Key != "" {
		req.Key += "\n" + string(agent)
	}
	_, err := ask.Ask(ctx, place, ubl.RemoveMember{Request: req, UserID: agent})
	if ubl.CodeOf(err) == ubl.CodeNotFound {
		return false, nil
	}
	return err == nil, err
}

const (
	// agentsAlarm begins the key of the alarm; when the keeper was removed and who that is follow.
	agentsAlarm = "agents:"
	// agentsAfter is how long after the removal it is due: the request has ended by then.
	agentsAfter = 2 * time.Minute
	// longestKeeper is the longest id that has room in the key. The server makes none as long.
	longestKeeper = 200
)

// agentsAlarms are those of a removal: one where a person was removed by somebody else, and
// services are left.
func (e Entries) agentsAlarms(c ubl.RemoveMember, gone ubl.Member, now ubl.Time) []actors.Alarm {
	services := slices.ContainsFunc(e.In.SortedMembers(), func(m ubl.Member) bool { return m.IsService })
	if c.Expel || c.UserID == c.Who.UserID || gone.IsService || !services || len(c.UserID) > longestKeeper {
		return nil
	}
	return []actors.Alarm{{Key: agentsAlarm + strconv.FormatInt(int64(now), 10) + ":" + string(c.UserID), After: agentsAfter}}
}

// FinishAgents is what such an alarm leads to; ok is false for any other, and a nil errand has
// nothing left to do. The platform removes the agents then, under the TenantLicense. One that
// somebody has let in again since the removal stays.
func FinishAgents(key string, in *ubl.Agreement, ask ubl.Asker, place ubl.Name, req ubl.Request) (errand func(context.Context) error, ok bool) {
	rest, ok := strings.CutPrefix(key, agentsAlarm)
	if !ok {
		return nil, false
	}
	at, keeper, _ := strings.Cut(rest, ":")
	when, err := strconv.ParseInt(at, 10, 64)
	left := make(map[ubl.UserID]bool)
	for _, m := range in.Members {
		if m.IsService && m.Since < ubl.Time(when) {
			left[m.UserID] = true
		}
	}
	if err != nil || len(left) == 0 {
		return nil, true
	}
	return func(ctx context.Context) error {
		kept, err := agentsOf(ctx, ask, place, ubl.UserID(keeper))
		for _, agent := range kept {
			if left[agent] {
				_, failed := takeOut(ctx, ask, place, req, agent)
				err = errors.Join(err, failed)
			}
		}
		return err
	}, true
}

package mcp

import (
	"context"
	"strings"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"ubl"
	"ubl/transport/envelope"
)

// maxCompletions is the protocol's.
const maxCompletions = 100

// complete suggests ids that begin with what was typed. An argument is known by
// its name, whatever it belongs to; others have no suggestions.
func (s *Server) complete(ctx context.Context, v *visit, req *sdk.CompleteRequest) (sdk.Result, error) {
	arg := req.Params.Argument
	switch {
	case req.Params.Ref == nil:
		return nil, invalid("params.ref", "is missing")
	case arg.Name == "":
		return nil, invalid("params.argument.name", "is missing")
	}
	what, err := s.completing(ctx, v, req.Params)
	if err != nil {
		return nil, err
	}
	if what != nil {
		return s.completeOther(ctx, v, *what)
	}
	ids, err := s.candidates(ctx, v.who(), arg.Name)
	if err != nil {
		return nil, err
	}
	out := &sdk.CompleteResult{Completion: sdk.CompletionResultDetails{Values: []string{}}}
	for _, id := range ids {
		if !strings.HasPrefix(id, arg.Value) && !strings.HasPrefix(afterPrefix(id), arg.Value) {
			continue
		}
		out.Completion.Total++
		if len(out.Completion.Values) < maxCompletions {
			out.Completion.Values = append(out.Completion.Values, id)
		}
	}
	out.Completion.HasMore = out.Completion.Total > maxCompletions
	return out, nil
}

// afterPrefix is an id as people type it.
func afterPrefix(id string) string {
	_, name, _ := strings.Cut(id, ":")
	return name
}

func (s *Server) candidates(ctx context.Context, who ubl.Identity, argument string) ([]string, error) {
	var ids []string
	switch argument {
	case argRoom:
		rooms, err := s.rooms(ctx, who)
		if err != nil {
			return nil, err
		}
		for _, r := range rooms {
			ids = append(ids, string(r.RoomID))
		}
	case argWorkspace:
		list, err := s.workspaces(ctx, who)
		if err != nil {
			return nil, err
		}
		for _, c := range list {
			ids = append(ids, string(c.ContainerID))
		}
	}
	return ids, nil
}

// workspaces are those that the caller may look into, by id.
func (s *Server) workspaces(ctx context.Context, who ubl.Identity) ([]ubl.ContainerSummary, error) {
	ctx = reading(ctx, toolWorkspaces)
	cmd := ubl.ListContainers{Request: envelope.Command(ctx, ""), Kind: ubl.WorkspaceKind().Name}
	list, err := ubl.Ask[*ubl.ContainerList](ctx, s.opts.Asker, ubl.TenantName(who.TenantID), cmd)
	if err != nil {
		return nil, err
	}
	return list.Containers, nil
}

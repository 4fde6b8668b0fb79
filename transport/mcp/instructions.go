package mcp

import (
	"context"
	"fmt"
	"slices"
	"strings"
)

// beginnings are tools that work begins with, where they are listed.
var beginnings = []string{"messenger.list_rooms", "office.workspace.list"}

// instructions tell a model what the server is for, what the address shows it and how to find
// more. They name no tool that the address doesn't list, and no other address to whom may not go
// there. Whom the tenant doesn't let in is told what the server is for, and no more.
func (s *Server) instructions(ctx context.Context, v *visit) string {
	said := []string{s.opts.Instructions}
	if x, err := s.look(ctx, v); err == nil {
		if sel, err := x.selected(); err == nil {
			said = append(said, x.instructions(sel)...)
		}
	}
	return strings.TrimSpace(strings.Join(said, "\n"))
}

func (x *sight) instructions(sel selection) (said []string) {
	names := map[string]string{} // of listed tools, as the client spells them
	for _, t := range x.s.tools.own {
		if x.lists(sel, t) {
			names[t.Name] = x.v.names().spell(t.Name)
		}
	}
	var begin []string
	for _, tool := range beginnings {
		if name := names[tool]; name != "" {
			begin = append(begin, name)
		}
	}
	if len(begin) > 0 {
		said = append(said, "Begin with "+strings.Join(begin, " or ")+".")
	}
	see := "You see " + x.sees(sel)
	if search, call := names[toolSearch], names[toolCall]; search != "" && !sel.all {
		see += "; " + search + " finds any other by plain words"
		if call != "" {
			see += ", and " + call + " uses it"
		}
	}
	return append(append(said, see+"."), x.bounds()...)
}

// sees says which tools are listed.
func (x *sight) sees(sel selection) string {
	switch mandate := x.v.mandate(); {
	case sel.all:
		return "all tools that you may use"
	case x.v.choice.sets != nil && !slices.Contains(x.v.choice.sets, setDefault):
		return "what you may use of the sets that the address names: " + strings.Join(x.v.choice.sets, ", ")
	case x.v.choice.sets == nil && mandate != nil && len(mandate.Sets) > 0:
		return "the tools of the sets that your Agreement names"
	}
	return "the tools that most work needs"
}

// bounds say what can't be done here, and where there is more.
func (x *sight) bounds() (said []string) {
	switch {
	case x.v.mandate().Reads():
		said = append(said, "Your Agreement lets you read, and change nothing.")
	case x.v.choice.readOnly:
		said = append(said, "The address is read-only: what changes something isn't found here, and is refused.")
	}
	if x.v.choice.sets == nil && x.v.mandate() == nil && !x.v.caller.OneAddress {
		said = append(said, fmt.Sprintf("To have others listed, connect to sets of them: %s/messenger,office or %s/%s, and for a tool server %s/ with its id.",
			ownPath, ownPath, setAll, portalPath))
	}
	return said
}

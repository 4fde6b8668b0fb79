package mcp

import (
	"context"
	"errors"
	"slices"
	"strings"

	"ubl"
	"ubl/transport/envelope"
)

// maxNear is how many tools an unknown name is said to be near to.
const maxNear = 3

// withNear adds to the error of a tool that isn't there which tools the caller may have meant,
// and how to find others. Other errors stay as they are. The name itself isn't repeated.
func (s *Server) withNear(ctx context.Context, v *visit, name string, err error) error {
	if ubl.CodeOf(err) != ubl.CodeUnknownTool {
		return err
	}
	x, unseen := s.look(ctx, v)
	if unseen != nil { // who isn't let in is told no names
		return err
	}
	said := ubl.Errorf(ubl.CodeUnknownTool, "there is no such tool%s", x.advice(x.near(name)))
	if special, ok := errors.AsType[*rpcError](err); ok {
		told := *special
		told.cause = said
		return &told
	}
	return said
}

// advice is what to do instead, with the names of tools that may have been meant.
func (x *sight) advice(near []string) (said string) {
	if len(near) > 0 {
		said = ": did you mean " + strings.Join(near, ", ") + "?"
	}
	search := x.named(toolSearch)
	switch found := x.has(selection{all: true}, search); {
	case !found && said == "":
		return ": list the tools to see their names"
	case !found:
		return said
	}
	if said == "" {
		said = "."
	}
	return said + " Use " + x.tell(search).Name + " to find what does the job"
}

// near are the names of tools that the caller is shown and may have meant: one that is spelled
// almost so, then those that its words find.
func (x *sight) near(name string) (out []string) {
	if len(name) > maxOwnName {
		return nil
	}
	everything := selection{all: true}
	places := map[string]int{}
	for place := range len(x.s.tools.own) + len(x.others) {
		if x.has(everything, place) {
			places[plain(x.nameAt(place))] = place
		}
	}
	var known []string
	for spelled := range places {
		known = append(known, spelled)
	}
	slices.Sort(known)
	add := func(place int) {
		if told := x.tell(place).Name; len(out) < maxNear && !slices.Contains(out, told) {
			out = append(out, told)
		}
	}
	given := strings.ReplaceAll(plain(strings.ToLower(name)), "-", "_")
	if near := envelope.Nearest(given, known); near != "" {
		add(places[near])
	}
	hits, _ := x.s.index(x.others).Search(strings.ReplaceAll(given, "_", " "), maxNear, func(place int) bool { return x.has(everything, place) })
	for _, h := range hits {
		add(h.Tool)
	}
	return out
}

// nameAt is the name of a tool in the catalogue.
func (x *sight) nameAt(place int) string {
	if own := x.s.tools.own; place >= len(own) {
		return x.others[place-len(own)].Tool
	}
	return x.s.tools.own[place].Name
}

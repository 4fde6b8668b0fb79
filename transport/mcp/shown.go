package mcp

import (
	"context"
	"slices"
	"strings"
	"sync"

	"ubl"
	"ubl/transport/envelope"
)

// sight is what one caller is shown: tools that they may use, as far as that is known before
// a call. It belongs to one request.
type sight struct {
	s *Server
	v *visit

	who      ubl.Identity
	role     ubl.Role
	readOnly bool
	visible  func(tool string) bool
	// permits is what the TenantLicense permits to whom isn't an owner.
	permits func(tool string) bool
	// others are the tools of other servers that the caller may use, servers the ids of all
	// servers of the tenant.
	others  []*ubl.PortalTool
	servers func() []string
}

// look finds out what the caller is shown.
func (s *Server) look(ctx context.Context, v *visit) (*sight, error) {
	ctx = reading(ctx, "")
	x := &sight{s: s, v: v, who: v.who(), visible: func(string) bool { return true }}
	var err error
	if s.opts.Visible != nil {
		if x.visible, err = s.opts.Visible(ctx); err != nil {
			return nil, err
		}
	}
	if x.role, err = envelope.CallerOf(ctx).Enter(ctx); err != nil {
		return nil, err
	}
	x.readOnly = v.choice.readOnly || v.mandate().Reads()
	permits := sync.OnceValue(func() func(string) bool { return s.permits(ctx) })
	x.permits = func(tool string) bool { return permits()(tool) }
	x.servers = sync.OnceValue(func() []string { return s.serverIDs(ctx, v) })
	x.others = s.others(ctx, v)
	return x, nil
}

// permits says which acts the tenant's terms permit to a caller who is no owner. A tenant that
// can't be asked hides these tools and no others.
func (s *Server) permits(ctx context.Context) func(tool string) bool {
	none := func(string) bool { return false }
	if s.opts.Permits == nil {
		return none
	}
	permits, err := s.opts.Permits(ctx)
	if err != nil {
		s.opts.Log.WarnContext(ctx, "couldn't ask what the tenant's terms permit", "error", err)
	}
	if permits == nil {
		return none
	}
	return permits
}

// shows reports whether the caller is shown a tool of ours.
func (x *sight) shows(t *ownTool) bool {
	return x.visible(t.Name) && x.v.mayOwn(t.Name, t.ReadOnly) == nil && x.isFor(t)
}

// isFor reports whether a tool of ours is for the caller.
func (x *sight) isFor(t *ownTool) bool {
	if t.People && x.who.IsService {
		return false
	}
	owner := x.role == ubl.RoleOwner
	switch t.of {
	case owners:
		return owner
	case permitted:
		return owner || x.permits(t.Name)
	case operators:
		return owner && x.who.TenantID == ubl.CoreTenant
	}
	return true
}

// showsOther reports whether the caller is shown another server's tool, as its pinned
// definition has it.
func (x *sight) showsOther(t *ubl.PortalTool) bool {
	return x.v.may(t.Tool, x.s.reads(t), true) == nil
}

// selection is what a list of sets comes to.
type selection struct {
	standard, all bool
	own           []string // sets of ours
	servers       []string
	// finding adds the tools that find and reach all others: no address may be a dead end.
	finding bool
}

// has reports whether a tool of ours is in it.
func (sel selection) has(t *ownTool) bool {
	return sel.all || sel.standard && t.standard || sel.finding && slices.Contains(finding, t.Name) || slices.Contains(sel.own, t.set) ||
		slices.ContainsFunc(sel.own, func(set string) bool { return slices.Contains(also[set], t.Name) })
}

// choose resolves names of sets. One that there isn't is an error of the place that named it; where
// place is "" it is passed over.
func (x *sight) choose(names []string, place string) (sel selection, err error) {
	for _, name := range names {
		id, isServer := isServerSet(name)
		switch {
		case name == setDefault:
			sel.standard = true
		case name == setAll:
			sel.all = true
		case slices.Contains(x.s.tools.sets, name):
			sel.own = append(sel.own, name)
		case isServer && slices.Contains(x.servers(), id):
			sel.servers = append(sel.servers, id)
		case place != "":
			return sel, unknownSet(x.s.tools.sets, x.servers(), place)
		}
	}
	return sel, nil
}

// placeSets is where an address names sets, in errors.
const placeSets = "sets"

// unknownSet says which sets there are.
func unknownSet(own, servers []string, place string) error {
	known := append([]string{setDefault, setAll}, own...)
	for _, id := range servers {
		if setOfOurs(id) {
			id = ubl.ServerSet + id
		}
		known = append(known, id)
	}
	return invalid(place, "not a set of tools: expected some of "+strings.Join(known, ", "))
}

// serverIDs are the tenant's servers, for callers of the portal. A portal that can't be asked
// has none.
func (s *Server) serverIDs(ctx context.Context, v *visit) []string {
	if !v.portal || s.opts.Portal == nil {
		return nil
	}
	ids, err := s.opts.Portal.Servers(ctx, v.who())
	if err != nil {
		s.opts.Log.WarnContext(ctx, "couldn't list the servers of tools", "error", err)
	}
	return ids
}

// checkChoice refuses a request whose address names a set that there isn't. Whom the tenant
// doesn't let in learns nothing of its servers.
func (s *Server) checkChoice(ctx context.Context, v *visit) error {
	ours := func(name string) bool {
		return name == setDefault || name == setAll || slices.Contains(s.tools.sets, name)
	}
	if !slices.ContainsFunc(v.choice.sets, func(name string) bool { return !ours(name) }) {
		return nil
	}
	x, err := s.look(ctx, v)
	if err != nil {
		return err
	}
	_, err = x.choose(v.choice.sets, placeSets)
	return err
}

// selected is what the request's choice comes to, or the mandate's, or the default.
func (x *sight) selected() (sel selection, err error) {
	names, place := x.v.choice.sets, placeSets
	if m := x.v.mandate(); names == nil && m != nil && len(m.Sets) > 0 {
		names, place = append([]string{setTools}, m.Sets...), ""
	}
	if names == nil {
		names = []string{setDefault}
	}
	sel, err = x.choose(names, place)
	sel.finding = true
	return sel, err
}

// lists reports whether a tool of ours is in a selection, and the caller is shown it.
func (x *sight) lists(sel selection, t *ownTool) bool { return sel.has(t) && x.shows(t) }

// listed are the tools that the request's choice, or the default, lists.
func (s *Server) listed(ctx context.Context, v *visit) ([]form, error) {
	x, err := s.look(ctx, v)
	if err != nil {
		return nil, err
	}
	sel, err := x.selected()
	if err != nil {
		return nil, err
	}
	var out listing
	d := v.names()
	for _, t := range x.s.tools.own {
		if x.lists(sel, t) {
			out.add(x.form(t, d), sel.standard && t.standard)
		}
	}
	x.addOthers(&out, sel, d)
	return out.tools, nil
}

// form is a tool of ours as it is listed. Where only what reads may be used, what passes calls on does
// no more than that.
func (x *sight) form(t *ownTool, d *dialect) form {
	f := t.form(d, x.v.choice.output, x.v.can.apps && x.s.opts.View != nil)
	if x.readOnly && passesOn(t.Name) {
		tool := *f.tool
		hints := *tool.Annotations
		hints.ReadOnlyHint, hints.DestructiveHint = true, new(false)
		tool.Annotations = &hints
		f, _ = formOf(&tool) // which was encoded before
	}
	return f
}

// listing is a list of tools as it grows, with what of it is there by default.
type listing struct {
	tools []form
	count int
	size  int
}

func (l *listing) add(f form, byDefault bool) {
	l.tools = append(l.tools, f)
	if byDefault {
		l.count++
		l.size += f.size()
	}
}

// addOthers adds servers' tools: those of the sets that were chosen, and by default whole servers
// by their ids as long as there is room.
func (x *sight) addOthers(out *listing, sel selection, d *dialect) {
	taken, room := make(map[string]bool), sel.standard
	for server, tools := range byServer(x.others) {
		chosen := sel.all || slices.Contains(sel.servers, server)
		if !chosen && !room {
			continue
		}
		var some []form
		size := 0
		for _, t := range tools {
			f, ok := x.s.otherForm(t, d, x.v.choice.output)
			if !ok || x.s.tools.find(f.tool.Name) != nil || taken[f.tool.Name] || !x.showsOther(t) {
				continue
			}
			taken[f.tool.Name] = true
			some = append(some, f)
			size += f.size()
		}
		if !chosen {
			room = out.count+len(some) <= maxStandard && out.size+size <= maxStandardBytes
			if !room {
				continue
			}
		}
		for _, f := range some {
			out.add(f, !chosen)
		}
	}
}

// byServer yields the tools of each server, by the servers' ids.
func byServer(tools []*ubl.PortalTool) func(yield func(string, []*ubl.PortalTool) bool) {
	of := map[string][]*ubl.PortalTool{}
	var ids []string
	for _, t := range tools {
		id := serverOf(t)
		if of[id] == nil {
			ids = append(ids, id)
		}
		of[id] = append(of[id], t)
	}
	slices.Sort(ids)
	return func(yield func(string, []*ubl.PortalTool) bool) {
		for _, id := range ids {
			if !yield(id, of[id]) {
				return
			}
		}
	}
}

// serverOf is the id of a tool's server, which begins its name.
func serverOf(t *ubl.PortalTool) string {
	id, _, _ := strings.Cut(t.Tool, ".")
	return id
}

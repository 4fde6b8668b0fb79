package portal

import (
	"context"
	"errors"
	"fmt"

	"ubl"
	"ubl/actors"
)

// Family registers Portals over a reader.
func Family(read ubl.Reader) actors.Family {
	return actors.Family{
		Name: "portal",
		Owns: func(name string) bool { return name == local },
		Open: func(ctx context.Context, env actors.Env) (actors.Actor, error) {
			return load(ctx, read, env)
		},
	}
}

// Portal is one tenant's. Its fields are owned by the mailbox.
type Portal struct {
	env    actors.Env
	read   ubl.Reader
	group  ubl.Group
	tenant ubl.TenantID

	state State
	keys  *actors.Keys
	// requests bounds how many calls of models begin. It is no state: a Portal that
	// was loaded anew lets as many begin as one that was idle.
	requests bucket
}

// load reads what is stored. A tenant is there once its ledger has begun.
func load(ctx context.Context, read ubl.Reader, env actors.Env) (*Portal, error) {
	x := &Portal{env: env, read: read, group: env.Name.Group(), state: newState()}
	x.tenant = x.group.Tenant
	err := read.View(ctx, x.group, func(snap ubl.Snapshot) error {
		head, err := snap.Head()
		if err != nil {
			return err
		}
		if head.Seq == 0 {
			return errNotHere()
		}
		if err = x.loadServers(snap); err != nil {
			return err
		}
		return x.loadCalls(snap)
	})
	if err == nil {
		x.keys, err = actors.LoadKeys(ctx, read, env.Name, ubl.TimeOf(env.Now()))
	}
	if err != nil {
		return nil, fmt.Errorf("couldn't load a portal: %w", err)
	}
	return x, nil
}

func (x *Portal) loadServers(snap ubl.Snapshot) error {
	s := &x.state
	if err := actors.EachEvent(snap, eventKey(0), eventKey(-1), version, func(e event) {
		e.receipt = &e.Receipt
		s.apply(e)
	}); err != nil {
		return err
	}
	if err := actors.EachEvent(snap, syncKey(""), []byte("pz"), version, func(said syncing) {
		s.Servers[said.ServerID].sync = &said
	}); err != nil {
		return err
	}
	if err := actors.EachEvent(snap, toolKey("", ""), []byte{'b' + 1}, version, func(t tool) {
		s.Tools[t.Tool] = &t.PortalTool
	}); err != nil {
		return err
	}
	return actors.EachEvent(snap, []byte("pg"), []byte("ph"), version, func(g sealed) {
		s.Grants[grant{g.ServerID, g.UserID}] = true
	})
}

func (x *Portal) loadCalls(snap ubl.Snapshot) error {
	s := &x.state
	if err := actors.EachEvent(snap, openKey(0), openKey(-1), version, func(o open) {
		o.receipt, o.Call.Receipt = o.Call.Receipt, nil
		s.begin(&o)
	}); err != nil {
		return err
	}
	if err := actors.EachEvent(snap, usageKey(), []byte("pe"), version, func(u usage) { s.Usage = u }); err != nil {
		return err
	}
	var err error
	if s.High, err = snap.Counter(rowCounter()); err != nil {
		return err
	}
	s.Low = s.High + 1
	var bad error
	err = snap.Ascend(rowKey(0), rowKey(-1), func(_, v []byte) bool {
		var oldest ubl.Call
		if oldest, bad = decodeRow(v); bad == nil {
			s.Low = oldest.N
		}
		return false
	})
	return errors.Join(err, bad)
}

// Receive implements [actors.Actor].
func (x *Portal) Receive(t *actors.Turn, cmd ubl.Command) {
	switch c := cmd.(type) {
	case ubl.AddServer:
		x.change(t, c.Request, ubl.DidServerAdd, x.decideAdd(c), content(c.Server)+c.SecretMAC)
	case ubl.UpdateServer:
		x.change(t, c.Request, ubl.DidServerUpdate, x.decideUpdate(c), c.ServerID, patchContent(c.Patch)+c.SecretMAC)
	case ubl.RemoveServer:
		x.change(t, c.Request, ubl.DidServerRemove, x.decideRemove(c), c.ServerID)
	case ubl.ListServers:
		x.listServers(t, c.Who)
	case ubl.ListPortalTools:
		x.listTools(t, c.Who)
	case ubl.OpenServer:
		x.openServer(t, c)
	case ubl.RecordSync:
		x.sync(t, c)
	case ubl.ApproveTool:
		x.change(t, c.Request, ubl.DidToolApprove, x.decideApprove(c), c.Tool, c.Hash)
	case ubl.SaveGrant:
		x.saveGrant(t, c)
	case ubl.BeginCall:
		x.begin(t, c)
	case ubl.EndCall:
		x.end(t, c)
	case ubl.LogCalls:
		x.logCalls(t, c)
	case ubl.ReadCalls:
		x.readCalls(t, c)
	case ubl.GetBudget:
		x.getBudget(t, c.Who)
	case ubl.SetBudget:
		x.change(t, c.Request, ubl.DidBudgetUpdate, x.decideBudget(c), content(limits{c.TokensPerDay, c.RequestsPerMinute}))
	case ubl.CloseCalls:
		x.closeCalls(t, c)
	default:
		t.Fail(ubl.Errorf(ubl.CodeNotFound, "a portal doesn't answer this command"))
	}
}

// member refuses strangers. That the caller is a member of their tenant is the
// transports' to know, which let nobody through whom the Tenant refuses; that it
// is this tenant is checked here too.
func (x *Portal) member(who ubl.Identity) error {
	if who.TenantID != x.tenant && !who.IsPlatform() {
		return errNotHere()
	}
	return nil
}

// owner refuses whom the Tenant hasn't called an owner.
func (x *Portal) owner(who ubl.Identity, owner bool) error {
	if err := x.member(who); err != nil {
		return err
	}
	if !owner {
		return ubl.Errorf(ubl.CodeForbidden, "only an owner of the tenant may do this")
	}
	return nil
}

// platform refuses everyone but the platform.
func (x *Portal) platform(who ubl.Identity) error {
	if !who.IsPlatform() {
		return ubl.Errorf(ubl.CodeForbidden, "only the platform may do this")
	}
	return nil
}

// errNotHere looks the same for a tenant that isn't there and for another's.
func errNotHere() error { return ubl.Errorf(ubl.CodeNotFound, "there is no such portal") }

// content tells one command's content from another's under the same key.
func content(v any) string { return string(encode(v)) }

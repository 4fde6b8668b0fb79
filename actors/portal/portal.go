package portal

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"ubl"
	"ubl/actors"
)

// Family registers Portals over a reader. Servers asks servers for their tools when an alarm
// says so; where it is nil nobody does.
func Family(read ubl.Reader, servers ubl.Syncer) actors.Family {
	kind := kind()
	return actors.Family{
		Name:    local,
		Kind:    kind,
		Owns:    func(name string) bool { return name == local },
		Unarmed: unarmed,
		Leased:  leased,
		Open: func(ctx context.Context, env actors.Env) (actors.Actor, error) {
			return load(ctx, kind, read, servers, env)
		},
		Commands: []ubl.Command{
			ubl.AddServer{}, ubl.UpdateServer{}, ubl.RemoveServer{}, ubl.ListServers{}, ubl.ListPortalTools{}, ubl.OpenServer{}, ubl.RecordSync{},
			ubl.ApproveTool{}, ubl.SaveGrant{}, ubl.ForgetGrants{}, ubl.BeginCall{}, ubl.EndCall{}, ubl.LogCalls{}, ubl.ReadCalls{}, ubl.GetBudget{}, ubl.SetBudget{}, ubl.CloseCalls{},
			ubl.AskCaller{}, ubl.ReplyCall{}, ubl.CancelCall{}, ubl.ReadTask{}, ubl.ListTasks{},
		},
		Answers: []any{
			(*ubl.Server)(nil), []*ubl.Server(nil), []*ubl.PortalTool(nil), (*ubl.PortalTool)(nil), (*ubl.ServerAccess)(nil),
			(*ubl.CallTicket)(nil), (*ubl.Call)(nil), (*ubl.CallPage)(nil), (*ubl.Budget)(nil), 0,
			(*ubl.Mail)(nil), (*ubl.Task)(nil), []*ubl.Task(nil),
		},
		Numbers: runs(), Content: counted(),
		Unplaced: true, // which tools an agent's mandate names the Tenant is asked
	}
}

// Portal is one tenant's.
type Portal struct {
	*actors.Entity[State, event]
	// mail is what callers and their calls have to say to one another, by call. It is not stored:
	// who waits asks again.
	mail map[int64]*mail
	// heard is when the node that makes a call was heard of last.
	heard   map[int64]ubl.Time
	servers ubl.Syncer
}

func load(ctx context.Context, kind *actors.Kind[State, event], read ubl.Reader, servers ubl.Syncer, env actors.Env) (*Portal, error) {
	x := &Portal{mail: make(map[int64]*mail), heard: make(map[int64]ubl.Time), servers: servers}
	var err error
	if x.Entity, err = kind.Load(ctx, read, env, actors.Hooks[event]{Outcome: outcome, Applied: x.applied, Errand: x.errand}); err != nil {
		return nil, err
	}
	return x, nil
}

// beside reads what passing events have left. A tenant is there once its ledger has begun.
func beside(ctx context.Context, read ubl.Reader, name ubl.Name, s *State) error {
	return read.View(ctx, name.Group(), func(snap ubl.Snapshot) error {
		head, err := snap.Head()
		if err == nil && head.Seq == 0 {
			err = errNotHere()
		}
		if err != nil {
			return err
		}
		return errors.Join(
			actors.EachEvent(snap, syncKey(""), []byte("pz"), version, func(said syncing) { s.Servers[said.ServerID].sync = &said }),
			actors.EachEvent(snap, toolKey("", ""), []byte{'b' + 1}, version, func(t tool) { s.Tools[t.Tool] = &t.PortalTool }),
			actors.EachEvent(snap, []byte("pg"), []byte("ph"), version, func(g sealed) { s.Grants[grant{g.ServerID, g.UserID}] = true }),
			actors.EachEvent(snap, usageKey(), []byte("pe"), version, func(u usage) { s.Usage = u }),
			actors.EachOutbound(snap, local, s.readOpen),
			s.readEarly(snap),
			actors.EachEvent(snap, taskKey(0), taskKey(-1), version, s.keep),
			s.findRows(snap),
		)
	})
}

// readOpen takes in a call that is open.
func (s *State) readOpen(out actors.Outbound, intent *ubl.Receipt) error {
	o := &open{receipt: intent}
	if err := json.Unmarshal(out.Content, o); err != nil {
		return fmt.Errorf("couldn't read an open call: %w", err)
	}
	if o.Version > version {
		return fmt.Errorf("an open call is of version %d, this program knows %d", o.Version, version)
	}
	s.begin(o)
	return nil
}

// findRows finds the oldest row that is kept, and the newest.
func (s *State) findRows(snap ubl.Snapshot) (err error) {
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
	case ubl.BeginCall:
		x.begin(t, c)
	case ubl.EndCall:
		x.end(t, c)
	case ubl.LogCalls:
		x.logCalls(t, c)
	case ubl.CloseCalls:
		x.closeCalls(t, c)
	case ubl.ForgetGrants:
		x.forgetGrants(t, c)
	case ubl.AskCaller:
		x.askCaller(t, c)
	case ubl.ReplyCall:
		x.replyCall(t, c)
	case ubl.CancelCall:
		x.cancelCall(t, c)
	case ubl.ReadTask:
		x.readTask(t, c)
	case ubl.ListTasks:
		t.Answer(x.State.member(c.Who), func() any { return x.listTasks(c.Who, t.Now()) })
	case ubl.ListServers:
		x.listServers(t, c.Who)
	case ubl.ListPortalTools:
		t.Answer(x.State.member(c.Who), func() any { return x.State.listed() })
	case ubl.OpenServer:
		x.openServer(t, c)
	case ubl.ReadCalls:
		x.readCalls(t, c)
	case ubl.GetBudget:
		t.Answer(x.State.member(c.Who), func() any { return x.State.budget(t.Now(), x.State.Budget) })
	default:
		if !x.Change(t, cmd) {
			t.Fail(ubl.Errorf(ubl.CodeNotFound, "a portal doesn't answer this command"))
		}
	}
}

// outcome is what a caller is answered for an event, now or at a retry.
func outcome(_ context.Context, e event) (any, error) {
	switch e.Did {
	case ubl.DidToolApprove:
		return e.Tool, nil
	case ubl.DidBudgetUpdate:
		return e.Budget, nil
	}
	return receipted(e.Server, &e.Receipt), nil
}

// member refuses strangers. That the caller is a member of their tenant is the
// transports' to know, which let nobody through whom the Tenant refuses; that it
// is this tenant is checked here too.
func (s *State) member(who ubl.Identity) error {
	if who.TenantID != s.Tenant && !who.IsPlatform() {
		return errNotHere()
	}
	return nil
}

// owner refuses whom the Tenant hasn't called an owner.
func (s *State) owner(who ubl.Identity, owner bool) error {
	if err := s.member(who); err != nil {
		return err
	}
	if !owner {
		return ubl.Errorf(ubl.CodeForbidden, "only an owner of the tenant may do this")
	}
	return nil
}

// platform refuses everyone but the platform.
func platform(who ubl.Identity) error {
	if !who.IsPlatform() {
		return ubl.Errorf(ubl.CodeForbidden, "only the platform may do this")
	}
	return nil
}

// errNotHere looks the same for a tenant that isn't there and for another's.
func errNotHere() error { return ubl.Errorf(ubl.CodeNotFound, "there is no such portal") }

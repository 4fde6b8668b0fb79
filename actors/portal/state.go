package portal

import (
	"cmp"
	"maps"
	"slices"

	"ubl"
)

// State is what a Portal decides by. It is the same after loading what is stored
// as it was before a crash.
type State struct {
	Tenant  ubl.TenantID
	Servers map[string]*server
	// Tools are by the name that callers use. Entries are replaced, never changed:
	// lists of them are handed out.
	Tools map[string]*ubl.PortalTool
	// Grants says who has signed in to which server.
	Grants map[grant]bool
	Budget limits
	Usage  usage
	// Reserved is what open calls may yet use.
	Reserved int64
	Open     map[int64]*open
	// Kept are calls that have ended, without their answers.
	Kept map[int64]*kept
	// Low and High are the numbers of the oldest row kept and of the newest; none
	// are kept where Low > High.
	Low, High int64
	// requests bounds how many calls of models begin. It is not derived: a Portal that
	// was just loaded lets as many begin as one that was idle.
	requests bucket
}

// server is a server as its owners made it, and what the newest sync said.
type server struct {
	config  ubl.Server
	n       int64        // of the event that it is as of
	receipt *ubl.Receipt // read only behind the gate
	sync    *syncing     // nil: not asked since it was made or changed
}

// grant names a user's credentials for a server.
type grant struct {
	server string
	user   ubl.UserID
}

// limits are the part of the budget that owners set.
type limits struct {
	TokensPerDay      int64 `json:"tokens_per_day"`
	RequestsPerMinute int   `json:"requests_per_minute"`
}

func newState(tenant ubl.TenantID) State {
	return State{
		Tenant: tenant, Servers: make(map[string]*server), Tools: make(map[string]*ubl.PortalTool),
		Grants: make(map[grant]bool), Open: make(map[int64]*open), Kept: make(map[int64]*kept), Low: 1,
	}
}

// apply is the only place where events change the state.
func (s *State) apply(e event) {
	switch e.Did {
	case ubl.DidServerAdd:
		s.Servers[e.Server.ServerID] = serverOf(e)
	case ubl.DidServerUpdate:
		was := s.Servers[e.Server.ServerID]
		now := serverOf(e)
		if !startsAnew(&was.config, &now.config) {
			now.sync = was.sync
		}
		s.Servers[e.Server.ServerID] = now
		if movesAway(&was.config, &now.config) {
			s.forgetGrants(e.Server.ServerID)
		}
	case ubl.DidServerRemove:
		id := e.Server.ServerID
		delete(s.Servers, id)
		maps.DeleteFunc(s.Tools, func(_ string, t *ubl.PortalTool) bool { return t.ServerID == id })
		s.forgetGrants(id)
	case ubl.DidToolApprove:
		s.Tools[e.Tool.Tool] = e.Tool
	case ubl.DidBudgetUpdate:
		s.Budget = limits{e.Budget.TokensPerDay, e.Budget.RequestsPerMinute}
	case ubl.DidServerSync:
		s.take(e.sync, e.tools)
	case ubl.DidServerConnect:
		if delete(s.Grants, e.grant.grant); e.grant.has {
			s.Grants[e.grant.grant] = true
		}
	}
	if e.call != nil {
		s.step(e)
	}
}

// serverOf is a server as an event made it.
func serverOf(e event) *server {
	return &server{config: *e.Server, n: e.N, receipt: e.Sealed()}
}

func (s *State) forgetGrants(server string) {
	maps.DeleteFunc(s.Grants, func(g grant, _ bool) bool { return g.server == server })
}

// take takes what a server said, with the tools that differ.
func (s *State) take(said *syncing, tools []*ubl.PortalTool) {
	s.Servers[said.ServerID].sync = said
	for _, t := range tools {
		s.Tools[t.Tool] = t
	}
}

// step is one in the life of a call, or a row of the log that comes alone.
func (s *State) step(e event) {
	c := e.call
	if c.fresh() {
		s.High, s.Low = c.row.N, s.Low+c.drops
	}
	if o := c.begins; o != nil {
		o.receipt = e.Sealed()
		s.begin(o)
		if o.Call.Server == ubl.ModelServer && s.Budget.RequestsPerMinute > 0 {
			s.requests.take(e.At, s.Budget.RequestsPerMinute)
		}
	}
	if c.used != nil {
		s.use(e.At, *c.used)
	}
	if o := c.ends; o != nil {
		delete(s.Open, o.Call.N)
		s.Reserved -= o.Tokens
	}
	if k := c.keeps; k != nil {
		s.keep(*k)
	}
	for _, n := range c.forgets {
		delete(s.Kept, n)
	}
}

func (s *State) begin(o *open) {
	s.Open[o.Call.N] = o
	s.Reserved += o.Tokens
}

// use counts tokens for the day of a moment, and forgets the days before. A clock
// that goes back opens no second budget for its day.
func (s *State) use(at ubl.Time, tokens int64) {
	if day := midnight(at); day > s.Usage.Day {
		s.Usage = usage{Day: day}
	}
	s.Usage.form = form{version}
	s.Usage.Tokens += tokens
}

// used is what the day of a moment has cost so far, with what open calls may yet
// use.
func (s *State) used(at ubl.Time) int64 {
	if midnight(at) > s.Usage.Day {
		return s.Reserved
	}
	return s.Usage.Tokens + s.Reserved
}

// midnight is when the moment's day began, in UTC.
func midnight(at ubl.Time) ubl.Time {
	const day = 24 * 60 * 60 * 1000
	return at - at%day
}

// count is how many tools a server lists, and how many of its tools are held.
type count struct{ tools, held int }

func (n *count) add(t *ubl.PortalTool) {
	if !t.Gone {
		n.tools++
	}
	if t.HeldHash != "" {
		n.held++
	}
}

// counts are those of all servers by id.
func (s *State) counts() map[string]count {
	out := make(map[string]count, len(s.Servers))
	for _, t := range s.Tools {
		n := out[t.ServerID]
		n.add(t)
		out[t.ServerID] = n
	}
	return out
}

// view is one server as it is listed.
func (s *State) view(x *server) *ubl.Server { return x.view(s.counts()[x.config.ServerID]) }

// view is the server as it is listed. Its receipt is filled in behind the gate.
func (x *server) view(n count) *ubl.Server {
	v := x.config
	v.Status, v.Problem, v.SyncedAt, v.Tools, v.Held, v.Connected = ubl.ServerNew, "", nil, n.tools, n.held, nil
	v.DownSince, v.NextTry, v.Connecting = nil, nil, false
	if x.sync != nil {
		at := x.sync.At
		v.Status, v.Problem, v.SyncedAt = ubl.ServerUp, x.sync.Problem, &at
		if x.sync.Down {
			v.Status, v.DownSince = ubl.ServerDown, new(x.sync.since())
		}
	}
	if v.Disabled {
		v.Status = ubl.ServerDisabled
	}
	return &v
}

// since is when the server went down.
func (s *syncing) since() ubl.Time { return cmp.Or(s.Since, s.At) }

// toolsOf lists a server's tools by name.
func (s *State) toolsOf(server string) []*ubl.PortalTool {
	var out []*ubl.PortalTool
	for _, name := range slices.Sorted(maps.Keys(s.Tools)) {
		if s.Tools[name].ServerID == server {
			out = append(out, s.Tools[name])
		}
	}
	return out
}

// grantsOf lists who has signed in to a server.
func (s *State) grantsOf(server string) []ubl.UserID {
	var out []ubl.UserID
	for g := range s.Grants {
		if g.server == server {
			out = append(out, g.user)
		}
	}
	return slices.Sorted(slices.Values(out))
}

// grantsBy lists the grants of some users.
func (s *State) grantsBy(users []ubl.UserID) []grant {
	var out []grant
	for g := range s.Grants {
		if slices.Contains(users, g.user) {
			out = append(out, g)
		}
	}
	slices.SortFunc(out, func(a, b grant) int { return cmp.Or(cmp.Compare(a.user, b.user), cmp.Compare(a.server, b.server)) })
	return out
}

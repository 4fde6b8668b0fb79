package placement

import (
	"cmp"
	"slices"
)

// group is one partition, seen from where the next step is decided.
type group struct {
	Actual
	t    *Table
	v    View
	p    int
	want []string
}

func newGroup(t *Table, v View, p int) *group {
	return &group{Actual: v.partition(p), t: t, v: v, p: p, want: t.Voters[p]}
}

func (g *group) wanted(s string) bool { return slices.Contains(g.want, s) }
func (g *group) votes(s string) bool  { return slices.Contains(g.Voters, s) }
func (g *group) learns(s string) bool { return slices.Contains(g.Learners, s) }
func (g *group) isUp(s string) bool   { return g.up(g.t, g.v, s) }

// step fills in what every step has.
func (g *group) step(k Kind, server string) (Step, bool) {
	n, _ := g.t.Server(server)
	return Step{Kind: k, Partition: g.p, Server: server, Addr: n.Addr, Leader: g.Leader, Term: g.Term, Config: g.Config}, true
}

// first makes a step for the first server that should vote and that fits.
func (g *group) first(k Kind, fits func(server string) bool) (Step, bool) {
	for _, s := range g.want {
		if fits(s) {
			return g.step(k, s)
		}
	}
	return Step{}, false
}

// quorum tells whether a majority of the voters is up.
func (g *group) quorum() bool { return g.quorumWithout("") }

// quorumWithout tells whether a majority were up if one voter were removed.
func (g *group) quorumWithout(removed string) bool {
	voters, up := 0, 0
	for _, s := range g.Voters {
		if s == removed {
			continue
		}
		voters++
		if g.isUp(s) {
			up++
		}
	}
	return 2*up > voters
}

// dismiss removes a voter that the rule names, the dead first. If only the
// leader is left to remove it hands over first. What would cost the quorum
// waits.
func (g *group) dismiss(goes func(server string) bool) (Step, bool) {
	var out []string
	for _, s := range g.Voters {
		if goes(s) && g.quorumWithout(s) {
			out = append(out, s)
		}
	}
	if len(out) == 0 {
		return Step{}, false
	}
	slices.SortStableFunc(out, func(x, y string) int { return cmp.Compare(g.urgency(x), g.urgency(y)) })
	if out[0] == g.Leader {
		return g.handOver()
	}
	return g.step(Remove, out[0])
}

// urgency orders who is removed: the dead, then those alive, then the leader.
func (g *group) urgency(s string) int {
	switch {
	case s == g.Leader:
		return 2
	case g.isUp(s):
		return 1
	}
	return 0
}

// heirs are who may lead next: voters that are to remain so, up and caught up.
func (g *group) heirs() []string {
	var heirs []string
	for _, s := range g.Voters {
		if s != g.Leader && g.wanted(s) && g.t.Stays(s) && g.isUp(s) && g.caughtUp(s) {
			heirs = append(heirs, s)
		}
	}
	return heirs
}

// handOver transfers the leadership to the heir that leads least.
func (g *group) handOver() (Step, bool) {
	heirs := g.heirs()
	if len(heirs) == 0 {
		return Step{}, false
	}
	leads := countLeaders(g.v)
	return g.step(TransferLeader, slices.MinFunc(heirs, func(x, y string) int { return cmp.Compare(leads[x], leads[y]) }))
}

// countLeaders counts how many partitions each server leads.
func countLeaders(v View) map[string]int {
	leads := make(map[string]int)
	for _, a := range v.Partitions {
		if a.known(v) {
			leads[a.Leader]++
		}
	}
	return leads
}

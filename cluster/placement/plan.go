package placement

// Plan finds the next steps, at most one a partition. It looks only at what is:
// carry out what can be done, look again, ask again. No step means that every
// partition is as decided, or has to wait.
func Plan(t *Table, v View) []Step {
	var steps []Step
	for p := range t.Voters {
		if s, ok := newGroup(t, v, p).next(); ok {
			steps = append(steps, s)
		}
	}
	return steps
}

// next tries the rules in order of urgency. Opening comes last: a server that
// fails to open a replica again and again must not hold up the rest.
func (g *group) next() (Step, bool) {
	if !g.Actual.known(g.v) || len(g.want) == 0 {
		return Step{}, false
	}
	rules := []func() (Step, bool){
		g.removeGone, g.removeLearner, g.removeSurplus, g.promote, g.addLearner, g.removeRest, g.close,
	}
	if !g.quorum() {
		rules = nil
	}
	for _, rule := range append(rules, g.openNewcomer, g.reopen) {
		if s, ok := rule(); ok {
			return s, true
		}
	}
	return Step{}, false
}

// removeGone: who is gone for good can't vote. Without it fewer of the others
// are needed, so it goes before its successor comes.
func (g *group) removeGone() (Step, bool) {
	return g.dismiss(func(s string) bool { return !g.t.Has(s) })
}

func (g *group) removeLearner() (Step, bool) {
	for _, s := range g.Learners {
		if !g.wanted(s) {
			return g.step(Remove, s)
		}
	}
	return Step{}, false
}

// removeSurplus keeps a configuration from growing beyond one voter too many
// when several are to be exchanged.
func (g *group) removeSurplus() (Step, bool) {
	if len(g.Voters) <= MaxVoters {
		return Step{}, false
	}
	return g.dismiss(func(s string) bool { return !g.wanted(s) })
}

func (g *group) promote() (Step, bool) {
	return g.first(Promote, func(s string) bool { return g.learns(s) && g.isUp(s) && g.mayVote(s) })
}

func (g *group) addLearner() (Step, bool) {
	return g.first(AddLearner, func(s string) bool { return !g.member(s) && g.isUp(s) })
}

// removeRest waits until everyone who should vote does.
func (g *group) removeRest() (Step, bool) {
	for _, s := range g.want {
		if !g.votes(s) {
			return Step{}, false
		}
	}
	return g.dismiss(func(s string) bool { return !g.wanted(s) })
}

func (g *group) close() (Step, bool) {
	for _, s := range g.Hosts {
		if g.isUp(s) && !g.member(s) && !g.wanted(s) {
			return g.step(CloseReplica, s)
		}
	}
	return Step{}, false
}

func (g *group) openNewcomer() (Step, bool) {
	return g.first(OpenReplica, func(s string) bool { return !g.votes(s) && g.v.Alive[s] && !g.isUp(s) })
}

// reopen: a voter without its replica (a disk that was full) opens it itself
// when it can; asking again costs nothing.
func (g *group) reopen() (Step, bool) {
	return g.first(OpenReplica, func(s string) bool { return g.v.Alive[s] && !g.isUp(s) })
}

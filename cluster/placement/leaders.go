package placement

import "slices"

// Leaders finds the next transfer of leadership that spreads leaders evenly
// over the nodes, or nil if all is well. A leader that leaves goes first.
// Otherwise a transfer must bring the counts closer, so it never goes to and
// fro: the same view gives the same answer, and after it fewer remain.
func Leaders(t *Table, v View) *Step {
	var groups []*group
	for p := range t.Voters {
		if g := newGroup(t, v, p); g.known(v) && g.quorum() {
			groups = append(groups, g)
		}
	}
	for _, g := range groups {
		if g.t.Stays(g.Leader) {
			continue
		}
		if s, ok := g.handOver(); ok {
			return &s
		}
	}
	return spread(groups, countLeaders(v))
}

// handover is a transfer that is possible.
type handover struct {
	g    *group
	from string
	to   string
}

func (h handover) step() *Step {
	s, _ := h.g.step(TransferLeader, h.to)
	return &s
}

// spread looks for a server that leads at least two partitions more than
// another. Often it has none to give that one, but a third server in between
// takes one and gives one. So it looks for the shortest chain of handovers, and
// returns the last of it: the chain that remains is shorter, so this ends.
func spread(groups []*group, leads map[string]int) *Step {
	chances := handovers(groups)
	var last *handover
	shortest := 0
	for _, h := range chances {
		found, length := chain(h.from, chances, leads)
		if found != nil && (last == nil || length < shortest) {
			last, shortest = found, length
		}
	}
	if last == nil {
		return nil
	}
	return last.step()
}

func handovers(groups []*group) []handover {
	var all []handover
	for _, g := range groups {
		for _, to := range g.heirs() {
			all = append(all, handover{g, g.Leader, to})
		}
	}
	return all
}

// chain searches breadth first from one server to any that leads at least two
// fewer. It returns the last handover on the way, and the length of the way.
func chain(start string, chances []handover, leads map[string]int) (*handover, int) {
	seen := []string{start}
	for length, level := 1, []string{start}; len(level) > 0; length++ {
		var reached []string
		for i, h := range chances {
			if !slices.Contains(level, h.from) || slices.Contains(seen, h.to) {
				continue
			}
			if leads[start]-leads[h.to] >= 2 {
				return &chances[i], length
			}
			seen, reached = append(seen, h.to), append(reached, h.to)
		}
		level = reached
	}
	return nil, 0
}

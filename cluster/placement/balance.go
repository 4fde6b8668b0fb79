package placement

import (
	"cmp"
	"slices"
)

// move gives one server's place in a partition to another.
type move struct {
	partition int
	from, to  string
}

// balance moves places until no two living servers differ by more than one, as far as they may.
// Each move brings the counts closer, so it ends. The dead are left out: they
// keep their places or have lost them already.
func (d *draft) balance() {
	for {
		m, ok := d.betterPlace()
		if !ok {
			return
		}
		d.drop(m.partition, m.from)
		d.add(m.partition, m.to)
	}
}

// betterPlace finds the cheapest move from the fullest server it can to the
// emptiest.
func (d *draft) betterPlace() (move, bool) {
	order := slices.Clone(d.fit)
	slices.SortStableFunc(order, func(x, y string) int { return cmp.Compare(d.load[x], d.load[y]) })
	for _, from := range slices.Backward(order) {
		for _, to := range order {
			if d.load[from]-d.load[to] < 2 {
				break
			}
			if moves := d.moves(from, to); len(moves) > 0 {
				return slices.MinFunc(moves, func(x, y move) int { return cmp.Compare(d.cost(x), d.cost(y)) }), true
			}
		}
	}
	return move{}, false
}

func (d *draft) moves(from, to string) []move {
	var moves []move
	for p, want := range d.want {
		if !d.frozen(p) && slices.Contains(want, from) && !slices.Contains(want, to) && d.mayGive(p, from) {
			moves = append(moves, move{p, from, to})
		}
	}
	return moves
}

// mayGive tells whether a server may give its place away: not one that votes while another voter
// doesn't answer. The newcomer is for the place of that one, if it stays away.
func (d *draft) mayGive(p int, from string) bool {
	votes := d.v.Partitions[p].Voters
	dead := func(s string) bool { return !d.v.Alive[s] }
	return !slices.Contains(votes, from) || !slices.ContainsFunc(votes, dead)
}

// cost orders moves: a copy that was made for nothing, a copy to be made, a
// handover.
func (d *draft) cost(m move) int {
	a := d.v.Partitions[m.partition]
	cost := 0
	if slices.Contains(a.Voters, m.from) {
		cost += 4
	}
	if !a.member(m.to) {
		cost += 2
	}
	if a.Leader == m.from {
		cost++
	}
	return cost
}

package placement

import (
	"cmp"
	"slices"
)

// Assign decides who should vote. It returns the table itself when nothing
// should change.
func Assign(t *Table, v View) *Table {
	d := newDraft(t, v)
	for p := range d.want {
		d.keep(p)
	}
	for p := range d.want {
		d.replace(p)
		d.fill(p)
	}
	d.balance()
	return d.table()
}

// draft is a decision in the making.
type draft struct {
	t    *Table
	v    View
	fit  []string       // servers that may get places: alive and staying
	want [][]string     // per partition
	load map[string]int // places by server
}

func newDraft(t *Table, v View) *draft {
	d := &draft{t: t, v: v, want: make([][]string, t.Partitions), load: make(map[string]int)}
	for _, n := range t.Nodes {
		if !n.Leaving && v.Alive[n.Server] {
			d.fit = append(d.fit, n.Server)
		}
	}
	return d
}

// frozen partitions have no leader: where their data is can't be known.
func (d *draft) frozen(p int) bool {
	return !d.v.partition(p).known(d.v)
}

func (d *draft) add(p int, server string) {
	d.want[p] = append(d.want[p], server)
	d.load[server]++
}

func (d *draft) drop(p int, server string) {
	i := slices.Index(d.want[p], server)
	d.want[p] = slices.Delete(d.want[p], i, i+1)
	d.load[server]--
}

// keep begins with what was decided; where nothing was, with who votes.
func (d *draft) keep(p int) {
	if d.frozen(p) {
		for _, s := range d.t.Voters[p] {
			d.add(p, s)
		}
		return
	}
	before := d.t.Voters[p]
	if len(before) == 0 {
		before = d.v.Partitions[p].Voters
	}
	for _, s := range before {
		if len(d.want[p]) < MaxVoters && d.mayStay(p, s) {
			d.add(p, s)
		}
	}
}

// mayStay: a dead server has something to keep only where it votes already.
func (d *draft) mayStay(p int, server string) bool {
	votes := slices.Contains(d.v.Partitions[p].Voters, server)
	return d.t.Stays(server) && (votes || !d.v.longDead(server))
}

// replace gives the places of the long dead to others, as far as there are any.
func (d *draft) replace(p int) {
	if d.frozen(p) {
		return
	}
	for _, s := range slices.Clone(d.want[p]) {
		if heir, ok := d.pick(p); ok && d.v.longDead(s) {
			d.drop(p, s)
			d.add(p, heir)
		}
	}
}

// fill adds voters up to MaxVoters: living servers, then dead ones that vote,
// since removing those would gain nothing. A partition never ends with nobody:
// if only leaving servers are left, they stay.
func (d *draft) fill(p int) {
	if d.frozen(p) {
		return
	}
	for len(d.want[p]) < MaxVoters {
		s, ok := d.pick(p)
		if !ok {
			break
		}
		d.add(p, s)
	}
	d.adopt(p, d.t.Stays)
	if len(d.want[p]) == 0 {
		d.adopt(p, d.t.Has)
	}
}

// adopt adds those who vote and whom the rule allows.
func (d *draft) adopt(p int, allowed func(server string) bool) {
	for _, s := range d.v.Partitions[p].Voters {
		if len(d.want[p]) < MaxVoters && allowed(s) && !slices.Contains(d.want[p], s) {
			d.add(p, s)
		}
	}
}

// pick finds who gets the next place: one that votes already (nothing has to be
// copied), then the one with the fewest places.
func (d *draft) pick(p int) (string, bool) {
	a := d.v.Partitions[p]
	rank := func(s string) int {
		if slices.Contains(a.Voters, s) {
			return -1
		}
		return d.load[s]
	}
	var free []string
	for _, s := range d.fit {
		if !slices.Contains(d.want[p], s) {
			free = append(free, s)
		}
	}
	if len(free) == 0 {
		return "", false
	}
	return slices.MinFunc(free, func(x, y string) int { return cmp.Compare(rank(x), rank(y)) }), true
}

// table is the draft as a table: the old one if they say the same.
func (d *draft) table() *Table {
	for _, want := range d.want {
		slices.Sort(want)
	}
	if slices.EqualFunc(d.want, d.t.Voters, slices.Equal) {
		return d.t
	}
	c := d.t.next()
	c.Voters = d.want
	return c
}

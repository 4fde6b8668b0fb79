package placement_test

import (
	"fmt"
	"slices"
	"strings"

	"pgregory.net/rapid"

	"ubl/cluster/placement"
)

// world is a model of a cluster: servers with disks, and a Raft group for each
// partition that keeps Raft's promises and nothing more. What is acknowledged
// is on a majority; only a server that has it may be elected.
type world struct {
	t       rapid.TB
	table   *placement.Table
	servers map[string]*server
	groups  []*group
	pace    func() uint64 // entries that a follower gets in one tick
	coin    func() bool   // outcomes that Raft leaves open
	log     []string      // what was done
}

type server struct {
	up, long bool           // long: down for longer than the grace period
	disk     map[int]uint64 // partition → last log index of the replica
}

type group struct {
	leader           string
	term, commit     uint64
	configs          []uint64 // log indexes of configurations, newest last
	voters, learners []string
}

const burst = placement.MaxLag * 7 / 10 // entries that a partition commits in one tick

// found starts a world of one server that leads every partition.
func found(t rapid.TB, partitions int, first string) *world {
	t.Helper()
	w := &world{
		t: t, servers: make(map[string]*server),
		pace: func() uint64 { return 1 << 40 }, coin: func() bool { return true },
	}
	table, err := placement.New("home", partitions, node(first))
	if err != nil {
		t.Fatal(err)
	}
	w.table = table
	w.boot(first)
	for p := range partitions {
		w.servers[first].disk[p] = 1
		w.groups = append(w.groups, &group{commit: 1, term: 1, configs: []uint64{1}, voters: []string{first}})
	}
	w.tick()
	return w
}

func node(server string) placement.Node {
	id, _, _ := strings.Cut(server, "@")
	return placement.Node{ID: id, Server: server, Addr: id + ".example:7000"}
}

func (w *world) boot(id string) {
	w.servers[id] = &server{up: true, disk: make(map[int]uint64)}
}

// join starts a new server and has it admitted.
func (w *world) join(ids ...string) {
	w.t.Helper()
	for _, id := range ids {
		table, err := w.table.Admit(placement.Join{Node: node(id), ClusterID: "home", Partitions: len(w.groups)}, w.view())
		if err != nil {
			w.t.Fatal(err)
		}
		w.table = table
		w.boot(id)
	}
}

func (w *world) kill(ids ...string) {
	for _, id := range ids {
		w.servers[id].up = false
	}
	w.tick()
}

func (w *world) revive(ids ...string) {
	for _, id := range ids {
		w.servers[id].up, w.servers[id].long = true, false
	}
	w.tick()
}

// wipe takes a server's disk away, for good.
func (w *world) wipe(id string) {
	w.servers[id] = &server{}
	w.tick()
}

// gracePasses: who is down now has been so for long.
func (w *world) gracePasses() {
	for _, s := range w.servers {
		s.long = !s.up
	}
}

func (w *world) leave(id string) error {
	table, err := w.table.Leave(id, 1)
	if err == nil {
		w.table = table
	}
	return err
}

// view is what a leader of partition 0 sees.
func (w *world) view() placement.View {
	v := placement.View{Alive: make(map[string]bool), LongDead: make(map[string]bool)}
	for id, s := range w.servers {
		v.Alive[id], v.LongDead[id] = s.up, s.long
	}
	for p, g := range w.groups {
		a := placement.Actual{Applied: make(map[string]uint64)}
		if g.leader != "" {
			a.Leader, a.Term, a.Commit, a.Config = g.leader, g.term, g.commit, g.config()
			a.Voters, a.Learners = slices.Clone(g.voters), slices.Clone(g.learners)
		}
		for _, id := range w.ids() {
			if last, ok := w.servers[id].disk[p]; ok && w.servers[id].up {
				a.Applied[id] = last
				a.Hosts = append(a.Hosts, id)
			}
		}
		v.Partitions = append(v.Partitions, a)
	}
	return v
}

func (w *world) ids() []string {
	var ids []string
	for id := range w.servers {
		ids = append(ids, id)
	}
	slices.Sort(ids)
	return ids
}

// takesPart: the server runs and has the partition's replica.
func (w *world) takesPart(p int, id string) bool {
	_, ok := w.servers[id].disk[p]
	return ok && w.servers[id].up
}

func (w *world) upVoters(p int) []string {
	var up []string
	for _, id := range w.groups[p].voters {
		if w.takesPart(p, id) {
			up = append(up, id)
		}
	}
	return up
}

func (w *world) hasQuorum(p int) bool { return 2*len(w.upVoters(p)) > len(w.groups[p].voters) }

// whole tells whether a majority of these servers has its disk even without one
// of them: what is on it can come back.
func (w *world) whole(voters []string, without string) bool {
	whole := 0
	for _, id := range voters {
		if w.servers[id].disk != nil && id != without {
			whole++
		}
	}
	return 2*whole > len(voters)
}

func (g *group) config() uint64 { return g.configs[len(g.configs)-1] }

// tick lets Raft work: elections where they are due, then some commits.
func (w *world) tick() {
	w.t.Helper()
	for p, g := range w.groups {
		if !w.hasQuorum(p) || (g.leader != "" && !w.takesPart(p, g.leader)) {
			g.leader = ""
		}
		if g.leader == "" && w.hasQuorum(p) {
			w.elect(p)
		}
		if g.leader != "" {
			w.commit(p, burst)
		}
	}
}

// elect picks a voter that has everything acknowledged. That one is up wherever
// a majority is, unless a step broke Raft's rules.
func (w *world) elect(p int) {
	w.t.Helper()
	g := w.groups[p]
	for _, id := range w.upVoters(p) {
		if w.servers[id].disk[p] >= g.commit && (g.leader == "" || w.coin()) {
			g.leader = id
		}
	}
	if g.leader == "" {
		w.t.Fatalf("partition %d lost what it acknowledged: %v are up of %v\n%s", p, w.upVoters(p), g.voters, strings.Join(w.log, "\n"))
	}
	g.term++
	w.commit(p, 1)
}

// commit moves the log on: on the leader, on as many others as a majority
// needs, and on the rest as far as they get.
func (w *world) commit(p int, entries uint64) {
	g := w.groups[p]
	g.commit += entries
	need := len(g.voters)/2 + 1
	get := func(id string, n uint64) {
		disk := w.servers[id].disk
		disk[p] = max(disk[p], min(g.commit, disk[p]+n))
	}
	get(g.leader, g.commit)
	need--
	for _, id := range w.upVoters(p) {
		switch {
		case id == g.leader:
		case need > 0:
			get(id, g.commit)
			need--
		default:
			get(id, w.pace())
		}
	}
	for _, id := range g.learners {
		if w.takesPart(p, id) {
			get(id, w.pace())
		}
	}
}

func (w *world) String() string {
	var b strings.Builder
	for p, g := range w.groups {
		fmt.Fprintf(&b, "%d: leader %s voters %v learners %v want %v\n", p, g.leader, g.voters, g.learners, w.table.Voters[p])
	}
	return b.String()
}

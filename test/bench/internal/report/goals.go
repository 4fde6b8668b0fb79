package report

import (
	"fmt"
	"slices"

	"ubl/test/bench/internal/stats"
)

// Goal is something UBL wants to reach: one of its figures, on its own or
// divided by a peer's, at least or at most a bound.
type Goal struct {
	Text    string
	Of      Key
	By      Key     // the zero Key: not divided
	Unit    float64 // of the bound in the figure's own unit, as 1000 for ms where the figure is in µs; 0: the same
	AtLeast bool
	Bound   float64
	Strict  bool // the bound itself is not enough
	Every   bool // each round must reach it, not only the medians
}

// Goals lists all goals of the benchmark.
func Goals() []Goal {
	return slices.Concat(sendGoals(), storeGoals(), clusterGoals(), floodGoals(), publicGoals(), agentGoals())
}

// sendGoals are those of one node under load.
func sendGoals() []Goal {
	send := func(s Subject, m Measure) Key { return Key{Send, s, m} }
	goals := []Goal{
		{Text: "64 writers: sends/s ≥ 2 × JetStream", Of: send(UBL, Rate), By: send(JetStream, Rate), AtLeast: true, Bound: 2},
		{Text: "64 writers: sends/s ≥ 4 × workerd", Of: send(UBL, Rate), By: send(Workerd, Rate), AtLeast: true, Bound: 4},
		{Text: "64 writers: p99 below JetStream's", Of: send(UBL, P99), By: send(JetStream, P99), Bound: 1, Strict: true},
		{Text: "64 writers: p99 below workerd's", Of: send(UBL, P99), By: send(Workerd, P99), Bound: 1, Strict: true},
		{Text: "64 writers: sends/s ≥ 2.5 × the bare program", Of: send(UBL, Rate), By: send(Bare, Rate), AtLeast: true, Bound: 2.5},
		{Text: "64 writers: p99 below the bare program's, in every round", Of: send(UBL, P99), By: send(Bare, P99), Bound: 1, Strict: true, Every: true},
		{Text: "one writer: p50 ≤ 1.3 × the bare program's", Of: Key{One, UBL, P50}, By: Key{One, Bare, P50}, Bound: 1.3},
		{Text: "in process: sends/s ≥ 0.4 × the bare group-commit loop", Of: Key{InProcess, UBL, Rate}, By: Key{InProcess, Loop, Rate}, AtLeast: true, Bound: 0.4},
	}
	for _, n := range FewStreams() {
		goals = append(goals,
			Goal{Text: fmt.Sprintf("fan-out, streams: %d: events/s ≥ 0.9 × the bare program that stores messages, too", n),
				Of: Key{FanoutOf(n), UBL, Rate}, By: Key{FanoutOf(n), StoredFan, Rate}, AtLeast: true, Bound: 0.9},
			Goal{Text: fmt.Sprintf("fan-out, streams: %d: events/s ≥ 0.9 × the bare program that stores nothing", n),
				Of: Key{FanoutOf(n), UBL, Rate}, By: Key{FanoutOf(n), BareFan, Rate}, AtLeast: true, Bound: 0.9})
	}
	return append(goals,
		Goal{Text: "fan-out, streams: 1,000: events/s ≥ 0.7 × the bare program that stores nothing", Of: Key{Fanout, UBL, Rate}, By: Key{Fanout, BareFan, Rate}, AtLeast: true, Bound: 0.7},
		Goal{Text: "64 writers: documents/s ≥ 0.6 × messages/s", Of: Key{Documents, NewDocuments, Rate}, By: Key{Documents, Messages, Rate}, AtLeast: true, Bound: 0.6},
		Goal{Text: "an upload of 1 GiB: MiB/s ≥ 0.7 × a bare HTTP copy that syncs", Of: Key{Files, UBL, FileRate}, By: Key{Files, BareCopy, FileRate}, AtLeast: true, Bound: 0.7},
		Goal{Text: "2,000 writers in a room with 5,000 streams: p99 of accepted sends < 1 s", Of: Key{Crowd, UBL, P99Seconds}, Bound: 1, Strict: true},
		Goal{Text: "the same, where refused writers come back at once: p99 of accepted sends < 1 s", Of: Key{Crowd, UBLRude, P99Seconds}, Bound: 1, Strict: true})
}

// clusterGoals are those of three nodes.
func clusterGoals() []Goal {
	three := func(clients int, s Subject, m Measure) Key { return Key{ClusterOf(clients), s, m} }
	goals := []Goal{
		{Text: "three nodes, 64 clients: sends/s ≥ 1.5 × etcd's puts/s", Of: three(64, UBLThree, Rate), By: three(64, EtcdThree, Rate), AtLeast: true, Bound: 1.5},
		{Text: "three nodes, 512 clients: sends/s ≥ 1.5 × etcd's puts/s", Of: three(512, UBLThree, Rate), By: three(512, EtcdThree, Rate), AtLeast: true, Bound: 1.5},
		{Text: "three nodes, one client: p50 ≤ 1.5 × etcd's", Of: three(1, UBLThree, P50), By: three(1, EtcdThree, P50), Bound: 1.5},
	}
	for _, of := range []struct {
		subject Subject
		leader  string
	}{{UBLThree, "killed"}, {UBLSilent, "silent"}} {
		goals = append(goals,
			Goal{Text: "leader " + of.leader + ": callers at the others are answered within 1.0 s, the median of all", Of: Key{Failover, of.subject, WaitSeconds}, Bound: 1},
			Goal{Text: "leader " + of.leader + ": callers at the others are answered within 1.5 s, the longest of all", Of: Key{Failover, of.subject, WaitMax}, Bound: 1.5})
	}
	return append(goals, Goal{Text: "three idle nodes: the busiest ≤ 1.5 % of a core", Of: Key{Idle, UBLThree, IdleMax}, Bound: 1.5})
}

// Outcome is what came of a goal: Verdict is "reached", "missed" or
// "not measured". It goes by the medians, and where the goal says so by every
// round; Rounds and In tell how far the single rounds, in which the programs
// ran right after one another, agree.
type Outcome struct {
	Goal     string    `json:"goal"`
	Verdict  string    `json:"verdict"`
	Measured float64   `json:"measured,omitempty"` // the ratio of the medians, or the median where nothing divides it
	Bound    float64   `json:"bound"`
	Rounds   []float64 `json:"rounds,omitempty"`            // the same for each round
	In       int       `json:"reached_in_rounds,omitempty"` // how many of them reach the goal
	Reason   string    `json:"reason,omitempty"`            // why it is not measured, or missed by more than its figure
}

// Judge fills in the outcomes.
func (r *Report) Judge(goals []Goal) {
	r.Goals = nil
	for _, g := range goals {
		r.Goals = append(r.Goals, r.judge(g))
	}
	r.Goals = append(r.Goals, r.Against.judge()...)
}

func (r *Report) judge(g Goal) Outcome {
	out := Outcome{Goal: g.Text, Bound: g.Bound, Verdict: "not measured"}
	of, reason := r.measured(g.Of)
	if reason != "" {
		out.Reason = reason
		return out
	}
	out.Measured, out.Rounds = of.Median, of.Rounds
	if g.Unit != 0 {
		out.Measured, out.Rounds = of.Median/g.Unit, ratios(of.Rounds, slices.Repeat([]float64{g.Unit}, len(of.Rounds)))
	}
	if g.By != (Key{}) {
		by, reason := r.measured(g.By)
		if reason != "" {
			return Outcome{Goal: g.Text, Bound: g.Bound, Verdict: out.Verdict, Reason: reason}
		}
		if by.Min <= 0 {
			return Outcome{Goal: g.Text, Bound: g.Bound, Verdict: out.Verdict, Reason: fmt.Sprintf("%s of %s was nothing, which divides nothing", g.By.Measure, g.By.Subject)}
		}
		out.Measured, out.Rounds = of.Median/by.Median, ratios(of.Rounds, by.Rounds)
	}
	for _, v := range out.Rounds {
		if g.reached(v) {
			out.In++
		}
	}
	out.Verdict = "missed"
	if g.reached(out.Measured) && (!g.Every || out.In == len(out.Rounds)) {
		out.Verdict = "reached"
	}
	return out
}

// ratios divides round by round.
func ratios(of, by []float64) []float64 {
	out := make([]float64, min(len(of), len(by)))
	for i := range out {
		out[i] = of[i] / by[i]
	}
	return out
}

func (g Goal) reached(value float64) bool {
	switch {
	case value == g.Bound:
		return !g.Strict
	case g.AtLeast:
		return value > g.Bound
	default:
		return value < g.Bound
	}
}

// measured returns a figure, or why there is none.
func (r *Report) measured(k Key) (series stats.Series, reason string) {
	if series, ok := r.Find(k); ok {
		return series, ""
	}
	if r.IsMissing(k.Section, k.Subject) {
		return stats.Series{}, fmt.Sprintf("%s was not measured, for the reason below", k.Subject)
	}
	return stats.Series{}, fmt.Sprintf("section %s was not run", k.Section)
}

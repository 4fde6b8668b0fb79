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
}

// Goals lists all goals of the benchmark.
func Goals() []Goal {
	send := func(s Subject, m Measure) Key { return Key{Send, s, m} }
	three := func(clients int, s Subject, m Measure) Key { return Key{ClusterOf(clients), s, m} }
	return append([]Goal{
		{Text: "64 writers: sends/s ≥ 2 × JetStream", Of: send(UBL, Rate), By: send(JetStream, Rate), AtLeast: true, Bound: 2},
		{Text: "64 writers: sends/s ≥ 4 × workerd", Of: send(UBL, Rate), By: send(Workerd, Rate), AtLeast: true, Bound: 4},
		{Text: "64 writers: p99 below JetStream's", Of: send(UBL, P99), By: send(JetStream, P99), Bound: 1, Strict: true},
		{Text: "64 writers: p99 below workerd's", Of: send(UBL, P99), By: send(Workerd, P99), Bound: 1, Strict: true},
		{Text: "64 writers: sends/s ≥ 0.9 × the bare program", Of: send(UBL, Rate), By: send(Bare, Rate), AtLeast: true, Bound: 0.9},
		{Text: "one writer: p50 ≤ 1.3 × the bare program's", Of: Key{One, UBL, P50}, By: Key{One, Bare, P50}, Bound: 1.3},
		{Text: "in process: sends/s ≥ 0.4 × the bare group-commit loop", Of: Key{InProcess, UBL, Rate}, By: Key{InProcess, Loop, Rate}, AtLeast: true, Bound: 0.4},
		{Text: "fan-out: events/s ≥ 0.7 × the bare program", Of: Key{Fanout, UBL, Rate}, By: Key{Fanout, BareFan, Rate}, AtLeast: true, Bound: 0.7},
		{Text: "2,000 writers in a room with 5,000 streams: p99 of accepted sends < 1 s", Of: Key{Crowd, UBL, P99Seconds}, Bound: 1, Strict: true},
		{Text: "the same, where refused writers come back at once: p99 of accepted sends < 1 s", Of: Key{Crowd, UBLRude, P99Seconds}, Bound: 1, Strict: true},
		{Text: "100,000 rooms on disk: ready in < 0.3 s", Of: Key{Start, UBL, ReadySeconds}, Bound: 0.3, Strict: true},
		{Text: "three nodes, 64 clients: sends/s ≥ 1.0 × etcd's puts/s", Of: three(64, UBLThree, Rate), By: three(64, EtcdThree, Rate), AtLeast: true, Bound: 1},
		{Text: "three nodes, 512 clients: sends/s ≥ 1.0 × etcd's puts/s", Of: three(512, UBLThree, Rate), By: three(512, EtcdThree, Rate), AtLeast: true, Bound: 1},
		{Text: "three nodes, one client: p50 ≤ 1.5 × etcd's", Of: three(1, UBLThree, P50), By: three(1, EtcdThree, P50), Bound: 1.5},
		{Text: "leader killed: first acknowledged send after < 2 s, the longest of all kills", Of: Key{Failover, UBLThree, FailoverMax}, Bound: 2, Strict: true},
		{Text: "three idle nodes: the busiest below 5 % of a core", Of: Key{Idle, UBLThree, IdleMax}, Bound: 5, Strict: true},
	}, append(floodGoals(), agentGoals()...)...)
}

// Outcome is what came of a goal: Verdict is "reached", "missed" or
// "not measured". It goes by the medians; Rounds and In tell how far the
// single rounds, in which the programs ran right after one another, agree.
type Outcome struct {
	Goal     string    `json:"goal"`
	Verdict  string    `json:"verdict"`
	Measured float64   `json:"measured,omitempty"` // the ratio of the medians, or the median where nothing divides it
	Bound    float64   `json:"bound"`
	Rounds   []float64 `json:"rounds,omitempty"`            // the same for each round
	In       int       `json:"reached_in_rounds,omitempty"` // how many of them reach the goal
	Reason   string    `json:"reason,omitempty"`            // why it is not measured
}

// Judge fills in the outcomes.
func (r *Report) Judge(goals []Goal) {
	r.Goals = nil
	for _, g := range goals {
		r.Goals = append(r.Goals, r.judge(g))
	}
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
		out.Measured, out.Rounds = of.Median/by.Median, ratios(of.Rounds, by.Rounds)
	}
	out.Verdict = "missed"
	if g.reached(out.Measured) {
		out.Verdict = "reached"
	}
	for _, v := range out.Rounds {
		if g.reached(v) {
			out.In++
		}
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
	if series, ok := r.Find(k); ok && series.Min > 0 {
		return series, ""
	}
	if r.IsMissing(k.Section, k.Subject) {
		return stats.Series{}, fmt.Sprintf("%s was not measured, for the reason below", k.Subject)
	}
	return stats.Series{}, fmt.Sprintf("section %s was not run", k.Section)
}

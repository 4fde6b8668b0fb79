package report

import "fmt"

// Quiet is the server while nobody floods it.
const Quiet Subject = "no flood"

// FloodHere is it while another tenant floods it; a rude flooder doesn't wait for
// Retry-After.
func FloodHere(rude bool) Subject {
	if rude {
		return "flood, ignoring Retry-After"
	}
	return "flood, waiting as told"
}

// FloodElsewhere is it while the same flood goes to another server on the machine.
func FloodElsewhere(rude bool) Subject { return FloodHere(rude) + ", at another server" }

// What a flood got, within the measurement.
const (
	FloodMessages Measure = "flood_messages"
	FloodRooms    Measure = "flood_rooms"
	FloodStreams  Measure = "flood_streams"
	FloodRefused  Measure = "flood_refused"
)

// floodGoals hold a neighbour's latency against the quiet one, and against the same flood
// elsewhere, which takes as much of the machine.
func floodGoals() []Goal {
	var out []Goal
	for _, rude := range []bool{false, true} {
		here := Key{Flood, FloodHere(rude), P99}
		out = append(out,
			Goal{Text: fmt.Sprintf("a neighbour's p99 during a %s ≤ 1.5 × without one", FloodHere(rude)), Of: here, By: Key{Flood, Quiet, P99}, Bound: 1.5},
			Goal{Text: fmt.Sprintf("a neighbour's p99 during a %s ≤ 1.5 × with the same at another server", FloodHere(rude)), Of: here, By: Key{Flood, FloodElsewhere(rude), P99}, Bound: 1.5})
	}
	return out
}

func (r *Report) floodTable() table {
	return table{Flood, "A flood: what other tenants feel of it",
		fmt.Sprintf("One tenant's people send 200 messages a second. Meanwhile a person of another tenant sends messages of 7 kB, makes rooms and opens "+
			"streams as fast as they are let, for %d s, under the default limits. At another server the same flood costs the machine as much, and UBL's neighbours nothing.", r.Settings.Seconds),
		[]Subject{Quiet, FloodHere(false), FloodElsewhere(false), FloodHere(true), FloodElsewhere(true)},
		[]column{{"sends/s", Rate, whole}, {"p50 ms", P50, millis}, {"p99 ms", P99, millis},
			{"flood: messages", FloodMessages, whole}, {"rooms", FloodRooms, whole}, {"streams", FloodStreams, whole}, {"refused", FloodRefused, whole}}}
}

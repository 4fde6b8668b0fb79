package actors_test

import (
	"strings"
	"time"

	"pgregory.net/rapid"

	"ubl"
	"ubl/actors"
	"ubl/test/memstore"
)

// drawStep draws a step. What comes first is what a failed history is made simpler to.
func drawStep(t *rapid.T) (s step) {
	s.Do = rapid.SampledFrom([]string{
		"pass", "do", "pass", "do", "pass", "do", "pass", "do", "pass", "trouble", "trouble", "trouble", "fault", "fault", "ordeal",
		"again", "hand", "reuse", "redrive", "interfere", "interfere", "compare", "reload", "evict", "restart", "kill", "take-over", "do",
	}).Draw(t, "do")
	switch s.Do {
	case "do":
		drawDeeds(t, &s)
	case "pass":
		s.For = time.Duration(rapid.SampledFrom([]int{1, 10, 30, 60, 3600}).Draw(t, "seconds")) * time.Second
	case "reuse":
		s.At, s.Deeds = []int{rapid.IntRange(0, 5).Draw(t, "at")}, make([]deed, 2)
		for n := range s.Deeds {
			s.Deeds[n] = deed{As: "event", Out: &actors.Outbound{Key: "k3"}}
		}
		s.Troubles = map[string]trouble{"outside": {rapid.SampledFrom([]string{"slow", "hang"}).Draw(t, "mode"), rapid.SampledFrom([]string{"x", "xx"}).Draw(t, "times")}}
	case "ordeal": // until what is tried again becomes a dead letter
		drawDeeds(t, &s)
		s.For = 3 * 24 * time.Hour
		place := rapid.SampledFrom([]string{"wake", "hear", "errand", "outside", "deliver", "outside"}).Draw(t, "place")
		mode := rapid.SampledFrom([]string{"panic", "forbidden"}).Draw(t, "mode") // of which neither passes
		if place == "outside" {
			mode = strings.Replace(mode, "forbidden", "unavailable", 1)
			s.Deeds[0].Out = &actors.Outbound{Key: "k2"}
		}
		s.Troubles = map[string]trouble{place: {mode, "*"}}
	case "trouble":
		s.Troubles = make(map[string]trouble)
		for range 3 {
			place := rapid.SampledFrom(places).Draw(t, "place")
			s.Troubles[place] = trouble{rapid.SampledFrom(modes(place)).Draw(t, "mode"), rapid.SampledFrom([]string{"x", "xx", "xxx", ".x", "..x", "x.x"}).Draw(t, "times")}
		}
	case "fault":
		s.N = rapid.IntRange(0, 5).Draw(t, "away")
		s.Fate = memstore.Fate{
			When: rapid.SampledFrom([]memstore.When{memstore.Now, memstore.Never, memstore.Barrier}).Draw(t, "when"),
			Err:  rapid.SampledFrom([]error{memstore.ErrLost, memstore.ErrFull}).Draw(t, "error"),
			Dies: rapid.Bool().Draw(t, "dies"),
		}
	case "interfere":
		s.For = time.Duration(rapid.SampledFrom([]int{-1, 0, 0, 0, 1, 3, 200}).Draw(t, "off")) * time.Millisecond
		fallthrough
	case "again", "hand", "redrive":
		s.N = rapid.IntRange(0, 99).Draw(t, "which")
		s.Flag = rapid.Bool().Draw(t, "changed")
	}
	return s
}

func drawDeeds(t *rapid.T, s *step) {
	s.N = rapid.SampledFrom([]int{1, 9}).Draw(t, "apart")
	one := rapid.Bool().Draw(t, "all at one")
	for n := range rapid.SampledFrom([]int{1, 2, 3}).Draw(t, "deeds") {
		s.At = append(s.At, rapid.IntRange(0, 99).Draw(t, "at"))
		if one {
			s.At[n] = s.At[0]
		}
		s.Deeds = append(s.Deeds, drawDeed(t))
	}
}

// places are where trouble may be.
var places = []string{"decide", "receive", "seat", "answer", "then", "seal", "wake", "errand", "outside", "outside", "ended", "ended", "hear", "deliver"}

// modes are the kinds of trouble that a place can have.
func modes(place string) []string {
	switch place {
	case "receive", "answer", "then", "seal":
		return []string{"panic"}
	case "seat":
		return []string{"forbidden", "unavailable"}
	case "ended": // what the family answers is taken for the other side's where time is over
		return []string{"panic", "unavailable"}
	case "outside":
		return []string{"panic", "forbidden", "unavailable", "hang", "slow", "deaf"}
	}
	return []string{"panic", "forbidden", "unavailable"}
}

func drawDeed(t *rapid.T) (d deed) {
	d.As = rapid.SampledFrom([]string{"event", "event", "item", "passing"}).Draw(t, "as")
	for _, flag := range []*bool{&d.First, &d.Also, &d.Then, &d.Found, &d.Memory} {
		*flag = oneIn(t, 3)
	}
	d.Then = d.Then && d.As != "passing"
	d.Beside = d.As == "event" && oneIn(t, 3)
	d.If = rapid.SampledFrom([]string{"", "", "", "", "0", "0", "1", "-1"}).Draw(t, "if")
	d.Refused, d.Yields = oneIn(t, 8), oneIn(t, 2)
	for n := range rapid.SampledFrom([]int{0, 1, 2}).Draw(t, "alarms") {
		d.Alarms = append(d.Alarms, drawAlarm(t, n))
	}
	if rapid.Bool().Draw(t, "acts outside") {
		d.Out = drawOutbound(t)
	}
	for n := range d.Alarms {
		if alarm := &d.Alarms[n]; alarm.At < 0 && (n > 0 || d.Out != nil) { // else two are due at once
			alarm.At = -alarm.At
		}
	}
	return d
}

func oneIn(t *rapid.T, n int) bool {
	return rapid.SampledFrom(append(make([]bool, n-1), true)).Draw(t, "flag")
}

// drawAlarm draws one that is cleared, or set for after a while or at a time, which may have
// passed. Those of a deed don't meet.
func drawAlarm(t *rapid.T, n int) actors.Alarm {
	alarm := actors.Alarm{Key: rapid.SampledFrom([]string{"r1", "r2", "g1", "n1"}).Draw(t, "key")}
	due := 1000*rapid.SampledFrom([]int{-1, 1, 2, 4, 7, 11, 20, 40}).Draw(t, "due") + 5*n
	switch how := rapid.SampledFrom([]string{"clear", "after", "after", "at", "at"}).Draw(t, "how"); {
	case how == "after" && due > 0:
		alarm.After = time.Duration(due) * time.Millisecond
	case how != "clear":
		alarm.At = ubl.Time(due)
	}
	return alarm
}

func drawOutbound(t *rapid.T) *actors.Outbound {
	out := &actors.Outbound{Key: rapid.SampledFrom([]string{"k0", "k1"}).Draw(t, "key"), Once: rapid.Bool().Draw(t, "once")}
	if rapid.Bool().Draw(t, "has a lease") {
		out.Lease = ubl.Time(1000 * rapid.IntRange(1, 15).Draw(t, "lease"))
	}
	if rapid.Bool().Draw(t, "has a deadline") {
		out.Deadline = ubl.Time(1000 * rapid.IntRange(1, 90).Draw(t, "deadline"))
	}
	return out
}

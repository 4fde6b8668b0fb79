package actors_test

import (
	"fmt"
	"maps"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"ubl"
	"ubl/actors"
	"ubl/test/harness"
)

// model is what alarms of two families should do: when each key is to ring, and how
// often it has.
type model struct {
	*clocks
	at    map[string]map[string]ubl.Time
	rings map[string]map[string]int64
}

// TestAlarmHistories: over random histories of two families, with commits that fail
// before and after they are durable, actors that leave memory, and restarts, each alarm
// rings when it is due, as often as it was set, and the store knows of those alone that
// are armed. Each history has a house of its own, so that one that fails can be shrunk and repeated.
func TestAlarmHistories(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		w := openClocks(t)
		defer w.Close()
		m := &model{clocks: w, at: map[string]map[string]ubl.Time{}, rings: map[string]map[string]int64{}}
		for _, family := range []string{"timer", "far"} {
			for n := range 2 {
				local := fmt.Sprintf("%s:%d", family, n)
				m.at[local], m.rings[local] = map[string]ubl.Time{}, map[string]int64{}
			}
		}
		rt.Repeat(map[string]func(*rapid.T){
			"set": m.change, "pass": m.lapse, "compare": m.check,
			"fault":  func(rt *rapid.T) { m.fault(rt) },
			"reload": func(*rapid.T) { w.Reload() },
			"restart": func(rt *rapid.T) {
				if rapid.IntRange(0, 4).Draw(rt, "often enough") == 0 {
					w.Restart()
				}
			},
		})
		m.settle()
		m.check(rt)
	})
}

func (m *model) locals() []string { return slices.Sorted(maps.Keys(m.at)) }

// change sets and clears some alarms of one actor in one commit. A commit that fails is
// asked again, under the same key.
func (m *model) change(rt *rapid.T) {
	local := rapid.SampledFrom(m.locals()).Draw(rt, "actor")
	now := ubl.TimeOf(m.Clock.Now())
	cmd := set{Request: m.Request(m.ana)}
	for range rapid.IntRange(1, 3).Draw(rt, "alarms") {
		alarm := actors.Alarm{Key: rapid.SampledFrom([]string{"a", "b", "c"}).Draw(rt, "key")}
		if rapid.IntRange(0, 3).Draw(rt, "clears") > 0 {
			alarm.At = now.Add(time.Duration(rapid.IntRange(1, 20).Draw(rt, "seconds")) * time.Second)
		}
		cmd.Alarms = append(cmd.Alarms, alarm)
	}
	_, err := m.Ask(m.t.Context(), m.clocks.at(local), cmd)
	if ubl.CodeOf(err) == ubl.CodeUnavailable {
		_, err = m.Ask(m.t.Context(), m.clocks.at(local), cmd)
	}
	if err != nil {
		rt.Fatal(err)
	}
	for _, alarm := range cmd.Alarms {
		if m.at[local][alarm.Key] = alarm.At; alarm.At == 0 {
			delete(m.at[local], alarm.Key)
		}
	}
}

// fault has the next commit fail.
func (m *model) fault(rt *rapid.T) {
	m.store.next(crashes()[rapid.SampledFrom([]string{"before", "after"}).Draw(rt, "fails")](m.store))
}

// lapse lets time pass.
func (m *model) lapse(rt *rapid.T) {
	m.pass(time.Duration(rapid.IntRange(0, 12).Draw(rt, "seconds")) * time.Second)
	m.ring()
}

func (m *model) ring() {
	now := ubl.TimeOf(m.Clock.Now())
	for local, alarms := range m.at {
		for key, at := range alarms {
			if at <= now {
				m.rings[local][key]++
				delete(alarms, key)
			}
		}
	}
}

// settle lets all ring that are left.
func (m *model) settle() {
	m.pass(time.Minute)
	m.ring()
}

// check compares what actors know and what is stored with the model.
func (m *model) check(rt *rapid.T) {
	var want []string
	for _, local := range m.locals() {
		if got := harness.Must[map[string]int64](m.House, m.clocks.at(local), rung{}); !maps.Equal(got, m.rings[local]) {
			rt.Fatalf("%s rang %v, want %v", local, got, m.rings[local])
		}
		for key, at := range m.at[local] {
			want = append(want, fmt.Sprintf("%q", fmt.Sprintf("i\x01%s\x00%s", local, key)), dueRecord(at, local, key))
		}
	}
	slices.Sort(want)
	if got := m.records(); !slices.Equal(slices.Sorted(slices.Values(got)), want) {
		rt.Fatalf("stored are %q, want %q", got, want)
	}
}

func dueRecord(at ubl.Time, local, key string) string {
	record := []byte{'i', 0}
	for shift := 56; shift >= 0; shift -= 8 {
		record = append(record, byte(at>>shift))
	}
	return fmt.Sprintf("%q", append(append(append(record, local...), 0), key...))
}

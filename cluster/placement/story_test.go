package placement_test

import (
	"errors"
	"slices"
	"testing"
)

// What happens in one partition, step by step. Each story begins with servers
// that have settled, changes something, and tells what is done about it.
func TestStories(t *testing.T) {
	for _, story := range []struct {
		name    string
		members []string
		then    func(w *world)
		done    []string
		voters  []string
	}{
		{
			name:    "growing from one to three: learner first, caught up, then voter",
			members: []string{"a@1"},
			then:    func(w *world) { w.join("b@1", "c@1") },
			done: []string{
				"0: open b@1", "0: learner b@1", "0: promote b@1",
				"0: open c@1", "0: learner c@1", "0: promote c@1",
			},
			voters: []string{"a@1", "b@1", "c@1"},
		},
		{
			name:    "two nodes have two voters",
			members: []string{"a@1"},
			then:    func(w *world) { w.join("b@1") },
			done:    []string{"0: open b@1", "0: learner b@1", "0: promote b@1"},
			voters:  []string{"a@1", "b@1"},
		},
		{
			name:    "growing beyond three moves nothing in a single partition",
			members: []string{"a@1", "b@1", "c@1"},
			then:    func(w *world) { w.join("d@1", "e@1") },
			voters:  []string{"a@1", "b@1", "c@1"},
		},
		{
			name:    "a dead node without a spare keeps its place",
			members: []string{"a@1", "b@1", "c@1"},
			then:    func(w *world) { w.kill("c@1"); w.gracePasses() },
			voters:  []string{"a@1", "b@1", "c@1"},
		},
		{
			name:    "a dead node with a spare keeps its place for the grace period",
			members: []string{"a@1", "b@1", "c@1", "d@1"},
			then:    func(w *world) { w.kill("c@1") },
			voters:  []string{"a@1", "b@1", "c@1"},
		},
		{
			name:    "a node that is dead for long is replaced, and removed only then",
			members: []string{"a@1", "b@1", "c@1", "d@1"},
			then:    func(w *world) { w.kill("c@1"); w.gracePasses() },
			done:    []string{"0: open d@1", "0: learner d@1", "0: promote d@1", "0: remove c@1"},
			voters:  []string{"a@1", "b@1", "d@1"},
		},
		{
			name:    "a node that was replaced and returns closes its replica",
			members: []string{"a@1", "b@1", "c@1", "d@1"},
			then: func(w *world) {
				w.kill("c@1")
				w.gracePasses()
				w.settle()
				w.revive("c@1")
			},
			done:   []string{"0: close c@1"},
			voters: []string{"a@1", "b@1", "d@1"},
		},
		{
			name:    "a spare that dies while it catches up leaves the dead voter its place",
			members: []string{"a@1", "b@1", "c@1", "d@1"},
			then: func(w *world) {
				w.kill("c@1")
				w.gracePasses()
				w.round()
				w.round()
				w.kill("d@1")
				w.gracePasses()
			},
			done:   []string{"0: remove d@1"},
			voters: []string{"a@1", "b@1", "c@1"},
		},
		{
			name:    "a wiped disk returns as another server: the old one goes first, its successor has its place",
			members: []string{"a@1", "b@1", "c@1"},
			then:    func(w *world) { w.wipe("c@1"); w.join("c@2") },
			done:    []string{"0: remove c@1", "0: open c@2", "0: learner c@2", "0: promote c@2"},
			voters:  []string{"a@1", "b@1", "c@2"},
		},
		{
			name:    "a wiped disk returns while another is down: all waits",
			members: []string{"a@1", "b@1", "c@1", "d@1"},
			then: func(w *world) {
				w.wipe("c@1")
				w.join("c@2")
				w.kill("b@1")
				w.gracePasses()
			},
			voters: []string{"a@1", "b@1", "c@1"},
		},
		{
			name:    "... until that one is back",
			members: []string{"a@1", "b@1", "c@1", "d@1"},
			then: func(w *world) {
				w.wipe("c@1")
				w.join("c@2")
				w.kill("b@1")
				w.gracePasses()
				w.settle()
				w.revive("b@1")
			},
			done:   []string{"0: remove c@1", "0: open c@2", "0: learner c@2", "0: promote c@2"},
			voters: []string{"a@1", "b@1", "c@2"},
		},
		{
			name:    "a node leaves three: the partition shrinks",
			members: []string{"a@1", "b@1", "c@1"},
			then:    func(w *world) { must(w, w.leave("c")) },
			done:    []string{"0: remove c@1", "0: close c@1"},
			voters:  []string{"a@1", "b@1"},
		},
		{
			name:    "a node leaves five: another takes its place first",
			members: []string{"a@1", "b@1", "c@1", "d@1", "e@1"},
			then:    func(w *world) { must(w, w.leave("c")) },
			done:    []string{"0: open d@1", "0: learner d@1", "0: promote d@1", "0: remove c@1", "0: close c@1"},
			voters:  []string{"a@1", "b@1", "d@1"},
		},
		{
			name:    "the leader's node leaves: it hands over before anything else",
			members: []string{"a@1", "b@1", "c@1"},
			then:    func(w *world) { must(w, w.leave("a")) },
			done:    []string{"0: transfer b@1", "0: remove a@1", "0: close a@1"},
			voters:  []string{"b@1", "c@1"},
		},
		{
			name:    "a node can't leave while the rest would have no majority",
			members: []string{"a@1", "b@1", "c@1"},
			then:    func(w *world) { w.kill("b@1"); w.gracePasses(); must(w, w.leave("c")) },
			voters:  []string{"a@1", "b@1", "c@1"},
		},
		{
			name:    "a dead node is removed by the operator",
			members: []string{"a@1", "b@1", "c@1"},
			then:    func(w *world) { w.kill("c@1"); must(w, w.leave("c")) },
			done:    []string{"0: remove c@1"},
			voters:  []string{"a@1", "b@1"},
		},
		{
			name:    "a learner that lags isn't promoted",
			members: []string{"a@1"},
			then:    func(w *world) { w.pace = func() uint64 { return 1 }; w.join("b@1") },
			done:    []string{"0: open b@1", "0: learner b@1"},
			voters:  []string{"a@1"},
		},
		{
			name:    "two dead of three: nothing",
			members: []string{"a@1", "b@1", "c@1", "d@1", "e@1"},
			then:    func(w *world) { w.kill("b@1", "c@1"); w.gracePasses() },
			voters:  []string{"a@1", "b@1", "c@1"},
		},
		{
			name:    "all three voters leave: one comes for each that goes",
			members: []string{"a@1", "b@1", "c@1", "d@1", "e@1", "f@1"},
			then:    func(w *world) { must(w, w.leave("a"), w.leave("b"), w.leave("c")) },
			done: []string{
				"0: open d@1", "0: learner d@1", "0: promote d@1", "0: transfer d@1", "0: remove a@1", "0: close a@1",
				"0: open e@1", "0: learner e@1", "0: promote e@1", "0: remove b@1", "0: close b@1",
				"0: open f@1", "0: learner f@1", "0: promote f@1", "0: remove c@1", "0: close c@1",
			},
			voters: []string{"d@1", "e@1", "f@1"},
		},
	} {
		t.Run(story.name, func(t *testing.T) {
			w := found(t, 1, story.members[0])
			w.join(story.members[1:]...)
			w.settle()
			w.log = nil
			story.then(w)
			if done := w.settle(); !slices.Equal(done, story.done) {
				t.Errorf("done:\n%q\nwant:\n%q", done, story.done)
			}
			if got := w.groups[0].voters; !slices.Equal(got, story.voters) {
				t.Errorf("voters %v, want %v", got, story.voters)
			}
		})
	}
}

func must(w *world, errs ...error) {
	w.t.Helper()
	if err := errors.Join(errs...); err != nil {
		w.t.Fatal(err)
	}
}

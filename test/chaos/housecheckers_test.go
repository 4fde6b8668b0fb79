//go:build linux

package chaos

import (
	"fmt"
	"maps"
	"slices"
	"testing"

	"ubl"
)

// shelved is a workspace of two documents, of which the second was deleted, as
// it should be, and what its clients know.
func shelved() (*shelf, map[string]*wording, map[string]*book) {
	tried, books := make(map[string]*wording), make(map[string]*book)
	s := &shelf{versions: make(map[string][]version), newest: make(map[string]*version)}
	for _, id := range []string{"d:1", "d:2"} {
		b := &book{id: id, acked: make(map[int64]version), seen: make(map[int64]string)}
		for n := int64(1); n <= 3; n++ {
			text := fmt.Sprint(id, " ", n)
			v := version{DocumentID: id, Content: text, Version: n, Salt: ubl.Salt{byte(n)}}
			v.ContentHash = v.Salt.CommitText("content", text)
			tried[v.ContentHash] = &wording{word: text}
			b.acked[n], b.seen[n] = v, v.ContentHash
			newest := v
			s.newest[id], v.Content = &newest, ""
			s.versions[id] = append(s.versions[id], v)
		}
		books[id] = b
	}
	s.listed = s.versions["d:1"][2:]
	s.versions["d:2"], s.newest["d:2"], books["d:2"].doomed, books["d:2"].deleted = nil, nil, 1, true
	return s, tried, books
}

// TestDocumentCheckersFail: each check of documents holds on a good workspace
// and fails on each kind of bad one.
func TestDocumentCheckersFail(t *testing.T) {
	for name, c := range map[string]struct {
		fails bool
		spoil func(s *shelf, tried map[string]*wording, books map[string]*book)
	}{
		"good":                 {false, func(*shelf, map[string]*wording, map[string]*book) {}},
		"nothing acknowledged": {false, func(_ *shelf, _ map[string]*wording, books map[string]*book) { clear(books) }},
		"a lost version": {true, func(s *shelf, _ map[string]*wording, _ map[string]*book) {
			s.versions["d:1"] = s.versions["d:1"][:2]
		}},
		"a gap": {true, func(s *shelf, _ map[string]*wording, books map[string]*book) {
			clear(books)
			s.versions["d:1"] = slices.Delete(slices.Clone(s.versions["d:1"]), 1, 2)
		}},
		"a doubled version": {true, func(s *shelf, _ map[string]*wording, _ map[string]*book) {
			again := s.versions["d:1"][2]
			again.Version = 4
			s.versions["d:1"] = append(s.versions["d:1"], again)
			s.listed, s.newest["d:1"] = []version{again}, &again
		}},
		"a text of nobody": {true, func(s *shelf, tried map[string]*wording, _ map[string]*book) {
			delete(tried, s.versions["d:1"][1].ContentHash)
		}},
		"a refused text": {true, func(s *shelf, tried map[string]*wording, _ map[string]*book) {
			tried[s.versions["d:1"][1].ContentHash].refused = true
		}},
		"an old list": {true, func(s *shelf, _ map[string]*wording, _ map[string]*book) { s.listed = s.versions["d:1"][1:2] }},
		"an old get": {true, func(s *shelf, _ map[string]*wording, books map[string]*book) {
			old := books["d:1"].acked[2]
			s.newest["d:1"] = &old
		}},
		"a text unlike its hash": {true, func(s *shelf, _ map[string]*wording, _ map[string]*book) { s.newest["d:1"].Content = "x" }},
		"a lost document":        {true, func(s *shelf, _ map[string]*wording, _ map[string]*book) { s.listed, s.newest["d:1"] = nil, nil }},
		"a document come back": {true, func(s *shelf, _ map[string]*wording, books map[string]*book) {
			s.listed = append(s.listed, books["d:2"].acked[3])
		}},
		"a version of what was deleted": {true, func(s *shelf, _ map[string]*wording, books map[string]*book) {
			s.versions["d:2"] = []version{books["d:2"].acked[1]}
		}},
		"another receipt": {true, func(s *shelf, _ map[string]*wording, _ map[string]*book) { s.versions["d:1"][0].Receipt.Seq++ }},
		"seen and another": {true, func(_ *shelf, _ map[string]*wording, books map[string]*book) {
			clear(books["d:1"].acked)
			books["d:1"].seen[2] = "b:x"
		}},
	} {
		s, tried, books := shelved()
		c.spoil(s, tried, books)
		verdict(t, name, c.fails, append(checkVersions(tried, s), checkBooks(books, s)...))
	}
	s, _, _ := shelved()
	verdict(t, "found", false, checkFound("x", s.listed, s.listed))
	verdict(t, "not found", true, checkFound("x", nil, s.listed))
	verdict(t, "found too much", true, checkFound("x", s.listed, nil))
	verdict(t, "found twice", true, checkFound("x", append(s.listed, s.listed...), s.listed))
	verdict(t, "an old version found", true, checkFound("x", s.versions["d:1"][1:2], s.listed))
}

// act is an action of credits, with its effect behind it.
func act(did, status string, this matter) []atom {
	var pair [2]atom
	cid := fmt.Sprint(did, this)
	pair[0].Atom.Kind, pair[0].Atom.Did, pair[0].Atom.Status, pair[0].Atom.CID, pair[0].Atom.This = "action.v1", did, status, cid, this
	pair[1].Atom.Kind, pair[1].Atom.RefActionCID, pair[1].Atom.Outcome = "effect.v1", cid, "ok"
	if status == "denied" {
		pair[1].Atom.Outcome = "error"
	}
	return pair[:]
}

// paidOut is a ledger in which 100 credits are issued, 30 arrive at k:b, and 5
// come back; with what the wallets hold and what clients were told.
func paidOut() ([]atom, map[string]int64, map[int64]*payment) {
	go30, go5 := matter{Amount: 30, From: "k:a", To: "k:b", TransferID: "x:1"}, matter{Amount: 5, From: "k:a", To: "w:general", TransferID: "x:2"}
	first, second := act("container.transfer", "intended", go30), act("container.transfer", "intended", go5)
	second[1].Atom.Outcome = "error"
	atoms := slices.Concat(act("credits.issue", "executed", matter{Amount: 100, ContainerID: "k:a"}),
		first[:1], act("container.receive", "executed", go30), first[1:],
		second[:1], act("container.receive", "denied", go5), second[1:])
	for i := range atoms {
		atoms[i].Seq = int64(i + 1)
	}
	return atoms, map[string]int64{"k:a": 70, "k:b": 30}, map[int64]*payment{
		100: {to: "k:a", amount: 100, done: true, seq: 1},
		30:  {from: "k:a", to: "k:b", amount: 30, done: true, transfer: "x:1", seq: 3},
		5:   {from: "k:a", to: "w:general", amount: 5, back: true},
		7:   {from: "k:b", to: "k:a", amount: 7, refused: true},
	}
}

// TestAccountCheckersFail: the checks of credits hold on a good ledger and fail
// on each kind of bad one.
func TestAccountCheckersFail(t *testing.T) {
	without := func(atoms []atom, from, to int) []atom { return slices.Delete(slices.Clone(atoms), from, to) }
	atoms, held, tried := paidOut()
	check := func(name string, fails bool, atoms []atom, held map[string]int64, tried map[int64]*payment) {
		t.Helper()
		verdict(t, name, fails, append(checkAccounts(keepAccounts(atoms), held, tried), checkEffects(atoms)...))
	}
	told := func(amount int64, p payment) map[int64]*payment {
		out := maps.Clone(tried)
		out[amount] = &p
		return out
	}
	check("good", false, atoms, held, tried)
	check("nobody was told", false, atoms, held, told(30, payment{from: "k:a", to: "k:b", amount: 30}))
	check("a transfer that never arrived", true, without(atoms, 3, 5), held, tried)
	check("one that is under way", true, without(atoms, 5, 6), held, tried)
	check("one that arrives twice", true, slices.Insert(slices.Clone(atoms), 5, atoms[3:5]...), map[string]int64{"k:a": 70, "k:b": 60}, tried)
	check("one that never left", true, without(atoms, 2, 3), map[string]int64{"k:a": 100, "k:b": 30}, tried)
	check("one that is lost", true, without(atoms, 2, 6), map[string]int64{"k:a": 100, "k:b": 0}, tried)
	check("issued twice", true, slices.Concat(atoms[:2], atoms), map[string]int64{"k:a": 170, "k:b": 30}, tried)
	check("less than nothing", true, atoms[2:], map[string]int64{"k:a": -30, "k:b": 30}, tried)
	check("a wrong balance", true, atoms, map[string]int64{"k:a": 71, "k:b": 30}, tried)
	check("refused, and made", true, atoms, held, told(30, payment{from: "k:a", to: "k:b", amount: 30, refused: true}))
	check("done, and not made", true, atoms, held, told(7, payment{from: "k:b", to: "k:a", amount: 7, done: true}))
	check("another receipt", true, atoms, held, told(30, payment{from: "k:a", to: "k:b", amount: 30, done: true, transfer: "x:1", seq: 9}))
	check("of nobody", true, atoms, held, map[int64]*payment{100: tried[100], 5: tried[5]})
	check("two effects", true, append(slices.Clone(atoms), atoms[1]), held, tried)
}

// TestOutsideCheckerFails: the check of calls to the outside holds on a good
// ledger and fails on each kind of bad one.
func TestOutsideCheckerFails(t *testing.T) {
	begun := func(n int, outcome string) []atom {
		pair := act("portal.call", "intended", matter{})
		pair[0].Atom.Session, pair[1].Atom.Outcome = "s:"+noteKey(n), outcome
		return pair
	}
	one, done := map[int]int{1: 1}, map[int]*errand{1: {done: true}}
	verdict(t, "done", false, checkOutside(begun(1, "ok"), one, done))
	verdict(t, "begun", false, checkOutside(begun(1, "error"), one, map[int]*errand{1: {}}))
	verdict(t, "begun, and it never came here", false, checkOutside(begun(1, "error"), nil, map[int]*errand{1: {}}))
	verdict(t, "made twice", true, checkOutside(begun(1, "ok"), map[int]int{1: 2}, done))
	verdict(t, "twice in the ledger", true, checkOutside(slices.Concat(begun(1, "ok"), begun(1, "ok")), one, done))
	verdict(t, "not in the ledger", true, checkOutside(nil, one, nil))
	verdict(t, "done, and ended otherwise", true, checkOutside(begun(1, "error"), one, done))
	verdict(t, "well, and it never came here", true, checkOutside(begun(1, "ok"), nil, done))
}

// visited is a ledger in which a counter comes to 1, of which the hook hears, to 3, and back to
// nothing; with what clients were told and what the hook heard.
func visited() ([]atom, map[int64]*addition, *hook) {
	added := func(value int64) []atom {
		pair := act("counter.add", "executed", matter{CounterID: "n:a", Value: value})
		pair[1].Atom.Effects = []countChange{{Op: "counter.add", CounterID: "n:a", Value: value}}
		return pair
	}
	call, back := act("counter.call", "intended", matter{CounterID: "n:a", Value: 1}), act("counter.reset", "executed", matter{CounterID: "n:a"})
	back[1].Atom.Effects = []countChange{{Op: "counter.reset", CounterID: "n:a"}}
	atoms := slices.Concat(added(1), call[:1], added(3), call[1:], back)
	h := newHook()
	h.heard[call[0].Atom.CID] = `{"counter_id":"n:a","value":1}`
	return atoms, map[int64]*addition{
		1: {counter: "n:a", by: 1, calls: true, done: true, value: 1},
		2: {counter: "n:a", by: 2, resets: true, done: true, value: 3},
		3: {counter: "n:a", by: 3},
	}, h
}

// TestCounterCheckersFail: the checks of counters hold on a good ledger and fail on each kind
// of bad one.
func TestCounterCheckersFail(t *testing.T) {
	atoms, tried, h := visited()
	without := func(from, to int) []atom { return slices.Delete(slices.Clone(atoms), from, to) }
	check := func(name string, fails bool, atoms []atom, tried map[int64]*addition, h *hook) {
		t.Helper()
		k := tallyCounters(atoms, tried)
		verdict(t, name, fails, append(checkCounters(k, tried), h.check(k.calls)...))
	}
	told := func(by int64, a addition) map[int64]*addition {
		out := maps.Clone(tried)
		out[by] = &a
		return out
	}
	heard := func(key, said string) *hook {
		other := newHook()
		maps.Copy(other.heard, h.heard)
		other.heard[key] = said
		return other
	}
	cid := atoms[2].Atom.CID
	check("good", false, atoms, tried, h)
	check("nobody was told", false, atoms, told(2, addition{counter: "n:a", by: 2, resets: true}), h)
	check("done, and not made", true, atoms, told(3, addition{counter: "n:a", by: 3, done: true, value: 6}), h)
	check("told otherwise", true, atoms, told(2, addition{counter: "n:a", by: 2, resets: true, done: true, value: 5}), h)
	check("added twice", true, slices.Insert(without(7, 8), 5, func() (again []atom) {
		again = slices.Clone(atoms[3:5])
		again[1].Atom.Effects = []countChange{{Op: "counter.add", CounterID: "n:a", Value: 5}}
		return again
	}()...), tried, h)
	check("of nobody", true, atoms, map[int64]*addition{1: tried[1]}, h)
	check("never back", true, without(6, 8), tried, h)
	check("back, and nobody wanted it", true, atoms, told(2, addition{counter: "n:a", by: 2, done: true, value: 3}), h)
	check("back twice", true, slices.Concat(atoms, atoms[6:]), tried, h)
	check("no intent", true, append(without(5, 6)[:2:2], without(5, 6)[3:]...), tried, newHook())
	check("an intent of nobody", true, atoms, told(1, addition{counter: "n:a", by: 1, done: true, value: 1}), h)
	check("a call without effect", true, without(5, 6), tried, h)
	check("a call that failed", true, func() []atom {
		failed := slices.Clone(atoms)
		failed[5].Atom.Outcome = "error"
		return failed
	}(), tried, h)
	check("never called", true, atoms, tried, newHook())
	check("called with something else", true, atoms, tried, heard(cid, `{"counter_id":"n:a","value":2}`))
	check("called, and not on record", true, atoms, tried, heard("c:other", `{"counter_id":"n:a","value":1}`))
	changes := tallyCounters(atoms, tried).told
	verdict(t, "told", false, checkTold(slices.Clone(changes), changes))
	verdict(t, "not told", true, checkTold(changes[:2], changes))
	verdict(t, "told twice", true, checkTold(append(changes[:1:1], changes...), changes))
	verdict(t, "told in another order", true, checkTold([]string{changes[1], changes[0], changes[2]}, changes))
}

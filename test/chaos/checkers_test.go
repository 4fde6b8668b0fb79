//go:build linux

package chaos

import (
	"fmt"
	"slices"
	"testing"

	"github.com/anishathalye/porcupine"
)

// stored is a room of n messages as it should be.
func stored(n int) []message {
	out := make([]message, n)
	for i := range out {
		out[i].RoomSeq, out[i].MsgID = int64(i+1), fmt.Sprintf("m:%d", i+1)
		out[i].Text = fmt.Sprintf("text %d", i+1)
		out[i].Receipt.Seq = int64(2*i + 1)
	}
	return out
}

// with is a room with one message changed.
func with(room []message, i int, change func(*message)) []message {
	room = slices.Clone(room)
	change(&room[i])
	return room
}

// verdict wants a checker to hold where it should and fail where it should.
func verdict(t *testing.T, name string, fails bool, wrong []string) {
	t.Helper()
	if fails != (len(wrong) > 0) {
		t.Errorf("%s: wrong is %q, failing should be %v", name, wrong, fails)
	}
}

// TestCheckersFail: each check holds on a good history and fails on each kind
// of bad one.
func TestCheckersFail(t *testing.T) {
	good := stored(6)
	greeted := with(with(good, 2, func(m *message) { m.Text = "u:bo joined" }), 4, func(m *message) { m.Text = "u:bo joined" })
	verdict(t, "once", false, checkOnce(good))
	verdict(t, "greeted twice", false, checkOnce(greeted))
	again := with(with(good, 1, func(m *message) { m.Text = "added u:bo" }), 3, func(m *message) { m.Text = "added u:bo" })
	verdict(t, "added twice", false, checkOnce(again))
	verdict(t, "a gap", true, checkOnce(slices.Delete(slices.Clone(good), 2, 3)))
	verdict(t, "a doubled message", true, checkOnce(with(good, 4, func(m *message) { m.Text = "text 2" })))
	verdict(t, "a doubled id", true, checkOnce(with(good, 4, func(m *message) { m.MsgID = "m:2" })))
	verdict(t, "receipts out of order", true, checkOnce(with(good, 4, func(m *message) { m.Receipt.Seq = 1 })))

	acked := map[string]message{"text 3": good[2]}
	verdict(t, "acknowledged", false, checkAcknowledged(acked, good))
	verdict(t, "lost", true, checkAcknowledged(acked, good[:2]))
	verdict(t, "changed", true, checkAcknowledged(acked, with(good, 2, func(m *message) { m.Receipt.HeadHash = "h:other" })))

	verdict(t, "seen", false, checkSeen(map[int64]string{6: "m:6"}, good))
	verdict(t, "seen and gone", true, checkSeen(map[int64]string{7: "m:7"}, good))
	verdict(t, "seen and another", true, checkSeen(map[int64]string{3: "m:x"}, good))

	verdict(t, "a whole stream", false, checkStream(good, good, nil, true))
	verdict(t, "a stream from the middle", false, checkStream(good[2:], good, nil, false))
	verdict(t, "a stream without its beginning", true, checkStream(good[2:], good, nil, true))
	verdict(t, "a stream without its end", true, checkStream(good[:5], good, nil, true))
	verdict(t, "a stream with a hole", true, checkStream(slices.Delete(slices.Clone(good), 2, 3), good, nil, true))
	verdict(t, "a stream with a double", true, checkStream(slices.Insert(slices.Clone(good), 2, good[2]), good, nil, true))
	verdict(t, "a stream out of order", true, checkStream([]message{good[0], good[2], good[1], good[3], good[4], good[5]}, good, nil, true))
	verdict(t, "a stream with a gap", true, checkStream(good, good, []string{"{}"}, true))
	verdict(t, "an empty stream", true, checkStream(nil, good, nil, false))

	twice, in := map[string]int{"u:bo": 2}, map[string]bool{"u:bo": true}
	verdict(t, "members", false, checkMembers(twice, in, greeted, []string{"u:bo"}))
	verdict(t, "greeted too often", true, checkMembers(map[string]int{"u:bo": 1}, in, greeted, []string{"u:bo"}))
	verdict(t, "a lost member", true, checkMembers(twice, in, greeted, nil))
	verdict(t, "a member come back", true, checkMembers(twice, nil, greeted, []string{"u:bo"}))

	verdict(t, "equal", false, checkEqual("a hash", map[string]string{"n1": "x", "n2": "x"}))
	verdict(t, "not equal", true, checkEqual("a hash", map[string]string{"n1": "x", "n2": "y"}))
}

// TestLinearizabilityFails: porcupine refuses what one room can't have answered.
func TestLinearizabilityFails(t *testing.T) {
	final := stored(3)
	send := func(i int, call, end int64, out any) porcupine.Operation {
		return porcupine.Operation{Input: opSend{text: final[i-1].Text}, Call: call, Return: end, Output: out}
	}
	read := func(i int, call, end int64) porcupine.Operation {
		return porcupine.Operation{ClientId: 1, Input: opTail{}, Call: call, Return: end, Output: tail{int64(i), final[i-1].Text}}
	}
	head := func(i int, call, end int64) porcupine.Operation {
		return porcupine.Operation{ClientId: 2, Input: opHead{}, Call: call, Return: end, Output: int64(i)}
	}
	unknown := send(2, 20, never, nil)
	pair := porcupine.Operation{Input: opSend{final[0].Text, final[1].Text}, Call: 0, Return: 30, Output: int64(1)}
	for name, c := range map[string]struct {
		fails bool
		ops   []porcupine.Operation
		final []message
	}{
		"two in a commit":               {false, []porcupine.Operation{pair, read(2, 31, 32), head(2, 33, 34)}, final},
		"one of two in a commit":        {true, []porcupine.Operation{pair, read(1, 31, 32)}, final},
		"in order":                      {false, []porcupine.Operation{send(1, 0, 10, int64(1)), read(1, 11, 12), send(2, 20, 30, int64(2)), head(2, 31, 32)}, final},
		"a read meanwhile":              {false, []porcupine.Operation{send(1, 0, 10, int64(1)), send(2, 20, 30, int64(2)), read(1, 25, 26)}, final},
		"unknown, and it happened late": {false, []porcupine.Operation{send(1, 0, 10, int64(1)), unknown, read(1, 30, 40), read(2, 90, 91)}, final[:2]},
		"unknown, and it never did":     {false, []porcupine.Operation{send(1, 0, 10, int64(1)), unknown, read(1, 30, 40)}, final[:1]},
		"a stale read":                  {true, []porcupine.Operation{send(1, 0, 10, int64(1)), send(2, 20, 30, int64(2)), read(1, 31, 40)}, final},
		"a stale head":                  {true, []porcupine.Operation{send(1, 0, 10, int64(1)), send(2, 20, 30, int64(2)), head(1, 31, 40)}, final},
		"a read of the future":          {true, []porcupine.Operation{send(1, 0, 10, int64(1)), head(2, 11, 12), send(2, 20, 30, int64(2))}, final},
		"one place for two":             {true, []porcupine.Operation{send(1, 0, 10, int64(1)), send(2, 20, 30, int64(1))}, final},
		"back in time":                  {true, []porcupine.Operation{send(1, 0, 10, int64(1)), unknown, read(2, 30, 40), read(1, 50, 60)}, final[:2]},
	} {
		verdict(t, name, c.fails, checkLinearizable(c.ops, c.final))
	}
}

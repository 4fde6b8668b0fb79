//go:build linux

package chaos

import (
	"fmt"
	"math"
	"time"

	"github.com/anishathalye/porcupine"
)

// Operations of the model of one room.
type (
	// opSend appends a message, and behind it in one commit another; it gives the
	// room_seq of the first.
	opSend struct{ text, then string }
	// opTail reads the newest entry; it gives a tail.
	opTail struct{}
	// opHead reads the newest room_seq.
	opHead struct{}
)

// tail is a room as the model knows it: its newest entry.
type tail struct {
	seq  int64
	text string
}

// roomModel: a send takes the next room_seq, a read sees the newest entry.
var roomModel = porcupine.Model{
	Init: func() any { return tail{} },
	Step: func(state, input, output any) (bool, any) {
		s := state.(tail)
		switch in := input.(type) {
		case opSend:
			seq := output.(int64)
			if in.then != "" {
				return seq == s.seq+1, tail{seq + 1, in.then}
			}
			return seq == s.seq+1, tail{seq, in.text}
		case opTail:
			return output.(tail) == s, s
		case opHead:
			return output.(int64) == s.seq, s
		}
		return false, state
	},
	Equal:             func(a, b any) bool { return a == b },
	DescribeOperation: func(in, out any) string { return fmt.Sprintf("%+v → %+v", in, out) },
}

// never is when an operation ended whose outcome nobody learned: it may take
// effect at any time after its call.
const never = math.MaxInt64

// settle turns the operations of unknown outcome into known ones: what is
// stored at the end happened, and the k-th of the same text was the k-th; what
// isn't stored did not happen.
func settle(ops []porcupine.Operation, final []message) []porcupine.Operation {
	stored := make(map[string][]int64)
	for _, m := range final {
		stored[m.Text] = append(stored[m.Text], m.RoomSeq)
	}
	var out []porcupine.Operation
	for _, op := range ops {
		send, isSend := op.Input.(opSend)
		if !isSend || op.Output != nil {
			out = append(out, op)
			continue
		}
		if seqs := stored[send.text]; len(seqs) > 0 {
			op.Output, stored[send.text] = seqs[0], seqs[1:]
			out = append(out, op)
		}
	}
	return out
}

// checkLinearizable wants an order of the operations, none before its call or
// after its return, that one room would give.
func checkLinearizable(ops []porcupine.Operation, final []message) []string {
	result := porcupine.CheckOperationsTimeout(roomModel, settle(ops, final), 2*time.Minute)
	if result == porcupine.Ok {
		return nil
	}
	return []string{fmt.Sprintf("the history of %d operations: %s", len(ops), result)}
}

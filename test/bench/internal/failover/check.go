package failover

import (
	"errors"
	"fmt"
)

// Entry is a message as a room's history has it.
type Entry struct {
	Seq  uint64
	Text string
}

// Check holds a room's whole history against what was acknowledged: no
// room_seq is missing or comes twice, no text comes twice, and every
// acknowledged send is there at the room_seq that was told. Texts that no
// writer made must still have a place in the sequence; history is oldest
// first.
func Check(history []Entry, acks []Ack) error {
	if len(history) == 0 {
		return errors.New("the room has no history")
	}
	at := make(map[string]uint64, len(history))
	for i, e := range history {
		if e.Seq != uint64(i)+1 {
			return fmt.Errorf("room_seq %d stands where %d should", e.Seq, i+1)
		}
		if first, twice := at[e.Text]; twice {
			return fmt.Errorf("message %q is there twice, at room_seq %d and %d", e.Text, first, e.Seq)
		}
		at[e.Text] = e.Seq
	}
	for _, ack := range acks {
		switch seq, there := at[ack.Key]; {
		case !there:
			return fmt.Errorf("send %s was acknowledged as room_seq %d and is lost", ack.Key, ack.Seq)
		case seq != ack.Seq:
			return fmt.Errorf("send %s was acknowledged as room_seq %d and is at %d", ack.Key, ack.Seq, seq)
		}
	}
	return nil
}

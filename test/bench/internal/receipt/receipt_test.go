package receipt

import (
	"encoding/json"
	"testing"
	"time"
)

// The vectors are the ones UBL's ledger format publishes.
func TestVectors(t *testing.T) {
	body, err := BodyHash([]byte(`{ "text" : "hello" }`))
	if want := "b:cbbbdcd27692344de5dbab3abcaba413fb0f45307267de7081401576df1cb176"; err != nil || body != want {
		t.Errorf("BodyHash = %s, %v, want %s", body, err, want)
	}
	cid, err := atomID(json.RawMessage(`{"a":1}`))
	if want := "c:015abd7f5cc57a2dd94b7590f04ad8084273905ee33ec5cebeae62276a97f862"; err != nil || cid != want {
		t.Errorf("atomID = %s, %v, want %s", cid, err, want)
	}
	if got, want := nextHead(Genesis, cid), "h:50e4b87d2858b825114eb6c1b4fe63ade2f1419dd5ceb2285ffa43dbfd13b171"; got != want {
		t.Errorf("nextHead = %s, want %s", got, want)
	}
}

func TestAppendLinksAtoms(t *testing.T) {
	c := NewChain(time.Now)
	head := Genesis
	for i := uint64(1); i <= 3; i++ {
		e, err := c.Append("text", []byte(`{"text":"hello"}`), "b:00")
		if err != nil {
			t.Fatal(err)
		}
		var a Action
		var f Effect
		if err := json.Unmarshal(e.Action, &a); err != nil {
			t.Fatal(err)
		}
		if err := json.Unmarshal(e.Effect, &f); err != nil {
			t.Fatal(err)
		}
		if e.RoomSeq != i || e.Seq != 2*i-1 {
			t.Errorf("send %d has room_seq %d and seq %d", i, e.RoomSeq, e.Seq)
		}
		if a.PrevHash != head || f.PrevHash != nextHead(head, a.CID) || f.RefActionCID != a.CID {
			t.Errorf("send %d does not link to %s", i, head)
		}
		head = nextHead(f.PrevHash, f.CID)
		if e.Head != head {
			t.Errorf("send %d ends at %s, want %s", i, e.Head, head)
		}
	}
}

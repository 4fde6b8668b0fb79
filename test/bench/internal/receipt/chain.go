package receipt

import (
	"crypto/rand"
	"encoding/json"
	"fmt"
	"time"
)

// Where the one room of the benchmark lives. UBL derives the same ids from
// the token of one@bench.example.
const (
	tenantID = "t:bench.example"
	roomID   = "r:general"
	email    = "one@bench.example"
	userID   = "u:0123456789abcdef0123456789abcdef"
)

// Chain is the state of one room and its ledger: the last numbers given and
// the head. It is not safe for concurrent use; its owner serializes Append,
// as the single writer of a room does.
type Chain struct {
	roomSeq uint64
	seq     uint64
	head    string
	now     func() time.Time
}

// NewChain starts an empty room and ledger on the given clock.
func NewChain(now func() time.Time) *Chain {
	return &Chain{head: Genesis, now: now}
}

// Entry is one send, encoded and ready to be stored: three records and the
// counters they move.
type Entry struct {
	MsgID   string
	RoomSeq uint64 // the message's number in the room
	Seq     uint64 // the action's number in the ledger; the effect has Seq+1
	Head    string // the ledger's head after both atoms

	Message   []byte
	Action    []byte
	Effect    []byte
	RequestID string
	Time      string
}

// Append gives a body the next numbers and links its two atoms to the chain.
// The body's hash is passed in, so that callers compute it outside their lock.
func (c *Chain) Append(kind string, body json.RawMessage, bodyHash string) (Entry, error) {
	when := c.now().UTC().Format("2006-01-02T15:04:05.000Z")
	msgID, requestID := "m:"+uuid(), "req:"+uuid()
	roomSeq, seq := c.roomSeq+1, c.seq+1

	action := Action{
		AgreementID: "a:room:" + roomID, DID: "messenger.send", Kind: "action.v1", PrevHash: c.head,
		Status: "executed", TenantID: tenantID, When: when,
		This:  This{BodyHash: bodyHash, MsgID: msgID, RoomID: roomID, RoomSeq: roomSeq},
		Trace: Trace{RequestID: requestID},
		Who:   Who{Email: email, UserID: userID},
	}
	cid, err := atomID(action)
	if err != nil {
		return Entry{}, err
	}
	action.CID = cid
	actionHead := nextHead(c.head, cid)

	effect := Effect{
		Effects: []Op{{Op: "room.append", RoomID: roomID, RoomSeq: roomSeq}}, Kind: "effect.v1", Outcome: "ok",
		Pointers: map[string]string{"msg_id": msgID}, PrevHash: actionHead, RefActionCID: cid,
		TenantID: tenantID, When: when,
	}
	if effect.CID, err = atomID(effect); err != nil {
		return Entry{}, err
	}

	message := Message{
		Attachments: []string{}, Body: body, MsgID: msgID, RoomID: roomID, RoomSeq: roomSeq,
		SenderID: userID, SentAt: when, TenantID: tenantID, Type: kind,
		Receipt: Receipt{CID: cid, HeadHash: actionHead, LedgerShard: "0", Seq: seq, Time: when},
	}
	e := Entry{
		MsgID: msgID, RoomSeq: roomSeq, Seq: seq, Head: nextHead(actionHead, effect.CID),
		RequestID: requestID, Time: when,
	}
	if err := e.encode(message, action, effect); err != nil {
		return Entry{}, err
	}
	// The chain moves only when nothing can fail any more: no gap is left.
	c.roomSeq, c.seq, c.head = roomSeq, seq+1, e.Head
	return e, nil
}

func (e *Entry) encode(m Message, a Action, f Effect) (err error) {
	if e.Message, err = json.Marshal(m); err != nil {
		return fmt.Errorf("couldn't encode the message: %w", err)
	}
	if e.Action, err = json.Marshal(a); err != nil {
		return fmt.Errorf("couldn't encode the action: %w", err)
	}
	if e.Effect, err = json.Marshal(f); err != nil {
		return fmt.Errorf("couldn't encode the effect: %w", err)
	}
	return nil
}

// uuid is a random UUID, version 4.
func uuid() string {
	var b [16]byte
	rand.Read(b[:])
	b[6], b[8] = b[6]&0x0f|0x40, b[8]&0x3f|0x80
	return fmt.Sprintf("%x-%x-%x-%x-%x", b[:4], b[4:6], b[6:8], b[8:10], b[10:])
}

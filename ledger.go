package ubl

import "encoding/json"

// Commands of the LedgerShard family. Members of the tenant may send them: a
// tenant's ledger is open to all its members.
type (
	// GetReceipt reads the action and effect of either one's seq. Answers
	// *ReceiptPair.
	GetReceipt struct{ Seq int64 }
	// GetLedgerHead asks how far the ledger is. Answers LedgerHead.
	GetLedgerHead struct{}
	// ReadAtoms reads atoms with seq ≥ From, at most Limit. Answers *AtomPage.
	ReadAtoms struct {
		From  int64
		Limit int
	}
)

// LedgerHead is how far a ledger is: the seq of its newest atom and the head
// hash after it (seq 0 and [Genesis] for an empty one).
type LedgerHead struct {
	Seq      int64  `json:"seq"`
	HeadHash string `json:"head_hash"`
}

// ReceiptPair is an action and, where it has one, its effect.
type ReceiptPair struct {
	Seq   int64 // of the action
	Atoms []json.RawMessage
}

// AtomPage is part of a ledger in seq order.
type AtomPage struct {
	From  int64 // seq of the first atom here
	Atoms []json.RawMessage
	Head  LedgerHead
}

// Cost is 0: it reads.
func (GetReceipt) Cost() int { return 0 }

// Cost is 0: it reads.
func (GetLedgerHead) Cost() int { return 0 }

// Cost is 0: it reads.
func (ReadAtoms) Cost() int { return 0 }

// DeadLetter is something that an actor was to do by itself and couldn't, however often
// it was tried: nothing tries it any more until an owner or an operator redrives it.
type DeadLetter struct {
	TenantID TenantID `json:"tenant_id"`
	// Kind says what was to be done: [DeadAlarm], [DeadTail] or [DeadOutbound].
	Kind string `json:"kind"`
	// Subject is the actor, by the part of its name behind the tenant's: a room's id, a
	// container's, "portal"; "" is the tenant itself.
	Subject string `json:"subject"`
	// Key is what the actor calls it; one of the subject has each key once.
	Key      string `json:"key"`
	Attempts int    `json:"attempts"`
	// Code is the error of the last attempt; "" where a version before kept none.
	Code Code `json:"code,omitempty"`
	// Since is when it should have been done.
	Since Time `json:"since"`
}

// Kinds of dead letters.
const (
	// DeadAlarm is an alarm whose decision or errand failed each time.
	DeadAlarm = "alarm"
	// DeadTail is an entry of the ledger that one of its consumers couldn't take in, with all
	// that came behind it about the same subject.
	DeadTail = "tail"
	// DeadOutbound is what couldn't be done outside, as a web hook that never answered.
	DeadOutbound = "outbound"
)

// MaxDeadLetters is how many one list has at most.
const MaxDeadLetters = 500

type (
	// ListDeadLetters reads those of a tenant, [MaxDeadLetters] at most. Who asks has seen
	// that the caller is an owner of the tenant, or an operator. Answers []DeadLetter.
	ListDeadLetters struct{}
	// Redrive has the subject, which is the actor that is asked, try a dead letter again
	// at once, with as many attempts as at first. Owner says that who asks has seen the
	// caller to be an owner of the tenant, or an operator. Answers nil.
	Redrive struct {
		Request
		Owner  bool
		Letter string // its key
	}
)

// Cost is 0 for reads.
func (ListDeadLetters) Cost() int { return 0 }

// Cost is one act.
func (Redrive) Cost() int { return ActCost }

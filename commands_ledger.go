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

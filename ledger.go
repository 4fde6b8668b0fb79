package ubl

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"strconv"
	"strings"
)

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
	// Next is when it is tried again; absent for what isn't tried any more.
	Next *Time `json:"next,omitempty"`
}

// Kinds of dead letters.
const (
	// DeadAlarm is an alarm whose decision or errand failed each time.
	DeadAlarm = "alarm"
	// DeadTail is an entry of the ledger that one of its consumers couldn't take in, with all
	// that came behind it about the same subject.
	DeadTail = "tail"
	// DeadOutbound is what couldn't be done outside, as a call of a tool whose end was never learnt.
	DeadOutbound = "outbound"
)

// MaxDeadLetters is how many one list has at most.
const MaxDeadLetters = 500

type (
	// ListDeadLetters reads those of a tenant, [MaxDeadLetters] at most. Who asks has seen
	// that the caller is an owner of the tenant, or an operator. Answers []DeadLetter.
	ListDeadLetters struct {
		// Pending lists instead what has failed and is tried again, and what is late.
		Pending bool
	}
	// Redrive has the subject, which is the actor that is asked, try a dead letter again
	// at once, with as many attempts as at first. Owner says that who asks has seen the
	// caller to be an owner of the tenant, or an operator. Answers nil.
	Redrive struct {
		Request
		Owner  bool
		Letter string // its key
	}
	// Discard has the subject, which is the actor that is asked, give up a dead letter: it is
	// listed no more, and never done. What it was to do outside ends with an error. Where the
	// program has no family for the subject any more, the Tenant does so. Owner is as of
	// [Redrive]. Answers nil.
	Discard struct {
		Request
		Owner   bool
		Subject string // as the list has it
		Letter  string // its key
	}
)

// Cost is 0 for reads.
func (ListDeadLetters) Cost() int { return 0 }

// Cost is one act.
func (Redrive) Cost() int { return ActCost }

// Cost is one act, and one for what it ends outside.
func (Discard) Cost() int { return 2 * ActCost }

// ExportFormat names the form of an exported ledger, which anyone can check
// with nothing but the file ([Verify]): NDJSON, each line canonical JSON with
// a newline behind it. The first line is the header:
//
//	{"format":"ubl.export.v2","head_hash":"h:…","last_seq":2,"ledger_shard":"0","tenant_id":"t:…"}
//
// and every other line one atom, from seq 1 to last_seq, with the head after it:
//
//	{"atom":{…},"head_hash":"h:…","seq":1}
//
// A server's export that meets damage ends with a line that says so, which no reader
// takes for an atom:
//
//	{"damaged":"…","seq":1001}
//
// One of a stopped server's data goes on behind damage. In the place of atoms that can't
// be read it has a [HoleFormat], and the next atom's prev_hash is the head behind the hole.
// Where more may be missing behind the last atom, it ends with a [LostFormat].
//
// A form that differs gets another name; readers refuse names they don't know. An export of
// [ExportV1] has atoms of version 1 only, and is the same otherwise.
const ExportFormat = "ubl.export.v2"

// ExportV1 names the form of exports before action.v2.
const ExportV1 = "ubl.export.v1"

// HoleFormat names the form of a line of an export that stands for missing atoms:
//
//	{"format":"ubl.export.hole.v1","from_seq":3,"ledger_shard":"0","reason":"…","tenant_id":"t:…","to_seq":5}
//
// Nothing binds what is before a hole to what is behind it.
const HoleFormat = "ubl.export.hole.v1"

// LostFormat names the form of the last line of an export behind which more may be missing:
//
//	{"after_seq":8011,"format":"ubl.export.lost.v1","ledger_shard":"0","reason":"…","tenant_id":"t:…"}
//
// Nothing binds it to the atoms: who takes it away makes a true beginning of the ledger.
const LostFormat = "ubl.export.lost.v1"

// Hole is a series of atoms that an export lacks.
type Hole struct {
	From   int64  `json:"from_seq"`
	To     int64  `json:"to_seq"` // the last of them
	Reason string `json:"reason"`
}

// IncompleteError is the error of an export with holes or with a lost end, in which all that
// is there holds.
type IncompleteError struct {
	Holes []Hole
	// Missing is how many atoms are in the holes, Of how many the ledger has as far as is known.
	Missing, Of int64
	// Lost says why atoms may be missing behind those; "" where none is.
	Lost string
}

// maxTold is how many holes are told one by one.
const maxTold = 20

func (e *IncompleteError) Error() string {
	switch {
	case e.Lost == "":
		return e.missing()
	case e.Missing == 0:
		return e.behind()
	}
	return e.missing() + "; " + e.behind()
}

func (e *IncompleteError) behind() string {
	return fmt.Sprintf("the newest atoms may be missing, behind the last, %d: %s", e.Of, e.Lost)
}

func (e *IncompleteError) missing() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%d of %d atoms are missing", e.Missing, e.Of)
	for i, h := range e.Holes {
		if i == maxTold {
			fmt.Fprintf(&b, "; and in %d more places", len(e.Holes)-i)
			break
		}
		fmt.Fprintf(&b, "; %d to %d: %s", h.From, h.To, h.Reason)
	}
	return b.String()
}

// HeadAfter is the head of a ledger after an atom, by what the atom itself says.
func HeadAfter(atom []byte) (string, error) {
	a, err := linkOf(atom)
	if err != nil {
		return "", err
	}
	return NextHead(a.PrevHash, a.CID), nil
}

// link is where an atom says that it is in the chain.
type link struct {
	PrevHash string `json:"prev_hash"`
	CID      string `json:"cid"`
}

func linkOf(atom []byte) (l link, err error) {
	if err := json.Unmarshal(atom, &l); err != nil || l.CID == "" {
		return l, ErrDamaged
	}
	return l, nil
}

// MaxExportLine bounds a line of an export, without its newline. The largest
// atom is far below it.
const MaxExportLine = 1 << 20

// Exporter writes a ledger as [ExportFormat]. It is not safe for concurrent
// use and does not buffer.
type Exporter struct {
	w      io.Writer
	tenant TenantID
	last   LedgerHead
	at     LedgerHead // without a hash behind a hole
	lacks  IncompleteError
	line   []byte
}

// NewExporter writes the header of the ledger up to last.
func NewExporter(w io.Writer, tenant TenantID, last LedgerHead) (*Exporter, error) {
	e := &Exporter{w: w, tenant: tenant, last: last, at: LedgerHead{HeadHash: Genesis}}
	b := append([]byte(nil), `{"format":"`+ExportFormat+`","head_hash":`...)
	b = appendString(b, last.HeadHash)
	b = append(b, `,"last_seq":`...)
	b = strconv.AppendInt(b, last.Seq, 10)
	b = append(b, `,"ledger_shard":"`+DefaultShard+`","tenant_id":`...)
	b = appendString(b, string(tenant))
	_, err := w.Write(append(b, '}', '\n'))
	return e, err
}

// Append writes the next atom, given as it is stored, and moves the head by
// its cid. Atoms come in seq order from 1.
func (e *Exporter) Append(atom []byte) error {
	if e.at.Seq == e.last.Seq {
		return fmt.Errorf("couldn't export: more atoms than the %d of the header", e.last.Seq)
	}
	a, err := linkOf(atom)
	if err != nil {
		return fmt.Errorf("couldn't export the atom at seq %d: %w", e.at.Seq+1, err)
	}
	e.at = LedgerHead{Seq: e.at.Seq + 1, HeadHash: NextHead(cmp.Or(e.at.HeadHash, a.PrevHash), a.CID)}
	b := append(e.line[:0], `{"atom":`...)
	b = append(b, atom...)
	b = append(b, `,"head_hash":"`...)
	b = append(b, e.at.HeadHash...)
	b = append(b, `","seq":`...)
	b = strconv.AppendInt(b, e.at.Seq, 10)
	e.line = append(b, '}', '\n')
	_, err = e.w.Write(e.line)
	return err
}

// Skip writes that the atoms up to a seq can't be read, and why.
func (e *Exporter) Skip(to int64, why error) error {
	if to < e.Next() || to > e.last.Seq {
		return fmt.Errorf("couldn't export: a hole from seq %d to %d", e.Next(), to)
	}
	h := Hole{From: e.Next(), To: to, Reason: why.Error()}
	e.lacks.add(h)
	e.at = LedgerHead{Seq: to}
	b := append(e.line[:0], `{"format":"`+HoleFormat+`","from_seq":`...)
	b = strconv.AppendInt(b, h.From, 10)
	b = append(b, `,"ledger_shard":"`+DefaultShard+`","reason":`...)
	b = appendString(b, h.Reason)
	b = append(b, `,"tenant_id":`...)
	b = appendString(b, string(e.tenant))
	b = append(b, `,"to_seq":`...)
	e.line = append(strconv.AppendInt(b, to, 10), '}', '\n')
	_, err := e.w.Write(e.line)
	return err
}

// Lose writes, behind the last atom, that more may be missing there, and why.
func (e *Exporter) Lose(why error) error {
	if e.at.Seq != e.last.Seq {
		return fmt.Errorf("couldn't export: the end is lost at seq %d, and the header goes on to %d", e.at.Seq, e.last.Seq)
	}
	e.lacks.Lost = why.Error()
	b := strconv.AppendInt(append(e.line[:0], `{"after_seq":`...), e.at.Seq, 10)
	b = append(b, `,"format":"`+LostFormat+`","ledger_shard":"`+DefaultShard+`","reason":`...)
	b = appendString(b, e.lacks.Lost)
	b = append(b, `,"tenant_id":`...)
	e.line = append(appendString(b, string(e.tenant)), '}', '\n')
	_, err := e.w.Write(e.line)
	return err
}

func (e *IncompleteError) add(h Hole) {
	e.Holes = append(e.Holes, h)
	e.Missing += h.To - h.From + 1
}

// brokenPrefix begins the line at damage.
const brokenPrefix = `{"damaged":`

// Break ends an export at damage: the next atom can't be read. It says why in words
// that anybody may read.
func (e *Exporter) Break(cause error) error {
	b := appendString(append(e.line[:0], brokenPrefix...), AsError(cause).Message)
	b = strconv.AppendInt(append(b, `,"seq":`...), e.Next(), 10)
	_, err := e.w.Write(append(b, '}', '\n'))
	return err
}

// BrokenExport reports whether a line of an export says that it ends at damage, and why.
func BrokenExport(line []byte) (why string, broken bool) {
	var l struct {
		Damaged string `json:"damaged"`
		Seq     int64  `json:"seq"`
	}
	if !bytes.HasPrefix(line, []byte(brokenPrefix)) || json.Unmarshal(line, &l) != nil {
		return "", false
	}
	return fmt.Sprintf("atom %d can't be read: %s", l.Seq, l.Damaged), true
}

// Next is the seq of the atom that [Exporter.Append] wants.
func (e *Exporter) Next() int64 { return e.at.Seq + 1 }

// Close fails where the atoms did not lead to the header's head: then the
// export is of no use. One with holes or a lost end is an [*IncompleteError]. It does not
// close the writer.
func (e *Exporter) Close() error {
	if e.at.Seq != e.last.Seq || e.at.HeadHash != "" && e.at.HeadHash != e.last.HeadHash {
		return fmt.Errorf("couldn't export: the atoms don't lead to the ledger's head at seq %d", e.last.Seq)
	}
	if len(e.lacks.Holes) > 0 || e.lacks.Lost != "" {
		e.lacks.Of = e.last.Seq
		return &e.lacks
	}
	return nil
}

package archive

import (
	"encoding/json"
	"errors"
	"fmt"

	"ubl"
)

// atomsPage is how many atoms one question asks for.
const atomsPage = 500

// errOfOthers is why atoms aren't in the person's part of the ledger.
var errOfOthers = errors.New("these are acts of others, or of no person")

// span is where in a room the person's entries are.
type span struct{ first, last int64 }

// receipts writes the person's acts with their effects, up to the act by which the archive began,
// in the form of an export: what lies between is a hole, and "ubl verify" checks the rest. On the
// way it notes where the person has written.
func (j *job) receipts() error {
	j.wrote = map[ubl.RoomID]span{}
	if !j.may("receipts, and what you said where you aren't any more", toolReceipts) {
		return nil
	}
	ledger := ubl.LedgerName(j.req.Who.TenantID)
	pair, err := ask[*ubl.ReceiptPair](j, ledger, ubl.GetReceipt{Seq: j.manifest.Receipt.Seq})
	if err != nil {
		return err
	}
	if len(pair.Atoms) != 2 {
		return fmt.Errorf("the act of seq %d has %d atoms", pair.Seq, len(pair.Atoms))
	}
	// An effect of an executed action is the next atom.
	last := ubl.LedgerHead{Seq: pair.Seq + 1}
	if last.HeadHash, err = ubl.HeadAfter(pair.Atoms[1]); err != nil {
		return err
	}
	return j.zip.file("receipts.ndjson", func() error { return j.acts(ledger, last) })
}

// acts copies the person's atoms up to a head.
func (j *job) acts(ledger ubl.Name, last ubl.LedgerHead) error {
	e, err := ubl.NewExporter(j.zip, j.req.Who.TenantID, last)
	if err != nil {
		return err
	}
	mine := map[string]bool{} // the person's actions that have no effect yet, by cid
	for seq := int64(1); seq <= last.Seq; {
		page, err := ask[*ubl.AtomPage](j, ledger, ubl.ReadAtoms{From: seq, Limit: int(min(atomsPage, last.Seq-seq+1))})
		if err != nil {
			return err
		}
		if len(page.Atoms) == 0 {
			return fmt.Errorf("the ledger has no atom at seq %d", seq)
		}
		for _, raw := range page.Atoms {
			own, err := j.own(raw, mine)
			if err != nil {
				return fmt.Errorf("couldn't read the atom at seq %d: %w", seq, err)
			}
			if own && seq > e.Next() {
				err = e.Skip(seq-1, errOfOthers)
			}
			if own && err == nil {
				err = e.Append(raw)
			}
			if err != nil {
				return err
			}
			seq++
		}
	}
	if err := e.Close(); err != nil {
		if _, holes := errors.AsType[*ubl.IncompleteError](err); !holes {
			return err
		}
	}
	return nil
}

// atom is what is read of an action or effect.
type atom struct {
	Kind string `json:"kind"`
	CID  string `json:"cid"`
	Who  struct {
		UserID ubl.UserID `json:"user_id"`
	} `json:"who"`
	Status  ubl.Status `json:"status"`
	Ref     string     `json:"ref_action_cid"`
	Effects []struct {
		RoomID  ubl.RoomID `json:"room_id"`
		RoomSeq int64      `json:"room_seq"`
	} `json:"effects"`
}

// own tells whether an atom is an act of the person or the effect of one, and notes where it wrote.
func (j *job) own(raw json.RawMessage, mine map[string]bool) (bool, error) {
	var a atom
	if err := json.Unmarshal(raw, &a); err != nil {
		return false, err
	}
	if ubl.IsAction(a.Kind) {
		if a.Who.UserID != j.req.Who.UserID {
			return false, nil
		}
		j.manifest.Counts.Acts++
		if a.Status != ubl.StatusDenied { // which has no effect
			mine[a.CID] = true
		}
		return true, nil
	}
	if !mine[a.Ref] {
		return false, nil
	}
	delete(mine, a.Ref)
	for _, e := range a.Effects {
		if e.RoomSeq > 0 && e.RoomID.Valid() {
			s, known := j.wrote[e.RoomID]
			if !known {
				s.first = e.RoomSeq
			}
			s.last = e.RoomSeq
			j.wrote[e.RoomID] = s
		}
	}
	return true, nil
}

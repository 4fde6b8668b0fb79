package ledger

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"

	"ubl"
)

// maxAtoms is the most atoms of one page.
const maxAtoms = 500

// checkHead refuses a ledger whose newest atom does not lead to its head: the
// file was damaged or tampered with, and building on it would hide that.
func (s *Shard) checkHead(ctx context.Context) error {
	if s.head.Seq == 0 {
		return nil
	}
	return s.store.View(ctx, s.group, func(snap ubl.Snapshot) error {
		atom, err := snap.Atom(s.head.Seq)
		if err != nil {
			return err
		}
		var link struct {
			CID  string `json:"cid"`
			Prev string `json:"prev_hash"`
		}
		if atom == nil || json.Unmarshal(atom, &link) != nil || ubl.NextHead(link.Prev, link.CID) != s.head.HeadHash {
			return fmt.Errorf("the ledger of %s is damaged: its head doesn't follow from atom %d", s.group, s.head.Seq)
		}
		return nil
	})
}

func (s *Shard) durableHead(ctx context.Context) (ubl.LedgerHead, error) {
	var head ubl.LedgerHead
	err := s.store.View(ctx, s.group, func(snap ubl.Snapshot) (err error) {
		head, err = snap.Head()
		return err
	})
	return head, err
}

func (s *Shard) atoms(ctx context.Context, from int64, limit int) (*ubl.AtomPage, error) {
	page := &ubl.AtomPage{From: max(from, 1)}
	err := s.store.View(ctx, s.group, func(snap ubl.Snapshot) (err error) {
		if page.Head, err = snap.Head(); err != nil {
			return err
		}
		last := min(page.Head.Seq, page.From+int64(min(limit, maxAtoms))-1)
		for seq := page.From; seq <= last; seq++ {
			atom, err := snap.Atom(seq)
			if err != nil {
				return err
			}
			page.Atoms = append(page.Atoms, slices.Clone(atom))
		}
		return nil
	})
	return page, err
}

// receipt finds the pair of an action or an effect. They refer to each other
// by cid; in this version an effect always stands right behind its action.
func (s *Shard) receipt(ctx context.Context, seq int64) (*ubl.ReceiptPair, error) {
	var pair *ubl.ReceiptPair
	err := s.store.View(ctx, s.group, func(snap ubl.Snapshot) error {
		atom, err := snap.Atom(seq)
		if err != nil {
			return err
		}
		if atom == nil {
			return ubl.Errorf(ubl.CodeNotFound, "there is no receipt with this seq")
		}
		link, err := readLink(atom)
		if err != nil {
			return err
		}
		action := seq
		if link.Ref != "" {
			action--
		}
		pair, err = readPair(snap, action)
		return err
	})
	return pair, err
}

func readPair(snap ubl.Snapshot, action int64) (*ubl.ReceiptPair, error) {
	pair := &ubl.ReceiptPair{Seq: action}
	var cid string
	for seq := action; seq <= action+1; seq++ {
		atom, err := snap.Atom(seq)
		if err != nil {
			return nil, err
		}
		if atom == nil {
			break
		}
		link, err := readLink(atom)
		if err != nil {
			return nil, err
		}
		if seq == action {
			cid = link.CID
		} else if link.Ref != cid {
			break // the next act's action: this one has no effect yet
		}
		pair.Atoms = append(pair.Atoms, slices.Clone(atom))
	}
	return pair, nil
}

// link is what ties atoms together.
type link struct {
	CID string `json:"cid"`
	Ref string `json:"ref_action_cid"`
}

func readLink(atom []byte) (link, error) {
	var l link
	if err := json.Unmarshal(atom, &l); err != nil {
		return l, fmt.Errorf("couldn't read an atom: %w", err)
	}
	return l, nil
}

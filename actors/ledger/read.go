package ledger

import (
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"ubl"
	"ubl/actors"
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

// receipt finds the pair of an action or an effect. An effect stands right
// behind its action, or came later and has a pairing.
func (s *Shard) receipt(ctx context.Context, seq int64) (*ubl.ReceiptPair, error) {
	var pair *ubl.ReceiptPair
	err := s.store.View(ctx, s.group, func(snap ubl.Snapshot) error {
		atom, l, err := readAtom(snap, seq)
		if err != nil {
			return err
		}
		if atom == nil {
			return ubl.Errorf(ubl.CodeNotFound, "there is no receipt with this seq")
		}
		if l.Ref != "" {
			if seq, err = partner(snap, seq, seq-1); err != nil {
				return err
			}
		}
		pair, err = readPair(snap, seq)
		return err
	})
	return pair, err
}

// readPair reads an action and, where it has one by now, its effect.
func readPair(snap ubl.Snapshot, seq int64) (*ubl.ReceiptPair, error) {
	action, of, err := readAtom(snap, seq)
	if err != nil {
		return nil, err
	}
	pair := &ubl.ReceiptPair{Seq: seq, Atoms: []json.RawMessage{action}}
	next, err := partner(snap, seq, seq+1)
	if err != nil {
		return nil, err
	}
	effect, l, err := readAtom(snap, next)
	if err == nil && effect != nil && l.Ref == of.CID {
		pair.Atoms = append(pair.Atoms, effect)
	}
	return pair, err
}

// partner is the seq that a pairing leads to, or the neighbour where there is
// none.
func partner(snap ubl.Snapshot, seq, neighbour int64) (int64, error) {
	v, err := snap.Get(pairKey(seq))
	switch {
	case err != nil:
		return 0, err
	case v == nil:
		return neighbour, nil
	case len(v) != 9 || v[0] != pairVersion:
		return 0, errors.New("a pairing is stored in an unknown form")
	}
	return int64(binary.BigEndian.Uint64(v[1:])), nil
}

// readAtom reads an atom with its link, nil where there is none.
func readAtom(snap ubl.Snapshot, seq int64) (json.RawMessage, link, error) {
	atom, err := snap.Atom(seq)
	if err != nil || atom == nil {
		return nil, link{}, err
	}
	l, err := readLink(atom)
	return slices.Clone(atom), l, err
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

// deadLetters are those of the group's actors.
func (s *Shard) deadLetters(ctx context.Context, pending bool, now ubl.Time) (list []ubl.DeadLetter, err error) {
	err = s.store.View(ctx, s.group, func(snap ubl.Snapshot) (err error) {
		if pending {
			list, err = actors.Pending(snap, s.group.Tenant, now)
			return err
		}
		list, err = actors.DeadLetters(snap, s.group.Tenant)
		return err
	})
	return list, err
}

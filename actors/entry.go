package actors

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"slices"

	"ubl"
)

// Entry is one act of a tenant's ledger as a follower reads it. An act whose effect came
// later is two: the action alone, and then both.
type Entry struct {
	Seq     int64 // of its newest atom
	Did     ubl.Did
	Subject string          // as of [Follow]
	Action  json.RawMessage // the atoms as stored, both nil for a follower of bare entries
	Effect  json.RawMessage // nil for one that is still to come
}

// Pointer is a member of the effect's pointers, "" where there is none. Ids need no escapes;
// a value that has any is "", too.
func (e Entry) Pointer(name string) string {
	_, pointers, _ := bytes.Cut(e.Effect, beforePointers)
	_, rest, _ := bytes.Cut(pointers, []byte(`"`+name+`":"`))
	value, _, _ := bytes.Cut(rest, []byte{'"'})
	if bytes.IndexByte(value, '\\') >= 0 {
		return ""
	}
	return string(value)
}

// entryPage is the most atoms that are read in one view.
const entryPage = 5000

// entries are acts of a part of a ledger.
type entries struct {
	list []Entry
	upTo int64 // the last atom that was looked at
	head int64 // of the whole ledger
}

// source is where entries are read.
type source struct {
	read   ubl.Reader
	ask    ubl.Asker
	group  ubl.Group
	follow *Follow
	most   int // entries of a page
}

// after reads a page behind a seq, up to another one or the head.
func (s source) after(ctx context.Context, seq, last int64) (page entries, err error) {
	var late []int64 // effects that stand apart from their actions
	err = s.read.View(ctx, s.group, func(snap ubl.Snapshot) error {
		page, late = entries{}, nil
		head, err := snap.Head()
		if err != nil {
			return err
		}
		page.head = head.Seq
		page.upTo = max(min(last, head.Seq, seq+entryPage), seq)
		if wanted, err := s.wanted(snap); err != nil || !wanted {
			page.upTo = max(min(last, head.Seq), seq)
			return err
		}
		var open *Entry // an action whose effect is next
		for n := seq + 1; n <= page.upTo; n++ {
			if len(page.list) == s.most && open == nil {
				page.upTo = n - 1
				break
			}
			atom, err := snap.Atom(n)
			if err != nil {
				return err
			}
			did, isAction := actionDid(atom)
			switch {
			case isAction && bytes.Contains(atom, statusIntended):
				open = nil
				s.add(&page, Entry{Seq: n, Did: did, Action: atom})
			case isAction:
				open = &Entry{Did: did, Action: atom}
				if n == page.upTo && n < head.Seq {
					page.upTo++ // it was committed with its effect
				}
			case open == nil:
				late = append(late, n)
			default:
				open.Seq, open.Effect = n, atom
				s.add(&page, *open)
				open = nil
			}
		}
		return nil
	})
	if err == nil {
		err = s.addLate(ctx, &page, late)
	}
	return page, err
}

// any tells whether there is an entry behind a seq, or so much to look through that only
// the actor itself should.
func (s source) any(snap ubl.Snapshot, seq int64) (bool, error) {
	head, err := snap.Head()
	if err != nil {
		return false, err
	}
	if wanted, err := s.wanted(snap); err != nil || !wanted {
		return false, err
	}
	if head.Seq <= seq || head.Seq-seq > entryPage {
		return head.Seq != seq, nil
	}
	for n, paired := seq+1, false; n <= head.Seq; n++ {
		atom, err := snap.Atom(n)
		if err != nil {
			return false, err
		}
		did, isAction := actionDid(atom)
		if isAction && slices.Contains(s.follow.Dids, did) || !isAction && !paired {
			return true, nil
		}
		paired = isAction
	}
	return false, nil
}

func (s source) wanted(snap ubl.Snapshot) (bool, error) {
	if s.follow.Wanted == nil {
		return true, nil
	}
	return s.follow.Wanted(snap)
}

// add takes in an entry that is asked for, with atoms that are the view's.
func (s source) add(page *entries, e Entry) {
	if !slices.Contains(s.follow.Dids, e.Did) {
		return
	}
	e.Subject = s.follow.Subject(e)
	if s.follow.Bare {
		e.Action, e.Effect = nil, nil
	}
	e.Action, e.Effect = slices.Clone(e.Action), slices.Clone(e.Effect)
	page.list = append(page.list, e)
}

// addLate takes in the acts of effects that came later.
func (s source) addLate(ctx context.Context, page *entries, late []int64) error {
	for _, n := range late {
		pair, err := ubl.Ask[*ubl.ReceiptPair](ctx, s.ask, s.group.Ledger(), ubl.GetReceipt{Seq: n})
		if err != nil {
			return err
		}
		if len(pair.Atoms) < 2 {
			return ubl.Damaged("atom %d of %s has no action", n, s.group)
		}
		did, _ := actionDid(pair.Atoms[0])
		s.add(page, Entry{Seq: n, Did: did, Action: pair.Atoms[0], Effect: pair.Atoms[1]})
	}
	if len(late) > 0 {
		slices.SortFunc(page.list, func(a, b Entry) int { return cmp.Compare(a.Seq, b.Seq) })
	}
	return nil
}

// Atoms are canonical JSON: their members stand in one order, no id has a quote, and no
// quote in a text stands without a backslash.
var (
	beforePointers = []byte(`,"pointers":{`)
	beginsAction   = []byte(`{"agreement_`) // its id or its hash, and effects begin with their cid
	beforeDid      = []byte(`,"did":"`)
	statusIntended = []byte(`,"status":"intended",`)
)

// actionDid is the name of an action's act. It reads no more of an atom than that, since
// most atoms aren't what a follower asks for.
func actionDid(atom []byte) (did ubl.Did, isAction bool) {
	if !bytes.HasPrefix(atom, beginsAction) {
		return "", false
	}
	_, rest, _ := bytes.Cut(atom, beforeDid)
	name, _, _ := bytes.Cut(rest, []byte{'"'})
	return ubl.Did(name), true
}

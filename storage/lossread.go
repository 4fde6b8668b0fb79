package storage

import (
	"bytes"
	"cmp"
	"context"
	"encoding/binary"
	"maps"
	"os"
	"slices"
	"strings"

	bolt "go.etcd.io/bbolt"

	"ubl"
)

// LostLedger is a ledger of which atoms are lost, or may be.
type LostLedger struct {
	Group string `json:"group"`
	// Kept is the seq of the newest atom that is there, 0 for none.
	Kept int64 `json:"kept"`
	// Newest is that of the newest atom that a lost record names: all behind Kept are lost.
	// 0 where no record that can be read is the ledger's.
	Newest int64 `json:"newest,omitempty"`
	// Runs are the numbered records that are known to be lost, as the entries of a room.
	Runs []LostRun `json:"runs,omitempty"`
}

// LostRun is a run of numbered records: see [ubl.Numbers].
type LostRun struct {
	Space string `json:"space"`
	Name  string `json:"name"`
	From  int64  `json:"from"`
	To    int64  `json:"to"`
}

// maxLostLedgers bounds what a loss names.
const maxLostLedgers = 64

// evidence is what can be known of lost records: from those behind the damage, from
// the damaged ones as far as they still read, and from what the file has.
type evidence struct {
	p    *partition
	kept map[ubl.Group]ubl.LedgerHead // of the file and of the records that are kept
	lost map[ubl.Group]*LostLedger
	// chain is the head behind the newest record that was read, for each ledger.
	chain map[ubl.Group]ubl.LedgerHead
	read  uint64 // how many of the lost records
}

// gather fills in what a loss is of. What can't be read is no error: it is less that is known.
func (p *partition) gather(loss *Loss, db *bolt.DB, kept []record) {
	e := &evidence{p: p, kept: headsIn(db), lost: make(map[ubl.Group]*LostLedger)}
	for _, r := range kept {
		for _, b := range batchesOf(r.entry) {
			e.kept[b.Group] = b.Next
		}
	}
	e.chain = maps.Clone(e.kept)
	if data, err := os.ReadFile(p.journalPath()); err == nil {
		e.readJournal(data, loss)
	}
	loss.Unread = loss.To - loss.From + 1 - e.read
	loss.name(e)
}

// readJournal reads each lost record in order, where it stands.
func (e *evidence) readJournal(data []byte, loss *Loss) {
	j := &journal{salt: saltOf(journalMagic, e.p.label)}
	places := make(map[uint64]int)
	for at := journalPage; at < len(data); at += journalPage {
		if index, ok := j.indexAt(data[at:]); ok && index >= loss.From && index <= loss.To {
			places[index] = at
		}
	}
	for _, index := range slices.Sorted(maps.Keys(places)) {
		rest := data[places[index]:]
		r, sound := j.parse(rest)
		if !sound {
			r.entry = rest[recordHead : recordHead+int(binary.BigEndian.Uint32(rest[saltSize+8:]))]
		}
		batches := batchesOf(r.entry)
		if len(batches) == 0 || !sound && !e.follow(batches) {
			continue
		}
		e.read++
		for _, b := range batches {
			e.note(b)
		}
	}
}

// indexAt is the index in a record's head, sound or not.
func (j *journal) indexAt(data []byte) (uint64, bool) {
	if len(data) < recordHead || !bytes.Equal(data[:saltSize], j.salt[:]) {
		return 0, false
	}
	length := int64(binary.BigEndian.Uint32(data[saltSize+8:]))
	return binary.BigEndian.Uint64(data[saltSize:]), length <= int64(len(data)-recordHead)
}

// batchesOf are those of an entry, none where it can't be read.
func batchesOf(entry []byte) (batches []*ubl.Batch) {
	ops, _, err := decodeEntry(entry, nil)
	if err != nil {
		return nil
	}
	for _, op := range ops {
		if op.batch != nil {
			batches = append(batches, op.batch)
		}
	}
	return batches
}

// follow reports whether each batch of a damaged record follows its ledger's head: then
// what it says of ledger and seq is what was written, since a head has a hash.
func (e *evidence) follow(batches []*ubl.Batch) bool {
	chain := maps.Clone(e.chain)
	for _, b := range batches {
		if !validGroup(b.Group) || cmp.Or(chain[b.Group], ubl.LedgerHead{HeadHash: ubl.Genesis}) != b.Head ||
			b.Next.Seq != b.Head.Seq+int64(len(b.Atoms)) {
			return false
		}
		chain[b.Group] = b.Next
	}
	return true
}

func (e *evidence) note(b *ubl.Batch) {
	e.chain[b.Group] = b.Next
	l := e.lost[b.Group]
	if l == nil {
		l = &LostLedger{Group: b.Group.String(), Kept: e.kept[b.Group].Seq}
		e.lost[b.Group] = l
	}
	l.Newest = max(l.Newest, b.Next.Seq)
	for _, r := range b.Records {
		e.noteRun(l, r)
	}
}

// noteRun notes a numbered record that came new.
func (e *evidence) noteRun(l *LostLedger, r ubl.Record) {
	if len(r.Key) < 9 || len(r.Value) == 0 {
		return
	}
	inside := r.Key[:len(r.Key)-8]
	kind, ok := kindOf(e.p.opts.Numbers, inside)
	if !ok || !kind.Named || !kind.Fixed || kind.Rewritten != 0 && r.Value[0] == kind.Rewritten {
		return
	}
	n := int64(binary.BigEndian.Uint64(r.Key[len(inside):]))
	run := LostRun{Space: string(rune(kind.Space)), Name: string(inside[1 : len(inside)-1]), From: n, To: n}
	for i := range l.Runs {
		if known := &l.Runs[i]; known.Space == run.Space && known.Name == run.Name {
			known.From, known.To = min(known.From, n), max(known.To, n)
			return
		}
	}
	if len(l.Runs) < maxLostLedgers {
		l.Runs = append(l.Runs, run)
	}
}

// name names the ledgers that have lost something and, where a record can't be read,
// all others of the partition: it may be of any.
func (l *Loss) name(e *evidence) {
	for g, ledger := range e.lost {
		l.Groups = append(l.Groups, g.String())
		l.Ledgers = append(l.Ledgers, *ledger)
	}
	slices.Sort(l.Groups)
	byGroup := func(a, b LostLedger) int { return strings.Compare(a.Group, b.Group) }
	slices.SortFunc(l.Ledgers, byGroup)
	if l.Unread > 0 {
		var others []LostLedger
		for g, head := range e.kept {
			if e.lost[g] == nil {
				others = append(others, LostLedger{Group: g.String(), Kept: head.Seq})
			}
		}
		slices.SortFunc(others, byGroup)
		l.Ledgers = append(l.Ledgers, others...)
	}
	if n := len(l.Ledgers); n > maxLostLedgers {
		l.Ledgers, l.More = l.Ledgers[:maxLostLedgers], n-maxLostLedgers
	}
}

// headsIn are the heads of the groups in a file, as far as it can be read.
func headsIn(db *bolt.DB) map[ubl.Group]ubl.LedgerHead {
	heads := make(map[ubl.Group]ubl.LedgerHead)
	tx, err := db.Begin(false)
	if err != nil {
		return heads
	}
	groups, _ := groupsIn(context.Background(), tx) // which ends the transaction
	for _, g := range groups {
		if head, err := headIn(db, g); err == nil {
			heads[g] = head
		}
	}
	return heads
}

func headIn(db *bolt.DB, g ubl.Group) (head ubl.LedgerHead, err error) {
	err = db.View(func(tx *bolt.Tx) (err error) {
		defer guard(&err)
		value, err := getStored(tx.Bucket(dataBucket), append(appendPrefix(nil, g), headSpace))
		if err != nil {
			return err
		}
		head, err = parseHead(value)
		return err
	})
	return head, err
}

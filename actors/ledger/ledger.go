// Package ledger is the LedgerShard family, the receipt authority: it gives
// every atom its seq, prev_hash and cid, moves the head, and is the only code
// that writes to storage.
//
// # Data
//
// A Shard owns its group's head in memory; the store keeps the atoms by seq
// and the durable head. Where an effect comes later than its action, the records
// 'f' seq (8 bytes, big-endian) → version, seq lead from each to the other. The record 'f'
// alone has how many bytes are stored (bytes.go). State is the head and that, and loading it is
// [ubl.Store.Begin]: the barrier that lets everything of an earlier generation
// settle first.
//
// # The way of one append
//
// A deciding actor hands over an [actors.Append]. The Shard builds an action
// and an effect for each act, chains them, gives the acts their receipts, has
// the records sealed with them, and submits one batch built on the head in
// memory. It goes on with the next append without waiting for the disk.
//
// # What fails
//
// A batch that the store refuses fails its append, and with it the group:
// batches already built on its head are refused too, and the Shard is loaded
// anew. Reads go to what is durable and never see a head that may be lost.
package ledger

import (
	"cmp"
	"context"
	"encoding/binary"

	"ubl"
	"ubl/actors"
)

// Family registers LedgerShards over a store. Content is what of the other families'
// records counts as stored.
func Family(store ubl.Store, content ...ubl.Content) actors.Family {
	return actors.Family{
		Name: "ledger",
		Owns: func(local string) bool { return local == "ledger|"+ubl.DefaultShard },
		Open: func(ctx context.Context, env actors.Env) (actors.Actor, error) {
			return open(ctx, store, content, env)
		},
		Commands: []ubl.Command{ubl.GetReceipt{}, ubl.GetLedgerHead{}, ubl.ReadAtoms{}, ubl.ListDeadLetters{}},
		Answers:  []any{(*ubl.ReceiptPair)(nil), ubl.LedgerHead{}, (*ubl.AtomPage)(nil), []ubl.DeadLetter(nil)},
	}
}

// Shard is one LedgerShard.
type Shard struct {
	store   ubl.Store
	group   ubl.Group
	content []ubl.Content
	usage   *actors.Usage

	// Owned by the mailbox:
	lease ubl.Lease
	head  ubl.LedgerHead // of what was submitted, durable or not
	bytes int64          // of the atoms and the content up to the head
}

func open(ctx context.Context, store ubl.Store, content []ubl.Content, env actors.Env) (*Shard, error) {
	s := &Shard{store: store, group: env.Name.Group(), content: content, usage: env.Usage}
	var err error
	if s.lease, s.head, err = store.Begin(ctx, s.group); err != nil {
		return nil, err
	}
	if err := s.checkHead(ctx); err != nil {
		return nil, err
	}
	s.bytes, err = s.loadBytes(ctx)
	s.usage.Set(s.bytes)
	return s, err
}

// Receive implements [actors.Actor].
func (s *Shard) Receive(t *actors.Turn, cmd ubl.Command) {
	ctx := t.Context()
	switch c := cmd.(type) {
	case *actors.Append:
		s.append(c)
	case ubl.GetReceipt:
		t.Later(func() (any, error) { return s.receipt(ctx, c.Seq) })
	case ubl.GetLedgerHead:
		t.Later(func() (any, error) { return s.durableHead(ctx) })
	case ubl.ReadAtoms:
		t.Later(func() (any, error) { return s.atoms(ctx, c.From, c.Limit) })
	case ubl.ListDeadLetters:
		now := t.Now()
		t.Later(func() (any, error) { return s.deadLetters(ctx, c.Pending, now) })
	default:
		t.Fail(ubl.Errorf(ubl.CodeNotFound, "a ledger doesn't answer this command"))
	}
}

// Release implements [actors.Releaser].
func (s *Shard) Release() { s.store.End(s.group, s.lease) }

// append seals the acts into atoms and submits everything as one batch.
func (s *Shard) append(a *actors.Append) {
	b := &ubl.Batch{
		Group: s.group, Lease: s.lease, Head: s.head, Counters: a.Counters,
		Atoms:   make([][]byte, 0, 2*len(a.Acts)),
		Records: make([]ubl.Record, 0, len(a.Records)+1), // and how much is stored
	}
	a.First = s.head.Seq + 1
	for _, act := range a.Acts {
		s.seal(b, act)
	}
	a.Last = s.head.Seq
	b.Next = s.head
	for _, r := range a.Records {
		if r.Seal != nil {
			r.Value = r.Seal()
		}
		b.Records = append(b.Records, ubl.Record{Key: r.Key, Value: r.Value})
		s.bytes += s.weight(r.Key, r.Value)
		s.bytes -= int64(r.Frees)
	}
	s.count(b)
	s.store.Submit(b, a.Settle)
}

// seal adds an act's atoms to the batch and gives it its receipt.
func (s *Shard) seal(b *ubl.Batch, act *actors.Act) {
	if act.Closes != nil {
		action := *act.Closes
		act.Receipt = s.effect(b, act, action.CID)
		b.Records = append(b.Records, pairing(action.Seq, act.Receipt.Seq)...)
		return
	}
	action := ubl.Action{
		TenantID: s.group.Tenant, AgreementID: act.Agreement, AgreementHash: act.AgreementHash, Did: act.Did,
		PrevHash: s.head.HeadHash, RequestID: act.Request.ID, Parent: act.Request.Parent, Session: act.Request.Session,
		Shard: s.group.Shard, Status: cmp.Or(act.Status, ubl.StatusExecuted),
		This: act.This, When: act.At, Who: act.Request.Who.Author(),
	}
	atom, cid := action.Seal()
	act.Receipt = s.advance(b, atom, cid, act.At)
	if action.Status != ubl.StatusIntended {
		s.effect(b, act, cid)
	}
}

// effect adds what came of an action.
func (s *Shard) effect(b *ubl.Batch, act *actors.Act, ref string) ubl.Receipt {
	effect := ubl.Effect{
		TenantID: s.group.Tenant, Effects: act.Effects, Error: act.Error, Outcome: ubl.OutcomeOK, Pointers: act.Pointers,
		PrevHash: s.head.HeadHash, RefActionCID: ref, Shard: s.group.Shard, When: act.At,
	}
	if act.Error != nil {
		effect.Outcome = ubl.OutcomeError
	}
	atom, cid := effect.Seal()
	return s.advance(b, atom, cid, act.At)
}

// advance chains an atom and tells its place.
func (s *Shard) advance(b *ubl.Batch, atom []byte, cid string, at ubl.Time) ubl.Receipt {
	b.Atoms = append(b.Atoms, atom)
	s.head = ubl.LedgerHead{Seq: s.head.Seq + 1, HeadHash: ubl.NextHead(s.head.HeadHash, cid)}
	return ubl.Receipt{Shard: s.group.Shard, Seq: s.head.Seq, CID: cid, HeadHash: s.head.HeadHash, Time: at}
}

// pairing is the records 'f' seq → seq by which an intended action and its later
// effect find each other.
func pairing(action, effect int64) []ubl.Record {
	return []ubl.Record{{Key: pairKey(action), Value: pairValue(effect)}, {Key: pairKey(effect), Value: pairValue(action)}}
}

func pairKey(seq int64) []byte { return binary.BigEndian.AppendUint64([]byte{'f'}, uint64(seq)) }
func pairValue(seq int64) []byte {
	return binary.BigEndian.AppendUint64([]byte{pairVersion}, uint64(seq))
}

// pairVersion begins the value of a pairing.
const pairVersion = 1

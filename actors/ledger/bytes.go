package ledger

import (
	"bytes"
	"context"
	"encoding/binary"
	"slices"

	"ubl"
	"ubl/actors"
)

// How many bytes a tenant has stored is counted here, since all that it writes comes by:
// atoms, and the records that families say are content. With each batch that has atoms
// the record 'f' is written: a byte for the version, then bytes and the seq of the newest
// atom, 8 bytes each. Where it isn't of the head's seq, since an earlier program wrote
// the newest atoms, or of another version, everything is counted once when the Shard is
// loaded. Version 2 counts events and versions of documents too.

const (
	bytesVersion = 2
	bytesSize    = 1 + 8 + 8
)

func bytesKey() []byte { return []byte{'f'} }

// count adds the batch's atoms to the count, and the count to the batch.
func (s *Shard) count(b *ubl.Batch) {
	if len(b.Atoms) == 0 {
		return
	}
	for _, atom := range b.Atoms {
		s.bytes += int64(len(atom))
	}
	v := append(make([]byte, 0, bytesSize), bytesVersion)
	v = binary.BigEndian.AppendUint64(v, uint64(s.bytes))
	b.Records = append(b.Records, ubl.Record{Key: bytesKey(), Value: binary.BigEndian.AppendUint64(v, uint64(b.Next.Seq))})
	s.usage.Set(s.bytes)
}

// weight is how much of what the tenant may store a record that is written takes.
func (s *Shard) weight(key, value []byte) int64 {
	if value == nil {
		return 0
	}
	at := slices.IndexFunc(s.content, func(c ubl.Content) bool { return c.Has(key) })
	if at < 0 {
		return 0
	}
	return s.content[at].Weight(value)
}

// loadBytes is the count as it is stored, or a new one.
func (s *Shard) loadBytes(ctx context.Context) (n int64, err error) {
	known := false
	err = s.store.View(ctx, s.group, func(snap ubl.Snapshot) error {
		v, err := snap.Get(bytesKey())
		if err == nil && len(v) == bytesSize && v[0] == bytesVersion {
			n = int64(binary.BigEndian.Uint64(v[1:]))
			known = int64(binary.BigEndian.Uint64(v[9:])) == s.head.Seq
		}
		return err
	})
	if err != nil || known || s.head.Seq == 0 {
		return n, err
	}
	return s.recount(ctx)
}

// recount reads all atoms and all content, in short views.
func (s *Shard) recount(ctx context.Context) (n int64, err error) {
	for from := int64(1); from <= s.head.Seq; from += actors.EventPage {
		to := min(from+actors.EventPage, s.head.Seq+1)
		err := s.store.View(ctx, s.group, func(snap ubl.Snapshot) error {
			for seq := from; seq < to; seq++ {
				atom, err := snap.Atom(seq)
				if err != nil {
					return err
				}
				n += int64(len(atom))
			}
			return nil
		})
		if err != nil {
			return 0, err
		}
		actors.Progressed(ctx, int(to-from))
	}
	for _, c := range s.content {
		if err := s.eachContent(ctx, c, func(v []byte) { n += c.Weight(v) }); err != nil {
			return 0, err
		}
	}
	return n, nil
}

// eachContent calls fn with the values of a space that count.
func (s *Shard) eachContent(ctx context.Context, c ubl.Content, fn func(v []byte)) error {
	from, end := []byte{c.Space}, []byte{c.Space + 1}
	for {
		read := 0
		err := s.store.View(ctx, s.group, func(snap ubl.Snapshot) error {
			return snap.Ascend(from, end, func(k, v []byte) bool {
				if c.Has(k) {
					fn(v)
				}
				read++
				from = append(bytes.Clone(k), 0)
				return read < actors.EventPage
			})
		})
		if err != nil || read < actors.EventPage {
			return err
		}
		actors.Progressed(ctx, read)
	}
}

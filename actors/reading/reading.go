// Package reading is what Rooms and the Tenant share of how far people have read: the records
// that a Room writes with its entries, and what follows from them. A list of thousands of rooms
// is made of records, without waking a room.
//
// # Data
//
// Stored in the tenant's group, numbers as 8 bytes big-endian:
//
//	c room          counter of entries
//	m room 0 n      entry n, unless retention has removed it
//	R room 0 user   how far the user has read, and what is for them (JSON, [Mark])
//	R room 0        the same for members from before there were marks, and what is for all
//	Q room 0 n      entry n isn't news: no message, one of the system, in a thread, or redacted
//
// A Room is the sole writer. Marks have no receipts: reading leaves no trace in the ledger.
//
// # Counting
//
// Unread are the entries behind a mark that are still there, without those that aren't news.
// Nothing is counted while messages are sent: the numbers are the count.
package reading

import (
	"encoding/binary"
	"encoding/json"
	"slices"
	"strconv"

	"ubl"
)

// Mark is how far somebody has read a room, and which entries behind that are for them in
// particular.
type Mark struct {
	Seq int64   `json:"seq"`
	For []int64 `json:"for,omitempty"` // ascending, [maxFor] at most
}

// maxFor is how many entries for one person a mark names: the newest.
const maxFor = 100

// maxCounted is how many entries that aren't news are counted at most for one number.
const maxCounted = 10_000

// Read is the mark once its holder has read up to seq, which may be further back.
func (m Mark) Read(seq int64) Mark {
	if len(m.For) == 0 {
		return Mark{Seq: seq}
	}
	return Mark{seq, slices.DeleteFunc(slices.Clone(m.For), func(n int64) bool { return n <= seq })}
}

// With is the mark with another entry that is for its holder.
func (m Mark) With(seq int64) Mark {
	list := append(slices.Clone(m.For), seq)
	return Mark{m.Seq, list[max(0, len(list)-maxFor):]}
}

// Without is the mark without an entry that is gone, and whether it had it.
func (m Mark) Without(seq int64) (Mark, bool) {
	if !slices.Contains(m.For, seq) {
		return m, false
	}
	return Mark{m.Seq, slices.DeleteFunc(slices.Clone(m.For), func(n int64) bool { return n == seq })}, true
}

// Encode is the stored form. It is written by hand: each message moves its author's mark.
func (m Mark) Encode() []byte {
	b := strconv.AppendInt(append(make([]byte, 0, 32), `{"seq":`...), m.Seq, 10)
	for i, seq := range m.For {
		if i == 0 {
			b = append(b, `,"for":[`...)
		} else {
			b = append(b, ',')
		}
		b = strconv.AppendInt(b, seq, 10)
	}
	if len(m.For) > 0 {
		b = append(b, ']')
	}
	return append(b, '}')
}

// DecodeMark reads the stored form.
func DecodeMark(b []byte) (m Mark, err error) { return m, json.Unmarshal(b, &m) }

// MarkKey is the key of somebody's mark; without a user, of the mark for all.
func MarkKey(r ubl.RoomID, u ubl.UserID) []byte {
	b := make([]byte, 0, len(r)+len(u)+2)
	return append(append(append(append(b, 'R'), r...), 0), u...)
}

// MarksOf bounds the marks of a room.
func MarksOf(r ubl.RoomID) (from, to []byte) {
	return MarkKey(r, ""), append(append([]byte{'R'}, r...), 1)
}

// QuietKey is the key that says that an entry isn't news.
func QuietKey(r ubl.RoomID, seq int64) []byte { return Numbered('Q', r, seq) }

// EntryKey is the key of an entry.
func EntryKey(r ubl.RoomID, seq int64) []byte { return Numbered('m', r, seq) }

// Numbered is a key of an ordered space of a room; n < 0 is the space's end.
func Numbered(space byte, r ubl.RoomID, n int64) []byte {
	b := make([]byte, 0, len(r)+10)
	b = append(append(b, space), r...)
	if n < 0 {
		return append(b, 1)
	}
	return binary.BigEndian.AppendUint64(append(b, 0), uint64(n))
}

// NumberOf is the number at the end of such a key.
func NumberOf(key []byte) int64 { return int64(binary.BigEndian.Uint64(key[len(key)-8:])) }

// quietVersion is all that the value of such a key says.
const quietVersion = 1

// Quiet is that value.
func Quiet() []byte { return []byte{quietVersion} }

// Counter is the key of the counter of a room's entries.
func Counter(r ubl.RoomID) []byte { return append([]byte{'c'}, r...) }

// Newest is how far somebody has read all that is stored of a room.
func Newest(snap ubl.Snapshot, room ubl.RoomID, user ubl.UserID) (ubl.ReadState, error) {
	last, err := snap.Counter(Counter(room))
	if err != nil {
		return ubl.ReadState{}, err
	}
	return Of(snap, room, user, last)
}

// Of is how far somebody has read a room that has last entries.
func Of(snap ubl.Snapshot, room ubl.RoomID, user ubl.UserID, last int64) (ubl.ReadState, error) {
	own, found, err := mark(snap, room, user)
	if err != nil {
		return ubl.ReadState{}, err
	}
	all, known, err := mark(snap, room, "")
	if err != nil {
		return ubl.ReadState{}, err
	}
	if !found {
		if !known { // nothing was sent since there are marks
			return ubl.ReadState{ReadSeq: last}, nil
		}
		own = Mark{Seq: all.Seq}
	}
	first := last + 1 // behind the mark, of those that are still there
	err = snap.Ascend(EntryKey(room, own.Seq+1), EntryKey(room, first), func(k, _ []byte) bool {
		first = NumberOf(k)
		return false
	})
	if err != nil {
		return ubl.ReadState{}, err
	}
	quiet := int64(0)
	err = snap.Ascend(QuietKey(room, first), QuietKey(room, last+1), func(_, _ []byte) bool {
		quiet++
		return quiet < maxCounted
	})
	s := ubl.ReadState{ReadSeq: own.Seq, Unread: max(0, last+1-first-quiet)}
	for _, seq := range slices.Concat(own.For, all.For) {
		if seq >= first && seq <= last {
			s.Mentions++
		}
	}
	return s, err
}

func mark(snap ubl.Snapshot, room ubl.RoomID, user ubl.UserID) (m Mark, found bool, err error) {
	v, err := snap.Get(MarkKey(room, user))
	if err != nil || v == nil {
		return m, false, err
	}
	if m, err = DecodeMark(v); err != nil {
		return m, false, ubl.Damaged("how far %s is read is stored in a form that can't be read", room)
	}
	return m, true, nil
}

package room

import (
	"bytes"
	"cmp"
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"maps"
	"slices"

	"ubl"
	"ubl/actors/reading"
)

// What became of a message is read from two indexes: v leads from it to what is about it, and
// T to the answers in the thread that it began. A page reads each of them once, for all of its
// messages, and the newest edit of each that has any.

// aboutKey is the key v room 0 target n: entry n is about the target. n < 0 is the end of those
// of one target.
func aboutKey(r ubl.RoomID, target, n int64) []byte {
	b := reading.Numbered('v', r, target)
	if n < 0 {
		return append(b, 0xff)
	}
	return binary.BigEndian.AppendUint64(b, uint64(n))
}

// The first byte of a record under v says what the entry is. Behind it an edit has nothing, a
// pin 1 or 0 for one that is taken away, and a reaction its author, its id and its key, parted by
// zeros: so that a page needn't read a message's every reaction. An imported one has its first
// author's name in the author's place.
const (
	aboutEdit     = 1
	aboutReaction = 2
	aboutPin      = 3
	aboutImported = 4
)

func isEdit(about []byte) bool { return len(about) > 0 && about[0] == aboutEdit }

// isAbout tells the types of entries that have such a record.
func isAbout(kind ubl.EntryType) bool {
	return kind == ubl.EntryEdit || kind == ubl.EntryReaction || kind == ubl.EntryPin
}

// aboutOf is the record of an entry of such a type.
func aboutOf(e *ubl.Entry) ([]byte, error) {
	switch e.Type {
	case ubl.EntryReaction:
		var b ubl.ReactionBody
		err := e.Body.Read(ubl.ContentReaction, &b)
		what, by := byte(aboutReaction), string(e.AuthorID)
		if from := e.ImportedFrom; from != nil {
			what, by = aboutImported, cmp.Or(from.AuthorName, string(from.AuthorID))
		}
		return append([]byte{what}, bytes.Join([][]byte{[]byte(by), []byte(e.ID), []byte(b.Key)}, []byte{0})...), err
	case ubl.EntryPin:
		var b ubl.PinBody
		err := e.Body.Read(ubl.ContentPin, &b)
		about := []byte{aboutPin, 0}
		if b.Pinned {
			about[1] = 1
		}
		return about, err
	}
	return []byte{aboutEdit}, nil
}

// became reads what became of the entries from first to last, as somebody sees it.
func (r *Room) became(snap ubl.Snapshot, who ubl.UserID, first, last int64) (map[int64]*ubl.Became, error) {
	all := make(map[int64]*ubl.Became)
	at := func(seq int64) *ubl.Became {
		if all[seq] == nil {
			all[seq] = new(ubl.Became)
		}
		return all[seq]
	}
	// Both indexes end with the message's number and the entry's.
	of := func(k []byte) *ubl.Became { return at(reading.NumberOf(k[:len(k)-8])) }
	var bad error
	err := snap.Ascend(aboutKey(r.id, first, 0), aboutKey(r.id, last, -1), func(k, v []byte) bool {
		switch b := of(k); {
		case isEdit(v):
			bad = r.edit(snap, b, reading.NumberOf(k))
		case len(v) == 2 && v[0] == aboutPin:
			b.Pinned = v[1] == 1
		case len(v) > 0 && v[0] == aboutReaction:
			if parts := bytes.SplitN(v[1:], []byte{0}, 3); len(parts) == 3 {
				react(b, string(parts[2]), ubl.Reactor{UserID: ubl.UserID(parts[0]), EntryID: ubl.MessageID(parts[1])})
			}
		case len(v) > 0 && v[0] == aboutImported:
			if parts := bytes.SplitN(v[1:], []byte{0}, 3); len(parts) == 3 {
				r := reactions(b, string(parts[2]))
				r.Imported = append(r.Imported, string(parts[0]))
			}
		}
		return bad == nil
	})
	if err = errors.Join(err, bad); err != nil {
		return nil, err
	}
	err = snap.Ascend(threadKey(r.id, first, 0), threadKey(r.id, last, -1), func(k, _ []byte) bool {
		b := of(k)
		if b.Replies == nil {
			b.Replies = new(ubl.Replies)
		}
		b.Replies.Count, b.Replies.RoomSeq = b.Replies.Count+1, reading.NumberOf(k)
		return true
	})
	if err == nil {
		err = r.polled(snap, who, first, last, at)
	}
	if err == nil {
		err = r.formed(snap, who, first, last, at)
	}
	for _, b := range all {
		for i := range b.Reactions {
			r := &b.Reactions[i]
			r.Count = int64(len(r.By) + len(r.Imported))
			r.By, r.Imported = named(r.By, who), r.Imported[:min(len(r.Imported), ubl.MaxReactors)]
		}
	}
	return all, err
}

// becameOf reads the same of some entries.
func (r *Room) becameOf(snap ubl.Snapshot, who ubl.UserID, seqs []int64) (map[int64]*ubl.Became, error) {
	all := make(map[int64]*ubl.Became)
	for _, seq := range seqs {
		one, err := r.became(snap, who, seq, seq)
		if err != nil {
			return nil, err
		}
		maps.Copy(all, one)
	}
	return all, nil
}

// edit takes an edit into what became of its message, unless its text was taken away.
func (r *Room) edit(snap ubl.Snapshot, b *ubl.Became, n int64) error {
	v, err := keptAt(snap, r.id, n)
	if err != nil || v == nil || v.redacted() {
		return err
	}
	e, err := v.entry()
	if err != nil {
		return err
	}
	if b.Edited == nil {
		b.Edited = new(ubl.Edited)
	}
	body := *e.Body
	b.Edited.At, b.Edited.Body, b.Edited.RoomSeq = e.SentAt, &body, n
	b.Edited.Versions = append(b.Edited.Versions, n)
	return nil
}

// react takes a reaction in, by each person once.
func react(b *ubl.Became, key string, by ubl.Reactor) {
	r := reactions(b, key)
	if !slices.ContainsFunc(r.By, func(r ubl.Reactor) bool { return r.UserID == by.UserID }) {
		r.By = append(r.By, by)
	}
}

// reactions are those by a key, none yet where it is the first. Nobody in By is an empty list.
func reactions(b *ubl.Became, key string) *ubl.Reactions {
	i := slices.IndexFunc(b.Reactions, func(r ubl.Reactions) bool { return r.Key == key })
	if i < 0 {
		b.Reactions = append(b.Reactions, ubl.Reactions{By: []ubl.Reactor{}, Key: key})
		i = len(b.Reactions) - 1
	}
	return &b.Reactions[i]
}

// named are the first who reacted, and somebody in particular.
func named(by []ubl.Reactor, who ubl.UserID) []ubl.Reactor {
	if len(by) <= ubl.MaxReactors {
		return by
	}
	own := slices.IndexFunc(by, func(r ubl.Reactor) bool { return r.UserID == who })
	if own < ubl.MaxReactors {
		return by[:ubl.MaxReactors]
	}
	return append(by[:ubl.MaxReactors:ubl.MaxReactors], by[own])
}

// now has the messages of a page tell what became of them.
func (r *Room) now(ctx context.Context, c ubl.ReadHistory, p *ubl.HistoryPage) error {
	if !c.Now || p.FirstSeq == 0 {
		return nil
	}
	var all map[int64]*ubl.Became
	err := r.Read.View(ctx, r.group, func(snap ubl.Snapshot) (err error) {
		all, err = r.became(snap, c.Who.UserID, p.FirstSeq, p.LastSeq)
		return err
	})
	for seq, b := range all {
		i := seq - p.FirstSeq
		switch {
		case err != nil || i < 0 || i >= int64(len(p.Messages)):
		case p.Entries != nil && p.Entries[i] != nil:
			p.Entries[i], err = entryWith(p.Entries[i], *b)
		case p.Messages[i] != nil:
			p.Messages[i], err = messageWith(p.Messages[i], *b)
		}
	}
	return err
}

// entryWith is an entry with what became of it; nothing becomes of one that is redacted, but a
// thread that it began.
func entryWith(raw json.RawMessage, b ubl.Became) (json.RawMessage, error) {
	var e ubl.Entry
	if err := json.Unmarshal(raw, &e); err != nil {
		return nil, err
	}
	if e.Redacted != nil {
		b = ubl.Became{Replies: b.Replies}
	}
	return e.With(b).Encode(), nil
}

// entryNow is an entry with what became of it among others.
func entryNow(raw json.RawMessage, all map[int64]*ubl.Became) (json.RawMessage, error) {
	b, err := stored(append([]byte{formEntry}, raw...)).brief()
	if err != nil || all[b.Seq] == nil {
		return raw, err
	}
	return entryWith(raw, *all[b.Seq])
}

func messageWith(raw json.RawMessage, b ubl.Became) (json.RawMessage, error) {
	var m ubl.Message
	if err := json.Unmarshal(raw, &m); err != nil {
		return nil, err
	}
	now, err := m.With(b)
	if err != nil {
		return nil, err
	}
	return now.AppendJSON(nil), nil
}

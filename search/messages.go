package search

import (
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/blevesearch/bleve/v2"
	"github.com/blevesearch/bleve/v2/analysis"
	"github.com/blevesearch/bleve/v2/document"
	index "github.com/blevesearch/bleve_index_api"

	"ubl"
)

// messageForm is the version of what is indexed of messages; an index of another one is
// made again.
const messageForm = "messages.1"

// Fields of an indexed message.
const (
	inForms  = "w" // its words, with their stems
	inPairs  = "p" // every two words that follow each other
	inRoom   = "r"
	inAuthor = "u"
	inHas    = "h" // what it has: file, link, reaction
	inDay    = "d" // the year, the month and the day, each as one term
	inOrder  = "n" // its place in the ledger, which messages are sorted by
	// ofReactions are stored: the room_seq of reactions to it, see [reactions].
	ofReactions = "x"
	// ofRoom is all that the record of a room has: its mark (JSON), stored.
	ofRoom = "m"
)

// batched is what is to be written to the index of a group's messages. The writer of its book
// owns it. A book has users while it has a batch, so that nobody closes it.
type batched struct {
	docs  map[string]*document.Document // nil for one that goes
	marks map[ubl.RoomID]ubl.RoomMark
	bytes int
}

func (p *batched) full() bool { return len(p.docs) >= batchDocuments || p.bytes >= batchBytes }

// messagesName is the name of a group's messages among the books.
func messagesName(g ubl.Group) ubl.Name {
	return ubl.Name(string(g.Tenant) + inMessages + g.Shard)
}

// inMessages is in the name of each book of messages, and of no container.
const inMessages = "|search|"

// writing has the book of a group's messages to itself. An index that turns out to be
// damaged is thrown away.
func (x *Index) writing(ctx context.Context, g ubl.Group, fn func(*book) error) error {
	b, err := x.take(messagesName(g))
	if err != nil {
		return err
	}
	defer x.give(b)
	if err := b.writer.take(ctx); err != nil {
		return ubl.AsError(err)
	}
	defer b.writer.give()
	begun := time.Now()
	defer func() { b.worked.Add(int64(time.Since(begun))) }()
	err = guarded(func() error {
		if err := x.openMessages(b); err != nil {
			return err
		}
		return fn(b)
	})
	if err = final(ctx, err); err == nil || isFinal(err) {
		return err
	}
	x.throwAway(b, err)
	return ubl.Errorf(ubl.CodeUnavailable, "the index of messages is made again").Because(err)
}

// openMessages brings the index into memory; one of another form is made again.
func (x *Index) openMessages(b *book) error {
	if b.index != nil {
		return nil
	}
	if err := b.open(); err != nil {
		return err
	}
	if b.mark.CID == messageForm || b.mark == (ubl.Mark{}) {
		whole, err := b.index.GetInternal(wholeKey)
		b.setWhole(whole != nil)
		return err
	}
	b.shut()
	x.thrown.Add(1)
	b.setWhole(false)
	return b.create()
}

// throwAway deletes an index. Its writer calls it.
func (x *Index) throwAway(b *book, why error) {
	x.log.Warn("the index of messages is made again", "group", b.of, "error", why)
	x.thrown.Add(1)
	x.drop(b)
	b.setWhole(false)
	_ = guarded(func() error { b.shut(); return nil })
	if err := b.create(); err != nil { // the next one tries again
		x.log.Error("couldn't make the index of messages", "group", b.of, "error", err)
	}
}

// drop forgets what wasn't written.
func (x *Index) drop(b *book) {
	if b.batched != nil {
		b.batched = nil
		x.give(b)
	}
}

// Rebuild implements [ubl.MessageSearcher].
func (x *Index) Rebuild(ctx context.Context, g ubl.Group) error {
	return x.writing(ctx, g, func(b *book) error {
		x.throwAway(b, errors.New("somebody asked for it"))
		return nil
	})
}

// wholeKey says that each room was indexed once since the index was made.
var wholeKey = []byte("whole")

// Whole implements [ubl.MessageSearcher].
func (x *Index) Whole(ctx context.Context, g ubl.Group) (whole bool, err error) {
	_, err = x.reading(ctx, g, func(b *book) { whole = b.whole })
	return whole, err
}

// MessageCursor implements [ubl.MessageSearcher].
func (x *Index) MessageCursor(ctx context.Context, g ubl.Group) (seq int64, err error) {
	_, err = x.reading(ctx, g, func(b *book) { seq = b.mark.N })
	return seq, err
}

// reading looks at a book that is open, and waits for nobody who writes. It answers the index
// that it met.
func (x *Index) reading(ctx context.Context, g ubl.Group, fn func(*book)) (bleve.Index, error) {
	b, err := x.take(messagesName(g))
	if err != nil {
		return nil, err
	}
	defer x.give(b)
	if b.current() == nil {
		if err := x.writing(ctx, g, func(*book) error { return nil }); err != nil {
			return nil, err
		}
	}
	b.mu.RLock()
	defer b.mu.RUnlock()
	fn(b)
	return b.index, nil
}

// Refill implements [ubl.MessageSearcher].
func (x *Index) Refill(g ubl.Group, fill func(context.Context) (int64, error)) {
	b, err := x.take(messagesName(g))
	if err != nil {
		return
	}
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.closed || b.filling {
		b.users--
		return
	}
	b.filling = true
	x.panics.Go(&x.errands, "indexing messages", func() {
		defer x.give(b)
		met, err := x.reading(x.ctx, g, func(*book) {})
		var upTo int64
		if err == nil {
			upTo, err = fill(x.ctx)
		}
		if err == nil {
			err = x.setWhole(x.ctx, g, met, upTo)
		}
		if err != nil && x.ctx.Err() == nil {
			x.log.Warn("messages couldn't be indexed yet", "group", b.of, "error", err)
		}
		x.mu.Lock()
		b.filling = false
		x.mu.Unlock()
	})
}

// setWhole says that each room is in the index, unless another one is in its place by now.
func (x *Index) setWhole(ctx context.Context, g ubl.Group, met bleve.Index, upTo int64) error {
	return x.writing(ctx, g, func(b *book) error {
		if b.index != met {
			return &sourceError{errOtherHistory}
		}
		if err := x.flush(b, upTo); err != nil {
			return err
		}
		if err := b.index.SetInternal(wholeKey, []byte{1}); err != nil {
			return err
		}
		b.setWhole(true)
		return nil
	})
}

func (b *book) setWhole(whole bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.whole = whole
}

// KeepMessages implements [ubl.MessageSearcher].
func (x *Index) KeepMessages(ctx context.Context, g ubl.Group, seq int64) error {
	return x.writing(ctx, g, func(b *book) error { return x.flush(b, seq) })
}

// flush writes what is to be written, and how far the ledger is in it at least.
func (x *Index) flush(b *book, seq int64) error {
	mark := ubl.Mark{N: max(b.mark.N, seq), CID: messageForm}
	p := b.batched
	if p == nil && mark == b.mark {
		return nil
	}
	batch := b.index.NewBatch()
	if p != nil {
		for id, doc := range p.docs {
			if doc == nil {
				batch.Delete(id)
			} else if err := batch.IndexAdvanced(doc); err != nil {
				return fmt.Errorf("couldn't index a message: %w", err)
			}
		}
		for room, m := range p.marks {
			if err := batch.IndexAdvanced(markDocument(room, m)); err != nil {
				return fmt.Errorf("couldn't keep a mark: %w", err)
			}
		}
	}
	value, err := json.Marshal(storedMark{Form: b.form(), N: mark.N, CID: mark.CID})
	if err != nil {
		return err
	}
	batch.SetInternal(markKey, value)
	if err := b.index.Batch(batch); err != nil {
		return fmt.Errorf("couldn't write to the index: %w", err)
	}
	b.put(b.index, mark, length{})
	x.drop(b)
	return nil
}

// errPage ends a round of changes, of which there are more.
var errPage = errors.New("the batch is full")

// IndexMessages implements [ubl.MessageSearcher]. Between batches it rests, and others have
// their turn.
func (x *Index) IndexMessages(ctx context.Context, g ubl.Group, room ubl.RoomID, changes ubl.MessageChanges) error {
	for {
		more, err := x.indexPage(ctx, g, room, changes)
		if err != nil || !more {
			return err
		}
		x.breathe(ctx, x.RestOfMessages(g))
	}
}

func (x *Index) indexPage(ctx context.Context, g ubl.Group, room ubl.RoomID, changes ubl.MessageChanges) (more bool, err error) {
	err = x.writing(ctx, g, func(b *book) error {
		after, err := b.roomMark(room)
		if err != nil {
			return err
		}
		var bad error // the index's own
		known, err := changes(ctx, after, func(c ubl.MessageChange) error {
			if bad = x.change(b, room, c); bad == nil && b.batched.full() {
				bad, more = x.flush(b, 0), true
				return errors.Join(errPage, bad)
			}
			return bad
		})
		switch {
		case bad != nil:
			return bad
		case more:
			return nil
		case err != nil:
			return &sourceError{err}
		case !known:
			return errOtherHistory
		}
		return nil
	})
	return more && err == nil, err
}

// change adds a change to the batch.
func (x *Index) change(b *book, room ubl.RoomID, c ubl.MessageChange) error {
	if b.batched == nil {
		b.batched = &batched{docs: map[string]*document.Document{}, marks: map[ubl.RoomID]ubl.RoomMark{}}
		x.mu.Lock()
		b.users++ // until it is written
		x.mu.Unlock()
	}
	p := b.batched
	p.marks[room] = c.RoomMark
	if c.Seq == 0 {
		return nil
	}
	id := messageID(room, c.Seq)
	if c.Gone {
		p.docs[id] = nil
		return nil
	}
	had, err := b.reactionsOf(id)
	if err != nil {
		return err
	}
	if c.Reaction > 0 {
		had = had.with(c.Reaction, c.ReactionGone)
	}
	p.docs[id] = messageDocument(id, room, c, had)
	p.bytes += len(c.Text)
	return nil
}

// messageID is a message's among all of a group.
func messageID(room ubl.RoomID, seq int64) string {
	return string(room) + "/" + strconv.FormatInt(seq, 36)
}

func readMessageID(id string) (room ubl.RoomID, seq int64, ok bool) {
	of, number, ok := strings.Cut(id, "/")
	seq, err := strconv.ParseInt(number, 36, 64)
	return ubl.RoomID(of), seq, ok && err == nil
}

const (
	found    = index.IndexField | index.SkipFreqNorm
	ranked   = index.IndexField
	sorted   = index.IndexField | index.SkipFreqNorm | index.DocValues
	keptOnly = index.StoreField
)

// messageDocument is a message as it is indexed.
func messageDocument(id string, room ubl.RoomID, c ubl.MessageChange, had reactions) *document.Document {
	doc := document.NewDocument(id)
	put := func(name, text string, options index.FieldIndexingOptions, a analyzed) {
		doc.AddField(document.NewTextFieldCustom(name, nil, []byte(text), options, a))
	}
	words := wordsOf(c.Text) // once for both
	put(inForms, c.Text, ranked, func(string) analysis.TokenStream { return allForms(words) })
	put(inPairs, c.Text, found, func(string) analysis.TokenStream { return allPairs(words) })
	put(inRoom, string(room), found, fields)
	put(inAuthor, string(c.AuthorID), found, fields)
	put(inDay, strings.Join(daysOf(c.SentAt), " "), found, fields)
	put(inOrder, orderOf(c.Order), sorted, fields)
	if has := hasOf(c, had); has != "" {
		put(inHas, has, found, fields)
	}
	if len(had) > 0 {
		put(ofReactions, string(had.encode()), keptOnly, fields)
	}
	return doc
}

// orderOf is a place in the ledger as text that sorts as the number does.
func orderOf(n int64) string { return fmt.Sprintf("%012x", n) }

func daysOf(t ubl.Time) []string {
	at := t.Std()
	return []string{at.Format("2006"), at.Format("200601"), at.Format("20060102")}
}

func hasOf(c ubl.MessageChange, had reactions) string {
	var has []string
	if c.Files {
		has = append(has, ubl.HasFile)
	}
	if ubl.HasLinks(c.Text) {
		has = append(has, ubl.HasLink)
	}
	if len(had) > 0 {
		has = append(has, ubl.HasReaction)
	}
	return strings.Join(has, " ")
}

// reactions are the room_seq of reactions to a message, in order. Of very many the first ones
// are kept, and manyReactions behind them, for good.
type reactions []int64

const (
	maxReactions  = 256
	manyReactions = -1
)

func (r reactions) with(seq int64, gone bool) reactions {
	i := slices.Index(r, seq)
	switch {
	case gone && i >= 0:
		return slices.Delete(slices.Clone(r), i, i+1)
	case gone || i >= 0 || len(r) > maxReactions:
		return r
	case len(r) == maxReactions:
		seq = manyReactions
	}
	return append(slices.Clone(r), seq)
}

func (r reactions) encode() (out []byte) {
	for _, seq := range r {
		out = binary.AppendVarint(out, seq)
	}
	return out
}

func readReactions(data []byte) (r reactions) {
	for len(data) > 0 {
		seq, n := binary.Varint(data)
		if n <= 0 {
			return r
		}
		r, data = append(r, seq), data[n:]
	}
	return r
}

// reactionsOf are those of a message as it is indexed, or to be.
func (b *book) reactionsOf(id string) (reactions, error) {
	if doc, ok := b.batched.docs[id]; ok {
		if doc == nil {
			return nil, nil
		}
		return readReactions(storedIn(doc, ofReactions)), nil
	}
	doc, err := b.index.Document(id)
	if doc == nil || err != nil {
		return nil, err
	}
	return readReactions(storedIn(doc, ofReactions)), nil
}

func storedIn(doc index.Document, field string) (value []byte) {
	doc.VisitFields(func(f index.Field) {
		if f.Name() == field {
			value = slices.Clone(f.Value())
		}
	})
	return value
}

// storedRoomMark is the mark of a room as it is kept (JSON).
type storedRoomMark struct {
	N    int64  `json:"n"`
	CID  string `json:"cid"`
	From int64  `json:"from"`
}

func markID(room ubl.RoomID) string { return "mark/" + string(room) }

func markDocument(room ubl.RoomID, m ubl.RoomMark) *document.Document {
	data, err := json.Marshal(storedRoomMark{m.N, m.CID, m.From})
	if err != nil {
		panic(err) // numbers and a string
	}
	doc := document.NewDocument(markID(room))
	doc.AddField(document.NewTextFieldCustom(ofRoom, nil, data, keptOnly, analyzed(fields)))
	return doc
}

// roomMark is how far a room is in the index, and in what is to be written.
func (b *book) roomMark(room ubl.RoomID) (ubl.RoomMark, error) {
	if b.batched != nil {
		if m, ok := b.batched.marks[room]; ok {
			return m, nil
		}
	}
	doc, err := b.index.Document(markID(room))
	if doc == nil || err != nil {
		return ubl.RoomMark{From: 1}, err
	}
	var m storedRoomMark
	err = json.Unmarshal(storedIn(doc, ofRoom), &m)
	return ubl.RoomMark{Mark: ubl.Mark{N: m.N, CID: m.CID}, From: m.From}, err
}

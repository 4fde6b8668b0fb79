package search

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/blevesearch/bleve/v2"

	"ubl"
)

// Bounds of one batch of changes.
const (
	batchDocuments = 2000
	batchBytes     = 256 << 10 // bleve takes some hundred times as much while it indexes them
)

// page gathers changes until they are worth writing. Of a document that changed
// several times it keeps the newest.
type page struct {
	book  *book
	newer map[ubl.DocumentID]ubl.DocumentChange
	mark  ubl.Mark
	bytes int
}

func (b *book) page() *page {
	return &page{book: b, newer: make(map[ubl.DocumentID]ubl.DocumentChange), mark: b.mark}
}

// add takes a change in.
func (p *page) add(c ubl.DocumentChange) {
	p.mark = c.Mark
	p.bytes += len(c.Title) + len(c.Content) - len(p.newer[c.DocumentID].Content)
	p.newer[c.DocumentID] = c
}

// full tells that there is enough to be written.
func (p *page) full() bool { return len(p.newer) >= batchDocuments || p.bytes >= batchBytes }

// write puts changes and mark into the index, together, when it is this book's
// turn.
func (p *page) write(ctx context.Context) error {
	if p.mark == p.book.mark && len(p.newer) == 0 {
		return nil
	}
	if err := p.book.batches.take(ctx); err != nil {
		return err
	}
	defer p.book.batches.give()
	batch, l := p.book.index.NewBatch(), p.book.length
	for id, c := range p.newer {
		if c.Deleted {
			batch.Delete(string(id))
			continue
		}
		doc, stems, err := documentOf(p.book.index.Mapping(), c)
		if err == nil {
			err = batch.IndexAdvanced(doc)
		}
		if err != nil {
			return fmt.Errorf("couldn't index a document: %w", err)
		}
		l.Documents, l.Stems = l.Documents+1, l.Stems+int64(stems)
	}
	value, err := json.Marshal(storedMark{Form: p.book.form(), N: p.mark.N, CID: p.mark.CID, length: l})
	if err != nil {
		return err
	}
	batch.SetInternal(markKey, value)
	if err := p.book.index.Batch(batch); err != nil {
		return fmt.Errorf("couldn't write to the index: %w", err)
	}
	p.book.put(p.book.index, p.mark, l)
	clear(p.newer)
	p.bytes = 0
	return nil
}

// markKey is where an index keeps its mark.
var markKey = []byte("mark")

// storedMark is the mark as it is kept (JSON).
type storedMark struct {
	Form string `json:"form"`
	N    int64  `json:"n"`
	CID  string `json:"cid"`
	length
}

// length is how many versions of documents were indexed, and how many stems they had: those that have gone are
// counted, too, since ranking needs no more than about how long documents are.
type length struct {
	Documents int64 `json:"documents,omitempty"`
	Stems     int64 `json:"stems,omitempty"`
}

func (l length) average() float64 { return float64(l.Stems) / float64(max(l.Documents, 1)) }

// readMark is the mark of an index, which must be of a form.
func readMark(index bleve.Index, form string) (ubl.Mark, length, error) {
	data, err := index.GetInternal(markKey)
	if err != nil || data == nil {
		return ubl.Mark{}, length{}, errors.Join(err, errNoMark)
	}
	var m storedMark
	if err := json.Unmarshal(data, &m); err != nil {
		return ubl.Mark{}, length{}, fmt.Errorf("couldn't read the mark: %w", err)
	}
	if m.Form != form {
		return ubl.Mark{}, length{}, errors.New("the index has another form")
	}
	return ubl.Mark{N: m.N, CID: m.CID}, m.length, nil
}

// errNoMark says that an index holds nothing yet, or was lost before anything
// was written.
var errNoMark = errors.New("the index has no mark")

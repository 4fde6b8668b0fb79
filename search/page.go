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
	batch := p.book.index.NewBatch()
	for id, c := range p.newer {
		if c.Deleted {
			batch.Delete(string(id))
		} else if err := batch.Index(string(id), map[string]any{
			fieldTitle: fold(c.Title), fieldContent: fold(c.Content), fieldText: beginning(c.Content),
		}); err != nil {
			return fmt.Errorf("couldn't index a document: %w", err)
		}
	}
	value, err := json.Marshal(storedMark{Form: formVersion, N: p.mark.N, CID: p.mark.CID})
	if err != nil {
		return err
	}
	batch.SetInternal(markKey, value)
	if err := p.book.index.Batch(batch); err != nil {
		return fmt.Errorf("couldn't write to the index: %w", err)
	}
	p.book.put(p.book.index, p.mark)
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
}

func readMark(index bleve.Index) (ubl.Mark, error) {
	data, err := index.GetInternal(markKey)
	if err != nil || data == nil {
		return ubl.Mark{}, errors.Join(err, errNoMark)
	}
	var m storedMark
	if err := json.Unmarshal(data, &m); err != nil {
		return ubl.Mark{}, fmt.Errorf("couldn't read the mark: %w", err)
	}
	if m.Form != formVersion {
		return ubl.Mark{}, errors.New("the index has another form")
	}
	return ubl.Mark{N: m.N, CID: m.CID}, nil
}

// errNoMark says that an index holds nothing yet, or was lost before anything
// was written.
var errNoMark = errors.New("the index has no mark")

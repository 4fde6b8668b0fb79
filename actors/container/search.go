package container

import (
	"cmp"
	"context"
	"errors"
	"time"

	"ubl"
	"ubl/actors"
)

// searchDocuments finds documents. The Searcher is brought up to the newest change
// that the turn could see.
func (c *Container) searchDocuments(t *actors.Turn, cmd ubl.SearchDocuments) {
	err := c.State.reads(cmd.Who, ubl.DidDocumentSearch)
	if err == nil {
		err = c.canFind(&cmd.DocumentQuery)
	}
	if err != nil {
		t.Fail(err)
		return
	}
	limit := min(max(cmp.Or(cmd.Limit, searchPage), 1), maxSearchPage)
	upTo, hidden := c.State.Changed, c.State.Hidden
	salt, err := ubl.NewSalt(c.Random)
	if err != nil {
		t.Fail(err)
		return
	}
	this := ubl.Fields{ubl.Str("query_hash", salt.CommitText("query", cmd.Query))}
	c.reading(t, cmd.Request, ubl.DidDocumentSearch, "document.read", this, func(ctx context.Context, act *actors.Act) (any, error) {
		after := min(max(cmd.After, 0), ubl.MaxHits)
		hits, err := c.find(ctx, upTo, hidden, cmd.DocumentQuery, after, min(limit, ubl.MaxHits-after))
		if err == nil {
			hits.Receipt, hits.Salt = act.Receipt, salt
		}
		return hits, err
	})
}

// canFind refuses what can't be searched for.
func (c *Container) canFind(q *ubl.DocumentQuery) error {
	if c.search == nil {
		return ubl.Errorf(ubl.CodeUnavailable, "this server has no search")
	}
	return q.Check()
}

// findTimeout bounds a search, well within the minute in which an answer has to be
// written. For the index a search waits for less (see [ubl.Searcher]).
const findTimeout = 30 * time.Second

// excerptTexts is how many bytes of texts are read for the excerpts of one search. What has a longer text than is left
// of them is shown without one.
const excerptTexts = 16 << 20

// find asks the Searcher, and reads what it found of the best behind the first few. It looks for one
// more, to see whether there is another page.
func (c *Container) find(ctx context.Context, upTo int64, hidden ubl.Time, q ubl.DocumentQuery, after, limit int) (*ubl.DocumentHits, error) {
	ctx, cancel := context.WithTimeout(ctx, findTimeout)
	defer cancel()
	mark, err := c.mark(ctx, upTo)
	if err != nil {
		return nil, err
	}
	found, err := c.search.Search(ctx, c.Name, mark, c.changesUpTo(upTo), q, after+limit+1)
	if err != nil {
		return nil, err
	}
	hits := &ubl.DocumentHits{Documents: []*ubl.DocumentHit{}}
	if end := after + limit; len(found.Matches) > end {
		found.Matches = found.Matches[:end]
		if end < ubl.MaxHits {
			hits.Next = end
		}
	}
	found.Matches = found.Matches[min(after, len(found.Matches)):]
	if found.Behind {
		if hits.Indexing, err = c.indexed(ctx, found.Reached); err != nil {
			return nil, err
		}
	}
	left := int64(excerptTexts)
	for _, m := range found.Matches {
		doc, content, err := c.matched(ctx, m.DocumentID, left)
		if err != nil {
			return nil, err
		}
		left -= int64(len(content))
		if doc != nil && doc.UpdatedAt > hidden {
			hits.Documents = append(hits.Documents, &ubl.DocumentHit{Document: *doc, Score: m.Score, Excerpt: found.Excerpt(content)})
		}
	}
	return hits, nil
}

// matched is a document that the index has, with its content beside it where that has at most so many bytes; nil for one
// that is gone, which the index may be yet to learn. Each is read in a view of its own, which is short.
func (c *Container) matched(ctx context.Context, id ubl.DocumentID, most int64) (doc *ubl.Document, content string, err error) {
	var stored []byte
	err = c.Read.View(ctx, c.group, func(snap ubl.Snapshot) error {
		deleted, err := c.isDeleted(snap, id)
		if err != nil || deleted {
			return err
		}
		var text int64
		if doc, text, err = c.newest(snap, id); err == nil && doc != nil && doc.Bytes <= most {
			stored, err = c.readText(snap, string(id), text)
		}
		return err
	})
	if err != nil || stored == nil {
		return doc, "", err
	}
	text, err := decodeText(stored)
	return doc, text.Content, err
}

// indexed says how far an index is that has reached a mark. An index of another history
// will be rebuilt, so it is complete up to nothing.
func (c *Container) indexed(ctx context.Context, reached ubl.Mark) (*ubl.Indexing, error) {
	if reached.N == 0 {
		return &ubl.Indexing{}, nil
	}
	page, err := c.Events().Page(ctx, reached.N, 1)
	if err != nil || len(page) == 0 || page[0].Receipt.CID != reached.CID {
		return &ubl.Indexing{}, err
	}
	return &ubl.Indexing{CompleteUpTo: &page[0].At}, nil
}

// newest is the newest version that is stored, nil for none, and the version of its text.
func (c *Container) newest(snap ubl.Snapshot, id ubl.DocumentID) (doc *ubl.Document, text int64, err error) {
	var bad error
	err = snap.Descend(versionKey(c.id, id, 0), versionKey(c.id, id, -1), func(_, v []byte) bool {
		doc, text, bad = c.decodeVersion(v)
		return false
	})
	return doc, text, errors.Join(err, bad)
}

// mark is a point in the history as it is stored; its CID is "" where there is no
// such event.
func (c *Container) mark(ctx context.Context, n int64) (ubl.Mark, error) {
	if n == 0 {
		return ubl.Mark{}, nil
	}
	page, err := c.Events().Page(ctx, n, 1)
	if err != nil || len(page) == 0 {
		return ubl.Mark{N: n}, err
	}
	return ubl.Mark{N: n, CID: page[0].Receipt.CID}, nil
}

// textsAtOnce is about how many bytes of texts are in memory while changes are told, and
// are read in one view, which must be short.
const textsAtOnce = 1 << 20

// changesUpTo tells those up to an event.
func (c *Container) changesUpTo(upTo int64) ubl.DocumentChanges {
	return func(ctx context.Context, after ubl.Mark, fn func(ubl.DocumentChange) error) (bool, error) {
		return c.tellChanges(ctx, after, upTo, fn)
	}
}

func (c *Container) tellChanges(ctx context.Context, after ubl.Mark, upTo int64, fn func(ubl.DocumentChange) error) (known bool, err error) {
	ctx = ubl.WithReading(ctx, c.group) // all of it was committed before
	if at, err := c.mark(ctx, after.N); err != nil || at != after {
		return false, err
	}
	var batch []told
	var bytes int64
	tell := func() error {
		err := c.tellBatch(ctx, batch, fn)
		batch, bytes = batch[:0], 0
		return err
	}
	reached := after
	err = c.Events().Each(ctx, after.N+1, upTo, func(e event) error {
		all := e.changed()
		for i, d := range all {
			if i == len(all)-1 { // only then has the event been told
				reached = ubl.Mark{N: e.N, CID: e.Receipt.CID}
			}
			batch, bytes = append(batch, told{d, reached}), bytes+d.Bytes
			if len(batch) < eventPage && bytes < textsAtOnce {
				continue
			}
			if err := tell(); err != nil {
				return err
			}
		}
		return nil
	})
	if err == nil {
		err = tell()
	}
	return true, err
}

// told is a change, and how far the history has been told with it.
type told struct {
	change
	mark ubl.Mark
}

// tellBatch tells changes of documents, whose texts it reads in one view.
func (c *Container) tellBatch(ctx context.Context, batch []told, fn func(ubl.DocumentChange) error) error {
	if len(batch) == 0 {
		return nil
	}
	texts := make([][]byte, len(batch))
	err := c.Read.View(ctx, c.group, func(snap ubl.Snapshot) error {
		for i, d := range batch {
			if d.gone {
				continue
			}
			deleted, err := c.isDeleted(snap, d.ID)
			if err == nil && !deleted {
				texts[i], err = c.readText(snap, string(d.ID), d.Text)
			}
			if err != nil {
				return err
			}
		}
		return nil
	})
	for i, d := range batch {
		if err != nil {
			return err
		}
		change := ubl.DocumentChange{Mark: d.mark, DocumentID: d.ID}
		if change.Deleted = d.gone || texts[i] == nil || d.UpdatedAt <= ubl.Time(c.hidden.Load()); !change.Deleted {
			var stored text
			if stored, err = decodeText(texts[i]); err != nil {
				return err
			}
			change.Title, change.Content = d.Title, stored.Content
			change.UpdatedAt, change.Published = d.UpdatedAt, d.Published
		}
		err = fn(change)
	}
	return err
}

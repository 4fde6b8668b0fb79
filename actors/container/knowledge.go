package container

import (
	"context"
	"encoding/json"
	"math"
	"slices"

	"ubl"
	"ubl/actors"
	"ubl/knowledge"
)

// What anyone reads of a knowledge commons. It is shown as documents are, so the same terms decide; see
// public.go.

func (c *Container) listKnowledge(t *actors.Turn, cmd ubl.ListKnowledge) {
	if err := c.State.shows(ubl.DidDocumentList, t.Now()); err != nil {
		t.Fail(err)
		return
	}
	all := c.catalogue()
	out := &ubl.KnowledgeList{Data: []ubl.Knowledge{}, Offset: cmd.Offset, Limit: cmd.Limit, Events: c.State.Events}
	did := ubl.DidDocumentGet
	if cmd.Brief {
		did = ubl.DidDocumentList
	}
	c.showing(t, did, func(ctx context.Context) (any, error) {
		if err := cmd.Check(); err != nil {
			return nil, err
		}
		part, total := all.list(cmd)
		out.Total = total
		if cmd.Brief {
			for _, e := range part {
				out.Data = append(out.Data, ubl.Knowledge{
					ID: e.as.ID, ContentType: e.as.Type, Path: e.as.Path, Title: e.title, Metadata: e.as.Metadata, SyncedAt: e.updated, CommitSHA: e.as.Commit, DocumentID: e.id,
				})
			}
			return out, nil
		}
		left := int64(ubl.MaxKnowledgeBytes)
		for _, e := range part {
			k, err := c.knowledge(ctx, e.id, left)
			if err != nil {
				return nil, err
			}
			if k == nil {
				continue
			}
			if k.Content != nil {
				left -= int64(len(*k.Content))
			}
			out.Data = append(out.Data, *k)
		}
		return out, nil
	})
}

func (c *Container) readKnowledge(t *actors.Turn, cmd ubl.ReadKnowledge) {
	id := c.State.Keyed[cmd.DocumentKey]
	_, listed := slices.BinarySearch(c.State.Listed, id)
	events := c.State.Events
	linked := func(context.Context) (*knowledge.Graph, error) { return nil, nil }
	if cmd.Linked && listed {
		linked = c.linking()
	}
	c.showing(t, ubl.DidDocumentGet, func(ctx context.Context) (any, error) {
		if !listed {
			return nil, errNoDocument()
		}
		k, err := c.knowledge(ctx, id, math.MaxInt64)
		if err == nil && k == nil {
			err = errNoDocument()
		}
		if err != nil {
			return nil, err
		}
		out := &ubl.KnowledgeFound{Data: *k, Events: events}
		g, err := linked(ctx)
		if g != nil {
			out.Links, out.Backlinks = g.Links(cmd.DocumentKey)
		}
		return out, err
	})
}

// knowledge is a published document as anyone reads it, with its content where that has at most so many
// bytes; nil where it is gone by now.
func (c *Container) knowledge(ctx context.Context, id ubl.DocumentID, most int64) (*ubl.Knowledge, error) {
	d, content, err := c.matched(ctx, id, most)
	if err != nil || d == nil || d.Published == nil {
		return nil, err
	}
	as := d.Published
	k := &ubl.Knowledge{
		ID: as.ID, ContentType: as.Type, Path: as.Path, Title: d.Title, Metadata: as.Metadata, SyncedAt: d.UpdatedAt, CommitSHA: as.Commit,
		DocumentID: d.DocumentID, Version: d.Version, ContentHash: d.ContentHash, Salt: d.Salt,
	}
	if d.Bytes <= most {
		k.Content = &content
	}
	return k, nil
}

func (c *Container) searchKnowledge(t *actors.Turn, cmd ubl.SearchKnowledge) {
	out := &ubl.KnowledgeHits{Results: []ubl.KnowledgeHit{}, Events: c.State.Events}
	upTo, hidden := c.State.Changed, c.State.Hidden
	c.showing(t, ubl.DidDocumentSearch, func(ctx context.Context) (any, error) {
		if err := c.canFind(&cmd.DocumentQuery); err != nil {
			return nil, err
		}
		if cmd.Limit < 1 || cmd.Limit > ubl.MaxKnowledgeHits {
			return nil, ubl.Errorf(ubl.CodeValidation, "a search finds 1 to %d", ubl.MaxKnowledgeHits)
		}
		hits, err := c.find(ctx, upTo, hidden, cmd.DocumentQuery, 0, 2*cmd.Limit) // some may be written here
		if err != nil {
			return nil, err
		}
		out.Indexing = hits.Indexing
		for _, hit := range hits.Documents {
			if as := hit.Published; as != nil && len(out.Results) < cmd.Limit {
				out.Results = append(out.Results, ubl.KnowledgeHit{ID: as.ID, ContentType: as.Type, Title: hit.Title, Description: described(as), Score: hit.Score, Excerpt: hit.Excerpt})
			}
		}
		return out, nil
	})
}

// described is what a document says that it is about, "" for nothing.
func described(as *ubl.PublishedAs) string {
	var says struct{ Description any }
	_ = json.Unmarshal(as.Metadata, &says) // it was checked when it came
	text, _ := says.Description.(string)
	return text
}

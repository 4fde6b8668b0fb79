package container

import (
	"cmp"
	"context"
	"errors"
	"slices"

	"ubl"
	"ubl/actors"
)

// Pages and answers, where the caller asks for none or for more.
const (
	listPage, maxListPage     = 50, 200
	searchPage, maxSearchPage = 20, 100
)

// reading puts a look on record, op saying at what, and answers with what read finds. The act's
// receipt is there by then.
func (c *Container) reading(t *actors.Turn, req ubl.Request, did ubl.Did, op string, this ubl.Fields, read func(context.Context, *actors.Act) (any, error)) {
	place := ubl.Str("workspace_id", c.id)
	act, err := c.Look(t, did, req, actors.Act{
		This: append(this, place), Effects: []ubl.Fields{{ubl.Str("op", op), place}},
	})
	t.Read(err, func(ctx context.Context) (any, error) { return read(ctx, act) })
}

// getDocument reads a document. One that is deleted is there no more, whatever the version.
func (c *Container) getDocument(t *actors.Turn, cmd ubl.GetDocument) {
	err := c.State.reads(cmd.Who, ubl.DidDocumentGet)
	if err == nil && !cmd.DocumentID.Valid() { // it goes into an atom, found or not
		err = ubl.Errorf(ubl.CodeValidation, "the document is not named by the id of one")
	}
	if err != nil {
		t.Fail(err)
		return
	}
	last := c.State.Documents[cmd.DocumentID].Version
	n := cmd.Version
	if n == 0 {
		n = last
	}
	if n < 0 || n > last {
		n = 0
	}
	this := ubl.Fields{ubl.Str("document_id", cmd.DocumentID)}
	if n > 0 {
		this = append(this, ubl.Int("version", n))
	}
	held := heldFiles(c.State.filesOf(cmd.DocumentID))
	c.reading(t, cmd.Request, ubl.DidDocumentGet, "document.read", this, func(ctx context.Context, act *actors.Act) (any, error) {
		doc, err := c.readDocument(ctx, cmd.DocumentID, n)
		if err != nil {
			return nil, err
		}
		if doc != nil {
			doc.Files = held
		}
		return &ubl.DocumentResult{Document: doc, Receipt: act.Receipt}, nil
	})
}

// pageOf is how many the caller of a list gets.
func pageOf(limit int) int { return min(max(cmp.Or(limit, listPage), 1), maxListPage) }

// listDocuments reads a page of documents without their contents.
func (c *Container) listDocuments(t *actors.Turn, cmd ubl.ListDocuments) {
	err := c.State.reads(cmd.Who, ubl.DidDocumentList)
	if err == nil {
		err = t.Past(cmd.AsOf)
	}
	if err != nil {
		t.Fail(err)
		return
	}
	hidden := c.State.Hidden
	page, next := c.State.page(cmd.After, cmd.Limit, nil)
	c.reading(t, cmd.Request, ubl.DidDocumentList, "document.read", nil, func(ctx context.Context, act *actors.Act) (any, error) {
		if cmd.AsOf.IsNow() {
			return c.list(ctx, page, &ubl.DocumentList{Next: next, Receipt: act.Receipt})
		}
		s, newest, err := c.then(ctx, cmd.AsOf, hidden)
		if err != nil {
			return nil, err
		}
		var page []document
		var next ubl.DocumentID
		err = c.Read.View(ctx, c.group, func(snap ubl.Snapshot) (err error) {
			page, next = s.page(cmd.After, cmd.Limit, func(id ubl.DocumentID) bool {
				deleted, bad := c.isDeleted(snap, id)
				err = errors.Join(err, bad)
				return deleted
			})
			return err
		})
		if err != nil {
			return nil, err
		}
		return c.list(ctx, page, &ubl.DocumentList{Next: next, Receipt: act.Receipt, AsOf: &newest.Receipt})
	})
}

// page is the documents after one, but for those that were deleted since (nil for none), and
// the last of them where there are more.
func (s *State) page(after ubl.DocumentID, limit int, deleted func(ubl.DocumentID) bool) (page []document, next ubl.DocumentID) {
	at, found := slices.BinarySearch(s.Listed, after)
	if found {
		at++
	}
	limit = pageOf(limit)
	for _, id := range s.Listed[at:] {
		if deleted != nil && deleted(id) {
			continue
		}
		if len(page) == limit {
			return page, page[limit-1].ID
		}
		page = append(page, s.Documents[id])
	}
	return page, ""
}

// list fills in the documents of a page, with their receipts.
func (c *Container) list(ctx context.Context, page []document, list *ubl.DocumentList) (any, error) {
	list.Documents = make([]*ubl.Document, 0, len(page))
	return list, c.Read.View(ctx, c.group, func(snap ubl.Snapshot) error {
		for _, d := range page {
			doc, _, err := c.readVersion(snap, d.ID, d.Version)
			if err != nil {
				return err
			}
			if doc != nil { // it wasn't deleted meanwhile
				list.Documents = append(list.Documents, doc)
			}
		}
		return nil
	})
}

// listVersions reads a page of the versions that a document has had in this
// container.
func (c *Container) listVersions(t *actors.Turn, cmd ubl.ListVersions) {
	err := c.State.reads(cmd.Who, ubl.DidDocumentVersions)
	newest, bad := c.State.current(cmd.DocumentID)
	if err == nil {
		err = bad
	}
	if err != nil {
		t.Fail(err)
		return
	}
	this := ubl.Fields{ubl.Str("document_id", cmd.DocumentID)}
	c.reading(t, cmd.Request, ubl.DidDocumentVersions, "document.read", this, func(ctx context.Context, act *actors.Act) (any, error) {
		list, err := c.versions(ctx, cmd.DocumentID, max(cmd.After, 0)+1, newest.Version, pageOf(cmd.Limit))
		if err != nil {
			return nil, err
		}
		list.Receipt = act.Receipt
		return list, nil
	})
}

// versions reads versions first to last, or as many as the limit lets. Numbers of
// versions that a strict document had elsewhere are missing.
func (c *Container) versions(ctx context.Context, id ubl.DocumentID, first, last int64, limit int) (*ubl.DocumentList, error) {
	list := &ubl.DocumentList{Documents: []*ubl.Document{}}
	var bad error
	err := c.Read.View(ctx, c.group, func(snap ubl.Snapshot) error {
		return snap.Ascend(versionKey(c.id, id, first), versionKey(c.id, id, last+1), func(_, v []byte) bool {
			if len(list.Documents) == limit {
				list.NextVersion = list.Documents[limit-1].Version
				return false
			}
			var doc *ubl.Document
			if doc, _, bad = c.decodeVersion(v); bad == nil && doc != nil {
				list.Documents = append(list.Documents, doc)
			}
			return bad == nil
		})
	})
	return list, errors.Join(err, bad)
}

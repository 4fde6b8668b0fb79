package container

import (
	"context"

	"ubl"
	"ubl/actors"
	"ubl/actors/agreement"
)

// What anyone reads without an identity. It is no act, since nobody is known to have acted,
// and so it leaves no receipt. Whatever isn't shown to anyone is answered like what never was.

// shows refuses what the Agreement doesn't show to anyone now. Members look on after its end
// and before its terms begin; others have no part in it by which they could.
func (s *State) shows(did ubl.Did, now ubl.Time) error {
	a := &s.Agreement
	anyone := func(did ubl.Did) bool { return a.Permits(did, ubl.Identity{}, ubl.CodeNotFound) == nil }
	public := s.Summary.Physics.Permeability == ubl.Public && s.keeps() && a.SealedAt == nil && a.Terms.Running(now) == nil
	if !public || !anyone("container.get") || !anyone(did) {
		return errUnknown()
	}
	return nil
}

// showing answers with what read finds, where the terms show it and the tenant is still
// there: after its end nobody in it could take anything back.
func (c *Container) showing(t *actors.Turn, did ubl.Did, read func(context.Context) (any, error)) {
	t.Read(c.State.shows(did, t.Now()), func(ctx context.Context) (any, error) {
		if _, err := c.Ask.Ask(ctx, ubl.TenantName(c.tenant), agreement.CheckLicense{}); err != nil {
			if code := ubl.CodeOf(err); code == ubl.CodeForbidden || code == ubl.CodeNotFound {
				err = errUnknown()
			}
			return nil, err
		}
		return read(ctx)
	})
}

func (c *Container) lookPublic(t *actors.Turn) {
	s := &c.State
	out := &ubl.PublicContainer{
		ContainerID: c.id, TenantID: c.tenant, Kind: s.Summary.Kind, Name: s.Summary.Name, Content: s.Content,
		Documents: int64(len(s.Listed)), CreatedAt: s.Summary.CreatedAt, Events: s.Events,
	}
	c.showing(t, "container.get", func(context.Context) (any, error) { return out, nil })
}

func (c *Container) readPublic(t *actors.Turn, cmd ubl.ReadPublic) {
	events, newest := c.State.Events, c.State.Documents[cmd.DocumentID].Version
	n := cmd.Version
	if n == 0 {
		n = newest
	}
	c.showing(t, ubl.DidDocumentGet, func(ctx context.Context) (any, error) {
		if n < 1 || n > newest {
			return nil, errNoDocument()
		}
		d, err := c.readDocument(ctx, cmd.DocumentID, n)
		if err != nil {
			return nil, err
		}
		if d == nil { // a strict document had it elsewhere
			return nil, errNoDocument()
		}
		out := shown(d)
		out.Events = events
		return &out, nil
	})
}

func (c *Container) listPublic(t *actors.Turn, cmd ubl.ListPublic) {
	_, listed := c.State.Documents[cmd.After]
	page, next := c.State.page(cmd.After, ubl.PublicPage, nil)
	out := &ubl.PublicDocuments{Documents: make([]ubl.PublicDocument, 0, len(page)), Listed: listed || cmd.After == "", Events: c.State.Events}
	if next != "" {
		out.Next = &next
	}
	c.showing(t, ubl.DidDocumentList, func(context.Context) (any, error) {
		for _, d := range page {
			out.Documents = append(out.Documents, shown(c.document(d)))
		}
		return out, nil
	})
}

// shown is what anyone is told of a version.
func shown(d *ubl.Document) ubl.PublicDocument {
	return ubl.PublicDocument{
		DocumentID: d.DocumentID, ContainerID: d.WorkspaceID, TenantID: d.TenantID, Title: d.Title, Content: d.Content,
		ContentHash: d.ContentHash, Salt: d.Salt, Bytes: d.Bytes, Version: d.Version, CreatedAt: d.CreatedAt, UpdatedAt: d.UpdatedAt,
	}
}

func (c *Container) listPublicFiles(t *actors.Turn, cmd ubl.ListPublicFiles) {
	_, listed := c.State.Files[cmd.After]
	page, next := c.State.filePage(ubl.ListFiles{After: cmd.After, Limit: ubl.PublicPage})
	out := &ubl.PublicFiles{Files: make([]ubl.PublicFile, 0, len(page)), Listed: listed || cmd.After == "", Events: c.State.Events}
	if next != "" {
		out.Next = &next
	}
	c.showing(t, ubl.DidFileList, func(context.Context) (any, error) {
		for _, f := range page {
			out.Files = append(out.Files, shownFile(servedFile(c.tenant, c.id, f)))
		}
		return out, nil
	})
}

func (c *Container) readPublicFile(t *actors.Turn, cmd ubl.ReadPublicFile) {
	f, ok := c.State.Files[cmd.FileID]
	events := c.State.Events
	c.showing(t, ubl.DidFileGet, func(context.Context) (any, error) {
		if !ok {
			return nil, errNoFile()
		}
		out := shownFile(servedFile(c.tenant, c.id, f))
		out.Events = events
		return &out, nil
	})
}

// shownFile is what anyone is told of a file.
func shownFile(f *ubl.File) ubl.PublicFile {
	return ubl.PublicFile{
		FileID: f.FileID, ContainerID: f.WorkspaceID, TenantID: f.TenantID, DocumentID: f.DocumentID, Name: f.Name, Type: f.Type, Bytes: f.Bytes,
		SHA256: f.SHA256, Salt: f.Salt, ContentHash: f.ContentHash, NameHash: f.NameHash, CreatedAt: f.CreatedAt,
	}
}

func (c *Container) searchPublic(t *actors.Turn, cmd ubl.SearchPublic) {
	events := c.State.Events
	upTo, hidden := c.State.Changed, c.State.Hidden
	c.showing(t, ubl.DidDocumentSearch, func(ctx context.Context) (any, error) {
		if err := c.canFind(&cmd.DocumentQuery); err != nil {
			return nil, err
		}
		hits, err := c.find(ctx, upTo, hidden, cmd.DocumentQuery, 0, ubl.PublicHitsPage)
		if err != nil {
			return nil, err
		}
		out := &ubl.PublicHits{Documents: make([]ubl.PublicHit, 0, len(hits.Documents)), Indexing: hits.Indexing, Events: events}
		for _, hit := range hits.Documents {
			out.Documents = append(out.Documents, ubl.PublicHit{PublicDocument: shown(&hit.Document), Score: hit.Score, Excerpt: hit.Excerpt})
		}
		return out, nil
	})
}

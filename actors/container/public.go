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
	page, next := c.State.page(cmd.After, ubl.PublicPage)
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

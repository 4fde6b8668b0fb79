package container

import (
	"context"
	"time"

	"ubl"
	"ubl/actors"
)

// indexEvery is how long the index waits after a change of a document, so that it takes in
// many at once. A search doesn't wait for that.
const indexEvery = time.Second

// Indexing registers what keeps the documents' indexes of a tenant up to date: it follows
// the tenant's ledger, and has each container that is named there index what has changed.
func Indexing(read ubl.Reader, search ubl.Searcher) actors.Family {
	follow := &actors.Follow{
		Name: "documents", Local: "tail|documents", Every: indexEvery, Cursors: search,
		Dids:    []ubl.Did{ubl.DidDocumentCreate, ubl.DidDocumentUpdate, ubl.DidDocumentDelete, ubl.DidDocumentPublish, ubl.DidTransfer, ubl.DidReceive},
		Subject: func(e actors.Entry) string { return e.Pointer("container_id") }, Bare: true,
	}
	return actors.Deliverer(read, follow, func(env actors.Env) func(context.Context, string, []actors.Entry) error {
		return func(ctx context.Context, subject string, _ []actors.Entry) error {
			if subject == "" { // an action whose effect is still to come
				return nil
			}
			_, err := env.Ask.Ask(ctx, ubl.ContainerName(env.Name.Group().Tenant, ubl.ContainerID(subject)), indexDocuments{})
			return err
		}
	})
}

// indexDocuments has the index take in what has changed so far. Only [Indexing] asks it.
type indexDocuments struct{}

// Cost is 0: nothing is stored.
func (indexDocuments) Cost() int { return 0 }

func (c *Container) indexDocuments(t *actors.Turn) {
	if c.search == nil {
		t.Reply(nil)
		return
	}
	ctx, upTo := t.Context(), c.State.Changed
	t.Later(func() (any, error) { return nil, c.search.CatchUp(ctx, c.Name, c.changesUpTo(upTo)) })
}

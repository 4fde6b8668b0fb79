package tenant

import (
	"context"

	"ubl"
	"ubl/actors"
)

// maxCollect is the most blobs that are asked about at once.
const maxCollect = 1000

// collectBlobs answers which of some blobs nothing refers to. That a node removes those is an
// act, which is on record before it is done.
func (x *Tenant) collectBlobs(t *actors.Turn, c ubl.CollectBlobs) {
	var err error
	switch {
	case !c.Who.IsPlatform():
		err = ubl.Errorf(ubl.CodeForbidden, "only the platform collects blobs")
	case len(c.Blobs) != len(c.Bytes) || len(c.Blobs) > maxCollect || !ubl.ValidNodeID(c.NodeID):
		err = ubl.Errorf(ubl.CodeValidation, "the blobs to collect are not well formed")
	}
	t.Read(err, func(ctx context.Context) (any, error) {
		free, err := x.unreferred(ctx, c)
		if err != nil || len(free.blobs) == 0 {
			return &ubl.Collected{}, err
		}
		return x.Ask.Ask(ctx, x.Name, free)
	})
}

// collection puts on record that a node removes blobs. Only the Tenant asks itself.
type collection struct {
	ubl.Request
	node  string
	blobs []ubl.BlobID
	bytes int64
}

// Cost is one act.
func (collection) Cost() int { return ubl.ActCost }

// unreferred are those of some blobs that no record of the tenant refers to.
func (x *Tenant) unreferred(ctx context.Context, c ubl.CollectBlobs) (collection, error) {
	free := collection{Request: c.Request, node: c.NodeID}
	return free, x.Read.View(ctx, x.Name.Group(), func(snap ubl.Snapshot) error {
		for i, id := range c.Blobs {
			if !id.Valid() {
				continue
			}
			referred := false
			from, to := ubl.BlobRefs(id)
			if err := snap.Ascend(from, to, func(_, _ []byte) bool { referred = true; return false }); err != nil {
				return err
			}
			if !referred {
				free.blobs, free.bytes = append(free.blobs, id), free.bytes+c.Bytes[i]
			}
		}
		return nil
	})
}

func (x *Tenant) collect(t *actors.Turn, c collection) {
	done := ubl.Fields{ubl.Int("blobs", int64(len(c.blobs))), ubl.Int("bytes", c.bytes), ubl.Str("node_id", c.node)}
	effect := append(ubl.Fields{ubl.Str("op", "file.collect")}, done...)
	act, err := x.Look(t, ubl.DidFileCollect, c.Request, actors.Act{This: done, Effects: []ubl.Fields{effect}, Pointers: pointers(ubl.TenantAgreement(x.id))})
	t.Read(err, func(context.Context) (any, error) {
		return &ubl.Collected{Blobs: c.blobs, Receipt: &act.Receipt}, nil
	})
}

// refuseFile puts on record whose content a node refuses, and what was found in it.
func (x *Tenant) refuseFile(t *actors.Turn, c ubl.RefuseFile) {
	if !c.Who.IsPlatform() || !ubl.ValidNodeID(c.NodeID) || !c.UserID.Valid() || c.Bytes < 0 || !ubl.ValidFound(c.Found) {
		t.Fail(ubl.Errorf(ubl.CodeForbidden, "only the platform refuses contents, and says whose and why"))
		return
	}
	done := ubl.Fields{ubl.Int("bytes", c.Bytes), ubl.Str("found", c.Found), ubl.Str("node_id", c.NodeID), ubl.Str("user_id", c.UserID)}
	effect := append(ubl.Fields{ubl.Str("op", "file.refuse")}, done...)
	act, err := x.Look(t, ubl.DidFileRefuse, c.Request, actors.Act{This: done, Effects: []ubl.Fields{effect}, Pointers: pointers(ubl.TenantAgreement(x.id))})
	t.Read(err, func(context.Context) (any, error) { return &act.Receipt, nil })
}

package main

import (
	"context"
	"time"

	"ubl"
	"ubl/blobs"
	"ubl/blobs/bucket"
	"ubl/cluster"
)

// tidyEvery is how often uploads and blobs are looked through that nobody needs, and how long the
// scrub of blobs rests after a pass.
const tidyEvery = time.Hour

// openBlobs opens the contents of files, and the uploads that bring them.
func (n *node) openBlobs(ctx context.Context, dir string) (err error) {
	o := blobs.Options{Now: n.now, Random: n.random, Step: crashStep(), Quota: n.quota}
	if n.folder, err = blobs.OpenFolder(dir, o); err != nil {
		return err
	}
	switch {
	case n.bucket != nil:
		if n.blobs, err = bucket.Reach(ctx, *n.bucket); err != nil {
			return err
		}
	case n.cluster != nil:
		n.blobs = n.cluster.ServeBlobs(n.folder)
	default:
		n.blobs = n.folder
	}
	if n.incoming, err = blobs.OpenUploads(dir, n.blobs, ubl.UploadNode(n.id()), o); err != nil {
		return err
	}
	n.uploads = n.incoming
	if n.cluster != nil {
		n.uploads = n.cluster.ServeUploads(n.incoming)
	}
	return nil
}

// keepBlobs looks after blobs until ctx ends: at a rate it reads what is kept here, 0 for not at
// all, and now and then it removes what nobody needs.
func (n *node) keepBlobs(ctx context.Context, rate int64) {
	scrubbed := make(chan struct{})
	n.panics.Go(nil, "the scrub of blobs", func() {
		defer close(scrubbed)
		for rate > 0 {
			n.panics.Do("the scrub of blobs", func() { n.scrubBlobs(ctx, rate) })
			if !every(ctx, tidyEvery) {
				return
			}
		}
	})
	for every(ctx, tidyEvery) {
		n.panics.Do("tidying blobs", func() { n.tidyBlobs(ctx) })
	}
	<-scrubbed
}

// scrubBlobs reads each blob of this node once. One that is damaged is put aside where another
// node has it.
func (n *node) scrubBlobs(ctx context.Context, rate int64) {
	shared, replicated := n.blobs.(*cluster.Blobs)
	found := func(t ubl.TenantID, id ubl.BlobID, err error) {
		n.damagedBlobs.Add(1)
		n.log.Error("the content of a file is damaged", "tenant", t, "blob", id, "put_aside", replicated, "error", err)
		if replicated {
			shared.Lost(t, id)
		}
	}
	_, err := n.folder.Scrub(ctx, blobs.ScrubOptions{Rate: rate, Found: found, Aside: replicated})
	if err != nil && ctx.Err() == nil {
		n.log.Warn("couldn't check all blobs", "error", err)
	}
}

// tidyBlobs ends uploads whose time is over, and removes blobs that nothing refers to or that other
// nodes keep.
func (n *node) tidyBlobs(ctx context.Context) {
	if _, err := n.incoming.Sweep(ctx); err != nil {
		n.log.Warn("couldn't end uploads whose time is over", "error", err)
	}
	if n.bucket != nil && !n.store.Leads(0) { // one node for all looks through what they share
		return
	}
	collector := blobs.Collector{From: n.blobs, Ask: n.asker, NodeID: n.id(), Now: n.now, Request: n.request}
	done, err := collector.Collect(ctx)
	if done.Blobs > 0 {
		n.log.Info("removed blobs that nothing refers to", "blobs", done.Blobs, "bytes", done.Bytes)
	}
	if err != nil && ctx.Err() == nil {
		n.log.Warn("couldn't look through all blobs", "error", err)
	}
	if shared, ok := n.blobs.(*cluster.Blobs); ok {
		shared.LookAgain()
		done, err := shared.Yield(ctx, ubl.TimeOf(n.now()).Add(-blobs.Grace))
		if done.Blobs > 0 {
			n.log.Info("removed blobs that other nodes keep", "blobs", done.Blobs, "bytes", done.Bytes)
		}
		if err != nil && ctx.Err() == nil {
			n.log.Warn("couldn't leave all blobs to the nodes that keep them", "error", err)
		}
	}
}

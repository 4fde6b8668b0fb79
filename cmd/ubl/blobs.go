package main

import (
	"context"
	"errors"
	"io"
	"sync"
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
	if n.scanner != nil {
		o.Scanner, o.Refused, o.Panics = n.scanner, n.refused, n.panics
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
// all, and now and then it removes what nobody needs and looks for what is missing.
func (n *node) keepBlobs(ctx context.Context, rate int64) {
	var others sync.WaitGroup
	n.panics.Go(&others, "the scrub of blobs", func() {
		for rate > 0 {
			n.panics.Do("the scrub of blobs", func() { n.scrubBlobs(ctx, rate) })
			if !every(ctx, tidyEvery) {
				return
			}
		}
	})
	n.panics.Go(&others, "suspected blobs", func() { n.checkSuspects(ctx) })
	for {
		n.panics.Do("missing blobs", func() { n.lookForMissing(ctx) })
		if !every(ctx, tidyEvery) {
			break
		}
		n.panics.Do("tidying blobs", func() { n.tidyBlobs(ctx) })
	}
	others.Wait()
}

// own are the blobs that this node looks after: those in its folder, or in the bucket that all share.
func (n *node) own() ubl.Blobs {
	if n.bucket != nil {
		return n.blobs
	}
	return n.folder
}

// shares says whether another node looks after the bucket for all.
func (n *node) shares() bool { return n.bucket != nil && !n.store.Leads(0) }

// scrubBlobs reads each blob once that this node looks after.
func (n *node) scrubBlobs(ctx context.Context, rate int64) {
	if n.shares() {
		return
	}
	_, err := blobs.Scrub(ctx, n.own(), n.scrubbing(rate))
	if err != nil && ctx.Err() == nil {
		n.log.Warn("couldn't check all blobs", "error", err)
	}
}

// scrubbing tells of each damaged blob. One is put aside where another node has it.
func (n *node) scrubbing(rate int64) blobs.ScrubOptions {
	shared, replicated := n.blobs.(*cluster.Blobs)
	o := blobs.ScrubOptions{Rate: rate, Found: func(t ubl.TenantID, id ubl.BlobID, err error) {
		n.damagedBlobs.Add(1)
		n.log.Error("the content of a file is damaged", "tenant", t, "blob", id, "put_aside", replicated, "error", err)
		if replicated {
			shared.Lost(t, id)
		}
	}}
	if replicated {
		o.Aside = n.folder.SetAside
	}
	return o
}

// tenantBlob is a blob of a tenant.
type tenantBlob struct {
	tenant ubl.TenantID
	id     ubl.BlobID
}

// maxSuspects is how many suspected blobs wait; those beyond are for the scrub.
const maxSuspects = 64

// checkSuspects checks blobs that somebody found damaged as they read them.
func (n *node) checkSuspects(ctx context.Context) {
	for {
		select {
		case s := <-n.suspects:
			if _, err := blobs.Check(ctx, n.own(), s.tenant, s.id, n.scrubbing(0)); err != nil && ctx.Err() == nil && ubl.CodeOf(err) != ubl.CodeNotFound {
				n.log.Warn("couldn't check a blob", "tenant", s.tenant, "blob", s.id, "error", err)
			}
		case <-ctx.Done():
			return
		}
	}
}

// readBlobs are the contents as people and agents read them. What is damaged or missing is told to
// the operator, too.
type readBlobs struct{ n *node }

// Open implements [api.Blobs].
func (b readBlobs) Open(ctx context.Context, t ubl.TenantID, id ubl.BlobID) (io.ReadSeekCloser, error) {
	r, err := b.n.blobs.Open(ctx, t, id)
	switch {
	case ubl.CodeOf(err) == ubl.CodeNotFound:
		b.n.log.Error("the content of a file is missing", "tenant", t, "blob", id, "error", err)
		if shared, ok := b.n.blobs.(*cluster.Blobs); ok {
			shared.Lost(t, id)
		} else {
			b.n.missingBlobs.CompareAndSwap(0, 1) // until all are counted again
		}
		return nil, err
	case err != nil:
		b.suspect(t, id, err)
		return nil, err
	}
	return suspected{r, func(err error) { b.suspect(t, id, err) }}, nil
}

// Keep implements [api.Blobs].
func (b readBlobs) Keep(ctx context.Context, t ubl.TenantID, id ubl.BlobID, path string) error {
	return b.n.blobs.Keep(ctx, t, id, path)
}

func (b readBlobs) suspect(t ubl.TenantID, id ubl.BlobID, err error) {
	if !errors.Is(err, ubl.ErrDamaged) {
		return
	}
	select {
	case b.n.suspects <- tenantBlob{t, id}:
	default:
	}
}

// suspected tells of reads that fail.
type suspected struct {
	io.ReadSeekCloser
	tell func(error)
}

// Read implements [io.Reader].
func (s suspected) Read(p []byte) (int, error) {
	n, err := s.ReadSeekCloser.Read(p)
	if err != nil && !errors.Is(err, io.EOF) {
		s.tell(err)
	}
	return n, err
}

// tellMissing is how many missing blobs a round names in the log.
const tellMissing = 100

// lookForMissing counts the blobs that records refer to and nobody has. In a cluster whose nodes
// keep them these count what they couldn't fetch.
func (n *node) lookForMissing(ctx context.Context) {
	if _, ok := n.blobs.(*cluster.Blobs); ok {
		return
	}
	has, err := n.listed(ctx)
	var missing int64
	for p := range n.store.Partitions() {
		if err != nil || n.bucket != nil && !n.store.Leads(p) { // another node counts these
			continue
		}
		err = n.store.BlobsOf(ctx, p, func(t ubl.TenantID, id ubl.BlobID) error {
			if has(t, id) {
				return ctx.Err()
			}
			lacks, err := n.lacks(ctx, t, id)
			if !lacks || err != nil {
				return err
			}
			if missing++; missing <= tellMissing {
				n.log.Error("the content of a file is missing", "tenant", t, "blob", id)
			}
			return ctx.Err()
		})
	}
	if err != nil {
		if ctx.Err() == nil {
			n.log.Warn("couldn't look for missing blobs", "error", err)
		}
		return
	}
	n.missingBlobs.Store(missing)
}

// listed tells of blobs that are there: from a list of the bucket, or one by one.
func (n *node) listed(ctx context.Context) (func(ubl.TenantID, ubl.BlobID) bool, error) {
	if n.bucket == nil {
		return func(t ubl.TenantID, id ubl.BlobID) bool {
			_, err := n.folder.Stat(ctx, t, id)
			return err == nil
		}, nil
	}
	all := make(map[tenantBlob]struct{})
	err := n.blobs.Each(ctx, func(t ubl.TenantID, b ubl.Blob) error {
		all[tenantBlob{t, b.ID}] = struct{}{}
		return nil
	})
	return func(t ubl.TenantID, id ubl.BlobID) bool {
		_, ok := all[tenantBlob{t, id}]
		return ok
	}, err
}

// lacks looks once more at a blob: it may have come since it was listed, or nobody needs it.
func (n *node) lacks(ctx context.Context, t ubl.TenantID, id ubl.BlobID) (bool, error) {
	r, err := n.blobs.Open(ctx, t, id)
	if err == nil {
		return false, r.Close()
	}
	if ubl.CodeOf(err) != ubl.CodeNotFound { // the scrub tells of damage
		if errors.Is(err, ubl.ErrDamaged) {
			err = nil
		}
		return false, err
	}
	return n.store.Refers(t, id)
}

// missing is how many contents of files are missing, as far as this node knows.
func (n *node) missing() int64 {
	if shared, ok := n.blobs.(*cluster.Blobs); ok {
		return int64(shared.Missing())
	}
	return n.missingBlobs.Load()
}

// tidyBlobs ends uploads whose time is over, and removes blobs that nothing refers to or that other
// nodes keep.
func (n *node) tidyBlobs(ctx context.Context) {
	if _, err := n.incoming.Sweep(ctx); err != nil {
		n.log.Warn("couldn't end uploads whose time is over", "error", err)
	}
	if n.shares() {
		return
	}
	if b, ok := n.blobs.(*bucket.Bucket); ok {
		if _, err := b.Sweep(ctx, ubl.TimeOf(n.now()).Add(-blobs.Grace)); err != nil && ctx.Err() == nil {
			n.log.Warn("couldn't end uploads to the bucket that broke off", "error", err)
		}
	}
	// A backup that is being made refers to files that may have been removed since.
	if !n.backups.TryLock() {
		return
	}
	defer n.backups.Unlock()
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

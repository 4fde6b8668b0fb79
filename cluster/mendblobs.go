package cluster

import (
	"context"
	"io"
	"maps"
	"slices"
	"time"

	"ubl"
)

const (
	// mendBlobsEvery is how often a node looks for blobs that it should have, and mendBlobsRarely
	// how often for one that it couldn't fetch for long.
	mendBlobsEvery  = 10 * time.Second
	mendBlobsRarely = 10 * time.Minute
	// tellMissing is how many missing blobs a round names in the log.
	tellMissing = 100
)

// reference says that a record of a tenant refers to a blob.
type reference struct {
	tenant ubl.TenantID
	id     ubl.BlobID
}

// lack is when to look again for a blob that couldn't be fetched.
type lack struct {
	wait time.Duration
	next time.Time
}

// mend fetches blobs that this node should have and doesn't, now and then.
func (b *Blobs) mend() {
	tick := time.NewTicker(b.node.opts.MendBlobsEvery)
	defer tick.Stop()
	for {
		b.node.opts.Panics.Do("mending blobs", func() { b.Mend(b.node.ctx) })
		select {
		case <-tick.C:
		case <-b.node.ctx.Done():
			return
		}
	}
}

// Mend fetches them once, and tells how many are still missing. It looks at what was referred to
// since the round before, and at all of a partition that it hasn't looked at since it votes there.
func (b *Blobs) Mend(ctx context.Context) (missing int) {
	var voting []int
	for _, g := range b.node.allGroups() {
		if g.votes() {
			voting = append(voting, g.partition)
		}
	}
	b.forgetOthers(voting)
	told := 0
	for _, partition := range voting {
		if err := b.mendPartition(ctx, partition, &told); err != nil && ctx.Err() == nil {
			b.node.log.Warn("couldn't look for missing blobs", "partition", partition, "error", err)
		}
	}
	return b.Missing()
}

// Missing is how many blobs this node should have, and couldn't fetch.
func (b *Blobs) Missing() (n int) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, lacks := range b.lacks {
		n += len(lacks)
	}
	return n
}

func (b *Blobs) mendPartition(ctx context.Context, partition int, told *int) (err error) {
	list, all := b.due(partition)
	if all {
		// What is applied from here on is among the fresh ones.
		err = b.node.engine.BlobsOf(ctx, partition, func(t ubl.TenantID, id ubl.BlobID) error {
			if r := (reference{t, id}); !b.isHere(ctx, r) {
				list = append(list, r)
			}
			return ctx.Err()
		})
	}
	for _, r := range list {
		if err == nil {
			err = b.mendOne(ctx, partition, r, told)
		}
	}
	if err != nil {
		b.lookAgain(partition)
	}
	return err
}

// due is what to look at in a partition, or that it is all.
func (b *Blobs) due(partition int) (list []reference, all bool) {
	now := b.node.opts.Now()
	b.mu.Lock()
	defer b.mu.Unlock()
	list = b.fresh[partition]
	delete(b.fresh, partition)
	if !b.looked[partition] {
		b.looked[partition] = true
		delete(b.lacks, partition)
		return nil, true
	}
	for r, l := range b.lacks[partition] {
		if !now.Before(l.next) {
			list = append(list, r)
		}
	}
	return list, false
}

func (b *Blobs) isHere(ctx context.Context, r reference) bool {
	_, err := b.here.Stat(ctx, r.tenant, r.id)
	return err == nil
}

// mendOne has a blob here, or notes that it lacks. One that nothing refers to any more doesn't.
func (b *Blobs) mendOne(ctx context.Context, partition int, r reference, told *int) error {
	if b.isHere(ctx, r) {
		b.found(partition, r)
		return nil
	}
	fetching, cancel := context.WithTimeout(ctx, spreadTimeout)
	defer cancel()
	failed := b.fetch(fetching, r.tenant, r.id, func(from io.Reader) error { return b.here.Put(fetching, r.tenant, r.id, from) })
	if failed == nil {
		b.found(partition, r)
		return nil
	}
	if ctx.Err() != nil {
		return ctx.Err()
	}
	refers, err := b.node.engine.Refers(r.tenant, r.id)
	switch {
	case err != nil:
		return err
	case !refers:
		b.found(partition, r)
	case b.lacking(partition, r) && *told < tellMissing:
		*told++
		b.node.log.Error("a blob is missing and can't be fetched now", "partition", partition, "tenant", r.tenant, "blob", r.id, "error", failed)
	}
	return nil
}

func (b *Blobs) found(partition int, r reference) {
	b.mu.Lock()
	defer b.mu.Unlock()
	delete(b.lacks[partition], r)
}

// lacking notes that a blob couldn't be fetched, and reports whether that is new.
func (b *Blobs) lacking(partition int, r reference) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.lacks[partition] == nil {
		b.lacks[partition] = make(map[reference]lack)
	}
	before, known := b.lacks[partition][r]
	wait := min(max(2*before.wait, b.node.opts.MendBlobsEvery), mendBlobsRarely)
	b.lacks[partition][r] = lack{wait, b.node.opts.Now().Add(wait)}
	return !known
}

// forgetOthers forgets the partitions on which this node doesn't vote: should it come to, it looks
// at all.
func (b *Blobs) forgetOthers(voting []int) {
	b.mu.Lock()
	defer b.mu.Unlock()
	others := func(partition int) bool { return !slices.Contains(voting, partition) }
	maps.DeleteFunc(b.looked, func(p int, _ bool) bool { return others(p) })
	maps.DeleteFunc(b.fresh, func(p int, _ []reference) bool { return others(p) })
	maps.DeleteFunc(b.lacks, func(p int, _ map[reference]lack) bool { return others(p) })
}

// referred is told of what a partition's entries refer to.
func (n *Node) referred(partition int, t ubl.TenantID, id ubl.BlobID) {
	if b := n.blobs.Load(); b != nil {
		b.mu.Lock()
		defer b.mu.Unlock()
		b.fresh[partition] = append(b.fresh[partition], reference{t, id})
	}
}

// installed is told that a partition's file was replaced: what it refers to was in no entry.
func (n *Node) installed(partition int) {
	if b := n.blobs.Load(); b != nil {
		b.lookAgain(partition)
	}
}

func (b *Blobs) lookAgain(partition int) {
	b.mu.Lock()
	defer b.mu.Unlock()
	delete(b.looked, partition)
}

// LookAgain has the next round look at everything: the folder may have lost something.
func (b *Blobs) LookAgain() {
	b.mu.Lock()
	defer b.mu.Unlock()
	clear(b.looked)
}

// Lost says that a blob of this node was put aside: it is fetched with the next round.
func (b *Blobs) Lost(t ubl.TenantID, id ubl.BlobID) {
	b.node.referred(b.node.engine.Partition(ubl.TenantName(t).Group()), t, id)
}

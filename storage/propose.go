package storage

import (
	"bytes"

	"ubl"
)

// propose hands the items to the partition's log as one entry; what can't be
// right is refused here. It is the committer of a replica.
func (p *partition) propose(items []item) chunk {
	ops := p.ops[:0]
	epoch := p.epoch.Load()
	if epoch != p.proposed { // no lease outlives its epoch
		clear(p.generations)
		p.proposed = epoch
	}
	for i := range items {
		it := &items[i]
		switch {
		case p.leased(it):
			if it.begin != nil {
				it.begin.result.lease = ubl.Lease{Generation: p.granted, Epoch: epoch}
			}
		case it.batch == nil && it.note == nil: // refused at the door
		case epoch == 0:
			it.err = errNotLeading()
		case it.note != nil:
			it.note.epoch = epoch
			ops = appendOperation(ops, operation{note: it.note})
		case it.batch.Lease != (ubl.Lease{Generation: p.generations[it.batch.Group], Epoch: epoch}) || it.batch.Lease.Generation == 0:
			it.err = conflict("the lease")
		default:
			ops = appendOperation(ops, operation{batch: it.batch})
		}
		it.proposed = it.err == nil && (it.batch != nil || it.note != nil)
		it.batch, it.note = nil, nil
	}
	c := chunk{items: items}
	p.ops = ops
	if len(ops) > 0 {
		p.sealed = sealEntry(ops, p.sealed)
		// The log keeps entries for a while, so they are cut to size.
		c.proposal = p.opts.Propose(p.index, bytes.Clone(p.sealed))
	}
	return c
}

// await waits for what became of a proposal. Where that isn't known, all in it
// get unavailable.
func (p *partition) await(c *chunk) {
	results, err := c.proposal()
	for i := range c.items {
		it := &c.items[i]
		if !it.proposed {
			continue
		}
		if err != nil {
			it.err = unavailable("the write didn't become durable in time", err)
			continue
		}
		it.err, results = results[0], results[1:]
	}
}

// grantReplicated answers a Begin. All that was proposed before it is settled:
// applied here, or lost with the leadership and its epoch.
func (p *partition) grantReplicated(b *begin) {
	if epoch := b.result.lease.Epoch; epoch == 0 || epoch != p.epoch.Load() {
		b.result.err = errNotLeading()
		return
	}
	b.result.head, b.result.err = p.durableHead(b.group)
}

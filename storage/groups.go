package storage

import (
	"context"
	"runtime/debug"

	bolt "go.etcd.io/bbolt"

	"ubl"
)

// GroupsOf lists the groups of a partition that have data. It skips from group to group and
// so takes time by their number, not by their size. An error may come with groups: those that
// damage doesn't hide.
func (e *Engine) GroupsOf(ctx context.Context, n int) ([]ubl.Group, error) {
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	return e.partitions[n].groups(ctx)
}

// Leads tells whether this node decides for a partition: it leads it, or is alone.
func (e *Engine) Leads(partition int) bool { return e.partitions[partition].leads() }

func (p *partition) leads() bool { return !p.replicated() || p.epoch.Load() != 0 }

func (p *partition) groups(ctx context.Context) ([]ubl.Group, error) {
	tx, err := p.beginRead()
	if err != nil {
		return nil, err
	}
	id := uint64(tx.ID())
	list, found := groupsIn(ctx, tx)
	if err := p.waitDurable(ctx, id); err != nil {
		return nil, err
	}
	return list, p.tell(found)
}

func groupsIn(ctx context.Context, tx *bolt.Tx) (groups []ubl.Group, err error) {
	defer tx.Rollback()
	defer guard(&err)
	t, err := treeOf(tx, make(map[uint64]struct{}))
	if err != nil {
		return nil, err
	}
	w := walk{t: t}
	err = w.seek([]byte{0})
	for err == nil && w.valid() {
		if ctx.Err() != nil {
			return nil, unavailable("the request ended before the groups were listed", ctx.Err())
		}
		if err = w.edges(); err != nil {
			break
		}
		var g ubl.Group
		if g, err = groupOf(w.key()); err != nil {
			break
		}
		groups = append(groups, g)
		after := appendPrefix(nil, g)
		after[len(after)-1] = keyEnd + 1
		err = w.seek(after)
	}
	return groups, err
}

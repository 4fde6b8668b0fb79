package cluster

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"sync"

	"ubl/durable"
)

// promise is how far this node told leaders that it has a partition's log: each entry
// up to there may be committed because of it. A mark beside the log says so, raft/N/acked
// (see [durable.Mark]).
//
// A log that ends before its mark has lost entries. Its replica takes entries from a
// leader, and until it has all of them again it neither votes nor stands: else a
// majority of which it is one could elect a leader that never had them. Any leader
// that was elected without it has whatever was committed.
//
// A mark that is damaged is made again from the log, as one that is missing: the log has
// checksums of its own. Only a log that is damaged before its end, too, stays closed.
type promise struct {
	mark   *durable.Mark
	healed func() // is told when nothing is owed any more; nil for nobody
	remade bool   // the mark was damaged

	mu   sync.Mutex
	owes uint64 // up to which entry it must come before it votes; 0 where it has all
}

const promiseName = "acked"

// promised is what is known of a log before it is opened: the mark, if there is one.
// A log of an earlier version has none.
type promised struct {
	path  string
	salt  durable.Salt
	known bool
	wrong bool   // it is damaged, and counts as missing
	index uint64 // as the mark says
	owes  uint64 // what the log lacks, once mend has looked
	kept  uint64 // up to which entry a snapshot has all
}

func readPromise(dir, server string, partition int) (p promised, err error) {
	p.path = filepath.Join(groupDir(dir, partition), promiseName)
	sum := sha256.Sum256(fmt.Appendf(nil, "ubl raft log\n%s/%d", server, partition))
	copy(p.salt[:], sum[:])
	p.index, err = durable.ReadMark(p.path, p.salt)
	p.known = err == nil
	if errors.Is(err, durable.ErrMark) {
		p.wrong = !errors.Is(err, fs.ErrNotExist)
		return p, nil
	}
	return p, err
}

// settle takes how far the log comes and how far entries were seen behind damage, and
// notes what it owes.
func (p *promised) settle(last, seen uint64) {
	if upTo := max(p.index, seen); upTo > max(last, p.kept) {
		p.owes = upTo
	}
}

// keep opens the mark for a log that ends with the given entry.
func (p *promised) keep(last uint64) (*promise, error) {
	if !p.known {
		if err := durable.CreateMark(p.path, p.salt, last); err != nil {
			return nil, err
		}
	}
	mark, err := durable.OpenMark(p.path, p.salt)
	if err == nil && p.owes > p.index {
		err = mark.Set(p.owes) // what was behind the damage is seen once only
	}
	return &promise{mark: mark, owes: p.owes, remade: p.wrong}, err
}

// whole reports whether the replica may vote.
func (p *promise) whole() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.owes == 0
}

// stored says that the log has all up to an entry, durably.
func (p *promise) stored(last uint64) {
	if p.covered(last) {
		p.mark.Note(last)
	}
}

// covered is the same for what a snapshot has; it reports whether nothing is owed.
func (p *promise) covered(last uint64) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.owes > last {
		return false
	}
	if p.owes > 0 && p.healed != nil {
		p.healed()
	}
	p.owes = 0
	return true
}

// cut is called before the log is cut behind an entry, as a leader says.
func (p *promise) cut(last uint64) error {
	if !p.whole() {
		return nil
	}
	return p.mark.Set(last)
}

package storage

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	bolt "go.etcd.io/bbolt"

	"ubl"
	"ubl/durable"
)

// Loss is what an operator gave up of a journal: records that were acknowledged
// and can't be read any more. It lies beside the partition's file, as
// partition-N.db.lost, until it is told (see [Engine.ForgetLoss]).
type Loss struct {
	Format    int `json:"format"`
	Partition int `json:"partition"`
	// From and To are the records; To is 0 where nothing says whether there were any.
	From uint64 `json:"from"`
	To   uint64 `json:"to,omitempty"`
	// Groups are those that a lost record names that can still be read, in order.
	Groups []string `json:"groups,omitempty"`
	// Ledgers are the same with what each has lost. Where Unread isn't 0 the partition's
	// others follow, since what can't be read may be theirs. More counts those left out.
	Ledgers []LostLedger `json:"ledgers,omitempty"`
	More    int          `json:"more,omitempty"`
	// Unread counts the lost records that don't say any more whose they were.
	Unread uint64 `json:"unread,omitempty"`
	// Reason says what was found, Kept is the name of the damaged journal's copy.
	Reason string   `json:"reason"`
	Kept   string   `json:"kept,omitempty"`
	At     ubl.Time `json:"at"`
}

const (
	lossFormat = 1
	lossSuffix = ".lost"
	keptSuffix = ".damaged-"
)

// giveUp opens the partition with the records before the damage. The damaged
// journal is copied, and the loss noted, before anything is changed; interrupted,
// it is done again.
func (p *partition) giveUp(db *bolt.DB, records []record, cause error) error {
	loss := Loss{
		Format: lossFormat, Partition: p.index, From: p.journaled + uint64(len(records)) + 1,
		Reason: cause.Error(), At: ubl.TimeOf(p.opts.Now()),
	}
	if lost, ok := errors.AsType[*lostRecords](cause); ok {
		loss.To = lost.to
		p.gather(&loss, db, records)
	}
	if err := p.keepJournal(&loss); err != nil {
		return err
	}
	text, err := json.Marshal(loss)
	if err == nil {
		err = durable.Replace(p.path+lossSuffix, append(text, '\n'))
	}
	if err != nil {
		return err
	}
	if _, err := p.replayRecords(db, records); err != nil {
		return fmt.Errorf("couldn't apply the journal: %w", err)
	}
	p.journaled = max(p.journaled, loss.To) // what comes next is told from what was lost
	return p.makeJournal(db)
}

// keepJournal copies the damaged journal, where there is one.
func (p *partition) keepJournal(loss *Loss) error {
	f, err := os.Open(p.journalPath())
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	defer f.Close()
	kept := fmt.Sprintf("%s%s%d", p.journalPath(), keptSuffix, loss.At.Std().UnixNano())
	loss.Kept = filepath.Base(kept)
	return durable.Create(kept, func(w io.Writer) error {
		_, err := io.Copy(w, f)
		return err
	})
}

// Losses are those that nobody was told of yet, by partition.
func (e *Engine) Losses() ([]Loss, error) {
	paths, err := filepath.Glob(filepath.Join(e.dir, storeDir, "*"+lossSuffix))
	var losses []Loss
	for _, path := range paths {
		text, errRead := os.ReadFile(path)
		var l Loss
		if err = cmp.Or(err, errRead); err == nil {
			err = decodeVersioned(text, lossFormat, &l)
		}
		losses = append(losses, l)
	}
	slices.SortFunc(losses, func(a, b Loss) int { return a.Partition - b.Partition })
	return losses, err
}

// ForgetLoss is for when a loss was told.
func (e *Engine) ForgetLoss(l Loss) error {
	if err := removeIfThere(e.partitions[l.Partition].path + lossSuffix); err != nil {
		return err
	}
	return durable.Sync(filepath.Join(e.dir, storeDir))
}

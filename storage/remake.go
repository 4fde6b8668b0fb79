package storage

import (
	"errors"
	"os"
	"path/filepath"
)

// damagedSuffix is of the newest file of a replica that was found damaged when it was
// opened: partition-N.db.damaged. Nothing reads it; an operator may delete it.
const damagedSuffix = ".damaged"

// remake opens an empty file in place of a replica's damaged one, which it keeps. The
// group's snapshot and log have all that it had; they alone decide how the replica
// votes. Other errors are returned as they are, and so is damage where a journal of a
// node alone lies beside the file: no log is known to have what that holds.
func (p *partition) remake(cause error) error {
	if !p.replicated() || !errors.Is(cause, ErrDamaged) || exists(p.journalPath()) {
		return cause
	}
	kept := p.path + damagedSuffix
	if err := os.Rename(p.path, kept); errors.Is(err, os.ErrNotExist) {
		kept = ""
	} else if err != nil {
		return errors.Join(cause, err)
	}
	p.opts.Step("remake: kept") // interrupted here, the file is missing, which is damage, too
	if err := p.emptyFile(); err != nil {
		return errors.Join(cause, err)
	}
	if err := p.openFile(); err != nil {
		return errors.Join(cause, err)
	}
	p.meet()
	if kept != "" {
		kept = filepath.Base(kept)
	}
	p.opts.Remade(p.index, kept, cause)
	return nil
}

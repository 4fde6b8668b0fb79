package storage

import (
	"errors"
	"fmt"
	"io/fs"
	"syscall"

	berrors "go.etcd.io/bbolt/errors"

	"ubl"
)

// Causes that callers may look for with errors.Is.
var (
	// ErrDamaged: a file is not what was written to it.
	ErrDamaged = ubl.ErrDamaged
	// ErrJournalLoss: a journal has lost what it acknowledged, or may have; see
	// [Options.AcceptJournalLoss]. It is ErrDamaged, too.
	ErrJournalLoss error = journalLoss{}
	// ErrNewerFormat: the data was written by a later version of this program.
	ErrNewerFormat = errors.New("the data has a newer format than this program knows")
	// ErrInUse: another process has the data directory open.
	ErrInUse = errors.New("the data directory is in use")
	// ErrFull: the disk has no room. What was acknowledged is durable all the same.
	ErrFull = errors.New("the disk has no room")
	// ErrNotEmpty: a restore was aimed at a directory that holds something.
	ErrNotEmpty = errors.New("the directory is not empty")
)

type journalLoss struct{}

func (journalLoss) Error() string { return ErrDamaged.Error() }
func (journalLoss) Unwrap() error { return ErrDamaged }

func damaged(format string, args ...any) error {
	return fmt.Errorf("%w: %s", ErrDamaged, fmt.Sprintf(format, args...))
}

// unreadable is what a reader sees of damage found while serving.
func unreadable(cause error) error {
	if !errors.Is(cause, ErrDamaged) {
		cause = fmt.Errorf("%w: %w", ErrDamaged, cause)
	}
	return ubl.Errorf(ubl.CodeInternal, "stored data is damaged").Because(cause)
}

// tell counts and tells damage that an error is of; other errors are not told.
func (p *partition) tell(err error) error {
	if errors.Is(err, ErrDamaged) {
		p.spoiled.Store(p.meet())
		p.opts.Damaged(p.index, err)
	}
	return err
}

// meet counts damage, and answers how often there was some.
func (p *partition) meet() int64 {
	p.damagedAt.Store(p.opts.Now().UnixNano())
	return p.damaged.Add(1)
}

// Spoil counts damage that was met beside a partition's file, in its log. The partition
// counts as damaged until a whole pass of the scrub finds none.
func (e *Engine) Spoil(partition int) {
	p := e.partitions[partition]
	p.spoiled.Store(p.meet())
}

func conflict(what string) error {
	return ubl.Errorf(ubl.CodeConflict, "%s is not what the batch expects", what)
}

func unavailable(why string, cause error) error {
	return ubl.Errorf(ubl.CodeUnavailable, "%s", why).Because(cause)
}

// full says that there was no room, with what the system said.
func full(cause error) error { return fmt.Errorf("%w: %w", ErrFull, cause) }

// guard turns a panic into an error: bbolt panics on pages that make no sense,
// and a page that is beyond the file's end faults (see debug.SetPanicOnFault).
func guard(err *error) {
	if r := recover(); r != nil {
		*err = unreadable(panicked(r))
	}
}

func panicked(r any) error {
	if _, fault := r.(interface{ Addr() uintptr }); fault {
		return errors.New("a page lies beyond the end of the file, or the disk doesn't give it")
	}
	return fmt.Errorf("bbolt panicked: %v", r)
}

// OutOfRoom reports whether something failed because the disk has no room.
func OutOfRoom(err error) bool {
	return errors.Is(err, ErrFull) || errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EDQUOT)
}

// outOfSpace reports whether a commit failed because there was no room for its
// pages. Only a failed write says that; the same errno from a sync does not
// tell which pages it lost.
func outOfSpace(err error) bool {
	if errors.Is(err, berrors.ErrMaxSizeReached) {
		return true
	}
	write, ok := errors.AsType[*fs.PathError](err)
	return ok && write.Op == "write" &&
		(errors.Is(write.Err, syscall.ENOSPC) || errors.Is(write.Err, syscall.EDQUOT))
}

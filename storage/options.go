package storage

import (
	"crypto/rand"
	"io"
	"os"
	"time"

	"ubl"
	"ubl/durable"
)

// Options change how an engine works; nil and zero fields mean the defaults.
type Options struct {
	// Partitions is how many files a new directory gets (8). An existing
	// directory keeps the number it was made with.
	Partitions int
	// MaxBytes bounds each partition's file (no bound). bbolt counts in steps:
	// powers of two up to 4 MiB, then steps of 4 MiB.
	MaxBytes int
	// VerifyBytes is up to which size a partition's file is checked page by page
	// before it is served (64 MiB, some 50 ms). Of a larger one Open checks the
	// inner pages, the free ones and the leaves before these; Backup and Restore check
	// everything. -1 checks none.
	VerifyBytes int64
	// TxBatches and TxBytes bound one transaction (1,024 and 8 MiB). A larger
	// batch has a transaction of its own.
	TxBatches, TxBytes int
	// QueueBytes bounds what waits in one partition's queue (256 MiB); what comes
	// then is refused with overloaded. Callers hold credits far below it.
	QueueBytes int
	// LockTimeout is how long Open waits for another process to let go (1 s).
	LockTimeout time.Duration
	// Random gives the incarnation of a new directory (crypto/rand).
	Random io.Reader
	// Now is the clock for measurements and for the date in ubl.json.
	Now func() time.Time
	// Observe is told of every transaction, in order within a partition, from the
	// goroutine that settles. It must not block.
	Observe func(Commit)
	// ObserveFile is told of every transaction that a node alone commits to a
	// partition's file behind the journal, where nobody waits for it but readers. It
	// must not block.
	ObserveFile func(partition int, took time.Duration, err error)
	// Propose hands an entry to a partition's log and returns at once; only for
	// [OpenReplicas]. It is called from one goroutine a partition.
	Propose func(partition int, entry []byte) Proposal
	// Halted is told when a replica can't write any more. It must not block.
	Halted func(partition int, err error)
	// Referred is told, for each partition in the order of its log, of each blob that an entry has a
	// record refer to, before what was applied is committed. It must not block.
	Referred func(partition int, t ubl.TenantID, id ubl.BlobID)
	// Boot names the boot of the machine (Linux: its boot_id).
	Boot string
	// Damaged is told of damage, each time that it is met. It must not block.
	Damaged func(partition int, err error)
	// Remade is told that a replica's file was damaged when it was opened, and that an
	// empty one has taken its place. The damaged one is kept beside it under the name;
	// there is none where the file was missing. It must not block.
	Remade func(partition int, kept string, cause error)
	// Numbers are the runs of keys whose numbers a scrub follows, beside the atoms.
	Numbers []ubl.Numbers
	// SyncData makes what was written to a journal durable ([durable.SyncData]); a
	// test may lose the power there.
	SyncData func(*os.File) error
	// spare is [spareBytes], or less in a test.
	spare int64
	// moved is told of each change of a partition's state, in a test.
	moved func(from, to state)
	// AcceptJournalLoss opens a partition whose journal has lost what it acknowledged,
	// without that. What was given up is kept (see [Engine.Losses]), and so is the
	// damaged journal.
	AcceptJournalLoss bool
	// Step is told of the steps of what may be interrupted, so that a test can
	// end the process there.
	Step func(step string)
}

// Commit is one transaction, as [Options.Observe] is told.
type Commit struct {
	Partition int
	// Batches were written, Refused were not.
	Batches, Refused int
	Bytes            int
	Took             time.Duration
	// Err is why the transaction failed, nil if it is durable.
	Err error
}

const mib = 1 << 20

func (o *Options) withDefaults() *Options {
	var d Options
	if o != nil {
		d = *o
	}
	setDefault(&d.Partitions, 8)
	setDefault(&d.VerifyBytes, 64*mib)
	setDefault(&d.TxBatches, 1024)
	setDefault(&d.TxBytes, 8*mib)
	setDefault(&d.QueueBytes, 256*mib)
	setDefault(&d.LockTimeout, time.Second)
	setDefault(&d.spare, spareBytes)
	if d.Random == nil {
		d.Random = rand.Reader
	}
	if d.Now == nil {
		d.Now = time.Now
	}
	if d.Observe == nil {
		d.Observe = func(Commit) {}
	}
	if d.ObserveFile == nil {
		d.ObserveFile = func(int, time.Duration, error) {}
	}
	if d.Boot == "" {
		d.Boot = bootID()
	}
	if d.Halted == nil {
		d.Halted = func(int, error) {}
	}
	if d.Damaged == nil {
		d.Damaged = func(int, error) {}
	}
	if d.Remade == nil {
		d.Remade = func(int, string, error) {}
	}
	if d.SyncData == nil {
		d.SyncData = durable.SyncData
	}
	if d.Step == nil {
		d.Step = func(string) {}
	}
	return &d
}

func setDefault[T int | int64 | time.Duration](field *T, value T) {
	if *field == 0 {
		*field = value
	}
}

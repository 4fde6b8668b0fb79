// Package storage keeps groups durably: the bbolt engine behind [ubl.Store], for
// a node alone or as one replica of a cluster, with online backup and restore.
//
// # The data
//
// A data directory holds ubl.json (format version, number of partitions,
// incarnation), a lock file, and one bbolt file a partition. A group lives
// whole in one partition, found by a hash of its name. A partition file has
// two buckets: "data", with the keys of all its groups (group, a zero byte,
// the key inside the group), and "meta", with the record that says which
// partition of which directory the file is; of a replica also the index of the
// newest entry that is applied, and notes: small records of the partition
// itself, each with a version. Every value carries a CRC-32C of its key and
// itself. Beside the file of a node alone lies its journal (see journal.go):
// what is durable and not yet in the file. An empty file "restored" says that
// the store came from a backup and nobody was told yet.
//
// # Who owns it
//
// Each partition has two goroutines. The committer drains the queue of submitted
// batches into one bbolt transaction and commits it; on a node alone nobody else
// writes. The settler calls back, in order, while the committer is already at
// the next transaction. Leases are the committer's, in memory only: a restart
// voids all, and on a replica so does a change of leadership ([Engine.Lead]).
//
// A replica's file is written by [Engine.Apply] alone, from whichever goroutine
// has the log. Its committer makes one log entry of the queue and hands it to
// [Options.Propose]; the settler waits for what Apply answered for it here.
//
// # The way of one batch
//
// Submit puts it into the queue and returns. The committer checks lease, head
// and counters as they are after the batches before it; a batch that expects
// something else is refused alone, before anything of it is written. The others
// go into bbolt's open transaction, all together as one record into the journal,
// and when that is synced the settler calls back: one write and one sync for
// everything that was queued.
//
// The open transaction is committed after a second, after 2 MiB, when the
// journal is full, and for whoever reads. Then heads and counters are written,
// and which record of the journal was the last; bbolt writes data pages, syncs,
// writes a meta page, syncs. It shows a transaction to readers before its last
// sync is over, so View waits for the one that it read. The next record goes to
// the journal's beginning. Open applies the records that the file doesn't have.
//
// A batch that doesn't fit into the journal is committed by bbolt before it is
// answered. So is every batch while the disk has less than 512 MiB left: what
// the journal has acknowledged must find room in the file later. Where others
// have filled the disk meanwhile, the partition can't be written or read until
// there is room; then the journal is applied again.
//
// # The way of one entry of the log
//
// Apply reads the entry, checks each batch as a node alone does, and also that
// its epoch is the term of its entry; then it writes records and the entry's
// index in one transaction. Nothing is synced, for the log is what is durable,
// and the transaction stays open for a moment so that many entries share one;
// whoever reads has it committed first. Beside the file of an open replica lies
// a mark that names the boot of the machine: after a power loss it is that of
// another boot, the file is emptied, and [Engine.Install] makes it anew from a
// [Engine.Snapshot] of the same partition; the log has the rest. A snapshot is
// staged beside the file, checked, and put in its place by one rename; readers
// find the partition closed meanwhile.
//
// # What fails, and then what
//
// Whether a partition may be written and read is one state machine; state.go has its
// states and the table of its moves.
//
// A full disk shows while data pages are written, before the meta page that
// would make them count: the transaction is rolled back, its batches fail with
// unavailable, and the partition goes on. After any other failure of a write
// or sync the page cache can no longer be believed: the partition of a node
// alone refuses all writes until the process is started again, and all reads of
// what was not durable; all reads where the file lacks what the journal has. Open
// syncs before it serves, because what it finds may so far be in the page cache
// only.
//
// A replica that can't write is halted, for a full disk too: it must not skip an
// entry. [Options.Halted] is told, and [Engine.Resume] has it apply again from
// what its file has, or from nothing where that can't be believed.
//
// On a full disk Close leaves to the journal what the file has no room for, and
// Open fails without harm where it still has none. Both errors wrap [ErrFull];
// nothing that was acknowledged is lost.
//
// The journal's records end with the first that isn't valid, which was being
// written when the process ended. A valid one behind it, a missing journal, or
// one that doesn't fit the file is damage. So is a file that is cut short, but it
// stops nobody where the mark shows that no record is missing.
//
// A damaged file is found when it is opened. Both meta pages must be valid:
// bbolt would fall back to the older one and so forget a commit in silence.
// Then every page is checked (see [Options.VerifyBytes] for large files):
// structure, order of keys, checksums, and that each page is used once. A replica's
// damaged file is kept aside, and an empty one takes its place as after a power loss;
// its group's snapshot and log have the data. A node alone has no other copy: where
// leaves alone are damaged, whatever the file's size, it tells of them and serves the
// rest. It refuses a file of which a page is used twice or not at all, for a write
// could then take a page that holds data.
//
// Damage that appears later, or in leaves, is an error where
// it is read, never a shorter answer. A value that is there bears its checksum.
// A value that is not there is searched for by a strict walk over the pages (see
// tree.go), and so is each range; the keys on both sides of a gap are checked,
// too. A write first checks every page that it changes, and is refused alone:
// bbolt would write a sound page of what a damaged one still shows.
//
// [Ledger] reads what is left of a ledger in a damaged file, around the damage and without
// bbolt (see salvage.go): for an export of a store that can't be opened any more.
package storage

// Package storage keeps groups durably on one node: the bbolt engine behind
// [ubl.Store], with online backup and restore.
//
// # The data
//
// A data directory holds ubl.json (format version, number of partitions,
// incarnation), a lock file, and one bbolt file a partition. A group lives
// whole in one partition, found by a hash of its name. A partition file has
// two buckets: "data", with the keys of all its groups (group, a zero byte,
// the key inside the group), and "meta", with the record that says which
// partition of which directory the file is. Every value carries a CRC-32C of
// its key and itself.
//
// # Who owns it
//
// Each partition has two goroutines. The committer alone writes: it drains the
// queue of submitted batches into one bbolt transaction and commits it. The
// settler calls back, in order, while the committer is already at the next
// transaction. Leases are the committer's, in memory only: a restart voids all.
//
// # The way of one batch
//
// Submit puts it into the queue and returns. The committer checks lease, head
// and counters as they are after the batches before it; a batch that expects
// something else is refused alone, before anything of it is written. Heads and
// counters are written once a transaction, at its end. bbolt writes data pages,
// syncs, writes a meta page, syncs; then the transaction is durable and the
// settler calls back. bbolt shows a transaction to readers before its last
// sync is over, so View waits for the one that it read.
//
// # What fails, and then what
//
// A full disk shows while data pages are written, before the meta page that
// would make them count: the transaction is rolled back, its batches fail with
// unavailable, and the partition goes on. After any other failure of a write
// or sync the page cache can no longer be believed: the partition refuses all
// writes, and all reads of what was not durable, until the process is started
// again. Open syncs before it serves, because what it finds may so far be in
// the page cache only.
//
// A damaged file is found when it is opened. Both meta pages must be valid:
// bbolt would fall back to the older one and so forget a commit in silence.
// Then every page is checked (see [Options.VerifyBytes] for large files):
// structure, order of keys, checksums, and that each page is used once. Damage
// that appears later gives an error where a value is read, never another value.
package storage

// Package cluster makes several nodes one server: every partition of the store
// is replicated by a Raft group, actors run where their partition's leader is,
// and any node answers any request.
//
// # The data
//
// A node of a cluster keeps beside its store:
//
//	cluster.json        the cluster's id and the node's own (see membership.go)
//	raft/N/log          the write-ahead log of partition N (raft-wal)
//	raft/N/snapshots    its newest snapshot: a copy of the partition's file
//	raft/N/acked        how far that log was acknowledged (promise.go)
//	raft/N/vote         its term and vote once more, with a checksum (vote.go)
//
// A server id is the node id and the incarnation of its data directory
// ("n1@3f2a91c0"): a disk that was wiped comes back as another server, which
// has no vote of the old one's. What nodes there are and which voters each
// partition should have is the table (package placement): a record in
// partition 0, written through its log.
//
// # Who owns it
//
// The Raft log owns every change. A partition's leader is the only one that
// proposes; [storage.Engine] on each replica applies what was committed, in
// log order, and stores the index it has applied in the same transaction. The
// leader of partition 0 alone decides placement. Gossip (memberlist) finds
// nodes and tells their addresses, nothing more: it removes no voter.
//
// # The way of one request
//
//	any node       Node.Ask: whose partition is it, who leads it?
//	               not us: one gRPC call to that node, with the caller's deadline
//	leader         the actor decides; the LedgerShard submits a batch
//	storage        the committer drains its queue into one entry
//	raft           a quorum has it on disk
//	storage        every replica applies it: epoch, head and counters must match
//	--- output gate ---
//	leader         publishes, answers; a read is confirmed first: a quorum
//	               still knows us as leader, asked after the read
//	any node       passes the answer on
//
// A stream subscribes at the leader too (Node.Subscribe), wherever it is, and
// moves with it. After each move it looks at the durable head, because a leader
// may die between commit and publication.
//
// # Leading
//
// A node that wins an election first applies everything before it (Barrier);
// then its term becomes the epoch of every lease it grants. Replicas refuse a
// batch whose epoch is not the term of its entry, so what an earlier leader
// left in flight can't slip in. On losing, the partition's actors stop, waiting
// calls fail as retryable, and nothing is published. Their outcome is unknown;
// the idempotency key settles it: [Node.Ask] asks again, of the next leader,
// until the caller's deadline.
//
// # Heartbeats
//
// Those of all groups between two nodes share a message (beat.go): at rest they are nearly
// all that nodes do. Each still is its group's own, of its term and leader, and checked by the
// follower's Raft. Nodes of the version before, which gossip tells, get them one by one.
//
// An idle node pays for each time that its process wakes. So all nodes beat together (rhythm.go),
// and each looks after its leaders then. Whatever else polls is a timer of its own: let it wait
// for a change, or go with the beat.
//
// # What fails, and then what
//
//   - A node dies or is cut off: its partitions elect others among the rest.
//     A cut-off leader can't commit and can't confirm reads.
//   - A leader's process ends: its connections end and its address refuses others (gone.go).
//     Its voters ask one another at once, and one of them is elected. A busy machine or a
//     cut cable doesn't refuse; a firewall may, which costs an election where a quorum meets it.
//   - A leader is silent (paused, cut off, without power): after Options.Timeout
//     its voters ask one another, and one of them is elected (silence.go). Callers
//     that wait are asked again as soon as it leads.
//   - A node is silent for one other node only: the connection is given up once it
//     doesn't say in which term it is, and it is asked by way of a third for a while.
//   - A cable is plugged in again: connections that had something on its way when
//     it was cut have ended meanwhile (mesh, silentFor), and new ones are made.
//   - No quorum: when one and a half Timeouts long too few voters answered, callers
//     get unavailable at once, with when to ask again. Nodes without a replica hear that
//     from those that have one, or from their silence.
//   - Followers are slow: writes take longer, and the leader lets fewer of them in
//     (package actors). Callers hear overloaded at once, at every node.
//   - A replica can't write (full disk): it stops taking part in its partition,
//     gives up leadership, and starts again when it may work.
//   - A process is killed before the log's sync, or the sync fails: the batch is
//     whole in the page cache only. Before the log is opened again it is written
//     and synced once more (mend.go); where that fails the replica stays away.
//   - A log has lost entries that it acknowledged (raft/N/acked tells that from a
//     write that was cut off): its replica takes them from a leader, and neither
//     votes nor stands before it has them. The only replica isn't opened. The damaged
//     segment is kept as raft/N/acked.damaged.
//     Older segments aren't read at a start: the scrub reads them (logscrub.go).
//   - The log's own file, wal-meta.db, is damaged (logmeta.go): the replica is rebuilt from
//     its peers, and keeps its term and vote, which raft/N/vote has (rebuild.go). Where that
//     is gone too, or there are no peers, it isn't opened: it could vote twice. Its node
//     serves the rest.
//   - The mark of a log that is sound is damaged: it is made again from the log.
//   - All disks that hold a partition are full: it has no leader, and reads wait for one,
//     too. Reports say whose disk is full, and errors and Ready say that first.
//   - A server that was removed, or replaced after its disk was wiped, starts again: it
//     finds itself among the table's gone ones, and isn't ready from then on.
//   - A log of an earlier version, without a mark, is damaged before its end: its
//     replica isn't opened. A directory that is wiped comes back as another server.
//   - A question panics: its asker gets internal, and it is asked of no other
//     node. Rounds and calls between nodes are guarded too (package panics).
//   - Power is lost: replicas don't sync the partition's file, the log is what
//     is durable. A file that may have lost writes (its mark is of an earlier
//     boot of the machine) is thrown away and made anew from snapshot and log.
//   - A node is gone for good: once another can take its place, the leader of
//     partition 0 has that one catch up as non-voter, promotes it, and removes
//     the dead one. One change at a time, and only while a quorum holds.
//
// # Growing from one
//
// A node that ran alone has no log. Found writes each partition as a Raft
// snapshot (index 1, term 1, itself the only voter), notes index 1 as applied,
// and writes cluster.json last; interrupted, it begins anew. Others join: they
// must hold no data, and get a server id, the partitions by snapshot, and, once
// it is on record that they join, the token key over mTLS.
package cluster

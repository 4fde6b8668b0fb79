// Package placement decides where the replicas of partitions live. It is what
// the leader of partition 0 thinks with: plain functions from what was decided
// (the [Table]) and what is known now (the [View]) to what should be decided or
// done next. It has no clock, no network and no state of its own.
//
// # Two questions, kept apart
//
// [Assign] answers "who should vote?" and changes the table. [Plan] and
// [Leaders] answer "what is the next step there?" and change nothing. Every
// step is derived anew from what is, never from a plan made earlier: whoever
// leads partition 0 next goes on where the last one stopped, and a step that is
// lost is simply found again.
//
// # Who should vote
//
//   - Up to three voters a partition, counts a node differ by at most one, and
//     that with few moves: each copies a partition. A newcomer costs exactly
//     the moves that it gains.
//   - A dead server keeps its place until it is dead for long and another node
//     can take the place. With three nodes and one dead nothing changes:
//     dropping a voter would gain nothing, and it may come back.
//   - While a voter of a partition doesn't answer, no other voter of it gives its
//     place away to level counts: a newcomer gets the places of the dead.
//   - A server whose disk was wiped is another server. The old one is gone for
//     good, its successor inherits its places, and its vote counts for nothing.
//   - The places of a leaving node go to others; if there are none the
//     partition shrinks. The last node can't leave.
//   - A partition without a leader keeps what was decided: where its data is
//     can't be known.
//
// # The order of steps
//
// A newcomer opens the replica, becomes a learner, catches up, becomes a voter;
// only then the voter that has to go is removed, so that a partition has never
// fewer copies than before. A server that is gone for good goes first instead:
// it can't vote, and without it fewer of the others are needed.
//
// Before and after each change of a configuration a majority of its voters is
// up: in the table, alive, and with the replica open. A partition has never
// more than four voters on the way. A leader isn't removed; it hands over first.
//
// # Steps that come late
//
// A step names the leader, the term and the index of the configuration that it
// was derived from. Whoever carries it out refuses it when one of them has
// changed; then a step that is delayed or carried out twice does no harm.
package placement

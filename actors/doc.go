// Package actors is the runtime of named actors: each is the single writer of
// its own state, as a Durable Object is.
//
// # Data and owners
//
// A [Runtime] holds one cell per active name. A cell owns a mailbox (a
// protoactor-go actor, used nowhere else), the family's [Actor] with its
// state, and its newest [Append]. Cells of one tenant form a group; they live
// and fail together because they share one ledger, and the LedgerShard of a
// group opens before anyone else in it.
//
// # The way of one command
//
//	Ask        admission: room in the mailbox, and for a command that writes a
//	           place in the windows of its group and its partition; else overloaded
//	mailbox    the family decides (Actor.Receive): it changes its state in
//	           memory, gives an append to the Turn, and its answer
//	ledger     the LedgerShard numbers and seals the acts and submits one batch
//	store      makes it durable and settles it
//	gate       Append.Settle publishes the events, then lets go the answers
//	           that waited for this commit
//
// Nothing passes the gate before the commit is durable, reads and refusals
// included: an answer given while a commit is under way waits for it, since it
// may have seen its state. The actor itself goes on without waiting.
//
// # The way of one change
//
// A family is a [Kind]: data and pure functions. Its actors embed an [Entity], which
// does the same for all families:
//
//	Change     finds the command's [Rule]; a key seen before is answered with the
//	           outcome of the stored event that it led to
//	decide     the rule's pure function: a [Plan] or a refusal
//	Enact      the act, the event with its [Stamp], the records; applies the event,
//	           and adds what follows: indexes, a snapshot, what is published
//	Pass       the same for an event that isn't stored: only the newest of its like
//	           counts, and what is left of it is in records of its own
//	append     the turn's append: several plans of one turn are one commit
//	answer     [Plan].Answer, or [Hooks].Outcome of the event, from memory
//
// The event is encoded in the mailbox. The ledger only puts the receipt behind it.
//
// An actor founds another one in its own commit ([Plan].Founding): the two events share
// an act. What is to be asked of others afterwards follows the answer ([Entity].ChangeThen).
//
// An act may make an [Item] instead: one of a second numbered log, which isn't replayed.
//
// # The way of one alarm
//
//	Plan.Alarms  set and cleared in the plan's commit, as records of the group
//	settled      the scheduler of the node hears when to look into the group
//	due          it reads the group's due alarms and asks each actor to fire
//	fire         Kind.Wake decides, and its commit ends the alarm; or Hooks.Errand
//	             asks other actors, and the alarm is cleared when that has succeeded
//
// [Runtime.Led] has the scheduler find the alarms of a partition that the node leads
// from now on, [Runtime.Evict] forget them. The DESIGN.md beside this file says what fails, and then what.
//
// # The way of one entry
//
//	Follow       one actor of the tenant asks for acts of some names
//	settled      the followers of the node hear that a ledger has such acts
//	look         the actor reads a page behind its cursor
//	took         Kind.Decide's plans and the cursor are one commit; or Hooks.Deliver has
//	             had its effect, and the cursor is committed behind it
//
// # What fails, and then what
//
//   - A full mailbox or window: overloaded, nothing was done. A window is as wide as
//     its limit while writes take 150 ms or less, on average. Where they take longer,
//     it lets in as many as have lately ended in 150 ms, so that no more wait; and
//     what has waited for 300 ms undecided is refused. A tenant with few writes under
//     way is let in ahead of one with many. The refusal says when to come back: when
//     those that were refused lately will have had their turn.
//   - A caller's deadline: overloaded where nobody has begun to decide, and nobody
//     will; else unavailable, with the outcome unknown.
//   - A commit that fails: the whole group stops. Its waiting callers get
//     unavailable (the same key settles the outcome), and the next Ask loads the
//     group anew; Store.Begin is the barrier that lets everything in flight
//     settle first.
//   - A panic in Receive: its caller gets internal, and the actor is loaded
//     again once its commits in flight are settled. In a deferred answer: its
//     caller gets internal. Where a commit's records are sealed: the group stops
//     as after a failed commit, and the caller gets internal.
//   - A failed load: the caller gets the error, the next command tries again.
//   - Idleness: a cell with nothing waiting and nothing in flight leaves memory.
//     Asks that raced with that find a new cell.
package actors

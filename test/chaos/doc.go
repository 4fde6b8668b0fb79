// Package chaos runs real nodes as a cluster and troubles them while clients
// work: it kills, pauses, cuts off, slows and starves them, moves their clocks,
// tears their last writes and takes their power.
//
// # A run
//
// A world is n processes of `ubl serve`. Where the machine allows it, each
// lives in a network namespace of its own; a further one, the hub, routes
// between them, and the clients live there. Elsewhere the nodes are on loopback
// addresses, and faults of the network are skipped with a reason.
//
// A driver draws faults from a seed that it prints, and strikes a minority of
// the nodes at a time. Meanwhile clients use every node: senders, who retry
// with the same key, a third of the time as agents over MCP, in both eras of the
// protocol and at both of its addresses, with a session begun at one node and
// used at all; readers; owners who invite and remove members; followers of
// streams, who resume elsewhere; writers, who create, change, read, find and
// delete documents together; carriers, who issue credits and transfer them
// between wallets; adders, whose counters (test/counter, wired into the program) go
// back to nothing by an alarm, call a web hook beside the nodes, and tell everyone of
// each change. When the time is over everything is healed, the clients
// finish, and the checks begin:
//
//	acknowledged   no acknowledged message is lost or differs
//	once           none is there twice, room_seq has no gap
//	seen           what any read saw is what is stored
//	linearizable   each room's history is (porcupine)
//	members        each invitation took effect once
//	streams        each is complete, in order, without doubles
//	documents      every acknowledged version is there, once, with its text; versions
//	               have no gap; get answers the last one; what was refused isn't there,
//	               and nothing of what was deleted
//	search         each node finds every document by its newest text, and nothing else
//	transfers      when the keeper has carried on what clients gave up, nothing is under
//	               way; wallets hold what the ledger says, together what was issued, and
//	               never held less than nothing; each payment was made as its client was told
//	counters       each addition was made once where it was acknowledged; a counter goes back
//	               when that was wanted, once; each call of the hook stands right behind it
//	hook           it heard of each call in the ledgers, under its key, and of nothing else
//	told           each change of a counter came over the stream, once, in the ledger's order
//	effects        each action in a ledger has one effect
//	nodes agree    every node answers the same history, documents and balances
//	ledgers        every tenant's export verifies
//	replicas       hash over keys and values of each partition's data, equal
//	logs           no process ended by itself, panicked or raced
//
// Something wrong that a client, a process or the driver finds ends the run: faults,
// clients, streams and waits stop at once. Clients that get no answer back off, up to a
// second. A node that meets a full disk when it stops or starts ends with exit code 75;
// it is started again until there is room, as systemd does.
//
// Named cases look at one thing each; one of them also has callers use a server
// of tools beside the nodes through the portal: no call is made twice, and each
// that was begun ends in the ledger.
//
// # Running it
//
// TestEveryFault and a case of each kind are part of `make test`. UBL_SOAK=1 runs
// all cases and TestChaosShort, as `make soak` does; what is left out says which
// other test has the same kind of fault. TestChaosLong runs while CHAOS_DURATION
// says, and writes test/chaos/results. CHAOS_SEED repeats the faults of a run (not its timing). UBL_CHAOS_BIN names a
// binary to test instead of one built here with the tag "chaos", which adds the
// clock that can be moved and the steps at which a process kills itself.
// CHAOS_KEEP=1 keeps directories and logs.
package chaos

// Package ubl is the domain of the Universal Business Ledger: what its actors
// say to each other and what anyone can check afterwards.
//
// It holds ids and their patterns, identities, rooms, messages, Agreements,
// the two kinds of ledger atom (action and effect), canonical JSON and hashes,
// the one table of error codes, the commands that actors answer, and the few
// interfaces that two or more packages share ([Store], [Asker], [Feed]).
//
// It knows no network, no disk and no actor runtime: storage, actors, cluster
// and transport import it, it imports none of them.
package ubl

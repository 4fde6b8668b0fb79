package storage

import (
	"fmt"
	"slices"
	"sync/atomic"
)

// state is what a partition's file has of all that was acknowledged, and so what may be
// written and read. Every change of it is a row of the table below.
//
//	state         open?  the file                              writes       reads
//	idle          no     has all                               yes          yes
//	direct        yes    has all                               yes          commit first
//	deferred      yes    has all                               yes          commit first
//	acknowledged  yes    lacks what the journal has            yes          commit first
//	applying      yes    lacks what the group's log has        yes          commit first
//	starved       no     lacks what the journal has            unavailable  unavailable
//	broken        no     has all that is durable               unavailable  yes
//	hiding        no     lacks what the journal has            unavailable  unavailable
//	halted        no     lacks what the group's log has        unavailable  unavailable
//	distrusted    no     can't be believed                     unavailable  unavailable
//	closed        no     is closed                             unavailable  unavailable
//
// open: a transaction of bbolt is. applying, halted and distrusted are states of a replica;
// idle and closed of any partition; the others of a node alone.
//
//	from                          to            when
//	idle                          direct        a batch comes, and nothing may be left to the journal
//	idle                          deferred      a batch comes, and the journal has room for it
//	idle                          applying      an entry of the log comes
//	deferred                      acknowledged  the journal is to have the transaction's first batch
//	direct, deferred              idle          committed; given up with all its batches refused, or clean for lack of space
//	acknowledged                  idle          committed
//	applying                      idle          committed; given up for another file
//	acknowledged                  starved       the disk had no room for what was acknowledged
//	starved                       idle          it has room again, and the file has all of the journal
//	idle, direct, deferred        broken        a write or sync failed
//	acknowledged                  hiding        a write or sync failed
//	idle, applying                halted        a replica had no room, or met an entry of a newer version
//	idle, applying                distrusted    a write failed, or damage was met
//	halted, distrusted            idle          resumed, from the file or from an empty one
//	all in which nothing is open  closed        the store is closed
//
// Not part of it: what bbolt's handle is like (lostTx), under which epoch the node leads,
// and since when a write found no room (noRoom).
type state uint32

const (
	idle state = iota
	direct
	deferred
	acknowledged
	applying
	starved
	broken
	hiding
	halted
	distrusted
	closed
)

var stateNames = [...]string{"idle", "direct", "deferred", "acknowledged", "applying", "starved", "broken", "hiding", "halted", "distrusted", "closed"}

func (s state) String() string { return stateNames[s] }

// moves is the table.
var moves = [...][]state{
	idle:         {direct, deferred, applying, broken, halted, distrusted, closed},
	direct:       {idle, broken},
	deferred:     {acknowledged, idle, broken},
	acknowledged: {idle, starved, hiding},
	applying:     {idle, halted, distrusted},
	starved:      {idle, closed},
	broken:       {closed},
	hiding:       {closed},
	halted:       {idle, closed},
	distrusted:   {idle, closed},
	closed:       {},
}

// open reports whether a transaction of bbolt is open.
func (s state) open() bool { return s >= direct && s <= applying }

// journals reports whether the open transaction's batches go to the journal.
func (s state) journals() bool { return s == deferred || s == acknowledged }

// machine holds a partition's state. Anybody may read it; who moves it holds p.applying,
// or is the only one who knows the partition. Whoever reads without that lock must not
// see a transaction closed before its failure: a move comes after what it tells.
type machine struct {
	now   atomic.Uint32
	moved func(from, to state) // of a test
}

func (m *machine) is() state { return state(m.now.Load()) }

// move panics where the table doesn't have it: a store that doesn't know what its file
// has must not go on.
func (m *machine) move(to state) {
	from := m.is()
	if from == to {
		return
	}
	if !slices.Contains(moves[from], to) {
		panic(fmt.Sprintf("storage: a partition is %v and can't become %v", from, to))
	}
	m.now.Store(uint32(to))
	if m.moved != nil {
		m.moved(from, to)
	}
}

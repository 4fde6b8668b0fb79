package cluster

import (
	"bufio"
	"encoding/binary"
	"io"
)

// The form of heartbeats between nodes. The version is in the name of the mesh's protocol,
// ubl-beat/1. A message is a count (2 bytes) and so many
//
//	beats    id (8), partition (2), the leader's term (8)
//	echoes   id (8), the follower's term (8), up to which entry it knows the log to be
//	         committed (8), outcome (1)
//
// all big endian. An id is the asker's, within the connection; echoes come in any order.

// beat is one group's heartbeat. Its leader is the node that sends it.
type beat struct {
	id        uint64
	partition int
	term      uint64
}

// echo is the answer to a beat.
type echo struct {
	id, term, commit uint64
	outcome          outcome
}

// outcome is what Raft made of a heartbeat.
type outcome byte

const (
	missed   outcome = iota // it wasn't looked at
	refused                 // the sender doesn't lead
	accepted                // the sender leads
)

const (
	beatSize = 18
	echoSize = 25
)

func appendBeat(b []byte, q beat) []byte {
	b = binary.BigEndian.AppendUint64(b, q.id)
	b = binary.BigEndian.AppendUint16(b, uint16(q.partition))
	return binary.BigEndian.AppendUint64(b, q.term)
}

func readBeat(b []byte) beat {
	return beat{
		id: binary.BigEndian.Uint64(b), partition: int(binary.BigEndian.Uint16(b[8:])), term: binary.BigEndian.Uint64(b[10:]),
	}
}

func appendEcho(b []byte, e echo) []byte {
	b = binary.BigEndian.AppendUint64(b, e.id)
	b = binary.BigEndian.AppendUint64(b, e.term)
	b = binary.BigEndian.AppendUint64(b, e.commit)
	return append(b, byte(e.outcome))
}

func readEcho(b []byte) echo {
	number := func(i int) uint64 { return binary.BigEndian.Uint64(b[8*i:]) }
	return echo{id: number(0), term: number(1), commit: number(2), outcome: outcome(b[24])}
}

// message writes some of a kind: no more than there are groups, far below what a count takes.
func message[T any](all []T, size int, write func([]byte, T) []byte) []byte {
	b := make([]byte, 0, 2+size*len(all))
	b = binary.BigEndian.AppendUint16(b, uint16(len(all)))
	for _, one := range all {
		b = write(b, one)
	}
	return b
}

// readMessage reads the next message.
func readMessage[T any](r *bufio.Reader, size int, read func([]byte) T) ([]T, error) {
	var head [2]byte
	if _, err := io.ReadFull(r, head[:]); err != nil {
		return nil, err
	}
	all := make([]T, binary.BigEndian.Uint16(head[:]))
	one := make([]byte, size)
	for i := range all {
		if _, err := io.ReadFull(r, one); err != nil {
			return nil, err
		}
		all[i] = read(one)
	}
	return all, nil
}

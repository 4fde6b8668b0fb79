package cluster

import (
	"encoding/binary"
	"errors"
	"hash/crc32"
	"io/fs"
	"os"
	"path/filepath"
	"sync"

	"github.com/hashicorp/raft-wal/types"

	"ubl/durable"
)

// vote is what Raft must not forget: the newest term that the replica knows of, and for
// whom it voted last, in which term.
//
// It stands twice: in raft-wal's file and in raft/N/vote, version 1:
//
//	"ubl vote 1\n", salt of the log (8 bytes), term (8), term of the vote (8),
//	whom it is for (its length in a byte, and zeros behind it), CRC-32C of all that (4): 512 bytes
//
// Both have a new one before Raft goes on, raft/N/vote first: it is written in place, and
// one that is torn was told nobody. So one copy that can't be read is made again
// from the other. Where they differ the newer counts, and of two votes in one term that
// of raft/N/vote, which alone has a checksum: bbolt would not notice a changed one.
type vote struct {
	term, votedIn uint64
	candidate     string
}

const (
	voteName  = "vote"
	voteMagic = "ubl vote 1\n"
	voteSize  = 512 // a sector, for a server id of up to 73 bytes
)

// errVote is a raft/N/vote that is damaged or another log's.
var errVote = errors.New("raft/N/vote is damaged")

// The names that Raft gives to the parts of a vote.
const (
	termKey      = "CurrentTerm"
	votedInKey   = "LastVoteTerm"
	candidateKey = "LastVoteCand"
)

func (v vote) encode(salt durable.Salt) []byte {
	b := append([]byte(voteMagic), salt[:]...)
	b = binary.BigEndian.AppendUint64(b, v.term)
	b = binary.BigEndian.AppendUint64(b, v.votedIn)
	b = append(b, byte(len(v.candidate)))
	b = append(b, v.candidate...)
	b = append(b, make([]byte, voteSize-4-len(b))...)
	return binary.BigEndian.AppendUint32(b, crc32.Checksum(b, crc32.MakeTable(crc32.Castagnoli)))
}

// readVote gives errVote or [fs.ErrNotExist] where there is none to read.
func readVote(path string, salt durable.Salt) (v vote, err error) {
	b, err := os.ReadFile(path)
	if err != nil {
		return v, err
	}
	if len(b) != voteSize {
		return v, errVote
	}
	numbers := b[len(voteMagic)+len(salt):]
	v.term, v.votedIn = binary.BigEndian.Uint64(numbers), binary.BigEndian.Uint64(numbers[8:])
	v.candidate = string(numbers[17 : 17+int(numbers[16])])
	if string(b) != string(v.encode(salt)) {
		return vote{}, errVote
	}
	return v, nil
}

// write replaces a vote, durably. The file must exist.
func (v vote) write(path string, salt durable.Salt) error {
	f, err := os.OpenFile(path, os.O_WRONLY, 0)
	if err != nil {
		return err
	}
	_, err = f.WriteAt(v.encode(salt), 0)
	if err == nil {
		err = durable.SyncData(f)
	}
	return errors.Join(err, f.Close())
}

// newest is what counts of a vote in raft/N/vote and the one that raft-wal has.
func (v vote) newest(other vote) vote {
	v.term = max(v.term, other.term)
	if other.votedIn > v.votedIn {
		v.votedIn, v.candidate = other.votedIn, other.candidate
	}
	return v
}

// with is a vote with another value of one of Raft's names.
func (v vote) with(key string, value []byte) vote {
	switch key {
	case termKey:
		v.term = number(value)
	case votedInKey:
		v.votedIn = number(value)
	case candidateKey:
		v.candidate = string(value)
	}
	return v
}

// number reads raft-wal's form of one.
func number(value []byte) uint64 {
	if len(value) != 8 {
		return 0
	}
	return binary.LittleEndian.Uint64(value)
}

// ballots is raft-wal's file with the copy of its vote beside it.
type ballots struct {
	*segmentList
	path string
	salt durable.Salt
	// differed says that the copies did when they were loaded, or that one was damaged.
	differed error

	mu sync.Mutex // one vote is written at a time
}

func newBallots(list *segmentList, base string, salt durable.Salt) *ballots {
	return &ballots{segmentList: list, path: filepath.Join(base, voteName), salt: salt}
}

// Load implements types.MetaStore. Afterwards both have the same vote.
func (b *ballots) Load(dir string) (types.PersistentState, error) {
	state, err := b.segmentList.Load(dir)
	if err == nil {
		err = b.agree()
	}
	return state, err
}

func (b *ballots) agree() error {
	theirs, err := b.theirs()
	if err != nil {
		return err
	}
	ours, err := readVote(b.path, b.salt)
	if errors.Is(err, errVote) || errors.Is(err, fs.ErrNotExist) { // an earlier version writes none
		if errors.Is(err, errVote) {
			b.differed = err
		}
		return durable.Replace(b.path, theirs.encode(b.salt))
	}
	if err != nil || ours == theirs {
		return err
	}
	b.differed = errors.New("raft/N/vote and wal-meta.db have different terms or votes")
	newest := ours.newest(theirs)
	if err := durable.Replace(b.path, newest.encode(b.salt)); err != nil {
		return err
	}
	for key, value := range map[string][]byte{
		termKey:      binary.LittleEndian.AppendUint64(nil, newest.term),
		votedInKey:   binary.LittleEndian.AppendUint64(nil, newest.votedIn),
		candidateKey: []byte(newest.candidate),
	} {
		if err := b.segmentList.SetStable([]byte(key), value); err != nil {
			return err
		}
	}
	return nil
}

// theirs is the vote that raft-wal has.
func (b *ballots) theirs() (v vote, err error) {
	for _, key := range []string{termKey, votedInKey, candidateKey} {
		value, err := b.GetStable([]byte(key))
		if err != nil {
			return v, err
		}
		v = v.with(key, value)
	}
	return v, nil
}

// SetStable implements types.MetaStore. Raft's main goroutine calls it, and those of
// connections over which heartbeats come: they may outlast Raft, and find it closed.
func (b *ballots) SetStable(key, value []byte) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	v, err := b.theirs()
	if err == nil {
		err = v.with(string(key), value).write(b.path, b.salt)
	}
	if err != nil {
		return err
	}
	return b.segmentList.SetStable(key, value)
}

// Close implements types.MetaStore.
func (b *ballots) Close() error {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.segmentList.Close()
}

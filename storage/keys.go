package storage

import (
	"encoding/binary"
	"hash/crc32"
	"strings"

	bolt "go.etcd.io/bbolt"

	"ubl"
)

// The format of keys and values, version 1:
//
//	key      tenant "|" shard 0x00 key-in-group
//	atom     'a' + big-endian seq (8 bytes)
//	head     'h' -> big-endian seq (8 bytes) + head hash
//	counter  its key -> big-endian value (8 bytes)
//	value    big-endian CRC-32C of key and value (4 bytes) + value
const (
	atomSpace = 'a'
	headSpace = 'h'
	// keyEnd follows a group's name in its keys; a group ends where keyEnd+1 would begin.
	keyEnd      = 0x00
	crcSize     = 4
	atomKeySize = 9 // 'a' and seq
)

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// validGroup refuses names that could reach into another group's keys.
func validGroup(g ubl.Group) bool {
	return g.Tenant != "" && !strings.ContainsAny(string(g.Tenant), "|\x00") &&
		g.Shard != "" && strings.IndexByte(g.Shard, keyEnd) < 0
}

func appendPrefix(dst []byte, g ubl.Group) []byte {
	dst = append(dst, g.Tenant...)
	dst = append(dst, '|')
	dst = append(dst, g.Shard...)
	return append(dst, keyEnd)
}

// groupOf reads the group from a full key.
func groupOf(key []byte) (ubl.Group, error) {
	name, _, ok := strings.Cut(string(key), string(rune(keyEnd)))
	tenant, shard, ok2 := strings.Cut(name, "|")
	if !ok || !ok2 {
		return ubl.Group{}, unreadable(damaged("a key names no group"))
	}
	return ubl.Group{Tenant: ubl.TenantID(tenant), Shard: shard}, nil
}

// partitionOf is FNV-1a of the group's name, mod n. It is part of the format.
func partitionOf(g ubl.Group, n int) int {
	const offset, prime = 14695981039346656037, 1099511628211
	h := uint64(offset)
	for i := range len(g.Tenant) {
		h = (h ^ uint64(g.Tenant[i])) * prime
	}
	h = (h ^ '|') * prime
	for i := range len(g.Shard) {
		h = (h ^ uint64(g.Shard[i])) * prime
	}
	return int(h % uint64(n))
}

func appendAtomKey(dst []byte, seq int64) []byte {
	return binary.BigEndian.AppendUint64(append(dst, atomSpace), uint64(seq))
}

func checksum(key, value []byte) uint32 {
	return crc32.Update(crc32.Update(0, castagnoli, key), castagnoli, value)
}

// openStored takes the value out of what is stored under a full key.
func openStored(key, stored []byte) ([]byte, error) {
	if len(stored) < crcSize {
		return nil, unreadable(damaged("a value is too short"))
	}
	value := stored[crcSize:len(stored):len(stored)]
	if binary.BigEndian.Uint32(stored) != checksum(key, value) {
		return nil, unreadable(damaged("a value does not match its checksum"))
	}
	return value, nil
}

// getStored reads and checks one value; nil where there is none.
func getStored(b *bolt.Bucket, key []byte) ([]byte, error) {
	stored := b.Get(key)
	if stored == nil {
		return nil, nil
	}
	return openStored(key, stored)
}

func appendHead(dst []byte, h ubl.LedgerHead) []byte {
	dst = binary.BigEndian.AppendUint64(dst, uint64(h.Seq))
	return append(dst, h.HeadHash...)
}

func parseHead(value []byte) (ubl.LedgerHead, error) {
	if value == nil {
		return ubl.LedgerHead{HeadHash: ubl.Genesis}, nil
	}
	if len(value) < 8 {
		return ubl.LedgerHead{}, unreadable(damaged("a ledger's head is too short"))
	}
	return ubl.LedgerHead{Seq: int64(binary.BigEndian.Uint64(value)), HeadHash: string(value[8:])}, nil
}

func parseCounter(value []byte) (int64, error) {
	if value == nil {
		return 0, nil
	}
	if len(value) != 8 {
		return 0, unreadable(damaged("a counter does not have 8 bytes"))
	}
	return int64(binary.BigEndian.Uint64(value)), nil
}

// appendStored is the other way: what is stored for a value.
func appendStored(dst, key, value []byte) []byte {
	dst = binary.BigEndian.AppendUint32(dst, checksum(key, value))
	return append(dst, value...)
}

package storage

import (
	"bytes"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"testing"

	"github.com/klauspost/compress/s2"
	"pgregory.net/rapid"

	"ubl"
)

func encodeOperations(ops ...operation) []byte {
	data := []byte{}
	for _, op := range ops {
		data = appendOperation(data, op)
	}
	return data
}

func sealed(ops []byte) []byte {
	return sealEntry(ops, nil)
}

func encodeEntry(ops ...operation) []byte { return sealed(encodeOperations(ops...)) }

// goldenEntries are the operations behind testdata/*.entry.hex. Such bytes are
// in the logs of clusters that run: a test that fails here is never mended by
// writing the files anew.
func goldenEntries() map[string][]operation {
	batch := &ubl.Batch{
		Group: ubl.Group{Tenant: "t:acme.com", Shard: "0"},
		Lease: ubl.Lease{Generation: 3, Epoch: 7},
		Head:  ubl.LedgerHead{Seq: 41, HeadHash: "h:aa"},
		Next:  ubl.LedgerHead{Seq: 43, HeadHash: "h:bb"},
		Atoms: [][]byte{[]byte(`{"a":1}`), []byte(`{"a":2}`)},
		Counters: []ubl.Counter{
			{Key: []byte("croom"), From: 300, To: 301},
			{Key: []byte("cx"), From: -1, To: 1 << 40},
		},
		Records: []ubl.Record{
			{Key: []byte("m1"), Value: []byte("hello")},
			{Key: []byte("m0")},
			{Key: []byte("m2"), Value: []byte{}},
		},
	}
	alike := &ubl.Batch{Group: batch.Group, Lease: batch.Lease, Head: batch.Next, Counters: []ubl.Counter{}, Records: []ubl.Record{},
		Next: ubl.LedgerHead{Seq: batch.Next.Seq + 20, HeadHash: "h:cc"}}
	for i := range 20 { // so that there is something to compress
		alike.Atoms = append(alike.Atoms, fmt.Appendf(nil, `{"did":"messenger.send","seq":%d,"status":"executed"}`, i+44))
	}
	table := &note{epoch: 7, name: "table", from: 2, value: []byte("value")}
	return map[string][]operation{
		"empty": nil,
		"alike": {{batch: alike}},
		"batch": {{batch: batch}},
		"note":  {{note: table}},
		"mixed": {{note: table}, {batch: batch}, {batch: &ubl.Batch{Group: ubl.Group{Tenant: "t", Shard: "s"},
			Atoms: [][]byte{}, Counters: []ubl.Counter{}, Records: []ubl.Record{}}}},
	}
}

func readHex(t *testing.T, name string) []byte {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("testdata", name))
	if err != nil {
		t.Fatal(err)
	}
	data, err := hex.DecodeString(string(bytes.Join(bytes.Fields(text), nil)))
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// TestGoldenEntries: version 1 is read as it always was, and its operations are
// written as they always were. How well an entry is compressed may change.
func TestGoldenEntries(t *testing.T) {
	for name, ops := range goldenEntries() {
		t.Run(name, func(t *testing.T) {
			have, _, err := decodeEntry(readHex(t, name+".entry.hex"), nil)
			if err != nil || !reflect.DeepEqual(have, ops) {
				t.Errorf("read as %+v, %v", have, err)
			}
			want := readHex(t, name+".operations.hex")
			if have := encodeOperations(ops...); !bytes.Equal(have, want) {
				t.Errorf("written as\n%x, was\n%x", have, want)
			}
		})
	}
}

// drawOperation draws any operation there can be. Slices are never nil where
// nil means the same as empty: decodeEntry gives empty ones.
func drawOperation(t *rapid.T) operation {
	text := rapid.StringN(0, 12, 60)
	raw := rapid.SliceOfN(rapid.Byte(), 0, 40)
	if rapid.IntRange(0, 3).Draw(t, "kind") == 0 {
		return operation{note: &note{
			epoch: rapid.Int64().Draw(t, "epoch"), name: text.Draw(t, "name"),
			from: rapid.Int64().Draw(t, "from"), value: raw.Draw(t, "value"),
		}}
	}
	head := rapid.Custom(func(t *rapid.T) ubl.LedgerHead {
		return ubl.LedgerHead{Seq: rapid.Int64().Draw(t, "seq"), HeadHash: text.Draw(t, "hash")}
	})
	return operation{batch: &ubl.Batch{
		Group: ubl.Group{Tenant: ubl.TenantID(text.Draw(t, "tenant")), Shard: text.Draw(t, "shard")},
		Lease: ubl.Lease{Generation: rapid.Int64().Draw(t, "generation"), Epoch: rapid.Int64().Draw(t, "epoch")},
		Head:  head.Draw(t, "head"), Next: head.Draw(t, "next"),
		Atoms: rapid.SliceOfN(raw, 0, 4).Draw(t, "atoms"),
		Counters: rapid.SliceOfN(rapid.Custom(func(t *rapid.T) ubl.Counter {
			return ubl.Counter{Key: raw.Draw(t, "key"), From: rapid.Int64().Draw(t, "from"), To: rapid.Int64().Draw(t, "to")}
		}), 0, 4).Draw(t, "counters"),
		Records: rapid.SliceOfN(rapid.Custom(func(t *rapid.T) ubl.Record {
			r := ubl.Record{Key: raw.Draw(t, "key")}
			if rapid.Bool().Draw(t, "put") {
				r.Value = raw.Draw(t, "value")
			}
			return r
		}), 0, 4).Draw(t, "records"),
	}}
}

// TestEntryRoundTrip: every operation comes back as it went in. The difference
// between an empty value and none is kept: none deletes.
func TestEntryRoundTrip(t *testing.T) {
	var scratch []byte // of the entry before, as the applier has it
	rapid.Check(t, func(t *rapid.T) {
		var ops []operation
		for range rapid.IntRange(0, 5).Draw(t, "operations") {
			ops = append(ops, drawOperation(t))
		}
		var have []operation
		var err error
		have, scratch, err = decodeEntry(encodeEntry(ops...), scratch)
		if err != nil || !reflect.DeepEqual(have, ops) {
			t.Fatalf("%+v came back as %+v, %v", ops, have, err)
		}
	})
}

// TestCutEntry: an entry that ends within an operation is refused whole; none
// of its operations may be applied on one replica and not on another.
func TestCutEntry(t *testing.T) {
	ops := goldenEntries()["mixed"]
	whole := encodeOperations(ops...)
	ends := map[int]bool{}
	for n := range len(ops) + 1 {
		ends[len(encodeOperations(ops[:n]...))] = true
	}
	for size := range len(whole) {
		have, _, err := decodeEntry(sealed(whole[:size]), nil)
		if ends[size] {
			continue // fewer operations, each whole
		}
		if !errors.Is(err, errEntry) || have != nil {
			t.Errorf("cut to %d of %d bytes: %d operations, %v", size, len(whole), len(have), err)
		}
	}
	entry := sealed(whole)
	for size := range len(entry) {
		if have, _, err := decodeEntry(entry[:size], nil); !errors.Is(err, errEntry) || have != nil {
			t.Errorf("compressed, cut to %d of %d bytes: %d operations, %v", size, len(entry), len(have), err)
		}
	}
}

func TestGarbageEntries(t *testing.T) {
	huge := []byte{0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x01} // 2^64-1
	group := []byte{1, 't', 1, 's', 0, 0, 0, 0, 0, 0}                          // lease and heads are zero
	seal := func(parts ...[]byte) []byte { return sealed(bytes.Join(parts, nil)) }
	later := sealed(nil)
	later[0]++
	tests := map[string][]byte{
		"nothing":                          nil,
		"only a version":                   {entryVersion},
		"version 0":                        {0},
		"a later version":                  later,
		"not compressed":                   append([]byte{entryVersion}, "hello"...),
		"more than memory decompressed":    append([]byte{entryVersion}, 0xff, 0xff, 0xff, 0xff, 0x0f, 0, 0),
		"an unknown operation":             seal([]byte{3}),
		"a text longer than the entry":     seal([]byte{opBatch, 9, 't'}),
		"a text of 2^64-1 bytes":           seal([]byte{opBatch}, huge, []byte("t")),
		"2^64-1 atoms":                     seal([]byte{opBatch}, group, huge),
		"2^64-1 counters":                  seal([]byte{opBatch}, group, []byte{0}, huge),
		"2^64-1 records":                   seal([]byte{opBatch}, group, []byte{0, 0}, huge),
		"a number that has no end":         seal([]byte{opNote}, bytes.Repeat([]byte{0xff}, 12)),
		"a record neither put nor deleted": seal([]byte{opBatch}, group, []byte{0, 0, 1, 1, 'k', 2, 0}),
	}
	for name, data := range tests {
		if ops, _, err := decodeEntry(data, nil); !errors.Is(err, errEntry) || ops != nil {
			t.Errorf("%s: %+v, %v", name, ops, err)
		}
	}
}

// FuzzEntry: whatever the bytes are, reading them ends, and what was read means
// the same when it is written and read again.
func FuzzEntry(f *testing.F) {
	for _, ops := range goldenEntries() {
		f.Add(encodeOperations(ops...), true)
		f.Add(encodeEntry(ops...), false)
	}
	f.Fuzz(func(t *testing.T, data []byte, seal bool) {
		if seal { // the compression lets few inputs through
			data = sealed(data)
		} else if n, err := s2.DecodedLen(data[min(1, len(data)):]); err == nil && n > mib {
			t.Skip("it says it is large, which only takes time")
		}
		ops, _, err := decodeEntry(data, nil)
		if err != nil {
			if !errors.Is(err, errEntry) || ops != nil {
				t.Fatalf("%d operations and %v", len(ops), err)
			}
			return
		}
		again, _, err := decodeEntry(encodeEntry(ops...), nil)
		if err != nil || !reflect.DeepEqual(again, ops) {
			t.Fatalf("%+v came back as %+v, %v", ops, again, err)
		}
	})
}

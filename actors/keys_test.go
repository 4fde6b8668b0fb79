package actors

import (
	"bytes"
	"context"
	"errors"
	"slices"
	"testing"
	"time"

	"ubl"
)

// memory is a store of one group, whose next looks can be made to fail.
type memory struct {
	ubl.Snapshot
	kv   map[string][]byte
	fail int // so many Views from now one fails; 0 for none
}

func (m *memory) View(ctx context.Context, g ubl.Group, fn func(ubl.Snapshot) error) error {
	if m.fail > 0 {
		if m.fail--; m.fail == 0 {
			return context.Canceled
		}
	}
	return fn(m)
}
func (m *memory) Get(k []byte) ([]byte, error) { return m.kv[string(k)], nil }
func (m *memory) Ascend(from, to []byte, fn func(k, v []byte) bool) error {
	var keys []string
	for k := range m.kv {
		if bytes.Compare([]byte(k), from) >= 0 && bytes.Compare([]byte(k), to) < 0 {
			keys = append(keys, k)
		}
	}
	slices.Sort(keys)
	for _, k := range keys {
		if !fn([]byte(k), m.kv[k]) {
			return nil
		}
	}
	return nil
}
func (m *memory) commit(a *Append) {
	for _, r := range a.Records {
		if r.Value == nil {
			delete(m.kv, string(r.Key))
		} else {
			m.kv[string(r.Key)] = r.Value
		}
	}
}

// TestEvictionThatFailsHalfway: a caller that leaves while keys are evicted
// leaves no hole in the log, and the actor goes on.
func TestEvictionThatFailsHalfway(t *testing.T) {
	m := &memory{kv: map[string][]byte{}}
	k, err := LoadKeys(m, m, "t:x|r:y")
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	add := func(ctx context.Context, at ubl.Time) error {
		n++
		a := &Append{}
		key := Key{hash: [16]byte{byte(n), byte(n >> 8), byte(n >> 16)}}
		k.Add(ctx, a, key, at, Ref{N: int64(n)})
		m.commit(a)
		return nil
	}
	ctx := context.Background()
	// The first key is a day older than the rest, so that one is evicted alone and pages end at odd places.
	day := ubl.Time(24 * time.Hour / time.Millisecond)
	for i := range 9000 {
		at := ubl.Time(1)
		if i > 0 {
			at = ubl.Time(2)
		}
		if err := add(ctx, at); err != nil {
			t.Fatal(err)
		}
	}
	if err := add(ctx, day+1); err != nil { // evicts number 1 alone
		t.Fatal(err)
	}
	for len(k.ahead) != 2 {
		if err := add(ctx, day+2); err != nil {
			t.Fatal(err)
		}
	}
	m.fail = 1 // the next page: its reader has gone
	if err := add(ctx, day+2); err != nil && !errors.Is(err, context.Canceled) {
		t.Fatalf("want a failed look-ahead, got %v", err)
	}
	for range 10 { // the actor goes on
		if err := add(ctx, day+2); err != nil {
			t.Fatal(err)
		}
	}
	k, err = LoadKeys(m, m, "t:x|r:y")
	if err != nil {
		t.Fatal(err)
	}
	for i := range 300 {
		if err := add(ctx, day+2); err != nil {
			t.Fatalf("after a restart, add %d: %v", i, err)
		}
		if i%20 == 0 { // a restart does not help
			if k, err = LoadKeys(m, m, "t:x|r:y"); err != nil {
				t.Fatal(err)
			}
		}
	}
}

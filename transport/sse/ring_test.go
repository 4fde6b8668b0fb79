package sse

import (
	"bytes"
	"fmt"
	"runtime"
	"testing"

	"ubl"
)

func everyRoom(ubl.RoomID) bool { return true }

func filled(r *ring, from, to int64) *ring {
	for seq := from; seq <= to; seq++ {
		r.add(entry{pos: seq, after: seq}, fmt.Appendf(nil, "%d,", seq))
		r.last = seq
	}
	return r
}

func TestRingRead(t *testing.T) {
	for _, c := range []struct {
		name   string
		ring   *ring
		from   int64
		want   string
		pos    int64
		behind bool
	}{
		{"all of it", filled(&ring{maxEvents: 9, maxBytes: 999}, 1, 5), 0, "1,2,3,4,5,", 5, false},
		{"what is after the cursor", filled(&ring{maxEvents: 9, maxBytes: 999}, 1, 5), 3, "4,5,", 5, false},
		{"nothing new", filled(&ring{maxEvents: 9, maxBytes: 999}, 1, 5), 5, "", 5, false},
		{"beyond the ring, as a head read late can be", filled(&ring{maxEvents: 9, maxBytes: 999}, 1, 5), 7, "", 7, false},
		{"below the ring by events", filled(&ring{maxEvents: 2, maxBytes: 999}, 1, 5), 2, "", 2, true},
		{"at the ring's base by events", filled(&ring{maxEvents: 2, maxBytes: 999}, 1, 5), 3, "4,5,", 5, false},
		{"below the ring by bytes", filled(&ring{maxEvents: 9, maxBytes: 4}, 1, 5), 2, "", 2, true},
		{"one frame larger than the ring stays", filled(&ring{maxEvents: 9, maxBytes: 1}, 1, 5), 4, "5,", 5, false},
		{"up to the limit", filled(&ring{maxEvents: 99, maxBytes: 999}, 1, 30), 0, "1,2,3,4,5,", 5, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := cursor{pos: c.from, at: -1}
			limit := 1 << 20
			if c.name == "up to the limit" {
				limit = 10
			}
			runs, _, behind := c.ring.read(&p, everyRoom, nil, limit)
			if got := string(bytes.Join(runs, nil)); got != c.want || p.pos != c.pos || behind != c.behind {
				t.Errorf("read %q to %d, behind %t; want %q to %d, behind %t", got, p.pos, behind, c.want, c.pos, c.behind)
			}
			if len(runs) > 1 {
				t.Errorf("neighbouring frames came in %d pieces", len(runs))
			}
		})
	}
}

// Listeners keep what they have read while the ring goes on.
func TestRingDoesNotTouchWhatWasRead(t *testing.T) {
	r := filled(&ring{maxEvents: 4, maxBytes: 999}, 1, 4)
	p := cursor{at: -1}
	runs, _, _ := r.read(&p, everyRoom, nil, 1<<20)
	filled(r, 5, 5000)
	if got := string(bytes.Join(runs, nil)); got != "1,2,3,4," {
		t.Errorf("what was read became %q", got)
	}
}

func TestRingMemoryIsBounded(t *testing.T) {
	heap := func() uint64 {
		runtime.GC()
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		return m.HeapAlloc
	}
	before := heap()
	r := &ring{maxEvents: 1024, maxBytes: 1 << 20}
	frame := bytes.Repeat([]byte("x"), 9000)
	for seq := range int64(20_000) {
		r.add(entry{pos: seq, after: seq}, frame)
	}
	if grown := int64(heap()) - int64(before); grown > 2<<20 {
		t.Errorf("180 MB through a ring of 1 MiB left %d bytes", grown)
	}
	runtime.KeepAlive(r)
}

func TestQuietRingIsSmall(t *testing.T) {
	r := filled(&ring{maxEvents: 1024, maxBytes: 4 << 20}, 1, 3)
	if size := cap(r.open.buf); size > minSegment {
		t.Errorf("three events take %d bytes", size)
	}
}

func FuzzCursor(f *testing.F) {
	for _, s := range []string{"", "0", "42", "-1", "l0-42", "l0-", "9007199254740992", "１"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, id string) {
		for _, prefix := range []string{"", ledgerID} {
			n, err := parseID("id", id, prefix)
			if err != nil {
				continue
			}
			if *n < 0 || *n > maxID {
				t.Fatalf("%q was read as %d", id, *n)
			}
			again, err := parseID("id", string(appendID(nil, prefix, *n)[len("id: "):]), prefix)
			if err != nil || *again != *n {
				t.Fatalf("%q was read as %d and then as %v, %v", id, *n, again, err)
			}
		}
	})
}

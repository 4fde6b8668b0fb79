package main

import (
	"bytes"
	"testing"
	"time"
)

// TestProgressOfUnknownLength: what comes over a network has no known end, and none
// is told.
func TestProgressOfUnknownLength(t *testing.T) {
	var out bytes.Buffer
	now := testNow()
	p := &program{err: &out, now: func() time.Time { return now }}
	g := p.progress("backing up", "bytes", false)
	now = now.Add(lineEvery)
	g.at(1000, unknown)
	now = now.Add(lineEvery)
	g.at(2000, 4000)
	if want := "backing up: 1000 bytes\nbacking up: 2000 of 4000 bytes\n"; out.String() != want {
		t.Errorf("told %q, want %q", out.String(), want)
	}
}

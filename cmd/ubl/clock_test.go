package main

import (
	"bytes"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"ubl"
)

// TestClockGuard: alarms wait an hour after a jump of more than a day, as the server runs
// or since its store was last written, and while the clock is ahead of the others'; not
// where it is set back.
func TestClockGuard(t *testing.T) {
	const day = 24 * time.Hour
	var log bytes.Buffer
	var elapsed, shift, ahead time.Duration
	known := true
	g := &clockGuard{
		now: func() time.Time { return testNow().Add(elapsed + shift) }, elapsed: func() time.Duration { return elapsed },
		ahead: func() (time.Duration, bool) { return ahead, known }, log: slog.New(slog.NewTextHandler(&log, nil)),
	}
	pass := func(what string, d, to time.Duration, holds, warns bool) {
		t.Helper()
		log.Reset()
		elapsed, shift = elapsed+d, to
		if got := g.holds(); got != holds || strings.Contains(log.String(), "level=WARN") != warns {
			t.Errorf("%s: holds %v: %s", what, got, log.String())
		}
	}
	known = false
	pass("before the others were asked", 0, 0, true, false)
	pass("a minute without an answer", time.Minute, 0, false, false)
	known = true
	pass("a look", 0, 0, false, false)
	pass("two days on", 2*day, 0, false, false)
	pass("a jump of 23 h", time.Minute, 23*time.Hour, false, false)
	pass("a jump of 3 d more", time.Minute, 4*day, true, true)
	pass("59 minutes later", 59*time.Minute, 4*day, true, false)
	pass("an hour later", time.Minute, 4*day, false, false)
	pass("400 d more", time.Minute, 404*day, true, true)
	pass("set right", time.Minute, 0, false, true)
	g.since(ubl.TimeOf(testNow().Add(elapsed - 25*time.Hour)))
	pass("a store of the day before yesterday", 0, 0, true, true)
	pass("an hour later", time.Hour, 0, false, false)
	g.since(ubl.TimeOf(testNow().Add(elapsed - time.Hour)))
	pass("a store of an hour ago", 0, 0, false, false)
	ahead = 2 * time.Minute
	pass("ahead of the others", time.Minute, 0, true, false)
	ahead = 30 * time.Second
	pass("less so", time.Minute, 0, false, false)
	ahead = -day
	pass("behind them", time.Minute, 0, false, false)
}

// TestGuardClock: a node alone that starts with a clock far ahead of its newest act holds
// its alarms, and one that starts soon after doesn't.
func TestGuardClock(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "data")
	for _, start := range []struct {
		after time.Duration
		holds bool
	}{{0, false}, {time.Hour, false}, {3 * 24 * time.Hour, true}} {
		p := &program{now: func() time.Time { return testNow().Add(start.after) }, random: &counter64{}}
		n, err := p.openNode(dir, slog.New(slog.DiscardHandler))
		if err != nil {
			t.Fatal(err)
		}
		if _, err := n.start(t.Context(), testKey(t, p)); err != nil {
			t.Fatal(err)
		}
		if got := n.clock.holds(); got != start.holds {
			t.Errorf("a start %s later: alarms are held: %v", start.after, got)
		}
		if err := n.close(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
}

// TestClockAfterRestore: the clock that a restore ran under says nothing of the backup's. Where
// that is more than a day old, the first start holds alarms, as over the same files.
func TestClockAfterRestore(t *testing.T) {
	for after, holds := range map[time.Duration]bool{time.Hour: false, 3 * 24 * time.Hour: true} {
		now := testNow()
		p := &program{now: func() time.Time { return now }, random: &counter64{}, out: io.Discard, err: io.Discard}
		file, dir := filepath.Join(t.TempDir(), "backup"), filepath.Join(t.TempDir(), "new")
		var made bytes.Buffer
		if err := p.withNode(t.Context(), t.TempDir(), func(n *node) error { return n.backup(t.Context(), &made, "a test", nil) }); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, made.Bytes(), 0o600); err != nil {
			t.Fatal(err)
		}
		now = now.Add(after)
		if err := (&restoreCmd{File: file, Data: dir, Quiet: true}).Run(t.Context(), p); err != nil {
			t.Fatal(err)
		}
		n, err := p.openNode(dir, slog.New(slog.DiscardHandler))
		if err != nil {
			t.Fatal(err)
		}
		if _, err := n.start(t.Context(), testKey(t, p)); err != nil {
			t.Fatal(err)
		}
		if got := n.clock.holds(); got != holds {
			t.Errorf("%s after the backup alarms are held: %v", after, got)
		}
		if err := n.close(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
}

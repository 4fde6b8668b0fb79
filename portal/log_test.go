package portal

import (
	"context"
	"fmt"
	"maps"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"ubl"
)

// partly is an Asker for rows of the log, some of whose tenants have no leader:
// asked about them, it doesn't answer.
type partly struct {
	ubl.Visitor
	mu      sync.Mutex
	silent  map[ubl.TenantID]bool
	written map[ubl.TenantID]int
}

// Ask implements [ubl.Asker].
func (p *partly) Ask(ctx context.Context, _ ubl.Name, cmd ubl.Command) (any, error) {
	log := cmd.(ubl.LogCalls)
	p.mu.Lock()
	defer p.mu.Unlock()
	if t := log.Who.TenantID; !p.silent[t] && ctx.Err() == nil {
		p.written[t] += len(log.Calls)
		return nil, nil
	}
	p.mu.Unlock()
	<-ctx.Done()
	p.mu.Lock()
	return nil, ctx.Err()
}

func (p *partly) writtenOf(t ubl.TenantID) int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.written[t]
}

// set makes these tenants silent and no others.
func (p *partly) set(silent ...ubl.TenantID) {
	p.mu.Lock()
	defer p.mu.Unlock()
	clear(p.silent)
	for _, t := range silent {
		p.silent[t] = true
	}
}

// tenant is the nth of many.
func tenant(n int) ubl.TenantID { return ubl.TenantID(fmt.Sprintf("t:t%03d.example", n)) }

// logging is a portal whose rows an asker counts, until the test ends.
func logging(t *testing.T) (*Portal, *partly) {
	t.Helper()
	asker := &partly{silent: map[ubl.TenantID]bool{}, written: map[ubl.TenantID]int{}}
	p, err := New(Options{Asker: asker, Keys: oneKey(0), Random: zeros{}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { p.Close(context.Background()) })
	return p, asker
}

// TestLogOverSilence: tenants whose partition has no leader don't cost others their
// rows, and rows that a round didn't get to aren't given up.
func TestLogOverSilence(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p, asker := logging(t)
		const all, silent = 600, 200
		var quiet []ubl.TenantID
		want := map[ubl.TenantID]int{}
		for n := range all {
			if n < silent { // the first in the queue
				quiet = append(quiet, tenant(n))
			} else {
				want[tenant(n)] = 2
			}
			p.Log(tenant(n), &ubl.Call{N: 1}, &ubl.Call{N: 2})
		}
		asker.set(quiet...)
		for range 2 * maxTries {
			p.flush(t.Context())
		}
		if !maps.Equal(asker.written, want) {
			t.Errorf("of %d tenants with a leader, %d have their rows", all-silent, len(asker.written))
		}

		// A round that ends early has tried nothing.
		p.Log(tenant(all), &ubl.Call{N: 1})
		gone, cancel := context.WithCancel(t.Context())
		cancel()
		for range 2 * maxTries {
			p.flush(gone)
		}
		asker.set()
		p.flush(t.Context())
		if got := asker.written[tenant(all)]; got != 1 {
			t.Errorf("%d rows were written of one that was never tried", got)
		}
	})
}

// TestLogSleepsWhileThereIsNothingToWrite: rows wait from when the first of them came, not until a clock
// that always ticks. What couldn't be written is tried again without another row.
func TestLogSleepsWhileThereIsNothingToWrite(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p, asker := logging(t)
		ctx, stop := context.WithCancel(t.Context())
		done := make(chan struct{})
		go func() { p.Run(ctx); close(done) }()
		defer func() { stop(); <-done }()
		wait := func(d time.Duration, want int) {
			t.Helper()
			time.Sleep(d)
			synctest.Wait()
			if got := asker.writtenOf(tenant(1)); got != want {
				t.Fatalf("%d rows are written, want %d", got, want)
			}
		}
		const moment = flushEvery / 10
		want := 0
		for _, rest := range []time.Duration{moment, time.Hour, 3*time.Hour + flushEvery/2} {
			wait(rest, want)
			p.Log(tenant(1), &ubl.Call{N: 1})
			wait(moment, want)
			p.Log(tenant(1), &ubl.Call{N: 2})
			wait(flushEvery-2*moment, want)
			want += 2
			wait(moment, want)
		}
		asker.set(tenant(1))
		p.Log(tenant(1), &ubl.Call{N: 1})
		wait(flushEvery+moment, want)
		asker.set()
		wait(flushTimeout+2*flushEvery, want+1)
	})
}

// TestLogBeforeARead: a tenant's rows are written before its log is read, though the
// round that writes all tenants' rows waits for one without a leader. What can't be
// written isn't given up by reading.
func TestLogBeforeARead(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p, asker := logging(t)
		asker.set(tenant(0))
		p.FlushLog(t.Context(), tenant(1)) // nothing waits
		p.Log(tenant(0), &ubl.Call{})
		go p.flush(t.Context())
		synctest.Wait()
		began := time.Now()
		p.Log(tenant(1), &ubl.Call{}, &ubl.Call{})
		p.FlushLog(t.Context(), tenant(1))
		if got, took := asker.writtenOf(tenant(1)), time.Since(began); got != 2 || took != 0 {
			t.Errorf("a read finds %d rows of 2 after %s", got, took)
		}

		for range 2 * maxTries {
			began := time.Now()
			p.FlushLog(t.Context(), tenant(0))
			if took := time.Since(began); took > writeTimeout {
				t.Fatalf("a read waited %s for rows that can't be written", took)
			}
		}
		asker.set()
		p.FlushLog(t.Context(), tenant(0))
		if got := asker.writtenOf(tenant(0)); got != 1 {
			t.Errorf("%d rows are left of 1 that couldn't be written for a while", got)
		}
	})
}

// TestLogIsShared: the rows of one tenant leave room for those of others.
func TestLogIsShared(t *testing.T) {
	asker := &partly{silent: map[ubl.TenantID]bool{}, written: map[ubl.TenantID]int{}}
	p, err := New(Options{Asker: asker, Keys: oneKey(0), Random: zeros{}})
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close(context.Background())
	for range maxRows {
		p.Log(tenant(0), &ubl.Call{})
	}
	p.Log(tenant(1), &ubl.Call{})
	p.flush(t.Context())
	if asker.written[tenant(0)] != maxTenantRows || asker.written[tenant(1)] != 1 {
		t.Errorf("%v rows were written", asker.written)
	}
}

// zeros is as random as these tests need.
type zeros struct{}

func (zeros) Read(b []byte) (int, error) { clear(b); return len(b), nil }

package actors_test

import (
	"context"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"ubl"
	"ubl/actors"
	"ubl/storage"
	"ubl/test/harness"
)

// openTimers is a house by the machine's clock, with timers in as many tenants.
func openTimers(b *testing.B, tenants int) (h *harness.House, people []ubl.Identity) {
	kind, store := timerKind(func(string) error { return nil }), ubl.Store(nil)
	h = harness.Open(b, harness.Options{
		Now: time.Now, Storage: &storage.Options{}, Wrap: func(s ubl.Store) ubl.Store { store = s; return s },
		Families: []actors.Family{{
			Name: "timer", Owns: func(local string) bool { return strings.HasPrefix(local, "timer:") },
			Open: func(ctx context.Context, env actors.Env) (actors.Actor, error) {
				x, err := kind.Load(ctx, store, env, actors.Hooks[timerEvent]{})
				return timer{x}, err
			},
		}},
	})
	for i := range tenants {
		who := harness.User(fmt.Sprintf("ana@example%d.com", i))
		h.Enter(who)
		people = append(people, who)
	}
	return h, people
}

// arm has timers of all tenants arm alarms, many in a commit.
func arm(b *testing.B, h *harness.House, people []ubl.Identity, timers, alarms int, at ubl.Time) {
	b.Helper()
	var running sync.WaitGroup
	slots := make(chan struct{}, 64)
	for n := range timers {
		for _, who := range people {
			slots <- struct{}{}
			running.Go(func() {
				defer func() { <-slots }()
				c := set{Request: h.Request(who)}
				for i := range alarms {
					c.Alarms = append(c.Alarms, actors.Alarm{Key: fmt.Sprint("key-", i), At: at})
				}
				to := ubl.Name(fmt.Sprintf("%s|timer:%d", who.TenantID, n))
				_, err := h.Ask(context.Background(), to, c)
				for ; ubl.CodeOf(err) == ubl.CodeOverloaded; _, err = h.Ask(context.Background(), to, c) {
					time.Sleep(100 * time.Millisecond)
				}
				if err != nil {
					b.Error(err)
				}
			})
		}
	}
	running.Wait()
}

// BenchmarkAlarmsArmed: a million armed alarms, a thousand in each actor, cost what the
// store holds: memory only of actors that are in it, and no time while none is due.
func BenchmarkAlarmsArmed(b *testing.B) {
	for b.Loop() {
		h, people := openTimers(b, 100)
		before := heap()
		b.ReportMetric(idle(), "%cpu-idle-without")
		arm(b, h, people, 10, 1000, ubl.TimeOf(time.Now().Add(24*time.Hour)))
		b.ReportMetric(float64(heap()-before)/1e6, "B/alarm-of-loaded-actors")
		h.Restart()
		for h.AlarmStats().Groups < len(people) {
			time.Sleep(10 * time.Millisecond)
		}
		h.Reload()
		b.ReportMetric(float64(heap()-before)/1e6, "B/alarm-idle")
		idle() // until the memory that was used is given back
		b.ReportMetric(idle(), "%cpu-idle")
		b.ReportMetric(0, "ns/op")
		h.Close()
	}
}

func heap() int64 {
	runtime.GC()
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}

// idle is how much of a core the process uses meanwhile.
func idle() float64 {
	const during = 20 * time.Second
	used := cpu()
	time.Sleep(during)
	return float64(cpu()-used) / float64(during) * 100
}

// cpu is the time that the process has used.
func cpu() time.Duration {
	var r syscall.Rusage
	_ = syscall.Getrusage(syscall.RUSAGE_SELF, &r)
	return time.Duration(r.Utime.Nano() + r.Stime.Nano())
}

// BenchmarkAlarmsDue: 10,000 alarms come due in one second, of as many sleeping actors or of
// one, while messages are sent in the same tenants: 500 in a second, or as many as 64 writers
// can. Rounds without alarms alternate with rounds with; the medians are told.
func BenchmarkAlarmsDue(b *testing.B) {
	const many, rounds = 10_000, 5
	for _, c := range []struct{ tenants, timers, writers int }{{1, many, 0}, {1, many, 64}, {100, many, 0}, {1, 1, 0}} {
		b.Run(fmt.Sprintf("tenants=%d/actors=%d/writers=%d", c.tenants, c.timers, c.writers), func(b *testing.B) {
			var all, quiet, firing, ratio, each []float64
			h, people := openTimers(b, c.tenants)
			pace := 500
			if c.writers > 0 {
				pace = 0
			}
			for range rounds {
				due := time.Now().Add(time.Minute)
				arm(b, h, people, c.timers/c.tenants, many/c.timers, ubl.TimeOf(due))
				if late := time.Since(due); late > -7*time.Second {
					b.Fatalf("arming took until %s after they were due", late)
				}
				h.Reload()
				time.Sleep(time.Until(due) - 6*time.Second)
				used := cpu()
				alone := p99(sends(b, h, people, 5*time.Second, c.writers, pace))
				without := cpu() - used
				time.Sleep(time.Until(due))
				before, done := h.AlarmStats().Fired, make(chan time.Duration, 1)
				go func() {
					for h.AlarmStats().Fired < before+many {
						time.Sleep(time.Millisecond)
					}
					done <- time.Since(due)
				}()
				used = cpu()
				busy := p99(sends(b, h, people, 5*time.Second, c.writers, pace))
				all = append(all, (<-done).Seconds())
				each = append(each, float64((cpu()-used-without).Microseconds())/many)
				quiet, firing, ratio = append(quiet, alone), append(firing, busy), append(ratio, busy/alone)
			}
			b.ReportMetric(median(all), "s-until-all-fired")
			b.ReportMetric(median(quiet), "ms-p99-quiet")
			b.ReportMetric(median(firing), "ms-p99-firing")
			b.ReportMetric(median(ratio), "times-p99")
			if c.writers == 0 { // else the processors are busy anyway
				b.ReportMetric(median(each), "µs-cpu/alarm")
			}
			b.ReportMetric(0, "ns/op")
		})
	}
}

// sends is what each message took that was sent: at a pace, so many in a second, or by
// writers who each send one after the other.
func sends(b *testing.B, h *harness.House, people []ubl.Identity, during time.Duration, writers, pace int) (took []time.Duration) {
	b.Helper()
	var mu sync.Mutex
	var running sync.WaitGroup
	var refused atomic.Int64
	send := func(who ubl.Identity, begun time.Time) {
		send := ubl.SendMessage{Request: h.Request(who), Text: "hello"}
		if _, err := h.Ask(context.Background(), ubl.RoomName(who.TenantID, ubl.GeneralRoom), send); err != nil {
			refused.Add(1)
		}
		mu.Lock()
		defer mu.Unlock()
		took = append(took, time.Since(begun))
	}
	begin := time.Now()
	for n := range int(during.Seconds() * float64(pace)) {
		at := begin.Add(time.Duration(n) * time.Second / time.Duration(pace))
		time.Sleep(time.Until(at))
		running.Go(func() { send(people[n%len(people)], at) })
	}
	for w := range writers {
		running.Go(func() {
			for now := begin; now.Sub(begin) < during; now = time.Now() {
				send(people[w%len(people)], now)
			}
		})
	}
	running.Wait()
	if n := refused.Load(); n > 0 {
		b.Logf("%d messages were refused", n)
	}
	return took
}

// p99 is the 99th percentile in milliseconds.
func p99(took []time.Duration) float64 {
	slices.Sort(took)
	return float64(took[len(took)*99/100].Microseconds()) / 1000
}

func median(of []float64) float64 {
	slices.Sort(of)
	return of[len(of)/2]
}

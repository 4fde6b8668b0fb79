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
				if _, err := h.Ask(context.Background(), ubl.Name(fmt.Sprintf("%s|timer:%d", who.TenantID, n)), c); err != nil {
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

// BenchmarkAlarmsDue: 10,000 alarms of as many sleeping actors come due in one second,
// while messages are sent at a steady pace in the same tenants.
func BenchmarkAlarmsDue(b *testing.B) {
	for _, tenants := range []int{1, 100} {
		b.Run(fmt.Sprint("tenants=", tenants), func(b *testing.B) {
			for b.Loop() {
				h, people := openTimers(b, tenants)
				due := time.Now().Add(time.Minute)
				const many = 10_000
				arm(b, h, people, many/tenants, 1, ubl.TimeOf(due))
				h.Reload()
				if late := time.Since(due); late > -12*time.Second {
					b.Fatalf("arming took until %s after they were due", late)
				}
				time.Sleep(time.Until(due) - 11*time.Second)
				quiet := sends(b, h, people, 10*time.Second)
				time.Sleep(time.Until(due))
				done := make(chan time.Duration, 1)
				go func() {
					for h.AlarmStats().Fired < many {
						time.Sleep(time.Millisecond)
					}
					done <- time.Since(due)
				}()
				busy := sends(b, h, people, 5*time.Second)
				b.ReportMetric((<-done).Seconds(), "s-until-all-fired")
				b.ReportMetric(float64(quiet.Microseconds())/1000, "ms-p99-quiet")
				b.ReportMetric(float64(busy.Microseconds())/1000, "ms-p99-firing")
				b.ReportMetric(0, "ns/op")
				h.Close()
			}
		})
	}
}

// sends sends 200 messages a second, and is the 99th percentile of what each took.
func sends(b *testing.B, h *harness.House, people []ubl.Identity, during time.Duration) time.Duration {
	b.Helper()
	const pace = 5 * time.Millisecond
	var running sync.WaitGroup
	var refused atomic.Int64
	took := make([]time.Duration, during/pace)
	tick := time.NewTicker(pace)
	defer tick.Stop()
	for i := range took {
		<-tick.C
		who := people[i%len(people)]
		running.Go(func() {
			begin := time.Now()
			send := ubl.SendMessage{Request: h.Request(who), Text: "hello"}
			if _, err := h.Ask(context.Background(), ubl.RoomName(who.TenantID, ubl.GeneralRoom), send); err != nil {
				refused.Add(1)
			}
			took[i] = time.Since(begin)
		})
	}
	running.Wait()
	if n := refused.Load(); n > 0 {
		b.Errorf("%d messages were refused", n)
	}
	slices.Sort(took)
	return took[len(took)*99/100]
}

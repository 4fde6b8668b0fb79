package actors

import (
	"maps"
	"slices"
	"time"

	"ubl"
)

// Failing lists the tenants of this node with alarms that have failed for good, sorted.
func (rt *Runtime) Failing() []ubl.TenantID {
	s, tenants := rt.alarms, make(map[ubl.TenantID]bool)
	s.mu.Lock()
	defer s.mu.Unlock()
	for g, w := range s.groups {
		if w.failed > 0 {
			tenants[g.Tenant] = true
		}
	}
	return slices.Sorted(maps.Keys(tenants))
}

// AlarmStats are figures of the alarms of the groups that run at this node.
type AlarmStats struct {
	Groups   int           // that have any
	Failed   int           // alarms that are not tried any more
	Fired    int64         // since the start
	Failures int64         // attempts that failed since the start
	Late     time.Duration // of the alarm that has been due for longest
}

// AlarmStats counts.
func (rt *Runtime) AlarmStats() AlarmStats {
	s := rt.alarms
	stats := AlarmStats{Fired: s.fired.Load(), Failures: s.failures.Load()}
	now := rt.opts.Now()
	s.mu.Lock()
	defer s.mu.Unlock()
	stats.Groups = len(s.groups)
	for _, w := range s.groups {
		stats.Failed += w.failed
		if since := sooner(w.at, w.late); since != 0 {
			stats.Late = max(stats.Late, now.Sub(since.Std()))
		}
	}
	for one := range s.slow {
		stats.Late = max(stats.Late, now.Sub(one.due.at.Std()))
	}
	return stats
}

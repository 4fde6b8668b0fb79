//go:build linux

package chaos

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"ubl/test/soak"
)

// verdicts are what each check found wrong, by its name.
type verdicts struct {
	mu    sync.Mutex
	found map[string][]string
}

// add notes what a check found; nothing counts as well: it was checked.
func (v *verdicts) add(check, where string, wrong []string) {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.found[check] = append(v.found[check], nil...)
	for _, w := range wrong {
		v.found[check] = append(v.found[check], where+": "+w)
	}
}

func (v *verdicts) fail(check, where string, err error) {
	if err != nil {
		v.add(check, where, []string{err.Error()})
	} else {
		v.add(check, where, nil)
	}
}

// bad counts what is wrong.
func (v *verdicts) bad() (n int) {
	for _, wrong := range v.found {
		n += len(wrong)
	}
	return n
}

// verify ends the load and checks everything; the faults are over. It fails the
// test for what is wrong.
func (l *load) verify() *verdicts {
	w := l.world
	w.t.Helper()
	v := &verdicts{found: make(map[string][]string)}
	l.finish()
	if w.failure() != nil {
		l.testify(v)
		return v
	}
	ctx, cancel := context.WithTimeoutCause(w.life, 8*time.Minute, errors.New("the checks took too long"))
	defer cancel()
	v.fail("whole again", "the cluster", w.wholeWithin(ctx, atRest))
	for _, t := range l.tenants {
		l.verifyTenant(ctx, v, t)
	}
	l.verifyCounters(ctx, v)      // what they wait for would be without an effect
	for _, t := range l.tenants { // last, for what is under way has a while to end
		t.wallets.verify(ctx, v, func() []atom { return l.verifyLedger(ctx, v, t.id, t.owner.token) })
	}
	l.verifyLedger(ctx, v, "t:ubl_core", w.operator().token)
	l.stopStreams()
	l.streams.Wait()
	if !w.alone {
		v.add("replicas", "the cluster", w.checkReplicas(ctx))
	}
	for _, n := range w.all() {
		v.add("logs", n.id, alarms(n.logText()))
		v.add("files", n.id, n.exposed())
	}
	v.add("logs", "processes", w.complaints())
	v.report(w.t)
	return v
}

// testify reports of a world that has failed what its clients and processes said:
// there is nothing more to wait for.
func (l *load) testify(v *verdicts) {
	l.world.t.Helper()
	l.stopStreams()
	l.streams.Wait()
	for _, t := range l.tenants {
		for _, r := range t.rooms {
			v.add("clients", r.where(), r.testimony())
		}
		v.add("clients", t.workspace.where, t.workspace.testimony())
		v.add("clients", t.wallets.where, t.wallets.testimony())
		v.add("clients", t.counters.where, t.counters.testimony())
	}
	v.add("run", fmt.Sprintf("CHAOS_SEED=%d", l.world.seed), l.world.complaints())
	v.report(l.world.t)
}

// report fails the test for what is wrong.
func (v *verdicts) report(t *testing.T) {
	t.Helper()
	for _, check := range slices.Sorted(maps.Keys(v.found)) {
		for _, wrong := range v.found[check] {
			t.Errorf("%s: %s", check, wrong)
		}
	}
}

// wholeWithin gives a cluster its time to heal.
func (w *world) wholeWithin(ctx context.Context, r rest) error {
	ctx, cancel := context.WithTimeoutCause(ctx, healTime, fmt.Errorf("not whole within %s", healTime))
	defer cancel()
	return w.whole(ctx, r)
}

func (l *load) verifyTenant(ctx context.Context, v *verdicts, t *tenant) {
	for i, r := range t.rooms {
		final, err := l.final(ctx, v, t, r)
		if err != nil {
			v.fail("nodes agree", r.where(), err)
			continue
		}
		r.verify(ctx, v, final)
		for _, f := range []*follower{t.streams[i], t.events} {
			whole := f != t.events // which began later than the room
			await(ctx, f, r.id, int64(len(final)))
			got, gaps := f.of(r.id)
			v.add("streams", r.where()+" over "+f.path, checkStream(got, final, gaps, whole))
		}
	}
	t.workspace.verify(ctx, v)
}

func (r *room) where() string { return r.tenant.id + " " + r.id }

// final reads the room through every node; they must agree.
func (l *load) final(ctx context.Context, v *verdicts, t *tenant, r *room) (final []message, err error) {
	by := make(map[string]string)
	for _, n := range l.world.members() {
		if final, err = t.owner.history(ctx, n, r.id); err != nil {
			return nil, err
		}
		by[n.id] = hashOf(final)
	}
	v.add("nodes agree", r.where(), checkEqual("the history", by))
	return final, nil
}

// verify checks what the clients of the room know against what is stored.
func (r *room) verify(ctx context.Context, v *verdicts, final []message) {
	r.mu.Lock()
	defer r.mu.Unlock()
	v.add("clients", r.where(), r.testimony())
	v.add("once", r.where(), checkOnce(final))
	v.add("acknowledged", r.where(), checkAcknowledged(r.acked, final))
	v.add("seen", r.where(), checkSeen(r.seen, final))
	v.add("linearizable", r.where(), checkLinearizable(r.ops, final))
	now, err := r.membersNow(ctx)
	v.fail("members", r.where(), err)
	v.add("members", r.where(), checkMembers(r.joined, r.members, final, now))
}

func (r *room) membersNow(ctx context.Context) ([]string, error) {
	var out struct {
		Members []struct {
			UserID string `json:"user_id"`
		} `json:"members"`
	}
	err := r.owner.ask(ctx, "GET", "/api/rooms/"+r.id+"/members", "", nil, &out)
	var ids []string
	for _, m := range out.Members {
		ids = append(ids, m.UserID)
	}
	return ids, err
}

// await waits until a stream has come as far as the room; what is missing then
// the check tells.
func await(ctx context.Context, f *follower, room string, newest int64) {
	ctx, cancel := context.WithTimeout(ctx, deadline)
	defer cancel()
	_ = poll(ctx, 20*time.Millisecond, func(context.Context) error {
		if f.newest(room) < newest {
			return errors.New("behind")
		}
		return nil
	})
}

// verifyLedger checks the ledger of a token's tenant.
func (l *load) verifyLedger(ctx context.Context, v *verdicts, tenant, token string) []atom {
	atoms, err := l.world.ledger(ctx, token)
	v.fail("ledgers", tenant, err)
	v.add("effects", tenant, checkEffects(atoms))
	return atoms
}

// verifyCounters checks counters, when what they wait for has come. Leases of attempts that died
// with a node end as time does.
func (l *load) verifyCounters(ctx context.Context, v *verdicts) {
	if !l.world.counts {
		return
	}
	if !soak.On() {
		for _, n := range l.world.all() {
			v.fail("counters", n.id, n.setClockAhead(leaseTime))
		}
	}
	calls := make(map[string]counted)
	for _, t := range l.tenants {
		maps.Copy(calls, t.counters.verify(ctx, v, t.events))
	}
	v.add("hook", "all tenants", l.world.hook.check(calls))
}

// leaseTime is longer than an attempt's lease, and no jump of a clock that alarms wait for.
const leaseTime = 40 * time.Second

// alarms are lines of a log that no fault excuses.
func alarms(log string) (out []string) {
	for line := range strings.Lines(log) {
		for _, sign := range []string{"panic: ", "fatal error: ", "WARNING: DATA RACE"} {
			if strings.HasPrefix(line, sign) {
				out = append(out, strings.TrimSpace(line))
			}
		}
	}
	return first(out)
}

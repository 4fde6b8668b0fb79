package tenant

import (
	"context"
	"errors"
	"maps"
	"slices"
	"time"

	"ubl"
	"ubl/actors"
	"ubl/actors/agreement"
)

// What a Tenant decides, other actors have to follow. The request waits until they
// have; where that fails, an alarm of the same commit has them asked again, by these keys:
//
//	u:…    a member who was removed: rooms, containers, the Portal and tenant 0 let go of them
//	t:…    a tenant whose domains tenant 0 has decided about: it puts that on its record
//	sweep  both, for all: what earlier versions may have left

const (
	// finishAfter is how long after the decision the alarm is due. The request has ended by
	// then, and a domain's claim is older than [settledAfter].
	finishAfter = 2 * time.Minute
	sweepKey    = "sweep"
)

// finish is the alarm that is due behind a decision, for what it is about.
func finish[K ~string](key K) actors.Alarm {
	return actors.Alarm{Key: string(key), After: finishAfter}
}

// errand is what an alarm leads to.
func (x *Tenant) errand(key string, req ubl.Request) func(context.Context) error {
	if key == agreement.TermAlarm {
		return x.State.License.Lapse(x.Ask, x.Name, req)
	}
	if key == sweepKey {
		return x.sweep(req)
	}
	if t := ubl.TenantID(key); t.Valid() {
		return func(ctx context.Context) error {
			_, err := x.Ask.Ask(ctx, ubl.TenantName(t), ubl.SweepRooms{Request: req})
			if ubl.CodeOf(err) == ubl.CodeNotFound { // it has no record
				return nil
			}
			return err
		}
	}
	user := ubl.UserID(key)
	if _, removed := x.State.Removed[user]; !removed { // an owner has let them in again
		return nil
	}
	after := x.State.heirs("")
	return func(ctx context.Context) error { return x.letGo(ctx, req, after, user) }
}

// sweep finishes everything that the tenant has begun. It may be repeated, and goes on past
// a place that fails.
func (x *Tenant) sweep(req ubl.Request) func(context.Context) error {
	removed, after := slices.Sorted(maps.Keys(x.State.Removed)), x.State.heirs("")
	services := x.State.unsettled()
	return func(ctx context.Context) error {
		return errors.Join(x.letGo(ctx, req, after, removed...), x.settleServices(ctx, req, services), x.follow(ctx, req, ""))
	}
}

// sweepRooms is sweep for the platform: tenant 0 asks for it where domains have changed,
// and nodes of versions before alarms do every hour.
func (x *Tenant) sweepRooms(t *actors.Turn, c ubl.SweepRooms) {
	if !c.Who.IsPlatform() {
		t.Fail(ubl.Errorf(ubl.CodeForbidden, "only the platform sweeps"))
		return
	}
	run, removed := x.sweep(c.Request), len(x.State.Removed)
	t.Read(nil, func(ctx context.Context) (any, error) { return removed, run(ctx) })
}

// armedKey is there in a tenant whose decisions have alarms, and which has one for what
// was decided before. Its value counts what the sweep has learnt since: 2 where the Portal is
// asked, too.
func armedKey() []byte { return []byte{'s', 1} }

const armedNow = 2

func armed() actors.Record { return actors.Record{Key: armedKey(), Value: []byte{armedNow}} }

// unarmed names the Tenant where it is from a version before that.
func unarmed(snap ubl.Snapshot) ([]string, error) {
	mark, err := snap.Get(armedKey())
	if err != nil || len(mark) == 1 && mark[0] >= armedNow {
		return nil, err
	}
	first, err := snap.Get(eventKey(1))
	if err != nil || first == nil {
		return nil, err
	}
	return []string{""}, nil
}

// adopt arms the sweep.
func (s *State) adopt(at actors.Moment) ([]actors.Alarm, []actors.Record) {
	return []actors.Alarm{{Key: sweepKey, At: at.Now}}, []actors.Record{armed()}
}

package portal

import (
	"context"
	"errors"
	"strconv"
	"strings"
	"time"

	"ubl"
	"ubl/actors"
)

// askAlarm begins the key of the alarm that has a server asked for its tools.
const askAlarm = "ask:"

// notYet is when a server is asked again that nobody could ask, as where the Agreement isn't in
// force.
const notYet = 24 * time.Hour

// asking is the alarm of a server as it is from a moment on: cleared where it isn't asked by
// itself.
func (s *State) asking(x *server, now ubl.Time) actors.Alarm {
	alarm := actors.Alarm{Key: askAlarm + x.config.ServerID}
	if at := x.view(count{}).NextAsk(s.Tenant, now); at > 0 {
		alarm.After = time.Duration(at-now) * time.Millisecond
	}
	return alarm
}

// errand asks a server, or has a call closed whose deadline has passed.
func (x *Portal) errand(key string, req ubl.Request) func(context.Context) error {
	if id, ok := strings.CutPrefix(key, askAlarm); ok {
		s := x.State.Servers[id]
		if s == nil || !s.config.AsksItself() {
			return nil
		}
		return func(ctx context.Context) error { return x.askServer(ctx, id) }
	}
	n, err := strconv.ParseInt(strings.TrimPrefix(key, callAlarm), 10, 64)
	if err != nil || x.State.Open[n] == nil {
		return nil
	}
	return func(ctx context.Context) error {
		_, err := x.Ask.Ask(ctx, x.Name, ubl.CloseCalls{Request: req})
		return err
	}
}

// askServer asks one. What it said sets its alarm in one commit; where that is what it said
// before nothing is put on record, and the alarm is set here.
func (x *Portal) askServer(ctx context.Context, id string) error {
	tenant := x.Name.Group().Tenant
	var s *ubl.Server
	if x.servers != nil {
		var err error
		if s, err = x.servers.SyncServer(ctx, tenant, id); err != nil {
			return err
		}
	}
	now := ubl.TimeOf(x.Now())
	if s == nil {
		return actors.Again(now.Add(notYet))
	}
	if at := s.NextAsk(tenant, now); at > 0 {
		return actors.Again(at)
	}
	return nil
}

// unarmed names the Portal where a version before alarms left a call open, or one that asked
// servers by a walk over all tenants left a server without its alarm. Only what is stored of
// events tells which servers there are; they are few.
func unarmed(snap ubl.Snapshot) ([]string, error) {
	var keys []string
	s := newState("")
	err := errors.Join(
		actors.EachEvent(snap, openKey(0), openKey(-1), version, func(o open) { keys = append(keys, alarmOf(o.Call.N)) }),
		actors.EachEvent(snap, eventKey(0), eventKey(-1), version, s.apply),
	)
	for id, x := range s.Servers {
		if x.config.AsksItself() {
			keys = append(keys, askAlarm+id)
		}
	}
	for _, key := range keys {
		armed, failed := actors.Armed(snap, local, key)
		if err = errors.Join(err, failed); err != nil || !armed {
			return []string{local}, err
		}
	}
	return nil, err
}

// adopt arms what has no alarm: calls that are open, and servers.
func (s *State) adopt(at actors.Moment) (alarms []actors.Alarm, records []actors.Record) {
	for n, o := range s.Open {
		if o.early {
			alarms = append(alarms, actors.Alarm{Key: alarmOf(n), At: o.Deadline})
		}
	}
	for _, x := range s.Servers {
		if x.config.AsksItself() {
			alarms = append(alarms, s.asking(x, at.Now))
		}
	}
	return alarms, nil
}

// leased names the Portal where a call is under way.
func leased(snap ubl.Snapshot) (locals []string, err error) {
	err = actors.EachOutbound(snap, local, func(actors.Outbound, *ubl.Receipt) error {
		locals = []string{local}
		return nil
	})
	return locals, err
}

package room

import (
	"context"
	"errors"
	"maps"
	"slices"
	"time"

	"ubl"
	"ubl/actors"
	"ubl/actors/agreement"
	"ubl/actors/reading"
)

// retention is the key of the alarm that removes what is too old. It is armed while the
// policy removes messages and there are any, for when the oldest one is too old.
const retention = "retention"

const (
	// trimPage is the most messages that one batch removes.
	trimPage = 500
	// trimEvery is how long a room waits at least before it removes messages again: each
	// time has a receipt. No message stays longer than that beyond its time.
	trimEvery = time.Hour
	// trimSoon is the same where messages are kept for less than a day.
	trimSoon = time.Minute
)

// trimEvery is how long the room waits before it removes messages again.
func (s *State) trimEvery() time.Duration {
	if s.Policy.Keeps() < 24*time.Hour {
		return trimSoon
	}
	return trimEvery
}

// trims tells whether the room removes old messages. It does so after its Agreement's end
// too: the policy is a promise to those who wrote, and the end must not break it.
func (s *State) trims() bool {
	return s.Policy.Keeps() > 0 && s.Agreement.Physics.May(ubl.OpDelete) == nil
}

// expiry is the alarm for the oldest message, not before a time.
func (s *State) expiry(oldest, from ubl.Time) actors.Alarm {
	if !s.trims() || oldest == 0 {
		return actors.Alarm{Key: retention}
	}
	return actors.Alarm{Key: retention, At: max(oldest.Add(s.Policy.Keeps()), from)}
}

// errand is what the alarm leads to: a sweep, which sets the next one. Where it finds
// nothing to remove yet, the clock went back, and the alarm stays.
func (r *Room) errand(key string, req ubl.Request) func(context.Context) error {
	if key == agreement.TermAlarm {
		return r.State.Agreement.Lapse(r.Ask, r.Name, req)
	}
	if errand, ok := agreement.FinishAgents(key, &r.State.Agreement.Agreement, r.Ask, r.Name, req); ok {
		return errand
	}
	if ends := r.endPoll(key, req); ends != nil {
		return ends
	}
	if ends := r.endCall(key, req); ends != nil {
		return ends
	}
	if !r.State.trims() {
		return nil
	}
	before := r.State.Head.AvailableFrom
	return func(ctx context.Context) error {
		head, err := ubl.Ask[ubl.Head](ctx, r.Ask, r.Name, ubl.Sweep{Request: req})
		if err == nil && head.AvailableFrom == before {
			err = ubl.Errorf(ubl.CodeUnavailable, "no message is old enough yet")
		}
		return err
	}
}

// retentionIndex is the key 'w' room: the room's policy removes old messages. Versions
// before alarms wrote it.
func retentionIndex(r ubl.RoomID) []byte { return append([]byte{'w'}, r...) }

// adopt arms what versions before alarms swept by [retentionIndex].
func (s *State) adopt(actors.Moment) ([]actors.Alarm, []actors.Record) {
	return []actors.Alarm{s.expiry(s.oldest, 0)}, []actors.Record{{Key: retentionIndex(s.Summary.RoomID)}}
}

// unarmed lists the rooms with such an index.
func unarmed(snap ubl.Snapshot) (locals []string, err error) {
	from, to := []byte{'w'}, []byte{'w' + 1}
	err = snap.Ascend(from, to, func(k, _ []byte) bool {
		locals = append(locals, string(k[len(from):]))
		return true
	})
	return locals, err
}

// sweep removes a page of messages older than the room's policy keeps. It is
// an act like any other, with the room and its new available_from in the
// batch: replaying it needs no clock.
func (r *Room) sweep(t *actors.Turn, c ubl.Sweep) {
	if !c.Who.IsPlatform() {
		t.Fail(ubl.Errorf(ubl.CodeForbidden, "only the platform applies retention"))
		return
	}
	if !r.State.trims() {
		t.Reply(r.State.Head)
		return
	}
	left, err := r.tooOld(t, t.Now().Add(-r.State.Policy.Keeps()))
	switch {
	case err != nil:
		t.Fail(err)
	case len(left.frees) == 0:
		t.Reply(r.State.Head)
	default:
		allowed, err := r.Decide(t, ubl.DidRoomTrim, c.Request, r.State.trimming(left, t.Now()))
		if err != nil {
			t.Fail(err)
			return
		}
		t.Later(r.Enact(t, allowed, nil))
	}
}

// page is messages from available_from on that are too old, at most trimPage.
type page struct {
	frees []int    // how long each is
	next  ubl.Time // when the message behind them was sent, 0 where there is none
	// indexes are the keys by which they are found otherwise.
	indexes [][]byte
	// answers are what is kept of answers to forms.
	answers []actors.Record
	// files are those that they carry, by number.
	files map[int64]*filesRecord
}

func (r *Room) tooOld(t *actors.Turn, cutoff ubl.Time) (p page, err error) {
	from := r.State.Head.AvailableFrom
	var bad error
	err = r.Read.View(t.Context(), r.group, func(snap ubl.Snapshot) error {
		p = page{files: make(map[int64]*filesRecord)}
		return snap.Ascend(messageKey(r.id, from), messageKey(r.id, -1), func(k, v []byte) bool {
			n := from + int64(len(p.frees))
			if reading.NumberOf(k) != n {
				bad = errMissing(r.id, n)
				return false
			}
			var b brief
			if b, bad = stored(v).brief(); bad != nil {
				return false
			}
			if b.At > cutoff || len(p.frees) == trimPage {
				p.next = b.At
				return false
			}
			if len(b.Files) > len("[]") {
				if p.files[n], bad = readFiles(snap, r.id, n); bad != nil {
					return false
				}
			}
			if form, ok := b.Target.Seq(); ok && b.kind() == ubl.EntryAnswer {
				var kept []byte
				key := answerKey(r.id, form, n)
				if kept, bad = snap.Get(key); bad != nil {
					return false
				}
				p.answers = append(p.answers, actors.Record{Key: key, Frees: len(kept)})
			}
			p.frees = append(p.frees, len(v))
			p.indexes = append(p.indexes, b.indexes(r.id, stored(v).redacted())...)
			return true
		})
	})
	return p, errors.Join(err, bad)
}

// sentAt is when a stored message was sent.
func sentAt(v stored) (ubl.Time, error) {
	b, err := v.brief()
	return b.At, err
}

// trimming removes a page of messages, and is for the next one in time.
func (s *State) trimming(old page, now ubl.Time) *plan {
	id, was := s.Summary.RoomID, s.Head.AvailableFrom
	from, again := was+int64(len(old.frees)), s.trimEvery()
	if len(old.frees) == trimPage {
		again = time.Millisecond
	}
	left := s.Head
	left.AvailableFrom = max(from, s.Hidden+1)
	p := &plan{
		Act: actors.Act{
			This: ubl.Fields{ubl.Int("available_from", from), ubl.Str("room_id", id)},
			Effects: []ubl.Fields{{
				ubl.Int("available_from", from), ubl.Str("op", "room.trim"),
				ubl.Int("removed", from-was), ubl.Str("room_id", id),
			}},
		},
		Event:  event{AvailableFrom: from, LastSeq: s.Head.LastSeq, oldest: old.next},
		Alarms: []actors.Alarm{s.expiry(old.next, now.Add(again))},
		Answer: func(ubl.Receipt) any { return left },
	}
	for i, n := range old.frees {
		p.Records = append(p.Records, actors.Record{Key: messageKey(id, was+int64(i)), Frees: n})
	}
	p.Records = append(p.Records, old.answers...)
	for _, key := range old.indexes {
		p.Records = append(p.Records, actors.Record{Key: key})
	}
	for _, seq := range slices.Sorted(maps.Keys(old.files)) {
		p.Event.freed += s.removing(p, seq, old.files[seq], nil)
	}
	if p.Event.freed > 0 {
		p.Records = append(p.Records, s.fileBytes(-p.Event.freed))
	}
	return p
}

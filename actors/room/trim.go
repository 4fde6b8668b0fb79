package room

import (
	"encoding/json"
	"errors"
	"time"

	"ubl"
	"ubl/actors"
)

// trimPage is the most messages that one batch removes.
const trimPage = 500

// sweep removes a page of messages older than the room's policy keeps. It is
// an act like any other, with the room and its new available_from in the
// batch: replaying it needs no clock.
func (r *Room) sweep(t *actors.Turn, c ubl.Sweep) {
	if !c.Who.IsPlatform() {
		t.Fail(ubl.Errorf(ubl.CodeForbidden, "only the platform applies retention"))
		return
	}
	if r.State.Policy.RetentionDays == 0 || r.State.Agreement.May(ubl.OpDelete) != nil {
		t.Reply(r.State.Head)
		return
	}
	cutoff := t.Now().Add(-time.Duration(r.State.Policy.RetentionDays) * 24 * time.Hour)
	from, frees, err := r.firstKept(t, cutoff)
	if err != nil {
		t.Fail(err)
		return
	}
	if from == r.State.Head.AvailableFrom {
		t.Reply(r.State.Head)
		return
	}
	t.Later(r.Enact(t, ubl.DidRoomTrim, c.Request, r.State.trimming(from, frees), nil))
}

// firstKept is the room_seq of the first message kept, at most a page on, and how long
// those before it are.
func (r *Room) firstKept(t *actors.Turn, cutoff ubl.Time) (from int64, frees []int, err error) {
	from = r.State.Head.AvailableFrom
	var bad error
	err = r.Read.View(t.Context(), r.group, func(snap ubl.Snapshot) error {
		return snap.Ascend(messageKey(r.id, from), messageKey(r.id, from+trimPage), func(k, v []byte) bool {
			var m struct {
				SentAt ubl.Time `json:"sent_at"`
			}
			if numberOf(k) != from {
				bad = errMissing(r.id, from)
				return false
			}
			if bad = json.Unmarshal(v, &m); bad != nil || m.SentAt >= cutoff {
				return false
			}
			from++
			frees = append(frees, len(v))
			return true
		})
	})
	return from, frees, errors.Join(err, bad)
}

// trimming removes what is below from; frees is how long each of it is.
func (s *State) trimming(from int64, frees []int) *plan {
	id, was := s.Summary.RoomID, s.Head.AvailableFrom
	left := ubl.Head{LastSeq: s.Head.LastSeq, AvailableFrom: max(from, s.Hidden+1)}
	p := &plan{
		Act: actors.Act{
			This: ubl.Fields{ubl.Int("available_from", from), ubl.Str("room_id", id)},
			Effects: []ubl.Fields{{
				ubl.Int("available_from", from), ubl.Str("op", "room.trim"),
				ubl.Int("removed", from-was), ubl.Str("room_id", id),
			}},
		},
		Event:  event{AvailableFrom: from, LastSeq: s.Head.LastSeq},
		Answer: func(ubl.Receipt) any { return left },
	}
	for i, n := range frees {
		p.Records = append(p.Records, actors.Record{Key: messageKey(id, was+int64(i)), Frees: n})
	}
	return p
}

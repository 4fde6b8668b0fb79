package room

import (
	"context"
	"encoding/json"
	"sort"

	"ubl"
)

// past is what a look into the past needs of the present.
type past struct {
	hidden int64
	head   ubl.Head
}

func (s *State) past() past { return past{s.Hidden, s.head()} }

// then is the room as it was. What was before it was sealed stays closed.
func (r *Room) then(ctx context.Context, at ubl.AsOf, now past) (*State, *event, error) {
	s, newest, err := r.Then(ctx, at)
	if err == nil && s.Hidden != now.hidden {
		err = ubl.Errorf(ubl.CodeForbidden, "the room was sealed since, and stays closed for what was before")
	}
	if err == nil {
		s.Head.LastSeq, err = r.lastSeq(ctx, at, now.head, newest.newest())
	}
	return s, newest, err
}

// lastSeq is the number of the newest message of then; kept is the answer where the
// messages of then are gone.
func (r *Room) lastSeq(ctx context.Context, at ubl.AsOf, head ubl.Head, kept int64) (last int64, err error) {
	first := head.AvailableFrom
	err = r.Read.View(ctx, r.group, func(snap ubl.Snapshot) error {
		var bad error
		later := sort.Search(int(head.LastSeq+1-first), func(i int) bool {
			var m struct {
				Receipt ubl.Receipt `json:"receipt"`
			}
			v, err := keptAt(snap, r.id, first+int64(i))
			switch {
			case err != nil:
				bad = err
			case v == nil: // trimmed meanwhile
				return false
			case !v.known() || json.Unmarshal(v.json(), &m) != nil:
				bad = ubl.Damaged("message %d of %s can't be read", first+int64(i), r.id)
			}
			return bad != nil || !at.Has(m.Receipt)
		})
		if last = kept; later > 0 {
			last = first + int64(later) - 1
		}
		return bad
	})
	return last, err
}

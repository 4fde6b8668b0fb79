package room

import (
	"cmp"

	"ubl"
	"ubl/actors"
	"ubl/actors/agreement"
)

// What a room is called and about. Its words are in the entry that tells of them, and in the
// ledger is only the commitment to that; the event keeps them for the state.

// aboutContent tells one change from another under the same key.
func aboutContent(c ubl.DescribeRoom) []string { return c.Patch.Content() }

func (s *State) decideDescribe(c ubl.DescribeRoom, at actors.Moment) (*plan, error) {
	if s.Summary.Direct != nil {
		return nil, cmp.Or(s.shows("room.get", c.Who), errDirect())
	}
	if err := s.permits(ubl.DidRoomDescribe, c.Who); err != nil {
		return nil, err
	}
	if err := s.Agreement.May(ubl.OpWrite); err != nil {
		return nil, err
	}
	patch, err := c.Patch.Tidied()
	if err != nil {
		return nil, err
	}
	next, id := *s, s.Summary.RoomID
	next.describe(patch)
	p := &plan{
		Act: actors.Act{
			This:    ubl.Fields{ubl.Str("room_id", id)},
			Effects: []ubl.Fields{{ubl.Str("op", ubl.DidRoomDescribe), ubl.Str("room_id", id)}},
		},
		Event:   event{About: &patch, LastSeq: s.Head.LastSeq},
		Records: []actors.Record{{Key: agreement.TitleIndex(id), Value: agreement.RoomIndex{Room: next.Summary}.Encode()}},
	}
	if _, err = s.noting(p, ubl.EntryRoom, ubl.RoomContent(patch), c.Who, at); err != nil {
		return nil, err
	}
	set := next.room(nil)
	p.Answer = func(ubl.Receipt) any { return set }
	return p, nil
}

// describe takes over what has changed.
func (s *State) describe(p ubl.RoomDescriptionPatch) {
	if p.Name != nil {
		s.Summary.Name = *p.Name
	}
	if p.Topic != nil {
		s.Summary.Topic = *p.Topic
	}
	if p.Description != nil {
		s.Description = *p.Description
	}
}

// card answers members, and those who may join, with what the directory shows.
func (r *Room) card(t *actors.Turn, c ubl.GetRoomCard) {
	s := &r.State
	if err := s.shows("room.get", c.Who); err != nil && s.permits(ubl.DidRoomJoin, c.Who) != nil {
		t.Fail(err)
		return
	}
	card := ubl.RoomCard{Members: len(s.Agreement.Members)}
	posts := s.recent.posts
	t.Later(func() (any, error) {
		if n := len(posts); n > 0 {
			at, err := sentAt(posts[n-1].stored)
			if err != nil {
				return nil, err
			}
			card.ActiveAt = at
		}
		return &card, nil
	})
}

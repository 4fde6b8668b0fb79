package tenant

import (
	"cmp"
	"context"
	"encoding/json"
	"strings"

	"ubl"
	"ubl/actors"
	"ubl/actors/agreement"
)

// Direct messages and the directory of rooms that people may join.

// between are whom direct messages are between: the caller and those whom they name.
func between(c ubl.OpenDirect) (ubl.RoomID, *ubl.Direct) {
	return ubl.DirectRoom(append([]ubl.UserID{c.Who.UserID}, c.With...))
}

// directContent tells them apart under the same key: by the set, which the id follows from.
func directContent(c ubl.OpenDirect) []string {
	id, _ := between(c)
	return []string{string(id)}
}

// openDirect makes the room, or shows it to the caller again. Which of both it was, the key knows.
func (x *Tenant) openDirect(t *actors.Turn, c ubl.OpenDirect) {
	id, _ := between(c)
	room, made := x.State.Rooms[id]
	if !made || x.Knows(t, c) {
		x.Change(t, c)
		return
	}
	err := x.State.mayOpen(c)
	t.Read(err, func(ctx context.Context) (any, error) {
		_, err := x.Ask.Ask(ctx, ubl.RoomName(x.id, id), agreement.ShowDirect{Request: c.Request})
		if err != nil && ubl.CodeOf(err) != ubl.CodeConflict { // shown already
			return nil, err
		}
		return &room, nil
	})
}

// mayOpen refuses direct messages with nobody, with too many, and with people of elsewhere.
func (s *State) mayOpen(c ubl.OpenDirect) error {
	if err := cmp.Or(s.permits(ubl.DidRoomCreate, c.Who), s.beyond(c.Who)); err != nil {
		return err
	}
	_, direct := between(c)
	switch n := len(direct.Members); {
	case len(c.With) == 0:
		return ubl.Errorf(ubl.CodeValidation, "with names nobody")
	case n > ubl.MaxDirect:
		return ubl.Errorf(ubl.CodeValidation, "with is too long: direct messages are between %d people at most, make a room for more", ubl.MaxDirect)
	}
	for _, user := range direct.Members {
		if _, ok := s.License.Members[user]; !ok {
			return ubl.Errorf(ubl.CodeNotFound, "with names somebody who is no member of the tenant")
		}
	}
	return nil
}

// decideDirect plans the room of direct messages.
func (with makers) decideDirect(s *State, c ubl.OpenDirect, at actors.Moment) (*plan, error) {
	if err := cmp.Or(s.mayOpen(c), s.License.May(ubl.OpCreate), with.quota.Within(ubl.QuotaRooms, len(s.Rooms))); err != nil {
		return nil, err
	}
	id, direct := between(c)
	members := make([]ubl.Member, len(direct.Members))
	for i, user := range direct.Members {
		members[i] = s.License.Members[user]
	}
	room := ubl.RoomSummary{RoomID: id, Mode: ubl.ModeInternal, CreatedAt: at.Now, Direct: direct}
	founding, err := with.found.Direct(c.Request, s.id(), room, policyOf(s.Tenant), members, at.Random)
	if err != nil {
		return nil, err
	}
	return &plan{Founding: founding, Event: event{Room: &room}}, nil
}

// entitle says what a room is called and about now, where that has changed since the index was
// written.
func entitle(snap ubl.Snapshot, e *ubl.RoomEntry) error {
	v, err := snap.Get(agreement.TitleIndex(e.RoomID))
	if err != nil || v == nil {
		return err
	}
	var title agreement.RoomIndex
	err = json.Unmarshal(v, &title)
	e.Name, e.Topic = title.Room.Name, title.Room.Topic
	return err
}

// matches reports whether a room's name or topic has all the words.
func matches(r ubl.RoomSummary, words string) bool {
	text := strings.ToLower(r.Name + " " + r.Topic)
	for word := range strings.FieldsSeq(strings.ToLower(words)) {
		if !strings.Contains(text, word) {
			return false
		}
	}
	return true
}

// cardOf adds what the directory shows of a room. One that can't be asked now stays in the list
// and says why.
func (x *Tenant) cardOf(ctx context.Context, who ubl.Identity, entry *ubl.RoomEntry) {
	card, err := ubl.Ask[*ubl.RoomCard](ctx, x.Ask, ubl.RoomName(x.id, entry.RoomID), ubl.GetRoomCard{Who: who})
	if err != nil {
		e := ubl.AsError(err)
		entry.Failed, entry.FailedWhy = e.Code, e.Message
		return
	}
	entry.Card = card
}

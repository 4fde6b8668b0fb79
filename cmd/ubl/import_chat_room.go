package main

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"unicode/utf8"

	"ubl"
	"ubl/migrate"
)

// berth is a room of the export, and where it is here.
type berth struct {
	of    *migrate.Room
	name  string
	id    string            // "" for one that isn't here yet
	known map[string]posted // what is here already, by its source
	own   int               // what is here that wasn't imported
}

// posted is an entry that is here.
type posted struct {
	id   string
	gone bool // was redacted
}

// rooms says which are taken, under which names, and what of them is here.
func (m *moving) rooms(ctx context.Context) (list []*berth, err error) {
	raws, err := m.list(ctx, "/api/rooms", "rooms")
	if err != nil {
		return nil, err
	}
	here := map[ubl.RoomID]bool{}
	for _, raw := range raws {
		r, err := formed[listedRoom]("a room", raw)
		if err != nil {
			return nil, err
		}
		here[r.RoomID] = r.Member
	}
	var own []string
	slugs := map[ubl.RoomID]bool{}
	for _, r := range m.from.Rooms {
		if !m.takes(r) {
			continue
		}
		at := &berth{of: r, name: m.called(r), known: map[string]posted{}}
		for n, base := 2, at.name; slugs[ubl.RoomSlug(at.name)]; n++ {
			at.name = fmt.Sprintf("%s %d", base, n)
		}
		slug := ubl.RoomSlug(at.name)
		slugs[slug] = true
		list = append(list, at)
		in, found := here[slug]
		switch {
		case !found:
			continue
		case !in:
			return nil, thenDo(fmt.Errorf("there is a room %s here that you aren't in: nothing was imported", slug), "have an owner of it add you as an owner")
		}
		at.id = string(slug)
		if err := m.knows(ctx, at); err != nil {
			return nil, err
		}
		if len(at.known) > 0 {
			continue
		}
		if at.own > 0 && !m.cmd.Merge {
			own = append(own, at.id)
		}
		if err := m.mayHold(ctx, at); err != nil {
			return nil, err
		}
	}
	if len(own) > 0 {
		return nil, thenDo(fmt.Errorf("%s already something of its own here: nothing was imported", clean(has(own))), "--merge writes there too; or import into an empty tenant")
	}
	if only := m.cmd.Only; len(only) > 0 && len(list) == 0 {
		return nil, usagef("the export has no channel that --only names")
	}
	return list, nil
}

// takes decides about a room: direct messages are left unless they are wanted and the importer's.
func (m *moving) takes(r *migrate.Room) bool {
	if only := m.cmd.Only; len(only) > 0 && !slices.Contains(only, r.Name) && !slices.Contains(only, r.ID) {
		return false
	}
	switch {
	case !r.Direct:
		return true
	case !m.cmd.Direct:
		m.left["direct messages: --direct takes those that you took part in"]++
		return false
	case m.from.Product != ubl.Matrix && !slices.ContainsFunc(r.Members, m.isMe): // Element exports what its user reads
		m.left["direct messages of others"]++
		return false
	}
	return true
}

// isMe reports whether somebody of there has the importer's own verified address: no file says so.
func (m *moving) isMe(id string) bool {
	person, me := m.from.People[id], m.me.Identity
	return person != nil && person.Email != "" && !me.Unproven && strings.EqualFold(person.Email, me.Email)
}

// called is what a room is called here.
func (m *moving) called(r *migrate.Room) string {
	name := r.Name
	if r.Direct {
		var names []string
		for _, id := range r.Members {
			if person := m.from.People[id]; person != nil {
				names = append(names, cmp.Or(ubl.FitMemberName(person.Name), "somebody"))
			}
		}
		name = "Direct " + strings.Join(names, " ")
	}
	if ubl.CheckName(name) == nil {
		return name
	}
	return cmp.Or(ubl.FitMemberName(name), fmt.Sprintf("%s %x", m.from.Product.Title(), sha256.Sum256([]byte(r.ID)))[:24])
}

// mayHold refuses to put what few have seen before the eyes of others who are in the room here.
func (m *moving) mayHold(ctx context.Context, at *berth) error {
	if !at.of.Private {
		return nil
	}
	is, err := m.look(ctx, at)
	if err != nil {
		return err
	}
	if is.Room.Policy.Join == ubl.JoinTenant || len(is.Members) > 1 {
		return thenDo(fmt.Errorf("%s was private in %s, and here others are in the room of that name, or may join: nothing was imported", clean(at.name), m.from.Product.Title()),
			"rename the room here, or take the others alone with --only")
	}
	return nil
}

// knows reads what of a room is here already.
func (m *moving) knows(ctx context.Context, at *berth) error {
	for from := int64(1); from > 0; {
		var page struct {
			Entries    []ubl.Entry `json:"entries"`
			NextCursor *int64      `json:"next_cursor"`
		}
		if err := m.call(ctx, "GET", fmt.Sprintf("/api/rooms/%s/entries?limit=%d&from=%d", at.id, historyPage, from), nil, &page); err != nil {
			return err
		}
		for _, e := range page.Entries {
			switch f := e.ImportedFrom; {
			case f != nil && f.Source != nil && f.Source.Product == m.from.Product:
				at.known[f.Source.ID] = posted{string(e.ID), e.Body == nil}
			case f == nil && imports(&e):
				at.own++
			}
		}
		from = 0
		if page.NextCursor != nil {
			from = *page.NextCursor
		}
	}
	return nil
}

// keyOf is the idempotency key of something of the export.
func (m *moving) keyOf(id string) string {
	return fmt.Sprintf("%x", sha256.Sum256([]byte(m.from.Product+"\n"+ubl.Product(id))))
}

// room makes a room, unless it is there, and imports what isn't there yet.
func (m *moving) room(ctx context.Context, at *berth) error {
	made := at.id == ""
	if made {
		var answer struct {
			RoomID ubl.RoomID `json:"room_id"`
		}
		ok, err := m.put(ctx, "room", at.name, "POST", "/api/rooms", m.keyOf(m.sourceID(at.of, "")), map[string]any{"name": at.name}, &answer)
		if err != nil || !ok && !m.dry {
			return err
		}
		at.id = string(answer.RoomID)
	}
	if made || len(at.known) == 0 && at.own == 0 { // none of its messages has come yet
		if err := m.furnish(ctx, at); err != nil {
			return err
		}
	}
	for message, err := range m.from.Messages(at.of) {
		if err != nil {
			return fmt.Errorf("couldn't read the export: %s", clean(err.Error()))
		}
		m.read++
		m.progress.at(m.read, unknown)
		if err := m.message(ctx, at, message); err != nil {
			return err
		}
	}
	return nil
}

// asIs is a room with its members.
type asIs struct {
	Room    ubl.Room     `json:"room"`
	Members []ubl.Member `json:"members"`
}

// look reads a room here.
func (m *moving) look(ctx context.Context, at *berth) (is asIs, err error) {
	path := "/api/rooms/" + url.PathEscape(at.id)
	if err = m.call(ctx, "GET", path, nil, &is); err == nil {
		err = m.call(ctx, "GET", path+"/members", nil, &is)
	}
	return is, err
}

// furnish gives a room without any messages yet what it lacks: its topic, the door that it had
// there, and those of its people who are members of the tenant. Once it has messages it is left as
// it is: nobody who has left since is fetched back.
func (m *moving) furnish(ctx context.Context, at *berth) error {
	var is asIs
	if !m.dry {
		var err error
		if is, err = m.look(ctx, at); err != nil {
			return err
		}
	}
	path, key := "/api/rooms/"+url.PathEscape(at.id), m.keyOf(m.sourceID(at.of, "about"))
	change := func(what, to string, body map[string]any) error {
		if m.dry {
			return nil
		}
		body["client_request_id"] = "import:" + what + ":" + key
		err := m.call(ctx, "PATCH", path+to, body, &struct{}{})
		if m.refuses(at.name+" ("+what+")", err) {
			return nil
		}
		return err
	}
	if topic := topicOf(at.of.Topic, ubl.MaxTopicChars); topic != "" && is.Room.Topic == "" {
		if err := change("topic", "/about", map[string]any{"topic": topic}); err != nil {
			return err
		}
	}
	if !at.of.Private && is.Room.Policy.Join != ubl.JoinTenant {
		if err := change("join", "/policy", map[string]any{"join": ubl.JoinTenant}); err != nil {
			return err
		}
	}
	return m.seat(ctx, at, is.Members)
}

// seat adds who was in a room there.
func (m *moving) seat(ctx context.Context, at *berth, in []ubl.Member) error {
	if !m.cmd.Members {
		return nil
	}
	for _, id := range at.of.Members {
		who := m.here[id]
		if who == nil || who.UserID == m.me.Identity.UserID || slices.ContainsFunc(in, func(is ubl.Member) bool { return is.UserID == who.UserID }) {
			continue
		}
		_, err := m.put(ctx, "member", at.name, "POST", "/api/rooms/"+url.PathEscape(at.id)+"/members", m.keyOf(m.sourceID(at.of, "member/"+id)),
			map[string]any{"user_id": who.UserID}, &json.RawMessage{})
		if err != nil {
			return err
		}
	}
	return nil
}

// topicOf is a text without what a line can't have, and no longer than most characters.
func topicOf(text string, most int) string {
	text = strings.Join(strings.Fields(clean(text)), " ")
	if utf8.RuneCountInString(text) > most {
		text = strings.TrimSpace(string([]rune(text)[:most-1])) + "…"
	}
	return text
}

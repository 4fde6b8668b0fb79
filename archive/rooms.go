package archive

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"ubl"
)

// How many rooms and entries one question asks for.
const (
	roomsPage   = 200
	entriesPage = 200
)

// roomLine is a line of rooms.jsonl.
type roomLine struct {
	Folder string          `json:"folder"`
	Room   ubl.RoomSummary `json:"room"`
	Read   *ubl.ReadState  `json:"read,omitempty"`
}

// conversation is a room whose entries are written.
type conversation struct {
	id     ubl.RoomID
	name   string
	folder string
	// own says that the person isn't in the room, and has nothing of it but their own words.
	own bool
	// from and to bound its entries.
	from, to int64
}

// conversations writes the rooms that the person is in.
func (j *job) conversations() error {
	if !j.may("rooms", toolEntries) {
		return nil
	}
	var rooms []conversation
	if err := j.zip.file("rooms.jsonl", func() error { return j.listRooms(&rooms) }); err != nil {
		return err
	}
	for _, r := range rooms {
		if err := j.conversation(r); err != nil {
			return err
		}
	}
	return nil
}

// listRooms writes the list of rooms with how far the person has read each.
func (j *job) listRooms(rooms *[]conversation) error {
	for after := ubl.RoomID(""); ; {
		page, err := ask[[]ubl.RoomEntry](j, j.tenant, ubl.ListRooms{Who: j.req.Who, Hidden: true, After: after, Limit: roomsPage})
		if err != nil {
			return err
		}
		for _, r := range page {
			after = r.RoomID
			if !r.Member {
				continue
			}
			name, err := j.called(r.RoomSummary)
			if err != nil {
				return err
			}
			c := conversation{id: r.RoomID, name: name, folder: "rooms/" + numbered(len(*rooms)+1, name)}
			if err := j.zip.line(roomLine{c.folder, r.RoomSummary, r.Read}); err != nil {
				return err
			}
			*rooms = append(*rooms, c)
			j.rooms[r.RoomID] = true
		}
		if len(page) < roomsPage {
			return nil
		}
	}
}

// called is what the person sees a room under.
func (j *job) called(r ubl.RoomSummary) (string, error) {
	if r.Direct == nil {
		return r.Name, nil
	}
	others := r.Direct.Others(j.req.Who.UserID)
	if err := j.learn(others); err != nil {
		return "", err
	}
	var names []string
	for _, id := range others {
		names = append(names, j.name(id))
	}
	return strings.Join(names, ", "), nil
}

// conversation writes a room: its configuration, its entries for programs and for people, and the
// files that the person sent there.
func (j *job) conversation(c conversation) error {
	room, err := ask[*ubl.Room](j, ubl.RoomName(j.req.Who.TenantID, c.id), ubl.GetRoom{Who: j.req.Who})
	if j.lost(c, &err) || err != nil {
		return err
	}
	c.from, c.to = 1, room.LastSeq
	if err := j.zip.object(c.folder+"/room.json", room); err != nil {
		return err
	}
	j.manifest.Counts.Rooms++
	return j.said(c)
}

// ownElsewhere writes the person's own words in rooms that they aren't in any more.
func (j *job) ownElsewhere() error {
	if !j.may("what you said where you aren't any more", toolEntries) {
		return nil
	}
	n := 0
	for _, id := range slices.Sorted(maps.Keys(j.wrote)) {
		if j.rooms[id] {
			continue
		}
		first := int64(0)
		_, err := ask[*ubl.HistoryPage](j, ubl.RoomName(j.req.Who.TenantID, id), ubl.ReadHistory{Who: j.req.Who, After: &first, Limit: 1, Own: true})
		if j.left(string(id), &err) {
			continue // it is sealed
		}
		if err != nil {
			return err
		}
		n++
		s, name := j.wrote[id], strings.TrimPrefix(string(id), "r:")
		if err := j.said(conversation{id: id, name: name, folder: "left-rooms/" + numbered(n, name), own: true, from: s.first, to: s.last}); err != nil {
			return err
		}
	}
	return nil
}

// said writes a room's entries twice, and the files that the person sent.
func (j *job) said(c conversation) error {
	own := int64(0)
	entries := func() error {
		return j.entries(c, func(e *ubl.Entry, raw json.RawMessage) error {
			j.manifest.Counts.Entries++
			if e.AuthorID == j.req.Who.UserID && e.Type == ubl.EntryMessage && e.Body != nil && e.Body.Type != ubl.ContentSystem {
				own++
			}
			_, err := j.zip.Write(append(raw, '\n'))
			return err
		})
	}
	if err := j.zip.file(c.folder+"/entries.jsonl", entries); err != nil {
		return err
	}
	j.manifest.Counts.Messages += own
	if err := j.zip.file(c.folder+"/index.html", func() error { return j.page(c) }); err != nil {
		return err
	}
	j.shown = append(j.shown, shownRoom{c.name, c.folder, c.own, own})
	if !j.may("files that you sent to "+string(c.id), toolFile) {
		return nil
	}
	return j.entries(c, func(e *ubl.Entry, _ json.RawMessage) error {
		if e.AuthorID != j.req.Who.UserID || e.Type != ubl.EntryMessage {
			return nil
		}
		for _, f := range e.Attachments {
			if err := j.blob(sentPath(c, f), f.SHA256); err != nil {
				return err
			}
		}
		return nil
	})
}

// sentPath is where a file is that the person sent to a room.
func sentPath(c conversation, f ubl.Attachment) string {
	return c.folder + "/files/" + safeName(strings.TrimPrefix(string(f.FileID), "f:")) + "-" + safeName(f.Name)
}

// entries calls fn with each entry of a room that the person may read, the oldest first. A room that
// they lose meanwhile ends there, and is named among what was left out.
func (j *job) entries(c conversation, fn func(*ubl.Entry, json.RawMessage) error) error {
	for at := c.from - 1; at < c.to; {
		page, err := ask[*ubl.HistoryPage](j, ubl.RoomName(j.req.Who.TenantID, c.id), ubl.ReadHistory{
			Who: j.req.Who, After: &at, Limit: entriesPage, Entries: true, Now: !c.own, Own: c.own,
		})
		if j.lost(c, &err) || err != nil {
			return err
		}
		if page.FirstSeq == 0 { // retention has taken the rest away
			return nil
		}
		for i, raw := range page.Entries {
			if raw == nil || page.FirstSeq+int64(i) > c.to {
				continue
			}
			e := new(ubl.Entry)
			if err := json.Unmarshal(raw, e); err != nil {
				return fmt.Errorf("couldn't read an entry of %s: %w", c.id, err)
			}
			if err := fn(e, raw); err != nil {
				return err
			}
		}
		at = page.LastSeq
	}
	return nil
}

// lost is left for a room: from there on it is one that the person isn't in, and their own words in it are written
// with those of others of the kind.
func (j *job) lost(c conversation, err *error) bool {
	if !j.left(string(c.id), err) {
		return false
	}
	delete(j.rooms, c.id)
	return true
}

// maxNames bounds how many names are kept.
const maxNames = 10_000

// learn looks up what people are called whose names aren't known yet.
func (j *job) learn(ids []ubl.UserID) error {
	var unknown []ubl.UserID
	for _, id := range ids {
		if _, known := j.names[id]; !known && !slices.Contains(unknown, id) {
			unknown = append(unknown, id)
		}
	}
	if len(unknown) == 0 {
		return nil
	}
	if len(j.names)+len(unknown) > maxNames {
		clear(j.names)
	}
	members, err := ask[[]ubl.Member](j, j.tenant, ubl.ListMembers{Who: j.req.Who, Only: unknown})
	if err != nil {
		return err
	}
	for _, m := range members {
		j.names[m.UserID] = m.Called()
	}
	if len(members) == len(unknown) {
		return nil
	}
	if err := j.learnFormer(); err != nil {
		return err
	}
	for _, id := range unknown {
		if j.names[id] == "" {
			j.names[id] = cmp.Or(j.former[id], string(id))
		}
	}
	return nil
}

// learnFormer reads once the names of those who have left the tenant, which members are told.
func (j *job) learnFormer() error {
	if j.former != nil {
		return nil
	}
	list, err := ask[[]ubl.FormerMember](j, j.tenant, ubl.ListFormer{Who: j.req.Who})
	if err != nil {
		return err
	}
	j.former = map[ubl.UserID]string{}
	for _, m := range list {
		j.former[m.UserID] = m.Name
	}
	return nil
}

// name is what somebody is called, as far as it was learned.
func (j *job) name(id ubl.UserID) string { return cmp.Or(j.names[id], string(id)) }

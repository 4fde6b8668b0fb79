package main

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"net/url"
	"strings"

	"ubl"
)

// roomsHere finds the export's rooms here, and what of them was imported before.
func (im *importing) roomsHere(ctx context.Context) (places []*landing, err error) {
	list, err := im.list(ctx, "/api/rooms", "rooms")
	if err != nil {
		return nil, err
	}
	here := map[ubl.RoomID]bool{} // whether the importer is in it
	for _, raw := range list {
		r, err := formed[listedRoom]("a room", raw)
		if err != nil {
			return nil, err
		}
		here[r.RoomID] = r.Member
	}
	err = each(im.from, "rooms.jsonl", func(r archivedRoom) error {
		if !r.Room.RoomID.Valid() {
			return fmt.Errorf("rooms.jsonl names a room of another form")
		}
		at := &landing{was: string(r.Room.RoomID), room: r, known: map[string]string{}, files: map[string][]ubl.Attachment{}}
		for _, id := range []ubl.RoomID{r.Room.RoomID, ubl.RoomSlug(r.Room.Name)} {
			in, found := here[id]
			if !found {
				continue
			}
			if !in {
				return thenDo(fmt.Errorf("there is a room %s here that you aren't in: nothing was imported", id), "have an owner of it add you as an owner")
			}
			at.id = string(id)
			break
		}
		places = append(places, at)
		return im.roomKnows(ctx, at)
	})
	return places, err
}

// roomKnows reads a room's timeline.
func (im *importing) roomKnows(ctx context.Context, at *landing) error {
	for from := int64(1); at.id != "" && from > 0; {
		var page struct {
			Entries    []ubl.Entry `json:"entries"`
			NextCursor *int64      `json:"next_cursor"`
		}
		if err := im.call(ctx, "GET", fmt.Sprintf("/api/rooms/%s/entries?limit=%d&from=%d", at.id, historyPage, from), nil, &page); err != nil {
			return err
		}
		for _, e := range page.Entries {
			if e.ImportedFrom != nil || imports(&e) {
				im.knows(at, e.ImportedFrom, string(e.ID))
				at.files[string(e.ID)] = e.Attachments
			}
		}
		from = 0
		if page.NextCursor != nil {
			from = *page.NextCursor
		}
	}
	return nil
}

// room imports what isn't there yet of a room.
func (im *importing) room(ctx context.Context, at *landing) error {
	made, err := im.makeRoom(ctx, at)
	if err != nil || !made {
		return err
	}
	noted := at.known[im.from.head.CID] != ""
	ids := map[ubl.MessageID]string{} // of messages, there and here
	err = each(im.from, roomFile(ubl.RoomID(at.was)), func(e ubl.Entry) error {
		im.read()
		if !imports(&e) {
			im.left[leftEntry(&e)]++
			return nil
		}
		if id, ok := at.known[e.Receipt.CID]; ok {
			im.already++
			ids[e.ID] = id
			im.carried(&e, &ubl.Entry{Attachments: at.files[id]})
			return nil
		}
		if !noted {
			noted = true
			if err := im.note(ctx, at); err != nil {
				return err
			}
		}
		return im.entry(ctx, at, &e, ids)
	})
	if err == nil && !noted && len(at.known) == 0 { // nothing in it, but somebody was
		err = im.note(ctx, at)
	}
	return err
}

// leftEntry says why an entry can't be imported.
func leftEntry(e *ubl.Entry) string {
	switch {
	case e.Body == nil:
		return "redacted"
	case e.Type == ubl.EntryMessage:
		return "system messages"
	}
	return "entries of the type " + clean(string(e.Type))
}

// makeRoom makes the room, unless it is there. In a dry run it is as if it were.
func (im *importing) makeRoom(ctx context.Context, at *landing) (bool, error) {
	if at.id != "" {
		return true, nil
	}
	var answer struct {
		RoomID ubl.RoomID `json:"room_id"`
	}
	made, err := im.write(ctx, "room", at.was, "POST", "/api/rooms", nil, map[string]any{"name": at.room.Room.Name}, &answer)
	if made && !answer.RoomID.Valid() {
		return false, fmt.Errorf("the server made a room of another form")
	}
	at.id = string(answer.RoomID)
	return made || im.dry, err
}

// maxNoted is how many members the note at the beginning of a room names.
const maxNoted = 50

// note says in the room where what follows comes from, and who was there. Nobody is added.
func (im *importing) note(ctx context.Context, at *landing) error {
	m := &im.from.manifest
	var names []string
	for n, member := range at.room.Members {
		if n == maxNoted {
			names = append(names, fmt.Sprintf("and %d more", len(at.room.Members)-n))
			break
		}
		names = append(names, fmt.Sprintf("%s (%s)", im.called(member.UserID), clean(string(member.Role))))
	}
	text := fmt.Sprintf("What follows was imported from %s of %s, as it was on %s. Its members then: %s.", at.was, m.TenantID, local(m.ExportedAt), strings.Join(names, ", "))
	f := im.origin(m.ExportedBy, m.ExportedAt, im.from.head, nil)
	_, err := im.write(ctx, "note", at.was, "POST", im.entries(at), f, map[string]any{"body": ubl.TextContent(text)}, &struct{}{})
	return err
}

func (im *importing) called(id ubl.UserID) string { return cmp.Or(im.from.names[id], string(id)) }

func (im *importing) entries(at *landing) string {
	return "/api/rooms/" + url.PathEscape(at.id) + "/entries"
}

// entry imports one entry. ids are of the messages before it.
func (im *importing) entry(ctx context.Context, at *landing, e *ubl.Entry, ids map[ubl.MessageID]string) error {
	path, body := im.entries(at), map[string]any{}
	if e.Type != ubl.EntryMessage {
		var about ubl.MessageID
		if e.Target != nil {
			about = *e.Target
		}
		if ids[about] == "" {
			im.left["edits, reactions and pins of a message that was left behind"]++
			return nil
		}
		path += "/" + url.PathEscape(ids[about])
	}
	switch e.Type {
	case ubl.EntryMessage:
		body["body"] = imported(e)
		files, err := im.attach(ctx, at, e)
		if err != nil {
			return err
		}
		if files != nil {
			body["attachments"] = files
		} else if text, ok := e.Body.Text(); ok && text == "" {
			return nil // nothing is left of it
		}
		if e.ReplyTo != nil && ids[*e.ReplyTo] != "" {
			body["reply_to"] = ids[*e.ReplyTo]
		}
		if e.Thread != nil && ids[*e.Thread] != "" {
			body["thread"] = ids[*e.Thread]
		}
	case ubl.EntryEdit:
		path, body["body"] = path+"/edits", e.Body
		if e.Attachments != nil {
			keeps := []ubl.FileID{}
			for _, f := range e.Attachments {
				if id := im.attached[f.FileID]; id != "" {
					keeps = append(keeps, id)
				}
			}
			if text, ok := e.Body.Text(); ok && text == "" && len(keeps) == 0 {
				return nil
			}
			body["attachments"] = keeps
		}
	case ubl.EntryReaction:
		var b ubl.ReactionBody
		if err := e.Body.Read(ubl.ContentReaction, &b); err != nil {
			return err
		}
		path, body["reaction"] = path+"/reactions", b.Key
	case ubl.EntryPin:
		var b ubl.PinBody
		if err := e.Body.Read(ubl.ContentPin, &b); err != nil {
			return err
		}
		path, body["pinned"] = path+"/pin", b.Pinned
	}
	var answer struct {
		Entry json.RawMessage `json:"entry"`
	}
	made, err := im.write(ctx, string(e.Type), string(e.ID), "POST", path, im.origin(e.AuthorID, e.SentAt, e.Receipt, e.ImportedFrom), body, &answer)
	if im.dry && e.Type == ubl.EntryMessage {
		ids[e.ID] = "m:dry"
	}
	if err != nil || !made {
		return err
	}
	posted, err := formed[ubl.Entry]("an entry", answer.Entry)
	if err == nil && e.Type == ubl.EntryMessage {
		ids[e.ID] = string(posted.ID)
		im.carried(e, &posted)
	}
	return err
}

// imported is the body of a message. A poll comes with what came of it there: nobody votes in it
// here, since votes are their voters' own acts.
func imported(e *ubl.Entry) *ubl.TypedBody {
	poll := e.Body.Poll()
	if poll == nil || poll.Result != nil {
		return e.Body
	}
	poll.Result = new(ubl.PollResult)
	if !poll.Anonymous {
		poll.Result.Counts = make([]int64, len(poll.Options))
	}
	if s := e.Poll; s != nil {
		poll.Result.Voters = s.Voters
		if len(s.Counts) > 0 {
			poll.Result.Counts = s.Counts
		}
	}
	body := ubl.PollContent(*poll)
	return &body
}

// carried notes what the files of a message are called here. Those whose contents the export lacks
// aren't among them.
func (im *importing) carried(was, is *ubl.Entry) {
	left := is.Attachments
	for _, f := range was.Attachments {
		if len(left) > 0 && left[0].SHA256 == f.SHA256 {
			im.attached[f.FileID] = left[0].FileID
			left = left[1:]
		}
	}
}

// attach sends the contents of a message's files ahead, and answers how the message names them.
func (im *importing) attach(ctx context.Context, at *landing, e *ubl.Entry) (uploads []ubl.UploadID, err error) {
	for _, f := range e.Attachments {
		if _, ok := im.from.listed["blobs/"+string(f.SHA256)]; !ok {
			im.left["files whose contents the export lacks"]++
			continue
		}
		if im.dry {
			uploads = append(uploads, "up:dry")
			continue
		}
		s, done, err := im.content(ctx, f.SHA256)
		if err != nil {
			return nil, err
		}
		err = s.beginInRoom(ctx, ubl.RoomID(at.id), f.Name)
		if err == nil {
			err = s.send(ctx, im.p.progress("", "", true))
		}
		done()
		if im.refuses(string(f.FileID), err) {
			continue
		}
		if err != nil {
			return nil, err
		}
		uploads = append(uploads, s.upload.UploadID)
	}
	return uploads, nil
}

// filesHash is the commitment to an entry's files that its act has, "" for none.
func filesHash(e *ubl.Entry) string {
	if e.Attachments == nil {
		return ""
	}
	return e.Salt.AttachmentsHash(e.Attachments)
}

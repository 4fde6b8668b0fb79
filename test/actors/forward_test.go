package actors_test

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"ubl"
	"ubl/test/harness"
)

// forwarding is a private room of ana and bob, from which messages go to another room, of bob and cem.
type forwarding struct {
	*gallery
	other ubl.Name
}

func openForwarding(t *testing.T) *forwarding {
	t.Helper()
	g := openGallery(t, harness.Open(t, harness.Options{}))
	made := harness.Must[*ubl.RoomSummary](g.House, ubl.TenantName(g.bob.TenantID), ubl.CreateRoom{Request: g.Request(g.bob), Name: "outside"})
	x := &forwarding{g, ubl.RoomName(g.bob.TenantID, made.RoomID)}
	harness.Must[*ubl.Member](x.House, x.other, ubl.AddMember{Request: x.Request(x.bob), Member: ubl.Member{UserID: x.cem.UserID, Email: x.cem.Email, Role: ubl.RoleMember}})
	return x
}

// forward is what transports ask: the source's room for the copy, and then a send with it.
func (x *forwarding) forward(from ubl.Name, id ubl.MessageID, comment string) ubl.SendMessage {
	x.t.Helper()
	copied := harness.Must[*ubl.MessageCopy](x.House, from, ubl.CopyMessage{Who: x.bob, MsgID: id})
	return ubl.SendMessage{Request: x.Request(x.bob), Text: comment, Forward: &ubl.Forward{MessageRef: ubl.MessageRef{RoomID: ubl.RoomID(from.Local()), MsgID: id}, Copy: copied}}
}

// repeated sends it to the other room.
func (x *forwarding) repeated(c ubl.SendMessage) ubl.Message {
	x.t.Helper()
	var m ubl.Message
	if err := json.Unmarshal(harness.Must[*ubl.Sent](x.House, x.other, c).Message, &m); err != nil {
		x.t.Fatal(err)
	}
	return m
}

// alone is an entry of the other room as somebody reads it by itself.
func (x *forwarding) alone(who ubl.Identity, m ubl.Message) (e ubl.Entry) {
	x.t.Helper()
	after := m.RoomSeq - 1
	page := harness.Must[*ubl.HistoryPage](x.House, x.other, ubl.ReadHistory{Who: who, After: &after, Limit: 1, Entries: true, Sources: true})
	if err := json.Unmarshal(page.Entries[0], &e); err != nil {
		x.t.Fatal(err)
	}
	return e
}

// TestForward: a forwarded message has the words of the other one as they read then, under a comment,
// its files, and whose words they are. Later edits change nothing, and the copy can't be edited. A
// repetition is answered alike, though the source was redacted meanwhile.
func TestForward(t *testing.T) {
	x := openForwarding(t)
	said, _ := x.sends("the pin is 4711", picture("map.png", 7))
	harness.Must[*ubl.Posted](x.House, x.room, ubl.PostEntry{Request: x.Request(x.ana), Type: ubl.EntryEdit, Target: said.MsgID, Body: ubl.TextContent("the pin is 4712 🗝️")})
	send := x.forward(x.room, said.MsgID, "hört, hört")
	m := x.repeated(send)
	if want := (ubl.Forwarded{At: said.SentAt, AuthorID: x.ana.UserID, Comment: 10}); m.SenderID != x.bob.UserID || m.Forwarded == nil || *m.Forwarded != want {
		t.Errorf("the message is by %s and %+v, want %+v", m.SenderID, m.Forwarded, want)
	}
	if m.Body.Text != "hört, hört\n\nthe pin is 4712 🗝️" || m.Forwarded.Words(m.Body.Text) != "the pin is 4712 🗝️" || len(m.Body.Mentions) != 0 {
		t.Errorf("it says %q", m.Body.Text)
	}
	if len(m.Attachments) != 1 || m.Attachments[0].SHA256 != said.Attachments[0].SHA256 || m.Attachments[0].FileID == said.Attachments[0].FileID {
		t.Errorf("it carries %+v", m.Attachments)
	}
	x.Refused(ubl.CodeConflict, x.other, ubl.PostEntry{Request: x.Request(x.bob), Type: ubl.EntryEdit, Target: m.MsgID, Body: ubl.TextContent("the pin is 0000")})
	harness.Must[*ubl.Posted](x.House, x.room, ubl.PostEntry{Request: x.Request(x.ana), Type: ubl.EntryRedaction, Target: said.MsgID, Body: ubl.RedactionContent("")})
	for _, loaded := range []string{"live", "loaded anew"} {
		if e := x.alone(x.bob, m); string(e.Body.JSON) != string(m.Body.Canonical()) || e.Forwarded == nil || *e.Forwarded != *m.Forwarded || e.Source != nil {
			t.Errorf("%s: the copy is %+v, from %v", loaded, e.Forwarded, e.Source)
		}
		again := send
		again.Forward = &ubl.Forward{MessageRef: send.Forward.MessageRef, Refused: ubl.CodeConflict, Why: "it was redacted"}
		if got := x.repeated(again); got.MsgID != m.MsgID {
			t.Errorf("%s: the repetition is answered %s, want %s", loaded, got.MsgID, m.MsgID)
		}
		x.Reload()
	}
	harness.Must[*ubl.Posted](x.House, x.other, ubl.PostEntry{Request: x.Request(x.bob), Type: ubl.EntryRedaction, Target: m.MsgID, Body: ubl.RedactionContent("")})
	if e := x.alone(x.cem, m); e.Forwarded != nil || e.Source != nil || e.Body != nil {
		t.Errorf("a redaction leaves %+v", e)
	}
	x.VerifyLedger(x.ana.TenantID)
}

// TestForwardTellsNoRoom: where a message came from is told to who may read it there, and stands in
// no message, entry, file or atom that others see.
func TestForwardTellsNoRoom(t *testing.T) {
	x := openForwarding(t)
	said, _ := x.sends("among us", picture("map.png", 7))
	m := x.repeated(x.forward(x.room, said.MsgID, ""))
	source := ubl.MessageRef{RoomID: said.RoomID, MsgID: said.MsgID}
	if e := x.alone(x.bob, m); e.Source == nil || *e.Source != source {
		t.Errorf("bob, who is in both, is told %v, want %v", e.Source, source)
	}
	if e := x.alone(x.cem, m); e.Source != nil || e.Forwarded == nil {
		t.Errorf("cem, who isn't, is told %v", e.Source)
	}
	agent := x.bob
	agent.Mandate = &ubl.Mandate{Places: []string{x.other.Local()}}
	if e := x.alone(agent, m); e.Source != nil {
		t.Errorf("bob's agent, whose mandate leaves the room out, is told %v", e.Source)
	}
	zero := int64(0)
	var all []json.RawMessage
	for _, entries := range []bool{false, true} {
		page := harness.Must[*ubl.HistoryPage](x.House, x.other, ubl.ReadHistory{Who: x.cem, After: &zero, Limit: 100, Entries: entries, Now: true})
		all = append(append(all, page.Messages...), page.Entries...)
	}
	atoms := harness.Must[*ubl.AtomPage](x.House, ubl.LedgerName(x.ana.TenantID), ubl.ReadAtoms{From: m.Receipt.Seq, Limit: 2}).Atoms
	for _, raw := range slices.Concat(all, atoms) {
		if strings.Contains(string(raw), string(said.RoomID)) || strings.Contains(string(raw), string(said.MsgID)) {
			t.Errorf("%s names where it came from", raw)
		}
	}
	if !strings.Contains(string(atoms[0]), `"forwarded_hash":"b:`) {
		t.Errorf("the act is %s", atoms[0])
	}
}

// TestForwardAgain: who forwards what was forwarded leaves the comment out, and names who wrote it first.
func TestForwardAgain(t *testing.T) {
	x := openForwarding(t)
	said, _ := x.sends("first words")
	m := x.repeated(x.forward(x.room, said.MsgID, "look"))
	m = x.repeated(x.forward(x.other, m.MsgID, ""))
	if m.Body.Text != "first words" || *m.Forwarded != (ubl.Forwarded{At: said.SentAt, AuthorID: x.ana.UserID}) {
		t.Errorf("it says %q, by %+v", m.Body.Text, m.Forwarded)
	}
}

// TestForwardIsRefused: by the source, of what isn't a message of text that its sender may read and
// that is to stay; and by the room that it goes to, as any send.
func TestForwardIsRefused(t *testing.T) {
	x := openForwarding(t)
	said, _ := x.sends("among us")
	gone, _ := x.sends("never mind")
	redaction := harness.Must[*ubl.Posted](x.House, x.room, ubl.PostEntry{Request: x.Request(x.ana), Type: ubl.EntryRedaction, Target: gone.MsgID, Body: ubl.RedactionContent("")})
	posted := func(body ubl.TypedBody) ubl.MessageID {
		var e ubl.Entry
		if err := json.Unmarshal(harness.Must[*ubl.Posted](x.House, x.room, ubl.PostEntry{Request: x.Request(x.ana), Type: ubl.EntryMessage, Body: body}).Entry, &e); err != nil {
			t.Fatal(err)
		}
		return e.ID
	}
	var taken ubl.Entry
	if err := json.Unmarshal(redaction.Entry, &taken); err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		who  ubl.Identity
		id   ubl.MessageID
		want ubl.Code
	}{
		"of a room that one isn't in": {x.cem, said.MsgID, ubl.CodeNotAMember},
		"that isn't there":            {x.bob, "m:none", ubl.CodeNotFound},
		"with another's number":       {x.bob, said.MsgID[:len(said.MsgID)-1] + "x", ubl.CodeNotFound},
		"that was redacted":           {x.bob, gone.MsgID, ubl.CodeConflict},
		"that is a redaction":         {x.bob, taken.ID, ubl.CodeConflict},
		"that is encrypted":           {x.bob, posted(ubl.TypedBody{Type: "application/mls-ciphertext", Bytes: []byte{1}}), ubl.CodeConflict},
		"that is a poll":              {x.bob, posted(ubl.PollContent(ubl.PollBody{Question: "Where?", Options: []string{"Here", "There"}})), ubl.CodeConflict},
	} {
		t.Run(name, func(t *testing.T) { x.Refused(c.want, x.room, ubl.CopyMessage{Who: c.who, MsgID: c.id}) })
	}
	long := x.forward(x.room, said.MsgID, strings.Repeat("a", ubl.MaxMessageBytes-4))
	x.Refused(ubl.CodeTooLarge, x.other, long)
	unseen := x.forward(x.room, said.MsgID, "\u200b")
	x.Refused(ubl.CodeValidation, x.other, unseen)
	empty := unseen
	empty.Request, empty.Text, empty.Forward = x.Request(x.bob), "", &ubl.Forward{MessageRef: unseen.Forward.MessageRef}
	x.Refused(ubl.CodeValidation, x.other, empty)
	refused := empty
	refused.Forward = &ubl.Forward{MessageRef: unseen.Forward.MessageRef, Refused: ubl.CodeNotAMember, Why: "no"}
	x.Refused(ubl.CodeNotAMember, x.other, refused)
	stranger := x.forward(x.room, said.MsgID, "")
	stranger.Request = x.Request(x.ana)
	x.Refused(ubl.CodeNotAMember, x.other, stranger)

	hours := 8
	harness.Must[*ubl.Room](x.House, x.room, ubl.SetRoomPolicy{Request: x.Request(x.ana), Patch: ubl.RoomPolicyPatch{RetentionHours: &hours}})
	x.Refused(ubl.CodeConflict, x.room, ubl.CopyMessage{Who: x.bob, MsgID: said.MsgID})
}

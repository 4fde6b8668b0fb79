package actors_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"ubl"
	"ubl/test/harness"
)

// gallery is a room of ana's with bob in it; cem is of the tenant and outside, eve of another one.
type gallery struct {
	*yard
	room ubl.Name
}

func openGallery(t *testing.T, h *harness.House) *gallery {
	t.Helper()
	y := openYard(t, h)
	made := harness.Must[*ubl.RoomSummary](h, ubl.TenantName(y.ana.TenantID), ubl.CreateRoom{Request: h.Request(y.ana), Name: "gallery"})
	g := &gallery{y, ubl.RoomName(y.ana.TenantID, made.RoomID)}
	y.add(g.room, y.bob, ubl.RoleMember)
	return g
}

// picture is a file whose content is its name's.
func picture(name string, bytes int64) ubl.Attachment {
	return ubl.Attachment{Name: name, Type: "image/png", SHA256: contentID(name), Bytes: bytes, Width: 4, Height: 3, Thumbnail: true}
}

// sends sends a message with files, and answers it with its salt.
func (g *gallery) sends(text string, files ...ubl.Attachment) (m ubl.Message, salt ubl.Salt) {
	g.t.Helper()
	sent := harness.Must[*ubl.Sent](g.House, g.room, ubl.SendMessage{Request: g.Request(g.ana), Text: text, Attachments: files})
	if err := json.Unmarshal(sent.Message, &m); err != nil {
		g.t.Fatal(err)
	}
	return m, sent.Salt
}

// shown are the names of the files that somebody is shown.
func (g *gallery) shown(c ubl.ListRoomFiles) string {
	g.t.Helper()
	if c.Limit == 0 {
		c.Limit = 100
	}
	list := harness.Must[*ubl.RoomFileList](g.House, g.room, c)
	var names []string
	for _, f := range list.Files {
		names = append(names, f.Name)
	}
	if list.Next != "" {
		names = append(names, "more")
	}
	return strings.Join(names, " ")
}

// free asks which of some contents nothing refers to.
func (g *gallery) free(names ...string) string {
	g.t.Helper()
	c := ubl.CollectBlobs{Request: g.Request(ubl.Platform()), NodeID: "n1"}
	for _, name := range names {
		c.Blobs, c.Bytes = append(c.Blobs, contentID(name)), append(c.Bytes, 1)
	}
	var free []string
	for _, blob := range harness.Must[*ubl.Collected](g.House, ubl.TenantName(g.ana.TenantID), c).Blobs {
		for _, name := range names {
			if contentID(name) == blob {
				free = append(free, name)
			}
		}
	}
	return strings.Join(free, " ")
}

// TestLifeOfRoomFiles: a message's files are served with it, listed and looked at, by a room that was
// loaded anew, too; its act commits to them, and no atom tells of them.
func TestLifeOfRoomFiles(t *testing.T) {
	for _, reload := range []bool{false, true} {
		t.Run(fmt.Sprintf("loaded anew=%v", reload), func(t *testing.T) {
			h := harness.Open(t, harness.Options{})
			g := openGallery(t, h)
			start := g.head()
			song := ubl.Attachment{Name: "song.ogg", Type: "audio/ogg", SHA256: contentID("song.ogg"), Bytes: 5}
			first, salt := g.sends("look", picture("one.png", 10), song)
			second, _ := g.sends("", picture("two.png", 20))
			if reload {
				h.Reload()
			}
			for want, c := range map[string]ubl.ListRoomFiles{
				"two.png one.png song.ogg": {Who: g.bob}, "two.png more": {Who: g.bob, Limit: 1}, "two.png one.png": {Who: g.bob, Kind: ubl.FileImage},
				"one.png more": {Who: g.bob, Limit: 1, After: second.Attachments[0].FileID}, "song.ogg": {Who: g.bob, After: first.Attachments[0].FileID},
				"": {Who: g.bob, Kind: ubl.FileVideo},
			} {
				if got := g.shown(c); got != want {
					t.Errorf("%+v lists %q, want %q", c, got, want)
				}
			}
			got := harness.Must[*ubl.RoomFile](h, g.room, ubl.GetRoomFile{Who: g.bob, FileID: first.Attachments[1].FileID})
			if got.Name != "song.ogg" || got.MsgID != first.MsgID || got.SenderID != g.ana.UserID || got.SentAt != first.SentAt || got.SHA256 != song.SHA256 {
				t.Errorf("shown is %+v", got)
			}
			page := harness.Must[*ubl.HistoryPage](h, g.room, ubl.ReadHistory{Who: g.bob, Limit: 2, Entries: true})
			var e ubl.Entry
			if err := json.Unmarshal(page.Entries[0], &e); err != nil || fmt.Sprint(e.Attachments) != fmt.Sprint(first.Attachments) || e.Salt != salt {
				t.Errorf("the entry is %s, %v", page.Entries[0], err)
			}
			told := false
			g.eachAtom(start, func(atom json.RawMessage) {
				told = told || strings.Contains(string(atom), salt.AttachmentsHash(first.Attachments))
				for _, private := range []string{string(song.SHA256), "song", "one.png", "image", "audio"} {
					if strings.Contains(string(atom), private) {
						t.Errorf("an atom tells %q: %s", private, atom)
					}
				}
			})
			if !told {
				t.Error("no atom commits to the files")
			}
			g.checkLedger()
		})
	}
}

// TestRoomFilesGo: an edit that leaves fewer files, a redaction and retention take the reference to a
// content away, and the bytes; while another message has the content it stays.
func TestRoomFilesGo(t *testing.T) {
	h := harness.Open(t, harness.Options{})
	g := openGallery(t, h)
	all := []string{"one.png", "two.png", "both.png"}
	stored := func() int64 { return h.Runtime.Usage()[g.ana.TenantID] }
	before := stored()
	first, _ := g.sends("look", picture("one.png", 1<<20), picture("both.png", 1<<20))
	second, _ := g.sends("and", picture("two.png", 1<<20), picture("both.png", 1<<20))
	if grown := stored() - before; grown < 4<<20 || g.free(all...) != "" {
		t.Fatalf("four files of 1 MiB take %d; free are %q", grown, g.free(all...))
	}
	edit := func(m ubl.Message, text string, keeps ...ubl.FileID) ubl.PostEntry {
		return ubl.PostEntry{Request: g.Request(g.ana), Type: ubl.EntryEdit, Target: m.MsgID, Body: ubl.TextContent(text), Keeps: &ubl.KeptFiles{Files: keeps}}
	}
	g.Refused(ubl.CodeValidation, g.room, edit(first, "look", second.Attachments[0].FileID)) // which is another's
	g.Refused(ubl.CodeValidation, g.room, edit(first, ""))
	posted := harness.Must[*ubl.Posted](h, g.room, edit(first, "", first.Attachments[1].FileID))
	var e ubl.Entry
	if err := json.Unmarshal(posted.Entry, &e); err != nil || len(e.Attachments) != 1 || e.Attachments[0].Name != "both.png" {
		t.Errorf("the edit is %s, %v", posted.Entry, err)
	}
	g.Refused(ubl.CodeNotFound, g.room, ubl.GetRoomFile{Who: g.bob, FileID: first.Attachments[0].FileID})
	harness.Must[*ubl.Posted](h, g.room, ubl.PostEntry{Request: g.Request(g.ana), Type: ubl.EntryEdit, Target: first.MsgID, Body: ubl.TextContent("text alone")})
	if got := g.free(all...); got != "one.png" {
		t.Errorf("after an edit are free %q", got)
	}
	harness.Must[*ubl.Posted](h, g.room, ubl.PostEntry{Request: g.Request(g.ana), Type: ubl.EntryRedaction, Target: second.MsgID, Body: ubl.RedactionContent("")})
	if got := g.free(all...); got != "one.png two.png" {
		t.Errorf("after a redaction are free %q", got)
	}
	h.Reload()
	if got := g.shown(ubl.ListRoomFiles{Who: g.bob}); got != "both.png" {
		t.Errorf("left are %q", got)
	}
	page := harness.Must[*ubl.HistoryPage](h, g.room, ubl.ReadHistory{Who: g.bob, Limit: 10, Entries: true})
	for _, e := range page.Entries {
		if strings.Contains(string(e), "two.png") {
			t.Errorf("a redacted message still names its file: %s", e)
		}
	}
	days := 1
	harness.Must[*ubl.Room](h, g.room, ubl.SetRoomPolicy{Request: g.Request(g.ana), Patch: ubl.RoomPolicyPatch{RetentionDays: &days}})
	h.Clock.Add(48 * time.Hour)
	h.Alarms()
	if got := g.free(all...); got != "one.png two.png both.png" {
		t.Errorf("after retention are free %q", got)
	}
	if left := stored() - before; left > 100_000 {
		t.Errorf("nothing is left, and takes %d bytes", left)
	}
	g.checkLedger()
}

// TestRoomFilesAreRefused: who may look and send, and what is no file; nothing changes.
func TestRoomFilesAreRefused(t *testing.T) {
	h := harness.Open(t, harness.Options{})
	g := openGallery(t, h)
	m, _ := g.sends("look", picture("one.png", 1))
	before := g.head()
	for _, test := range []struct {
		who  ubl.Identity
		code ubl.Code // of each; "" for allowed
	}{{g.ana, ""}, {g.bob, ""}, {g.cem, ubl.CodeNotAMember}, {g.eve, ubl.CodeNotAMember}} {
		for _, cmd := range []ubl.Command{
			ubl.GetRoomFile{Who: test.who, FileID: m.Attachments[0].FileID}, ubl.ListRoomFiles{Who: test.who},
			ubl.PrepareAttachment{Request: g.Request(test.who), Name: "x", Bytes: 1},
		} {
			if test.code == "" {
				if _, err := h.Ask(t.Context(), g.room, cmd); err != nil {
					t.Errorf("%T by %s: %v", cmd, test.who.UserID, err)
				}
			} else {
				g.Refused(test.code, g.room, cmd)
			}
		}
		if test.code != "" {
			g.Refused(test.code, g.room, ubl.SendMessage{Request: g.Request(test.who), Attachments: []ubl.Attachment{picture("x", 1)}})
		}
	}
	for what, change := range map[string]func(*ubl.Attachment){
		"a path": func(a *ubl.Attachment) { a.Name = "../x" }, "no name": func(a *ubl.Attachment) { a.Name = "" }, "no type": func(a *ubl.Attachment) { a.Type = "x" },
		"no content": func(a *ubl.Attachment) { a.SHA256 = "x" }, "fewer bytes than none": func(a *ubl.Attachment) { a.Bytes = -1 },
		"hidden letters": func(a *ubl.Attachment) { a.Name = "gpj\u202eexe" }, "an endless side": func(a *ubl.Attachment) { a.Width = 1 << 30 },
	} {
		a := picture("x", 1)
		change(&a)
		if _, err := h.Ask(t.Context(), g.room, ubl.SendMessage{Request: g.Request(g.ana), Attachments: []ubl.Attachment{a}}); ubl.CodeOf(err) != ubl.CodeValidation {
			t.Errorf("%s: %v", what, err)
		}
	}
	many := make([]ubl.Attachment, ubl.MaxAttachments+1)
	for i := range many {
		many[i] = picture(fmt.Sprint(i), 1)
	}
	g.Refused(ubl.CodeValidation, g.room, ubl.SendMessage{Request: g.Request(g.ana), Text: "x", Attachments: many})
	g.Refused(ubl.CodeNotFound, g.room, ubl.GetRoomFile{Who: g.ana, FileID: "f:none"})
	g.Refused(ubl.CodeNotFound, g.room, ubl.GetRoomFile{Who: g.ana, FileID: ubl.AttachmentID(m.MsgID, 1)})
	if g.head() != before {
		t.Errorf("refusals and looks have written %d atoms", g.head()-before)
	}
}

// TestRoomFilesQuota: a room has room for so many bytes of files, and a redaction makes some again.
func TestRoomFilesQuota(t *testing.T) {
	const most = 3 << 20
	h := harness.Open(t, harness.Options{Quota: func(limit string, have int) error {
		if limit == ubl.QuotaRoomFiles && have >= most {
			return ubl.Errorf(ubl.CodeQuotaExceeded, "full")
		}
		return nil
	}})
	g := openGallery(t, h)
	m, _ := g.sends("a", picture("one.png", 2<<20))
	big := ubl.SendMessage{Request: g.Request(g.ana), Attachments: []ubl.Attachment{picture("two.png", 2<<20)}}
	for range 2 {
		g.Refused(ubl.CodeQuotaExceeded, g.room, big)
		g.Refused(ubl.CodeQuotaExceeded, g.room, ubl.PrepareAttachment{Request: g.Request(g.ana), Name: "x", Bytes: 2 << 20})
		h.Reload()
	}
	harness.Must[*ubl.Posted](h, g.room, ubl.PostEntry{Request: g.Request(g.ana), Type: ubl.EntryRedaction, Target: m.MsgID, Body: ubl.RedactionContent("")})
	harness.Must[*ubl.Sent](h, g.room, big)
}

// TestRoomFilesCrash: at every crash point an act and the references to contents are there together
// or not at all; a retry settles it, and a second one is answered alike after a restart, too.
func TestRoomFilesCrash(t *testing.T) {
	for point, fault := range crashPoints() {
		t.Run(point, func(t *testing.T) {
			h, v := openValved(t)
			g := openGallery(t, h)
			m, _ := g.sends("before", picture("one.png", 1), picture("two.png", 1))
			keeps := ubl.KeptFiles{Files: []ubl.FileID{m.Attachments[0].FileID}}
			for _, act := range []struct {
				cmd         ubl.Command
				shown, free string // afterwards
			}{
				{ubl.SendMessage{Request: g.Request(g.ana), Attachments: []ubl.Attachment{picture("three.png", 7)}}, "three.png one.png two.png", ""},
				{ubl.PostEntry{Request: g.Request(g.ana), Type: ubl.EntryEdit, Target: m.MsgID, Body: ubl.TextContent("x"), Keeps: &keeps}, "three.png one.png", "two.png"},
				{ubl.PostEntry{Request: g.Request(g.ana), Type: ubl.EntryRedaction, Target: m.MsgID, Body: ubl.RedactionContent("")}, "three.png", "one.png two.png"},
			} {
				before := g.head()
				v.setFault(fault(v))
				g.Refused(ubl.CodeUnavailable, g.room, act.cmd)
				v.setFault(nil)
				settled, again := answerText(t, h, g.room, act.cmd), answerText(t, h, g.room, act.cmd)
				h.Restart()
				if restarted := answerText(t, h, g.room, act.cmd); settled != again || settled != restarted || g.head()-before != 2 {
					t.Errorf("%T: a retry is answered\n%s, the next\n%s, and after a restart\n%s; %d atoms", act.cmd, settled, again, restarted, g.head()-before)
				}
				if shown, free := g.shown(ubl.ListRoomFiles{Who: g.bob}), g.free("one.png", "two.png", "three.png"); shown != act.shown || free != act.free {
					t.Errorf("%T: shown are %q, and free %q", act.cmd, shown, free)
				}
			}
			g.checkLedger()
		})
	}
}

package actors_test

import (
	"cmp"
	"fmt"
	"slices"
	"testing"
	"time"

	"ubl"
	"ubl/test/harness"
)

// send is a message of text, with whom it mentions and the thread that it is in.
func (x *talk) send(who ubl.Identity, text string, thread ubl.MessageID, mentions ...ubl.Mention) ubl.MessageID {
	x.t.Helper()
	sent := harness.Must[*ubl.Sent](x.House, x.room, ubl.SendMessage{Request: x.Request(who), Text: text, Thread: thread, Mentions: mentions})
	page := harness.Must[*ubl.HistoryPage](x.House, x.room, ubl.ReadHistory{Who: who, Limit: 1, Before: sent.RoomSeq + 1, Entries: true})
	return x.decode(page.Entries[0]).ID
}

// reads is how far somebody has read by their list of rooms.
func (x *talk) reads(who ubl.Identity) ubl.ReadState {
	x.t.Helper()
	list := harness.Must[[]ubl.RoomEntry](x.House, ubl.TenantName(who.TenantID), ubl.ListRooms{Who: who})
	i := slices.IndexFunc(list, func(e ubl.RoomEntry) bool { return ubl.RoomName(who.TenantID, e.RoomID) == x.room })
	if i < 0 || list[i].Read == nil {
		x.t.Fatalf("%s has no such room in %+v", who.UserID, list)
	}
	return *list[i].Read
}

// unread asserts what is new to somebody.
func (x *talk) unread(who ubl.Identity, unread, mentions int64) {
	x.t.Helper()
	if got := x.reads(who); got.Unread != unread || got.Mentions != mentions {
		x.t.Errorf("%s has %d unread and %d mentions, want %d and %d", who.Email, got.Unread, got.Mentions, unread, mentions)
	}
}

// atoms are how many the tenant's ledger has.
func (x *talk) atoms() int64 {
	x.t.Helper()
	return harness.Must[ubl.LedgerHead](x.House, ubl.LedgerName(x.ana.TenantID), ubl.GetLedgerHead{}).Seq
}

func (x *talk) read(who ubl.Identity, seq int64) ubl.ReadState {
	x.t.Helper()
	return *harness.Must[*ubl.ReadState](x.House, x.room, ubl.MarkRead{Request: x.Request(who), Seq: seq})
}

// TestUnread tells what counts as unread, for whom: messages of others in the timeline, since
// one came. A room that is loaded anew counts the same.
func TestUnread(t *testing.T) {
	x := openTalk(t)
	x.unread(x.ana, 0, 0)
	x.unread(x.bob, 0, 0)

	root := x.send(x.ana, "who is in?", "")
	x.unread(x.ana, 0, 0) // one's own
	x.unread(x.bob, 1, 0)
	x.send(x.ana, "bob?", "", ubl.Mention(x.bob.UserID))
	x.send(x.ana, "all of you!", "", ubl.MentionRoom, ubl.Mention(x.bob.UserID))
	x.unread(x.bob, 3, 2)
	x.enter(x.ana, ubl.EntryReaction, root, ubl.ReactionContent("👍"))
	x.enter(x.ana, ubl.EntryEdit, root, ubl.TextContent("who is in today?"))
	x.unread(x.bob, 3, 2) // no news

	x.send(x.bob, "I am", root) // in the thread that ana began, having read all
	x.unread(x.bob, 0, 0)
	x.unread(x.ana, 0, 1)
	x.send(x.ana, "good", root)
	x.unread(x.ana, 0, 0)
	x.unread(x.bob, 0, 1) // takes part

	harness.Must[*ubl.Member](x.House, x.room, ubl.AddMember{Request: x.Request(x.ana), Member: ubl.Member{UserID: x.cyd.UserID, Email: x.cyd.Email, Role: ubl.RoleMember}})
	x.unread(x.cyd, 0, 0) // what was there before
	x.unread(x.bob, 0, 1) // the system's words
	wrong := x.send(x.bob, "for cyd", "", ubl.Mention(x.cyd.UserID))
	x.unread(x.cyd, 1, 1)
	x.unread(x.ana, 1, 0)

	x.Restart()
	x.unread(x.cyd, 1, 1)
	x.unread(x.bob, 0, 0)

	x.enter(x.bob, ubl.EntryRedaction, wrong, ubl.RedactionContent(""))
	x.unread(x.cyd, 0, 0)
	x.unread(x.ana, 0, 0)
	x.VerifyLedger(x.ana.TenantID)
}

// TestMarkRead: somebody has read as far as they say on any device, and may take it back. Who
// goes and comes again begins anew.
func TestMarkRead(t *testing.T) {
	x := openTalk(t)
	for range 4 {
		x.send(x.ana, "hello", "", ubl.Mention(x.bob.UserID))
	}
	before := x.atoms()
	for _, c := range []struct{ seq, read, unread, mentions int64 }{
		{begun + 1, begun + 1, 3, 3},
		{begun + 1, begun + 1, 3, 3},
		{begun + 3, begun + 3, 1, 1},
		{begun + 4, begun + 4, 0, 0},
		{1000, begun + 4, 0, 0},
		{begun + 2, begun + 2, 2, 0}, // as unread again; what was for bob he has seen
		{-1, 0, 4, 0},                // the entries before these are no news
	} {
		want := ubl.ReadState{ReadSeq: c.read, Unread: c.unread, Mentions: c.mentions}
		if got, listed := x.read(x.bob, c.seq), x.reads(x.bob); got != want || listed != want {
			t.Errorf("read up to %d: %+v, in the list %+v, want %+v", c.seq, got, listed, want)
		}
	}
	if after := x.atoms(); after != before {
		t.Errorf("reading left %d atoms", after-before)
	}
	x.read(x.bob, begun+2)
	marks := harness.Must[[]ubl.ReadMark](x.House, x.room, ubl.ListReaders{Who: x.ana})
	want := []ubl.ReadMark{{UserID: x.ana.UserID, ReadSeq: begun + 4}, {UserID: x.bob.UserID, ReadSeq: begun + 2}}
	slices.SortFunc(want, func(a, b ubl.ReadMark) int { return cmp.Compare(a.UserID, b.UserID) })
	if !slices.Equal(marks, want) {
		t.Errorf("readers are %+v, want %+v", marks, want)
	}
	for _, cmd := range []ubl.Command{ubl.MarkRead{Request: x.Request(x.cyd), Seq: 1}, ubl.ListReaders{Who: x.cyd}, ubl.ReadThread{Who: x.cyd, Root: "m:none"}} {
		if _, err := x.Runtime.Ask(t.Context(), x.room, cmd); ubl.CodeOf(err) != ubl.CodeNotAMember {
			t.Errorf("%T of a stranger = %v", cmd, err)
		}
	}
	harness.Must[*ubl.Member](x.House, x.room, ubl.RemoveMember{Request: x.Request(x.bob), UserID: x.bob.UserID})
	harness.Must[*ubl.Member](x.House, x.room, ubl.AddMember{Request: x.Request(x.ana), Member: ubl.Member{UserID: x.bob.UserID, Email: x.bob.Email, Role: ubl.RoleMember}})
	x.unread(x.bob, 0, 0)
}

// TestUnreadIsThere: what retention has removed is unread no more, whether it was news or not, and
// mentions nobody.
func TestUnreadIsThere(t *testing.T) {
	x := openTalk(t)
	day := 1
	harness.Must[*ubl.Room](x.House, x.room, ubl.SetRoomPolicy{Request: x.Request(x.ana), Patch: ubl.RoomPolicyPatch{RetentionDays: &day}})
	root := x.send(x.ana, "who is in?", "")
	x.send(x.ana, "bob?", "", ubl.Mention(x.bob.UserID))
	x.send(x.ana, "all of you!", "", ubl.MentionRoom)
	x.enter(x.ana, ubl.EntryReaction, root, ubl.ReactionContent("👍"))
	x.send(x.ana, "I am", root)
	x.unread(x.bob, 3, 2)
	x.Clock.Add(23 * time.Hour)
	x.send(x.ana, "still there?", "")
	x.send(x.ana, "bob?", "", ubl.Mention(x.bob.UserID))
	x.unread(x.bob, 5, 3)
	x.Clock.Add(2 * time.Hour)
	x.Alarms()
	for range 2 {
		x.unread(x.bob, 2, 1)
		if got, listed := x.read(x.bob, x.reads(x.bob).ReadSeq), x.reads(x.bob); got != listed {
			t.Errorf("read is %+v, in the list %+v", got, listed)
		}
		x.Restart()
	}
	x.read(x.bob, 0)
	x.unread(x.bob, 2, 1)
	x.Clock.Add(24 * time.Hour)
	x.Alarms()
	x.unread(x.bob, 0, 0)
}

// TestThreads: answers to a message are read by themselves, a page at a time, and stay entries
// of the timeline.
func TestThreads(t *testing.T) {
	x := openTalk(t)
	root, other := x.send(x.ana, "lunch?", ""), x.send(x.bob, "weather?", "")
	var answers []ubl.MessageID
	for i := range 5 {
		who := []ubl.Identity{x.ana, x.bob}[i%2]
		answers = append(answers, x.send(who, "yes", root))
		x.send(who, "rain", other)
	}
	var got []ubl.MessageID
	for after := int64(0); ; {
		page := harness.Must[*ubl.ThreadPage](x.House, x.room, ubl.ReadThread{Who: x.bob, Root: root, After: after, Limit: 2})
		if e := x.decode(page.Root); e.ID != root || page.Replies != 5 {
			t.Errorf("%d answers to %s", page.Replies, e.ID)
		}
		for _, raw := range page.Entries {
			e := x.decode(raw)
			if e.Thread == nil || *e.Thread != root {
				t.Errorf("an answer is in %v", e.Thread)
			}
			got = append(got, e.ID)
		}
		if page.NextCursor == nil {
			break
		}
		after = *page.NextCursor
	}
	if !slices.Equal(got, answers) {
		t.Errorf("read %v, want %v", got, answers)
	}
	reaction := x.enter(x.bob, ubl.EntryReaction, root, ubl.ReactionContent("👍"))
	for name, c := range map[string]struct {
		thread ubl.MessageID
		code   ubl.Code
	}{
		"an answer":      {answers[0], ubl.CodeConflict},
		"a reaction":     {reaction.ID, ubl.CodeConflict},
		"another room's": {"m:none", ubl.CodeValidation},
	} {
		_, err := x.Runtime.Ask(t.Context(), x.room, ubl.SendMessage{Request: x.Request(x.ana), Text: "x", Thread: c.thread})
		if ubl.CodeOf(err) != c.code {
			t.Errorf("a thread of %s: %v, want %s", name, err, c.code)
		}
	}
	if _, err := x.Runtime.Ask(t.Context(), x.room, ubl.ReadThread{Who: x.bob, Root: "m:none"}); ubl.CodeOf(err) != ubl.CodeNotFound {
		t.Errorf("a thread of nothing: %v", err)
	}
	var crowd []ubl.Mention
	for i := range ubl.MaxMentions + 1 {
		crowd = append(crowd, ubl.Mention(fmt.Sprintf("u:%d", i)))
	}
	for name, list := range map[string][]ubl.Mention{"nobody's": {"bob"}, "too many": crowd} {
		_, err := x.Runtime.Ask(t.Context(), x.room, ubl.SendMessage{Request: x.Request(x.ana), Text: "x", Mentions: list})
		if ubl.CodeOf(err) != ubl.CodeValidation {
			t.Errorf("mentions that are %s: %v", name, err)
		}
	}
	x.VerifyLedger(x.ana.TenantID)
}

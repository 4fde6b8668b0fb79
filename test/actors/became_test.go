package actors_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"ubl"
	"ubl/test/harness"
)

// TestWhatBecameOfAMessage: a page tells of each message what it says now, who reacted, whether it
// is pinned and how many answers its thread has. The body stays what the receipt proves.
func TestWhatBecameOfAMessage(t *testing.T) {
	x := openTalk(t)
	said := x.say(x.bob, "lunch at noon?")
	other := x.say(x.bob, "nothing became of this")
	first := x.enter(x.bob, ubl.EntryEdit, said.ID, ubl.TextContent("lunch at one?"))
	second := x.enter(x.bob, ubl.EntryEdit, said.ID, ubl.TextContent("lunch at two?"))
	liked := x.enter(x.ana, ubl.EntryReaction, said.ID, ubl.ReactionContent("👍"))
	x.enter(x.ana, ubl.EntryReaction, said.ID, ubl.ReactionContent("👍")) // by one person once
	x.enter(x.bob, ubl.EntryReaction, said.ID, ubl.ReactionContent("👍"))
	sad := x.enter(x.bob, ubl.EntryReaction, said.ID, ubl.ReactionContent("😢"))
	x.enter(x.ana, ubl.EntryPin, said.ID, ubl.PinContent(true))
	answer := x.post(x.ana, ubl.EntryMessage, "", ubl.TextContent("yes"))
	answer.Thread = said.ID
	replies := ubl.Replies{Count: 1, RoomSeq: harness.Must[*ubl.Posted](x.House, x.room, answer).RoomSeq}

	now := x.now(said.RoomSeq)
	if e := now.Edited; e == nil || e.RoomSeq != second.RoomSeq || e.At != second.SentAt || !slices.Equal(e.Versions, []int64{first.RoomSeq, second.RoomSeq}) {
		t.Errorf("edited: %+v", e)
	} else if text, _ := e.Body.Text(); text != "lunch at two?" {
		t.Errorf("it says %q now", text)
	}
	if text, _ := now.Body.Text(); text != "lunch at noon?" || !x.committed(now) {
		t.Errorf("the body is %q, which isn't what the receipt proves", text)
	}
	if got := reacted(now.Reactions); got != "👍2 😢1" || now.Reactions[0].By[0] != (ubl.Reactor{UserID: x.ana.UserID, EntryID: liked.ID}) {
		t.Errorf("reactions: %s, %+v", got, now.Reactions)
	}
	if !now.Pinned || now.Replies == nil || *now.Replies != replies {
		t.Errorf("pinned %v, replies %+v", now.Pinned, now.Replies)
	}
	if m := x.message(said.RoomSeq); m.Body.Text != "lunch at two?" || m.Edited == nil || m.Edited.RoomSeq != second.RoomSeq || reacted(m.Reactions) != "👍2 😢1" || m.Replies == nil || *m.Replies != replies {
		t.Errorf("message.v1: %+v", m)
	}
	if e := x.now(other.RoomSeq); e.Edited != nil || e.Reactions != nil || e.Pinned || e.Replies != nil {
		t.Errorf("what nothing became of: %+v", e)
	}

	x.enter(x.bob, ubl.EntryRedaction, sad.ID, ubl.RedactionContent(""))
	x.enter(x.bob, ubl.EntryRedaction, second.ID, ubl.RedactionContent(""))
	x.enter(x.ana, ubl.EntryPin, said.ID, ubl.PinContent(false))
	now = x.now(said.RoomSeq)
	if text, _ := now.Edited.Body.Text(); text != "lunch at one?" || reacted(now.Reactions) != "👍2" || now.Pinned {
		t.Errorf("after some was taken back: %q, %s, pinned %v", text, reacted(now.Reactions), now.Pinned)
	}

	x.enter(x.bob, ubl.EntryRedaction, said.ID, ubl.RedactionContent(""))
	now = x.now(said.RoomSeq)
	if now.Body != nil || now.Edited != nil || now.Reactions != nil || now.Redacted == nil || now.Replies == nil || *now.Replies != replies {
		t.Errorf("once it is deleted: %+v", now)
	}
	x.VerifyLedger(x.ana.TenantID)
}

// TestManyReactors: of many people who reacted the first are named, and the reader.
func TestManyReactors(t *testing.T) {
	x := openTalk(t)
	said := x.say(x.ana, "who comes?")
	for i := range ubl.MaxReactors + 5 {
		who := harness.User(fmt.Sprintf("guest%d@example.com", i))
		x.Enter(who)
		harness.Must[*ubl.Member](x.House, x.room, ubl.AddMember{Request: x.Request(x.ana), Member: ubl.Member{UserID: who.UserID, Email: who.Email, Role: ubl.RoleMember}})
		x.enter(who, ubl.EntryReaction, said.ID, ubl.ReactionContent("✋"))
	}
	own := x.enter(x.bob, ubl.EntryReaction, said.ID, ubl.ReactionContent("✋"))
	hands := x.now(said.RoomSeq).Reactions[0]
	last := hands.By[len(hands.By)-1]
	if hands.Count != ubl.MaxReactors+6 || len(hands.By) != ubl.MaxReactors+1 || last.EntryID != own.ID {
		t.Errorf("%d of %d named, last %+v", len(hands.By), hands.Count, last)
	}
}

// TestBecameIsWhatEntriesTell: for random histories, what a page says of each message is what
// one finds who reads every entry.
func TestBecameIsWhatEntriesTell(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		x := openTalk(t)
		var list []*ubl.Entry
		for range rapid.IntRange(1, 25).Draw(rt, "entries") {
			who := rapid.SampledFrom([]ubl.Identity{x.ana, x.bob}).Draw(rt, "who")
			kind := rapid.SampledFrom([]ubl.EntryType{ubl.EntryMessage, ubl.EntryEdit, ubl.EntryReaction, ubl.EntryPin, ubl.EntryRedaction}).Draw(rt, "type")
			body := map[ubl.EntryType]ubl.TypedBody{
				ubl.EntryMessage: ubl.TextContent("said"), ubl.EntryEdit: ubl.TextContent(fmt.Sprintf("edit %d", len(list))),
				ubl.EntryReaction:  ubl.ReactionContent(rapid.SampledFrom([]string{"👍", "🎉"}).Draw(rt, "key")),
				ubl.EntryPin:       ubl.PinContent(rapid.Bool().Draw(rt, "pinned")),
				ubl.EntryRedaction: ubl.RedactionContent(""),
			}[kind]
			post := x.post(who, kind, "", body)
			if kind != ubl.EntryMessage {
				if len(list) == 0 {
					continue
				}
				post.Target = rapid.SampledFrom(list).Draw(rt, "target").ID
			}
			if posted, err := ubl.Ask[*ubl.Posted](t.Context(), x.House, x.room, post); err == nil {
				list = append(list, x.decode(posted.Entry))
			}
		}
		all := x.entries()
		for _, e := range all {
			if e.Type != ubl.EntryMessage || e.Redacted != nil {
				continue
			}
			if now, want := x.now(e.RoomSeq), e.With(becameIn(all, e.ID)); string(now.Encode()) != string(want.Encode()) {
				rt.Fatalf("the page says\n%s\nbut the entries\n%s", now.Encode(), want.Encode())
			}
		}
	})
}

// becameIn works out from all entries what became of one.
func becameIn(all []*ubl.Entry, id ubl.MessageID) (b ubl.Became) {
	for _, e := range all {
		if e.Target == nil || *e.Target != id || e.Redacted != nil {
			continue
		}
		switch e.Type {
		case ubl.EntryEdit:
			var versions []int64
			if b.Edited != nil {
				versions = b.Edited.Versions
			}
			b.Edited = &ubl.Edited{At: e.SentAt, Body: e.Body, RoomSeq: e.RoomSeq, Versions: append(versions, e.RoomSeq)}
		case ubl.EntryPin:
			var p ubl.PinBody
			_ = e.Body.Read(ubl.ContentPin, &p)
			b.Pinned = p.Pinned
		case ubl.EntryReaction:
			var r ubl.ReactionBody
			_ = e.Body.Read(ubl.ContentReaction, &r)
			i := slices.IndexFunc(b.Reactions, func(of ubl.Reactions) bool { return of.Key == r.Key })
			if i < 0 {
				i = len(b.Reactions)
				b.Reactions = append(b.Reactions, ubl.Reactions{Key: r.Key})
			}
			of := &b.Reactions[i]
			if !slices.ContainsFunc(of.By, func(by ubl.Reactor) bool { return by.UserID == e.AuthorID }) {
				of.By, of.Count = append(of.By, ubl.Reactor{UserID: e.AuthorID, EntryID: e.ID}), of.Count+1
			}
		}
	}
	return b
}

func reacted(list []ubl.Reactions) (s string) {
	for i, r := range list {
		if i > 0 {
			s += " "
		}
		s += fmt.Sprint(r.Key, r.Count)
	}
	return s
}

// now is an entry as bob reads it now.
func (x *talk) now(seq int64) *ubl.Entry {
	x.t.Helper()
	page := harness.Must[*ubl.HistoryPage](x.House, x.room, ubl.ReadHistory{Who: x.bob, Before: seq + 1, Limit: 1, Entries: true, Now: true})
	return x.decode(page.Entries[0])
}

// message is the same as message.v1.
func (x *talk) message(seq int64) *ubl.Message {
	x.t.Helper()
	page := harness.Must[*ubl.HistoryPage](x.House, x.room, ubl.ReadHistory{Who: x.bob, Before: seq + 1, Limit: 1, Now: true})
	var m ubl.Message
	if err := json.Unmarshal(page.Messages[0], &m); err != nil {
		x.t.Fatal(err)
	}
	return &m
}

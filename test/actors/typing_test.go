package actors_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"ubl"
	"ubl/test/harness"
)

// TestTyping: a member is told to be writing at most once a second, until they send, say that
// they have stopped, or time passes. Nothing of it is in the ledger.
func TestTyping(t *testing.T) {
	x := openTalk(t)
	var told []string
	t.Cleanup(x.Subscribe(x.room, func(p ubl.Publication) {
		for _, e := range p.Events {
			if e.Kind == ubl.EventRoomTyping {
				told = append(told, string(e.Payload))
			}
		}
	}))
	writes := func(who ubl.Identity, typing bool) ubl.Time {
		t.Helper()
		state := harness.Must[*ubl.Typing](x.House, x.room, ubl.SetTyping{Who: who, Typing: typing})
		if state.UserID != who.UserID {
			t.Errorf("%s is answered %+v", who.UserID, state)
		}
		return state.Until
	}
	var want []string
	expect := func(who ubl.Identity, until ubl.Time) {
		want = append(want, string(ubl.TypingPayload(ubl.Typing{UserID: who.UserID, Until: until})))
	}
	atoms := x.atoms()
	now := func() ubl.Time { return ubl.TimeOf(x.Clock.Now()) }

	expect(x.ana, writes(x.ana, true))
	if until := writes(x.ana, true); until != now().Add(ubl.TypingFor) { // too soon to be told again
		t.Errorf("until %s, now is %s", until, now())
	}
	expect(x.bob, writes(x.bob, true))
	x.Clock.Add(time.Second)
	expect(x.ana, writes(x.ana, true))
	expect(x.ana, writes(x.ana, false))
	writes(x.ana, false) // nobody believes it any more
	if got := x.atoms(); got != atoms {
		t.Errorf("the ledger went from %d atoms to %d", atoms, got)
	}
	harness.Must[*ubl.Sent](x.House, x.room, ubl.SendMessage{Request: x.Request(x.bob), Text: "done"})
	expect(x.bob, now())
	harness.Must[*ubl.Sent](x.House, x.room, ubl.SendMessage{Request: x.Request(x.bob), Text: "nothing more to end"})
	if !slices.Equal(told, want) {
		t.Errorf("told\n%q, want\n%q", told, want)
	}

	x.Restart() // who was writing is forgotten
	expectNone := len(told)
	writes(x.ana, false)
	if len(told) != expectNone {
		t.Errorf("told %q of one that nobody knew to be writing", told[expectNone:])
	}
	x.VerifyLedger(x.ana.TenantID)
}

// TestTypingOfWhoMayWrite: strangers are refused, and members where they may not write at all.
func TestTypingOfWhoMayWrite(t *testing.T) {
	x := openTalk(t)
	refused := func(who ubl.Identity, want ubl.Code) {
		t.Helper()
		if _, err := x.Runtime.Ask(t.Context(), x.room, ubl.SetTyping{Who: who, Typing: true}); ubl.CodeOf(err) != want {
			t.Errorf("%s is answered %v, want %q", who.UserID, err, want)
		}
	}
	posting := func(p string) {
		harness.Must[*ubl.Room](x.House, x.room, ubl.SetRoomPolicy{Request: x.Request(x.ana), Patch: ubl.RoomPolicyPatch{Posting: &p}})
	}
	refused(x.cyd, ubl.CodeNotAMember)
	posting(ubl.PostingThreads)
	refused(x.bob, "") // in a thread
	posting(ubl.PostingModerators)
	refused(x.bob, ubl.CodeForbidden)
	refused(x.ana, "")
}

// TestTypingOfACrowd: a room tells of twenty at a time, and of others once those have ended.
func TestTypingOfACrowd(t *testing.T) {
	x := openTalk(t)
	told := 0
	t.Cleanup(x.Subscribe(x.room, func(p ubl.Publication) {
		for _, e := range p.Events {
			if e.Kind == ubl.EventRoomTyping {
				told++
			}
		}
	}))
	for round := 1; round <= 2; round++ {
		for i := range 22 {
			who := harness.User(fmt.Sprintf("p%d@example.com", i))
			if round == 1 {
				x.Enter(who)
				harness.Must[*ubl.Member](x.House, x.room, ubl.AddMember{Request: x.Request(x.ana), Member: ubl.Member{UserID: who.UserID, Email: who.Email, Role: ubl.RoleMember}})
			}
			harness.Must[*ubl.Typing](x.House, x.room, ubl.SetTyping{Who: who, Typing: true})
		}
		if told != round*20 {
			t.Errorf("after round %d %d were told, want %d", round, told, round*20)
		}
		x.Clock.Add(ubl.TypingFor)
	}
}

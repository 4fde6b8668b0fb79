package actors_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"ubl"
	"ubl/actors/agreement"
	"ubl/test/harness"
)

// told is what an entry says that an act left, with names for ids, behind the act's name. It
// sees that the receipt is the act's, and that the act's effect commits to the body.
func (x *talk) told(e *ubl.Entry) string {
	x.t.Helper()
	pair := harness.Must[*ubl.ReceiptPair](x.House, ubl.LedgerName(x.ana.TenantID), ubl.GetReceipt{Seq: e.Receipt.Seq})
	var action struct {
		Did ubl.Did `json:"did"`
	}
	var effect struct {
		Effects []struct {
			Op       string        `json:"op"`
			BodyHash string        `json:"body_hash"`
			Type     string        `json:"content_type"`
			ID       ubl.MessageID `json:"msg_id"`
			RoomSeq  int64         `json:"room_seq"`
		} `json:"effects"`
	}
	if err := json.Unmarshal(pair.Atoms[0], &action); err != nil {
		x.t.Fatal(err)
	}
	if err := json.Unmarshal(pair.Atoms[1], &effect); err != nil {
		x.t.Fatal(err)
	}
	last := effect.Effects[len(effect.Effects)-1]
	if last.Op != "room.append" || last.ID != e.ID || last.RoomSeq != e.RoomSeq || last.Type != e.Body.Type || last.BodyHash != e.Salt.Commit(e.Body.Hashed()) {
		x.t.Errorf("the effect of %s is %+v, the entry %s", action.Did, last, e.Encode())
	}
	names := strings.NewReplacer(string(x.ana.UserID), "ana", string(x.bob.UserID), "bob", string(x.cyd.UserID), "cyd")
	return fmt.Sprintf("%s by %s: %s", action.Did, names.Replace(string(e.AuthorID)), names.Replace(said(x.t, e)))
}

// said is the body of such an entry in a line.
func said(t *testing.T, e *ubl.Entry) string {
	t.Helper()
	if e.Type == ubl.EntryProposal {
		var b ubl.ProposalBody
		if err := e.Body.Read(ubl.ContentProposal, &b); err != nil {
			t.Fatal(err)
		}
		return fmt.Sprintf("%s of %s", b.State, b.AgreementID)
	}
	var b ubl.MembershipBody
	if err := e.Body.Read(ubl.ContentMembership, &b); err != nil {
		t.Fatal(err)
	}
	var changes []string
	for _, c := range b.Changes {
		changes = append(changes, strings.TrimSpace(fmt.Sprintf("%s %s %s", c.UserID, c.Change, c.Role)))
	}
	return strings.Join(changes, ", ")
}

// left are all entries that acts left, oldest first.
func (x *talk) left(reader ubl.Identity) (list []*ubl.Entry, told string) {
	x.t.Helper()
	page := harness.Must[*ubl.HistoryPage](x.House, x.room, ubl.ReadHistory{Who: reader, Limit: 200, Entries: true})
	var lines []string
	for _, raw := range page.Entries {
		if e := x.decode(raw); e.Type == ubl.EntryMembership || e.Type == ubl.EntryProposal {
			list, lines = append(list, e), append(lines, x.told(e))
		}
	}
	return list, strings.Join(lines, "\n")
}

// head is the number of the ledger's newest atom.
func (x *talk) head() int64 {
	return harness.Must[ubl.LedgerHead](x.House, ubl.LedgerName(x.ana.TenantID), ubl.GetLedgerHead{}).Seq
}

// TestMembershipEntries: each act on who is in a room leaves an entry with the act's receipt,
// and no atom more. The room's founder has none: the message that begins the timeline is theirs.
func TestMembershipEntries(t *testing.T) {
	x := openTalk(t)
	join := ubl.JoinTenant
	harness.Must[*ubl.Room](x.House, x.room, ubl.SetRoomPolicy{Request: x.Request(x.ana), Patch: ubl.RoomPolicyPatch{Join: &join}})
	harness.Must[*ubl.Member](x.House, x.room, ubl.JoinRoom{Request: x.Request(x.cyd)})
	before := x.head()
	harness.Must[*ubl.Member](x.House, x.room, ubl.SetMember{Request: x.Request(x.ana), UserID: x.bob.UserID, Role: ubl.RoleOwner})
	harness.Must[*ubl.Member](x.House, x.room, ubl.RemoveMember{Request: x.Request(x.cyd), UserID: x.cyd.UserID})
	harness.Must[*ubl.Member](x.House, x.room, ubl.RemoveMember{Request: x.Request(x.bob), UserID: x.ana.UserID})
	if atoms := x.head() - before; atoms != 6 {
		t.Errorf("three acts are %d atoms", atoms)
	}
	want := `room.invite by ana: bob added member
room.join by cyd: cyd joined member
room.member.update by ana: bob role owner
room.leave by cyd: cyd left
room.remove by bob: ana removed`
	for range 2 {
		if _, got := x.left(x.bob); got != want {
			t.Errorf("the timeline tells\n%s, want\n%s", got, want)
		}
		x.Reload()
	}
	x.VerifyLedger(x.ana.TenantID)
}

// TestEntriesOfASealing: who is the last to go, the agent that goes with them, and the heir are
// one act and one entry, which stays closed. The heir reads nothing but their own coming.
func TestEntriesOfASealing(t *testing.T) {
	x := openTalk(t)
	agent := ubl.Member{UserID: "u:agent", Role: ubl.RoleMember, IsService: true}
	harness.Must[*ubl.Member](x.House, x.room, ubl.AddMember{Request: x.Request(x.ana), Member: agent})
	harness.Must[*ubl.Member](x.House, x.room, ubl.RemoveMember{Request: x.Request(x.bob), UserID: x.bob.UserID})
	sealing := harness.Must[ubl.Head](x.House, x.room, ubl.RoomHead{}).LastSeq + 1
	harness.Must[*ubl.Member](x.House, x.room, ubl.RemoveMember{Request: x.Request(x.ana), UserID: x.ana.UserID, Expel: true})
	x.Reload()
	head := harness.Must[ubl.Head](x.House, x.room, ubl.RoomHead{})
	if head.LastSeq != sealing || head.AvailableFrom != sealing+1 {
		t.Errorf("the sealed room is %+v, its last entry %d", head, sealing)
	}
	heir := ubl.Member{UserID: x.cyd.UserID, Email: x.cyd.Email}
	harness.Must[*ubl.Member](x.House, x.room, agreement.Inherit{Request: x.Request(x.bob), Heir: heir})
	if _, got := x.left(x.cyd); got != "agreement.heir by bob: cyd added owner" {
		t.Errorf("the heir reads\n%s", got)
	}
	x.VerifyLedger(x.ana.TenantID)
}

// TestSuccessionIsOneEntry: who goes and who owns the room after them.
func TestSuccessionIsOneEntry(t *testing.T) {
	x := openTalk(t)
	harness.Must[*ubl.Member](x.House, x.room, ubl.RemoveMember{Request: x.Request(x.cyd), UserID: x.ana.UserID, Expel: true})
	_, got := x.left(x.bob)
	if want := "room.remove by cyd: ana removed, bob role owner"; !strings.HasSuffix(got, "\n"+want) {
		t.Errorf("the timeline tells\n%s, want at its end\n%s", got, want)
	}
}

// TestProposalEntries: what became of a proposal is about the entry that told of it first, which
// the open proposal names.
func TestProposalEntries(t *testing.T) {
	x := openTalk(t)
	ask := func(at ubl.Name, cmd ubl.Command) any {
		x.Clock.Add(time.Second)
		return harness.Must[any](x.House, at, cmd)
	}
	harness.Must[*ubl.Member](x.House, x.room, ubl.SetMember{Request: x.Request(x.ana), UserID: x.bob.UserID, Role: ubl.RoleOwner})
	before := len(x.entries())
	harness.AskTerms(x.House, ask, x.room, x.ana, x.bob)
	harness.Must[*ubl.AgreementView](x.House, x.room, ubl.EndAgreement{Request: x.Request(x.ana)})
	want := `agreement.propose by ana: in_force of a:room:r:plans
agreement.propose by ana: proposed of a:room:r:plans
agreement.withdraw by bob: withdrawn of a:room:r:plans
agreement.propose by ana: proposed of a:room:r:plans
agreement.accept by bob: in_force of a:room:r:plans
agreement.end by ana: ended of a:room:r:plans`
	list, _ := x.left(x.bob)
	list = list[len(list)-6:]
	var lines []string
	for _, e := range list {
		lines = append(lines, x.told(e))
	}
	if got := strings.Join(lines, "\n"); got != want {
		t.Errorf("the timeline tells\n%s, want\n%s", got, want)
	}
	for i, about := range map[int]int{2: 1, 4: 3} {
		if list[i].Target == nil || *list[i].Target != list[about].ID {
			t.Errorf("entry %s is about %v, want %s", said(t, list[i]), list[i].Target, list[about].ID)
		}
	}
	if after := len(x.entries()); after != before+6 {
		t.Errorf("six acts left %d entries", after-before)
	}
	x.VerifyLedger(x.ana.TenantID)
}

// TestAcceptedByOne: a proposal that others still have to accept keeps its entry's id.
func TestAcceptedByOne(t *testing.T) {
	x := openTalk(t)
	harness.Must[*ubl.Member](x.House, x.room, ubl.AddMember{Request: x.Request(x.ana), Member: ubl.Member{UserID: x.cyd.UserID, Email: x.cyd.Email, Role: ubl.RoleMember}})
	terms := ubl.Terms{Form: ubl.TermsForm, Accept: ubl.AcceptEntries, Permits: []ubl.Permit{{Did: "*", To: []string{ubl.ToEntries}}}}
	harness.Must[*ubl.AgreementView](x.House, x.room, ubl.ProposeTerms{Request: x.Request(x.ana), Terms: terms})
	terms.Limits = []ubl.Limit{{Did: "messenger.*", PerMinute: 20, Together: true}}
	proposed := harness.Must[*ubl.AgreementView](x.House, x.room, ubl.ProposeTerms{Request: x.Request(x.ana), Terms: terms})
	accepted := harness.Must[*ubl.AgreementView](x.House, x.room, ubl.AcceptTerms{Request: x.Request(x.bob), TermsHash: terms.Hash()})
	x.Reload()
	now := harness.Must[*ubl.AgreementView](x.House, x.room, ubl.GetAgreement{Who: x.bob})
	list, _ := x.left(x.bob)
	first, second := list[len(list)-2], list[len(list)-1]
	for _, view := range []*ubl.AgreementView{proposed, accepted, now} {
		if view.Proposal == nil || view.Proposal.EntryID != first.ID {
			t.Errorf("the proposal is %+v, its entry %s", view.Proposal, first.ID)
		}
	}
	if got := said(t, second); got != "accepted of a:room:r:plans" || *second.Target != first.ID {
		t.Errorf("%s about %s", got, *second.Target)
	}
}

// TestNobodyRedactsWhatActsTell: nor edits, reacts to, or pins it.
func TestNobodyRedactsWhatActsTell(t *testing.T) {
	x := openTalk(t)
	list, _ := x.left(x.bob)
	for kind, body := range map[ubl.EntryType]ubl.TypedBody{
		ubl.EntryRedaction: ubl.RedactionContent(""), ubl.EntryEdit: ubl.TextContent("x"), ubl.EntryReaction: ubl.ReactionContent("👍"), ubl.EntryPin: ubl.PinContent(true),
	} {
		x.Refused(ubl.CodeConflict, x.room, x.post(x.ana, kind, list[0].ID, body))
	}
	for _, kind := range []ubl.EntryType{ubl.EntryMembership, ubl.EntryProposal, ubl.EntryCall} {
		x.Refused(ubl.CodeValidation, x.room, x.post(x.ana, kind, "", *list[0].Body))
	}
	x.Refused(ubl.CodeValidation, x.room, x.post(x.ana, ubl.EntryMessage, "", *list[0].Body)) // as a message's
}

// TestMessagesAreCountedAlone: how many messages came between two looks at the list of rooms is
// told, whatever else did, and after the room was loaded again.
func TestMessagesAreCountedAlone(t *testing.T) {
	x := openTalk(t)
	count := func() int64 {
		t.Helper()
		for _, e := range harness.Must[[]ubl.RoomEntry](x.House, ubl.TenantName(x.ana.TenantID), ubl.ListRooms{Who: x.bob, Details: true}) {
			if e.RoomID == ubl.RoomID(x.room.Local()) {
				return e.Messages
			}
		}
		t.Fatal("the room isn't listed")
		return 0
	}
	if n := count(); n != 2 {
		t.Errorf("the room begins with %d messages, want its making and bob's greeting", n)
	}
	hello := x.say(x.bob, "hello")
	x.enter(x.ana, ubl.EntryReaction, hello.ID, ubl.ReactionContent("👍"))
	x.enter(x.bob, ubl.EntryEdit, hello.ID, ubl.TextContent("hello!"))
	harness.Must[*ubl.Member](x.House, x.room, ubl.SetMember{Request: x.Request(x.ana), UserID: x.bob.UserID, Role: ubl.RoleOwner})
	x.enter(x.bob, ubl.EntryMessage, "", ubl.TypedBody{Type: "application/mls-ciphertext", Bytes: []byte{1}})
	for range 2 {
		if n := count(); n != 4 {
			t.Errorf("with a text and one that clients alone read it has %d messages", n)
		}
		x.Reload()
	}
	x.enter(x.ana, ubl.EntryPin, hello.ID, ubl.PinContent(true))
	x.say(x.ana, "bye")
	if n := count(); n != 5 {
		t.Errorf("after another one it has %d messages", n)
	}
}

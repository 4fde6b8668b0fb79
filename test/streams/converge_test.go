package streams

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"ubl"
	"ubl/test/events"
	"ubl/test/harness"
)

// screen is what one client makes of a room's entries. It knows the rules from DESIGN.md
// ("Entries"), and takes each entry once.
type screen struct {
	last     int64
	said     map[int64]string  // of messages and edits that have their content
	messages map[int64]bool    // which of them are messages
	edits    map[int64][]int64 // of a message, by number
	reacted  map[int64]string  // reactions that have their content
	about    map[int64]int64   // the message of each reaction
	members  map[ubl.UserID]ubl.Role
	terms    string // what became of the newest proposal
}

func newScreen() *screen {
	return &screen{
		said: map[int64]string{}, messages: map[int64]bool{}, edits: map[int64][]int64{}, reacted: map[int64]string{}, about: map[int64]int64{},
		members: map[ubl.UserID]ubl.Role{},
	}
}

// take shows an entry that came as message.v1 or as entry.v2.
func (s *screen) take(t testing.TB, message, raw json.RawMessage) {
	t.Helper()
	var e ubl.Entry
	if message != nil {
		var m ubl.Message
		if err := json.Unmarshal(message, &m); err != nil {
			t.Fatal(err)
		}
		e = *m.Entry(ubl.Salt{})
	} else if err := json.Unmarshal(raw, &e); err != nil {
		t.Fatal(err)
	}
	if e.RoomSeq != s.last+1 {
		t.Fatalf("entry %d came behind %d", e.RoomSeq, s.last)
	}
	s.last = e.RoomSeq
	target := int64(0)
	if e.Target != nil {
		target, _ = e.Target.Seq()
	}
	switch e.Type {
	case ubl.EntryMessage:
		s.messages[e.RoomSeq] = true
		if e.RoomSeq == 1 { // it tells that the room was made
			s.members[e.AuthorID] = ubl.RoleOwner
		}
		if e.Body != nil {
			s.said[e.RoomSeq], _ = e.Body.Text()
		}
	case ubl.EntryEdit:
		s.edits[target] = append(s.edits[target], e.RoomSeq)
		if e.Body != nil {
			s.said[e.RoomSeq], _ = e.Body.Text()
		}
	case ubl.EntryReaction:
		s.about[e.RoomSeq] = target
		if e.Body != nil {
			s.reacted[e.RoomSeq] = string(e.AuthorID) + " " + string(e.Body.JSON)
		}
	case ubl.EntryRedaction:
		delete(s.said, target)
		delete(s.reacted, target)
		for _, n := range s.edits[target] {
			delete(s.said, n)
		}
	case ubl.EntryMembership:
		var b ubl.MembershipBody
		if err := e.Body.Read(ubl.ContentMembership, &b); err != nil {
			t.Fatal(err)
		}
		for _, c := range b.Changes {
			if s.members[c.UserID] = c.Role; c.Role == "" {
				delete(s.members, c.UserID)
			}
		}
	case ubl.EntryProposal:
		var b ubl.ProposalBody
		if err := e.Body.Read(ubl.ContentProposal, &b); err != nil {
			t.Fatal(err)
		}
		s.terms = fmt.Sprint(b.State, " ", b.TermsHash)
	}
}

// String is what a person sees in the end.
func (s *screen) String() string {
	var b strings.Builder
	for _, seq := range slices.Sorted(maps.Keys(s.messages)) {
		text, there := s.said[seq]
		for _, n := range s.edits[seq] {
			if again, kept := s.said[n]; kept && there {
				text = again
			}
		}
		reactions := map[string]bool{}
		for n, what := range s.reacted {
			if s.about[n] == seq && there {
				reactions[what] = true
			}
		}
		fmt.Fprintf(&b, "%d %t %q %q\n", seq, there, text, slices.Sorted(maps.Keys(reactions)))
	}
	fmt.Fprintf(&b, "%v, terms %s\n", s.members, s.terms)
	return b.String()
}

// read takes events off a stream up to a number.
func (s *screen) read(t testing.TB, stream *events.Reader, upTo int64) {
	t.Helper()
	for s.last < upTo {
		told, ok := stream.Next()
		if !ok {
			break
		}
		if told.Data == "" {
			continue
		}
		var ev struct {
			Payload struct{ Message, Entry json.RawMessage }
		}
		if err := json.Unmarshal([]byte(told.Data), &ev); err != nil {
			t.Fatal(err)
		}
		if ev.Payload.Message != nil || ev.Payload.Entry != nil {
			s.take(t, ev.Payload.Message, ev.Payload.Entry)
		}
	}
	if s.last < upTo {
		t.Fatalf("the stream ended behind %d of %d", s.last, upTo)
	}
}

// TestClientsConverge: over random histories of entries, a client that listened from the
// beginning, one that was away for a while, and one that reads everything at the end see the
// same, and have in the room whom its Agreement has.
func TestClientsConverge(t *testing.T) {
	h := harness.Open(t, harness.Options{})
	people := []ubl.Identity{harness.User("ana@example.com"), harness.User("bob@example.com"), harness.User("cyd@example.com")}
	for _, who := range people {
		h.Enter(who)
	}
	rooms := 0
	rapid.Check(t, func(rt *rapid.T) {
		rooms++
		made := harness.Must[*ubl.RoomSummary](h, ubl.TenantName(people[0].TenantID), ubl.CreateRoom{Request: h.Request(people[0]), Name: fmt.Sprint("room ", rooms)})
		room := ubl.RoomName(people[0].TenantID, made.RoomID)
		harness.Must[*ubl.Member](h, room, ubl.AddMember{Request: h.Request(people[0]), Member: ubl.Member{UserID: people[1].UserID, Email: people[1].Email, Role: ubl.RoleMember}})
		path := "/api/events/rooms/" + string(made.RoomID) + "?from_seq="
		always, away := newScreen(), newScreen()
		live := follow(t, h, people[0], path+"0")
		away.read(t, follow(t, h, people[0], path+"0"), 3)
		var ids []ubl.MessageID
		steps := rapid.IntRange(1, 30).Draw(rt, "steps")
		for range steps {
			if rapid.IntRange(0, 3).Draw(rt, "act") == 0 {
				govern(rt, h, room, people)
			} else if id := step(rt, h, room, people[:2], ids); id != "" {
				ids = append(ids, id)
			}
			if rapid.IntRange(0, 9).Draw(rt, "comes back") == 0 {
				away.read(t, follow(t, h, people[1], fmt.Sprint(path, away.last)), last(h, room))
			}
		}
		always.read(t, live, last(h, room))
		away.read(t, follow(t, h, people[1], fmt.Sprint(path, away.last)), last(h, room))
		late := newScreen()
		page := harness.Must[*ubl.HistoryPage](h, room, ubl.ReadHistory{Who: people[1], Limit: 200, Entries: true})
		for _, raw := range page.Entries {
			late.take(t, nil, raw)
		}
		if always.String() != late.String() || away.String() != late.String() {
			rt.Errorf("who listened sees\n%swho was away\n%swho came last\n%s", always, away, late)
		}
		inside := map[ubl.UserID]ubl.Role{}
		for _, m := range harness.Must[*ubl.AgreementView](h, room, ubl.GetAgreement{Who: people[0]}).Members {
			inside[m.UserID] = m.Role
		}
		if !maps.Equal(inside, late.members) {
			rt.Errorf("in the room are %v, the timeline tells of %v", inside, late.members)
		}
	})
}

func last(h *harness.House, room ubl.Name) int64 {
	return harness.Must[ubl.Head](h, room, ubl.RoomHead{}).LastSeq
}

// govern is an act on who is in the room, or on its terms: ana and bob stay, ana as an owner,
// and cyd comes and goes.
func govern(rt *rapid.T, h *harness.House, room ubl.Name, people []ubl.Identity) {
	ana, bob, cyd := people[0], people[1], people[2]
	role := rapid.SampledFrom([]ubl.Role{ubl.RoleOwner, ubl.RoleMember}).Draw(rt, "role")
	terms := ubl.Terms{
		Form: ubl.TermsForm, Permits: []ubl.Permit{{Did: "*", To: []string{ubl.ToOwners}}, {Did: "messenger.*", To: []string{ubl.ToEntries}}},
		Accept: rapid.SampledFrom([]ubl.Acceptance{ubl.AcceptProposer, ubl.AcceptOwners, ubl.AcceptEntries}).Draw(rt, "accept"),
	}
	proposed := harness.Must[*ubl.AgreementView](h, room, ubl.GetAgreement{Who: ana}).Proposal
	accept := ubl.AcceptTerms{Request: h.Request(bob)}
	if proposed != nil {
		accept.TermsHash = proposed.TermsHash
	}
	act := rapid.SampledFrom([]ubl.Command{
		ubl.AddMember{Request: h.Request(ana), Member: ubl.Member{UserID: cyd.UserID, Email: cyd.Email, Role: role}},
		ubl.RemoveMember{Request: h.Request(rapid.SampledFrom([]ubl.Identity{ana, cyd}).Draw(rt, "by")), UserID: cyd.UserID},
		ubl.SetMember{Request: h.Request(ana), UserID: bob.UserID, Role: role},
		ubl.ProposeTerms{Request: h.Request(ana), Terms: terms},
		accept,
		ubl.WithdrawTerms{Request: h.Request(bob)},
	}).Draw(rt, "governs")
	if _, err := h.Ask(rt.Context(), room, act); err != nil && !slices.Contains([]ubl.Code{ubl.CodeConflict, ubl.CodeForbidden, ubl.CodeNotFound, ubl.CodeNotAMember}, ubl.CodeOf(err)) {
		rt.Fatal(err)
	}
}

// step is one thing that somebody does or tries to. It answers the entry's id, "" where it
// was refused.
func step(rt *rapid.T, h *harness.House, room ubl.Name, people []ubl.Identity, ids []ubl.MessageID) ubl.MessageID {
	c := ubl.PostEntry{Request: h.Request(rapid.SampledFrom(people).Draw(rt, "who")), Type: ubl.EntryMessage, Body: ubl.TextContent(rapid.StringMatching(`[a-z]{1,6}`).Draw(rt, "text"))}
	if len(ids) > 0 {
		c.Type = rapid.SampledFrom([]ubl.EntryType{ubl.EntryMessage, ubl.EntryEdit, ubl.EntryReaction, ubl.EntryRedaction}).Draw(rt, "type")
	}
	switch c.Type {
	case ubl.EntryReaction:
		c.Body = ubl.ReactionContent(rapid.SampledFrom([]string{"👍", "🎉"}).Draw(rt, "key"))
	case ubl.EntryRedaction:
		c.Body = ubl.RedactionContent("")
	}
	if c.Type != ubl.EntryMessage {
		c.Target = rapid.SampledFrom(ids).Draw(rt, "target")
	}
	answer, err := h.Ask(rt.Context(), room, c)
	if err != nil {
		if code := ubl.CodeOf(err); code != ubl.CodeConflict && code != ubl.CodeForbidden {
			rt.Fatal(err)
		}
		return ""
	}
	var e ubl.Entry
	if err := json.Unmarshal(answer.(*ubl.Posted).Entry, &e); err != nil {
		rt.Fatal(err)
	}
	return e.ID
}

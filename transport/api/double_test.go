package api

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/go-chi/chi/v5"

	"ubl"
	"ubl/actors/families"
	"ubl/offer"
	"ubl/transport/envelope"
)

// now is when every request of the tests comes in.
var now = ubl.TimeOf(time.Date(2026, 11, 21, 9, 0, 0, 0, time.UTC))

// ana is the caller of every request unless a test says otherwise.
var ana = ubl.Identity{UserID: "u:ana", Email: "ana@acme.com", EmailDomain: "acme.com",
	TenantID: "t:acme.com", Issuer: "https://id.acme.com", Subject: "ana"}

// actors is a double of the actors: it answers each command as a tenant with
// two rooms would, and writes down what it was asked.
type actors struct {
	t testing.TB
	// refuse, if set, answers every command.
	refuse error
	// atoms is the ledger.
	atoms []json.RawMessage
	// headed is its last atom when newest was computed.
	headed *json.RawMessage
	newest ubl.LedgerHead
	// failFrom makes reading atoms from that seq on fail; 0 for never.
	failFrom int64
	// damagedAt is an atom that can't be read; 0 for none.
	damagedAt int64
	// caller is in whose name everything must be asked; nil for ana's.
	caller *ubl.Identity
	// known is the service token that a repetition finds.
	known *ubl.ServiceToken
	// invited is the invitation that a repetition finds.
	invited ubl.InvitationID

	mu    sync.Mutex
	asked []string
	// hurried says of each question whether it had a deadline.
	hurried []bool
}

func (s *actors) Ask(ctx context.Context, to ubl.Name, cmd ubl.Command) (any, error) {
	s.mu.Lock()
	s.asked = append(s.asked, s.note(to, cmd))
	_, hurried := ctx.Deadline()
	s.hurried = append(s.hurried, hurried)
	s.mu.Unlock()
	if s.refuse != nil {
		return nil, s.refuse
	}
	return s.answer(to, cmd)
}

// note writes a question down, and checks that it is asked in the caller's name.
func (s *actors) note(to ubl.Name, cmd ubl.Command) string {
	v, caller := reflect.ValueOf(cmd), ana
	if s.caller != nil {
		caller = *s.caller
	}
	if who := v.FieldByName("Who"); who.IsValid() && !reflect.DeepEqual(who.Interface(), caller) {
		s.t.Errorf("%T is not asked in the caller's name", cmd)
	}
	data, err := json.Marshal(cmd)
	if err != nil {
		s.t.Fatal(err)
	}
	var m map[string]any
	if err := json.Unmarshal(data, &m); err != nil {
		s.t.Fatal(err)
	}
	delete(m, "Who")
	said := make([]string, 0, len(m))
	for _, k := range slices.Sorted(maps.Keys(m)) {
		b, _ := json.Marshal(m[k])
		said = append(said, k+":"+string(b))
	}
	return fmt.Sprintf("%s %s{%s}", to, v.Type().Name(), strings.Join(said, " "))
}

func (s *actors) takeAsked() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	out := s.asked
	s.asked = nil
	return out
}

var (
	general = ubl.RoomSummary{RoomID: "r:general", Name: "general", Mode: ubl.ModeInternal, CreatedAt: now}
	owner   = ubl.Member{UserID: "u:ana", Name: "Ana", Email: "ana@acme.com", Role: ubl.RoleOwner, Since: now}
	member  = ubl.Member{UserID: "u:bob", Email: "bob@acme.com", Role: ubl.RoleMember, Since: now}
	receipt = ubl.Receipt{Shard: "0", Seq: 1042, CID: ubl.CID(nil), HeadHash: ubl.NextHead(ubl.Genesis, ubl.CID(nil)), Time: now}
)

func message(seq int64, text string) json.RawMessage {
	m := ubl.Message{MsgID: ubl.MessageID(fmt.Sprintf("m:%d", seq)), TenantID: "t:acme.com", RoomID: "r:general", RoomSeq: seq,
		SenderID: "u:ana", SentAt: now, Type: ubl.TypeText, Body: ubl.Body{Text: text}, Receipt: receipt}
	return m.AppendJSON(nil)
}

// saidID is the id of the entry at 42.
const saidID = ubl.MessageID("m:00000000-002a-8000-8000-000000000000")

// bobsID is that of the entry at 7, which bob has written.
const bobsID = ubl.MessageID("m:00000000-0007-8000-8000-000000000000")

// formID names entry 51, which is a form.
const formID = ubl.MessageID("m:00000000-0033-8000-8000-000000000000")

// pollID is that of the entry at 50, which is a poll.
const pollID = ubl.MessageID("m:00000000-0032-8000-8000-000000000000")

func (s *actors) entries(c ubl.ReadHistory) *ubl.HistoryPage {
	var m ubl.Message
	if err := json.Unmarshal(message(42, "hello"), &m); err != nil {
		panic(err)
	}
	m.MsgID = saidID
	if c.After != nil && *c.After == 6 {
		m.MsgID, m.SenderID, m.RoomSeq = bobsID, "u:bob", 7
		return &ubl.HistoryPage{Messages: make([]json.RawMessage, 1), Entries: []json.RawMessage{m.Entry(ubl.Salt{1}).Encode()}, FirstSeq: 7, LastSeq: 7, Head: ubl.Head{LastSeq: 42, AvailableFrom: 1}}
	}
	if c.After != nil && *c.After == 49 {
		e := m.Entry(ubl.Salt{1})
		body := ubl.PollContent(ubl.PollBody{Question: "Where?", Options: []string{"Here", "There"}})
		e.ID, e.RoomSeq, e.Body = pollID, 50, &body
		e.Poll = &ubl.PollState{By: [][]ubl.UserID{{"u:ana"}, {}}, Counts: []int64{1, 0}, Mine: []int{1}, Voters: 1}
		return &ubl.HistoryPage{Messages: make([]json.RawMessage, 1), Entries: []json.RawMessage{e.Encode()}, FirstSeq: 50, LastSeq: 50, Head: ubl.Head{LastSeq: 50, AvailableFrom: 1}}
	}
	page := &ubl.HistoryPage{Messages: make([]json.RawMessage, 1), Entries: []json.RawMessage{m.Entry(ubl.Salt{1}).Encode()},
		FirstSeq: 42, LastSeq: 42, Head: ubl.Head{LastSeq: 42, AvailableFrom: 42}}
	if c.After != nil && *c.After >= 42 {
		return &ubl.HistoryPage{Head: page.Head}
	}
	return page
}

// agreement is a record of which the caller is the owner.
func agreement(to ubl.Name, status string) *ubl.AgreementView {
	a := ubl.Agreement{ID: "a:tenant:t:acme.com", Type: ubl.TenantLicense, TenantID: "t:acme.com", CreatedAt: now, CreatedBy: "u:ana",
		Status: status, Terms: (&ubl.ToolAccess{Tool: "messenger.send", Allowed: true}).Terms(), Members: map[ubl.UserID]ubl.Member{"u:bob": member, "u:ana": {UserID: "u:ana", Email: "ana@acme.com", Role: ubl.RoleOwner, Since: now}}}
	if room := ubl.RoomID(to.Local()); room.Valid() {
		a.ID, a.Type = ubl.RoomAgreement(room), ubl.RoomGovernance
	}
	switch c := ubl.ContainerID(to.Local()); {
	case c == wallet.ContainerID:
		a.ID, a.Type, a.Physics = ubl.WalletKind().GovernedBy(c), ubl.WalletAgreementType, &wallet.Physics
	case c.Valid():
		a.ID, a.Type, a.Physics = ubl.WorkspaceKind().GovernedBy(c), ubl.WorkspaceAgreementType, &workspace.Physics
	}
	if status == ubl.AgreementEnded {
		ended := now
		a.EndedAt = &ended
	}
	return a.View([]ubl.Change{{N: 1, Did: ubl.DidRoomCreate, At: now, By: "u:ana", UserID: "u:ana", Role: ubl.RoleOwner, Receipt: receipt}})
}

// held is the record with the id where the actor holds others than its own, as
// a Tenant does those of tools.
func held(own *ubl.AgreementView, id ubl.AgreementID) *ubl.AgreementView {
	if strings.HasPrefix(string(id), "a:tool:") {
		own.ID, own.Type = id, ubl.ToolAccessType
	}
	return own
}

func (s *actors) answer(to ubl.Name, cmd ubl.Command) (any, error) {
	switch c := cmd.(type) {
	case ubl.GetTenant, ubl.SetDefaults:
		return &ubl.Tenant{TenantID: "t:acme.com", Type: ubl.TenantCustomer, CreatedAt: now,
			Defaults: ubl.TenantDefaults{RoomMode: ubl.ModeInternal, RetentionDays: 30, MaxMessageBytes: 8000}}, nil
	case ubl.ListDeadLetters:
		return []ubl.DeadLetter{{TenantID: to.Group().Tenant, Kind: ubl.DeadAlarm, Subject: "r:general", Key: "retention", Attempts: 20, Code: ubl.CodeInternal, Since: now}}, nil
	case ubl.Redrive, ubl.Discard:
		return nil, nil
	case ubl.ListMembers:
		return slices.DeleteFunc([]ubl.Member{owner, member}, func(m ubl.Member) bool {
			return len(c.Only) > 0 && !slices.Contains(c.Only, m.UserID)
		}), nil
	case ubl.SetPresent:
		return &ubl.Presence{UserID: "u:ana", Until: now.Add(ubl.PresentFor)}, nil
	case ubl.ListPresent:
		return []ubl.Presence{{UserID: "u:ana", Until: now.Add(ubl.PresentFor)}, {UserID: "u:bob", Until: now.Add(time.Minute)}}, nil
	case ubl.ListFormer:
		return []ubl.FormerMember{{UserID: "u:cem", Name: "Cem", Alike: true}, {UserID: "u:dora"}}, nil
	case ubl.FindMember:
		m := member
		switch c.UserID {
		case owner.UserID:
			m = owner
		case root.UserID:
			m = ubl.Member{UserID: root.UserID, Email: root.Email, Role: ubl.RoleOwner}
		}
		return &m, nil
	case ubl.SetTenantMember:
		m := member
		if c.Name != nil {
			m.Name = *c.Name
		}
		return &m, nil
	case ubl.RemoveTenantMember, ubl.JoinRoom, ubl.SetMember, ubl.RemoveMember:
		m := member
		return &m, nil
	case ubl.AddMember:
		return &c.Member, nil
	case ubl.ListRooms:
		return s.rooms(c.Details), nil
	case ubl.OpenDirect:
		id, direct := ubl.DirectRoom(append(c.With, c.Who.UserID))
		return &ubl.RoomSummary{RoomID: id, Mode: ubl.ModeInternal, CreatedAt: now, Direct: direct}, nil
	case ubl.CreateRoom:
		return &ubl.RoomSummary{RoomID: ubl.RoomSlug(c.Name), Name: c.Name, Mode: ubl.ModeInternal, CreatedAt: now}, nil
	case ubl.GetRoom, ubl.SetRoomPolicy, ubl.DescribeRoom:
		return &ubl.Room{RoomSummary: general, TenantID: "t:acme.com", Physics: new(ubl.RoomPhysics()), LastSeq: 2, AvailableFrom: 1,
			Policy: ubl.RoomPolicy{MaxMessageBytes: 8000, Join: ubl.JoinTenant}}, nil
	case ubl.GetAgreement:
		v := held(agreement(to, ubl.AgreementInForce), c.Agreement)
		if c.Brief {
			v.History = nil
		}
		return v, nil
	case ubl.ProposeTerms, ubl.AcceptTerms, ubl.WithdrawTerms:
		return agreement(to, ubl.AgreementInForce), nil
	case ubl.EndAgreement:
		return held(agreement(to, ubl.AgreementEnded), c.Agreement), nil
	case ubl.SendMessage:
		if f := c.Forward; f != nil {
			if f.Copy == nil {
				return nil, ubl.Errorf(f.Refused, "%s", f.Why)
			}
			m := ubl.Message{MsgID: "m:42", TenantID: "t:acme.com", RoomID: "r:general", RoomSeq: 42, SenderID: "u:ana", SentAt: now, Type: ubl.TypeText, Receipt: receipt}
			m.Forwarded, m.Body.Text = f.Copy.Under(c.Text, f.Copy.Text)
			return &ubl.Sent{Message: m.AppendJSON(nil), RoomSeq: 42}, nil
		}
		return &ubl.Sent{Message: message(42, c.Text), RoomSeq: 42}, nil
	case ubl.PostEntry:
		e := ubl.Entry{AuthorID: "u:ana", Body: &c.Body, ID: saidID, Kind: ubl.EntryKind, Receipt: receipt, RoomID: "r:general", RoomSeq: 43,
			Salt: ubl.Salt{1}, SentAt: now, TenantID: "t:acme.com", Type: c.Type}
		if c.Target != "" {
			e.Target = &c.Target
		}
		if c.Type == ubl.EntryAnswer { // the room keeps what it says
			*e.Body, e.Salt = ubl.KeptAnswerContent(), ubl.Salt{}
		}
		if c.Type == ubl.EntryPollEnd { // the room counts
			*e.Body = ubl.PollEndContent(&ubl.PollResult{Counts: []int64{1, 0}, Voters: 1})
		}
		return &ubl.Posted{Entry: e.Encode(), RoomSeq: 43}, nil
	case ubl.ReadHistory:
		if c.Entries {
			return s.entries(c), nil
		}
		next := int64(41)
		return &ubl.HistoryPage{Messages: []json.RawMessage{message(41, "<b>&\u2028"), message(42, "hello")}, FirstSeq: 41, LastSeq: 42,
			NextCursor: &next, Head: ubl.Head{LastSeq: 42, AvailableFrom: 1}}, nil
	}
	switch c := cmd.(type) {
	case ubl.CopyMessage:
		if c.MsgID != saidID {
			return nil, ubl.Errorf(ubl.CodeNotFound, "there is no such message in that room")
		}
		return &ubl.MessageCopy{Forwarded: ubl.Forwarded{At: now, AuthorID: "u:bob"}, Text: "hello"}, nil
	case ubl.ReadAnswers:
		if c.Form != formID {
			return nil, ubl.Errorf(ubl.CodeNotFound, "there is no such form in this room")
		}
		e := ubl.Entry{AuthorID: "u:ana", ID: formID, Kind: ubl.EntryKind, Receipt: receipt, RoomID: "r:general", RoomSeq: 51, Salt: ubl.Salt{1}, SentAt: now, TenantID: "t:acme.com", Type: ubl.EntryMessage}
		body := ubl.FormContent(ubl.FormBody{Text: "May I?", Fields: []ubl.FormField{{Name: "ok", Label: "OK", Type: ubl.FieldButton, Options: []string{"Yes", "No"}}}})
		mine := ubl.FormAnswer{AuthorID: "u:ana", EntryID: saidID, Receipt: receipt, RoomSeq: 52, Salt: ubl.Salt{2}, SentAt: now, Values: json.RawMessage(`{"ok":"Yes"}`)}
		e.Body, e.Form = &body, &ubl.FormState{Answered: 1, By: []ubl.UserID{"u:ana"}, Mine: &mine}
		return &ubl.AnswerPage{Form: e.Encode(), Answers: []ubl.FormAnswer{mine}}, nil
	case ubl.ReadThread:
		next := int64(43)
		return &ubl.ThreadPage{Root: s.entries(ubl.ReadHistory{}).Entries[0], Entries: s.entries(ubl.ReadHistory{}).Entries[1:], Replies: 7, NextCursor: &next}, nil
	case ubl.ListPins:
		next := int64(42)
		return &ubl.PinPage{Entries: s.entries(ubl.ReadHistory{}).Entries[:1], NextCursor: &next}, nil
	case ubl.SearchMessages:
		return &ubl.MessageHits{Next: "WyJuZXdlc3QiLCIwIl0", Receipt: receipt, Salt: ubl.Salt{1}, Hits: []*ubl.MessageHit{{
			AuthorID: "u:ana", EntryID: saidID, RoomName: "general", Score: 1420, SentAt: now, Snippet: "The plan <b>",
			Highlights: []ubl.Highlight{{Start: 4, End: 8}}, Place: ubl.Place{RoomID: "r:general", RoomSeq: 41, From: 31, To: 42},
		}}}, nil
	case ubl.MarkRead:
		return &ubl.ReadState{ReadSeq: c.Seq, Unread: 2, Mentions: 1}, nil
	case ubl.SetTyping:
		return &ubl.Typing{UserID: "u:ana", Until: now.Add(ubl.TypingFor)}, nil
	case ubl.BeginRoomCall:
		return &ubl.RoomCall{BeganAt: now, BeganBy: "u:ana", CallID: "41"}, nil
	case ubl.BeInRoomCall:
		return &ubl.CallNews{InCall: ubl.InCall{CallID: c.CallID, News: []string{}, People: []ubl.Caller{{Session: c.Session, UserID: "u:ana"}, {Session: "desk-0815", UserID: "u:bob"}}},
			Signals: []ubl.Signal{{Data: "{}", From: "desk-0815", N: 1}}}, nil
	case ubl.EndRoomCall:
		return &ubl.CallEnd{CallID: c.CallID}, nil
	case ubl.ListReaders:
		return []ubl.ReadMark{{UserID: "u:ana", ReadSeq: 42}, {UserID: "u:bob", ReadSeq: 41}}, nil
	}
	if answer, ok := answerHouse(to, cmd); ok {
		return answer, nil
	}
	if answer, ok := answerFamilies(cmd); ok {
		return answer, nil
	}
	if answer, ok := answerDomain(cmd); ok {
		return answer, nil
	}
	if answer, ok := s.answerInvitation(cmd); ok {
		return answer, nil
	}
	return s.answerLedgerOrToken(cmd)
}

var passkey = ubl.Passkey{ID: "p:00112233445566778899aabbccddeeff", Name: "My phone", CreatedAt: now}

func (s *actors) rooms(details bool) []ubl.RoomEntry {
	out := []ubl.RoomEntry{{RoomSummary: general, Member: true, Read: &ubl.ReadState{ReadSeq: 41, Unread: 1}}, {RoomSummary: ubl.RoomSummary{RoomID: "r:open", Name: "Open", Mode: ubl.ModeInternal, CreatedAt: now}}}
	if details {
		out[0].LastSeq, out[0].LastMessage, out[0].Messages = 42, message(42, "<b>&\u2028"), 40
		spoiled := ubl.RoomSummary{RoomID: "r:spoiled", Name: "Spoiled", Mode: ubl.ModeInternal, CreatedAt: now}
		out = append(out, ubl.RoomEntry{RoomSummary: spoiled, Member: true, Failed: ubl.CodeInternal, FailedWhy: "stored data is damaged"})
	}
	return out
}

func (s *actors) answerLedgerOrToken(cmd ubl.Command) (any, error) {
	switch c := cmd.(type) {
	case ubl.GetReceipt:
		return &ubl.ReceiptPair{Seq: 1, Atoms: s.atoms[:2]}, nil
	case ubl.GetLedgerHead:
		return s.head(), nil
	case ubl.ReadAtoms:
		if s.failFrom > 0 && c.From >= s.failFrom {
			return nil, ubl.Errorf(ubl.CodeUnavailable, "the store is closed")
		}
		if s.damagedAt > 0 && c.From <= s.damagedAt && s.damagedAt < c.From+int64(c.Limit) {
			return nil, ubl.Errorf(ubl.CodeInternal, "stored data is damaged")
		}
		from := min(c.From-1, int64(len(s.atoms)))
		to := min(from+int64(c.Limit), int64(len(s.atoms)))
		return &ubl.AtomPage{From: c.From, Atoms: s.atoms[from:to], Head: s.head()}, nil
	case ubl.ListPasskeys:
		return &ubl.Passkeys{Handle: []byte("handle"), List: []*ubl.PasskeyRecord{{Passkey: passkey, Handle: []byte("handle"), Who: ana}}}, nil
	case ubl.RemovePasskey:
		return &passkey, nil
	case ubl.CreateServiceToken:
		if s.known != nil {
			return s.known, nil
		}
		return &ubl.ServiceToken{ClientID: c.ClientID, Name: c.Name, UserID: "u:svc", CreatedAt: now, CreatedBy: "u:ana", ExpiresAt: c.ExpiresAt, Mandate: c.Mandate}, nil
	case ubl.SetMandate:
		return &ubl.ServiceToken{ClientID: c.ClientID, Name: "bot", UserID: "u:svc", CreatedAt: now, CreatedBy: "u:ana", Mandate: &c.Mandate}, nil
	case ubl.SetHeir:
		return &ubl.Member{UserID: c.Heir.UserID}, nil
	case ubl.ListSealed:
		return []ubl.SealedPlace{{AgreementID: "a:room:r:plans", Type: ubl.RoomGovernance, ID: "r:plans", Name: "Plans", SealedAt: now},
			{AgreementID: "a:wallet:k:cash", Type: ubl.WalletAgreementType, ID: "k:cash", Name: "Cash", SealedAt: now}}, nil
	case ubl.NameHeir:
		return &ubl.Member{UserID: c.UserID, Role: ubl.RoleOwner, Since: now}, nil
	case ubl.RenewServiceToken:
		t := ubl.ServiceToken{ClientID: c.ClientID, Name: "bot", UserID: "u:svc", CreatedAt: now, CreatedBy: "u:eve", KeptBy: "u:ana", ExpiresAt: c.ExpiresAt}
		return &ubl.ServiceRenewed{Token: t, SecretHash: c.SecretHash}, nil
	case ubl.RevokeServiceToken:
		revoked := now
		return &ubl.ServiceToken{ClientID: c.ClientID, Name: "bot", UserID: "u:svc", CreatedAt: now, CreatedBy: "u:ana", RevokedAt: &revoked}, nil
	case ubl.ListServiceTokens:
		ended := now
		return []ubl.ServiceToken{
			{ClientID: "c1", Name: "bot", UserID: "u:svc", CreatedAt: now, CreatedBy: "u:ana", EndsWith: []ubl.UserID{"u:ana"},
				Mandate: &ubl.Mandate{Sets: []string{}, Tools: []string{"messenger.*"}, Places: []string{"r:general"}, PerMinute: 60}},
			{ClientID: "c2", Name: "bobs", UserID: "u:svc2", CreatedAt: now, CreatedBy: "u:bob", KeptBy: "u:ana", RevokedAt: &ended, EndsWith: []ubl.UserID{"u:bob"}},
		}, nil
	case ubl.ListTokens:
		return []ubl.PlatformToken{
			{JTI: "j2", UserID: "u:ana", TenantID: "t:acme.com", CreatedAt: now, ExpiresAt: now + 1, Kind: ubl.TokenSession, Label: "Safari on iPhone", Method: ubl.SignInPasskey, Turn: 3},
			{JTI: "j1", UserID: "u:ana", TenantID: "t:acme.com", CreatedAt: now, ExpiresAt: now + 1},
		}, nil
	case ubl.RevokeTokens:
		return 2, nil
	case ubl.RevokeToken:
		return nil, nil
	}
	s.t.Errorf("%T was not expected: say here what it is answered", cmd)
	return nil, ubl.Errorf(ubl.CodeInternal, "not scripted")
}

// head is computed from the atoms, as anyone can.
func (s *actors) head() ubl.LedgerHead {
	h := ubl.LedgerHead{HeadHash: ubl.Genesis}
	if n := len(s.atoms); n > 0 && s.headed == &s.atoms[n-1] {
		return s.newest
	}
	for i, atom := range s.atoms {
		var a struct{ CID string }
		if err := json.Unmarshal(atom, &a); err != nil {
			s.t.Fatal(err)
		}
		h = ubl.LedgerHead{Seq: h.Seq + 1, HeadHash: ubl.NextHead(h.HeadHash, a.CID)}
		s.headed, s.newest = &s.atoms[i], h
	}
	return h
}

// chain makes a ledger of n sends, two atoms each.
func chain(n int) []json.RawMessage {
	var atoms []json.RawMessage
	head := ubl.Genesis
	for i := range n {
		action := ubl.Action{Shard: ubl.DefaultShard, TenantID: "t:acme.com", AgreementID: "a:room:r:general", Did: ubl.DidSend, PrevHash: head, RequestID: "req:1234",
			Status: ubl.StatusExecuted, When: now, Who: ana.Author(), This: ubl.Fields{ubl.Str("body_hash", ubl.BodyHash([]byte("{}"))),
				ubl.Str("msg_id", "m:1"), ubl.Str("room_id", "r:general"), ubl.Int("room_seq", int64(i+1))}}
		a, cid := action.Seal()
		head = ubl.NextHead(head, cid)
		effect := ubl.Effect{Shard: ubl.DefaultShard, TenantID: "t:acme.com", Outcome: ubl.OutcomeOK, PrevHash: head, RefActionCID: cid, When: now,
			Effects:  []ubl.Fields{{ubl.Str("op", "room.append"), ubl.Str("room_id", "r:general"), ubl.Int("room_seq", int64(i+1))}},
			Pointers: ubl.Fields{ubl.Str("msg_id", "m:1")}}
		e, cid := effect.Seal()
		head = ubl.NextHead(head, cid)
		atoms = append(atoms, a, e)
	}
	return atoms
}

// server is the API as its parent mounts it.
type server struct {
	*actors
	files
	api    *API
	router *chi.Mux
	acts   []envelope.Act // those of api, once asked for
	trial  bool           // it offers something else than the families of the product
}

// zeros is a random source that is none, so that answers can be compared.
type zeros struct{}

func (zeros) Read(b []byte) (int, error) {
	clear(b)
	return len(b), nil
}

// newServer offers what the families of the product do, or in its place what a trial does.
func newServer(t testing.TB, trial ...offer.Operation) *server {
	s := &server{actors: &actors{t: t, atoms: chain(2)}, trial: len(trial) > 0}
	offers := trial
	if !s.trial {
		offers = families.All.Offers()
	}
	s.openFiles(t)
	s.api = New(Options{Asker: s.actors, Uploads: known{s.uploads, s.actors}, Blobs: s.folder, Cluster: s.actors, Office: s.actors, Portal: outside{s.actors}, Previews: onePreview{}, Version: "1.2.3", Random: zeros{}, Now: func() time.Time { return now.Std() },
		NewServiceToken: func(ubl.TenantID, io.Reader) (string, string, string, error) { return "c1", "s3cret", "hash", nil },
		NewInvitation:   drawInvitation,
		Domains:         map[string]ubl.TenantID{"acme.example": "t:acme.com", "given.example": "t:else"}, DNS: nameserver{}, Offers: offers})
	s.router = chi.NewRouter()
	s.router.Route("/api", s.api.Mount)
	s.router.Handle("/schemas/*", s.api.Schemas())
	return s
}

// do sends a request as the parent hands it over.
func (s *server) do(method, target, body string, header ...string) *httptest.ResponseRecorder {
	return s.doWith(ana, method, target, body, header...)
}

// doWith sends a request of an owner of a tenant.
func (s *server) doWith(who ubl.Identity, method, target, body string, header ...string) *httptest.ResponseRecorder {
	r := httptest.NewRequest(method, target, nil)
	if body != "" {
		r = httptest.NewRequest(method, target, strings.NewReader(body))
		r.Header.Set("Content-Type", "application/json")
	}
	for i := 0; i+1 < len(header); i += 2 {
		r.Header.Set(header[i], header[i+1])
	}
	ctx := envelope.WithCaller(r.Context(), let(&envelope.Caller{Identity: who, ExpiresAt: now.Add(time.Hour)}, ubl.RoleOwner))
	return s.serve(r.WithContext(ctx))
}

func (s *server) serve(r *http.Request) *httptest.ResponseRecorder {
	key := "req:1234"
	if k := r.Header.Get("Idempotency-Key"); k != "" {
		key = k
	}
	w := httptest.NewRecorder()
	ctx := envelope.WithRequest(r.Context(), &envelope.Request{ID: "req:1234", Key: key, At: now})
	s.router.ServeHTTP(w, r.WithContext(ctx))
	return w
}

// codeIn is the error code of an answer; the test fails where it is no error
// of ours.
func codeIn(t *testing.T, w *httptest.ResponseRecorder) ubl.Code {
	t.Helper()
	var body envelope.ErrorBody
	dec := json.NewDecoder(bytes.NewReader(w.Body.Bytes()))
	dec.DisallowUnknownFields()
	if err := dec.Decode(&body); err != nil {
		t.Fatalf("answer %d %q is not an error in the envelope: %v", w.Code, w.Body, err)
	}
	if body.RequestID != "req:1234" || body.ServerTime != now {
		t.Errorf("the error lacks its request id or time: %s", w.Body)
	}
	return body.Error.Code
}

// as is the request of another caller than ana.
func as(r *http.Request, id ubl.Identity) *http.Request {
	return r.WithContext(envelope.WithCaller(r.Context(), let(&envelope.Caller{Identity: id}, ubl.RoleMember)))
}

// leavingActors are those of a caller who has just left every room.
type leavingActors struct{ *actors }

func (l *leavingActors) Ask(ctx context.Context, to ubl.Name, cmd ubl.Command) (any, error) {
	if _, ok := cmd.(ubl.GetAgreement); ok && to.Local() != "" {
		return nil, ubl.Errorf(ubl.CodeNotAMember, "the caller is not a member")
	}
	return l.actors.Ask(ctx, to, cmd)
}

// let is a caller whom their tenant has let in.
func let(c *envelope.Caller, role ubl.Role) *envelope.Caller {
	c.Let(role)
	return c
}

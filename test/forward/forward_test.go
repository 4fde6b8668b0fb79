// Package forward has the real actors asked as from another node: every
// command, answer and error goes over the wire and back.
package forward

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/json"
	"net/http"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"ubl"
	"ubl/actors/families"
	"ubl/cluster/wire"
	"ubl/test/harness"
)

// forwarder is an Asker on another node than the actors: all that it asks and
// is answered goes through bytes. What comes out must be what went in.
type forwarder struct {
	t     testing.TB
	wire  *wire.Registry
	actor ubl.Asker

	mu sync.Mutex
	// answered counts commands that were not refused, answers their answers.
	answered, answers map[string]int
}

func newForwarder(t testing.TB, actor ubl.Asker) *forwarder {
	r, err := wire.NewRegistry(families.All.Commands(), families.All.Answers())
	if err != nil {
		t.Fatal(err)
	}
	return &forwarder{t: t, wire: r, actor: actor, answered: map[string]int{}, answers: map[string]int{}}
}

func (f *forwarder) Ask(ctx context.Context, to ubl.Name, cmd ubl.Command) (any, error) {
	f.t.Helper()
	answer, err := f.actor.Ask(ctx, to, f.carryCommand(cmd))
	f.mu.Lock()
	defer f.mu.Unlock()
	if err != nil {
		return nil, f.carryError(err)
	}
	f.answered[typeName(cmd)]++
	f.answers[typeName(answer)]++
	return f.carryAnswer(cmd, answer), nil
}

func (f *forwarder) carryCommand(cmd ubl.Command) ubl.Command {
	f.t.Helper()
	data, err := f.wire.EncodeCommand(nil, cmd)
	if err != nil {
		f.t.Fatal(err)
	}
	got, err := f.wire.DecodeCommand(data)
	if err != nil || !reflect.DeepEqual(got, cmd) {
		f.t.Fatalf("asked %#v, arrived as %#v: %v", cmd, got, err)
	}
	return got
}

func (f *forwarder) carryAnswer(to ubl.Command, answer any) any {
	f.t.Helper()
	data, err := f.wire.EncodeAnswer(nil, answer)
	if err != nil {
		f.t.Fatalf("%T: %v", to, err)
	}
	got, err := f.wire.DecodeAnswer(data)
	if err != nil || !reflect.DeepEqual(got, answer) {
		f.t.Fatalf("%T was answered %#v, arrived as %#v: %v", to, answer, got, err)
	}
	return got
}

func (f *forwarder) carryError(sent error) error {
	f.t.Helper()
	got, err := wire.DecodeError(wire.EncodeError(nil, sent))
	want := ubl.AsError(sent)
	if err != nil || got.Code != want.Code || got.Message != want.Message || !reflect.DeepEqual(got.Details, want.Details) {
		f.t.Fatalf("the error %v arrived as %v: %v", sent, got, err)
	}
	return got
}

func typeName(v any) string {
	if v == nil {
		return "nil"
	}
	return reflect.TypeOf(v).String()
}

// must asks and fails the test on an error.
func must[R any](f *forwarder, to ubl.Name, cmd ubl.Command) R {
	f.t.Helper()
	answer, err := ubl.Ask[R](context.Background(), f, to, cmd)
	if err != nil {
		f.t.Fatalf("%T: %v", cmd, err)
	}
	return answer
}

// nothing asks what is answered with nil.
func nothing(f *forwarder, to ubl.Name, cmd ubl.Command) {
	f.t.Helper()
	if answer, err := f.Ask(context.Background(), to, cmd); err != nil || answer != nil {
		f.t.Fatalf("%T: %v, %v", cmd, answer, err)
	}
}

// refused asks and wants the error code.
func refused(f *forwarder, want ubl.Code, to ubl.Name, cmd ubl.Command) {
	f.t.Helper()
	if _, err := f.Ask(context.Background(), to, cmd); ubl.CodeOf(err) != want {
		f.t.Fatalf("%T was answered %v, want %s", cmd, err, want)
	}
}

// TestEveryCommandIsForwarded: a tenant's whole life, asked from elsewhere.
// Afterwards each command of the list was answered, and each answer of the list
// was seen: neither list has more or less than the actors.
func TestEveryCommandIsForwarded(t *testing.T) {
	h := harness.Open(t, harness.Options{Push: anyBrowser{}, Mail: anyMailer{}, Webhooks: harness.Answering(http.StatusOK)})
	w := &world{forwarder: newForwarder(t, h), h: h, ana: harness.User("ana@example.com"), bob: harness.User("bob@example.com")}
	w.tenant, w.general = ubl.TenantName(w.ana.TenantID), ubl.RoomName(w.ana.TenantID, ubl.GeneralRoom)

	w.enter()
	w.talk()
	w.manageRooms()
	w.containers()
	w.shown()
	w.tools()
	w.portal()
	w.person()
	w.webhooks()
	w.manageMembers()
	w.manageTokens()
	w.manageAgents()
	w.manageInvitations()
	w.platform()
	w.deadLetters()
	w.readLedger()
	w.end()

	for _, c := range families.All.Commands() {
		if w.answered[typeName(c)] == 0 {
			t.Errorf("%T was never answered", c)
		}
	}
	for _, a := range families.All.Answers() {
		if w.answers[typeName(a)] == 0 {
			t.Errorf("nothing was answered with %s", typeName(a))
		}
	}
	h.VerifyLedger(w.ana.TenantID)
}

// world is a tenant of two.
type world struct {
	*forwarder
	h        *harness.House
	ana, bob ubl.Identity
	// guest has proven the address of an invitation, as proven says.
	guest           ubl.Identity
	proven          ubl.Home
	tenant, general ubl.Name
}

func (w *world) enter() {
	for _, who := range []ubl.Identity{w.ana, w.bob} {
		e := must[*ubl.Entered](w.forwarder, w.tenant, ubl.Enter{Request: w.h.Request(who), Act: true})
		if (e.Role == ubl.RoleOwner) != (who.UserID == w.ana.UserID) {
			w.t.Errorf("%s enters as %s", who.Email, e.Role)
		}
	}
	stranger := harness.User("eve@example.org")
	refused(w.forwarder, ubl.CodeForbidden, w.tenant, ubl.GetTenant{Who: stranger})
	refused(w.forwarder, ubl.CodeNotFound, ubl.TenantName("t:nobody.example"), ubl.GetTenant{Who: stranger})
}

// form has one answered, in a room of its own: what is said in the other is counted.
func (w *world) form() {
	room := harness.Must[*ubl.RoomSummary](w.h, w.tenant, ubl.CreateRoom{Request: w.h.Request(w.ana), Name: "Trips"})
	at := ubl.RoomName(w.ana.TenantID, room.RoomID)
	body := ubl.FormBody{Text: "Are you coming?", Fields: []ubl.FormField{{Name: "coming", Label: "Coming", Type: ubl.FieldYesNo}}}
	posted := must[*ubl.Posted](w.forwarder, at, ubl.PostEntry{Request: w.h.Request(w.ana), Type: ubl.EntryMessage, Body: ubl.FormContent(body)})
	var form ubl.Entry
	if err := json.Unmarshal(posted.Entry, &form); err != nil {
		w.t.Fatal(err)
	}
	harness.Must[*ubl.Posted](w.h, at, ubl.PostEntry{Request: w.h.Request(w.ana), Type: ubl.EntryAnswer, Target: form.ID, Body: ubl.AnswerContent(json.RawMessage(`{"coming":true}`))})
	if page := must[*ubl.AnswerPage](w.forwarder, at, ubl.ReadAnswers{Who: w.ana, Form: form.ID, Limit: 5}); len(page.Answers) != 1 || page.NextCursor != nil {
		w.t.Errorf("the form has the answers %+v", page.Answers)
	}
}

func (w *world) talk() {
	send := ubl.SendMessage{Request: w.h.Request(w.ana), Text: "hello \u2028 <b>"}
	first := must[*ubl.Sent](w.forwarder, w.general, send)
	if again := must[*ubl.Sent](w.forwarder, w.general, send); !reflect.DeepEqual(again, first) {
		w.t.Errorf("the same key was answered %s, then %s", first.Message, again.Message)
	}
	var said ubl.Message
	if err := json.Unmarshal(first.Message, &said); err != nil {
		w.t.Fatal(err)
	}
	liked := must[*ubl.Posted](w.forwarder, w.general, ubl.PostEntry{Request: w.h.Request(w.bob), Type: ubl.EntryReaction, Target: said.MsgID, Body: ubl.ReactionContent("👍")})
	send.Text = "something else"
	refused(w.forwarder, ubl.CodeIdempotencyConflict, w.general, send)
	after := int64(0)
	page := must[*ubl.HistoryPage](w.forwarder, w.general, ubl.ReadHistory{Who: w.ana, After: &after, Limit: 10})
	if len(page.Messages) != 5 || page.Messages[4] != nil || string(page.Entries[4]) != string(liked.Entry) || page.NextCursor != nil {
		w.t.Errorf("the room's beginning is %d messages, entries %s, cursor %v", len(page.Messages), page.Entries, page.NextCursor)
	}
	page = must[*ubl.HistoryPage](w.forwarder, w.general, ubl.ReadHistory{Who: w.bob, Limit: 1})
	if len(page.Messages) != 1 || page.NextCursor == nil {
		w.t.Errorf("the newest page is %d messages, cursor %v", len(page.Messages), page.NextCursor)
	}
	harness.Must[*ubl.Sent](w.h, w.general, ubl.SendMessage{Request: w.h.Request(w.ana), Text: "an answer", Thread: said.MsgID})
	if thread := must[*ubl.ThreadPage](w.forwarder, w.general, ubl.ReadThread{Who: w.bob, Root: said.MsgID, Limit: 5}); thread.Replies != 1 || len(thread.Entries) != 1 {
		w.t.Errorf("the thread has %d answers", thread.Replies)
	}
	harness.Must[*ubl.Posted](w.h, w.general, ubl.PostEntry{Request: w.h.Request(w.ana), Type: ubl.EntryPin, Target: said.MsgID, Body: ubl.PinContent(true)})
	if pins := must[*ubl.PinPage](w.forwarder, w.general, ubl.ListPins{Who: w.bob, Limit: 5}); len(pins.Entries) != 1 || pins.NextCursor != nil {
		w.t.Errorf("the pinned messages are %s", pins.Entries)
	}
	w.form()
	hits := must[*ubl.MessageHits](w.forwarder, ubl.TenantName(w.ana.TenantID), ubl.SearchMessages{Request: w.h.Request(w.ana), Query: "an answer"})
	if hits.Receipt.Seq == 0 || hits.Salt.IsZero() {
		w.t.Errorf("a search is answered %+v", hits)
	}
	if state := must[*ubl.ReadState](w.forwarder, w.general, ubl.MarkRead{Request: w.h.Request(w.bob), Seq: 5}); state.ReadSeq != 5 || state.Unread != 0 {
		w.t.Errorf("bob has read %+v", state)
	}
	if typing := must[*ubl.Typing](w.forwarder, w.general, ubl.SetTyping{Who: w.bob, Typing: true}); typing.UserID != w.bob.UserID || typing.Until == 0 {
		w.t.Errorf("bob is writing %+v", typing)
	}
	w.call()
	if marks := must[[]ubl.ReadMark](w.forwarder, w.general, ubl.ListReaders{Who: w.bob}); len(marks) == 0 {
		w.t.Error("nobody has read the room")
	}
	w.sendFile()
	page = must[*ubl.HistoryPage](w.forwarder, w.general, ubl.ReadHistory{Who: w.bob, Limit: 1})
	if head := must[ubl.Head](w.forwarder, w.general, ubl.RoomHead{}); head != page.Head {
		w.t.Errorf("the head is %v and %v", head, page.Head)
	}
	w.forwards(said)
}

// call has bob begin a call, be in it and end it.
func (w *world) call() {
	call := must[*ubl.RoomCall](w.forwarder, w.general, ubl.BeginRoomCall{Request: w.h.Request(w.bob)})
	news := must[*ubl.CallNews](w.forwarder, w.general, ubl.BeInRoomCall{Who: w.bob, CallID: call.CallID, Session: "bobs-phone"})
	if call.BeganBy != w.bob.UserID || len(news.People) != 1 {
		w.t.Errorf("bob began %+v and is in %+v", call, news)
	}
	must[*ubl.CallNews](w.forwarder, w.general, ubl.BeInRoomCall{Who: w.bob, CallID: call.CallID, Session: "bobs-phone", Leaves: true})
	if end := must[*ubl.CallEnd](w.forwarder, w.general, ubl.EndRoomCall{Request: w.h.Request(w.bob), CallID: call.CallID}); end.CallID != call.CallID {
		w.t.Errorf("bob ended %+v", end)
	}
}

// forwards has bob repeat a message in its own room.
func (w *world) forwards(said ubl.Message) {
	source := ubl.MessageRef{MsgID: said.MsgID, RoomID: said.RoomID}
	copied := must[*ubl.MessageCopy](w.forwarder, w.general, ubl.CopyMessage{Who: w.bob, MsgID: said.MsgID})
	sent := must[*ubl.Sent](w.forwarder, w.general, ubl.SendMessage{Request: w.h.Request(w.bob), Text: "see", Forward: &ubl.Forward{MessageRef: source, Copy: copied}})
	after := sent.RoomSeq - 1
	page := must[*ubl.HistoryPage](w.forwarder, w.general, ubl.ReadHistory{Who: w.ana, After: &after, Limit: 1, Entries: true, Sources: true})
	var e ubl.Entry
	if err := json.Unmarshal(page.Entries[0], &e); err != nil || e.Forwarded == nil || e.Forwarded.AuthorID != w.ana.UserID || e.Source == nil || *e.Source != source {
		w.t.Errorf("bob's message is %s (%v)", page.Entries[0], err)
	}
}

func (w *world) sendFile() {
	nothing(w.forwarder, w.general, ubl.PrepareAttachment{Request: w.h.Request(w.ana), Name: "plan.png", Bytes: 3})
	file := ubl.Attachment{Name: "plan.png", Type: "image/png", SHA256: ubl.BlobIDOf(sha256.Sum256([]byte("png"))), Bytes: 3}
	harness.Must[*ubl.Sent](w.h, w.general, ubl.SendMessage{Request: w.h.Request(w.ana), Text: "the plan", Attachments: []ubl.Attachment{file}})
	list := must[*ubl.RoomFileList](w.forwarder, w.general, ubl.ListRoomFiles{Who: w.bob, Limit: 5})
	if len(list.Files) != 1 || list.Files[0].Name != file.Name {
		w.t.Fatalf("the room's files are %+v", list.Files)
	}
	if got := must[*ubl.RoomFile](w.forwarder, w.general, ubl.GetRoomFile{Who: w.bob, FileID: list.Files[0].FileID}); got.SHA256 != file.SHA256 {
		w.t.Errorf("the file is %+v", got)
	}
}

func (w *world) manageRooms() {
	days, bytes, join := 1, 100, ubl.JoinTenant
	must[*ubl.Tenant](w.forwarder, w.tenant, ubl.SetDefaults{Request: w.h.Request(w.ana), Patch: ubl.TenantDefaultsPatch{MaxMessageBytes: &bytes}})
	if got := must[*ubl.Tenant](w.forwarder, w.tenant, ubl.GetTenant{Who: w.bob}); got.Defaults.MaxMessageBytes != bytes {
		w.t.Errorf("the defaults are %+v", got.Defaults)
	}
	made := must[*ubl.RoomSummary](w.forwarder, w.tenant, ubl.CreateRoom{Request: w.h.Request(w.ana), Name: "Plans"})
	plans := ubl.RoomName(w.ana.TenantID, made.RoomID)
	must[*ubl.Room](w.forwarder, plans, ubl.DescribeRoom{Request: w.h.Request(w.ana), Patch: ubl.RoomDescriptionPatch{Topic: new("What comes next")}})
	if card := must[*ubl.RoomCard](w.forwarder, plans, ubl.GetRoomCard{Who: w.ana}); card.Members != 1 || card.ActiveAt == 0 {
		w.t.Errorf("the directory shows %+v", card)
	}
	dm := must[*ubl.RoomSummary](w.forwarder, w.tenant, ubl.OpenDirect{Request: w.h.Request(w.ana), With: []ubl.UserID{w.bob.UserID}})
	if id, direct := ubl.DirectRoom([]ubl.UserID{w.bob.UserID, w.ana.UserID}); dm.RoomID != id || !reflect.DeepEqual(dm.Direct, direct) {
		w.t.Errorf("the direct messages are %+v", dm)
	}
	must[*ubl.Room](w.forwarder, plans, ubl.SetRoomPolicy{Request: w.h.Request(w.ana), Patch: ubl.RoomPolicyPatch{Join: &join, RetentionDays: &days, RetentionHours: new(int)}})
	must[*ubl.Member](w.forwarder, plans, ubl.JoinRoom{Request: w.h.Request(w.bob)})
	if got := must[*ubl.Room](w.forwarder, plans, ubl.GetRoom{Who: w.bob}); got.Policy.Join != join {
		w.t.Errorf("the policy is %+v", got.Policy)
	}
	refused(w.forwarder, ubl.CodeTooLarge, plans, ubl.SendMessage{Request: w.h.Request(w.bob), Text: string(make([]byte, 101))})
	for _, details := range []bool{false, true} {
		if rooms := must[[]ubl.RoomEntry](w.forwarder, w.tenant, ubl.ListRooms{Who: w.bob, Details: details}); len(rooms) != 3 || (rooms[0].LastMessage != nil) != details {
			w.t.Errorf("the rooms are %+v", rooms)
		}
	}
	w.h.Clock.Add(48 * time.Hour)
	if n := must[int](w.forwarder, w.tenant, ubl.SweepRooms{Request: w.h.Request(ubl.Platform())}); n != 0 {
		w.t.Errorf("%d members have been shut out", n)
	}
	if head := must[ubl.Head](w.forwarder, plans, ubl.Sweep{Request: w.h.Request(ubl.Platform())}); head.AvailableFrom != head.LastSeq+1 {
		w.t.Errorf("after its retention the room is at %+v", head)
	}
}

func (w *world) manageMembers() {
	made := must[*ubl.RoomSummary](w.forwarder, w.tenant, ubl.CreateRoom{Request: w.h.Request(w.ana), Name: "closed"})
	closed := ubl.RoomName(w.ana.TenantID, made.RoomID)
	refused(w.forwarder, ubl.CodeNotAMember, closed, ubl.JoinRoom{Request: w.h.Request(w.bob)})
	found := must[*ubl.Member](w.forwarder, w.tenant, ubl.FindMember{Who: w.ana, Email: w.bob.Email})
	must[*ubl.Member](w.forwarder, closed, ubl.AddMember{Request: w.h.Request(w.ana), Member: *found})
	must[*ubl.Member](w.forwarder, closed, ubl.SetMember{Request: w.h.Request(w.ana), UserID: w.bob.UserID, Role: ubl.RoleOwner})
	must[*ubl.Member](w.forwarder, closed, ubl.RemoveMember{Request: w.h.Request(w.ana), UserID: w.bob.UserID})
	// One who left is not welcomed back: the answer is a nil *Member.
	if m := must[*ubl.Member](w.forwarder, closed, ubl.Welcome{Request: w.h.Request(w.bob), Role: ubl.RoleMember}); m != nil {
		w.t.Errorf("welcomed back as %+v", m)
	}
	if m := must[*ubl.Member](w.forwarder, w.general, ubl.Welcome{Request: w.h.Request(w.ana), Role: ubl.RoleMember}); m == nil {
		w.t.Error("a member is not known")
	}
	if all := must[[]ubl.Member](w.forwarder, w.tenant, ubl.ListMembers{Who: w.bob}); len(all) != 2 {
		w.t.Errorf("the members are %+v", all)
	}
	must[*ubl.Member](w.forwarder, w.tenant, ubl.SetTenantMember{Request: w.h.Request(w.ana), UserID: w.bob.UserID, Role: ubl.RoleMember})
	alone := must[*ubl.RoomSummary](w.forwarder, w.tenant, ubl.CreateRoom{Request: w.h.Request(w.bob), Name: "Alone"})
	must[*ubl.Member](w.forwarder, ubl.RoomName(w.ana.TenantID, alone.RoomID), ubl.SetHeir{Request: w.h.Request(w.bob), Agreement: ubl.RoomAgreement(alone.RoomID), Heir: ubl.Member{UserID: "u:nobody"}})
	must[*ubl.Member](w.forwarder, w.tenant, ubl.RemoveTenantMember{Request: w.h.Request(w.ana), UserID: w.bob.UserID})
	if sealed := must[[]ubl.SealedPlace](w.forwarder, w.tenant, ubl.ListSealed{Who: w.ana}); len(sealed) != 1 || sealed[0].ID != string(alone.RoomID) {
		w.t.Errorf("sealed are %+v", sealed)
	}
	must[*ubl.Presence](w.forwarder, w.tenant, ubl.SetPresent{Who: w.ana, Present: true})
	if present := must[[]ubl.Presence](w.forwarder, w.tenant, ubl.ListPresent{Who: w.ana}); len(present) != 1 || present[0].UserID != w.ana.UserID {
		w.t.Errorf("present are %+v", present)
	}
	if former := must[[]ubl.FormerMember](w.forwarder, w.tenant, ubl.ListFormer{Who: w.ana}); len(former) != 1 || former[0].UserID != w.bob.UserID {
		w.t.Errorf("former members are %+v", former)
	}
	refused(w.forwarder, ubl.CodeForbidden, w.tenant, ubl.Enter{Request: w.h.Request(w.bob)})
	must[*ubl.Member](w.forwarder, w.tenant, ubl.NameHeir{Request: w.h.Request(w.ana), Agreement: ubl.RoomAgreement(alone.RoomID), UserID: w.ana.UserID})
}

func (w *world) manageTokens() {
	if none := must[[]ubl.ServiceToken](w.forwarder, w.tenant, ubl.ListServiceTokens{Who: w.ana}); none == nil || len(none) != 0 {
		w.t.Errorf("the tokens are %#v", none)
	}
	ends := ubl.TimeOf(w.h.Clock.Now()).Add(time.Hour)
	must[*ubl.ServiceToken](w.forwarder, w.tenant, ubl.CreateServiceToken{Request: w.h.Request(w.ana), Name: "bot", ClientID: "c1", SecretHash: "00", ExpiresAt: &ends})
	bot := &must[*ubl.ServiceCaller](w.forwarder, w.tenant, ubl.CheckServiceToken{ClientID: "c1", SecretHash: "00"}).Identity
	// What JSON leaves out of an identity is what decides.
	if bot.TenantID != w.ana.TenantID || bot.Issuer == "" || bot.Subject != "c1" {
		w.t.Errorf("the token is %+v", bot)
	}
	must[*ubl.Entered](w.forwarder, w.tenant, ubl.Enter{Request: w.h.Request(*bot)})
	if renewed := must[*ubl.ServiceRenewed](w.forwarder, w.tenant, ubl.RenewServiceToken{Request: w.h.Request(w.ana), ClientID: "c1", SecretHash: "01", Grace: time.Hour}); renewed.SecretHash != "01" {
		w.t.Errorf("renewed as %+v", renewed)
	}
	must[*ubl.ServiceToken](w.forwarder, w.tenant, ubl.RevokeServiceToken{Request: w.h.Request(w.ana), ClientID: "c1"})
	refused(w.forwarder, ubl.CodeUnauthorized, w.tenant, ubl.CheckServiceToken{ClientID: "c1", SecretHash: "00"})
}

// manageAgents connects an agent, whose mandate travels with who asks.
func (w *world) manageAgents() {
	platform := func() ubl.Request { return w.h.Request(ubl.Platform()) }
	mandate := ubl.Mandate{Tools: []string{"messenger.*"}, Places: []string{"r:general"}}
	must[*ubl.ServiceToken](w.forwarder, w.tenant, ubl.ConnectAgent{Request: w.h.Request(w.ana), ClientID: "a1", Name: "helper", Client: "client", CodeHash: "code", Mandate: mandate})
	must[*ubl.ServiceCaller](w.forwarder, w.tenant, ubl.RedeemAgentCode{Request: platform(), ClientID: "a1", Client: "client", CodeHash: "code", FamilyHash: "f", RefreshHash: "1"})
	must[*ubl.ServiceCaller](w.forwarder, w.tenant, ubl.RefreshAgent{Request: platform(), ClientID: "a1", Client: "client", FamilyHash: "f", RefreshHash: "1", NewHash: "2"})
	agent := must[*ubl.ServiceCaller](w.forwarder, w.tenant, ubl.CheckAgent{ClientID: "a1"}).Identity
	refused(w.forwarder, ubl.CodeForbidden, ubl.RoomName(w.ana.TenantID, "r:elsewhere"), ubl.GetRoom{Who: agent})
	mandate.ReadOnly = true
	if t := must[*ubl.ServiceToken](w.forwarder, w.tenant, ubl.SetMandate{Request: w.h.Request(w.ana), ClientID: "a1", Mandate: mandate}); !t.Mandate.ReadOnly {
		w.t.Errorf("the agent's mandate is %+v", t.Mandate)
	}
	must[*ubl.ServiceToken](w.forwarder, w.tenant, ubl.RevokeAgent{Request: platform(), ClientID: "a1", Client: "client", FamilyHash: "f"})
	refused(w.forwarder, ubl.CodeUnauthorized, w.tenant, ubl.CheckAgent{ClientID: "a1"})
}

func (w *world) manageInvitations() {
	guest := harness.User("guest@else.org")
	guest.TenantID = w.ana.TenantID
	invite := func(id ubl.InvitationID) *ubl.Invitation {
		return must[*ubl.Invitation](w.forwarder, w.tenant, ubl.CreateInvitation{Request: w.h.Request(w.ana), InvitationID: id, Invitee: guest,
			Role: ubl.RoleMember, TTL: time.Hour, SecretHash: "of " + string(id)})
	}
	first := invite("i:1")
	if found := must[*ubl.Invitation](w.forwarder, w.tenant, ubl.FindInvitation{SecretHash: "of i:1"}); *found != *first {
		w.t.Errorf("found %+v, want %+v", found, first)
	}
	must[*ubl.Invitation](w.forwarder, w.tenant, ubl.RevokeInvitation{Request: w.h.Request(w.ana), InvitationID: first.ID})
	invite("i:2")
	who := must[*ubl.Identity](w.forwarder, w.tenant, ubl.AcceptInvitation{Request: w.h.Request(ubl.Platform()), SecretHash: "of i:2"})
	if want := ubl.Invited(w.ana.TenantID, "i:2", guest.Email); who.UserID != want.UserID || who.Issuer != want.Issuer || who.Subject != want.Subject {
		w.t.Errorf("who accepts is %+v", who)
	}
	who.TenantID = w.ana.TenantID
	if s := must[*ubl.Standing](w.forwarder, w.tenant, ubl.FindStanding{Who: *who}); *s != (ubl.Standing{Member: true, Unproven: true}) {
		w.t.Errorf("they stand as %+v", s)
	}
	if m := must[*ubl.Member](w.forwarder, w.tenant, ubl.ProveMember{Request: w.h.Request(ubl.Platform()), Member: *who, Verified: guest}); m.Unproven {
		w.t.Errorf("proven they are %+v", m)
	}
	w.guest, w.proven = guest, ubl.Home{TenantID: w.ana.TenantID, UserID: who.UserID}
	if list := must[[]*ubl.Invitation](w.forwarder, w.tenant, ubl.ListInvitations{Who: w.ana}); len(list) != 2 || list[0].RevokedAt == nil || list[1].AcceptedAt == nil {
		w.t.Errorf("listed: %+v", list)
	}
}

func (w *world) platform() {
	core := ubl.TenantName(ubl.CoreTenant)
	must[*ubl.Entered](w.forwarder, core, ubl.Enter{Request: w.h.Request(ubl.Platform()), Act: true})
	must[*ubl.Sent](w.forwarder, ubl.RoomName(ubl.CoreTenant, ubl.OpsRoom), ubl.Announce{Request: w.h.Request(ubl.Platform()), Did: ubl.DidPlatformStart,
		This: ubl.Fields{ubl.Str("node_id", "n1"), ubl.Str("version", "1.0")}, Text: "Node started"})
	token := ubl.PlatformToken{JTI: "j1", UserID: w.ana.UserID, TenantID: w.ana.TenantID, ExpiresAt: ubl.TimeOf(w.h.Clock.Now()).Add(time.Hour)}
	nothing(w.forwarder, core, ubl.AdmitToken{Request: w.h.Request(ubl.Platform()), Token: token})
	nothing(w.forwarder, core, ubl.AdmitToken{Request: w.h.Request(ubl.Platform()), Token: token})
	end := ubl.EndSignIns{Request: w.h.Request(ubl.Platform()), Tenant: w.ana.TenantID, Users: []ubl.UserID{"u:nobody"}}
	if n := must[int](w.forwarder, core, end); n != 0 {
		w.t.Errorf("ended %d sign-ins of nobody", n)
	}
	nothing(w.forwarder, core, ubl.RevokeToken{Request: w.h.Request(w.ana), JTI: "j1"})
	refused(w.forwarder, ubl.CodeUnauthorized, core, ubl.AdmitToken{Request: w.h.Request(ubl.Platform()), Token: token})
	nothing(w.forwarder, core, ubl.KeepHome{Request: w.h.Request(ubl.Platform()), Verified: w.guest, Home: w.proven})
	there := w.proven
	there.Member = true
	if at := must[*ubl.Home](w.forwarder, core, ubl.FindHome{Who: w.guest}); *at != there {
		w.t.Errorf("who was proven belongs to %+v, want %+v", at, there)
	}
	w.domains(core)
	w.sessions(core, token)
	w.passkeys(core)
	w.h.VerifyLedger(ubl.CoreTenant)
}

// domains claims one by DNS, as far as the actors see that.
func (w *world) domains(core ubl.Name) {
	c := must[*ubl.DomainClaim](w.forwarder, w.tenant, ubl.ClaimDomain{Request: w.h.Request(w.ana), Domain: "corp.example", Value: "v"})
	must[*ubl.DomainClaim](w.forwarder, w.tenant, ubl.CheckDomain{Request: w.h.Request(w.ana), Domain: c.Domain})
	must[*ubl.DomainClaim](w.forwarder, w.tenant, ubl.VerifyDomain{Request: w.h.Request(w.ana), Domain: c.Domain, Value: "v"})
	for _, list := range [][]ubl.DomainClaim{
		must[[]ubl.DomainClaim](w.forwarder, w.tenant, ubl.ListDomains{Who: w.ana}),
		must[[]ubl.DomainClaim](w.forwarder, core, ubl.FindDomains{Who: ubl.Platform(), Tenant: w.ana.TenantID}),
	} {
		if len(list) != 1 || !list[0].Verified() || list[0].ClaimedBy != w.ana.UserID {
			w.t.Errorf("the domains are %+v", list)
		}
	}
	must[*ubl.DomainClaim](w.forwarder, w.tenant, ubl.ReleaseDomain{Request: w.h.Request(w.ana), Domain: c.Domain})
	must[*ubl.DomainClaim](w.forwarder, core, ubl.KeepDomain{Request: w.h.Request(ubl.Platform()), By: w.ana, Did: ubl.DidDomainClaim, Domain: c.Domain, Value: "w"})
}

// sessions begins one by a link, lists and ends it.
func (w *world) sessions(core ubl.Name, s ubl.PlatformToken) {
	s.JTI, s.Kind, s.Method, s.Label = "s1", ubl.TokenSession, ubl.SignInLink, "Safari on iPhone"
	s.CreatedAt = s.ExpiresAt.Add(-time.Hour)
	link := ubl.OneTimeLink{Hash: strings.Repeat("a", 64), UserID: s.UserID, TenantID: s.TenantID, Email: w.ana.Email, ExpiresAt: s.ExpiresAt}
	nothing(w.forwarder, core, ubl.OfferLink{Request: w.h.Request(ubl.Platform()), Link: link})
	if found := must[*ubl.OneTimeLink](w.forwarder, core, ubl.FindLink{Who: ubl.Platform(), Hash: link.Hash}); *found != link {
		w.t.Errorf("found %+v, want %+v", found, link)
	}
	nothing(w.forwarder, core, ubl.AdmitToken{Request: w.h.Request(ubl.Platform()), Token: s, Link: link.Hash})
	refused(w.forwarder, ubl.CodeNotFound, core, ubl.FindLink{Who: ubl.Platform(), Hash: link.Hash})
	if mine := must[[]ubl.PlatformToken](w.forwarder, core, ubl.ListTokens{Who: w.ana}); len(mine) != 1 || mine[0] != s {
		w.t.Errorf("the tokens are %+v, want %+v", mine, s)
	}
	if n := must[int](w.forwarder, core, ubl.RevokeTokens{Request: w.h.Request(w.ana)}); n != 1 {
		w.t.Errorf("%d tokens ended", n)
	}
}

// passkeys registers one, signs in with it and forgets it.
func (w *world) passkeys(core ubl.Name) {
	made := must[*ubl.Passkey](w.forwarder, core, ubl.RegisterPasskey{Request: w.h.Request(w.ana), Name: "Phone",
		Handle: bytes.Repeat([]byte("h"), ubl.PasskeyHandle),
		Authenticator: ubl.Authenticator{CredentialID: bytes.Repeat([]byte("c"), ubl.MinCredentialID), PublicKey: []byte("cose"),
			SignCount: 3, Transports: []string{"internal"}, BackupEligible: true}})
	found := must[*ubl.PasskeyRecord](w.forwarder, core, ubl.FindPasskey{CredentialID: bytes.Repeat([]byte("c"), ubl.MinCredentialID)})
	if found.Passkey != *made || !reflect.DeepEqual(found.Who, w.ana) {
		w.t.Errorf("found %+v, want %+v of %+v", found, made, w.ana)
	}
	used := must[*ubl.Passkey](w.forwarder, core, ubl.UsePasskey{Request: w.h.Request(ubl.Platform()), PasskeyID: made.ID, SignCount: 4, Attempt: "one"})
	if used.LastUsedAt == nil {
		w.t.Errorf("used: %+v", used)
	}
	if mine := must[*ubl.Passkeys](w.forwarder, core, ubl.ListPasskeys{Who: w.ana}); len(mine.List) != 1 || mine.List[0].SignCount != 4 {
		w.t.Errorf("listed: %+v", mine)
	}
	must[*ubl.Passkey](w.forwarder, core, ubl.RemovePasskey{Request: w.h.Request(w.ana), PasskeyID: made.ID})
}

func (w *world) readLedger() {
	w.h.Alarms() // what follows from deletions
	ledger := ubl.LedgerName(w.ana.TenantID)
	head := must[ubl.LedgerHead](w.forwarder, ledger, ubl.GetLedgerHead{})
	page := must[*ubl.AtomPage](w.forwarder, ledger, ubl.ReadAtoms{From: 1, Limit: 1000})
	if page.Head != head || int64(len(page.Atoms)) != head.Seq {
		w.t.Errorf("%d atoms up to %+v, and the head is %+v", len(page.Atoms), page.Head, head)
	}
	pair := must[*ubl.ReceiptPair](w.forwarder, ledger, ubl.GetReceipt{Seq: 2})
	if !slices.EqualFunc(pair.Atoms, page.Atoms[:2], func(a, b json.RawMessage) bool { return bytes.Equal(a, b) }) {
		w.t.Errorf("the receipt of 2 is %s", pair.Atoms)
	}
	refused(w.forwarder, ubl.CodeNotFound, ledger, ubl.GetReceipt{Seq: head.Seq + 1})
	must[*ubl.AtomPage](w.forwarder, ledger, ubl.ReadAtoms{From: head.Seq + 1, Limit: 10})
}

func (w *world) end() {
	for _, name := range []ubl.Name{w.general, w.tenant} {
		before := must[*ubl.AgreementView](w.forwarder, name, ubl.GetAgreement{Who: w.ana})
		after := must[*ubl.AgreementView](w.forwarder, name, ubl.EndAgreement{Request: w.h.Request(w.ana)})
		if before.Status != ubl.AgreementInForce || len(before.History) == 0 || after.Status != ubl.AgreementEnded {
			w.t.Errorf("%s went from %+v to %+v", name, before, after)
		}
	}
}

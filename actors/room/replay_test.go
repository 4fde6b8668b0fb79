package room_test

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"ubl"
	"ubl/actors"
	"ubl/actors/agreement"
	"ubl/actors/room"
	"ubl/test/harness"
)

// TestStateIsDerived: over random histories, a Room loaded from what is stored
// knows exactly what the live one knows: membership, policy, sequence numbers,
// the newest messages and the idempotency keys.
func TestStateIsDerived(t *testing.T) {
	h := harness.OpenLive(t, "room", func(local string) bool { return ubl.RoomID(local).Valid() }, room.Open)
	rooms, restored, filled := 0, int64(0), harness.Filled{}
	defer func() {
		if rooms < 50 { // they may all be too short
			return
		}
		if restored == 0 {
			t.Error("no state was loaded from a snapshot")
		}
		filled.Want(t, "State.Summary.Status", "State.Agreement.Agreement.Mandate", "State.Agreement.Agreement.Salt") // in answers alone, and of agents alone
	}()
	rapid.Check(t, func(rt *rapid.T) {
		rooms++
		w := newWorld(h.House, rooms)
		rt.Repeat(map[string]func(*rapid.T){
			"send":   w.send,
			"retry":  w.retry,
			"post":   w.post,
			"read":   w.read,
			"add":    w.add,
			"join":   w.join,
			"leave":  w.leave,
			"remove": w.remove,
			"expel":  w.expel,
			"heir":   w.heir,
			"role":   w.role,
			"policy": w.policy,
			"terms":  w.terms,
			"sweep":  w.sweep,
			"end":    w.end,
			"about":  w.about,
			"show":   w.show,
			"call":   w.call,
			"": func(rt *rapid.T) {
				h.Alarms() // messages that retention removes meanwhile would be a difference
				live, loaded := h.Pair(rt, w.name)
				replayed, err := room.Replay(context.Background(), h.Engine, actors.Env{Name: w.name, Now: h.Clock.Now})
				if err != nil {
					rt.Fatalf("couldn't replay: %v", err)
				}
				got, want, all := fmt.Sprintf("%+v", loaded.Snapshot()), fmt.Sprintf("%+v", live.Snapshot()), fmt.Sprintf("%+v", replayed)
				if got != want {
					rt.Fatalf("loaded state differs\n got %s\nwant %s", got, want)
				}
				if all != want {
					rt.Fatalf("replayed state differs\n got %s\nwant %s", all, want)
				}
				filled.Look(live.State)
				if a := live.State.Agreement; a.Owners() == 0 && a.SealedAt == nil && live.State.Summary.Direct == nil {
					rt.Fatalf("nobody owns the room, and it isn't sealed: %+v", a.Members)
				}
				restored = max(restored, harness.Saved(t, h.Engine, w.name, append([]byte{'i', 4}, w.name.Local()...)))
			},
		})
	})
}

// world drives one room with random commands. Refusals are part of a history.
type world struct {
	h     *harness.House
	name  ubl.Name
	users []ubl.Identity
	sends []ubl.SendMessage
	said  []ubl.MessageID
	// proposed are the newest terms that somebody proposed.
	proposed ubl.Terms
}

func newWorld(h *harness.House, n int) *world {
	w := &world{h: h}
	for i := range 4 {
		u := harness.User(fmt.Sprintf("user%d@example.com", i))
		h.Enter(u)
		w.users = append(w.users, u)
	}
	owner := w.users[0]
	if n%4 == 0 { // direct messages, of others each time
		with := harness.User(fmt.Sprintf("friend%d@example.com", n))
		h.Enter(with)
		made := harness.Must[*ubl.RoomSummary](h, ubl.TenantName(owner.TenantID), ubl.OpenDirect{Request: h.Request(owner), With: []ubl.UserID{with.UserID, w.users[1].UserID}})
		w.name = ubl.RoomName(owner.TenantID, made.RoomID)
		harness.Must[*ubl.Room](h, w.name, ubl.GetRoom{Who: owner})
		return w
	}
	made := harness.Must[*ubl.RoomSummary](h, ubl.TenantName(owner.TenantID), ubl.CreateRoom{Request: h.Request(owner), Name: fmt.Sprintf("room %d", n)})
	w.name = ubl.RoomName(owner.TenantID, made.RoomID)
	harness.Must[*ubl.Room](h, w.name, ubl.GetRoom{Who: owner})
	return w
}

func (w *world) user(rt *rapid.T) ubl.Identity {
	return rapid.SampledFrom(w.users).Draw(rt, "user")
}

func (w *world) ask(cmd ubl.Command) { _, _ = w.h.Ask(context.Background(), w.name, cmd) }

func (w *world) request(rt *rapid.T) ubl.Request { return w.h.Request(w.user(rt)) }

func (w *world) send(rt *rapid.T) {
	c := ubl.SendMessage{Request: w.request(rt), Text: rapid.StringN(0, 20, 60).Draw(rt, "text"), Mentions: w.mentions(rt), Thread: w.thread(rt), Attachments: w.files(rt)}
	w.sends = append(w.sends, c)
	answer, err := w.h.Ask(context.Background(), w.name, c)
	var m ubl.Message
	if err == nil && json.Unmarshal(answer.(*ubl.Sent).Message, &m) == nil {
		w.said = append(w.said, m.MsgID)
	}
}

// post is about a message that somebody sent, or about nothing that there is.
func (w *world) post(rt *rapid.T) {
	c := ubl.PostEntry{Request: w.request(rt), Target: "m:none", Body: ubl.TextContent("more")}
	c.Type = rapid.SampledFrom(ubl.EntryTypes()).Draw(rt, "type")
	switch c.Type {
	case ubl.EntryReaction:
		c.Body = ubl.ReactionContent(rapid.SampledFrom([]string{"👍", ""}).Draw(rt, "key"))
	case ubl.EntryRedaction:
		c.Body = ubl.RedactionContent("")
	case ubl.EntryPin:
		c.Body = ubl.PinContent(rapid.Bool().Draw(rt, "pinned"))
	}
	switch c.Type {
	case ubl.EntryMessage:
		if rapid.Bool().Draw(rt, "form") {
			w.form(rt)
			return
		}
	case ubl.EntryAnswer:
		c.Body = ubl.AnswerContent(json.RawMessage(rapid.SampledFrom([]string{`{"go":"Yes"}`, `{"go":"No"}`, `{}`}).Draw(rt, "values")))
	}
	if len(w.said) > 0 {
		c.Target = rapid.SampledFrom(w.said).Draw(rt, "target")
	}
	if c.Type == ubl.EntryEdit && rapid.Bool().Draw(rt, "of files") {
		c.Keeps = w.keeps(rt, c.Target)
	}
	w.ask(c)
}

// form sends one, which others are answers to.
func (w *world) form(rt *rapid.T) {
	b := ubl.FormBody{
		Once: rapid.Bool().Draw(rt, "once"), Private: rapid.Bool().Draw(rt, "private"), Text: "Shall we?",
		Fields: []ubl.FormField{{Name: "go", Label: "Go", Type: ubl.FieldButton, Options: []string{"Yes", "No"}, Required: true}},
	}
	answer, err := w.h.Ask(context.Background(), w.name, ubl.PostEntry{Request: w.request(rt), Type: ubl.EntryMessage, Body: ubl.FormContent(b)})
	var e ubl.Entry
	if err == nil && json.Unmarshal(answer.(*ubl.Posted).Entry, &e) == nil {
		w.said = append(w.said, e.ID)
	}
}

// files are few contents, so that messages share them.
func (w *world) files(rt *rapid.T) (list []ubl.Attachment) {
	for n := range rapid.IntRange(0, 2).Draw(rt, "files") {
		blob := rapid.Byte().Draw(rt, "blob") % 3
		list = append(list, ubl.Attachment{Name: fmt.Sprintf("%d.txt", n), Type: "text/plain", SHA256: ubl.BlobIDOf([32]byte{blob}), Bytes: int64(blob) + 1})
	}
	return list
}

// keeps are some of the files that a message began with.
func (w *world) keeps(rt *rapid.T, m ubl.MessageID) *ubl.KeptFiles {
	var list []ubl.FileID
	for n := range 2 {
		if rapid.Bool().Draw(rt, "keep") {
			list = append(list, ubl.AttachmentID(m, n))
		}
	}
	return &ubl.KeptFiles{Files: list}
}

// mentions are of members and others, or of everybody.
func (w *world) mentions(rt *rapid.T) (list []ubl.Mention) {
	for range rapid.IntRange(0, 2).Draw(rt, "mentions") {
		if rapid.IntRange(0, 4).Draw(rt, "everybody") == 0 {
			list = append(list, ubl.MentionRoom)
		} else {
			list = append(list, ubl.Mention(w.user(rt).UserID))
		}
	}
	return list
}

// thread is that of some message, which may be in one itself.
func (w *world) thread(rt *rapid.T) ubl.MessageID {
	if len(w.said) == 0 || rapid.IntRange(0, 2).Draw(rt, "threads") > 0 {
		return ""
	}
	return rapid.SampledFrom(w.said).Draw(rt, "thread")
}

func (w *world) read(rt *rapid.T) {
	w.ask(ubl.MarkRead{Request: w.request(rt), Seq: rapid.Int64Range(-1, 30).Draw(rt, "seq")})
}

func (w *world) retry(rt *rapid.T) {
	if len(w.sends) == 0 {
		return
	}
	c := rapid.SampledFrom(w.sends).Draw(rt, "send")
	if rapid.Bool().Draw(rt, "changed") {
		c.Text += "!"
	}
	w.ask(c)
}

func (w *world) add(rt *rapid.T) {
	m := w.user(rt)
	w.ask(ubl.AddMember{Request: w.request(rt), Member: ubl.Member{UserID: m.UserID, Email: m.Email, Role: w.drawRole(rt)}})
}

func (w *world) drawRole(rt *rapid.T) ubl.Role {
	return rapid.SampledFrom([]ubl.Role{ubl.RoleOwner, ubl.RoleMember, "king"}).Draw(rt, "role")
}

func (w *world) join(rt *rapid.T) { w.ask(ubl.JoinRoom{Request: w.request(rt)}) }

func (w *world) leave(rt *rapid.T) {
	req := w.request(rt)
	w.ask(ubl.RemoveMember{Request: req, UserID: req.Who.UserID})
}

func (w *world) remove(rt *rapid.T) {
	w.ask(ubl.RemoveMember{Request: w.request(rt), UserID: w.user(rt).UserID})
}

// expel shuts somebody out, with an heir who may have been named. As the Tenant does, it always says
// who has what others could enter, where nobody is left inside.
func (w *world) expel(rt *rapid.T) {
	gone := w.user(rt)
	next := w.users[(slices.IndexFunc(w.users, func(u ubl.Identity) bool { return u.UserID == gone.UserID })+1)%len(w.users)]
	c := ubl.RemoveMember{Request: w.request(rt), UserID: gone.UserID, Expel: true, Heir: &ubl.Member{UserID: next.UserID, Email: next.Email}}
	if named := w.user(rt); rapid.Bool().Draw(rt, "named") {
		c.Named = &ubl.Member{UserID: named.UserID, Email: named.Email}
	}
	w.ask(c)
}

// heir names somebody, nobody, or gives what is sealed away.
func (w *world) heir(rt *rapid.T) {
	m := ubl.Member{UserID: w.user(rt).UserID}
	switch rapid.IntRange(0, 3).Draw(rt, "how") {
	case 0:
		w.ask(ubl.SetHeir{Request: w.request(rt)})
	case 1:
		w.ask(agreement.Inherit{Request: w.request(rt), Heir: m})
	default:
		w.ask(ubl.SetHeir{Request: w.request(rt), Heir: m})
	}
}

func (w *world) role(rt *rapid.T) {
	w.ask(ubl.SetMember{Request: w.request(rt), UserID: w.user(rt).UserID, Role: w.drawRole(rt)})
}

func (w *world) policy(rt *rapid.T) {
	// One in two changes is refused: each member has a value that no room takes.
	days, hours := rapid.SampledFrom([]int{0, 1, 2, 3, -1}).Draw(rt, "days"), rapid.SampledFrom([]int{0, 0, 5, 0, 5, 24}).Draw(rt, "hours")
	join := rapid.SampledFrom([]string{ubl.JoinInvite, ubl.JoinTenant, ubl.JoinInvite, ubl.JoinTenant, "anyone"}).Draw(rt, "join")
	posting := rapid.SampledFrom([]string{ubl.PostingEveryone, ubl.PostingModerators, ubl.PostingThreads}).Draw(rt, "posting")
	w.ask(ubl.SetRoomPolicy{Request: w.request(rt), Patch: ubl.RoomPolicyPatch{RetentionDays: &days, RetentionHours: &hours, Join: &join, Posting: &posting}})
}

// about says what the room is called and about.
func (w *world) about(rt *rapid.T) {
	text := func(label string) *string {
		return rapid.SampledFrom([]*string{nil, new(""), new("plans"), new("more\nof it")}).Draw(rt, label)
	}
	w.ask(ubl.DescribeRoom{Request: w.request(rt), Patch: ubl.RoomDescriptionPatch{Name: text("name"), Topic: text("topic"), Description: text("description")}})
}

// show opens direct messages again.
func (w *world) show(rt *rapid.T) { w.ask(agreement.ShowDirect{Request: w.request(rt)}) }

// call begins one, is in it, leaves or ends it: the newest, or none that there is.
func (w *world) call(rt *rapid.T) {
	var call *ubl.RoomCall
	if rapid.Bool().Draw(rt, "begin") {
		answer, _ := w.h.Ask(context.Background(), w.name, ubl.BeginRoomCall{Request: w.request(rt)})
		call, _ = answer.(*ubl.RoomCall)
	}
	if call == nil {
		call = &ubl.RoomCall{CallID: fmt.Sprint(rapid.IntRange(1, 30).Draw(rt, "call"))}
	}
	u := w.user(rt)
	w.ask(ubl.BeInRoomCall{Who: u, CallID: call.CallID, Session: "session-" + string(u.UserID)[2:8], Leaves: rapid.Bool().Draw(rt, "leaves")})
	if rapid.Bool().Draw(rt, "end") {
		w.ask(ubl.EndRoomCall{Request: w.request(rt), CallID: call.CallID})
	}
}

func (w *world) sweep(rt *rapid.T) {
	w.h.Clock.Add(time.Duration(rapid.IntRange(0, 48).Draw(rt, "hours")) * time.Hour)
	w.ask(ubl.Sweep{Request: w.h.Request(ubl.Platform())})
}

func (w *world) end(rt *rapid.T) {
	if rapid.IntRange(0, 9).Draw(rt, "seldom") == 0 {
		w.ask(ubl.EndAgreement{Request: w.request(rt)})
	}
}

// terms proposes some, answers a proposal, or takes it away.
func (w *world) terms(rt *rapid.T) {
	switch rapid.IntRange(0, 4).Draw(rt, "terms") {
	case 0:
		w.ask(ubl.WithdrawTerms{Request: w.request(rt)})
	case 1, 2:
		w.ask(ubl.AcceptTerms{Request: w.request(rt), TermsHash: w.proposed.Hash()})
	default:
		w.proposed = harness.DrawTerms(rt, "messenger.*")
		u := w.users[1]
		w.ask(ubl.AddMember{Request: w.h.Request(w.users[0]), Member: ubl.Member{UserID: u.UserID, Email: u.Email, Role: ubl.RoleOwner}})
		for range 2 { // the second may have to be accepted
			w.ask(ubl.ProposeTerms{Request: w.h.Request(w.users[0]), Terms: w.proposed})
		}
	}
}

package ubl_test

import (
	"encoding/json"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"ubl"
)

// words are strings with what JSON finds hard: quotes, controls, separators,
// surrogate pairs, and the characters that HTML-minded encoders escape.
var words = rapid.OneOf(rapid.String(), rapid.StringOfN(rapid.SampledFrom([]rune("a\"\\/\b\f\n\r\t\x00\x1f\x7f<>&é€😀\u2028\u2029\ufffd")), 0, 40, -1))

func anyFields() *rapid.Generator[ubl.Fields] {
	return rapid.Custom(func(t *rapid.T) ubl.Fields {
		names := rapid.SliceOfNDistinct(rapid.StringMatching(`[a-z_]{1,8}`), 0, 6, rapid.ID).Draw(t, "names")
		var out ubl.Fields
		for _, name := range names {
			if rapid.Bool().Draw(t, "is string") {
				out = append(out, ubl.Str(name, words.Draw(t, "value")))
			} else {
				out = append(out, ubl.Int(name, rapid.Int64Range(-1<<53+1, 1<<53-1).Draw(t, "value")))
			}
		}
		return out
	})
}

func anyAction() *rapid.Generator[ubl.Action] {
	return rapid.Custom(func(t *rapid.T) ubl.Action {
		return ubl.Action{
			TenantID:    "t:example.com",
			AgreementID: "a:room:r:general",
			Did:         rapid.SampledFrom(ubl.Dids()).Draw(t, "did"),
			PrevHash:    ubl.Genesis,
			RequestID:   words.Draw(t, "request id"),
			Shard:       ubl.DefaultShard,
			Session:     rapid.SampledFrom([]string{"", "s:1"}).Draw(t, "session"),
			Status:      rapid.SampledFrom([]ubl.Status{ubl.StatusExecuted, ubl.StatusIntended, ubl.StatusDenied}).Draw(t, "status"),
			This:        anyFields().Draw(t, "this"),
			When:        ubl.Time(rapid.Int64Range(0, 1<<42).Draw(t, "when")),
			Who:         ubl.Who{UserID: "u:ana", Email: words.Draw(t, "email"), IsService: rapid.Bool().Draw(t, "service")},
		}
	})
}

func anyEffect() *rapid.Generator[ubl.Effect] {
	return rapid.Custom(func(t *rapid.T) ubl.Effect {
		e := ubl.Effect{
			TenantID:     "t:example.com",
			Effects:      rapid.SliceOfN(anyFields(), 0, 3).Draw(t, "effects"),
			Outcome:      ubl.OutcomeOK,
			Pointers:     anyFields().Draw(t, "pointers"),
			PrevHash:     ubl.Genesis,
			RefActionCID: ubl.CID(nil),
			Shard:        ubl.DefaultShard,
			When:         ubl.Time(rapid.Int64Range(0, 1<<42).Draw(t, "when")),
		}
		if rapid.Bool().Draw(t, "failed") {
			e.Outcome, e.Error = ubl.OutcomeError, &ubl.AtomError{Code: ubl.CodeInternal, Message: words.Draw(t, "message")}
		}
		return e
	})
}

// checkSealed holds the hand-written bytes against the canonical form of a
// general encoder, and the cid against the definition.
func checkSealed(t *rapid.T, atom []byte, cid string) {
	canonical, err := ubl.Canonical(atom)
	if err != nil || string(canonical) != string(atom) {
		t.Fatalf("not canonical:\n%s\n%s, %v", atom, canonical, err)
	}
	var members map[string]any
	if err := json.Unmarshal(atom, &members); err != nil {
		t.Fatal(err)
	}
	if members["cid"] != cid {
		t.Fatalf("the atom says cid %v, Seal said %s", members["cid"], cid)
	}
	delete(members, "cid")
	bare, err := json.Marshal(members)
	if err != nil {
		t.Fatal(err)
	}
	bare, err = ubl.Canonical(bare)
	if err != nil || ubl.CID(bare) != cid {
		t.Fatalf("cid = %s, want %s of %s, %v", cid, ubl.CID(bare), bare, err)
	}
}

func TestSealIsCanonical(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a := anyAction().Draw(t, "action")
		atom, cid := a.Seal()
		checkSealed(t, atom, cid)
		e := anyEffect().Draw(t, "effect")
		atom, cid = e.Seal()
		checkSealed(t, atom, cid)
	})
}

func TestSealedAction(t *testing.T) {
	hash := "g:" + strings.Repeat("0", 64)
	a := ubl.Action{
		TenantID: "t:example.com", AgreementID: "a:room:r:general", AgreementHash: hash, Did: ubl.DidSend, PrevHash: ubl.Genesis,
		Session: "s:run-1", Shard: ubl.DefaultShard,
		RequestID: "req:1", Status: ubl.StatusExecuted, When: 1767789296789,
		This: ubl.Fields{ubl.Str("room_id", ubl.RoomID("r:general")), ubl.Int("room_seq", 42), ubl.Str("msg_id", ubl.MessageID("m:1"))},
		Who:  ubl.Who{UserID: "u:bot", IsService: true},
	}
	atom, cid := a.Seal()
	want := `{"agreement_hash":"` + hash + `","agreement_id":"a:room:r:general","cid":"` + cid + `","did":"messenger.send","kind":"action.v2","prev_hash":"h:genesis",` +
		`"session":"s:run-1","shard":"0","status":"executed","tenant_id":"t:example.com","this":{"msg_id":"m:1","room_id":"r:general","room_seq":42},` +
		`"trace":{"request_id":"req:1"},"when":"2026-01-07T12:34:56.789Z","who":{"email":null,"is_service":true,"user_id":"u:bot"}}`
	if string(atom) != want {
		t.Errorf("atom = %s\nwant   %s", atom, want)
	}
}

func TestMessageJSON(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		m := ubl.Message{
			MsgID: "m:1", TenantID: "t:example.com", RoomID: "r:general", SenderID: "u:ana", Type: ubl.TypeText,
			RoomSeq:     rapid.Int64Range(1, 1<<53-1).Draw(t, "room_seq"),
			SentAt:      ubl.Time(rapid.Int64Range(0, 1<<42).Draw(t, "sent_at")),
			Body:        ubl.Body{Text: words.Draw(t, "text")},
			Attachments: []ubl.Attachment{},
			Receipt:     ubl.Receipt{Shard: "0", Seq: 7, CID: ubl.CID(nil), HeadHash: ubl.Genesis},
		}
		if rapid.Bool().Draw(t, "is reply") {
			to := ubl.MessageID("m:0")
			m.ReplyTo = &to
		}
		if rapid.Bool().Draw(t, "is in a thread") {
			root := ubl.MessageID("m:-1")
			m.Thread = &root
		}
		m.Body.Mentions = rapid.SliceOfN(rapid.SampledFrom([]ubl.Mention{"u:ana", "u:bob", ubl.MentionRoom}), 0, 3).Draw(t, "mentions")
		got := m.AppendJSON(nil)
		general, err := json.Marshal(m)
		if err != nil {
			t.Fatal(err)
		}
		want, err := ubl.Canonical(general)
		if err != nil || string(got) != string(want) {
			t.Fatalf("got  %s\nwant %s, %v", got, want, err)
		}
		body, err := ubl.Canonical(m.Body.Canonical())
		if err != nil || string(body) != string(m.Body.Canonical()) {
			t.Fatalf("the body %s is not canonical: %v", m.Body.Canonical(), err)
		}
	})
}

func TestEventData(t *testing.T) {
	message := ubl.Event{Kind: ubl.EventMessageCreated, TenantID: "t:a.b", RoomID: "r:x", TS: 0, Payload: json.RawMessage(`{"msg_id":"m:1"}`)}
	if got, want := string(message.AppendData(nil)), `{"event":"message.created","payload":{"message":{"msg_id":"m:1"}},"room_id":"r:x","tenant_id":"t:a.b","ts":"1970-01-01T00:00:00.000Z"}`; got != want {
		t.Errorf("data = %s\nwant   %s", got, want)
	}
	rapid.Check(t, func(t *rapid.T) {
		room := ubl.RoomSummary{RoomID: "r:x", Name: words.Draw(t, "name"), Mode: ubl.ModeInternal, CreatedAt: 1}
		for kind, payload := range map[string]json.RawMessage{
			ubl.EventRoomCreated:  ubl.RoomCreatedPayload(room),
			ubl.EventMemberJoined: ubl.MemberPayload("u:ana", ubl.RoleOwner),
			ubl.EventGap:          ubl.GapPayload(3, 9),
			ubl.EventRoomTyping:   ubl.TypingPayload(ubl.Typing{UserID: "u:ana", Until: 8}),
			ubl.EventRoomLeft:     ubl.RoomLeftPayload("u:ana"),
			ubl.EventRoomRead:     ubl.ReadPayload(ubl.ReadMark{UserID: "u:ana", ReadSeq: 7}),
		} {
			e := ubl.Event{Kind: kind, TenantID: "t:a.b", RoomID: "r:x", TS: 5, Payload: payload}
			data := e.AppendData(nil)
			if canonical, err := ubl.Canonical(data); err != nil || string(canonical) != string(data) {
				t.Fatalf("%s: %s is not canonical: %v", kind, data, err)
			}
		}
	})
}

package actors_test

import (
	"bytes"
	"encoding/json"
	"strings"
	"sync"
	"testing"

	"ubl"
	"ubl/test/harness"
)

// talk is a room with its owner ana and its member bob; cyd is in the tenant alone.
type talk struct {
	*harness.House
	t             *testing.T
	ana, bob, cyd ubl.Identity
	room          ubl.Name
}

// begun is how many entries a talk has from its making and bob's coming.
const begun = 3

func openTalk(t *testing.T) *talk { return openTalkIn(t, harness.Options{}) }

func openTalkIn(t *testing.T, opts harness.Options) *talk {
	x := &talk{House: harness.Open(t, opts), t: t,
		ana: harness.User("ana@example.com"), bob: harness.User("bob@example.com"), cyd: harness.User("cyd@example.com")}
	for _, who := range []ubl.Identity{x.ana, x.bob, x.cyd} {
		x.Enter(who)
	}
	made := harness.Must[*ubl.RoomSummary](x.House, ubl.TenantName(x.ana.TenantID), ubl.CreateRoom{Request: x.Request(x.ana), Name: "plans"})
	x.room = ubl.RoomName(x.ana.TenantID, made.RoomID)
	harness.Must[*ubl.Member](x.House, x.room, ubl.AddMember{Request: x.Request(x.ana), Member: ubl.Member{UserID: x.bob.UserID, Email: x.bob.Email, Role: ubl.RoleMember}})
	return x
}

func (x *talk) post(who ubl.Identity, kind ubl.EntryType, target ubl.MessageID, body ubl.TypedBody) ubl.PostEntry {
	return ubl.PostEntry{Request: x.Request(who), Type: kind, Target: target, Body: body}
}

// enter posts an entry and answers it.
func (x *talk) enter(who ubl.Identity, kind ubl.EntryType, target ubl.MessageID, body ubl.TypedBody) *ubl.Entry {
	x.t.Helper()
	posted := harness.Must[*ubl.Posted](x.House, x.room, x.post(who, kind, target, body))
	e := x.decode(posted.Entry)
	if e.RoomSeq != posted.RoomSeq {
		x.t.Errorf("posted as %d, the entry says %d", posted.RoomSeq, e.RoomSeq)
	}
	return e
}

func (x *talk) say(who ubl.Identity, text string) *ubl.Entry {
	x.t.Helper()
	return x.enter(who, ubl.EntryMessage, "", ubl.TextContent(text))
}

func (x *talk) decode(raw json.RawMessage) *ubl.Entry {
	x.t.Helper()
	var e ubl.Entry
	if err := json.Unmarshal(raw, &e); err != nil {
		x.t.Fatal(err)
	}
	return &e
}

// entries are all that bob reads.
func (x *talk) entries() (list []*ubl.Entry) {
	x.t.Helper()
	page := harness.Must[*ubl.HistoryPage](x.House, x.room, ubl.ReadHistory{Who: x.bob, Limit: 200, Entries: true})
	for i, raw := range page.Entries {
		e := x.decode(raw)
		if e.RoomSeq != page.FirstSeq+int64(i) {
			x.t.Errorf("entry %d is at %d of a page from %d", e.RoomSeq, i, page.FirstSeq)
		}
		list = append(list, e)
	}
	return list
}

func (x *talk) messages() (texts []string) {
	x.t.Helper()
	list, _, err := ubl.ReadMessages(x.t.Context(), x.Runtime, x.room, ubl.ReadHistory{Who: x.bob, Limit: 200})
	if err != nil {
		x.t.Fatal(err)
	}
	for _, raw := range list {
		var m ubl.Message
		if err := json.Unmarshal(raw, &m); err != nil {
			x.t.Fatal(err)
		}
		if m.Type == ubl.TypeText {
			texts = append(texts, m.Body.Text)
		}
	}
	return texts
}

// committed sees that the ledger's commitment is to the entry's body, made with its salt.
func (x *talk) committed(e *ubl.Entry) bool {
	x.t.Helper()
	pair := harness.Must[*ubl.ReceiptPair](x.House, ubl.LedgerName(x.ana.TenantID), ubl.GetReceipt{Seq: e.Receipt.Seq})
	var action struct {
		Kind string `json:"kind"`
		This struct {
			BodyHash string `json:"body_hash"`
		} `json:"this"`
	}
	if err := json.Unmarshal(pair.Atoms[0], &action); err != nil || action.Kind != ubl.ActionV2 {
		x.t.Fatalf("%s: %v", pair.Atoms[0], err)
	}
	return e.Body != nil && !e.Salt.IsZero() && action.This.BodyHash == e.Salt.Commit(e.Body.Hashed())
}

// TestEntries is what may follow a message: who reads messages sees the message alone, who
// reads entries all of them.
func TestEntries(t *testing.T) {
	x := openTalk(t)
	said := x.say(x.bob, "lunch at noon?")
	edited := x.enter(x.bob, ubl.EntryEdit, said.ID, ubl.TextContent("lunch at one?"))
	liked := x.enter(x.ana, ubl.EntryReaction, said.ID, ubl.ReactionContent("👍"))
	pinned := x.enter(x.ana, ubl.EntryPin, said.ID, ubl.PinContent(true))
	cipher := x.enter(x.bob, ubl.EntryMessage, "", ubl.TypedBody{Type: "application/mls-ciphertext", Bytes: []byte{0, 1, 2}})

	var kinds []string
	for _, e := range x.entries()[begun:] {
		kinds = append(kinds, string(e.Type))
		if !x.committed(e) {
			t.Errorf("the ledger's hash of entry %d isn't that of its body", e.RoomSeq)
		}
	}
	if got := strings.Join(kinds, " "); got != "message edit reaction pin message" {
		t.Errorf("entries: %s", got)
	}
	if got := strings.Join(x.messages(), "; "); got != "lunch at noon?" {
		t.Errorf("messages: %s", got)
	}
	for _, e := range []*ubl.Entry{edited, liked, pinned} {
		if *e.Target != said.ID {
			t.Errorf("%s is about %s", e.Type, *e.Target)
		}
	}
	if !bytes.Equal(cipher.Body.Bytes, []byte{0, 1, 2}) {
		t.Errorf("the bytes came back as %v", cipher.Body.Bytes)
	}
	x.VerifyLedger(x.ana.TenantID)
}

// TestWhoMayPost: each of these is refused, and leaves nothing.
func TestWhoMayPost(t *testing.T) {
	x := openTalk(t)
	said, other := x.say(x.ana, "hello"), x.say(x.bob, "hi")
	gone := x.say(x.bob, "gone")
	x.enter(x.bob, ubl.EntryRedaction, gone.ID, ubl.RedactionContent(""))
	liked := x.enter(x.bob, ubl.EntryReaction, said.ID, ubl.ReactionContent("👍"))
	system := x.entries()[0]
	text, reaction := ubl.TextContent("x"), ubl.ReactionContent("+1")
	before := len(x.entries())
	for name, c := range map[string]struct {
		post ubl.PostEntry
		want ubl.Code
	}{
		"somebody who isn't in the room":    {x.post(x.cyd, ubl.EntryMessage, "", text), ubl.CodeNotAMember},
		"an edit of somebody else's":        {x.post(x.bob, ubl.EntryEdit, said.ID, text), ubl.CodeForbidden},
		"an edit by an owner":               {x.post(x.ana, ubl.EntryEdit, other.ID, text), ubl.CodeForbidden},
		"a redaction of somebody else's":    {x.post(x.bob, ubl.EntryRedaction, said.ID, ubl.RedactionContent("")), ubl.CodeForbidden},
		"an edit of what is redacted":       {x.post(x.bob, ubl.EntryEdit, gone.ID, text), ubl.CodeConflict},
		"a reaction to what is redacted":    {x.post(x.bob, ubl.EntryReaction, gone.ID, reaction), ubl.CodeConflict},
		"a second redaction":                {x.post(x.bob, ubl.EntryRedaction, gone.ID, ubl.RedactionContent("")), ubl.CodeConflict},
		"a redaction of what acts say":      {x.post(x.ana, ubl.EntryRedaction, system.ID, ubl.RedactionContent("")), ubl.CodeConflict},
		"a reaction to a reaction":          {x.post(x.ana, ubl.EntryReaction, liked.ID, reaction), ubl.CodeConflict},
		"an edit of nothing":                {x.post(x.ana, ubl.EntryEdit, "", text), ubl.CodeValidation},
		"an edit of what isn't there":       {x.post(x.ana, ubl.EntryEdit, "m:0000000003e8-8000-8000-000000000000", text), ubl.CodeNotFound},
		"an id that only looks right":       {x.post(x.ana, ubl.EntryReaction, said.ID[:len(said.ID)-1]+"x", reaction), ubl.CodeNotFound},
		"a message about another":           {x.post(x.ana, ubl.EntryMessage, said.ID, text), ubl.CodeValidation},
		"an empty message":                  {x.post(x.ana, ubl.EntryMessage, "", ubl.TextContent(" ")), ubl.CodeValidation},
		"a message of an act":               {x.post(x.ana, ubl.EntryMessage, "", ubl.TypedBody{Type: ubl.ContentSystem, JSON: text.JSON}), ubl.CodeValidation},
		"a message that is too long":        {x.post(x.ana, ubl.EntryMessage, "", ubl.TypedBody{Type: "a/b", Bytes: make([]byte, 8001)}), ubl.CodeTooLarge},
		"a reaction with blanks":            {x.post(x.ana, ubl.EntryReaction, said.ID, ubl.ReactionContent("a b")), ubl.CodeValidation},
		"a reaction of nothing":             {x.post(x.ana, ubl.EntryReaction, said.ID, ubl.ReactionContent("")), ubl.CodeValidation},
		"a reaction with a text":            {x.post(x.ana, ubl.EntryReaction, said.ID, text), ubl.CodeValidation},
		"a pin with more in it":             {x.post(x.ana, ubl.EntryPin, said.ID, ubl.TypedBody{Type: ubl.ContentPin, JSON: []byte(`{"pinned":true,"x":1}`)}), ubl.CodeValidation},
		"JSON without a type of JSON":       {x.post(x.ana, ubl.EntryMessage, "", ubl.TypedBody{Type: "text/plain", JSON: text.JSON}), ubl.CodeValidation},
		"bytes with a type of JSON":         {x.post(x.ana, ubl.EntryMessage, "", ubl.TypedBody{Type: "application/json", Bytes: []byte("{}")}), ubl.CodeValidation},
		"no media type":                     {x.post(x.ana, ubl.EntryMessage, "", ubl.TypedBody{Type: "text", Bytes: []byte("x")}), ubl.CodeValidation},
		"a media type with a parameter":     {x.post(x.ana, ubl.EntryMessage, "", ubl.TypedBody{Type: "text/html; charset=x", Bytes: []byte("x")}), ubl.CodeValidation},
		"a media type with a line in it":    {x.post(x.ana, ubl.EntryMessage, "", ubl.TypedBody{Type: "text/html\r\nx: y", Bytes: []byte("x")}), ubl.CodeValidation},
		"JSON that can't be hashed":         {x.post(x.ana, ubl.EntryMessage, "", ubl.TypedBody{Type: "application/json", JSON: []byte(`{"a":1,"a":2}`)}), ubl.CodeValidation},
		"JSON that is no object":            {x.post(x.ana, ubl.EntryMessage, "", ubl.TypedBody{Type: "application/json", JSON: []byte(`[]`)}), ubl.CodeValidation},
		"an entry that only acts make":      {x.post(x.ana, ubl.EntryMembership, "", text), ubl.CodeValidation},
		"a type that nobody knows":          {x.post(x.ana, "poll", "", text), ubl.CodeValidation},
		"a reply that is an edit":           {ubl.PostEntry{Request: x.Request(x.ana), Type: ubl.EntryEdit, Target: said.ID, ReplyTo: said.ID, Body: text}, ubl.CodeValidation},
		"a reply to what isn't in the room": {ubl.PostEntry{Request: x.Request(x.ana), Type: ubl.EntryMessage, ReplyTo: "m:1", Body: text}, ubl.CodeValidation},
	} {
		_, err := x.Runtime.Ask(t.Context(), x.room, c.post)
		if got := ubl.CodeOf(err); got != c.want {
			t.Errorf("%s: %v, want %s", name, err, c.want)
		}
	}
	if after := len(x.entries()); after != before {
		t.Errorf("%d entries were left", after-before)
	}
}

// TestRedaction: what was said is gone from everything that is served and stored, with its
// edits and the salts; numbers, receipts and the ledger stay.
func TestRedaction(t *testing.T) {
	x := openTalk(t)
	said := x.say(x.bob, "the secret word")
	x.enter(x.bob, ubl.EntryEdit, said.ID, ubl.TextContent("the secret word, again"))
	x.enter(x.ana, ubl.EntryRedaction, said.ID, ubl.RedactionContent("not here"))

	check := func() {
		t.Helper()
		list := x.entries()[begun:]
		for _, e := range list[:2] {
			if e.Body != nil || !e.Salt.IsZero() || e.Redacted == nil || e.Redacted.By != x.ana.UserID || e.Redacted.RoomSeq != list[2].RoomSeq || x.committed(e) {
				t.Errorf("left of %s: %s", e.Type, e.Encode())
			}
		}
		if got := x.messages(); len(got) != 0 {
			t.Errorf("messages: %q", got)
		}
	}
	check()
	x.Reload()
	check()
	stored := x.stored()
	for _, secret := range [][]byte{[]byte("secret"), said.Salt[:]} {
		if bytes.Contains(stored, secret) {
			t.Errorf("%q is still stored", secret)
		}
	}
	x.VerifyLedger(x.ana.TenantID)
}

// stored is every value that the tenant has.
func (x *talk) stored() (all []byte) {
	x.t.Helper()
	err := x.Engine.View(x.t.Context(), x.room.Group(), func(snap ubl.Snapshot) error {
		return snap.Ascend([]byte{0}, []byte{0xff}, func(_, v []byte) bool {
			all = append(all, v...)
			return true
		})
	})
	if err != nil {
		x.t.Fatal(err)
	}
	return all
}

// TestEntryTwice: the same key gives the same entry, of whatever kind, after a restart too;
// and what was redacted since is told.
func TestEntryTwice(t *testing.T) {
	x := openTalk(t)
	message := x.post(x.bob, ubl.EntryMessage, "", ubl.TextContent("hello"))
	said := x.decode(harness.Must[*ubl.Posted](x.House, x.room, message).Entry)
	edit := x.post(x.bob, ubl.EntryEdit, said.ID, ubl.TextContent("hello!"))
	edited := x.decode(harness.Must[*ubl.Posted](x.House, x.room, edit).Entry)
	for range 2 {
		for first, again := range map[*ubl.Entry]ubl.PostEntry{said: message, edited: edit} {
			if e := x.decode(harness.Must[*ubl.Posted](x.House, x.room, again).Entry); string(e.Encode()) != string(first.Encode()) {
				t.Errorf("answered %s, before %s", e.Encode(), first.Encode())
			}
		}
		x.Restart()
	}
	other := edit
	other.Body = ubl.TextContent("something else")
	x.Refused(ubl.CodeIdempotencyConflict, x.room, other)
	x.enter(x.bob, ubl.EntryRedaction, said.ID, ubl.RedactionContent(""))
	x.Refused(ubl.CodeConflict, x.room, message)
	x.Refused(ubl.CodeConflict, x.room, edit)
}

// TestEditsAndRedactions race: whatever comes first, no edit keeps its text behind the
// redaction of its message.
func TestEditsAndRedactions(t *testing.T) {
	x := openTalk(t)
	for range 20 {
		said := x.say(x.bob, "a secret word")
		redaction := x.post(x.bob, ubl.EntryRedaction, said.ID, ubl.RedactionContent(""))
		var all sync.WaitGroup
		for range 4 {
			edit := x.post(x.bob, ubl.EntryEdit, said.ID, ubl.TextContent("another secret word"))
			all.Go(func() {
				if _, err := x.Runtime.Ask(t.Context(), x.room, edit); err != nil && ubl.CodeOf(err) != ubl.CodeConflict {
					t.Error(err)
				}
			})
		}
		all.Go(func() {
			if _, err := x.Runtime.Ask(t.Context(), x.room, redaction); err != nil {
				t.Error(err)
			}
		})
		all.Wait()
	}
	if bytes.Contains(x.stored(), []byte("secret")) {
		t.Error("an edit outlived the redaction of its message")
	}
	x.VerifyLedger(x.ana.TenantID)
}

// TestEditsHaveABound: a redaction names each edit, in an atom that a line of an export holds.
func TestEditsHaveABound(t *testing.T) {
	x := openTalk(t)
	said := x.say(x.bob, "first")
	for range 100 {
		x.enter(x.bob, ubl.EntryEdit, said.ID, ubl.TextContent("again"))
	}
	if _, err := x.Runtime.Ask(t.Context(), x.room, x.post(x.bob, ubl.EntryEdit, said.ID, ubl.TextContent("once more"))); ubl.CodeOf(err) != ubl.CodeConflict {
		t.Errorf("edit 101: %v", err)
	}
	x.enter(x.bob, ubl.EntryRedaction, said.ID, ubl.RedactionContent(""))
	for _, e := range x.entries()[begun : begun+101] {
		if e.Body != nil {
			t.Fatalf("left: %s", e.Encode())
		}
	}
	x.VerifyLedger(x.ana.TenantID)
}

// TestNesting: JSON that is nested deep is refused before it has a form inside an entry.
func TestNesting(t *testing.T) {
	x := openTalk(t)
	nested := func(levels int) ubl.PostEntry {
		json := strings.Repeat(`{"a":`, levels-1) + "{}" + strings.Repeat("}", levels-1)
		return x.post(x.ana, ubl.EntryMessage, "", ubl.TypedBody{Type: "application/json", JSON: []byte(json)})
	}
	harness.Must[*ubl.Posted](x.House, x.room, nested(100))
	for _, levels := range []int{101, 999, 1000, 1001} {
		if _, err := x.Runtime.Ask(t.Context(), x.room, nested(levels)); ubl.CodeOf(err) != ubl.CodeValidation {
			t.Errorf("%d levels: %v", levels, err)
		}
	}
}

// TestContentTypesOfAuthors: a type that the server doesn't read is the author's own words. The
// ledger never has them, and a redaction takes them away.
func TestContentTypesOfAuthors(t *testing.T) {
	x := openTalk(t)
	said := x.enter(x.bob, ubl.EntryMessage, "", ubl.TypedBody{Type: "text/jane-leaves", Bytes: []byte("x")})
	x.enter(x.bob, ubl.EntryEdit, said.ID, ubl.TypedBody{Type: "text/jane-leaves", Bytes: []byte("y")})
	x.enter(x.bob, ubl.EntryRedaction, said.ID, ubl.RedactionContent(""))
	if bytes.Contains(x.stored(), []byte("jane")) {
		t.Error("the type is still stored")
	}
}

// TestRedactionAfterTheEnd: what somebody wrote they may take back whatever the terms are, and
// after the Agreement's end; owners may, too. Nothing else is written then.
func TestRedactionAfterTheEnd(t *testing.T) {
	x := openTalk(t)
	first, second, third := x.say(x.bob, "first"), x.say(x.bob, "second"), x.say(x.bob, "third")
	harness.Must[*ubl.AgreementView](x.House, x.room, ubl.ProposeTerms{Request: x.Request(x.ana), Terms: ubl.Terms{
		Form: ubl.TermsForm, Accept: ubl.AcceptProposer, Permits: []ubl.Permit{{Did: "*", To: []string{ubl.ToOwners}}},
	}})
	x.enter(x.bob, ubl.EntryRedaction, first.ID, ubl.RedactionContent(""))
	harness.Must[any](x.House, x.room, ubl.EndAgreement{Request: x.Request(x.ana)})
	x.enter(x.bob, ubl.EntryRedaction, second.ID, ubl.RedactionContent(""))
	x.enter(x.ana, ubl.EntryRedaction, third.ID, ubl.RedactionContent("over"))
	if _, err := x.Runtime.Ask(t.Context(), x.room, x.post(x.bob, ubl.EntryMessage, "", ubl.TextContent("more"))); ubl.CodeOf(err) != ubl.CodeForbidden {
		t.Errorf("a message after the end: %v", err)
	}
}

// TestEditsFitTheLimitOfMessages: neither bytes nor a closed tool are gone round by an edit.
func TestEditsFitTheLimitOfMessages(t *testing.T) {
	x := openTalk(t)
	said := x.say(x.bob, "short")
	harness.Must[*ubl.AgreementView](x.House, x.room, ubl.ProposeTerms{Request: x.Request(x.ana), Terms: ubl.Terms{
		Form: ubl.TermsForm, Accept: ubl.AcceptProposer, Limits: []ubl.Limit{{Did: string(ubl.DidSend), Bytes: 20}},
		Permits: []ubl.Permit{{Did: "*", To: []string{ubl.ToOwners}}, {Did: "messenger.*", To: []string{ubl.ToEntries}}},
	}})
	x.enter(x.bob, ubl.EntryMessage, "", ubl.TextContent(strings.Repeat("x", 20)))
	if _, err := x.Runtime.Ask(t.Context(), x.room, x.post(x.bob, ubl.EntryEdit, said.ID, ubl.TextContent(strings.Repeat("x", 21)))); ubl.CodeOf(err) != ubl.CodeTooLarge {
		t.Errorf("an edit that is longer than a message may be: %v", err)
	}
}

// TestClosedToolsCloseTheirParts: who may not read messages doesn't read entries, and who may
// not send doesn't edit.
func TestClosedToolsCloseTheirParts(t *testing.T) {
	x := openTalk(t)
	tenant := ubl.TenantName(x.ana.TenantID)
	uses := func(tool string, want ubl.Code) {
		t.Helper()
		if _, err := x.Runtime.Ask(t.Context(), tenant, ubl.Enter{Request: x.Request(x.bob), Tool: tool}); ubl.CodeOf(err) != want {
			t.Errorf("%s: %v, want %q", tool, err, want)
		}
	}
	for whole, parts := range map[string][]string{"messenger.history": {"messenger.entries", "messenger.entry"}, "messenger.send": {"messenger.edit"}} {
		for _, tool := range parts {
			uses(tool, "")
		}
		harness.Must[*ubl.ToolAccess](x.House, tenant, ubl.SetToolAccess{Request: x.Request(x.ana), Tool: whole})
		for _, tool := range parts {
			uses(tool, ubl.CodeForbidden)
		}
	}
}

package actors_test

import (
	"encoding/json"
	"strings"
	"testing"

	"ubl"
	"ubl/test/harness"
)

// ownIn is what somebody reads of their own in a room, one entry a line, and the whole page.
func ownIn(h *harness.House, room ubl.Name, who ubl.Identity) (lines string, page *ubl.HistoryPage) {
	after := int64(0)
	page = harness.Must[*ubl.HistoryPage](h, room, ubl.ReadHistory{Who: who, After: &after, Limit: 200, Own: true})
	for _, e := range page.Entries {
		lines += string(e) + "\n"
	}
	return lines, page
}

// TestOwnEntries: who was removed from a private room reads there what they said themselves, and
// nothing of anybody else: no messages, no words of others that they forwarded, no reactions, and
// not how far the room has got.
func TestOwnEntries(t *testing.T) {
	x := openForwarding(t)
	send := func(who ubl.Identity, text string) (m ubl.Message) {
		if err := json.Unmarshal(harness.Must[*ubl.Sent](x.House, x.other, ubl.SendMessage{Request: x.Request(who), Text: text}).Message, &m); err != nil {
			t.Fatal(err)
		}
		return m
	}
	send(x.bob, "bob's first")
	mine := send(x.cem, "cem's words")
	gone := send(x.cem, "cem's regret")
	harness.Must[*ubl.Posted](x.House, x.other, ubl.PostEntry{Request: x.Request(x.cem), Type: ubl.EntryRedaction, Target: gone.MsgID, Body: ubl.RedactionContent("")})
	harness.Must[*ubl.Posted](x.House, x.other, ubl.PostEntry{Request: x.Request(x.bob), Type: ubl.EntryReaction, Target: mine.MsgID, Body: ubl.ReactionContent("👍")})
	harness.Must[*ubl.Member](x.House, x.other, ubl.RemoveMember{Request: x.Request(x.bob), UserID: x.cem.UserID})
	send(x.bob, "bob's last")
	x.Refused(ubl.CodeNotAMember, x.other, ubl.ReadHistory{Who: x.cem, Limit: 10})

	own, page := ownIn(x.House, x.other, x.cem)
	if !strings.Contains(own, "cem's words") {
		t.Errorf("cem's own message is not among %s", own)
	}
	for _, foreign := range []string{"bob's first", "bob's last", "cem's regret", "👍"} {
		if strings.Contains(own, foreign) {
			t.Errorf("cem reads %q in %s", foreign, own)
		}
	}
	if page.Messages != nil || page.NextCursor != nil || page.Head != (ubl.Head{}) {
		t.Errorf("the page tells more than cem's own: %+v", page)
	}
	service := x.cem
	service.IsService = true
	after := int64(0)
	x.Refused(ubl.CodeNotAMember, x.other, ubl.ReadHistory{Who: service, After: &after, Limit: 10, Own: true})
}

// TestOwnForwarded: of a message that repeats another's words only the comment is its sender's own.
func TestOwnForwarded(t *testing.T) {
	x := openForwarding(t)
	var m ubl.Message
	said := harness.Must[*ubl.Sent](x.House, x.room, ubl.SendMessage{Request: x.Request(x.ana), Text: "ana's secret"})
	if err := json.Unmarshal(said.Message, &m); err != nil {
		t.Fatal(err)
	}
	x.repeated(x.forward(x.room, m.MsgID, "look at this"))
	x.repeated(x.forward(x.room, m.MsgID, ""))
	own, _ := ownIn(x.House, x.other, x.bob)
	if strings.Contains(own, "ana's secret") || strings.Contains(own, string(x.ana.UserID)) || !strings.Contains(own, "look at this") {
		t.Errorf("bob's own are %s", own)
	}
}

// TestExportOwn: taking one's data home leaves a receipt that says whose it is and no more. Only the
// person does it.
func TestExportOwn(t *testing.T) {
	w := openScheduler(t, harness.Options{})
	exported := harness.Must[*ubl.OwnExport](w.House, personOf(w.ana), ubl.ExportOwn{Request: w.Request(w.ana)})
	pair := harness.Must[*ubl.ReceiptPair](w.House, ubl.LedgerName(w.ana.TenantID), ubl.GetReceipt{Seq: exported.Receipt.Seq})
	var action struct {
		Did  ubl.Did         `json:"did"`
		This json.RawMessage `json:"this"`
	}
	if err := json.Unmarshal(pair.Atoms[0], &action); err != nil {
		t.Fatal(err)
	}
	if want := `{"user_id":"` + string(w.ana.UserID) + `"}`; action.Did != "user.export" || string(action.This) != want {
		t.Errorf("the act is %s about %s", action.Did, action.This)
	}
	w.Refused(ubl.CodeForbidden, personOf(w.ana), ubl.ExportOwn{Request: w.Request(w.bob)})
	service := w.ana
	service.IsService = true
	w.Refused(ubl.CodeForbidden, personOf(w.ana), ubl.ExportOwn{Request: w.Request(service)})
	w.VerifyLedger(w.ana.TenantID)
}

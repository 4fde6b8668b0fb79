package room_test

import (
	"encoding/json"
	"testing"

	"ubl"
	"ubl/actors/agreement"
	"ubl/actors/room"
	"ubl/test/harness"
)

// TestAnsweredAgain: each command that changes a room is answered from memory as a retry
// is from the store, while the room is in memory and after it was loaded.
func TestAnsweredAgain(t *testing.T) {
	h := harness.Open(t, harness.Options{})
	ana, bob, cem := harness.User("ana@example.com"), harness.User("bob@example.com"), harness.User("cem@example.com")
	for _, who := range []ubl.Identity{ubl.Platform(), ana, bob, cem} {
		h.Enter(who)
	}
	made := harness.Must[*ubl.RoomSummary](h, ubl.TenantName(ana.TenantID), ubl.CreateRoom{Request: h.Request(ana), Name: "plans"})
	plans, ops := ubl.RoomName(ana.TenantID, made.RoomID), ubl.RoomName(ubl.CoreTenant, ubl.OpsRoom)
	again := &harness.Again{House: h, Alike: map[string]string{
		"RemoveMember.UserID":    "who removes themselves leaves, which is another act",
		"RemoveMember.Expel":     "the Tenant's, whose keys are its own",
		"RemoveMember.Heir":      "as Expel",
		"RemoveMember.Named":     "as Expel",
		"SetHeir.Agreement":      "there is one",
		"EndAgreement.Agreement": "there is one",
		"Announce.Did":           "another act has other keys",
		"PostEntry.Type":         "another act has other keys",
		"Announce.This":          "follows from the act and the text",
	}}
	ask := again.Ask
	days, hours, join, entry := 3, 5, ubl.JoinTenant, ubl.Member{UserID: bob.UserID, Email: bob.Email, Role: ubl.RoleMember}
	sent := ask(plans, ubl.SendMessage{Request: h.Request(ana), Text: "do <this>\u2028\n"}).(*ubl.Sent)
	if sent.RoomSeq != 2 {
		t.Errorf("the first message is answered %+v", sent)
	}
	var said ubl.Message
	if err := json.Unmarshal(sent.Message, &said); err != nil {
		t.Fatal(err)
	}
	ask(plans, ubl.PostEntry{Request: h.Request(ana), Type: ubl.EntryEdit, Target: said.MsgID, Body: ubl.TextContent("do <that>\u2028")})
	ask(plans, ubl.SendMessage{Request: h.Request(ana), Text: "who?", Mentions: []ubl.Mention{ubl.MentionRoom}, ReplyTo: said.MsgID, Thread: said.MsgID})
	pictures := []ubl.Attachment{
		{Name: "a <b>.png", Type: "image/png", SHA256: ubl.BlobIDOf([32]byte{1}), Bytes: 7, Width: 2, Height: 3, Thumbnail: true},
		{Name: "c.txt", Type: "text/plain", SHA256: ubl.BlobIDOf([32]byte{2}), Bytes: 5},
	}
	shown := ask(plans, ubl.SendMessage{Request: h.Request(ana), Attachments: pictures}).(*ubl.Sent)
	if err := json.Unmarshal(shown.Message, &said); err != nil {
		t.Fatal(err)
	}
	ask(plans, ubl.PostEntry{Request: h.Request(ana), Type: ubl.EntryMessage, Body: ubl.TextContent("see"), Attachments: pictures[:1]})
	ask(plans, ubl.SendMessage{Request: h.Request(ana), Text: "see", Forward: &ubl.Forward{
		MessageRef: ubl.MessageRef{RoomID: "r:general", MsgID: said.MsgID},
		Copy:       &ubl.MessageCopy{Forwarded: ubl.Forwarded{At: said.SentAt, AuthorID: bob.UserID}, Text: "words <b>"},
	}})
	keeps := ubl.KeptFiles{Files: []ubl.FileID{said.Attachments[1].FileID}}
	ask(plans, ubl.PostEntry{Request: h.Request(ana), Type: ubl.EntryEdit, Target: said.MsgID, Body: ubl.TextContent(""), Keeps: &keeps})
	ask(plans, ubl.AddMember{Request: h.Request(ana), Member: entry})
	ask(plans, ubl.SetMember{Request: h.Request(ana), UserID: bob.UserID, Role: ubl.RoleOwner})
	ask(plans, ubl.SetRoomPolicy{Request: h.Request(ana), Patch: ubl.RoomPolicyPatch{RetentionDays: &days, RetentionHours: &hours, Join: &join}})
	ask(plans, ubl.JoinRoom{Request: h.Request(cem)})
	join = ubl.JoinInvite
	ask(plans, ubl.SetRoomPolicy{Request: h.Request(ana), Patch: ubl.RoomPolicyPatch{Join: &join}})
	ask(plans, ubl.RemoveMember{Request: h.Request(cem), UserID: cem.UserID})
	ask(plans, ubl.DescribeRoom{Request: h.Request(ana), Patch: ubl.RoomDescriptionPatch{Name: new("Plans, new"), Topic: new("next"), Description: new("*All* of it")}})
	call := ask(plans, ubl.BeginRoomCall{Request: h.Request(ana)}).(*ubl.RoomCall)
	ask(plans, ubl.EndRoomCall{Request: h.Request(bob), CallID: call.CallID})
	direct := harness.Must[*ubl.RoomSummary](h, ubl.TenantName(ana.TenantID), ubl.OpenDirect{Request: h.Request(ana), With: []ubl.UserID{bob.UserID}})
	dm := ubl.RoomName(ana.TenantID, direct.RoomID)
	ask(dm, ubl.RemoveMember{Request: h.Request(bob), UserID: bob.UserID})
	ask(dm, agreement.ShowDirect{Request: h.Request(bob)})
	ask(plans, ubl.SetHeir{Request: h.Request(ana), Heir: entry})
	harness.AskTerms(h, ask, plans, ana, bob)
	ask(plans, ubl.RemoveMember{Request: h.Request(bob), UserID: bob.UserID})
	ask(plans, ubl.RemoveMember{Request: h.Request(ana), UserID: ana.UserID, Expel: true}) // nobody is left
	ask(plans, agreement.Inherit{Request: h.Request(ana), Heir: entry})
	ask(plans, ubl.EndAgreement{Request: h.Request(bob)})
	ask(ops, ubl.Announce{Request: h.Request(ubl.Platform()), Text: "hello"})
	ask(ops, ubl.Announce{Request: h.Request(ubl.Platform()), Did: ubl.DidPlatformStart, This: ubl.Fields{ubl.Str("node_id", "n1")}, Text: "Node n1 started."})
	again.End(room.Changing())
	h.VerifyLedger(ana.TenantID)
}

package container_test

import (
	"crypto/sha256"
	"encoding/json"
	"strings"
	"testing"

	"ubl"
	"ubl/actors/agreement"
	"ubl/actors/container"
	"ubl/test/harness"
)

// blobID names a content that some file has.
var blobID = ubl.BlobIDOf(sha256.Sum256([]byte("content")))

// TestAnsweredAgain: each command that changes a container is answered from memory as a
// retry is from the store, while the container is in memory and after it was loaded.
func TestAnsweredAgain(t *testing.T) {
	h := openCaptured(t, 1000).House
	ana, bob := harness.User("ana@example.com"), harness.User("bob@example.com")
	h.Enter(ana)
	h.Enter(bob)
	here, there := wallet(h, ana, "here"), wallet(h, ana, "there")
	made := harness.Must[*ubl.ContainerMade](h, ubl.TenantName(ana.TenantID), ubl.CreateContainer{
		Request: h.Request(ana), Kind: "workspace", Name: "plans",
	})
	plans := ubl.ContainerName(ana.TenantID, made.Container.ContainerID)
	again := &harness.Again{House: h, Alike: map[string]string{
		"RemoveMember.UserID":    "who removes themselves leaves, which is another act",
		"RemoveMember.Expel":     "the Tenant's, whose keys are its own",
		"RemoveMember.Heir":      "as Expel",
		"RemoveMember.Named":     "as Expel",
		"SetHeir.Agreement":      "there is one",
		"EndAgreement.Agreement": "there is one",
	}, Reads: map[string]string{
		"UpdateDocument": "one of the title alone: the text is in no state",
		"Transfer":       "it is carried on after its commit, from where it is: at a retry, too",
	}}
	ask := again.Ask
	title, content, entry := "Plan B", "do that", ubl.Member{UserID: bob.UserID, Email: bob.Email, Role: ubl.RoleMember}
	document := ask(plans, ubl.CreateDocument{Request: h.Request(ana), Title: " Plan A ", Content: "do <this>\u2028\n"}).(*ubl.DocumentResult)
	if d := document.Document; d.Title != "Plan A" || d.Content != "do <this>\u2028\n" || d.Receipt != document.Receipt || d.Receipt.Seq == 0 {
		t.Errorf("the document is answered %+v", d)
	}
	id := document.Document.DocumentID
	ask(plans, ubl.UpdateDocument{Request: h.Request(ana), DocumentID: id, Content: &content})
	ask(plans, ubl.UpdateDocument{Request: h.Request(ana), DocumentID: id, Title: &title})
	if gone := ask(plans, ubl.DeleteDocument{Request: h.Request(ana), DocumentID: id}).(*ubl.DocumentResult); gone.Document.Receipt != gone.Receipt {
		t.Errorf("the deleted document is answered %+v", gone)
	}
	key := ubl.DocumentKey{Type: "tag", ID: "commons"}
	published := ubl.DocumentToPublish{DocumentKey: key, Path: "tags/commons.md", Title: "Commons", Content: "Shared", Metadata: json.RawMessage(`{"publish":true}`)}
	ask(plans, ubl.PublishDocuments{Request: h.Request(ana), Commit: strings.Repeat("0", 40), Put: []ubl.DocumentToPublish{published}, Remove: []ubl.DocumentKey{{Type: "tag", ID: "never"}}})
	ask(plans, ubl.PublishDocuments{Request: h.Request(ana), Remove: []ubl.DocumentKey{key}, RemoveMost: true})
	put := ask(plans, ubl.PutFile{Request: h.Request(ana), Name: " plan.pdf ", Type: "Application/PDF", Blob: blobID, Bytes: 7}).(*ubl.FileResult)
	if f := put.File; f.Name != "plan.pdf" || f.Type != "application/pdf" || f.Receipt != put.Receipt || f.ContentHash != f.Salt.Commit(blobID.Sum()) {
		t.Errorf("the file is answered %+v", f)
	}
	removed := ask(plans, ubl.RemoveFile{Request: h.Request(ana), FileID: put.File.FileID}).(*ubl.FileResult)
	if removed.File.Receipt != removed.Receipt || removed.Receipt == put.Receipt {
		t.Errorf("the removed file is answered %+v", removed)
	}
	ask(plans, ubl.AddMember{Request: h.Request(ana), Member: entry})
	ask(plans, ubl.SetMember{Request: h.Request(ana), UserID: bob.UserID, Role: ubl.RoleOwner})
	ask(plans, ubl.SetHeir{Request: h.Request(ana), Heir: entry})
	harness.AskTerms(h, ask, plans, ana, bob)
	ask(plans, ubl.RemoveMember{Request: h.Request(bob), UserID: bob.UserID})
	ask(plans, ubl.RemoveMember{Request: h.Request(ana), UserID: ana.UserID, Expel: true}) // nobody is left
	ask(plans, agreement.Inherit{Request: h.Request(ana), Heir: entry})
	ask(plans, ubl.EndAgreement{Request: h.Request(bob)})
	ask(here, container.Credit{Request: h.Request(ana), Amount: 5})
	ask(here, ubl.Transfer{Request: h.Request(ana), To: ubl.ContainerID(there.Local()), Amount: 3})
	again.End(container.Changing())
	h.VerifyLedger(ana.TenantID)
}

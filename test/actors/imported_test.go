package actors_test

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"ubl"
	"ubl/test/harness"
)

// origin is where something of another ledger is from.
func origin(seq int64) *ubl.ImportedFrom {
	return &ubl.ImportedFrom{
		AuthorID: "u:dora", AuthorName: "Dora", At: 1_700_000_000_000, CID: "c:" + strings.Repeat("0a", 32), Seq: seq, TenantID: "t:elsewhere.org",
	}
}

// TestImportedEntries: an owner posts what was said elsewhere, and the entry and its act name
// where. Everybody else is refused, and so is a claim that is none.
func TestImportedEntries(t *testing.T) {
	x := openTalk(t)
	imports := func(who ubl.Identity, kind ubl.EntryType, target ubl.MessageID, body ubl.TypedBody, from *ubl.ImportedFrom) ubl.PostEntry {
		c := x.post(who, kind, target, body)
		c.ImportedFrom = from
		return c
	}
	said := x.decode(harness.Must[*ubl.Posted](x.House, x.room, imports(x.ana, ubl.EntryMessage, "", ubl.TextContent("hello"), origin(7))).Entry)
	made := []*ubl.Entry{said}
	for kind, body := range map[ubl.EntryType]ubl.TypedBody{
		ubl.EntryEdit: ubl.TextContent("hello!"), ubl.EntryReaction: ubl.ReactionContent("👍"), ubl.EntryPin: ubl.PinContent(true),
	} {
		made = append(made, x.decode(harness.Must[*ubl.Posted](x.House, x.room, imports(x.ana, kind, said.ID, body, origin(8))).Entry))
	}
	for _, e := range made {
		if e.ImportedFrom == nil || e.ImportedFrom.AuthorName != "Dora" || e.AuthorID != x.ana.UserID {
			t.Errorf("%s is by %s, imported from %+v", e.Type, e.AuthorID, e.ImportedFrom)
		}
		this := x.actOf(e.Receipt)
		if this["imported_from"] != e.ImportedFrom.CID || this["imported_hash"] != e.Salt.Commit(canonicalOf(t, e.ImportedFrom)) {
			t.Errorf("the act of the %s says %v", e.Type, this)
		}
	}
	plain := x.say(x.ana, "of here")
	if this := x.actOf(plain.Receipt); plain.ImportedFrom != nil || this["imported_from"] != nil {
		t.Errorf("what was said here is %+v, its act %v", plain.ImportedFrom, this)
	}
	noName := *origin(9)
	noName.AuthorName = "u:ana"
	twoLines := *origin(9)
	twoLines.AuthorName = "Dora)\n12 Bob"
	early := *origin(9)
	early.At = ubl.TimeOf(x.Clock.Now().Add(2 * time.Minute))
	agent := x.ana
	agent.Mandate = &ubl.Mandate{}
	for name, refused := range map[string]struct {
		want ubl.Code
		c    ubl.PostEntry
	}{
		"by a member":           {ubl.CodeForbidden, imports(x.bob, ubl.EntryMessage, "", ubl.TextContent("x"), origin(7))},
		"by an agent":           {ubl.CodeForbidden, imports(agent, ubl.EntryMessage, "", ubl.TextContent("x"), origin(7))},
		"from no tenant":        {ubl.CodeValidation, imports(x.ana, ubl.EntryMessage, "", ubl.TextContent("x"), &ubl.ImportedFrom{AuthorID: "u:dora", At: 1, CID: origin(1).CID, Seq: 1})},
		"from before the first": {ubl.CodeValidation, imports(x.ana, ubl.EntryMessage, "", ubl.TextContent("x"), origin(0))},
		"beyond what JSON has":  {ubl.CodeValidation, imports(x.ana, ubl.EntryMessage, "", ubl.TextContent("x"), origin(1<<60))},
		"under an id as a name": {ubl.CodeValidation, imports(x.ana, ubl.EntryMessage, "", ubl.TextContent("x"), &noName)},
		"under two lines":       {ubl.CodeValidation, imports(x.ana, ubl.EntryMessage, "", ubl.TextContent("x"), &twoLines)},
		"from the future":       {ubl.CodeValidation, imports(x.ana, ubl.EntryMessage, "", ubl.TextContent("x"), &early)},
	} {
		t.Run(name, func(t *testing.T) { x.Refused(refused.want, x.room, refused.c) })
	}
	x.enter(x.ana, ubl.EntryRedaction, said.ID, ubl.RedactionContent(""))
	for _, e := range x.entries() {
		if e.ID == said.ID && (e.Body != nil || e.ImportedFrom.AuthorName != "" || e.ImportedFrom.CID != origin(7).CID) {
			t.Errorf("redacted it is %+v, from %+v", e.Body, e.ImportedFrom)
		}
	}
	x.VerifyLedger(x.ana.TenantID)
}

// TestImportedDocuments: a version and a file keep where they come from, over a reload, and
// the version that somebody writes here says nothing of it.
func TestImportedDocuments(t *testing.T) {
	y := openYard(t, harness.Open(t, harness.Options{}))
	shelf := y.found("workspace", "Shelf", "")
	y.add(shelf, y.bob, ubl.RoleMember)
	y.Refused(ubl.CodeForbidden, shelf, ubl.CreateDocument{Request: y.Request(y.bob), Title: "Plan", Content: "x", ImportedFrom: origin(7)})
	early := *origin(7)
	early.At = ubl.TimeOf(y.Clock.Now().Add(2 * time.Minute))
	y.Refused(ubl.CodeValidation, shelf, ubl.CreateDocument{Request: y.Request(y.ana), Title: "Plan", Content: "x", ImportedFrom: &early})
	y.Refused(ubl.CodeValidation, shelf, ubl.PutFile{Request: y.Request(y.ana), Name: "a.txt", Blob: ubl.BlobIDOf([32]byte{1}), ImportedFrom: &early})
	first := harness.Must[*ubl.DocumentResult](y.House, shelf, ubl.CreateDocument{Request: y.Request(y.ana), Title: "Plan", Content: "x", ImportedFrom: origin(7)}).Document
	text := "y"
	second := harness.Must[*ubl.DocumentResult](y.House, shelf, ubl.UpdateDocument{Request: y.Request(y.ana), DocumentID: first.DocumentID, Content: &text, ImportedFrom: origin(8)}).Document
	harness.Must[*ubl.DocumentResult](y.House, shelf, ubl.UpdateDocument{Request: y.Request(y.bob), DocumentID: first.DocumentID, Content: &text})
	blob := ubl.BlobIDOf([32]byte{1})
	file := harness.Must[*ubl.FileResult](y.House, shelf, ubl.PutFile{Request: y.Request(y.ana), Name: "a.txt", Blob: blob, ImportedFrom: origin(9)}).File
	y.Restart()
	list := harness.Must[*ubl.DocumentList](y.House, shelf, ubl.ListVersions{Request: y.Request(y.bob), DocumentID: first.DocumentID, Limit: 10}).Documents
	if len(list) != 3 || list[0].ImportedFrom.Seq != 7 || list[1].ImportedFrom.Seq != 8 || list[2].ImportedFrom != nil {
		t.Errorf("the versions are %+v", list)
	}
	again := harness.Must[*ubl.FileResult](y.House, shelf, ubl.GetFile{Request: y.Request(y.bob), FileID: file.FileID}).File
	if again.ImportedFrom == nil || *again.ImportedFrom != *origin(9) {
		t.Errorf("the file is from %+v", again.ImportedFrom)
	}
	for salt, receipt := range map[ubl.Salt]ubl.Receipt{first.Salt: first.Receipt, second.Salt: second.Receipt, file.Salt: file.Receipt} {
		if this := actOf(y.House, y.ana, receipt); this["imported_from"] != origin(7).CID || this["imported_hash"] == nil || salt.IsZero() {
			t.Errorf("its act says %v", this)
		}
	}
	y.VerifyLedger(y.ana.TenantID)
}

// actOf is what the act of a receipt says of what it was about.
func actOf(h *harness.House, who ubl.Identity, r ubl.Receipt) map[string]any {
	page := harness.Must[*ubl.AtomPage](h, ubl.LedgerName(who.TenantID), ubl.ReadAtoms{From: r.Seq, Limit: 1})
	var atom struct{ This map[string]any }
	if err := json.Unmarshal(page.Atoms[0], &atom); err != nil {
		return nil
	}
	return atom.This
}

func (x *talk) actOf(r ubl.Receipt) map[string]any { return actOf(x.House, x.ana, r) }

// canonicalOf is what a commitment is made of.
func canonicalOf(t *testing.T, v any) []byte {
	t.Helper()
	data, err := json.Marshal(v)
	if err == nil {
		data, err = ubl.Canonical(data)
	}
	if err != nil {
		t.Fatal(err)
	}
	return data
}

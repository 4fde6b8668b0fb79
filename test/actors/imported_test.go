package actors_test

import (
	"encoding/json"
	"slices"
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

// sourced is where something of another product's export is from.
func sourced(change func(*ubl.ImportedFrom)) *ubl.ImportedFrom {
	f := &ubl.ImportedFrom{
		AuthorID: ubl.Slack.Author("U012AB3CD"), AuthorName: "Dora", At: 1_700_000_000_000, TenantID: ubl.Slack.Workspace("T024BE7LD"),
		Source: &ubl.ImportedSource{ID: "T024BE7LD/C012AB3CD/1700000000.000100", MemberID: "u:bob", Product: ubl.Slack, EditedAt: 1_700_000_001_000},
	}
	if change != nil {
		change(f)
	}
	return f
}

// TestImportedFromProducts: what another product's export has is its importer's act, whoever the
// importer says wrote it. A source can't look like a member's or like another ledger's.
func TestImportedFromProducts(t *testing.T) {
	x := openTalk(t)
	imports := func(kind ubl.EntryType, target ubl.MessageID, body ubl.TypedBody, from *ubl.ImportedFrom) ubl.PostEntry {
		c := x.post(x.ana, kind, target, body)
		c.ImportedFrom = from
		return c
	}
	said := x.decode(harness.Must[*ubl.Posted](x.House, x.room, imports(ubl.EntryMessage, "", ubl.TextContent("hello"), sourced(nil))).Entry)
	if f := said.ImportedFrom; said.AuthorID != x.ana.UserID || f == nil || f.CID != "" || f.Source == nil || *f.Source != *sourced(nil).Source {
		t.Errorf("it is by %s, imported from %+v", said.AuthorID, f)
	}
	if this := x.actOf(said.Receipt); this["imported_from"] != nil || this["imported_product"] != "slack" || this["imported_hash"] != said.Salt.Commit(canonicalOf(t, said.ImportedFrom)) {
		t.Errorf("its act says %v", this)
	}
	for _, who := range []string{"U1", "U2"} { // two people of there, and one of here
		x.decode(harness.Must[*ubl.Posted](x.House, x.room, imports(ubl.EntryReaction, said.ID, ubl.ReactionContent("👍"), sourced(func(f *ubl.ImportedFrom) {
			f.AuthorID, f.AuthorName = ubl.Slack.Author(who), "Person "+who
		}))).Entry)
	}
	reacted := func() *ubl.Reactions {
		page := harness.Must[*ubl.HistoryPage](x.House, x.room, ubl.ReadHistory{Who: x.bob, Limit: 200, Entries: true, Now: true})
		for _, raw := range page.Entries {
			if e := x.decode(raw); e.ID == said.ID && len(e.Reactions) == 1 {
				return &e.Reactions[0]
			}
		}
		t.Fatal("the message has no reactions")
		return nil
	}
	if r := reacted(); r.Count != 2 || r.By == nil || len(r.By) != 0 || !slices.Equal(r.Imported, []string{"Person U1", "Person U2"}) {
		t.Errorf("two imported reactions are told as %+v", r)
	}
	x.enter(x.bob, ubl.EntryReaction, said.ID, ubl.ReactionContent("👍"))
	x.Restart()
	if r := reacted(); r.Count != 3 || len(r.By) != 1 || r.By[0].UserID != x.bob.UserID {
		t.Errorf("with one of here they are %+v", r)
	}
	for name, change := range map[string]func(*ubl.ImportedFrom){
		"of another product":             func(f *ubl.ImportedFrom) { f.Source.Product = "irc" },
		"whose author could be a member": func(f *ubl.ImportedFrom) { f.AuthorID = "u:bob" },
		"whose tenant could be one":      func(f *ubl.ImportedFrom) { f.TenantID = "t:elsewhere.org" },
		"without an id":                  func(f *ubl.ImportedFrom) { f.Source.ID = "" },
		"with an id of two lines":        func(f *ubl.ImportedFrom) { f.Source.ID = "a\nb" },
		"with a long id":                 func(f *ubl.ImportedFrom) { f.Source.ID = strings.Repeat("x", ubl.MaxSourceID+1) },
		"of a member that is none":       func(f *ubl.ImportedFrom) { f.Source.MemberID = "bob" },
		"edited in the future":           func(f *ubl.ImportedFrom) { f.Source.EditedAt = 1 << 50 },
		"with half an act":               func(f *ubl.ImportedFrom) { f.Seq = 3 },
		"with neither":                   func(f *ubl.ImportedFrom) { f.Source = nil },
	} {
		t.Run(name, func(t *testing.T) {
			x.Refused(ubl.CodeValidation, x.room, imports(ubl.EntryMessage, "", ubl.TextContent("x"), sourced(change)))
		})
	}
	x.enter(x.ana, ubl.EntryRedaction, said.ID, ubl.RedactionContent(""))
	for _, e := range x.entries() {
		if e.ID == said.ID && (e.ImportedFrom.AuthorName != "" || e.ImportedFrom.Source.MemberID != "" || e.ImportedFrom.Source.ID != sourced(nil).Source.ID) {
			t.Errorf("redacted it is from %+v, %+v", e.ImportedFrom, e.ImportedFrom.Source)
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

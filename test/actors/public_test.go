package actors_test

import (
	"cmp"
	"encoding/json"
	"fmt"
	"math"
	"reflect"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"ubl"
	"ubl/test/harness"
)

// publicPhysics are those of documents that anyone reads.
var publicPhysics = &ubl.Physics{Fungibility: ubl.Versioned, Topology: ubl.Objects, Permeability: ubl.Public, Execution: ubl.Disabled}

// publish has ana make a container of the kind "container", with a document.
func (h *agreedHouse) publish(name string, as ubl.Physics) (at ubl.Name, doc ubl.DocumentID) {
	h.t.Helper()
	made := harness.Must[*ubl.ContainerMade](h.House, h.tenant, ubl.CreateContainer{Request: h.Request(h.ana), Kind: "container", Name: name, Physics: &as})
	at = ubl.ContainerName(h.ana.TenantID, made.Container.ContainerID)
	if as.Fungibility != ubl.Transient {
		doc = harness.Must[*ubl.DocumentResult](h.House, at, ubl.CreateDocument{Request: h.Request(h.ana), Title: "Rules", Content: "Be kind."}).Document.DocumentID
	}
	return at, doc
}

// TestShownToAnyone: who asks without an identity is shown what physics and terms let anyone
// see, while both Agreements are in force. All else never was, as far as they can tell.
func TestShownToAnyone(t *testing.T) {
	const nothing = "not_found not_found not_found"
	day := 24 * time.Hour
	for name, test := range map[string]struct {
		physics ubl.Physics
		then    func(h *agreedHouse, at ubl.Name, doc ubl.DocumentID)
		want    string // the container, its list, the document
	}{
		"what is public":                {want: "ok ok ok"},
		"what is open to the tenant":    {physics: ubl.Physics{Fungibility: ubl.Versioned, Topology: ubl.Objects, Permeability: ubl.Open, Execution: ubl.Disabled}, want: nothing},
		"what keeps no documents":       {physics: ubl.Physics{Fungibility: ubl.Transient, Topology: ubl.Links, Permeability: ubl.Public, Execution: ubl.Disabled}, want: nothing},
		"terms without documents":       {then: agrees(permit("container.get", ubl.ToAnyone)), want: "ok not_found not_found"},
		"terms without the list":        {then: agrees(permit("container.get", ubl.ToAnyone), permit("office.document.get", ubl.ToAnyone)), want: "ok not_found ok"},
		"terms without the container":   {then: agrees(permit("office.*", ubl.ToAnyone)), want: nothing},
		"terms for the tenant":          {then: agrees(permit("*", ubl.ToTenant)), want: nothing},
		"terms that have not begun":     {then: runs(day, 0), want: nothing},
		"terms that have ended by time": {then: runs(0, day), want: nothing},
		"after the Agreement's end": {want: nothing, then: func(h *agreedHouse, at ubl.Name, _ ubl.DocumentID) {
			h.want("", "the end", at, ubl.EndAgreement{Request: h.Request(h.ana)})
		}},
		"after the tenant's end": {want: nothing, then: func(h *agreedHouse, _ ubl.Name, _ ubl.DocumentID) {
			h.want("", "the end", h.tenant, ubl.EndAgreement{Request: h.Request(h.ana)})
		}},
		"a document that was deleted": {want: "ok ok not_found", then: func(h *agreedHouse, at ubl.Name, doc ubl.DocumentID) {
			h.want("", "the deletion", at, ubl.DeleteDocument{Request: h.Request(h.ana), DocumentID: doc})
		}},
	} {
		t.Run(name, func(t *testing.T) {
			h := openAgreed(t)
			if test.physics == (ubl.Physics{}) {
				test.physics = *publicPhysics
			}
			at, doc := h.publish("handbook", test.physics)
			if test.then != nil {
				test.then(h, at, doc)
			}
			var got []string
			for _, look := range []ubl.Command{ubl.LookPublic{}, ubl.ListPublic{}, ubl.ReadPublic{DocumentID: doc}} {
				_, err := h.Ask(t.Context(), at, look)
				got = append(got, map[bool]string{true: "ok", false: string(ubl.CodeOf(err))}[err == nil])
			}
			if strings.Join(got, " ") != test.want {
				t.Errorf("anyone gets %v, want %s", got, test.want)
			}
		})
	}
}

// agrees brings terms into force that permit this, and to owners the rest.
func agrees(permits ...ubl.Permit) func(*agreedHouse, ubl.Name, ubl.DocumentID) {
	return func(h *agreedHouse, at ubl.Name, _ ubl.DocumentID) {
		h.agree(at, ubl.Terms{Permits: append(permits, permit("*", ubl.ToOwners))})
	}
}

// runs has terms for anyone begin and end at times from now; then a little more time passes
// than until the end.
func runs(from, until time.Duration) func(*agreedHouse, ubl.Name, ubl.DocumentID) {
	return func(h *agreedHouse, at ubl.Name, _ ubl.DocumentID) {
		terms := ubl.Terms{Permits: []ubl.Permit{permit("*", ubl.ToAnyone), permit("*", ubl.ToOwners)}}
		now := ubl.TimeOf(h.Clock.Now())
		if from > 0 {
			terms.From = now.Add(from)
		}
		if until > 0 {
			terms.Until = now.Add(until)
		}
		h.agree(at, terms)
		if until > 0 {
			h.Clock.Add(until + time.Minute)
		}
	}
}

// TestShownVersions: anyone reads earlier versions, too, and no others.
func TestShownVersions(t *testing.T) {
	h := openAgreed(t)
	at, doc := h.publish("handbook", *publicPhysics)
	title, content := "Our rules", "Be kinder."
	h.want("", "a change", at, ubl.UpdateDocument{Request: h.Request(h.bob), DocumentID: doc, Content: &content})
	h.want("", "a title", at, ubl.UpdateDocument{Request: h.Request(h.bob), DocumentID: doc, Title: &title})
	for n, want := range map[int64]string{0: "Our rules: Be kinder.", 1: "Rules: Be kind.", 2: "Rules: Be kinder.", 3: "Our rules: Be kinder."} {
		d := harness.Must[*ubl.PublicDocument](h.House, at, ubl.ReadPublic{DocumentID: doc, Version: n})
		if got := d.Title + ": " + d.Content; got != want || d.Salt.CommitText("content", d.Content) != d.ContentHash {
			t.Errorf("version %d is %q, want %q, or not what its hash commits to", n, got, want)
		}
	}
	for _, n := range []int64{-1, 4, 1 << 60} {
		h.want(ubl.CodeNotFound, "a version that never was", at, ubl.ReadPublic{DocumentID: doc, Version: n})
	}
	for _, id := range []ubl.DocumentID{"", "d:", "d:none", doc + "x"} {
		h.want(ubl.CodeNotFound, "a document that never was", at, ubl.ReadPublic{DocumentID: id})
	}
}

// TestShownInPages: a page continues behind a document, which need not be there any more.
func TestShownInPages(t *testing.T) {
	h := openAgreed(t)
	at, first := h.publish("handbook", *publicPhysics)
	docs := []ubl.DocumentID{first}
	for range ubl.PublicPage {
		docs = append(docs, harness.Must[*ubl.DocumentResult](h.House, at, ubl.CreateDocument{Request: h.Request(h.ana), Title: "More"}).Document.DocumentID)
	}
	page := harness.Must[*ubl.PublicDocuments](h.House, at, ubl.ListPublic{})
	if len(page.Documents) != ubl.PublicPage || page.Next == nil || !page.Listed || page.Documents[0].Content != "" {
		t.Fatalf("the first page has %d documents, next %v, listed %t", len(page.Documents), page.Next, page.Listed)
	}
	h.want("", "a deletion", at, ubl.DeleteDocument{Request: h.Request(h.ana), DocumentID: *page.Next})
	rest := harness.Must[*ubl.PublicDocuments](h.House, at, ubl.ListPublic{After: *page.Next})
	if len(rest.Documents) != 1 || rest.Documents[0].DocumentID != docs[ubl.PublicPage] || rest.Next != nil || rest.Listed {
		t.Errorf("behind it are %+v", rest)
	}
}

// TestShownWithoutTrace: being looked at leaves nothing in the ledger, and tells nobody's id.
func TestShownWithoutTrace(t *testing.T) {
	h := openAgreed(t)
	at, doc := h.publish("handbook", *publicPhysics)
	ledger := ubl.LedgerName(h.ana.TenantID)
	before := harness.Must[ubl.LedgerHead](h.House, ledger, ubl.GetLedgerHead{})
	for _, look := range []ubl.Command{ubl.LookPublic{}, ubl.ListPublic{}, ubl.ReadPublic{DocumentID: doc}} {
		answer, err := h.Ask(t.Context(), at, look)
		text, failed := json.Marshal(answer)
		if err != nil || failed != nil || strings.Contains(string(text), `"u:`) || strings.Contains(string(text), "@") {
			t.Errorf("%T is answered %s, %v", look, text, err)
		}
	}
	if after := harness.Must[ubl.LedgerHead](h.House, ledger, ubl.GetLedgerHead{}); after != before {
		t.Errorf("the ledger went from %+v to %+v", before, after)
	}
}

// TestPublicChangesAreTold: each act that may change what anyone is shown is told before it
// is answered, and moves the count by which copies are checked.
func TestPublicChangesAreTold(t *testing.T) {
	h := openAgreed(t)
	at, doc := h.publish("handbook", *publicPhysics)
	var told []string
	defer h.Subscribe(ubl.LedgerName(h.ana.TenantID), func(p ubl.Publication) {
		for _, e := range p.Events {
			if e.Kind == ubl.EventContainerChanged {
				told = append(told, string(e.Payload))
			}
		}
	})()
	content := "Be kinder."
	count := harness.Must[*ubl.PublicContainer](h.House, at, ubl.LookPublic{}).Events
	for what, cmd := range map[string]ubl.Command{
		"a version":  ubl.UpdateDocument{Request: h.Request(h.ana), DocumentID: doc, Content: &content},
		"a document": ubl.CreateDocument{Request: h.Request(h.ana), Title: "More"},
		"an entry":   ubl.AddMember{Request: h.Request(h.ana), Member: ubl.Member{UserID: h.bob.UserID, Email: h.bob.Email, Role: ubl.RoleOwner}},
		"terms": ubl.ProposeTerms{Request: h.Request(h.ana), Terms: ubl.Terms{Form: ubl.TermsForm, Accept: ubl.AcceptProposer,
			Permits: []ubl.Permit{permit("*", ubl.ToAnyone), permit("*", ubl.ToOwners)}}},
	} {
		told = nil
		h.want("", what, at, cmd)
		if !reflect.DeepEqual(told, []string{`{"container_id":"` + at.Local() + `"}`}) {
			t.Errorf("after %s was told %v", what, told)
		}
		now := harness.Must[*ubl.PublicContainer](h.House, at, ubl.LookPublic{}).Events
		if now != count+1 {
			t.Errorf("%s moved the count from %d to %d", what, count, now)
		}
		count = now
	}
	told = nil
	h.want("", "the tenant's end", h.tenant, ubl.EndAgreement{Request: h.Request(h.ana)})
	if !slices.Equal(told, []string{`{"container_id":""}`}) {
		t.Errorf("after the tenant's end was told %v", told)
	}
}

// TestFilesAndSearchForAnyone: what is found by words is shown by the usual terms, files only by
// terms that say so; neither leaves a trace or names anybody.
func TestFilesAndSearchForAnyone(t *testing.T) {
	h := openAgreed(t)
	at, doc := h.publish("handbook", *publicPhysics)
	put := harness.Must[*ubl.FileResult](h.House, at, ubl.PutFile{
		Request: h.Request(h.ana), Name: "rules.pdf", Type: "application/pdf", Blob: contentID("rules"), Bytes: 5, DocumentID: doc,
	}).File
	found := harness.Must[*ubl.PublicHits](h.House, at, ubl.SearchPublic{DocumentQuery: ubl.DocumentQuery{Query: "kind"}})
	if len(found.Documents) != 1 || found.Documents[0].DocumentID != doc || found.Documents[0].Snippet == "" || found.Events == 0 {
		t.Errorf("found are %+v", found)
	}
	h.want(ubl.CodeValidation, "no words", at, ubl.SearchPublic{DocumentQuery: ubl.DocumentQuery{Query: " "}})
	for _, look := range []ubl.Command{ubl.ListPublicFiles{}, ubl.ReadPublicFile{FileID: put.FileID}} {
		h.want(ubl.CodeNotFound, "a file under the usual terms", at, look)
	}
	agrees(permit("container.get", ubl.ToAnyone), permit("office.file.list", ubl.ToAnyone), permit("office.file.get", ubl.ToAnyone))(h, at, doc)
	before := harness.Must[ubl.LedgerHead](h.House, ubl.LedgerName(h.ana.TenantID), ubl.GetLedgerHead{})
	list := harness.Must[*ubl.PublicFiles](h.House, at, ubl.ListPublicFiles{})
	f := harness.Must[*ubl.PublicFile](h.House, at, ubl.ReadPublicFile{FileID: put.FileID})
	if len(list.Files) != 1 || list.Next != nil || !list.Listed || f.SHA256 != put.SHA256 || f.DocumentID != doc || f.Events != list.Events || f.Events == 0 {
		t.Errorf("listed are %+v, read is %+v", list, f)
	}
	text, err := json.Marshal([]any{list, f, found})
	if err != nil || strings.Contains(string(text), `"u:`) || strings.Contains(string(text), "@") {
		t.Errorf("anyone is told %s, %v", text, err)
	}
	h.want(ubl.CodeNotFound, "a search that the terms don't name", at, ubl.SearchPublic{DocumentQuery: ubl.DocumentQuery{Query: "kind"}})
	h.want(ubl.CodeNotFound, "a file that never was", at, ubl.ReadPublicFile{FileID: "f:none"})
	if after := harness.Must[ubl.LedgerHead](h.House, ubl.LedgerName(h.ana.TenantID), ubl.GetLedgerHead{}); after != before {
		t.Errorf("the ledger went from %+v to %+v", before, after)
	}
	h.want("", "the deletion", at, ubl.DeleteDocument{Request: h.Request(h.ana), DocumentID: doc})
	h.want(ubl.CodeNotFound, "a file whose document was deleted", at, ubl.ReadPublicFile{FileID: put.FileID})
}

// TestKnowledgeForAnyone: what was published in a public container is listed, read and found by its type
// and id, with what it says of itself. What was written there is no part of it, and what is published
// elsewhere isn't either.
func TestKnowledgeForAnyone(t *testing.T) {
	h := openAgreed(t)
	at, _ := h.publish("handbook", *publicPhysics)
	published := func(kind, id, says, content string) ubl.DocumentToPublish {
		return ubl.DocumentToPublish{DocumentKey: ubl.DocumentKey{Type: kind, ID: id}, Path: kind + "/" + id + ".md", Title: id, Metadata: []byte(says), Content: content}
	}
	h.want("", "the publication", at, ubl.PublishDocuments{Request: h.Request(h.ana), Commit: strings.Repeat("a", 40), Put: []ubl.DocumentToPublish{
		published("pattern", "cells", `{"group":"Governance","release":["r1","r2"],"description":"Small groups","tags":["people"]}`, "# Cells\n\nA kind group is small: [[rules]]."),
		published("article", "rules", `{"group":"governance"}`, "Rules are kind."),
		published("pattern", "apart", `{"release":"r1","group":["x",7]}`, strings.Repeat("kind ", 200_000)),
		published("pattern", "far", `{"date":"2999-01-31T10:00:00Z"}`, strings.Repeat("kind ", 200_000)),
	}})
	h.want("", "another publication", at, ubl.PublishDocuments{Request: h.Request(h.ana), Put: []ubl.DocumentToPublish{
		published("tag", "long", `{}`, strings.Repeat("kind ", 200_000)),
		published("tag", "longer", `{}`, strings.Repeat("kind ", 200_000)),
		published("tag", "longest", `{}`, strings.Repeat("kind ", 200_000)),
	}})
	before := harness.Must[ubl.LedgerHead](h.House, ubl.LedgerName(h.ana.TenantID), ubl.GetLedgerHead{})
	for what, test := range map[string]struct {
		ubl.ListKnowledge
		total int
		ids   []string
	}{
		"all":                  {ubl.ListKnowledge{}, 7, []string{"rules", "apart", "cells", "far", "long", "longer", "longest"}},
		"a type":               {ubl.ListKnowledge{Type: "pattern"}, 3, []string{"apart", "cells", "far"}},
		"a group, in any case": {ubl.ListKnowledge{Group: "governance"}, 2, []string{"rules", "cells"}},
		"a release of several": {ubl.ListKnowledge{Release: "r1"}, 2, []string{"apart", "cells"}},
		"a tag":                {ubl.ListKnowledge{Tag: "People"}, 1, []string{"cells"}},
		"the newest":           {ubl.ListKnowledge{Newest: true, Limit: 2, Brief: true}, 7, []string{"far", "rules"}},
		"both":                 {ubl.ListKnowledge{Release: "R2", Group: "governance"}, 1, []string{"cells"}},
		"a part":               {ubl.ListKnowledge{Offset: 1, Limit: 2}, 7, []string{"apart", "cells"}},
		"behind all":           {ubl.ListKnowledge{Offset: 9}, 7, []string{}},
		"none":                 {ubl.ListKnowledge{Type: "story"}, 0, []string{}},
	} {
		test.Limit = cmp.Or(test.Limit, 20)
		l := harness.Must[*ubl.KnowledgeList](h.House, at, test.ListKnowledge)
		ids, bytes := []string{}, 0
		for _, k := range l.Data {
			ids = append(ids, k.ID)
			if k.Content != nil {
				bytes += len(*k.Content)
			}
		}
		if l.Total != test.total || !slices.Equal(ids, test.ids) || l.Offset != test.Offset || l.Limit != test.Limit || l.Events == 0 || bytes > ubl.MaxKnowledgeBytes {
			t.Errorf("%s: listed are %q of %d, with %d bytes", what, ids, l.Total, bytes)
		}
	}
	key := ubl.DocumentKey{Type: "pattern", ID: "cells"}
	k := harness.Must[*ubl.KnowledgeFound](h.House, at, ubl.ReadKnowledge{DocumentKey: key}).Data
	if *k.Content != "# Cells\n\nA kind group is small: [[rules]]." || k.Path != "pattern/cells.md" || k.CommitSHA != strings.Repeat("a", 40) || !strings.Contains(string(k.Metadata), "Small groups") {
		t.Errorf("read is %+v", k)
	}
	if k.ContentHash != k.Salt.CommitText("content", *k.Content) {
		t.Error("its hash isn't that of its content")
	}
	if d := harness.Must[*ubl.PublicDocument](h.House, at, ubl.ReadPublic{DocumentID: k.DocumentID}); d.ContentHash != k.ContentHash || d.Version != k.Version {
		t.Errorf("as a document it is %+v", d)
	}
	linked := harness.Must[*ubl.KnowledgeFound](h.House, at, ubl.ReadKnowledge{DocumentKey: key, Linked: true})
	if want := []ubl.KnowledgeLink{{Target: "rules", Wiki: true, ContentType: "article", ID: "rules", Title: "rules"}}; !reflect.DeepEqual(linked.Links, want) || len(linked.Backlinks) != 0 {
		t.Errorf("it leads to %+v, and there lead to it %+v", linked.Links, linked.Backlinks)
	}
	if back := harness.Must[*ubl.KnowledgeFound](h.House, at, ubl.ReadKnowledge{DocumentKey: ubl.DocumentKey{Type: "article", ID: "rules"}, Linked: true}).Backlinks; !reflect.DeepEqual(back, []ubl.KnowledgeLink{{ContentType: "pattern", ID: "cells", Title: "cells"}}) {
		t.Errorf("there lead to it %+v", back)
	}
	sought := ubl.SearchKnowledge{DocumentQuery: ubl.DocumentQuery{Query: "which small groups are kind?", Any: true}, Limit: 1}
	hits := harness.Must[*ubl.KnowledgeHits](h.House, at, sought)
	if len(hits.Results) != 1 || hits.Results[0].ID != "cells" || hits.Results[0].Description != "Small groups" || hits.Results[0].Under != "Cells" {
		t.Errorf("found are %+v", hits)
	}
	sought.Where, sought.Limit = []ubl.Condition{{Name: "type", Value: "article"}}, 20
	if hits := harness.Must[*ubl.KnowledgeHits](h.House, at, sought); len(hits.Results) != 1 || hits.Results[0].ID != "rules" {
		t.Errorf("found of another type are %+v", hits)
	}
	all := harness.Must[*ubl.KnowledgeOverview](h.House, at, ubl.OverviewKnowledge{})
	if want := (&ubl.KnowledgeOverview{
		Name: all.Name, Total: 7, Events: all.Events, Access: ubl.KnowledgeAccess{Search: ubl.TierOpen, Entries: ubl.TierOpen},
		Types:  []ubl.KnowledgeCount{{Name: "article", Count: 1}, {Name: "pattern", Count: 3}, {Name: "tag", Count: 3}},
		Groups: []ubl.KnowledgeCount{{Name: "Governance", Count: 2}, {Name: "x", Count: 1}}, Releases: []ubl.KnowledgeCount{{Name: "r1", Count: 2}, {Name: "r2", Count: 1}},
		Tags: []ubl.KnowledgeCount{{Name: "people", Count: 1}},
	}); !reflect.DeepEqual(all, want) || all.Events == 0 || all.Name == "" {
		t.Errorf("the overview is %+v, want %+v", all, want)
	}
	text, err := json.Marshal([]any{k, hits, all})
	if err != nil || strings.Contains(string(text), `"u:`) || strings.Contains(string(text), "@") {
		t.Errorf("anyone is told %s, %v", text, err)
	}
	if after := harness.Must[ubl.LedgerHead](h.House, ubl.LedgerName(h.ana.TenantID), ubl.GetLedgerHead{}); after != before {
		t.Errorf("the ledger went from %+v to %+v", before, after)
	}
	for what, cmd := range map[string]ubl.Command{"a list of none": ubl.ListKnowledge{}, "a list of too many": ubl.ListKnowledge{Limit: ubl.MaxKnowledge + 1}, "a long list with contents": ubl.ListKnowledge{Limit: 101}, "a brief one that is too long": ubl.ListKnowledge{Limit: 5001, Brief: true}, "a list from before": ubl.ListKnowledge{Offset: -1, Limit: 1},
		"a type that is none": ubl.ListKnowledge{Type: "A", Limit: 1}, "a search for too many": ubl.SearchKnowledge{DocumentQuery: sought.DocumentQuery, Limit: 21}} {
		h.want(ubl.CodeValidation, what, at, cmd)
	}
	h.want(ubl.CodeNotFound, "one that never was", at, ubl.ReadKnowledge{DocumentKey: ubl.DocumentKey{Type: "article", ID: "cells"}})
	h.want("", "the removal", at, ubl.PublishDocuments{Request: h.Request(h.ana), Remove: []ubl.DocumentKey{key}})
	if back := harness.Must[*ubl.KnowledgeFound](h.House, at, ubl.ReadKnowledge{DocumentKey: ubl.DocumentKey{Type: "article", ID: "rules"}, Linked: true}).Backlinks; back != nil {
		t.Errorf("from what was removed lead %+v", back)
	}
	h.want(ubl.CodeNotFound, "one that was removed", at, ubl.ReadKnowledge{DocumentKey: key})
	closed, _ := h.publish("closed", ubl.WorkspaceKind().Physics)
	for _, cmd := range []ubl.Command{ubl.ListKnowledge{Limit: 1}, ubl.ReadKnowledge{DocumentKey: key}, ubl.SearchKnowledge{DocumentQuery: sought.DocumentQuery, Limit: 1}, ubl.OverviewKnowledge{}} {
		h.want(ubl.CodeNotFound, "what isn't public", closed, cmd)
	}
	agrees(permit("container.get", ubl.ToAnyone), permit("office.document.list", ubl.ToAnyone))(h, at, "")
	h.want(ubl.CodeNotFound, "a list with contents that the terms don't show", at, ubl.ListKnowledge{Limit: 1})
	if all := harness.Must[*ubl.KnowledgeOverview](h.House, at, ubl.OverviewKnowledge{}); all.Access != (ubl.KnowledgeAccess{Search: ubl.TierMembers, Entries: ubl.TierMembers}) || all.Total == 0 {
		t.Errorf("the overview under terms that show lists alone is %+v", all)
	}
	agrees(permit("container.get", ubl.ToAnyone))(h, at, "")
	h.want(ubl.CodeNotFound, "an overview that the terms don't show", at, ubl.OverviewKnowledge{})
}

// TestListsForAnyoneCostLittle: anyone may list a commons by as many groups as they can think of. What its documents
// say of themselves is read once for all of these, and once more after a change.
func TestListsForAnyoneCostLittle(t *testing.T) {
	h := openAgreed(t)
	at, _ := h.publish("handbook", *publicPhysics)
	const documents, per = 2000, 100
	says := []byte(`{"group":"g","tags":["` + strings.Repeat("t", 500) + `"]}`)
	for from := 0; from < documents; from += per {
		var put []ubl.DocumentToPublish
		for i := range per {
			id := fmt.Sprintf("d%04d", from+i)
			put = append(put, ubl.DocumentToPublish{DocumentKey: ubl.DocumentKey{Type: "tag", ID: id}, Path: id + ".md", Title: id, Metadata: says, Content: "kind"})
		}
		h.want("", "a publication", at, ubl.PublishDocuments{Request: h.Request(h.ana), Put: put})
	}
	total := func(group string) int {
		return harness.Must[*ubl.KnowledgeList](h.House, at, ubl.ListKnowledge{Group: group, Limit: 1}).Total
	}
	if n := total("g"); n != documents {
		t.Fatalf("%d documents are of the group", n)
	}
	least := uint64(math.MaxUint64) // of several, since others work in the background
	for i := range 10 {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		if n := total(fmt.Sprint("none", i)); n != 0 {
			t.Fatalf("%d documents are of no group", n)
		}
		runtime.ReadMemStats(&after)
		least = min(least, after.TotalAlloc-before.TotalAlloc)
	}
	if least > 64<<10 {
		t.Errorf("a list of %d documents allocates %d KiB", documents, least>>10)
	}
	h.want("", "a removal", at, ubl.PublishDocuments{Request: h.Request(h.ana), Remove: []ubl.DocumentKey{{Type: "tag", ID: "d0000"}}})
	if n := total("G"); n != documents-1 {
		t.Errorf("after a removal %d documents are of the group", n)
	}
}

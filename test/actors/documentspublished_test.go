package actors_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"ubl"
	"ubl/test/harness"
	"ubl/test/poll"
)

// press is a yard with a workspace that publishes what a source outside has.
type press struct {
	*yard
	at ubl.Name
}

func openPress(t *testing.T) *press {
	y := openYard(t, harness.Open(t, harness.Options{}))
	return &press{y, y.found("workspace", "Commons", "")}
}

func page(kind, id, title, content string) ubl.DocumentToPublish {
	return ubl.DocumentToPublish{
		DocumentKey: ubl.DocumentKey{Type: kind, ID: id}, Path: kind + "/" + id + ".md", Title: title, Content: content,
		Metadata: json.RawMessage(`{"tags":["sea"],"publish":true}`),
	}
}

// publish tells in a few words what an act has changed.
func (p *press) publish(cmd ubl.PublishDocuments) string {
	p.t.Helper()
	if cmd.Request.ID == "" {
		cmd.Request = p.Request(p.ana)
	}
	made, err := ubl.Ask[*ubl.DocumentsPublished](p.t.Context(), p.Runtime, p.at, cmd)
	if err != nil {
		return string(ubl.CodeOf(err)) + ": " + ubl.AsError(err).Message
	}
	var said []string
	for _, c := range made.Changed {
		s := fmt.Sprintf("v%d", c.Version)
		if c.Removed {
			s += " removed"
		}
		said = append(said, s)
	}
	return fmt.Sprintf("%s; %d unchanged", strings.Join(said, ", "), made.Unchanged)
}

// listed are the documents by their keys.
func (p *press) listed() map[string]*ubl.Document {
	p.t.Helper()
	out := map[string]*ubl.Document{}
	for _, d := range harness.Must[*ubl.DocumentList](p.House, p.at, ubl.ListDocuments{Request: p.Request(p.ana), Limit: 100}).Documents {
		out[d.Published.Type+"/"+d.Published.ID] = d
	}
	return out
}

// TestPublishedAsTheSourceHas: each act brings documents to what the source has now, whatever
// was here, and says so of those alone that have changed.
func TestPublishedAsTheSourceHas(t *testing.T) {
	p := openPress(t)
	const first, second = "0123456789012345678901234567890123456789", "abcdefabcdefabcdefabcdefabcdefabcdefabcd"
	tag, index, other := page("tag", "tide", "Tide", "The sea rises."), page("tag", "index", "Tags", ""), page("group", "index", "Groups", "Who")
	both := []ubl.DocumentToPublish{tag, index, other}
	said := func(want string, cmd ubl.PublishDocuments) {
		t.Helper()
		if got := p.publish(cmd); got != want {
			t.Errorf("%+v has changed %s, want %s", cmd, got, want)
		}
	}
	before := p.head()
	said("v1, v1, v1; 0 unchanged", ubl.PublishDocuments{Commit: first, Put: both})
	if n := p.head() - before; n != 2 {
		t.Errorf("three documents have %d atoms, not an action and its effect", n)
	}
	said("; 3 unchanged", ubl.PublishDocuments{Commit: second, Put: both})
	tag.Content, index.Metadata = "The sea falls.", json.RawMessage(`{ "tags" : ["land"] }`)
	said("v2, v2; 2 unchanged", ubl.PublishDocuments{Commit: second, Put: []ubl.DocumentToPublish{tag, index, other}, Remove: []ubl.DocumentKey{{Type: "tag", ID: "never"}}})
	index.Path = "elsewhere/index.md"
	said("v3, v1 removed; 0 unchanged", ubl.PublishDocuments{Put: []ubl.DocumentToPublish{index}, Remove: []ubl.DocumentKey{other.DocumentKey}})

	all := p.listed()
	if len(all) != 2 {
		t.Fatalf("listed are %v", all)
	}
	d := p.document(p.at, all["tag/tide"].DocumentID)
	if d.Content != "The sea falls." || d.Published.Commit != second || d.Published.Path != "tag/tide.md" || string(d.Published.Metadata) != `{"publish":true,"tags":["sea"]}` {
		t.Errorf("the tag is %+v, published as %+v", d, d.Published)
	}
	if index := all["tag/index"]; string(index.Published.Metadata) != `{"tags":["land"]}` || index.Published.Commit != "" || index.CreatedAt > index.UpdatedAt {
		t.Errorf("the index is %+v, published as %+v", index, index.Published)
	}
	said("v1; 0 unchanged", ubl.PublishDocuments{Put: []ubl.DocumentToPublish{other}}) // it is back, as another document

	hits := func(query, want string) {
		t.Helper()
		if got := p.tell(p.at, ubl.SearchDocuments{Request: p.Request(p.ana), DocumentQuery: ubl.DocumentQuery{Query: query}}); got != want {
			t.Errorf("a search for %s finds %s, want %s", query, got, want)
		}
	}
	hits("falls", "Tide v2")
	hits("rises", "nothing")
	p.Restart()
	if again := p.listed(); len(again) != 3 || again["tag/tide"].DocumentID != all["tag/tide"].DocumentID {
		t.Errorf("after a restart listed are %v", again)
	}
	said("; 1 unchanged", ubl.PublishDocuments{Put: []ubl.DocumentToPublish{tag}})
	hits("falls", "Tide v2")
	p.checkLedger()
}

// TestPublishedAreOpened: the commitments of the effect are opened by what is served.
func TestPublishedAreOpened(t *testing.T) {
	p := openPress(t)
	before := p.head()
	p.publish(ubl.PublishDocuments{Put: []ubl.DocumentToPublish{page("tag", "one", "One", "1"), page("tag", "two", "Two", "2")}})
	var effect struct {
		Effects []struct {
			ID        ubl.DocumentID `json:"document_id"`
			Title     string         `json:"title_hash"`
			Content   string         `json:"content_hash"`
			Published string         `json:"published_hash"`
		} `json:"effects"`
	}
	p.eachAtom(before+1, func(atom json.RawMessage) {
		if len(effect.Effects) == 0 {
			if err := json.Unmarshal(atom, &effect); err != nil {
				t.Fatal(err)
			}
		}
	})
	if len(effect.Effects) != 2 {
		t.Fatalf("the effect is %+v", effect)
	}
	for _, e := range effect.Effects {
		d := p.document(p.at, e.ID)
		hash, err := d.Published.Hash(d.Salt)
		if err != nil || hash != e.Published || e.Title != d.Salt.CommitText("title", d.Title) || e.Content != d.Salt.CommitText("content", d.Content) {
			t.Errorf("the effect says %+v, the document %+v has %s, %v", e, d, hash, err)
		}
	}
}

// TestPublishedIsChangedThere: who would change a published document here is told where it is
// changed, and may take it away.
func TestPublishedIsChangedThere(t *testing.T) {
	p := openPress(t)
	p.publish(ubl.PublishDocuments{Put: []ubl.DocumentToPublish{page("tag", "tide", "Tide", "secret of the sea")}})
	d := p.listed()["tag/tide"]
	text := "mine"
	_, err := p.Ask(t.Context(), p.at, ubl.UpdateDocument{Request: p.Request(p.ana), DocumentID: d.DocumentID, Content: &text})
	if ubl.CodeOf(err) != ubl.CodeConflict || !strings.Contains(err.Error(), "tag/tide.md") {
		t.Errorf("to change it is answered %v", err)
	}
	there := p.found("workspace", "Archive", "")
	moved := harness.Must[*ubl.TransferResult](p.House, p.at, ubl.Transfer{Request: p.Request(p.ana), To: id(there), DocumentID: d.DocumentID})
	if copied := p.document(there, moved.DocumentID); copied.Published != nil {
		t.Errorf("the copy is published as %+v", copied.Published)
	}
	harness.Must[*ubl.DocumentResult](p.House, p.at, ubl.DeleteDocument{Request: p.Request(p.ana), DocumentID: d.DocumentID})
	if got := p.publish(ubl.PublishDocuments{Put: []ubl.DocumentToPublish{page("tag", "tide", "Tide", "again")}}); got != "v1; 0 unchanged" {
		t.Errorf("publishing it again has changed %s", got)
	}
}

// TestPublishedStrictStays: a strict document that its source has doesn't leave.
func TestPublishedStrictStays(t *testing.T) {
	p := openPress(t)
	strict := ubl.Physics{Fungibility: ubl.Strict, Topology: ubl.Objects, Permeability: ubl.Gated, Execution: ubl.Disabled}
	made := harness.Must[*ubl.ContainerMade](p.House, ubl.TenantName(p.ana.TenantID), ubl.CreateContainer{Request: p.Request(p.ana), Kind: "container", Name: "Safe", Physics: &strict})
	p.at = ubl.ContainerName(p.ana.TenantID, made.Container.ContainerID)
	p.publish(ubl.PublishDocuments{Put: []ubl.DocumentToPublish{page("tag", "tide", "Tide", "")}})
	cmd := ubl.Transfer{Request: p.Request(p.ana), To: "w:general", DocumentID: p.listed()["tag/tide"].DocumentID}
	if _, err := p.Ask(t.Context(), p.at, cmd); ubl.CodeOf(err) != ubl.CodeConflict {
		t.Errorf("it leaves: %v", err)
	}
}

// TestUnpublishedIsGone: what the source has no more is nowhere in the store a moment later,
// while what was published with it stays as it was.
func TestUnpublishedIsGone(t *testing.T) {
	p := openPress(t)
	gone, kept := page("tag", "gone", "A secret title", "a secret text"), page("tag", "kept", "Kept", "for good")
	gone.Metadata, gone.Path = json.RawMessage(`{"note":"a secret note"}`), "secret/gone.md"
	p.publish(ubl.PublishDocuments{Put: []ubl.DocumentToPublish{gone, kept}})
	b := &bin{yard: p.yard, work: p.at, private: []string{"secret", p.listed()["tag/gone"].Salt.String()}}
	if len(b.leaks()) != 2 {
		t.Fatalf("before, the store has only %v", b.leaks())
	}
	remove := ubl.PublishDocuments{Request: p.Request(p.ana), Remove: []ubl.DocumentKey{gone.DocumentKey}}
	p.publish(remove)
	p.Clock.Add(2 * time.Second)
	poll.Until(t, "it is redacted", func() bool { return len(b.leaks()) == 0 })
	if d := p.document(p.at, p.listed()["tag/kept"].DocumentID); d.Content != "for good" || d.Title != "Kept" || d.Published.Path != "tag/kept.md" {
		t.Errorf("what stays is %+v", d)
	}
	if got := p.publish(remove); got != "v1 removed; 0 unchanged" {
		t.Errorf("a retry is answered %s", got)
	}
	p.checkLedger()
}

// TestPublishRefuses: one document that is wrong, and nothing of the act is done. The error
// says which.
func TestPublishRefuses(t *testing.T) {
	p := openPress(t)
	good := page("tag", "good", "Good", "")
	many := make([]ubl.DocumentToPublish, ubl.MaxPublished+1)
	for i := range many {
		many[i] = page("tag", fmt.Sprint(i), "Many", "")
	}
	big := strings.Repeat("x", ubl.MaxPublishedBytes/5+1)
	var heavy []ubl.DocumentToPublish
	for i := range 5 {
		heavy = append(heavy, page("tag", fmt.Sprint(i), "Heavy", big))
	}
	for _, test := range []struct {
		what  string
		cmd   ubl.PublishDocuments
		wrong func(*ubl.DocumentToPublish)
		want  ubl.Code
	}{
		{"nothing", ubl.PublishDocuments{}, nil, ubl.CodeValidation},
		{"too many", ubl.PublishDocuments{Put: many}, nil, ubl.CodeTooLarge},
		{"too much", ubl.PublishDocuments{Put: heavy}, nil, ubl.CodeTooLarge},
		{"one twice", ubl.PublishDocuments{Put: []ubl.DocumentToPublish{good}, Remove: []ubl.DocumentKey{good.DocumentKey}}, nil, ubl.CodeValidation},
		{"a commit that is none", ubl.PublishDocuments{Commit: "main", Put: []ubl.DocumentToPublish{good}}, nil, ubl.CodeValidation},
		{"a commit that is none, and nothing to put", ubl.PublishDocuments{Commit: "main", Remove: []ubl.DocumentKey{good.DocumentKey}}, nil, ubl.CodeValidation},
		{"a key that is none", ubl.PublishDocuments{Remove: []ubl.DocumentKey{{Type: "tag", ID: "../x"}}}, nil, ubl.CodeValidation},
		{"no title", ubl.PublishDocuments{}, func(d *ubl.DocumentToPublish) { d.Title = " " }, ubl.CodeValidation},
		{"a type with a slash", ubl.PublishDocuments{}, func(d *ubl.DocumentToPublish) { d.Type = "a/b" }, ubl.CodeValidation},
		{"no type", ubl.PublishDocuments{}, func(d *ubl.DocumentToPublish) { d.Type = "" }, ubl.CodeValidation},
		{"a long id", ubl.PublishDocuments{}, func(d *ubl.DocumentToPublish) { d.ID = strings.Repeat("é", 33) }, ubl.CodeValidation},
		{"an id with a line", ubl.PublishDocuments{}, func(d *ubl.DocumentToPublish) { d.ID = "a\nb" }, ubl.CodeValidation},
		{"an id that turns around", ubl.PublishDocuments{}, func(d *ubl.DocumentToPublish) { d.ID = "plan\u202efdp" }, ubl.CodeValidation},
		{"an id with what nobody sees", ubl.PublishDocuments{}, func(d *ubl.DocumentToPublish) { d.ID = "tide\u200b" }, ubl.CodeValidation},
		{"a path that turns around", ubl.PublishDocuments{}, func(d *ubl.DocumentToPublish) { d.Path = "a/\u2066b.md" }, ubl.CodeValidation},
		{"a path with what nobody sees", ubl.PublishDocuments{}, func(d *ubl.DocumentToPublish) { d.Path = "a\u2060/b.md" }, ubl.CodeValidation},
		{"a path outside", ubl.PublishDocuments{}, func(d *ubl.DocumentToPublish) { d.Path = "../x.md" }, ubl.CodeValidation},
		{"a path from the root", ubl.PublishDocuments{}, func(d *ubl.DocumentToPublish) { d.Path = "/x.md" }, ubl.CodeValidation},
		{"metadata that is a list", ubl.PublishDocuments{}, func(d *ubl.DocumentToPublish) { d.Metadata = json.RawMessage(`[1]`) }, ubl.CodeValidation},
		{"metadata that says a thing twice", ubl.PublishDocuments{}, func(d *ubl.DocumentToPublish) { d.Metadata = json.RawMessage(`{"a":1,"a":2}`) }, ubl.CodeValidation},
		{"long metadata", ubl.PublishDocuments{}, func(d *ubl.DocumentToPublish) {
			d.Metadata = json.RawMessage(`{"a":"` + strings.Repeat("x", ubl.MaxMetadataBytes) + `"}`)
		}, ubl.CodeTooLarge},
		{"broken UTF-8", ubl.PublishDocuments{}, func(d *ubl.DocumentToPublish) { d.Content = "\xff" }, ubl.CodeValidation},
	} {
		if test.wrong != nil {
			bad := page("tag", "bad", "Bad", "")
			test.wrong(&bad)
			test.cmd.Put = []ubl.DocumentToPublish{good, bad}
		}
		got := p.publish(test.cmd)
		if !strings.HasPrefix(got, string(test.want)+": ") {
			t.Errorf("%s is answered %q, want %s", test.what, got, test.want)
		}
	}
	if all := p.listed(); len(all) != 0 {
		t.Errorf("published are %v", all)
	}
	if got := p.publish(ubl.PublishDocuments{Request: p.Request(p.bob), Put: []ubl.DocumentToPublish{good}}); !strings.HasPrefix(got, "not_found") {
		t.Errorf("who isn't in it is answered %q", got)
	}
}

// TestPublishRemovesMost: more than half of what is published goes only where the caller says so,
// and what isn't published counts neither way.
func TestPublishRemovesMost(t *testing.T) {
	p := openPress(t)
	var all []ubl.DocumentToPublish
	var keys []ubl.DocumentKey
	for _, id := range []string{"a", "b", "c", "d"} {
		all = append(all, page("tag", id, id, ""))
		keys = append(keys, all[len(all)-1].DocumentKey)
	}
	never := ubl.DocumentKey{Type: "tag", ID: "never"}
	for _, step := range []struct {
		cmd  ubl.PublishDocuments
		want string
	}{
		{ubl.PublishDocuments{Put: all[:3]}, "v1, v1, v1; 0 unchanged"},
		{ubl.PublishDocuments{Put: all[3:], Remove: keys[:2]}, "validation_error: this removes 2 of 3 published documents: say remove_most where that is meant"},
		{ubl.PublishDocuments{Put: all[3:], Remove: []ubl.DocumentKey{never}}, "v1; 1 unchanged"},
		{ubl.PublishDocuments{Remove: []ubl.DocumentKey{keys[0], keys[1], never}}, "v1 removed, v1 removed; 1 unchanged"},
		{ubl.PublishDocuments{Remove: keys[:3]}, "v1 removed; 2 unchanged"},
		{ubl.PublishDocuments{Remove: keys[3:]}, "validation_error: this removes 1 of 1 published documents: say remove_most where that is meant"},
		{ubl.PublishDocuments{Remove: keys[3:], RemoveMost: true}, "v1 removed; 0 unchanged"},
		{ubl.PublishDocuments{Remove: keys, RemoveMost: true}, "; 4 unchanged"},
	} {
		if got := p.publish(step.cmd); got != step.want {
			t.Errorf("%+v is answered %q, want %q", step.cmd, got, step.want)
		}
	}
}

// TestPublishRemovesAsDeletes: who may not delete documents removes none by publishing either, and
// publishes all the same.
func TestPublishRemovesAsDeletes(t *testing.T) {
	p := openPress(t)
	terms := ubl.Terms{Form: ubl.TermsForm, Accept: ubl.AcceptProposer, Permits: []ubl.Permit{
		permit(string(ubl.DidDocumentPublish), ubl.ToOwners), permit(string(ubl.DidAgreementPropose), ubl.ToOwners),
	}}
	harness.Must[*ubl.AgreementView](p.House, p.at, ubl.ProposeTerms{Request: p.Request(p.ana), Terms: terms})
	one := page("tag", "one", "One", "")
	if got := p.publish(ubl.PublishDocuments{Put: []ubl.DocumentToPublish{one}}); got != "v1; 0 unchanged" {
		t.Fatalf("publishing is answered %q", got)
	}
	if got := p.publish(ubl.PublishDocuments{Remove: []ubl.DocumentKey{one.DocumentKey}}); !strings.HasPrefix(got, string(ubl.CodeForbidden)+": ") {
		t.Errorf("removing is answered %q", got)
	}
}

package forward

import (
	"crypto/sha256"
	"encoding/json"
	"reflect"
	"slices"
	"time"

	"ubl"
	"ubl/actors/container"
)

// containers: a workspace with a document, two wallets with credits, and what
// goes from one to the other.
func (w *world) containers() {
	physics := ubl.Presets()["WORKSPACE_PRIVATE"]
	shelf := w.container(ubl.CreateContainer{Kind: "workspace", Name: "Shelf <b> é", Physics: &physics})
	from, to := w.container(ubl.CreateContainer{Kind: "wallet", Name: "from"}), w.container(ubl.CreateContainer{Kind: "wallet", Name: "to"})
	for _, receipted := range []bool{false, true} {
		list := must[*ubl.ContainerList](w.forwarder, w.tenant, ubl.ListContainers{Request: w.h.Request(w.bob), Receipted: receipted})
		if len(list.Containers) != 1 || (list.Receipt != nil) != receipted {
			w.t.Errorf("bob sees %+v", list)
		}
	}
	if b := must[*ubl.Balance](w.forwarder, w.tenant, ubl.IssueCredits{Request: w.h.Request(w.ana), To: local(from), Amount: ubl.MaxCredits}); b.Balance != ubl.MaxCredits {
		w.t.Errorf("the balance is %+v", b)
	}
	went := must[*ubl.TransferResult](w.forwarder, from, ubl.Transfer{Request: w.h.Request(w.ana), To: local(to), Amount: 7})
	if _, err := w.wire.EncodeCommand(nil, container.Credit{Request: w.h.Request(w.ana), Amount: 1}); err == nil {
		w.t.Error("another node may make credits")
	}
	if went.Amount != 7 || went.Receipt.Seq == 0 {
		w.t.Errorf("the transfer went as %+v", went)
	}
	if c := must[*ubl.Container](w.forwarder, from, ubl.GetContainer{Who: w.ana}); c.Balance != ubl.MaxCredits-7 || !c.Member {
		w.t.Errorf("the source is %+v", c)
	}
	if id := must[ubl.AgreementID](w.forwarder, shelf, ubl.Authorize{Request: w.h.Request(w.ana), Op: ubl.OpExecute}); id != "a:workspace:"+ubl.AgreementID(local(shelf)) {
		w.t.Errorf("the record in force is %s", id)
	}
	refused(w.forwarder, ubl.CodeNotFound, shelf, ubl.GetContainer{Who: w.bob})
	w.documents(shelf)
	w.terms(shelf)
	w.kinds()
}

// terms are proposed, amended, taken back and accepted: all that they can say.
func (w *world) terms(at ubl.Name) {
	must[*ubl.Member](w.forwarder, at, ubl.AddMember{Request: w.h.Request(w.ana), Member: ubl.Member{UserID: w.bob.UserID, Email: w.bob.Email, Role: ubl.RoleOwner}})
	terms := ubl.Terms{
		Form: ubl.TermsForm, Accept: ubl.AcceptOwners, Obligations: []string{"Keep it <b>."}, From: 1, Until: ubl.TimeOf(w.h.Clock.Now()).Add(1000 * time.Hour),
		Permits: []ubl.Permit{{Did: "*", To: []string{ubl.ToOwners, ubl.ToGroup + "staff"}}, {Did: "office.*", To: []string{ubl.ToEntries}}},
		Limits:  []ubl.Limit{{Did: "office.document.*", PerMinute: 60, Together: true, Bytes: 100_000}},
	}
	if v := must[*ubl.AgreementView](w.forwarder, at, ubl.ProposeTerms{Request: w.h.Request(w.ana), Terms: terms}); !reflect.DeepEqual(*v.Terms, terms) || v.Amended == 0 {
		w.t.Errorf("the Agreement is %+v", v)
	}
	terms.Until = 0
	proposed := must[*ubl.AgreementView](w.forwarder, at, ubl.ProposeTerms{Request: w.h.Request(w.ana), Terms: terms})
	if p := proposed.Proposal; p == nil || p.TermsHash != terms.Hash() || len(p.Waiting) != 1 {
		w.t.Errorf("the proposal is %+v", p)
	}
	must[*ubl.AgreementView](w.forwarder, at, ubl.WithdrawTerms{Request: w.h.Request(w.bob)})
	must[*ubl.AgreementView](w.forwarder, at, ubl.ProposeTerms{Request: w.h.Request(w.ana), Terms: terms})
	if v := must[*ubl.AgreementView](w.forwarder, at, ubl.AcceptTerms{Request: w.h.Request(w.bob), TermsHash: terms.Hash()}); v.Proposal != nil || v.Terms.Until != 0 {
		w.t.Errorf("the Agreement is %+v", v)
	}
}

// kinds are written, listed and forgotten.
func (w *world) kinds() {
	terms := ubl.Terms{Form: ubl.TermsForm, Accept: ubl.AcceptProposer, Permits: []ubl.Permit{{Did: "*", To: []string{ubl.ToOwners}}}}
	kind := ubl.Kind{Name: "case", Agreement: "case_agreement", Physics: ubl.WorkspaceKind().Physics, IDs: "case-", Terms: &terms,
		Content: []string{"text/plain"}, Tools: []string{"files.read"}}
	must[*ubl.Kind](w.forwarder, w.tenant, ubl.SetKind{Request: w.h.Request(w.ana), Kind: kind})
	if kinds := must[[]*ubl.Kind](w.forwarder, w.tenant, ubl.ListKinds{Who: w.bob}); len(kinds) != 4 || kinds[3].Name != "case" || !kinds[3].Own {
		w.t.Errorf("the kinds are %+v", kinds)
	}
	made := w.container(ubl.CreateContainer{Kind: "case", Name: "One"})
	if c := must[*ubl.Container](w.forwarder, made, ubl.GetContainer{Who: w.ana}); c.ContainerID != "k:case-one" || !reflect.DeepEqual(c.Tools, kind.Tools) {
		w.t.Errorf("the case is %+v", c)
	}
	must[*ubl.Kind](w.forwarder, w.tenant, ubl.RemoveKind{Request: w.h.Request(w.ana), Name: "case"})
	for _, at := range []ubl.Name{w.tenant, w.general} {
		if c := must[*ubl.Container](w.forwarder, at, ubl.GetContainer{Who: w.ana}); c.AgreementID == "" || c.Physics.Check() != nil {
			w.t.Errorf("as a container %s is %+v", at, c)
		}
	}
}

// shown is what anyone is told of a public container and its documents.
func (w *world) shown() {
	physics := ubl.Physics{Fungibility: ubl.Versioned, Topology: ubl.Objects, Permeability: ubl.Public, Execution: ubl.Disabled}
	at := w.container(ubl.CreateContainer{Kind: "container", Name: "Handbook", Physics: &physics})
	for range ubl.PublicPage + 1 {
		must[*ubl.DocumentResult](w.forwarder, at, ubl.CreateDocument{Request: w.h.Request(w.ana), Title: "Rules", Content: "Be kind."})
	}
	c := must[*ubl.PublicContainer](w.forwarder, at, ubl.LookPublic{})
	page := must[*ubl.PublicDocuments](w.forwarder, at, ubl.ListPublic{})
	if c.Documents != ubl.PublicPage+1 || c.Events == 0 || page.Events != c.Events || !page.Listed || page.Next == nil {
		w.t.Errorf("the container is %+v, its list %+v", c, page)
	}
	d := must[*ubl.PublicDocument](w.forwarder, at, ubl.ReadPublic{DocumentID: *page.Next, Version: 1})
	if d.Content != "Be kind." || d.Events != c.Events {
		w.t.Errorf("the document is %+v", d)
	}
	w.shownFiles(at)
}

// shownFiles is what anyone is told of its files, and finds there, once terms say so.
func (w *world) shownFiles(at ubl.Name) {
	put := must[*ubl.FileResult](w.forwarder, at, ubl.PutFile{
		Request: w.h.Request(w.ana), Name: "rules.pdf", Blob: ubl.BlobIDOf(sha256.Sum256(nil)), DocumentID: must[*ubl.PublicDocuments](w.forwarder, at, ubl.ListPublic{}).Documents[0].DocumentID,
	}).File
	must[*ubl.AgreementView](w.forwarder, at, ubl.ProposeTerms{Request: w.h.Request(w.ana), Terms: ubl.Terms{
		Form: ubl.TermsForm, Accept: ubl.AcceptProposer,
		Permits: []ubl.Permit{{Did: "*", To: []string{ubl.ToAnyone}}, {Did: "*", To: []string{ubl.ToOwners}}},
	}})
	list := must[*ubl.PublicFiles](w.forwarder, at, ubl.ListPublicFiles{})
	f := must[*ubl.PublicFile](w.forwarder, at, ubl.ReadPublicFile{FileID: put.FileID})
	if len(list.Files) != 1 || list.Files[0].FileID != f.FileID || f.NameHash != put.NameHash || f.DocumentID != put.DocumentID || f.Events != list.Events || f.Events == 0 {
		w.t.Errorf("the files are %+v, the file is %+v", list, f)
	}
	found := must[*ubl.PublicHits](w.forwarder, at, ubl.SearchPublic{DocumentQuery: ubl.DocumentQuery{Query: "kind"}})
	if len(found.Documents) != ubl.PublicHitsPage || found.Documents[0].Snippet == "" || found.Events != f.Events {
		w.t.Errorf("%d are found, the first is %+v", len(found.Documents), found.Documents[0])
	}
	w.shownKnowledge(at)
}

// shownKnowledge is what anyone is told of what was published in it.
func (w *world) shownKnowledge(at ubl.Name) {
	key := ubl.DocumentKey{Type: "pattern", ID: "cells"}
	must[*ubl.DocumentsPublished](w.forwarder, at, ubl.PublishDocuments{Request: w.h.Request(w.ana), Put: []ubl.DocumentToPublish{
		{DocumentKey: key, Path: "cells.md", Title: "Cells", Metadata: []byte(`{"group":"governance"}`), Content: "Cells are small."},
	}})
	list := must[*ubl.KnowledgeList](w.forwarder, at, ubl.ListKnowledge{Group: "governance", Limit: 2})
	one := must[*ubl.KnowledgeFound](w.forwarder, at, ubl.ReadKnowledge{DocumentKey: key})
	if list.Total != 1 || list.Events == 0 || one.Events != list.Events || one.Data.ContentHash != list.Data[0].ContentHash || *one.Data.Content != "Cells are small." {
		w.t.Errorf("the commons is %+v, one of it %+v", list, one)
	}
	found := must[*ubl.KnowledgeHits](w.forwarder, at, ubl.SearchKnowledge{DocumentQuery: ubl.DocumentQuery{Query: "what is small?", Any: true}, Limit: 5})
	if len(found.Results) != 1 || found.Results[0].ID != key.ID || found.Events != one.Events {
		w.t.Errorf("found are %+v", found)
	}
	all := must[*ubl.KnowledgeOverview](w.forwarder, at, ubl.OverviewKnowledge{})
	if all.Total != 1 || all.Groups[0] != (ubl.KnowledgeCount{Name: "governance", Count: 1}) || all.Access.Entries != ubl.TierOpen || all.Events != one.Events {
		w.t.Errorf("the overview is %+v", all)
	}
}

func (w *world) container(c ubl.CreateContainer) ubl.Name {
	c.Request = w.h.Request(w.ana)
	made := must[*ubl.ContainerMade](w.forwarder, w.tenant, c)
	return ubl.ContainerName(w.ana.TenantID, made.Container.ContainerID)
}

func local(name ubl.Name) ubl.ContainerID { return ubl.ContainerID(name.Local()) }

func (w *world) documents(shelf ubl.Name) {
	title, content := "Plan", "second \u2028 <b>"
	page := ubl.DocumentToPublish{DocumentKey: ubl.DocumentKey{Type: "tag", ID: "tide"}, Path: "tags/tide.md", Title: "Tide", Metadata: json.RawMessage(`{"publish":true}`)}
	key := []ubl.DocumentKey{page.DocumentKey}
	if made := must[*ubl.DocumentsPublished](w.forwarder, shelf, ubl.PublishDocuments{Request: w.h.Request(w.ana), Put: []ubl.DocumentToPublish{page}}); len(made.Changed) != 1 {
		w.t.Errorf("published are %+v", made)
	}
	must[*ubl.DocumentsPublished](w.forwarder, shelf, ubl.PublishDocuments{Request: w.h.Request(w.ana), Remove: key, RemoveMost: true})
	first := must[*ubl.DocumentResult](w.forwarder, shelf, ubl.CreateDocument{Request: w.h.Request(w.ana), Title: title, Content: "first"})
	id := first.Document.DocumentID
	must[*ubl.DocumentResult](w.forwarder, shelf, ubl.UpdateDocument{Request: w.h.Request(w.ana), DocumentID: id, Title: &title, Content: &content, IfVersion: 1})
	if got := must[*ubl.DocumentResult](w.forwarder, shelf, ubl.GetDocument{Request: w.h.Request(w.ana), DocumentID: id}); got.Document.Content != content || got.Document.Version != 2 {
		w.t.Errorf("the document is %+v", got.Document)
	}
	if none := must[*ubl.DocumentResult](w.forwarder, shelf, ubl.GetDocument{Request: w.h.Request(w.ana), DocumentID: "d:none"}); none.Document != nil || none.Receipt.Seq == 0 {
		w.t.Errorf("a document that isn't there is %+v", none)
	}
	if l := must[*ubl.DocumentList](w.forwarder, shelf, ubl.ListDocuments{Request: w.h.Request(w.ana), Limit: 10}); len(l.Documents) != 1 {
		w.t.Errorf("the documents are %+v", l)
	}
	if l := must[*ubl.DocumentList](w.forwarder, shelf, ubl.ListVersions{Request: w.h.Request(w.ana), DocumentID: id, Limit: 1}); len(l.Documents) != 1 || l.NextVersion != 1 {
		w.t.Errorf("the versions are %+v", l)
	}
	nothing(w.forwarder, shelf, ubl.PrepareFile{Request: w.h.Request(w.ana), Name: "plan.pdf", Bytes: 7})
	blob := ubl.BlobIDOf(sha256.Sum256([]byte("content")))
	put := must[*ubl.FileResult](w.forwarder, shelf, ubl.PutFile{Request: w.h.Request(w.ana), Name: "plan.pdf", Blob: blob, Bytes: 7, DocumentID: id}).File
	must[*ubl.FileResult](w.forwarder, shelf, ubl.GetFile{Request: w.h.Request(w.ana), FileID: put.FileID})
	if l := must[*ubl.FileList](w.forwarder, shelf, ubl.ListFiles{Request: w.h.Request(w.ana), Limit: 10}); len(l.Files) != 1 {
		w.t.Errorf("listed are %d files", len(l.Files))
	}
	must[*ubl.FileResult](w.forwarder, shelf, ubl.RemoveFile{Request: w.h.Request(w.ana), FileID: put.FileID})
	must[*ubl.Collected](w.forwarder, w.tenant, ubl.CollectBlobs{Request: w.h.Request(ubl.Platform()), NodeID: "n1", Blobs: []ubl.BlobID{blob}, Bytes: []int64{7}})
	must[*ubl.Receipt](w.forwarder, w.tenant, ubl.RefuseFile{Request: w.h.Request(ubl.Platform()), NodeID: "n1", UserID: w.ana.UserID, Bytes: 68, Found: "Eicar-Test-Signature"})
	hits := must[*ubl.DocumentHits](w.forwarder, shelf, ubl.SearchDocuments{Request: w.h.Request(w.ana), DocumentQuery: ubl.DocumentQuery{Query: "second"}, Limit: 10})
	if len(hits.Documents) != 1 || hits.Documents[0].Snippet == "" || hits.Documents[0].Score == 0 {
		w.t.Errorf("the search found %+v", hits)
	}
	must[*ubl.DocumentResult](w.forwarder, shelf, ubl.DeleteDocument{Request: w.h.Request(w.ana), DocumentID: id})
}

// tools: records of who may use which, and what they refuse.
func (w *world) tools() {
	set := ubl.SetToolAccess{Request: w.h.Request(w.ana), Tool: "files.read", Allowed: true, Users: []ubl.UserID{w.ana.UserID}, Groups: []string{"ops"}, PerMinute: 60}
	record := must[*ubl.ToolAccess](w.forwarder, w.tenant, set)
	if list := must[[]*ubl.ToolAccess](w.forwarder, w.tenant, ubl.ListToolAccess{Who: w.bob}); len(list) != 1 || !reflect.DeepEqual(list[0], record) {
		w.t.Errorf("the records are %+v, made was %+v", list, record)
	}
	usable := must[*ubl.UsableTools](w.forwarder, w.tenant, ubl.FindUsable{Who: w.ana, Tools: []string{"messenger.send", "token.list"}})
	if !slices.Equal(usable.Open, []string{"messenger.send", "token.list"}) || !slices.Equal(usable.Permitted, []string{"token.list"}) {
		w.t.Errorf("an owner may use %+v", usable)
	}
	must[*ubl.Entered](w.forwarder, w.tenant, ubl.Enter{Request: w.h.Request(w.ana), Tool: "files.read", External: true})
	refused(w.forwarder, ubl.CodeForbidden, w.tenant, ubl.Enter{Request: w.h.Request(w.bob), Tool: "files.read", External: true})
	must[*ubl.Entered](w.forwarder, w.tenant, ubl.Enter{Request: w.h.Request(w.bob), Tool: "messenger.send"})
	view := must[*ubl.AgreementView](w.forwarder, w.tenant, ubl.GetAgreement{Who: w.bob, Agreement: record.AgreementID})
	if view.Type != ubl.ToolAccessType || view.Physics != nil || len(view.History) != 1 {
		w.t.Errorf("the record is %+v", view)
	}
	must[*ubl.AgreementView](w.forwarder, w.tenant, ubl.EndAgreement{Request: w.h.Request(w.ana), Agreement: record.AgreementID})
}

// portal: a server with its tools, a call that ends and one that is swept up.
func (w *world) portal() {
	portal := ubl.PortalName(w.ana.TenantID)
	server := ubl.Server{ServerID: "files", Name: "Files", URL: "https://files.example/mcp", Auth: ubl.AuthUser, Scopes: []string{"read"}}
	must[*ubl.Server](w.forwarder, portal, ubl.AddServer{Request: w.h.Request(w.ana), Owner: true, Server: server, Secret: []byte{0, 255}})
	name := "Files & more"
	must[*ubl.Server](w.forwarder, portal, ubl.UpdateServer{Request: w.h.Request(w.ana), Owner: true, ServerID: "files", Patch: ubl.ServerPatch{Name: &name}})
	nothing(w.forwarder, portal, ubl.SaveGrant{Request: w.h.Request(w.bob), ServerID: "files", Sealed: []byte{1, 2}})
	if n := must[int](w.forwarder, portal, ubl.ForgetGrants{Request: w.h.Request(ubl.Platform()), Users: []ubl.UserID{"u:nobody"}}); n != 0 {
		w.t.Errorf("forgot %d grants of nobody", n)
	}
	if open := must[*ubl.ServerAccess](w.forwarder, portal, ubl.OpenServer{Who: w.bob, ServerID: "files"}); string(open.Secret) != "\x00\xff" || string(open.Grant) != "\x01\x02" {
		w.t.Errorf("what opens the server is %+v", open)
	}
	for _, text := range []string{`{"name":"read"}`, `{"description":"<new>","name":"read"}`} {
		must[*ubl.Server](w.forwarder, portal, ubl.RecordSync{Request: w.h.Request(w.ana), Owner: true, ServerID: "files",
			Tools: []ubl.ToolDefinition{{Name: "read", Definition: json.RawMessage(text)}}})
	}
	tools := must[[]*ubl.PortalTool](w.forwarder, portal, ubl.ListPortalTools{Who: w.bob})
	if len(tools) != 1 || tools[0].Callable() {
		w.t.Fatalf("the tools are %+v", tools)
	}
	must[*ubl.PortalTool](w.forwarder, portal, ubl.ApproveTool{Request: w.h.Request(w.ana), Owner: true, Tool: "files.read", Hash: tools[0].HeldHash})
	w.calls(portal)
	if l := must[[]*ubl.Server](w.forwarder, portal, ubl.ListServers{Who: w.bob}); len(l) != 1 || l[0].Name != name {
		w.t.Errorf("the servers are %+v", l)
	}
	must[*ubl.Server](w.forwarder, portal, ubl.RemoveServer{Request: w.h.Request(w.ana), Owner: true, ServerID: "files"})
}

// tasks asks a call's caller something, and cancels the call.
func (w *world) tasks(portal ubl.Name) {
	task := must[*ubl.CallTicket](w.forwarder, portal, ubl.BeginCall{
		Request: w.h.Request(w.ana), Did: ubl.DidPortalCall, Agreement: "a:tool:files.read", Server: "files", Capability: "files.read",
		InputHash: ubl.BodyHash(nil), Deadline: ubl.TimeOf(w.h.Clock.Now()).Add(time.Minute), KeepMS: 60_000,
	})
	ask := ubl.AskCaller{Who: w.ana, N: task.N, Question: &ubl.Question{N: 1, Kind: ubl.QuestionForm, Params: []byte(`{"message":"é<b>"}`)}}
	must[*ubl.Mail](w.forwarder, portal, ask)
	if got := must[*ubl.Task](w.forwarder, portal, ubl.ReadTask{Who: w.ana, N: task.N}); got.Question == nil || string(got.Question.Params) != `{"message":"é<b>"}` {
		w.t.Errorf("the task is %+v", got)
	}
	nothing(w.forwarder, portal, ubl.ReplyCall{Who: w.ana, N: task.N, Question: 1, Reply: []byte(`{"action":"accept"}`)})
	if got := must[*ubl.Mail](w.forwarder, portal, ask); string(got.Reply) != `{"action":"accept"}` {
		w.t.Errorf("the mail is %+v", got)
	}
	if got := must[*ubl.Task](w.forwarder, portal, ubl.CancelCall{Request: w.h.Request(w.ana), N: task.N}); got.Status != ubl.TaskCancelled {
		w.t.Errorf("the cancelled task is %+v", got)
	}
	if got := must[[]*ubl.Task](w.forwarder, portal, ubl.ListTasks{Who: w.ana}); len(got) != 1 || got[0].N != task.N {
		w.t.Errorf("the tasks are %+v", got)
	}
}

func (w *world) calls(portal ubl.Name) {
	w.tasks(portal)
	must[*ubl.Budget](w.forwarder, portal, ubl.SetBudget{Request: w.h.Request(w.ana), Owner: true, TokensPerDay: 100})
	begin := func(server, tool string, did ubl.Did, tokens int64) *ubl.CallTicket {
		return must[*ubl.CallTicket](w.forwarder, portal, ubl.BeginCall{
			Request: w.h.Request(w.ana), Did: did, Agreement: "a:tool:files.read", Server: server, Capability: tool, InputHash: ubl.BodyHash(nil),
			This: ubl.Fields{ubl.Str("path", "é<b>")}, Deadline: ubl.TimeOf(w.h.Clock.Now()).Add(time.Minute), Tokens: tokens, Model: tokens > 0,
		})
	}
	file, model := begin("files", "files.read", ubl.DidPortalCall, 0), begin(ubl.ModelServer, string(ubl.DidComplete), ubl.DidComplete, 60)
	usage := &ubl.Usage{PromptTokens: 1, CompletionTokens: 2, Provider: "p", Model: "m"}
	end := ubl.EndCall{Request: w.h.Request(w.ana), N: model.N, OutputHash: ubl.BodyHash(nil), DurationMS: 5, Usage: usage, Effect: ubl.Fields{ubl.Int("n", 1)}}
	if row := must[*ubl.Call](w.forwarder, portal, end); row.Status != "ok" || row.Usage == nil || *row.Usage != *usage || row.Receipt == nil {
		w.t.Errorf("the row of the model's call is %+v", row)
	}
	if b := must[*ubl.Budget](w.forwarder, portal, ubl.GetBudget{Who: w.bob}); b.UsedToday != 3 {
		w.t.Errorf("the budget is %+v", b)
	}
	w.h.Clock.Add(2 * time.Minute)
	if n := must[int](w.forwarder, portal, ubl.CloseCalls{Request: w.h.Request(ubl.Platform())}); n != 1 {
		w.t.Errorf("%d calls were swept up", n)
	}
	nothing(w.forwarder, portal, ubl.LogCalls{Request: w.h.Request(ubl.Platform()), Calls: []*ubl.Call{{
		At: ubl.TimeOf(w.h.Clock.Now()), Did: ubl.DidSend, Server: ubl.OwnServer, Capability: "messenger.send", UserID: w.ana.UserID, Status: "ok", RequestID: "req:1234",
	}}})
	page := must[*ubl.CallPage](w.forwarder, portal, ubl.ReadCalls{Who: w.ana, Owner: true, Limit: 2})
	if len(page.Calls) != 2 || page.Next == nil || page.Calls[1].N != model.N || file.N != model.N-1 {
		w.t.Errorf("the log's newest page is %+v", page)
	}
	must[*ubl.CallPage](w.forwarder, portal, ubl.ReadCalls{Who: w.ana, Owner: true, Before: *page.Next, Limit: 2})
}

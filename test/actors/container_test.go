package actors_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"sync"
	"testing"

	"ubl"
	"ubl/actors/container"
	"ubl/test/harness"
)

// TestLifeOfADocument is a transcript: what is asked, and what is answered. It is
// answered alike by a container that was loaded anew before every step.
func TestLifeOfADocument(t *testing.T) {
	for _, reload := range []bool{false, true} {
		t.Run(fmt.Sprintf("loaded anew=%v", reload), func(t *testing.T) {
			y := openYard(t, harness.Open(t, harness.Options{}))
			w := ubl.ContainerName(y.ana.TenantID, ubl.GeneralWorkspace)
			plan := y.write(w, "  Plan ", "dig a hole")
			title, content, empty := "Better plan", "dig no hole", ""
			get := func(version int64) ubl.Command {
				return ubl.GetDocument{Request: y.Request(y.bob), DocumentID: plan, Version: version}
			}
			update := func(if_ int64, title, content *string) ubl.Command {
				return ubl.UpdateDocument{Request: y.Request(y.bob), DocumentID: plan, IfVersion: if_, Title: title, Content: content}
			}
			list := func() ubl.Command { return ubl.ListDocuments{Request: y.Request(y.bob)} }
			find := func(query string) ubl.Command {
				return ubl.SearchDocuments{Request: y.Request(y.bob), DocumentQuery: ubl.DocumentQuery{Query: query}}
			}
			versions := func() ubl.Command {
				return ubl.ListVersions{Request: y.Request(y.bob), DocumentID: plan}
			}
			remove := func() ubl.Command {
				return ubl.DeleteDocument{Request: y.Request(y.bob), DocumentID: plan}
			}
			for i, step := range []struct {
				cmd  ubl.Command
				want string
			}{
				{get(0), "Plan v1: dig a hole"},
				{get(1), "Plan v1: dig a hole"},
				{get(2), "none"},
				{list(), "Plan v1"},
				{find("hole"), "Plan v1"},
				{find("tunnel"), "nothing"},
				{update(2, &title, nil), "conflict"},
				{update(1, &title, nil), "Better plan v2: dig a hole"},
				{update(1, &title, nil), "conflict"}, // what somebody else saved meanwhile stays
				{update(0, nil, &content), "Better plan v3: dig no hole"},
				{update(3, nil, &content), "Better plan v4: dig no hole"}, // unchanged, and a version all the same
				{update(0, nil, nil), "validation_error"},
				{update(0, &empty, nil), "validation_error"},
				{get(0), "Better plan v4: dig no hole"},
				{get(1), "Plan v1: dig a hole"},
				{get(2), "Better plan v2: dig a hole"},
				{versions(), "Plan v1, Better plan v2, Better plan v3, Better plan v4"},
				{find("better"), "Better plan v4"},
				{find("a"), "nothing"},
				{remove(), " v4 (deleted)"},
				{remove(), "not_found"},
				{update(0, &title, nil), "not_found"},
				{get(0), "none"},
				{get(3), "none"},
				{versions(), "not_found"},
				{list(), "nothing"},
				{find("better"), "nothing"},
				{ubl.GetDocument{Request: y.Request(y.bob), DocumentID: "d:never"}, "none"},
				{ubl.GetDocument{Request: y.Request(y.bob), DocumentID: "never"}, "validation_error"},
				{ubl.ListVersions{Request: y.Request(y.bob), DocumentID: "d:never"}, "not_found"},
			} {
				if reload {
					y.Reload()
				}
				if got := y.tell(w, step.cmd); got != step.want {
					t.Errorf("step %d, %T: %s, want %s", i, step.cmd, got, step.want)
				}
			}
			y.checkLedger()
		})
	}
}

// TestDocumentLimits: what is too long or no text is refused, and what is as long
// as can be is kept.
func TestDocumentLimits(t *testing.T) {
	y := openYard(t, harness.Open(t, harness.Options{}))
	w := ubl.ContainerName(y.ana.TenantID, ubl.GeneralWorkspace)
	for _, test := range []struct {
		what, title, content, want string
	}{
		{"the longest title", strings.Repeat("é", ubl.MaxTitleChars), "", strings.Repeat("é", ubl.MaxTitleChars) + " v1"},
		{"a longer title", strings.Repeat("é", ubl.MaxTitleChars+1), "", "too_large"},
		{"no title", "", "x", "validation_error"},
		{"a blank title", " \t ", "x", "validation_error"},
		{"a title that is no text", "\xff", "x", "validation_error"},
		{"a title that turns around", "plan\u202efdp.exe", "x", "validation_error"},
		{"a title with a mark of direction", "plan\u200f", "x", "validation_error"},
		{"a title with a blank that nobody sees", "pl\u200ban", "x", "validation_error"},
		{"a title with a control character", "plan\x1b[31m", "x", "validation_error"},
		{"a title of two lines", "plan\nplan", "x", "validation_error"},
		{"a title in two scripts, with a style and an address", "Ж plan 𝐛 for a@b.example", "", "Ж plan 𝐛 for a@b.example v1"},
		{"a family", "👨\u200d👩\u200d👧", "", "👨\u200d👩\u200d👧 v1"},
		{"a content that hides", "x", "\u202e\x1b", "x v1: \u202e\x1b"},
		{"a content that is no text", "x", "\xff", "validation_error"},
		{"the longest content", "x", strings.Repeat("€", ubl.MaxContentChars), "x v1: " + strings.Repeat("€", ubl.MaxContentChars)},
		{"a longer content", "x", strings.Repeat("a", ubl.MaxContentChars+1), "too_large"},
	} {
		if got := y.tell(w, ubl.CreateDocument{Request: y.Request(y.ana), Title: test.title, Content: test.content}); got != test.want {
			t.Errorf("%s: %.80s, want %.80s", test.what, got, test.want)
		}
	}
	long := strings.Repeat("é", ubl.MaxQueryChars)
	for query, want := range map[string]string{"": "validation_error", "  ": "validation_error", "\xff": "validation_error", long: "nothing", long + "é": "too_large"} {
		if got := y.tell(w, ubl.SearchDocuments{Request: y.Request(y.ana), DocumentQuery: ubl.DocumentQuery{Query: query}}); got != want {
			t.Errorf("a query of %d bytes: %s, want %s", len(query), got, want)
		}
	}
}

// TestDocumentPages: a list is read page by page, by id, each document once.
func TestDocumentPages(t *testing.T) {
	y := openYard(t, harness.Open(t, harness.Options{}))
	w := ubl.ContainerName(y.ana.TenantID, ubl.GeneralWorkspace)
	const n = 23
	for i := range n {
		y.write(w, fmt.Sprintf("document %d", i), "text")
	}
	for _, limit := range []int{-1, 0, 1, 5, n, 10_000} {
		var last ubl.DocumentID
		seen := 0
		for page := 0; ; page++ {
			list := harness.Must[*ubl.DocumentList](y.House, w, ubl.ListDocuments{Request: y.Request(y.bob), After: last, Limit: limit})
			for _, d := range list.Documents {
				if d.DocumentID <= last || d.Content != "" || d.Receipt.Seq == 0 {
					t.Fatalf("limit %d: %+v after %s", limit, d, last)
				}
				last = d.DocumentID
				seen++
			}
			if list.Next == "" {
				break
			}
			if list.Next != last {
				t.Fatalf("limit %d: the page ends with %s and is continued after %s", limit, last, list.Next)
			}
		}
		if seen != n {
			t.Errorf("limit %d: %d documents, want %d", limit, seen, n)
		}
	}
}

// TestLongHistory: a document of a thousand versions, written by many at once, has
// each of them, loaded anew too.
func TestLongHistory(t *testing.T) {
	y := openYard(t, harness.Open(t, harness.Options{}))
	w := ubl.ContainerName(y.ana.TenantID, ubl.GeneralWorkspace)
	doc := y.write(w, "Plan", "version 1")
	const n = 1100
	var writers sync.WaitGroup
	for i := range 55 {
		writers.Go(func() {
			for range n / 55 {
				content := fmt.Sprint("by ", i)
				if err := askPatiently(y.House, w, ubl.UpdateDocument{Request: y.Request(y.ana), DocumentID: doc, Content: &content}); err != nil {
					t.Error(err)
				}
			}
		})
	}
	writers.Wait()
	for range 2 {
		y.checkVersions(w, doc, n+1)
		newest := y.tell(w, ubl.GetDocument{Request: y.Request(y.ana), DocumentID: doc})
		_, by, _ := strings.Cut(newest, ": ")
		if got := y.tell(w, ubl.SearchDocuments{Request: y.Request(y.ana), DocumentQuery: ubl.DocumentQuery{Query: `"` + by + `"`}}); got != fmt.Sprintf("Plan v%d", n+1) {
			t.Errorf("the newest is %s; found is %s", newest, got)
		}
		if view := harness.Must[*ubl.AgreementView](y.House, w, ubl.GetAgreement{Who: y.ana}); len(view.History) != 1 {
			t.Errorf("the Agreement's history is %+v", view.History)
		}
		y.Reload()
	}
}

// checkVersions reads all n versions of a document in pages of several sizes.
func (y *yard) checkVersions(in ubl.Name, doc ubl.DocumentID, n int64) {
	y.t.Helper()
	for limit, most := range map[int]int{-1: 1, 0: 50, 7: 7, 10_000: 200} {
		var last int64
		for more := true; more; {
			page := harness.Must[*ubl.DocumentList](y.House, in,
				ubl.ListVersions{Request: y.Request(y.ana), DocumentID: doc, After: last, Limit: limit})
			for _, d := range page.Documents {
				if d.Version != last+1 {
					y.t.Fatalf("limit %d: version %d comes after %d", limit, d.Version, last)
				}
				last++
			}
			more = page.NextVersion != 0
			if len(page.Documents) > most || more && (page.NextVersion != last || len(page.Documents) < most) {
				y.t.Fatalf("limit %d: a page of %d versions ends with %d and is continued after %d", limit, len(page.Documents), last, page.NextVersion)
			}
		}
		if last != n {
			y.t.Fatalf("limit %d: %d versions, want %d", limit, last, n)
		}
	}
}

// TestAtomsHaveNoTexts: what documents and queries say stands nowhere in the
// ledger, which is open to all members.
func TestAtomsHaveNoTexts(t *testing.T) {
	y := openYard(t, harness.Open(t, harness.Options{}))
	w, pass := y.found("workspace", "private", "versioned/objects/gated/sandboxed"), y.found("container", "wire", "transient/links/open/disabled")
	const secret = "xyzzy"
	d := y.write(w, secret, secret)
	words := secret
	harness.Must[*ubl.DocumentResult](y.House, w, ubl.UpdateDocument{Request: y.Request(y.ana), DocumentID: d, Title: &words, Content: &words})
	harness.Must[*ubl.DocumentHits](y.House, w, ubl.SearchDocuments{Request: y.Request(y.ana), DocumentQuery: ubl.DocumentQuery{Query: secret}})
	harness.Must[*ubl.TransferResult](y.House, w, ubl.Transfer{Request: y.Request(y.ana), To: ubl.GeneralWorkspace, DocumentID: d})
	harness.Must[*ubl.TransferResult](y.House, pass, ubl.Transfer{Request: y.Request(y.ana), To: id(w), Title: secret, Content: secret})
	y.eachAtom(0, func(atom json.RawMessage) {
		if strings.Contains(string(atom), secret) {
			t.Errorf("%s", atom)
		}
	})
	y.checkLedger()
}

// TestEveryAnswerHasItsReceipt: the receipt of an answer is that of its own act,
// under the container's Agreement; looking is an act too.
func TestEveryAnswerHasItsReceipt(t *testing.T) {
	y := openYard(t, harness.Open(t, harness.Options{}))
	w, wallet := ubl.ContainerName(y.ana.TenantID, ubl.GeneralWorkspace), y.found("wallet", "purse", "")
	doc, title := y.write(w, "Plan", "dig"), "Better plan"
	y.issue(wallet, 10)
	y.found("wallet", "till", "")
	for _, test := range []struct {
		to  ubl.Name
		cmd func(ubl.Request) ubl.Command
		did ubl.Did
	}{
		{w, func(r ubl.Request) ubl.Command { return ubl.CreateDocument{Request: r, Title: "x"} }, ubl.DidDocumentCreate},
		{w, func(r ubl.Request) ubl.Command { return ubl.GetDocument{Request: r, DocumentID: doc} }, ubl.DidDocumentGet},
		{w, func(r ubl.Request) ubl.Command { return ubl.GetDocument{Request: r, DocumentID: "d:never"} }, ubl.DidDocumentGet},
		{w, func(r ubl.Request) ubl.Command { return ubl.ListDocuments{Request: r} }, ubl.DidDocumentList},
		{w, func(r ubl.Request) ubl.Command { return ubl.ListVersions{Request: r, DocumentID: doc} }, ubl.DidDocumentVersions},
		{w, func(r ubl.Request) ubl.Command {
			return ubl.SearchDocuments{Request: r, DocumentQuery: ubl.DocumentQuery{Query: "dig"}}
		}, ubl.DidDocumentSearch},
		{w, func(r ubl.Request) ubl.Command {
			return ubl.UpdateDocument{Request: r, DocumentID: doc, Title: &title}
		}, ubl.DidDocumentUpdate},
		{w, func(r ubl.Request) ubl.Command { return ubl.DeleteDocument{Request: r, DocumentID: doc} }, ubl.DidDocumentDelete},
		{wallet, func(r ubl.Request) ubl.Command { return container.Credit{Request: r, Amount: 1} }, ubl.DidCreditsIssue},
		{wallet, func(r ubl.Request) ubl.Command { return ubl.Transfer{Request: r, To: "k:till", Amount: 1} }, ubl.DidTransfer},
	} {
		req := y.Request(y.ana)
		answer, err := y.Ask(t.Context(), test.to, test.cmd(req))
		if err != nil {
			t.Fatal(err)
		}
		text, err := json.Marshal(answer)
		if err != nil {
			t.Fatal(err)
		}
		var got struct{ Receipt ubl.Receipt }
		if err := json.Unmarshal(text, &got); err != nil {
			t.Fatal(err)
		}
		pair := harness.Must[*ubl.ReceiptPair](y.House, ubl.LedgerName(y.ana.TenantID), ubl.GetReceipt{Seq: got.Receipt.Seq})
		var action struct {
			Did   ubl.Did
			CID   string `json:"cid"`
			Trace struct {
				ID string `json:"request_id"`
			}
		}
		if err := json.Unmarshal(pair.Atoms[0], &action); err != nil {
			t.Fatal(err)
		}
		if action.Did != test.did || action.CID != got.Receipt.CID || action.Trace.ID != req.ID || len(pair.Atoms) != 2 {
			t.Errorf("the receipt of %s leads to %s", test.did, pair.Atoms)
		}
	}
}

// TestChangesOfDocumentsAreTold: whoever listens to the tenant's ledger learns of
// every change of a document once it is durable, and of no look at one.
func TestChangesOfDocumentsAreTold(t *testing.T) {
	y := openYard(t, harness.Open(t, harness.Options{}))
	w, office := ubl.ContainerName(y.ana.TenantID, ubl.GeneralWorkspace), y.found("workspace", "office", "")
	var mu sync.Mutex
	var told []string
	defer y.Subscribe(ubl.LedgerName(y.ana.TenantID), func(p ubl.Publication) {
		mu.Lock()
		defer mu.Unlock()
		for _, e := range p.Events {
			told = append(told, e.Kind+" "+string(e.Payload))
			if e.RoomID != "" || e.LedgerSeq != p.Last || e.TenantID != y.ana.TenantID {
				t.Errorf("%+v", e)
			}
		}
	})()
	doc, content := y.write(w, "Plan", "dig"), "dig no hole"
	harness.Must[*ubl.DocumentResult](y.House, w, ubl.GetDocument{Request: y.Request(y.ana), DocumentID: doc})
	harness.Must[*ubl.DocumentResult](y.House, w, ubl.UpdateDocument{Request: y.Request(y.ana), DocumentID: doc, Content: &content})
	sent := harness.Must[*ubl.TransferResult](y.House, w, ubl.Transfer{Request: y.Request(y.ana), To: id(office), DocumentID: doc})
	harness.Must[*ubl.DocumentResult](y.House, w, ubl.DeleteDocument{Request: y.Request(y.ana), DocumentID: doc})
	var want []string
	for _, change := range []struct {
		in      ubl.Name
		doc     ubl.DocumentID
		version int64
	}{{w, doc, 1}, {w, doc, 2}, {office, sent.DocumentID, 1}, {w, doc, 2}} {
		want = append(want, fmt.Sprintf(`document.changed {"document_id":"%s","version":%d,"workspace_id":"%s"}`, change.doc, change.version, id(change.in)))
	}
	mu.Lock()
	defer mu.Unlock()
	if got := strings.Join(told, "\n"); got != strings.Join(want, "\n") {
		t.Errorf("told\n%s, want\n%s", got, strings.Join(want, "\n"))
	}
}

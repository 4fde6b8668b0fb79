package actors_test

import (
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"ubl"
	"ubl/test/harness"
)

// contentID names a content; none of these tests has one.
func contentID(text string) ubl.BlobID { return ubl.BlobIDOf(sha256.Sum256([]byte(text))) }

// put puts a file of ana's into a container.
func (y *yard) put(into ubl.Name, name, content string, held ubl.DocumentID) *ubl.File {
	y.t.Helper()
	return harness.Must[*ubl.FileResult](y.House, into, ubl.PutFile{
		Request: y.Request(y.ana), Name: name, Type: "text/plain", Blob: contentID(content), Bytes: int64(len(content)), DocumentID: held,
	}).File
}

// names of the files that somebody is shown.
func (y *yard) names(in ubl.Name, cmd ubl.ListFiles) string {
	y.t.Helper()
	list := harness.Must[*ubl.FileList](y.House, in, cmd)
	var names []string
	for _, f := range list.Files {
		names = append(names, f.Name)
	}
	if list.Next != "" {
		names = append(names, "more")
	}
	return strings.Join(names, " ")
}

// TestLifeOfAFile: a file is put, listed, read and removed, by a container that was loaded anew
// too; each act is receipted, and no atom tells of its content or name.
func TestLifeOfAFile(t *testing.T) {
	for _, reload := range []bool{false, true} {
		t.Run(fmt.Sprintf("loaded anew=%v", reload), func(t *testing.T) {
			h := harness.Open(t, harness.Options{})
			y := openYard(t, h)
			w := ubl.ContainerName(y.ana.TenantID, ubl.GeneralWorkspace)
			again := func() {
				if reload {
					h.Reload()
				}
			}
			doc := y.write(w, "Plan", "dig")
			start := y.head()
			first, second := y.put(w, "first.txt", "the first content", ""), y.put(w, "second.txt", "the second", doc)
			again()
			list := func(of ubl.DocumentID, after ubl.FileID, limit int) string {
				return y.names(w, ubl.ListFiles{Request: y.Request(y.bob), DocumentID: of, After: after, Limit: limit})
			}
			for want, got := range map[string]string{
				"first.txt second.txt": list("", "", 0), "first.txt more": list("", "", 1), "second.txt": list("", first.FileID, 1),
			} {
				if got != want {
					t.Errorf("listed are %q, want %q", got, want)
				}
			}
			if got := list(doc, "", 0); got != "second.txt" {
				t.Errorf("the document holds %q", got)
			}
			read := harness.Must[*ubl.FileResult](h, w, ubl.GetFile{Request: y.Request(y.bob), FileID: first.FileID})
			if *read.File != *first || read.Receipt == first.Receipt || first.SHA256 != contentID("the first content") || first.CreatedBy != y.ana.UserID {
				t.Errorf("read is %+v, put was %+v", read.File, first)
			}
			if first.ContentHash != first.Salt.Commit(first.SHA256.Sum()) || first.NameHash != first.Salt.CommitText("name", first.Name) || first.Salt == second.Salt {
				t.Errorf("the commitments of %+v don't hold", first)
			}
			again()
			gone := harness.Must[*ubl.FileResult](h, w, ubl.RemoveFile{Request: y.Request(y.ana), FileID: second.FileID})
			left := ubl.File{
				FileID: second.FileID, WorkspaceID: second.WorkspaceID, TenantID: second.TenantID, DocumentID: second.DocumentID, Bytes: second.Bytes,
				CreatedAt: second.CreatedAt, CreatedBy: second.CreatedBy, Removed: true, Receipt: gone.Receipt,
			}
			if *gone.File != left || gone.Receipt == second.Receipt {
				t.Errorf("removed is %+v, put was %+v", gone.File, second)
			}
			again()
			y.Refused(ubl.CodeNotFound, w, ubl.RemoveFile{Request: y.Request(y.ana), FileID: second.FileID})
			y.Refused(ubl.CodeNotFound, w, ubl.GetFile{Request: y.Request(y.ana), FileID: second.FileID})
			if got := list("", "", 0); got != "first.txt" {
				t.Errorf("at the end there is %q", got)
			}
			y.eachAtom(start, func(atom json.RawMessage) {
				for _, private := range []string{string(first.SHA256), string(second.SHA256), "first", first.Salt.String()} {
					if strings.Contains(string(atom), private) {
						t.Errorf("an atom tells %q: %s", private, atom)
					}
				}
			})
			y.checkLedger()
		})
	}
}

// TestFilesAreRefused to who may not write, and what isn't a file; nothing changes.
func TestFilesAreRefused(t *testing.T) {
	h := harness.Open(t, harness.Options{})
	y := openYard(t, h)
	private := y.found("workspace", "private", "")
	wallet := y.found("wallet", "cash", "")
	good := func(who ubl.Identity) ubl.PutFile {
		return ubl.PutFile{Request: y.Request(who), Name: "x", Type: "text/plain", Blob: contentID("x"), Bytes: 1}
	}
	before := y.head()
	for _, test := range []struct {
		code   ubl.Code
		to     ubl.Name
		who    ubl.Identity
		change func(*ubl.PutFile)
	}{
		{ubl.CodeNotFound, private, y.bob, nil},
		{ubl.CodeNotFound, private, y.eve, nil},
		{ubl.CodeForbidden, wallet, y.ana, nil},
		{ubl.CodeValidation, private, y.ana, func(c *ubl.PutFile) { c.Name = "../x" }},
		{ubl.CodeValidation, private, y.ana, func(c *ubl.PutFile) { c.Type = "x" }},
		{ubl.CodeValidation, private, y.ana, func(c *ubl.PutFile) { c.Blob = "x" }},
		{ubl.CodeValidation, private, y.ana, func(c *ubl.PutFile) { c.Bytes = -1 }},
		{ubl.CodeNotFound, private, y.ana, func(c *ubl.PutFile) { c.DocumentID = "d:none" }},
	} {
		c := good(test.who)
		if test.change != nil {
			test.change(&c)
		}
		y.Refused(test.code, test.to, c)
		if c.Blob.Valid() && c.Bytes >= 0 {
			y.Refused(test.code, test.to, ubl.PrepareFile{Request: y.Request(test.who), Name: c.Name, Type: c.Type, DocumentID: c.DocumentID, Bytes: 1})
		}
	}
	if y.head() != before {
		t.Errorf("refusals have written %d atoms", y.head()-before)
	}
	f := y.put(private, "x", "x", "")
	y.Refused(ubl.CodeNotFound, private, ubl.GetFile{Request: y.Request(y.bob), FileID: f.FileID})
	y.Refused(ubl.CodeNotFound, private, ubl.RemoveFile{Request: y.Request(y.bob), FileID: f.FileID})
	y.Refused(ubl.CodeNotFound, private, ubl.ListFiles{Request: y.Request(y.bob)})
}

// TestBytesOfFiles count with their contents, by each file; a recount comes to the same, and
// removal counts back. A file that doesn't fit is refused, before its content comes and after.
func TestBytesOfFiles(t *testing.T) {
	hidden := false
	const most = 5 << 20
	h := harness.Open(t, harness.Options{
		Wrap: func(s ubl.Store) ubl.Store {
			return recounted{s, func(stored []byte) []byte {
				if hidden {
					return nil
				}
				return stored
			}}
		},
		Quota: func(limit string, have int) error {
			if limit == ubl.QuotaBytes && have >= most {
				return ubl.Errorf(ubl.CodeQuotaExceeded, "full")
			}
			return nil
		},
	})
	y := openYard(t, h)
	w, tenant := y.found("workspace", "files", ""), ubl.TenantName(y.ana.TenantID)
	stored := func() int64 { return h.Runtime.Usage()[y.ana.TenantID] }
	put := func(bytes int64) ubl.PutFile {
		return ubl.PutFile{Request: y.Request(y.ana), Name: "x", Blob: contentID("x"), Bytes: bytes}
	}
	before := stored()
	big := put(2 << 20)
	one := harness.Must[*ubl.FileResult](h, w, big).File
	harness.Must[*ubl.FileResult](h, w, put(2<<20))
	if grown := stored() - before; grown < 4<<20 || grown > 4<<20+20_000 {
		t.Errorf("two files of 2 MiB take %d", grown)
	}
	y.Refused(ubl.CodeQuotaExceeded, w, put(1<<20))
	y.Refused(ubl.CodeQuotaExceeded, w, ubl.PrepareFile{Request: y.Request(y.ana), Name: "x", Bytes: 1 << 20})
	y.Refused(ubl.CodeQuotaExceeded, w, ubl.PrepareFile{Request: y.Request(y.ana), Name: "x", Bytes: 1, Staged: 1 << 20})
	harness.Must[*ubl.FileResult](h, w, big) // which was put before
	want := stored()
	for _, hidden = range []bool{false, true} {
		h.Reload()
		harness.Must[*ubl.Tenant](h, tenant, ubl.GetTenant{Who: y.ana})
		if got := stored(); got != want {
			t.Errorf("loaded anew, hidden %t, there are %d bytes, want %d", hidden, got, want)
		}
	}
	hidden = false
	harness.Must[*ubl.FileResult](h, w, ubl.RemoveFile{Request: y.Request(y.ana), FileID: one.FileID})
	if freed := want - stored(); freed < 2<<20-20_000 {
		t.Errorf("removing a file of 2 MiB frees %d", freed)
	}
	harness.Must[*ubl.FileResult](h, w, put(1<<20))
}

// TestCollectBlobs: what no file has is told, on record; what one has isn't, and nobody else may ask.
func TestCollectBlobs(t *testing.T) {
	h := harness.Open(t, harness.Options{})
	y := openYard(t, h)
	w, tenant := y.found("workspace", "files", ""), ubl.TenantName(y.ana.TenantID)
	one, two := y.put(w, "1", "same", ""), y.put(w, "2", "same", "")
	ask := func(who ubl.Identity) ubl.CollectBlobs {
		return ubl.CollectBlobs{Request: y.Request(who), NodeID: "n1", Blobs: []ubl.BlobID{contentID("same"), contentID("none")}, Bytes: []int64{4, 7}}
	}
	collected := func() []ubl.BlobID {
		t.Helper()
		return harness.Must[*ubl.Collected](h, tenant, ask(ubl.Platform())).Blobs
	}
	y.Refused(ubl.CodeForbidden, tenant, ask(y.ana))
	for _, f := range []*ubl.File{one, two} {
		if got := collected(); len(got) != 1 || got[0] != contentID("none") {
			t.Errorf("with a file of the content %v are free", got)
		}
		harness.Must[*ubl.FileResult](h, w, ubl.RemoveFile{Request: y.Request(y.ana), FileID: f.FileID})
	}
	before := y.head()
	if got := collected(); len(got) != 2 {
		t.Errorf("without one %v are free", got)
	}
	if y.head() != before+2 {
		t.Errorf("a collection writes %d atoms", y.head()-before)
	}
	c := ask(ubl.Platform())
	c.Blobs, c.Bytes = nil, nil
	if got := harness.Must[*ubl.Collected](h, tenant, c); got.Receipt != nil || y.head() != before+2 {
		t.Errorf("nothing at all is collected with the receipt %v", got.Receipt)
	}
	y.checkLedger()
}

// TestRefuseFile: that a content was refused is on record, with whose it was and what was found. Only
// the platform says so, and of a content that isn't there nothing else is said.
func TestRefuseFile(t *testing.T) {
	h := harness.Open(t, harness.Options{})
	y := openYard(t, h)
	tenant := ubl.TenantName(y.ana.TenantID)
	refuse := func(who ubl.Identity, found string) ubl.RefuseFile {
		return ubl.RefuseFile{Request: y.Request(who), NodeID: "n1", UserID: y.ana.UserID, Bytes: 68, Found: found}
	}
	y.Refused(ubl.CodeForbidden, tenant, refuse(y.ana, "Eicar"))
	for _, found := range []string{"", "two words", strings.Repeat("x", 129), "\u00e4"} {
		y.Refused(ubl.CodeForbidden, tenant, refuse(ubl.Platform(), found))
	}
	before := y.head()
	receipt := harness.Must[*ubl.Receipt](h, tenant, refuse(ubl.Platform(), "Eicar-Test-Signature"))
	if y.head() != before+2 || receipt.Seq != before+1 {
		t.Errorf("a refusal writes %d atoms, the first is %d", y.head()-before, receipt.Seq)
	}
	y.checkLedger()
}

// TestSealedFiles stay closed to an heir, as documents do.
func TestSealedFiles(t *testing.T) {
	h := harness.Open(t, harness.Options{})
	y := openYard(t, h)
	w := y.found("workspace", "files", "")
	f := y.put(w, "secret", "secret", "")
	y.add(w, y.bob, ubl.RoleMember)
	harness.Must[*ubl.Member](h, w, ubl.RemoveMember{Request: y.Request(y.ana), UserID: y.bob.UserID, Expel: true})
	harness.Must[*ubl.Member](h, w, ubl.RemoveMember{Request: y.Request(y.ana), UserID: y.ana.UserID, Expel: true})
	harness.Must[*ubl.Member](h, ubl.TenantName(y.ana.TenantID), ubl.NameHeir{Request: y.Request(y.ana), Agreement: ubl.AgreementID("a:workspace:" + w.Local()), UserID: y.cem.UserID})
	for _, reload := range []bool{false, true} {
		if reload {
			h.Reload()
		}
		y.Refused(ubl.CodeNotFound, w, ubl.GetFile{Request: y.Request(y.cem), FileID: f.FileID})
		if got := y.names(w, ubl.ListFiles{Request: y.Request(y.cem)}); got != "" {
			t.Errorf("the heir sees %q", got)
		}
	}
}

// TestFilesAreOfTheKind: a container whose kind says what documents are takes files of those types
// alone, put or arriving with a document. A kind that says nothing takes any.
func TestFilesAreOfTheKind(t *testing.T) {
	h := openAgreed(t)
	container := func(kind string, content ...string) ubl.Name {
		h.want("", "the kind "+kind, h.tenant, ubl.SetKind{Request: h.Request(h.ana), Kind: ubl.Kind{
			Name: kind, Agreement: kind, IDs: kind + "-", Physics: ubl.WorkspaceKind().Physics, Content: content,
		}})
		made := harness.Must[*ubl.ContainerMade](h.House, h.tenant, ubl.CreateContainer{Request: h.Request(h.ana), Kind: kind, Name: kind})
		return ubl.ContainerName(h.ana.TenantID, made.Container.ContainerID)
	}
	data, prose := container("data", "application/json"), container("prose", "text/markdown")
	both, any := container("both", "text/plain", "application/json"), container("any")
	for _, test := range []struct {
		kind  string
		taken []ubl.Name
	}{
		{"application/json", []ubl.Name{data, both, any}},
		{"Application/JSON; charset=UTF-8", []ubl.Name{data, both, any}},
		{"text/plain", []ubl.Name{both, any}},
		{"text/plain; charset=utf-8", []ubl.Name{both, any}},
		{"text/markdown", []ubl.Name{prose, any}},
		{"image/png", []ubl.Name{any}},
		{"", []ubl.Name{any}},
	} {
		for _, at := range []ubl.Name{data, prose, both, any} {
			want := ubl.CodeValidation
			if slices.Contains(test.taken, at) {
				want = ""
			}
			what := fmt.Sprintf("%q into %s", test.kind, at)
			h.want(want, what+", before its content", at, ubl.PrepareFile{Request: h.Request(h.ana), Name: "x", Type: test.kind, Bytes: 1})
			h.want(want, what, at, ubl.PutFile{Request: h.Request(h.ana), Name: "x", Type: test.kind, Blob: contentID("x"), Bytes: 1})
		}
	}

	carried := func(kind string) ubl.Code {
		doc := harness.Must[*ubl.DocumentResult](h.House, any, ubl.CreateDocument{Request: h.Request(h.ana), Title: "x", Content: "{}"}).Document.DocumentID
		h.want("", "a file of the document", any, ubl.PutFile{Request: h.Request(h.ana), Name: "x", Type: kind, Blob: contentID("x"), Bytes: 1, DocumentID: doc})
		_, err := h.Ask(t.Context(), any, ubl.Transfer{Request: h.Request(h.ana), To: ubl.ContainerID(data.Local()), DocumentID: doc})
		return ubl.CodeOf(err)
	}
	if got := carried("application/json"); got != "" {
		t.Errorf("a document with a file of the kind: %q", got)
	}
	if got := carried("text/plain"); got != ubl.CodeValidation {
		t.Errorf("a document with a file of another: %q", got)
	}
	h.VerifyLedger(h.ana.TenantID)
}

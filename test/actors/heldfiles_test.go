package actors_test

import (
	"fmt"
	"testing"

	"ubl"
	"ubl/test/harness"
)

// document reads the newest version of a document as ana.
func (y *yard) document(in ubl.Name, doc ubl.DocumentID) *ubl.Document {
	y.t.Helper()
	return harness.Must[*ubl.DocumentResult](y.House, in, ubl.GetDocument{Request: y.Request(y.ana), DocumentID: doc}).Document
}

// all are the names of the files in a container.
func (y *yard) all(in ubl.Name) string { return y.names(in, ubl.ListFiles{Request: y.Request(y.ana)}) }

// stored is what the store has of files: how many records, and how many keys that refer to blobs.
func (y *yard) stored() string {
	y.t.Helper()
	counts := [2]int{}
	err := y.Engine.View(y.t.Context(), ubl.LedgerName(y.ana.TenantID).Group(), func(snap ubl.Snapshot) error {
		for i, space := range []byte{'F', ubl.BlobRefSpace} {
			if err := snap.Ascend([]byte{space}, []byte{space + 1}, func(_, _ []byte) bool { counts[i]++; return true }); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		y.t.Fatal(err)
	}
	return fmt.Sprintf("%d files, %d references", counts[0], counts[1])
}

// TestFilesOfADocument go with it: removed when it is deleted, and copied or moved to another
// container. What the target refuses comes back with its files. Their documents name them.
func TestFilesOfADocument(t *testing.T) {
	for _, reload := range []bool{false, true} {
		t.Run(fmt.Sprintf("loaded anew=%v", reload), func(t *testing.T) {
			h := harness.Open(t, harness.Options{Kinds: []ubl.Kind{deedKind}})
			m := openMarket(t, h, "workspace", "office", "deed", "vault", "archive", "wire")
			again := func() {
				if reload {
					h.Reload()
				}
			}
			work, office, deed, vault := m.at["workspace"], m.at["office"], m.at["deed"], m.at["vault"]
			m.put(work, "loose.txt", "loose", "")
			plan := m.put(work, "plan.txt", "dig", m.docs["workspace"])
			title := m.put(deed, "title.txt", "the house", m.docs["deed"])
			again()
			if held := m.document(work, m.docs["workspace"]).Files; len(held) != 1 || held[0] != (ubl.HeldFile{FileID: plan.FileID, Name: "plan.txt", Type: "text/plain", Bytes: 3}) {
				t.Errorf("the document holds %+v", held)
			}

			// Copied: another file with the same content.
			copied := harness.Must[*ubl.TransferResult](h, work, m.send("workspace", "office"))
			again()
			if m.all(work) != "loose.txt plan.txt" || m.all(office) != "plan.txt" {
				t.Errorf("after a copy there are %q and %q", m.all(work), m.all(office))
			}
			copies := harness.Must[*ubl.FileList](h, office, ubl.ListFiles{Request: m.Request(m.ana), DocumentID: copied.DocumentID}).Files
			if f := copies[0]; f.FileID == plan.FileID || f.SHA256 != plan.SHA256 || f.Salt == plan.Salt || f.WorkspaceID != id(office) || f.Receipt.Seq == 0 {
				t.Errorf("the copy is %+v", f)
			}
			harness.Must[*ubl.TransferResult](h, work, m.send("workspace", "wire")) // a copy that nobody keeps

			// Moved: the same file.
			harness.Must[*ubl.TransferResult](h, deed, m.send("deed", "vault"))
			again()
			if m.all(deed) != "" || m.all(vault) != "title.txt" {
				t.Errorf("after a move there are %q and %q", m.all(deed), m.all(vault))
			}
			moved := harness.Must[*ubl.FileResult](h, vault, ubl.GetFile{Request: m.Request(m.ana), FileID: title.FileID}).File
			if moved.ContentHash != title.ContentHash || moved.CreatedAt != title.CreatedAt || moved.Receipt == title.Receipt {
				t.Errorf("moved is %+v, put was %+v", moved, title)
			}
			m.Refused(ubl.CodeNotFound, deed, ubl.GetFile{Request: m.Request(m.ana), FileID: title.FileID})
			if got := m.stored(); got != "4 files, 4 references" {
				t.Errorf("stored are %s", got)
			}

			// Refused by the target: back as it was.
			m.Refused(ubl.CodeForbidden, vault, ubl.Transfer{Request: m.Request(m.ana), To: id(m.at["archive"]), DocumentID: m.docs["deed"]})
			again()
			back := harness.Must[*ubl.FileResult](h, vault, ubl.GetFile{Request: m.Request(m.ana), FileID: title.FileID}).File
			if *back != *moved {
				t.Errorf("back is %+v, it was %+v", back, moved)
			}

			// Deleted: the files are gone, and so is what refers to their contents.
			gone := ubl.DeleteDocument{Request: m.Request(m.ana), DocumentID: m.docs["workspace"]}
			deleted := harness.Must[*ubl.DocumentResult](h, work, gone)
			if f := deleted.Document.Files; len(f) != 1 || f[0].FileID != plan.FileID {
				t.Errorf("with the document went %+v", f)
			}
			again()
			m.Refused(ubl.CodeNotFound, work, ubl.GetFile{Request: m.Request(m.ana), FileID: plan.FileID})
			if m.all(work) != "loose.txt" || m.all(office) != "plan.txt" || m.stored() != "3 files, 3 references" {
				t.Errorf("after a deletion there are %q and %q, stored are %s", m.all(work), m.all(office), m.stored())
			}
			m.checkLedger()
		})
	}
}

// TestFilesAwayWithADocument: a document that has left and not arrived has its files in nobody's
// reach, however the house is loaded, and comes to its end with them.
func TestFilesAwayWithADocument(t *testing.T) {
	h := harness.Open(t, harness.Options{Kinds: []ubl.Kind{deedKind}})
	m := openMarket(t, h, "deed", "vault")
	for i := range ubl.MaxDocumentFiles {
		m.put(m.at["deed"], fmt.Sprintf("page %d", i), "text", m.docs["deed"])
	}
	m.Refused(ubl.CodeConflict, m.at["deed"], ubl.PutFile{
		Request: m.Request(m.ana), Name: "one more", Type: "text/plain", Blob: contentID("text"), Bytes: 4, DocumentID: m.docs["deed"],
	})
	harness.Must[*ubl.TransferResult](h, m.at["deed"], m.send("deed", "vault"))
	h.Reload()
	if held := m.document(m.at["vault"], m.docs["deed"]).Files; len(held) != ubl.MaxDocumentFiles || m.all(m.at["deed"]) != "" {
		t.Errorf("%d files have arrived, and %q are left", len(held), m.all(m.at["deed"]))
	}
	m.checkLedger()
}

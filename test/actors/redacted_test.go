package actors_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"ubl"
	"ubl/test/harness"
	"ubl/test/poll"
)

// bin is a yard with what is to be deleted: a document of many versions, with a title that
// changed, imported ones among them, a file that it holds, one beside it, and a copy elsewhere. All that
// is private of them contains the word secret, but for the salts and hashes.
type bin struct {
	*yard
	work, office ubl.Name
	doc, copied  ubl.DocumentID
	loose        ubl.FileID
	private      []string // what must be nowhere in the end
	first        map[ubl.Command]string
}

func openBin(t *testing.T, h *harness.House, versions int) *bin {
	m := openMarket(t, h, "workspace", "office")
	b := &bin{yard: m.yard, work: m.at["workspace"], office: m.at["office"], first: map[ubl.Command]string{}}
	from := &ubl.ImportedFrom{
		AuthorID: "u:far", AuthorName: "Secret Agent", At: ubl.TimeOf(h.Clock.Now()), CID: "c:" + strings.Repeat("0", 64), Seq: 7, TenantID: "t:elsewhere",
	}
	create := ubl.CreateDocument{Request: h.Request(b.ana), Title: "A secret plan", Content: "the secret of it", ImportedFrom: from}
	made := harness.Must[*ubl.DocumentResult](h, b.work, create).Document
	b.doc, b.private = made.DocumentID, []string{"ecret", made.Salt.String()}
	title := "A better secret"
	for i := range versions {
		content := fmt.Sprintf("secret number %d", i)
		cmd := ubl.UpdateDocument{Request: h.Request(b.ana), DocumentID: b.doc, Content: &content}
		if i%5 == 1 {
			cmd.Title, cmd.Content = &title, nil
		}
		b.private = append(b.private, harness.Must[*ubl.DocumentResult](h, b.work, cmd).Document.Salt.String())
	}
	for _, f := range []*ubl.File{b.put(b.work, "held-secret.txt", "deep", b.doc), b.put(b.work, "loose-secret.txt", "deeper", "")} {
		b.loose = f.FileID
		b.private = append(b.private, f.Salt.String(), string(f.SHA256))
	}
	sent := harness.Must[*ubl.TransferResult](h, b.work, ubl.Transfer{Request: h.Request(b.ana), To: id(b.office), DocumentID: b.doc})
	b.copied = sent.DocumentID
	copied := b.document(b.office, b.copied)
	b.private = append(b.private, copied.Salt.String())
	h.Clock.Add(time.Second)
	return b
}

// throw deletes all of it.
func (b *bin) throw() {
	for _, act := range []struct {
		at  ubl.Name
		cmd ubl.Command
	}{
		{b.work, ubl.DeleteDocument{Request: b.Request(b.ana), DocumentID: b.doc}},
		{b.work, ubl.RemoveFile{Request: b.Request(b.ana), FileID: b.loose}},
		{b.office, ubl.DeleteDocument{Request: b.Request(b.ana), DocumentID: b.copied}},
	} {
		harness.Must[any](b.House, act.at, act.cmd)
	}
}

// leaks are those private words and salts that the store has.
func (b *bin) leaks() (found []string) {
	b.t.Helper()
	seen := map[string]bool{}
	err := b.Engine.View(b.t.Context(), b.work.Group(), func(snap ubl.Snapshot) error {
		return snap.Ascend([]byte{0}, []byte{0xff}, func(k, v []byte) bool {
			for _, p := range b.private {
				if p != "" && !seen[p] && (bytes.Contains(v, []byte(p)) || bytes.Contains(k, []byte(p))) {
					seen[p] = true
					found = append(found, fmt.Sprintf("%s under %q", p, k))
				}
			}
			return true
		})
	})
	if err != nil {
		b.t.Fatal(err)
	}
	return found
}

// TestDeletedIsGone: after a deletion nobody is served what was deleted, at once; a moment later
// nothing that is stored has any of it. Each has a receipt, the ledger holds, and what else is there
// is as it was. A tenant that has stored all it may gets the room back.
func TestDeletedIsGone(t *testing.T) {
	b := openBin(t, harness.Open(t, harness.Options{}), 230)
	kept := b.write(b.work, "Kept", "for good")
	before := b.document(b.work, kept)
	then := b.head()
	create := ubl.CreateDocument{Request: b.Request(b.ana), Title: "Another secret", Content: "too"}
	another := harness.Must[*ubl.DocumentResult](b.House, b.work, create).Document
	put := ubl.PutFile{Request: b.Request(b.ana), Name: "secret.bin", Type: "text/plain", Blob: contentID("x"), Bytes: 1}
	file := harness.Must[*ubl.FileResult](b.House, b.work, put).File
	b.private = append(b.private, another.Salt.String(), file.Salt.String())
	if len(b.leaks()) < 180 {
		t.Fatalf("before, the store has only %d of it", len(b.leaks()))
	}
	b.throw()
	remove := ubl.DeleteDocument{Request: b.Request(b.ana), DocumentID: another.DocumentID}
	removed := b.tellWhole(b.work, remove)
	harness.Must[any](b.House, b.work, ubl.RemoveFile{Request: b.Request(b.ana), FileID: file.FileID})

	served := func(when string) {
		t.Helper()
		for version := range int64(3) {
			if got := b.tell(b.work, ubl.GetDocument{Request: b.Request(b.ana), DocumentID: b.doc, Version: version}); got != "none" {
				t.Errorf("%s, version %d is %s", when, version, got)
			}
		}
		b.Refused(ubl.CodeNotFound, b.work, ubl.ListVersions{Request: b.Request(b.ana), DocumentID: b.doc})
		b.Refused(ubl.CodeNotFound, b.work, ubl.GetFile{Request: b.Request(b.ana), FileID: b.loose})
		if got := b.tell(b.work, ubl.SearchDocuments{Request: b.Request(b.ana), DocumentQuery: ubl.DocumentQuery{Query: "secret"}}); got != "nothing" {
			t.Errorf("%s, found is %s", when, got)
		}
		past := harness.Must[*ubl.DocumentList](b.House, b.work, ubl.ListDocuments{Request: b.Request(b.ana), AsOf: ubl.AsOf{Seq: then}})
		for _, d := range past.Documents {
			if d.DocumentID == b.doc || strings.Contains(d.Title, "secret") {
				t.Errorf("%s, the past has %+v", when, d)
			}
		}
		b.Refused(ubl.CodeConflict, b.work, create)
		b.Refused(ubl.CodeConflict, b.work, put)
		if again := b.tellWhole(b.work, remove); again != removed {
			t.Errorf("%s, the deletion is answered %s, first %s", when, again, removed)
		}
		if now := b.document(b.work, kept); now.Content != before.Content || now.Salt != before.Salt || now.Receipt != before.Receipt {
			t.Errorf("%s, what wasn't deleted is %+v, before %+v", when, now, before)
		}
	}
	served("at once")
	b.Clock.Add(2 * time.Second)
	b.Alarms()
	if leaks := b.leaks(); len(leaks) > 0 {
		t.Errorf("a moment later the store has %v", leaks)
	}
	served("a moment later")
	b.Restart()
	served("after a restart")
	redacted := map[string]int{}
	b.eachAtom(0, func(atom json.RawMessage) {
		for _, op := range []string{`"op":"container.redact"`, `"op":"document.redact"`, `"op":"file.redact"`} {
			redacted[op] += bytes.Count(atom, []byte(op))
		}
	})
	if fmt.Sprint(redacted) != `map["op":"container.redact":4 "op":"document.redact":3 "op":"file.redact":4]` {
		t.Errorf("on record are %v", redacted)
	}
	b.checkLedger()
}

// TestRedactionCrashes: wherever the node stops while what was deleted is redacted, the next one
// comes to the same end.
func TestRedactionCrashes(t *testing.T) {
	for point, fault := range crashPoints() {
		for n := 1; n <= 2; n++ {
			t.Run(fmt.Sprintf("%s at commit %d", point, n), func(t *testing.T) {
				h, v := openValved(t)
				b := openBin(t, h, 3)
				b.throw()
				var crashed atomic.Bool
				crashAt(v, n, func(batch *ubl.Batch, settled func(error)) bool {
					defer crashed.Store(true)
					return fault(v)(batch, settled)
				})
				h.Clock.Add(2 * time.Second)
				for p := range h.Engine.Partitions() {
					h.Led(p)
				}
				poll.Until(t, "the crash", crashed.Load)
				v.setFault(nil)
				h.Restart()
				h.Clock.Add(time.Minute)
				h.Alarms()
				if leaks := b.leaks(); len(leaks) > 0 {
					t.Errorf("the store still has %v", leaks)
				}
				b.checkLedger()
			})
		}
	}
}

// TestRedactionWaits for a copy that is under way: it arrives whole, and what it came from is
// gone afterwards.
func TestRedactionWaits(t *testing.T) {
	h, v := openValved(t)
	b := openBin(t, h, 1)
	crashAt(v, 2, crashPoints()["before persisting"](v))
	cmd := ubl.Transfer{Request: h.Request(b.ana), To: id(b.office), DocumentID: b.doc}
	h.Refused(ubl.CodeUnavailable, b.work, cmd)
	v.setFault(nil)
	h.Restart()
	b.throw()
	h.Clock.Add(time.Minute)
	h.Alarms()
	h.Clock.Add(time.Minute)
	h.Alarms()
	sent := harness.Must[*ubl.TransferResult](h, b.work, cmd)
	if d := b.document(b.office, sent.DocumentID); d.Title == "" || !strings.Contains(d.Content, "secret") {
		t.Errorf("the copy is %+v", d)
	}
	harness.Must[any](h, b.office, ubl.DeleteDocument{Request: h.Request(b.ana), DocumentID: sent.DocumentID})
	h.Clock.Add(time.Minute)
	h.Alarms()
	if leaks := b.leaks(); len(leaks) > 0 {
		t.Errorf("the store still has %v", leaks)
	}
	b.checkLedger()
}

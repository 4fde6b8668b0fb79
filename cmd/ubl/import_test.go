package main

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"ubl"
	"ubl/test/soak"
)

// importWorld is a server in this process without rates, and its key.
type importWorld struct {
	t    *testing.T
	url  string
	data string
	next int
}

func openImportWorld(t *testing.T, more ...string) *importWorld {
	w := &importWorld{t: t, data: filepath.Join(t.TempDir(), "data")}
	ctx, stop := context.WithCancel(t.Context())
	out, in := io.Pipe()
	var errs bytes.Buffer
	done := make(chan int, 1)
	args := []string{"serve", "--data", w.data, "--listen", "127.0.0.1:0"}
	for _, limit := range []string{"sends-identity", "sends-tenant", "creations-identity", "creations-tenant", "requests-identity", "requests-tenant"} {
		args = append(args, "--limit", limit+"=0")
	}
	args = append(args, more...)
	go func() {
		done <- Run(ctx, args, nil, in, &errs, nil)
		_ = in.Close()
	}()
	lines := bufio.NewScanner(out)
	for w.url == "" && lines.Scan() {
		w.url, _ = strings.CutPrefix(lines.Text(), "listening on ")
		if w.url == lines.Text() {
			w.url = ""
		}
	}
	go func() { _, _ = io.Copy(io.Discard, out) }()
	t.Cleanup(func() {
		stop()
		if code := <-done; code != 0 || w.url == "" {
			t.Errorf("the server ended with %d: %s", code, errs.String())
		}
	})
	return w
}

// ubl runs a command of somebody's, and answers its exit code and what it said.
func (w *importWorld) ubl(ctx context.Context, at, token string, args ...string) (code int, out, errs string) {
	var o, e bytes.Buffer
	code = Run(ctx, args, nil, &o, &e, []string{"UBL_URL=" + at, "UBL_TOKEN=" + token})
	return code, o.String(), e.String()
}

func (w *importWorld) must(token string, args ...string) string {
	w.t.Helper()
	code, out, errs := w.ubl(w.t.Context(), w.url, token, args...)
	if code != 0 {
		w.t.Fatalf("ubl %s ends with %d: %s", strings.Join(args, " "), code, errs)
	}
	return out
}

// somebody is a person with a tenant of their own.
func (w *importWorld) somebody() (token string) {
	w.t.Helper()
	w.next++
	token = w.token()
	w.must(token, "rooms")
	return token
}

// token makes a token of the newest person's.
func (w *importWorld) token(more ...string) string {
	w.t.Helper()
	var out, errs bytes.Buffer
	args := append([]string{"token", fmt.Sprintf("p%d@of-%d.example", w.next, w.next), "--data", w.data}, more...)
	if code := Run(w.t.Context(), args, nil, &out, &errs, nil); code != 0 {
		w.t.Fatal(errs.String())
	}
	return strings.TrimSpace(out.String())
}

func (w *importWorld) client(token string) *client {
	p := &program{now: time.Now, err: io.Discard}
	return p.client(&target{url: w.url, token: token})
}

// said is one thing of a room, document or file as both exports should have it. Places of
// others are told by their number among them.
type said struct {
	What, Text, By string
	At             ubl.Time
	About          int
}

// content is all that an import should keep of an export. Of an imported one it is what was
// imported, but for the notes at the beginning of rooms.
func content(t *testing.T, dir string, imported bool) map[string][]said {
	t.Helper()
	s, err := openSource(dir)
	if err == nil {
		err = s.readHead()
	}
	if err != nil {
		t.Fatal(err)
	}
	defer s.close()
	all := map[string][]said{}
	put := func(place string, what, text string, about int, by ubl.UserID, at ubl.Time, f *ubl.ImportedFrom) {
		name := cmp.Or(s.names[by], string(by))
		if imported {
			name, at = f.AuthorName, f.At
		}
		all[place] = append(all[place], said{what, text, name, at, about})
	}
	for file := range s.listed {
		if !strings.HasPrefix(file, "rooms/") {
			continue
		}
		places := map[ubl.MessageID]int{}
		err = cmp.Or(err, each(s, file, func(e ubl.Entry) error {
			if !imports(&e) || imported == (e.ImportedFrom == nil) || strings.Contains(string(e.Body.JSON), "What follows was imported from") {
				return nil
			}
			if e.Type == ubl.EntryMessage {
				places[e.ID] = len(places) + 1
			}
			about := 0
			if to := cmp.Or(e.Target, e.ReplyTo); to != nil {
				if about = places[*to]; about == 0 && e.Type != ubl.EntryMessage {
					return nil // of a message that was redacted
				}
			}
			said := string(e.Body.Hashed())
			for _, f := range e.Attachments {
				if _, kept := s.listed["blobs/"+string(f.SHA256)]; kept { // no edit has taken it away
					said += "\n" + f.Name + " " + f.Type + " " + string(f.SHA256)
				}
			}
			put(file, string(e.Type)+e.Body.Type, said, about, e.AuthorID, e.SentAt, e.ImportedFrom)
			return nil
		}))
	}
	numbers := map[ubl.DocumentID]int{}
	err = cmp.Or(err, each(s, "documents.jsonl", func(d ubl.Document) error {
		if numbers[d.DocumentID] == 0 {
			numbers[d.DocumentID] = len(numbers) + 1
		}
		put(string(d.WorkspaceID), "version", d.Title+"\n"+d.Content, numbers[d.DocumentID], d.UpdatedBy, d.UpdatedAt, d.ImportedFrom)
		return nil
	}))
	err = cmp.Or(err, each(s, "files.jsonl", func(f ubl.File) error {
		put(string(f.WorkspaceID), "file", f.Name+"\n"+f.Type+"\n"+string(f.SHA256), numbers[f.DocumentID], f.CreatedBy, f.CreatedAt, f.ImportedFrom)
		return nil
	}))
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// live is a random history of a tenant, by its owner and an agent of theirs.
func (w *importWorld) live(r *rand.Rand, owner string, acts int) {
	w.t.Helper()
	agent := w.token("--service", "helper")
	w.must(agent, "rooms")
	authors := []*client{w.client(owner), w.client(owner), w.client(agent)}
	do := func(c *client, method, path string, body map[string]any, member string) json.RawMessage {
		var answer map[string]json.RawMessage
		if err := c.call(w.t.Context(), method, path, body, &answer); err != nil {
			w.t.Fatalf("%s %s %v: %v", method, path, body, err)
		}
		return answer[member]
	}
	rooms := []string{"r:general"}
	type mine struct {
		path  string
		by    *client
		files []ubl.Attachment
	}
	var messages []mine
	var documents []string
	pick := func(n int) int { return r.IntN(n) }
	text := func() string {
		return fmt.Sprintf("%d é\n%s", r.Uint64(), strings.Repeat("x", pick(200)))
	}
	for range acts {
		c := authors[pick(len(authors))]
		switch n := pick(20); {
		case n == 0:
			name := fmt.Sprintf("Room %d", len(rooms))
			do(authors[0], "POST", "/api/rooms", map[string]any{"name": name}, "")
			rooms = append(rooms, string(ubl.RoomSlug(name)))
		case n < 8 || len(messages) == 0:
			room := rooms[pick(len(rooms))]
			if room != "r:general" {
				c = authors[0]
			}
			body := map[string]any{"body": ubl.TextContent(text())}
			if pick(4) == 0 {
				body["body"] = ubl.TypedBody{Type: "application/octet-stream", Bytes: []byte(text())}
			}
			if to := messages[max(len(messages)-pick(5)-1, 0):]; len(to) > 0 && strings.HasPrefix(to[0].path, "/api/rooms/"+room+"/") && pick(2) == 0 {
				body["reply_to"] = to[0].path[strings.LastIndex(to[0].path, "/")+1:]
			}
			path := "/api/rooms/" + room + "/entries"
			var uploads []ubl.UploadID
			for range max(0, pick(5)-2) {
				var up ubl.Upload
				if err := json.Unmarshal(do(c, "POST", "/api/rooms/"+room+"/uploads", map[string]any{"name": fmt.Sprint(r.Uint32(), ".txt"), "text": text()}, "upload"), &up); err != nil {
					w.t.Fatal(err)
				}
				uploads = append(uploads, up.UploadID)
			}
			if uploads != nil {
				body["attachments"] = uploads
			}
			var e ubl.Entry
			if err := json.Unmarshal(do(c, "POST", path, body, "entry"), &e); err != nil {
				w.t.Fatal(err)
			}
			messages = append(messages, mine{path + "/" + string(e.ID), c, e.Attachments})
		case n < 14:
			i := pick(len(messages))
			m := messages[i]
			switch pick(4) {
			case 0:
				body := map[string]any{"text": text()}
				if len(m.files) > 0 {
					messages[i].files = m.files[:pick(len(m.files)+1)]
					keeps := []ubl.FileID{}
					for _, f := range messages[i].files {
						keeps = append(keeps, f.FileID)
					}
					body["attachments"] = keeps
				}
				do(m.by, "POST", m.path+"/edits", body, "")
			case 1:
				do(m.by, "POST", m.path+"/reactions", map[string]any{"reaction": "👍"}, "")
			case 2:
				do(m.by, "POST", m.path+"/pin", map[string]any{"pinned": pick(2) == 0}, "")
			default:
				do(m.by, "POST", m.path+"/redaction", map[string]any{}, "")
				messages = slices.Delete(messages, i, i+1)
			}
		case n < 17 || len(documents) == 0:
			var d ubl.Document
			if err := json.Unmarshal(do(c, "POST", "/api/workspaces/w:general/documents", map[string]any{"title": fmt.Sprint("D", r.Uint32()), "content": text()}, "document"), &d); err != nil {
				w.t.Fatal(err)
			}
			documents = append(documents, string(d.DocumentID))
		case n < 19:
			body := map[string]any{"title": fmt.Sprint("E", r.Uint32())}
			if pick(2) == 0 {
				body["content"] = text()
			}
			do(c, "PATCH", "/api/workspaces/w:general/documents/"+documents[pick(len(documents))], body, "")
		default:
			body := map[string]any{"name": fmt.Sprint(r.Uint32(), ".txt"), "text": text()}
			if pick(2) == 0 {
				body["document_id"] = documents[pick(len(documents))]
			}
			do(c, "POST", "/api/workspaces/w:general/files", body, "")
		}
	}
}

// TestImport: what is exported, imported into an empty tenant and exported there is the same,
// with who wrote it first, and when. Random histories; an import that is cut off at a random request,
// whose answer is lost, and run again leads to the same.
func TestImport(t *testing.T) {
	w := openImportWorld(t)
	seed := soak.Seed(t, "UBL_IMPORT_SEED", 7)
	r := rand.New(rand.NewPCG(seed, 1))
	cuts := 0
	for n := range soak.Of(3, 60) {
		owner := w.somebody()
		w.live(r, owner, 40+r.IntN(40))
		dir := filepath.Join(t.TempDir(), "was")
		w.must(owner, "export", "--all", dir)
		want := content(t, dir, false)

		importer := w.somebody()
		for range 3 {
			if w.cut(importer, 1+r.IntN(120), dir) {
				cuts++
			}
		}
		w.must(importer, "import", dir)
		if out := w.must(importer, "import", dir, "--json"); !strings.Contains(out, `"messages":0,`) || !strings.Contains(out, `"files":0,`) {
			t.Errorf("history %d: a second import says %s", n, out)
		}
		again := filepath.Join(t.TempDir(), "is")
		w.must(importer, "export", "--all", again)
		got := content(t, again, true)
		if !reflect.DeepEqual(got, want) {
			for place := range want {
				for i := range max(len(want[place]), len(got[place])) {
					a, b := said{}, said{}
					if i < len(want[place]) {
						a = want[place][i]
					}
					if i < len(got[place]) {
						b = got[place][i]
					}
					if a != b {
						t.Errorf("history %d, %d cuts by then, %s, %d:\nwas %+v\n is %+v", n, cuts, place, i, a, b)
						break
					}
				}
			}
			t.Fatalf("history %d is another: %d places were, %d are", n, len(want), len(got))
		}
	}
	if cuts == 0 {
		t.Error("no import was cut off")
	}
}

// cut runs "ubl import" with arguments whose nth request that writes is carried out and not answered, and which ends there. It
// reports whether the import got so far.
func (w *importWorld) cut(token string, n int, args ...string) bool {
	to, err := url.Parse(w.url)
	if err != nil {
		w.t.Fatal(err)
	}
	ctx, stop := context.WithCancel(w.t.Context())
	defer stop()
	var writes atomic.Int64
	proxy := httputil.NewSingleHostReverseProxy(to)
	proxy.ModifyResponse = func(resp *http.Response) error {
		if resp.Request.Method != http.MethodGet && writes.Add(1) == int64(n) {
			stop()
			panic(http.ErrAbortHandler)
		}
		return nil
	}
	server := httptest.NewServer(proxy)
	server.Config.ErrorLog = nil
	defer server.Close()
	code, _, _ := w.ubl(ctx, server.URL, token, append(append([]string{"import"}, args...), "--quiet")...)
	return code != 0
}

// TestImportMany tells how long many messages take; UBL_IMPORT_MANY says how many.
func TestImportMany(t *testing.T) {
	many := soak.Of(200, 10_000)
	w := openImportWorld(t)
	owner, importer := w.somebody(), w.somebody()
	c := w.client(owner)
	for n := range many {
		if err := c.call(t.Context(), "POST", "/api/rooms/r:general/entries", map[string]any{"body": ubl.TextContent(fmt.Sprint("message ", n))}, &struct{}{}); err != nil {
			t.Fatal(err)
		}
	}
	dir := filepath.Join(t.TempDir(), "was")
	start := time.Now()
	w.must(owner, "export", "--all", dir)
	exported := time.Since(start)
	w.must(importer, "import", dir)
	imported := time.Since(start) - exported
	if got := content(t, dir, false)["rooms/general.jsonl"]; len(got) != many {
		t.Errorf("%d messages were exported", len(got))
	}
	out := w.must(importer, "import", dir)
	t.Logf("%d messages: exported in %v, imported in %v, again in %v", many, exported, imported, time.Since(start)-exported-imported)
	if !strings.Contains(out, fmt.Sprintf("nothing new; %d already there", many)) {
		t.Errorf("a second import says %s", out)
	}
}

// archiveWith is an export of t:a.b that has a ledger and nothing else.
func archiveWith(t *testing.T, ledger string) string {
	t.Helper()
	dir := t.TempDir()
	made, err := json.Marshal(manifest{Format: archiveFormat, TenantID: "t:a.b", Files: []archived{
		{Path: "ledger.ndjson", Bytes: int64(len(ledger)), SHA256: fmt.Sprintf("%x", sha256.Sum256([]byte(ledger)))},
	}})
	for name, data := range map[string][]byte{"manifest.json": made, "ledger.ndjson": []byte(ledger)} {
		err = cmp.Or(err, os.WriteFile(filepath.Join(dir, name), data, 0o600))
	}
	if err != nil {
		t.Fatal(err)
	}
	return dir
}

// TestErrorsMoveNoCursor: an error quotes what others wrote, as the name of a file in a manifest.
func TestErrorsMoveNoCursor(t *testing.T) {
	dir := archiveWith(t, "")
	made, err := json.Marshal(manifest{Format: archiveFormat, TenantID: "t:a.b", Files: []archived{{Path: "a\x1b[2Jb"}}})
	if err == nil {
		err = os.WriteFile(filepath.Join(dir, "manifest.json"), made, 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
	if code, _, errs := run(t, "", "", "import", dir); code != 1 || !strings.Contains(errs, "[2Jb") || strings.Contains(errs, "\x1b") {
		t.Errorf("%d, %q", code, errs)
	}
}

package api

import (
	"bytes"
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"image"
	"image/png"
	"io"
	"mime"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"ubl"
	"ubl/blobs"
	"ubl/transport/envelope"
)

// uploadID names the upload that the double knows, neverID one that was never begun.
var (
	uploadID = ubl.UploadID("up:" + strings.Repeat("0", 40))
	neverID  = ubl.UploadID("up:" + strings.Repeat("1", 40))
)

// roomUploadID names one that is for a room.
var roomUploadID = ubl.UploadID("up:" + strings.Repeat("2", 40))

// dress makes a request one that brings bytes, where the operation takes any.
func (t *route) dress(r *http.Request) {
	if t.takesBytes {
		r.Header.Set("Content-Type", partialType)
		r.Header.Set("Upload-Offset", "0")
	}
}

// known are uploads of which one is always the same, so that answers can be compared. What is
// asked of that is noted; all others are real.
type known struct {
	*blobs.Uploads
	notes *actors
}

func (k known) canned() *ubl.Upload {
	return &ubl.Upload{UploadID: uploadID, WorkspaceID: "w:general", Name: "x.txt", Type: ubl.UnknownType, Bytes: 9, Offset: 9, ExpiresAt: now, SHA256: file("f:1").SHA256}
}

// forRoom is canned for a room.
func (k known) forRoom() *ubl.Upload {
	up := k.canned()
	up.UploadID, up.WorkspaceID, up.RoomID = roomUploadID, "", "r:general"
	return up
}

func (k known) Begin(ctx context.Context, who ubl.Identity, up ubl.Upload) (*ubl.Upload, error) {
	if up.RoomID != "" && up.Name == "x.txt" && up.Bytes == 9 {
		return k.forRoom(), k.notes.wrote("Begin %s", up.Name)
	}
	if up.Name == "x.txt" && up.Bytes == 9 {
		return k.canned(), k.notes.wrote("Begin %s", up.Name)
	}
	return k.Uploads.Begin(ctx, who, up)
}

func (k known) Look(ctx context.Context, who ubl.Identity, id ubl.UploadID) (*ubl.Upload, error) {
	if id == uploadID {
		return k.canned(), k.notes.wrote("Look %s", id)
	}
	return k.Uploads.Look(ctx, who, id)
}

func (k known) Append(ctx context.Context, who ubl.Identity, id ubl.UploadID, offset int64, from ubl.Source) (*ubl.Upload, error) {
	if id == uploadID {
		return k.canned(), k.notes.wrote("Append %s", id)
	}
	return k.Uploads.Append(ctx, who, id, offset, from)
}

func (k known) Finish(ctx context.Context, who ubl.Identity, id ubl.UploadID) (*ubl.Upload, error) {
	if id == roomUploadID {
		return k.forRoom(), k.notes.wrote("Finish %s", id)
	}
	if id == uploadID {
		return k.canned(), k.notes.wrote("Finish %s", id)
	}
	return k.Uploads.Finish(ctx, who, id)
}

func (k known) End(ctx context.Context, who ubl.Identity, id ubl.UploadID) error {
	if id == uploadID {
		return k.notes.wrote("End %s", id)
	}
	return k.Uploads.End(ctx, who, id)
}

// files are the contents behind the double of the actors: real ones in a folder.
type files struct {
	folder  *blobs.Folder
	uploads *blobs.Uploads
}

func (f *files) openFiles(t testing.TB) {
	t.Helper()
	o := blobs.Options{Now: func() time.Time { return now.Std() }, Random: rand.Reader}
	dir := t.TempDir()
	var err error
	if f.folder, err = blobs.OpenFolder(dir, o); err != nil {
		t.Fatal(err)
	}
	if err = f.folder.Put(context.Background(), ana.TenantID, file("f:1").SHA256, bytes.NewReader(fileContent)); err != nil {
		t.Fatal(err)
	}
	if err = f.folder.Put(context.Background(), ana.TenantID, roomFile("f:1").SHA256, bytes.NewReader(imageContent)); err != nil {
		t.Fatal(err)
	}
	if f.uploads, err = blobs.OpenUploads(dir, f.folder, ubl.UploadNode("n1"), o); err != nil {
		t.Fatal(err)
	}
}

var fileContent = []byte("All of it, and more")

// imageContent is what the double knows of a room's f:1: a picture of 4 by 3 pixels.
var imageContent = func() []byte {
	var out bytes.Buffer
	if err := png.Encode(&out, image.NewGray(image.Rect(0, 0, 4, 3))); err != nil {
		panic(err)
	}
	return out.Bytes()
}()

// file is what the double knows of f:1; other ids choose its name or type.
func file(id ubl.FileID) *ubl.File {
	f := &ubl.File{FileID: id, WorkspaceID: "w:general", TenantID: "t:acme.com", Name: "plan.txt", Type: "text/plain", Salt: ubl.Salt{1}, Bytes: int64(len(fileContent)),
		SHA256: ubl.BlobIDOf(sha256.Sum256(fileContent)), CreatedAt: now, CreatedBy: "u:ana", Receipt: receipt}
	f.ContentHash, f.NameHash = f.Salt.Commit(f.SHA256.Sum()), f.Salt.CommitText("name", f.Name)
	return f
}

// roomFile is what the double knows of a room's files: a picture, and the odd ones.
func roomFile(id ubl.FileID) ubl.RoomFile {
	f := file(id)
	if change := odd[id]; change != nil {
		change(f)
	}
	a := ubl.Attachment{FileID: id, Name: f.Name, Type: f.Type, Bytes: f.Bytes, SHA256: f.SHA256}
	if odd[id] == nil {
		a = ubl.Attachment{FileID: id, Name: "sea.png", Type: "image/png", Bytes: int64(len(imageContent)),
			SHA256: ubl.BlobIDOf(sha256.Sum256(imageContent)), Width: 4, Height: 3, Thumbnail: true}
	}
	return ubl.RoomFile{Attachment: a,
		MsgID: "m:1", RoomID: "r:general", SenderID: "u:ana", SentAt: now, TenantID: "t:acme.com"}
}

// odd are files with names and types that somebody may have chosen to do harm.
var odd = map[ubl.FileID]func(*ubl.File){
	"f:html":  func(f *ubl.File) { f.Type = "text/html" },
	"f:svg":   func(f *ubl.File) { f.Type = "image/svg+xml" },
	"f:js":    func(f *ubl.File) { f.Type = "text/javascript; charset=utf-8" },
	"f:xml":   func(f *ubl.File) { f.Type = "application/xhtml+xml" },
	"f:none":  func(f *ubl.File) { f.Type = "nonsense" },
	"f:png":   func(f *ubl.File) { f.Type = "image/png" },
	"f:quote": func(f *ubl.File) { f.Name = `a";x="b.txt` },
	"f:wide":  func(f *ubl.File) { f.Name = "会議 naïve.txt" },
	"f:gone":  func(f *ubl.File) { f.SHA256 = ubl.BlobIDOf(sha256.Sum256([]byte("never kept"))) },
}

func answerFiles(cmd ubl.Command) (any, bool) {
	switch c := cmd.(type) {
	case ubl.PrepareFile, ubl.PrepareAttachment:
		return nil, true
	case ubl.GetRoomFile:
		f := roomFile(c.FileID)
		return &f, true
	case ubl.ListRoomFiles:
		return &ubl.RoomFileList{Files: []ubl.RoomFile{roomFile("f:1")}, Next: "f:1"}, true
	case ubl.PutFile:
		f := file("f:1")
		f.Name, f.Type, f.SHA256, f.Bytes, f.DocumentID = c.Name, c.Type, c.Blob, c.Bytes, c.DocumentID
		return &ubl.FileResult{File: f, Receipt: receipt}, true
	case ubl.GetFile:
		f := file(c.FileID)
		if change := odd[c.FileID]; change != nil {
			change(f)
		}
		return &ubl.FileResult{File: f, Receipt: receipt}, true
	case ubl.ListFiles:
		return &ubl.FileList{Files: []*ubl.File{file("f:1")}, Next: "f:1", Receipt: receipt}, true
	case ubl.RemoveFile:
		return &ubl.FileResult{File: file(c.FileID), Receipt: receipt}, true
	}
	return nil, false
}

// bring sends bytes of an upload.
func (s *server) bring(target, offset, kind string, body []byte) *httptest.ResponseRecorder {
	r := httptest.NewRequest("PATCH", target, bytes.NewReader(body))
	if offset != "" {
		r.Header.Set("Upload-Offset", offset)
	}
	r.Header.Set("Content-Type", kind)
	return s.serve(r.WithContext(envelope.WithCaller(r.Context(), let(&envelope.Caller{Identity: ana, ExpiresAt: now.Add(time.Hour)}, ubl.RoleOwner))))
}

// TestUpload is the way of one: begun, brought in two parts, looked at between, put.
func TestUpload(t *testing.T) {
	s := newServer(t)
	c := newContract(t, s)
	body := fmt.Sprintf(`{"name":" plan.txt ","content_type":"Text/Plain","bytes":%d,"sha256":"%s"}`, len(fileContent), file("f:1").SHA256)
	w := s.do("POST", "/api/workspaces/w:general/uploads", body)
	c.check(t, s, "POST", "/api/workspaces/w:general/uploads", w)
	var begun struct{ Upload ubl.Upload }
	if err := json.Unmarshal(w.Body.Bytes(), &begun); err != nil || w.Code != http.StatusCreated || begun.Upload.Name != "plan.txt" || begun.Upload.Type != "text/plain" {
		t.Fatalf("begun with %d as %s, %v", w.Code, w.Body, err)
	}
	target := w.Header().Get("Location")
	if target != "/api/uploads/"+string(begun.Upload.UploadID) || w.Header().Get("Upload-Offset") != "0" {
		t.Errorf("it is at %q, offset %q", target, w.Header().Get("Upload-Offset"))
	}
	told := func(what string, w *httptest.ResponseRecorder, status int, offset, complete string) {
		t.Helper()
		if h := w.Header(); w.Code != status || h.Get("Upload-Offset") != offset || h.Get("Upload-Complete") != complete || h.Get("Upload-Length") != strconv.Itoa(len(fileContent)) {
			t.Errorf("%s: %d with %v: %s", what, w.Code, h, w.Body)
		}
	}
	told("a part", s.bring(target, "0", partialType, fileContent[:5]), http.StatusNoContent, "5", "?0")
	told("the same part again", s.bring(target, "0", partialType, fileContent[:5]), http.StatusConflict, "5", "?0")
	told("a look", s.do("HEAD", target, ""), http.StatusOK, "5", "?0")
	early := s.do("POST", "/api/workspaces/w:general/files", `{"upload_id":"`+string(begun.Upload.UploadID)+`"}`)
	if early.Code != http.StatusConflict {
		t.Errorf("put too early: %d %s", early.Code, early.Body)
	}
	told("the rest", s.bring(target, "5", partialType, fileContent[5:]), http.StatusNoContent, strconv.Itoa(len(fileContent)), "?1")
	for range 2 {
		w = s.do("POST", "/api/workspaces/w:general/files", `{"upload_id":"`+string(begun.Upload.UploadID)+`"}`)
		c.check(t, s, "POST", "/api/workspaces/w:general/files", w)
		var put struct{ File ubl.File }
		if err := json.Unmarshal(w.Body.Bytes(), &put); err != nil || w.Code != http.StatusCreated || put.File.SHA256 != file("f:1").SHA256 || put.File.Name != "plan.txt" {
			t.Errorf("put with %d as %s, %v", w.Code, w.Body, err)
		}
	}
	if other := s.do("POST", "/api/workspaces/w:other/files", `{"upload_id":"`+string(begun.Upload.UploadID)+`"}`); other.Code != http.StatusConflict {
		t.Errorf("put elsewhere: %d %s", other.Code, other.Body)
	}
}

// crowd has room for so many bytes, and lets nobody go on before as many as it waits for have asked.
type crowd struct {
	*actors
	room  int64
	asked *sync.WaitGroup
}

func (c crowd) Ask(ctx context.Context, to ubl.Name, cmd ubl.Command) (any, error) {
	p, ok := cmd.(ubl.PrepareFile)
	if !ok {
		return c.actors.Ask(ctx, to, cmd)
	}
	if p.Staged == 0 { // the first time
		c.asked.Done()
		c.asked.Wait()
	}
	if p.Bytes+p.Staged > c.room {
		return nil, ubl.Errorf(ubl.CodeQuotaExceeded, "full")
	}
	return nil, nil
}

// TestManyBeginAtOnce: uploads that begin at the same moment don't all get the same room, and who
// is refused leaves nothing reserved.
func TestManyBeginAtOnce(t *testing.T) {
	s := newServer(t)
	const many = 8
	asked := new(sync.WaitGroup)
	asked.Add(many)
	s.api.Asker = crowd{s.actors, 250, asked}
	var all sync.WaitGroup
	var begun atomic.Int64
	for range many {
		all.Go(func() {
			if w := s.do("POST", "/api/workspaces/w:general/uploads", `{"name":"y","bytes":100}`); w.Code == http.StatusCreated {
				begun.Add(100)
			} else if w.Code != http.StatusInsufficientStorage {
				t.Errorf("answered %d %s", w.Code, w.Body)
			}
		})
	}
	all.Wait()
	if n := begun.Load(); n > 250 || s.uploads.Staged(ana) != n {
		t.Errorf("%d bytes were begun, %d are reserved", n, s.uploads.Staged(ana))
	}
}

// TestHostileUploads: what isn't an upload's bytes in their place is refused, and changes nothing.
func TestHostileUploads(t *testing.T) {
	s := newServer(t)
	begin := func() string {
		return s.do("POST", "/api/workspaces/w:general/uploads", `{"name":"x","bytes":10}`).Header().Get("Location")
	}
	target := begin()
	for what, test := range map[string]struct {
		target, offset, kind, body string
		code                       ubl.Code
	}{
		"JSON":                 {target, "0", "application/json", "{}", ubl.CodeUnsupportedMedia},
		"no type":              {target, "0", "", "x", ubl.CodeUnsupportedMedia},
		"no offset":            {target, "", partialType, "x", ubl.CodeValidation},
		"an offset below zero": {target, "-1", partialType, "x", ubl.CodeValidation},
		"an offset of letters": {target, "s3cr3t", partialType, "x", ubl.CodeValidation},
		"an offset too large":  {target, "99999999999999999999", partialType, "x", ubl.CodeValidation},
		"a hole":               {target, "3", partialType, "x", ubl.CodeConflict},
		"too much":             {target, "0", partialType, "01234567890", ubl.CodeTooLarge},
		"another id":           {"/api/uploads/" + string(neverID), "0", partialType, "x", ubl.CodeNotFound},
		"no id":                {"/api/uploads/s3cr3t", "0", partialType, "x", ubl.CodeValidation},
		"a path":               {"/api/uploads/..%2f..%2fx", "0", partialType, "x", ubl.CodeValidation},
	} {
		w := s.bring(test.target, test.offset, test.kind, []byte(test.body))
		if got := codeIn(t, w); got != test.code || strings.Contains(w.Body.String(), "s3cr3t") {
			t.Errorf("%s: %d %s", what, w.Code, w.Body)
		}
	}
	if w := s.do("HEAD", target, ""); w.Header().Get("Upload-Offset") != "0" {
		t.Errorf("afterwards the upload is at %s", w.Header().Get("Upload-Offset"))
	}
	for _, body := range []string{
		`{"name":"../x","bytes":1}`, `{"name":"a\u0000b","bytes":1}`, `{"name":"x","bytes":-1}`, `{"name":"x","bytes":1099511627777}`, `{"name":"x"}`, `{"bytes":1}`,
		`{"name":"x","bytes":1,"content_type":"text/html\r\nX: y"}`, `{"name":"x","bytes":1,"sha256":"s3cr3t"}`, `{"name":"` + strings.Repeat("é", 128) + `","bytes":1}`,
	} {
		if w := s.do("POST", "/api/workspaces/w:general/uploads", body); w.Code != http.StatusBadRequest && w.Code != http.StatusRequestEntityTooLarge || strings.Contains(w.Body.String(), "s3cr3t") {
			t.Errorf("%s is answered %d %s", body, w.Code, w.Body)
		}
	}
	for _, body := range []string{
		`{}`, `{"name":"x"}`, `{"name":"x","text":"a","base64":"YQ=="}`, `{"name":"x","base64":"!"}`, `{"upload_id":"` + string(uploadID) + `","text":"a"}`, `{"text":"a"}`,
	} {
		if w := s.do("POST", "/api/workspaces/w:general/files", body); w.Code != http.StatusBadRequest {
			t.Errorf("%s is answered %d %s", body, w.Code, w.Body)
		}
	}
	if w := s.do("DELETE", target, ""); w.Code != http.StatusOK {
		t.Errorf("ended: %d %s", w.Code, w.Body)
	}
	if w := s.do("GET", target, ""); w.Code != http.StatusNotFound {
		t.Errorf("after its end: %d %s", w.Code, w.Body)
	}
}

// TestContentIsHarmless: whatever name and type somebody chose, a browser saves bytes.
func TestContentIsHarmless(t *testing.T) {
	s := newServer(t)
	for id, kind := range map[string]string{
		"f:1": "text/plain", "f:png": "image/png", "f:html": ubl.UnknownType, "f:svg": ubl.UnknownType, "f:js": ubl.UnknownType, "f:xml": ubl.UnknownType,
		"f:none": ubl.UnknownType, "f:quote": "text/plain", "f:wide": "text/plain",
	} {
		w := s.do("GET", "/api/workspaces/w:general/files/"+id+"/content", "")
		h := w.Header()
		if w.Code != http.StatusOK || !bytes.Equal(w.Body.Bytes(), fileContent) || h.Get("Content-Type") != kind || h.Get("X-Content-Type-Options") != "nosniff" {
			t.Errorf("%s: %d %q with %v", id, w.Code, w.Body, h)
		}
		if csp := h.Get("Content-Security-Policy"); !strings.Contains(csp, "sandbox") || !strings.Contains(csp, "default-src 'none'") || h.Get("Cache-Control") != "no-store" {
			t.Errorf("%s: %v", id, h)
		}
		want := file("f:1")
		if change := odd[ubl.FileID(id)]; change != nil {
			change(want)
		}
		how, params, err := mime.ParseMediaType(h.Get("Content-Disposition"))
		if err != nil || how != "attachment" || params["filename"] != want.Name {
			t.Errorf("%s: the name is sent as %q", id, h.Get("Content-Disposition"))
		}
	}
	if w := s.do("GET", "/api/workspaces/w:general/files/f:gone/content", ""); w.Code != http.StatusInternalServerError {
		t.Errorf("a content that is missing: %d %s", w.Code, w.Body)
	}
}

// leaving has its reader removed from the tenant while they read.
type leaving struct {
	*bytes.Reader
	once    *sync.Once
	revoked chan struct{}
}

func (l leaving) Read(p []byte) (int, error) {
	l.once.Do(func() { close(l.revoked) })
	return l.Reader.Read(p)
}

func (leaving) Close() error { return nil }

func (l leaving) Open(context.Context, ubl.TenantID, ubl.BlobID) (io.ReadSeekCloser, error) {
	return l, nil
}

func (leaving) Keep(context.Context, ubl.TenantID, ubl.BlobID, string) error { return nil }

// TestRemovedReader: who is removed gets no more of a content that is on its way to them.
func TestRemovedReader(t *testing.T) {
	s := newServer(t)
	l := leaving{bytes.NewReader(make([]byte, 1<<20)), new(sync.Once), make(chan struct{})}
	s.api.Blobs = l
	r := httptest.NewRequest("GET", "/api/workspaces/w:general/files/f:1/content", nil)
	caller := let(&envelope.Caller{Identity: ana, ExpiresAt: now.Add(time.Hour), Revoked: l.revoked}, ubl.RoleOwner)
	if w := s.serve(r.WithContext(envelope.WithCaller(r.Context(), caller))); w.Body.Len() >= 1<<20 {
		t.Errorf("they got all of %d bytes", w.Body.Len())
	}
}

// TestRanges are served as RFC 9110 has them; hostile ones do no more work than one.
func TestRanges(t *testing.T) {
	s := newServer(t)
	etag := `"` + string(file("f:1").SHA256) + `"`
	for _, test := range []struct {
		header []string
		status int
		body   string
	}{
		{nil, 200, string(fileContent)},
		{[]string{"Range", "bytes=4-5"}, 206, "of"},
		{[]string{"Range", "bytes=15-"}, 206, "more"},
		{[]string{"Range", "bytes=-4"}, 206, "more"},
		{[]string{"Range", "bytes=15-", "If-Range", etag}, 206, "more"},
		{[]string{"Range", "bytes=15-", "If-Range", `"other"`}, 200, string(fileContent)},
		{[]string{"If-None-Match", etag}, 304, ""},
		{[]string{"If-Match", `"other"`}, 412, ""},
		{[]string{"Range", "bytes=0-0,2-2"}, 200, string(fileContent)},
		{[]string{"Range", "bytes=" + strings.Repeat("0-0,", 1000) + "1-1"}, 200, string(fileContent)},
		{[]string{"Range", "bytes=99-"}, 416, ""},
		{[]string{"Range", "bytes=5-4"}, 416, ""},
		{[]string{"Range", "bytes=99999999999999999999-"}, 416, ""},
		{[]string{"Range", "lines=1-2"}, 416, ""},
	} {
		w := s.do("GET", "/api/workspaces/w:general/files/f:1/content", "", test.header...)
		if w.Code != test.status || test.body != "" && w.Body.String() != test.body {
			t.Errorf("%.60q: %d %q", test.header, w.Code, w.Body)
		}
	}
	if w := s.do("HEAD", "/api/workspaces/w:general/files/f:1/content", ""); w.Code != 200 || w.Body.Len() != 0 || w.Header().Get("ETag") != etag || w.Header().Get("Content-Length") != strconv.Itoa(len(fileContent)) {
		t.Errorf("HEAD: %d %v", w.Code, w.Header())
	}
}
